"""What a solver says of itself, beside its class."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from typing import TypeVar, dataclass_transform

from rfbench.parameters import estimator

Class = TypeVar("Class")


@dataclass_transform(eq_default=False, kw_only_default=True, field_specifiers=(field,))
def solver(name: str) -> Callable[[type[Class]], type[Class]]:
    """Declare a class as a solver, and make it an `rfbench.parameters.estimator`.

    Parameters
    ----------
    name : str
        The published name, as configurations and rows have it. `rfbench.registry.SOLVERS` leads
        from it to the classes, one per task.
    """

    def declare(cls: type[Class]) -> type[Class]:
        made = estimator(cls)
        made.published_name = name  # type: ignore[attr-defined]
        return made

    return declare
