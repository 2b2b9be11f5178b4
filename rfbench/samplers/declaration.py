"""What a sampler says of itself, beside its class: tests and pages come from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar, dataclass_transform

from rfbench.parameters import estimator
from rfbench.registry import KERNELS

Class = TypeVar("Class")
NO_OPTIONS: Mapping[str, Any] = MappingProxyType({})

# Kernels by what a sampler asks of them.
GAUSSIAN = ("gaussian", "gaussian-unhalved")
ISOTROPIC = (*GAUSSIAN, "arc-cosine-0", "arc-cosine-1", "arc-cosine-2")
PRODUCT = (*ISOTROPIC, "laplacian", "cauchy")
WAVES = (*GAUSSIAN, "laplacian", "laplacian-l2", "cauchy")
ANY = tuple(KERNELS)


class Form(NamedTuple):
    """Parameters that the checks are run with, small enough for 60 rows.

    `contract` has attributes of the checks' `MapSubject` that differ for this form alone.
    """

    options: Mapping[str, Any] = NO_OPTIONS
    contract: Mapping[str, Any] = NO_OPTIONS


class Declaration(NamedTuple):
    """What the decorator `sampler` says.

    Attributes
    ----------
    name : str
        The published name, as configurations and rows have it. `rfbench.registry.SAMPLERS` leads
        from it to the class.
    kernels : sequence of str
        The kernels that it serves; the contract holds that it refuses all others.
    about : str
        What it is in one line, for the page that compares methods.
    labels : mapping of str to str
        The same of its forms that a shipped comparison gives a label of their own.
    contract : mapping
        Attributes of the checks' `MapSubject` that differ for this sampler.
    forms : sequence of Form
        What the checks are run on; the bare class if nothing is said.
    """

    name: str
    kernels: Sequence[str]
    about: str = ""
    labels: Mapping[str, str] = NO_OPTIONS
    contract: Mapping[str, Any] = NO_OPTIONS
    forms: Sequence[Form] = (Form(),)


@dataclass_transform(eq_default=False, kw_only_default=True, field_specifiers=(field,))
def sampler(name: str, **said: Any) -> Callable[[type[Class]], type[Class]]:
    """Declare a class as a sampler, and make it an `rfbench.parameters.estimator`.

    The parameters are those of `Declaration`. The source is in the docstring of the class, under
    References.
    """

    def declare(cls: type[Class]) -> type[Class]:
        made = estimator(cls)
        made.declaration = Declaration(name, **said)  # type: ignore[attr-defined]
        return made

    return declare
