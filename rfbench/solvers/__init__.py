"""The solvers: what is fitted on the features, found by name and task."""

from __future__ import annotations

from typing import Any, cast

from rfbench.errors import MethodError, nearest
from rfbench.solvers.base import Solver
from rfbench.solvers.constrained import ConstrainedClassifier, ConstrainedRegressor
from rfbench.solvers.external import ExternalSolver
from rfbench.solvers.joint import JointClassifier
from rfbench.solvers.kernel_ridge import KernelRidgeClassifier, KernelRidgeRegressor
from rfbench.solvers.kernel_svm import KernelSVMClassifier
from rfbench.solvers.logistic import LogisticClassifier
from rfbench.solvers.ridge import RidgeClassifier, RidgeRegressor
from rfbench.solvers.svm import SVMClassifier

SOLVERS: dict[str, dict[str, type[Solver]]] = {
    "ridge": {"classification": RidgeClassifier, "regression": RidgeRegressor},
    "logistic": {"classification": LogisticClassifier},
    "svm": {"classification": SVMClassifier},
    "constrained": {"classification": ConstrainedClassifier, "regression": ConstrainedRegressor},
    "kernel-ridge": {"classification": KernelRidgeClassifier, "regression": KernelRidgeRegressor},
    "kernel-svm": {"classification": KernelSVMClassifier},
    "joint": {"classification": JointClassifier},
}

__all__ = [
    "SOLVERS",
    "ConstrainedClassifier",
    "ConstrainedRegressor",
    "ExternalSolver",
    "JointClassifier",
    "KernelRidgeClassifier",
    "KernelRidgeRegressor",
    "KernelSVMClassifier",
    "LogisticClassifier",
    "RidgeClassifier",
    "RidgeRegressor",
    "SVMClassifier",
    "Solver",
    "make",
    "revision",
    "solver_class",
]


def solver_class(name: str, task: str = "classification") -> type[Any]:
    """Return the class of a solver for a task ('classification' or 'regression').

    Names that rfbench does not have are looked for among the entry points `rfbench.solvers` of the
    installed packages.
    """
    if name not in SOLVERS:
        from rfbench.plugins import entry_points

        point = entry_points("rfbench.solvers").get(name)
        if point is not None:
            return cast("type[Any]", point.load())
        raise MethodError(
            f"There is no solver '{name}'.{nearest(str(name), list(SOLVERS))}",
            f"The solvers are {', '.join(SOLVERS)}.",
        )
    if task not in SOLVERS[name]:
        raise MethodError(
            f"The solver {name} does not do {task}.",
            f"It does {', '.join(SOLVERS[name])}.",
        )
    return SOLVERS[name][task]


def revision(name: str) -> int:
    """Return the revision of a solver of rfbench, 1 for any other."""
    return max((cls.revision for cls in SOLVERS.get(name, {}).values()), default=1)


def make(name: str, task: str = "classification", **parameters: Any) -> Solver:
    """Build a solver by its name; MethodError names a wrong parameter.

    Examples
    --------
    >>> from rfbench import solvers
    >>> solvers.make("ridge", task="regression", alphas=[0.1, 1.0], selection="cv5")
    RidgeRegressor(alphas=[0.1, 1.0], selection='cv5')
    """
    from rfbench.parameters import build

    solver: Solver = build(solver_class(name, task), name, parameters)
    solver.check_parameters()
    return solver
