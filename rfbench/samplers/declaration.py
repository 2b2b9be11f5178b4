"""The decorator `sampler`, which gives a class of random features a name and a description."""

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
    """Parameters of a sampler for one run of its automatic checks.

    `options` are the parameters of the sampler. Sizes should be small, because the checks use only
    60 rows. `contract` are settings of the checks that differ from the defaults of the class
    `FeatureMapUnderTest`.
    """

    options: Mapping[str, Any] = NO_OPTIONS
    contract: Mapping[str, Any] = NO_OPTIONS


class SamplerInfo(NamedTuple):
    """Name, supported kernels and descriptions of a sampler, as given to the decorator `sampler`.

    Attributes
    ----------
    name : str
        Name of the sampler in configuration files and results. `rfbench.registry.SAMPLERS` maps
        the name to the class.
    kernels : sequence of str
        Names of the supported kernels. The sampler has to reject all other kernels.
    about : str
        Description in one line, for a table that compares methods.
    labels : mapping of str to str
        Descriptions of variants of the sampler (the same class with different parameters). The keys
        are the labels of the variants in comparisons of methods.
    contract : mapping
        Settings of the sampler's checks that differ from the defaults of `FeatureMapUnderTest`.
    forms : sequence of CheckCase
        Sets of parameters with which the sampler is checked. By default, the sampler is checked
        once, with its default parameters.
    """

    name: str
    kernels: Sequence[str]
    about: str = ""
    labels: Mapping[str, str] = NO_OPTIONS
    contract: Mapping[str, Any] = NO_OPTIONS
    forms: Sequence[CheckCase] = (CheckCase(),)


@dataclass_transform(eq_default=False, kw_only_default=True, field_specifiers=(field,))
def sampler(name: str, **said: Any) -> Callable[[type[Class]], type[Class]]:
    """Return a class decorator that makes a subclass of `RandomFeatures` a named sampler.

    The decorator adds a constructor with the annotated fields as keyword arguments. The name and
    the other arguments, the fields of `SamplerInfo`, are stored in the class attribute
    `declaration`. The docstring of the class has to cite the paper of the method under References.
    """

    def declare(cls: type[Class]) -> type[Class]:
        made = estimator(cls)
        made.declaration = SamplerInfo(name, **said)  # type: ignore[attr-defined]
        return made

    return declare
