"""The samplers: each is a scikit-learn transformer, found by its published name."""

from __future__ import annotations

from typing import Any, cast

from rfbench.errors import MethodError, nearest
from rfbench.samplers.base import RandomFeatures
from rfbench.samplers.compact import CompactFeatures
from rfbench.samplers.controls import UniformPool
from rfbench.samplers.eerf import EERF
from rfbench.samplers.fastfood import Fastfood
from rfbench.samplers.greedy import Greedy
from rfbench.samplers.leverage import LeverageRFF, SurrogateLeverage
from rfbench.samplers.lkrf import LKRF
from rfbench.samplers.nystroem import Nystroem
from rfbench.samplers.orf import ORF, SORF
from rfbench.samplers.qmc import QMC
from rfbench.samplers.rks import RKS
from rfbench.samplers.ses import SES
from rfbench.samplers.svd import TruncatedSVD
from rfbench.samplers.tefm import TEFMG, TEFMS

SAMPLERS: dict[str, type[RandomFeatures]] = {
    "rks": RKS,
    "orf": ORF,
    "sorf": SORF,
    "qmc": QMC,
    "fastfood": Fastfood,
    "ses": SES,
    "eerf": EERF,
    "lkrf": LKRF,
    "leverage-rff": LeverageRFF,
    "surrogate-leverage": SurrogateLeverage,
    "tefm-g": TEFMG,
    "tefm-s": TEFMS,
    "comp": CompactFeatures,
    "svd": TruncatedSVD,
    "nystroem": Nystroem,
    "greedy": Greedy,
    "uniform-pool": UniformPool,
}

# What else a method is called; everything that is read has the published name.
ALIASES = {"rff": "rks"}

__all__ = [
    "ALIASES",
    "EERF",
    "LKRF",
    "ORF",
    "QMC",
    "RKS",
    "SAMPLERS",
    "SES",
    "SORF",
    "TEFMG",
    "TEFMS",
    "CompactFeatures",
    "Fastfood",
    "Greedy",
    "LeverageRFF",
    "Nystroem",
    "RandomFeatures",
    "SurrogateLeverage",
    "TruncatedSVD",
    "UniformPool",
    "make",
    "sampler_class",
]


def sampler_class(name: str) -> type[Any]:
    """Return the class of a published name; MethodError with the nearest name otherwise.

    `rff` is another name of `rks`. Names that rfbench does not have are looked for among the
    entry points `rfbench.samplers` of the installed packages.
    """
    name = ALIASES.get(name, name)
    if name not in SAMPLERS:
        from rfbench.plugins import entry_points

        point = entry_points("rfbench.samplers").get(name)
        if point is not None:
            return cast("type[Any]", point.load())
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
