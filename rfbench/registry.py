"""Registries of samplers (of random features), solvers (for models) and kernels by their names.

The dictionaries below contain the import path of each class. A class is imported when it is first
used. Tables and legends list methods in the order of these dictionaries.
"""

from __future__ import annotations

import functools
import pkgutil
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from rfbench import plugins
from rfbench.errors import MethodError, suggest_nearest_name
from rfbench.method_names import PRINTED as PRINTED
from rfbench.method_names import find_displayed_name as find_displayed_name
from rfbench.method_names import find_internal_name as find_internal_name

NO_ALIASES: Mapping[str, str] = MappingProxyType({})
# Maps the name of each removed sampler to the most similar sampler, which the error message
# suggests.
REMOVED_SAMPLERS = {"oprf": "positive"}


@functools.cache  # a report has 60,000 calls
def _import(place: str) -> Any:
    """Return the class at an import path. The result is cached."""
    return pkgutil.resolve_name(place)


class Registry(Mapping[str, Any]):
    """Mapping from published names to the classes of one kind, such as samplers.

    Classes are imported on first use. The values have the type Any, because their base class is
    defined in modules that import this module.

    Parameters
    ----------
    kind : str
        Name of the kind in error messages, such as "sampler".
    package : str
        Package that contains the modules.
    places : mapping
        ``module:Class`` within the package for each published name, or a mapping from task to
        ``module:Class``.
    aliases : mapping of str to str
        Maps other names in configurations to the published names.
    imports : bool
        Whether `find` also accepts import paths. They have to be permitted before the call.
    """

    def __init__(
        self,
        kind: str,
        package: str,
        places: Mapping[str, str | Mapping[str, str]],
        *,
        aliases: Mapping[str, str] = NO_ALIASES,
        imports: bool = False,
    ) -> None:
        self.kind, self.package, self.places = kind, package, places
        self.aliases, self.imports = aliases, imports

    def list_classes(self) -> dict[str, str]:
        """Return a dictionary from the name of each class to its module. Nothing is imported."""
        found = {}
        for place in self.places.values():
            for each in [place] if isinstance(place, str) else place.values():
                module, _, name = each.partition(":")
                found[name] = f"{self.package}.{module}"
        return found

    def find_in_module(self, module: str, name: str, **bases: str) -> Any:
        """Return a class by its Python name, for the function ``__getattr__`` of a module.

        `module` is the import path of the module. `bases` are additional classes, each with the
        name of the file that defines it. Raise AttributeError if there is no such class.
        """
        classes = self.list_classes() | {base: f"{module}.{file}" for base, file in bases.items()}
        if name == "__all__":
            return sorted([*classes, "make"])
        if name not in classes:
            raise AttributeError(f"module '{module}' has no attribute '{name}'")
        return pkgutil.resolve_name(f"{classes[name]}:{name}")

    def _load(self, place: str) -> Any:
        return _import(f"{self.package}.{place}")

    def __getitem__(self, name: str) -> Any:
        """Return the class with a published name.

        If there is one class per task, return a dictionary from tasks to classes.
        """
        place = self.places[name]
        if isinstance(place, str):
            return self._load(place)
        return {task: self._load(each) for task, each in place.items()}

    def __iter__(self) -> Iterator[str]:
        """Iterate over the published names of all classes."""
        return iter(self.places)

    def __len__(self) -> int:
        """Return the number of published names in this registry."""
        return len(self.places)

    def find_published_name(self, name: str) -> str:
        """Return the published name of a method, given an alias or its name in papers.

        An unknown name is returned unchanged.
        """
        name = self.aliases.get(name, name)
        own = name if name in self.places else find_internal_name(name)
        return own if own in self.places else name

    def find(self, name: str) -> Any:
        """Return a class by its published name, an alias, or its name in papers.

        If there is one class per task, return a dictionary from tasks to classes. Raise MethodError
        with the most similar name if the name is unknown.
        """
        # Import these functions only if a name is looked up, because their module imports numpy,
        # which is slow.
        from rfbench.parameters import has_bracketed_parameters, is_path

        if self is KERNELS and has_bracketed_parameters(name):
            return _import("rfbench.kernels:find_parametrized_kernel")(name)
        if self.imports and is_path(name):
            return plugins.load_class(name)
        name = self.find_published_name(name)
        if name in self.places:
            return self[name]
        raise make_unknown_name_error((self,), name)


