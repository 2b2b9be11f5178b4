"""Building a method from its published name and the parameters that a person wrote."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np

from rfbench.errors import MethodError, nearest

LARGEST_WHOLE = 2**31 - 1


@dataclass(frozen=True)
class Rule:
    """What a parameter must be, in words ("It must be ...") and as a test."""

    words: str
    holds: Callable[[Any], bool]


def number(*, least: float = -math.inf, above: float = -math.inf, optional: bool = False) -> Rule:
    """Return the rule of a finite number; `optional` allows None."""

    def holds(value: Any) -> bool:
        if value is None:
            return optional
        real = isinstance(value, Real) and not isinstance(value, bool)
        return real and math.isfinite(value) and value >= least and value > above

    bound = f" above {above:g}" if above > least else f" of at least {least:g}"
    return Rule(f"a number{bound}{', or nothing' if optional else ''}", holds)


def whole(least: int) -> Rule:
    """Return the rule of a whole number."""

    def holds(value: Any) -> bool:
        return (
            isinstance(value, Integral)
            and not isinstance(value, bool)
            and least <= int(value) <= LARGEST_WHOLE
        )

    return Rule(f"a whole number of at least {least} and below 2^31", holds)


def _is_random_state(value: Any) -> bool:
    if isinstance(value, Integral):
        return int(value) >= 0 and not isinstance(value, bool)
    known = np.random.Generator | np.random.RandomState | np.random.SeedSequence | None
    return isinstance(value, known)


TRUTH = Rule("true or false", lambda value: isinstance(value, bool | np.bool_))
RANDOM_STATE = Rule("a whole number of at least 0, or a generator of numpy's", _is_random_state)


def check_rules(method: Any, rules: Mapping[str, Rule]) -> None:
    """Raise MethodError for the first parameter, an attribute of `method`, that breaks its rule."""
    for name, rule in rules.items():
        value = getattr(method, name)
        if not rule.holds(value):
            raise MethodError(f"{name} is {value!r}.", f"It must be {rule.words}.")


def build(cls: type[Any], name: str, parameters: Mapping[str, Any]) -> Any:
    """Call the constructor; MethodError names a parameter that it does not have, or lacks.

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
    required = [
        word
        for word, parameter in inspect.signature(cls.__init__).parameters.items()
        if word in allowed
        and parameter.default is inspect.Parameter.empty
        and parameter.kind is not inspect.Parameter.VAR_POSITIONAL
    ]
    for word in parameters:
        if word not in allowed and not open_ended:
            raise MethodError(
                f"{name} has no parameter '{word}'.{nearest(word, allowed)}",
                f"It has {', '.join(allowed)}.",
            )
    missing = [word for word in required if word not in parameters]
    if missing:
        raise MethodError(
            f"{name} needs the parameter '{missing[0]}'.",
            "Its constructor has no default for it.",
            f"Give it beside the class: `{missing[0]}: VALUE`.",
        )
    try:
        return cls(**parameters)
    except MethodError:
        raise
    except (Exception, SystemExit) as error:
        raise MethodError(
            f"{name} cannot be made with these parameters.", f"{type(error).__name__}: {error}."
        ) from error


def build_foreign(cls: type[Any], name: str, parameters: Mapping[str, Any]) -> Any:
    """Build an estimator from elsewhere, see `build`; scikit-learn's check their parameters now."""
    built = build(cls, name, parameters)
    if hasattr(built, "_parameter_constraints") and hasattr(built, "_validate_params"):
        try:
            built._validate_params()
        except ValueError as error:
            raise MethodError(f"{name}: {error}") from None
    return built
