"""What a solver says of itself, beside its class."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from typing import TypeVar, dataclass_transform

from rfbench.parameters import estimator

Class = TypeVar("Class")


@dataclass_transform(eq_default=False, kw_only_default=True, field_specifiers=(field,))
def solver(name: str, *, position: int) -> Callable[[type[Class]], type[Class]]:
    """Register a class as a solver, and make it an `rfbench.parameters.estimator`.

    Both are read from the text of the file, see `rfbench.registry.decorated`. A class whose name
    ends in ``Regressor`` does regression, any other classification; the two of one method have one
    name and one position.

    Parameters
    ----------
    name : str
        The published name, as configurations and rows have it.
    position : int
        The place in lists; a new one takes the next number.
    """
    return estimator
