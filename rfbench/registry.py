"""Samplers, solvers and kernels by their published names: one way to find a thing.

Here stand import paths alone: a thing is imported when it is asked for. A new method is one line.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from importlib import metadata
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from rfbench.errors import unknown

if TYPE_CHECKING:
    from rfbench.kernels import Kernel
    from rfbench.samplers.base import RandomFeatures
    from rfbench.solvers.base import Solver

Thing = TypeVar("Thing")
Paths = str | Mapping[str, str]


class Registry(Mapping[str, Thing], Generic[Thing]):
    """The things of one kind, imported as they are asked for, in the order of a list of them.

    Each is at a path ``package.module:name``, or at one per task. The aliases say what else one is
    called; everything that is read has the published name. Entry points of installed packages, of
    the `group`, are found by their names as well.
    """

    def __init__(
        self,
        kind: str,
        paths: Mapping[str, Paths],
        *,
        aliases: Mapping[str, str] | None = None,
        group: str | None = None,
    ) -> None:
        self.kind, self.group = kind, group
        self._paths, self._aliases = paths, aliases or {}

    def __getitem__(self, name: str) -> Thing:
        """Return one of rfbench's own by its published name."""
        thing: Thing = _imported(self._paths[name])
        return thing

    def __iter__(self) -> Iterator[str]:
        """Iterate over the published names."""
        return iter(self._paths)

    def __len__(self) -> int:
        """Return how many rfbench has."""
        return len(self._paths)

    def published(self, name: str) -> str:
        """Return the published name of a name."""
        return self._aliases.get(name, name)

    def find(self, name: str) -> Any:
        """Return a thing by any of its names, or from an entry point.

        Raises MethodError: nothing has this name; the nearest one is named.
        """
        name = self.published(name)
        if name in self._paths:
            return self[name]
        for point in metadata.entry_points(group=self.group) if self.group else ():
            if point.name == name:
                return point.load()
        raise unknown(self.kind, name, self._paths)


def _imported(paths: Paths) -> Any:
    if not isinstance(paths, str):
        return {task: _imported(path) for task, path in paths.items()}
    module, _, name = paths.partition(":")
    return getattr(importlib.import_module(f"rfbench.{module}"), name)


def _both(path: str) -> dict[str, str]:
    return {"classification": f"{path}Classifier", "regression": f"{path}Regressor"}


def _classifier(path: str) -> dict[str, str]:
    return {"classification": f"{path}Classifier"}


# In the order of tables and legends.
SAMPLERS: Registry[type[RandomFeatures]] = Registry(
    "sampler",
    {
        "rks": "samplers.rks:RKS",
        "orf": "samplers.orf:ORF",
        "sorf": "samplers.structured:SORF",
        "qmc": "samplers.qmc:QMC",
        "moment-matching": "samplers.moment_matching:MomentMatching",
        "ssr": "samplers.quadrature:SSR",
        "rom": "samplers.structured:ROM",
        "gaussian-quadrature": "samplers.quadrature:GaussianQuadrature",
        "circulant": "samplers.structured:Circulant",
        "low-precision": "samplers.low_precision:LowPrecision",
        "ses": "samplers.ses:SES",
        "lkrf": "samplers.lkrf:LKRF",
        "eerf": "samplers.eerf:EERF",
        "leverage-rff": "samplers.leverage:LeverageRFF",
        "surrogate-leverage": "samplers.leverage:SurrogateLeverage",
        "tefm-g": "samplers.tefm:TEFMG",
        "tefm-s": "samplers.tefm:TEFMS",
        "comp": "samplers.compact:CompactFeatures",
        "fastfood": "samplers.structured:Fastfood",
        "svd": "samplers.tefm:TruncatedSVD",
        "uniform-pool": "samplers.controls:UniformPool",
        "nystroem": "samplers.nystroem:Nystroem",
        "greedy": "samplers.greedy:Greedy",
        "pairs": "samplers.swim:DataPairs",
        "swim": "samplers.swim:SWIM",
        "orcca": "samplers.leverage:ORCCA",
        "rfm-rff": "samplers.rfm:RFMFeatures",
        "varpro": "samplers.varpro:VariableProjection",
        "arff": "samplers.arff:ARFF",
        "random-binning": "samplers.random_binning:RandomBinning",
        "positive": "samplers.positive:PositiveFeatures",
        "oprf": "samplers.positive:OptimalPositiveFeatures",
        "simrf": "samplers.orf:SimRF",
    },
    aliases={"rff": "rks"},
    group="rfbench.samplers",
)

SOLVERS: Registry[dict[str, type[Solver]]] = Registry(
    "solver",
    {
        "ridge": _both("solvers.ridge:Ridge"),
        "logistic": _classifier("solvers.logistic:Logistic"),
        "svm": _classifier("solvers.svm:SVM"),
        "constrained": _both("solvers.constrained:Constrained"),
        "kernel-ridge": _both("solvers.kernel_ridge:KernelRidge"),
        "kernel-svm": _classifier("solvers.kernel_svm:KernelSVM"),
        "joint": _classifier("solvers.joint:Joint"),
        "falkon": _both("solvers.falkon:Falkon"),
    },
    group="rfbench.solvers",
)

KERNELS: Registry[type[Kernel]] = Registry(
    "kernel",
    {
        "gaussian": "kernels:Gaussian",
        "gaussian-unhalved": "kernels:GaussianUnhalved",
        "laplacian": "kernels:Laplacian",
        "cauchy": "kernels:Cauchy",
        "arc-cosine-0": "kernels:ArcCosine0",
        "arc-cosine-1": "kernels:ArcCosine1",
        "arc-cosine-2": "kernels:ArcCosine2",
        "linear": "kernels:Linear",
    },
)
