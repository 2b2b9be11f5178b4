"""The declaration of a sampler: facts beyond its class, for tests and pages."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar, dataclass_transform

from rfbench.parameters import estimator
from rfbench.registry import KERNELS

Class = TypeVar("Class")
NO_OPTIONS: Mapping[str, Any] = MappingProxyType({})

# Groups of kernels that samplers support.
GAUSSIAN = ("gaussian", "gaussian-unhalved")
ISOTROPIC = (*GAUSSIAN, "arc-cosine-0", "arc-cosine-1", "arc-cosine-2")
PRODUCT = (*ISOTROPIC, "laplacian", "cauchy")
MIXTURES = ("matern", "rational-quadratic")
WAVES = (*GAUSSIAN, "laplacian", "laplacian-l2", "cauchy", *MIXTURES)
DOT_PRODUCTS = ("softmax", "polynomial")
# Names of the kernels whose features each belong to a frequency or a coordinate.
ANY = tuple(name for name in KERNELS if name not in DOT_PRODUCTS)


class CheckCase(NamedTuple):
    """Parameters of a sampler that is checked. They are small enough for 60 rows.

    `contract` contains the attributes of `FeatureMapUnderTest` that differ for these parameters.
    """

    options: Mapping[str, Any] = NO_OPTIONS
    contract: Mapping[str, Any] = NO_OPTIONS


class SamplerInfo(NamedTuple):
    """The arguments of the decorator `sampler`.

    Attributes
    ----------
    name : str
        The published name, which configurations and rows use. `rfbench.registry.SAMPLERS` maps it
        to the class.
    kernels : sequence of str
        Supported kernels. A check requires that the sampler rejects all other kernels.
    about : str
        Description of one line, for the page that compares methods.
    labels : mapping of str to str
        Descriptions of variants that have their own label in a shipped comparison.
    contract : mapping
        Attributes of `FeatureMapUnderTest` that differ for this sampler.
    forms : sequence of Form
        Sets of parameters for the checks. By default the defaults of the class are checked.
    """

    name: str
    kernels: Sequence[str]
    about: str = ""
    labels: Mapping[str, str] = NO_OPTIONS
    contract: Mapping[str, Any] = NO_OPTIONS
    forms: Sequence[CheckCase] = (CheckCase(),)


@dataclass_transform(eq_default=False, kw_only_default=True, field_specifiers=(field,))
def sampler(name: str, **said: Any) -> Callable[[type[Class]], type[Class]]:
    """Return a decorator that declares a class as a sampler and a `rfbench.parameters.estimator`.

    The parameters are the fields of `SamplerInfo`. The docstring of the class names the source
    under References.
    """

    def declare(cls: type[Class]) -> type[Class]:
        made = estimator(cls)
        made.declaration = SamplerInfo(name, **said)  # type: ignore[attr-defined]
        return made

    return declare
