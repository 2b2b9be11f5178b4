"""The samplers: each is a scikit-learn transformer, found by its published name."""

from __future__ import annotations

from typing import Any

from rfbench.errors import MethodError, nearest
from rfbench.samplers.base import RandomFeatures
from rfbench.samplers.eerf import EERF
from rfbench.samplers.lkrf import LKRF
from rfbench.samplers.rks import RKS

SAMPLERS: dict[str, type[RandomFeatures]] = {"rks": RKS, "eerf": EERF, "lkrf": LKRF}

__all__ = ["EERF", "LKRF", "RKS", "SAMPLERS", "RandomFeatures", "make", "sampler_class"]


def sampler_class(name: str) -> type[RandomFeatures]:
    """Return the class of a published name; MethodError with the nearest name otherwise."""
    if name not in SAMPLERS:
        raise MethodError(
            f"There is no sampler '{name}'.{nearest(str(name), list(SAMPLERS))}",
            f"The samplers are {', '.join(SAMPLERS)}.",
        )
    return SAMPLERS[name]


def make(name: str, **parameters: Any) -> RandomFeatures:
    """Build a sampler by its published name; MethodError names a wrong parameter.

    Examples
    --------
    >>> from rfbench import samplers
    >>> samplers.make("eerf", n_components=50, pool_size=500)
    EERF(n_components=50, pool_size=500)
    """
    from rfbench.parameters import build

    sampler: RandomFeatures = build(sampler_class(name), name, parameters)
    sampler.check_parameters()
    return sampler
