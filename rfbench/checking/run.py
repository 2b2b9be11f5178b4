"""Finding the contract that fits a class, and running its checks."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any

from rfbench.checking import foreign, samplers, solvers
from rfbench.checking.promises import (
    CheckFailed,
    Contract,
    NotApplicable,
    Promise,
    expect_finite,
    explained,
    run_checks,
)
from rfbench.errors import MethodError
from rfbench.registry import KERNELS
from rfbench.samplers import RandomFeatures
from rfbench.solvers import Solver

__all__ = [
    "CheckFailed",
    "NotApplicable",
    "Promise",
    "check_predictor",
    "check_rows",
    "check_sampler",
    "check_solver",
    "check_transformer",
    "promises_of",
]

Options = Mapping[str, Any] | None
# Of each kind of subject: its contract, and one plain use of it.
KINDS: dict[type[Any], tuple[Contract, Callable[[Any], Any]]] = {
    samplers.SamplerSubject: (samplers.CONTRACT, lambda s: expect_finite(s.features())),
    solvers.SolverSubject: (solvers.CONTRACT, lambda s: s.fitted()),
    foreign.TransformerSubject: (foreign.TRANSFORMER, lambda s: expect_finite(s.features())),
    foreign.PredictorSubject: (foreign.PREDICTOR, lambda s: s.predicted()),
    foreign.RowsSubject: (foreign.ROWS_CONTRACT, lambda s: s.load()),
}


def kernels_of(thing: Any) -> tuple[str, ...]:
    """Return the names of the kernels that a sampler says it serves; none of anything else."""
    if not (isinstance(thing, type) and issubclass(thing, RandomFeatures)):
        return ()
    return tuple(name for name, kernel in KERNELS.items() if thing.serves(kernel))


def untested_of(thing: Any) -> str:
    """Return what the contract leaves out of a sampler's kernel, as a sentence; '' for nothing."""
    if not (isinstance(thing, type) and issubclass(thing, RandomFeatures)):
        return ""
    if not thing.approximates_kernel:
        return "that its features estimate a kernel: it says that they do not (approximates_kernel)"
    return "" if thing.unbiased else "that its features estimate a kernel: it has a bias (unbiased)"


def subject_of(thing: Any, options: Options = None) -> Any:
    """Return a class or function as a subject of the contract that fits.

    Raises
    ------
    MethodError
        It is neither a sampler, a solver, a transformer, an estimator nor a function.
    """
    options = dict(options or {})
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
        One per check; of what cannot be built and fitted at all, that alone.

    Raises
    ------
    MethodError
        There is no contract for it.
    """
    return tested(subject_of(thing, options))


def tested(subject: Any) -> list[Promise]:
    """Return the promises of a subject, or that of one plain fit alone where that fails.

    Each check would fail by the same exception, so it is shown once.
    """
    contract, plain = KINDS[type(subject)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            plain(subject)
        except Exception as error:
            return [
                Promise(
                    "one plain fit",
                    "It can be built and fitted on 60 or 90 rows, and what it returns is finite.",
                    "Correct this first: the promises are tested once it works.",
                    [explained(error, subject.thing)],
                    1,
                )
            ]
        return run_checks(subject, contract)


def _demand(subject: Any) -> None:
    """Raise CheckFailed with every promise that is not kept."""
    failed = [promise for promise in tested(subject) if promise.got]
    if failed:
        raise CheckFailed("\n\n".join(promise.explanation() for promise in failed))


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


def check_transformer(transformer: type[Any], options: Options = None) -> None:
    """Check what a benchmark relies on in a transformer from elsewhere, as `check_sampler` does."""
    _demand(foreign.TransformerSubject(transformer, options or {}))


def check_predictor(predictor: type[Any], options: Options = None) -> None:
    """Check what a benchmark relies on in a classifier or regressor, as `check_sampler` does."""
    _demand(foreign.PredictorSubject(predictor, options or {}))


def check_rows(load: Callable[..., Any], options: Options = None) -> None:
    """Check what a benchmark relies on in a function that returns data; `options` are its own."""
    _demand(foreign.RowsSubject(load, options or {}))
