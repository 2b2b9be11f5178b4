"""The solvers: what is fitted on the features, found by name and task."""

from __future__ import annotations

from typing import Any

from rfbench.errors import MethodError
from rfbench.parameters import build
from rfbench.registry import SOLVERS
from rfbench.solvers.base import Solver as Solver
from rfbench.solvers.constrained import ConstrainedClassifier as ConstrainedClassifier
from rfbench.solvers.constrained import ConstrainedRegressor as ConstrainedRegressor
from rfbench.solvers.external import ExternalSolver as ExternalSolver
from rfbench.solvers.falkon import FalkonClassifier as FalkonClassifier
from rfbench.solvers.falkon import FalkonRegressor as FalkonRegressor
from rfbench.solvers.joint import JointClassifier as JointClassifier
from rfbench.solvers.kernel_ridge import KernelRidgeClassifier as KernelRidgeClassifier
from rfbench.solvers.kernel_ridge import KernelRidgeRegressor as KernelRidgeRegressor
from rfbench.solvers.kernel_svm import KernelSVMClassifier as KernelSVMClassifier
from rfbench.solvers.logistic import LogisticClassifier as LogisticClassifier
from rfbench.solvers.ridge import RidgeClassifier as RidgeClassifier
from rfbench.solvers.ridge import RidgeRegressor as RidgeRegressor
from rfbench.solvers.svm import SVMClassifier as SVMClassifier


def solver_class(name: str, task: str = "classification") -> type[Any]:
    """Return the class of a solver for a task ('classification' or 'regression').

    A solver from an entry point serves any task.
    """
    found = SOLVERS.find(name)
    if isinstance(found, type):
        return found
    if task not in found:
        raise MethodError(f"The solver {name} does not do {task}.", f"It does {', '.join(found)}.")
    cls: type[Solver] = found[task]
    return cls


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
    solver: Solver = build(solver_class(name, task), name, parameters)
    return solver
