"""Solvers, which are models that are fitted on features.

A class is imported when it is first used. `rfbench.registry` maps the names of solvers to modules.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rfbench.errors import MethodError
from rfbench.parameters import build_checked_object
from rfbench.registry import SOLVERS

if TYPE_CHECKING:
    from rfbench.solvers.base import Solver as Solver
    from rfbench.solvers.external import ExternalSolver as ExternalSolver


def __getattr__(name: str) -> Any:
    return SOLVERS.find_in_module(__name__, name, Solver="base", ExternalSolver="external")


def __dir__() -> list[str]:
    return sorted({*globals(), *__getattr__("__all__")})


def find_solver_class(name: str, task: str = "classification") -> type[Any]:
    """Return the class of the solver with the given name for a task.

    `task` is 'classification' or 'regression'. Raise MethodError if the solver does not support it.
    """
    declared = SOLVERS.find(name)
    if task not in declared:
        raise MethodError(
            f"The solver {name} does not support {task}.", f"It supports {', '.join(declared)}."
        )
    cls: type[Solver] = declared[task]
    return cls


def get_solver_revision(name: str) -> int:
    """Return the revision number of a solver, which is incremented when its results change.

    A solver outside rfbench has the revision number 1.
    """
    return max((cls.revision for cls in SOLVERS.get(name, {}).values()), default=1)


def make(name: str, task: str = "classification", **parameters: Any) -> Solver:
    """Build a solver by its name.

    Parameters
    ----------
    name : str
        Name of the solver, as printed by ``rfbench list solvers``.
    task : {'classification', 'regression'}
        Task of the solver.
    **parameters : Any
        Parameters of the solver's class.

    Returns
    -------
    Solver
        The unfitted solver.

    Raises
    ------
    MethodError
        If the solver is unknown, or a parameter is wrong.

    Examples
    --------
    >>> from rfbench import solvers
    >>> solvers.make("ridge", task="regression", alphas=[0.1, 1.0], selection="cv5")
    RidgeRegressor(alphas=[0.1, 1.0], selection='cv5')
    """
    solver: Solver = build_checked_object(find_solver_class(name, task), name, parameters)
    return solver
