# Written by `python -m scripts.stubs` from rfbench/registry.py. Do not edit.

from __future__ import annotations
from typing import TYPE_CHECKING, Any
from rfbench.errors import MethodError
from rfbench.parameters import build_checked_object
from rfbench.registry import SOLVERS
from rfbench.solvers.base import Solver as Solver
from rfbench.solvers.external import ExternalSolver as ExternalSolver
def find_solver_class(name: str, task: str='classification') -> type[Any]:
    ...
def get_solver_revision(name: str) -> int:
    ...
def make(name: str, task: str='classification', **parameters: Any) -> Solver:
    ...
from rfbench.solvers.joint import JointClassifier as JointClassifier
from rfbench.solvers.kernel_machines import KernelRidgeClassifier as KernelRidgeClassifier
from rfbench.solvers.kernel_machines import KernelRidgeRegressor as KernelRidgeRegressor
from rfbench.solvers.kernel_machines import KernelSVMClassifier as KernelSVMClassifier
from rfbench.solvers.logistic import LogisticClassifier as LogisticClassifier
from rfbench.solvers.ridge import RidgeClassifier as RidgeClassifier
from rfbench.solvers.ridge import RidgeRegressor as RidgeRegressor
from rfbench.solvers.svm import SVMClassifier as SVMClassifier