def make_unknown_name_error(registries: Iterable[Registry], name: str) -> MethodError:
    """Return the error for a name that is in none of the registries, with the most similar name.

    If a different registry has the name, for example if a kernel is given as a sampler, the message
    contains the right kind.
    """
    several = list(registries)
    if name in REMOVED_SAMPLERS and SAMPLERS in several:
        return MethodError(
            f"There is no sampler '{name}' anymore.",
            "It was removed, because no published row used it.",
            f"Use {REMOVED_SAMPLERS[name]}, or an earlier version of rfbench.",
        )
    kinds = " or ".join(registry.kind for registry in several)
    others = [each for each in (SAMPLERS, KERNELS, SOLVERS) if each not in several]
    elsewhere = next((each for each in others if each.find_published_name(name) in each), None)
    known = [each for registry in several for each in registry]
    # Find the known name that is most similar to the unknown name. If two names are equally
    # similar, the alphabetically last name is suggested.
    near = suggest_nearest_name(name, [*PRINTED.values(), *known])
    return MethodError(
        f"There is no {kinds} '{name}'.{near if elsewhere is None else ''}",
        f"There are {', '.join(known)}.",
        (f"{name} is a {elsewhere.kind}. Use it under the key for a {elsewhere.kind}.")
        if elsewhere is not None
        else "",
    )


SAMPLERS = Registry(
    "sampler",
    "rfbench.samplers",
    {
        "rks": "rks:RKS",
        "orf": "orf:ORF",
        "sorf": "structured:SORF",
        "qmc": "qmc:QMC",
        "ssr": "quadrature:SSR",
        "rom": "structured:ROM",
        "gaussian-quadrature": "quadrature:GaussianQuadrature",
        "circulant": "structured:Circulant",
        "low-precision": "low_precision:LowPrecision",
        "ses": "ses:SES",
        "lkrf": "lkrf:LKRF",
        "eerf": "eerf:EERF",
        "leverage-rff": "leverage:LeverageRFF",
        "surrogate-leverage": "leverage:SurrogateLeverage",
        "tefm-g": "tefm:TEFMG",
        "tefm-s": "tefm:TEFMS",
        "comp": "tefm:CompactFeatures",
        "fastfood": "structured:Fastfood",
        "svd": "tefm:TruncatedSVD",
        "uniform-pool": "pool:UniformPool",
        "nystroem": "nystroem:Nystroem",
        "greedy": "greedy:Greedy",
        "pairs": "swim:DataPairs",
        "swim": "swim:SWIM",
        "rfm-rff": "metric:RFMFeatures",
        "varpro": "varpro:VariableProjection",
        "positive": "positive:PositiveFeatures",
        "simrf": "orf:SimRF",
        "elm": "swim:ELM",
        "orf-columns": "orf:ColumnORF",
        "polynomial-sketch": "sketches:PolynomialSketch",
        "power-sketch": "sketches:PowerSketch",
        "maclaurin": "sketches:MaclaurinFeatures",
    },
    aliases={"rff": "rks"},
)
SOLVERS = Registry(
    "solver",
    "rfbench.solvers",
    {
        "ridge": {"classification": "ridge:RidgeClassifier", "regression": "ridge:RidgeRegressor"},
        "logistic": {"classification": "logistic:LogisticClassifier"},
        "svm": {"classification": "svm:SVMClassifier"},
        "kernel-ridge": {
            "classification": "kernel_machines:KernelRidgeClassifier",
            "regression": "kernel_machines:KernelRidgeRegressor",
        },
        "kernel-svm": {"classification": "kernel_machines:KernelSVMClassifier"},
        "joint": {"classification": "joint:JointClassifier"},
    },
)
KERNELS = Registry(
    "kernel",
    "rfbench",
    {
        "gaussian": "kernels:Gaussian",
        "gaussian-unhalved": "kernels:GaussianUnhalved",
        "laplacian": "kernels:Laplacian",
        "laplacian-l2": "kernels:LaplacianL2",
        "cauchy": "kernels:Cauchy",
        "arc-cosine-0": "kernels:ArcCosine0",
        "arc-cosine-1": "kernels:ArcCosine1",
        "arc-cosine-2": "kernels:ArcCosine2",
        "linear": "kernels:Linear",
        "matern": "kernels:Matern",
        "rational-quadratic": "kernels:RationalQuadratic",
        "softmax": "kernels:Softmax",
        "polynomial": "kernels:Polynomial",
    },
    imports=True,
)
