"""Finding the checks that fit a class, and running them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any

from rfbench.checking import foreign, samplers, solvers
from rfbench.checking.promises import CheckFailed as CheckFailed
from rfbench.checking.promises import NotApplicable as NotApplicable
from rfbench.checking.promises import Promise, run_checks
from rfbench.errors import MethodError
from rfbench.registry import KERNELS
from rfbench.samplers import RandomFeatures
from rfbench.solvers import Solver

Options = Mapping[str, Any] | None
CONTRACTS = {
    samplers.SamplerSubject: samplers.CONTRACT,
    solvers.SolverSubject: solvers.CONTRACT,
    foreign.TransformerSubject: foreign.TRANSFORMER,
    foreign.PredictorSubject: foreign.PREDICTOR,
    foreign.RowsSubject: foreign.LOADER,
}


def kernels_of(thing: Any) -> tuple[str, ...]:
    """Return the names of the kernels that a sampler says it serves; none of anything else."""
    if not (isinstance(thing, type) and issubclass(thing, RandomFeatures)):
        return ()
    return tuple(name for name, kernel in KERNELS.items() if thing.serves(kernel))


def subject_of(thing: Any, options: Options = None) -> Any:
    """Return a class or function as a subject of the checks that fit.

    Raises
    ------
    MethodError
        It is neither a sampler, a solver, a transformer, an estimator nor a function.
    """
    options = options or {}
    if not isinstance(thing, type):
        if not callable(thing):
            raise MethodError(f"{thing!r} is no class and no function.")
        return foreign.RowsSubject(thing, options)
    if issubclass(thing, RandomFeatures):
        return samplers.SamplerSubject(thing, options, kernels_of(thing))
    if issubclass(thing, Solver):
        return solvers.SolverSubject(thing, options)
    if hasattr(thing, "fit") and hasattr(thing, "transform"):
        return foreign.TransformerSubject(thing, options)
    if hasattr(thing, "fit") and hasattr(thing, "predict"):
        return foreign.PredictorSubject(thing, options)
    raise MethodError(
        f"{thing.__name__} is neither a sampler nor a solver.",
        "It has no fit with transform, and no fit with predict.",
        "Inherit rfbench.samplers.RandomFeatures, or follow scikit-learn's interface.",
    )


def promises_of(thing: Any, options: Options = None) -> list[Promise]:
    """Run the checks that fit a class or a function.

    Parameters
    ----------
    thing : type or callable
        A sampler, a solver, a transformer or estimator from elsewhere, or a function that
        returns data.
    options : mapping, optional
        Parameters that it is built with, such as a small pool.

    Returns
    -------
    list of Promise
        One per check; of what cannot be built and used at all, the first alone.

    Raises
    ------
    MethodError
        There are no checks for it.
    """
    return _tested(subject_of(thing, options))


def _tested(subject: Any) -> list[Promise]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return run_checks(subject, CONTRACTS[type(subject)])


def _demand(subject: Any) -> None:
    if failed := [promise.explanation() for promise in _tested(subject) if promise.got]:
        raise CheckFailed("\n\n".join(failed))


def check_sampler(sampler: type[RandomFeatures], options: Options = None, **differs: Any) -> None:
    """Check what a sampler promises: columns, seeds, sparse rows, float32, and its kernel.

    Parameters
    ----------
    sampler : subclass of RandomFeatures
    options : mapping, optional
        Its parameters beside n_components and random_state, small enough for 60 rows.
    **differs
        Attributes of `rfbench.checking.samplers.SamplerSubject`, such as
        ``columns_per_component=1``.

    Raises
    ------
    CheckFailed
        A promise is not kept. The message says of each what was expected, what came instead, and
        what to do.
    """
    served = {"kernels_served": kernels_of(sampler), **differs}
    _demand(samplers.SamplerSubject(sampler, options or {}, **served))


def check_solver(solver: type[Solver], options: Options = None, **differs: Any) -> None:
    """Check what a solver promises, as `check_sampler` does.

    `options` make its fits exact enough to be compared; `differs` are attributes of
    `rfbench.checking.solvers.SolverSubject`.
    """
    _demand(solvers.SolverSubject(solver, options or {}, **differs))


def check_foreign(thing: type[Any] | Callable[..., Any], options: Options = None) -> None:
    """Check what a benchmark relies on in a class or function from elsewhere."""
    _demand(subject_of(thing, options))
