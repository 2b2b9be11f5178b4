"""Building a method from its published name and the parameters that a person wrote."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from rfbench.errors import MethodError, nearest


def build(cls: type[Any], name: str, parameters: Mapping[str, Any]) -> Any:
    """Call the constructor; MethodError names a parameter that it does not have.

    Parameters
    ----------
    cls : type
        The method's class; its constructor's parameters are the allowed words.
    name : str
        What the person calls it, for the message.
    parameters : mapping of str to object
    """
    allowed = [
        word
        for word, parameter in inspect.signature(cls.__init__).parameters.items()
        if word != "self" and parameter.kind is not inspect.Parameter.VAR_KEYWORD
    ]
    open_ended = any(
        parameter.kind is inspect.Parameter.VAR_KEYWORD
        for parameter in inspect.signature(cls.__init__).parameters.values()
    )
    for word in parameters:
        if word not in allowed and not open_ended:
            raise MethodError(
                f"{name} has no parameter '{word}'.{nearest(word, allowed)}",
                f"It has {', '.join(allowed)}.",
            )
    return cls(**parameters)
