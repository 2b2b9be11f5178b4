"""The decorator `sampler`, which adds a name, kernels and descriptions to a sampler's class."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar, dataclass_transform

from rfbench.parameters import estimator
from rfbench.registry import KERNELS

Class = TypeVar("Class")
NO_OPTIONS: Mapping[str, Any] = MappingProxyType({})

# Names of kernels, grouped by the samplers that support them.
GAUSSIAN = ("gaussian", "gaussian-unhalved")
ISOTROPIC = (*GAUSSIAN, "arc-cosine-0", "arc-cosine-1", "arc-cosine-2")
PRODUCT = (*ISOTROPIC, "laplacian", "cauchy")
MIXTURES = ("matern", "rational-quadratic")
WAVES = (*GAUSSIAN, "laplacian", "laplacian-l2", "cauchy", *MIXTURES)
DOT_PRODUCTS = ("softmax", "polynomial")
# Names of all kernels except the dot-product kernels. A feature of these kernels is computed from
# one frequency or from one coordinate of the row.
ANY = tuple(name for name in KERNELS if name not in DOT_PRODUCTS)


class CheckCase(NamedTuple):
    """Parameters with which a sampler is checked. Sizes are small, because there are only 60 rows.

    `contract` contains the attributes of `FeatureMapUnderTest` whose values are not the defaults
    for these parameters.
    """

    options: Mapping[str, Any] = NO_OPTIONS
    contract: Mapping[str, Any] = NO_OPTIONS


class SamplerInfo(NamedTuple):
    """The arguments of the decorator `sampler`.

    Attributes
    ----------
    name : str
        The published name, which configurations and result rows use. `rfbench.registry.SAMPLERS`
        maps it to the class.
    kernels : sequence of str
        Supported kernels. A check requires that the sampler rejects all other kernels.
    about : str
        Description of one line, for the page that compares methods.
    labels : mapping of str to str
        Descriptions of the variants of the sampler that have their own label in a comparison of the
        package.
    contract : mapping
        Attributes of `FeatureMapUnderTest` whose values are not the defaults for this sampler.
    forms : sequence of CheckCase
        Sets of parameters for the checks. By default, the sampler is checked once, with the default
        parameters of its class.
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

    The arguments are the fields of `SamplerInfo`. The docstring of the decorated class names the
    paper of the method under References.
    """

    def declare(cls: type[Class]) -> type[Class]:
        made = estimator(cls)
        made.declaration = SamplerInfo(name, **said)  # type: ignore[attr-defined]
        return made

    return declare
