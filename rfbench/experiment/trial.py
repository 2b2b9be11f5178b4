"""One trial: prepare, draw features, fit, score; timed, and a pure function of its Trial."""

from __future__ import annotations

import functools
import itertools
import json
import random
import signal
import sys
import traceback
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import joblib
import numpy as np
import sklearn
from threadpoolctl import ThreadpoolController

from rfbench import metrics
from rfbench.arrays import Array, Rows
from rfbench.bandwidths import nearest_to_rule
from rfbench.clock import PARTS, Clock
from rfbench.compute import waves
from rfbench.config.build import method_of, sampler_of, solver_of
from rfbench.config.schema import NO_SOLVER, BandwidthGrid, SamplerSpec
from rfbench.datasets import Prepared
from rfbench.errors import MemoryLimit, MethodError, RfbenchError
from rfbench.experiment.context import Context
from rfbench.experiment.environment import peak_rss_mb, reset_peak_rss
from rfbench.experiment.plan import SPOILED, Job, Trial, describe, integer_for
from rfbench.results import kept_features, predictions
from rfbench.rows import RowSource
from rfbench.samplers.base import Shared, looks_at_target
from rfbench.samplers.elsewhere import Method
from rfbench.samplers.lkrf import LKRF
from rfbench.solvers.design import design_of
from rfbench.solvers.folds import NESTED, ONCE, Refit

# Standard errors below chance that a row's error has to be.
CHANCE_ERRORS = 2
# The end of a note of a row, after their number, where a grid was widened.
BANDWIDTHS_TRIED = "bandwidths tried"
KEEPS_COLUMNS = Shared(keeps_columns=True)
LONGEST_MESSAGE, LONGEST_TRACEBACK = 2000, 100_000


def refuse_complex_numbers() -> None:
    """Make it an error, in this process, that an imaginary part is dropped where it is written.

    Features would be measured by their real parts, and nobody would know.
    """
    refusal = ("error", None, np.exceptions.ComplexWarning, None, 0)
    if refusal not in warnings.filters:  # setting it makes warnings that were shown be shown again
        warnings.simplefilter("error", np.exceptions.ComplexWarning)


@functools.lru_cache(maxsize=1)
def thread_pools(modules: int) -> ThreadpoolController:
    """Return the libraries with threads; to find them takes milliseconds.

    So they are looked for again only once `modules` have become more: an import may have loaded
    another one.
    """
    return ThreadpoolController()


def run_job(job: Job, context: Context | None = None) -> Iterator[dict[str, Any]]:
    """Run the trials of a job, one row each; a trial that fails is a row that says so.

    Python's and numpy's global generators begin alike in each: code that draws from them is as
    repeatable as the rest. `context` holds what they share.
    """
    refuse_complex_numbers()
    waves.warm_up()  # before any clock runs
    libraries = thread_pools(len(sys.modules))
    context = context or Context()
    for trial in job:
        seed = integer_for(trial.experiment.seed, "globals", trial.number)
        random.seed(seed)
        np.random.seed(seed)  # noqa: NPY002
        with (
            libraries.limit(limits=trial.experiment.threads),
            sklearn.config_context(assume_finite=True),
        ):
            row = run_trial(trial, context)
        yield row


def run_trial(trial: Trial, context: Context) -> dict[str, Any]:
    """Return the row of a trial, whatever happens in it."""
    row, rows_before = describe(trial), ""
    # A worker ignores Ctrl-C: a KeyboardInterrupt there comes from the trial's own code.
    interrupts_ignored = signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    reset_peak_rss()
    try:
        if trial.code:
            rows_before = _hash_of_rows(trial, context)
        measured = measure(trial, context, resolved(trial))
        beside = {key: measured.pop(key, None) for key in (kept_features.KEY, predictions.KEY)}
        row.update({column: plain(value) for column, value in measured.items()})
        row.update({key: content for key, content in beside.items() if content}, status="ok")
    except MemoryLimit as error:
        row.update(status="memory", message=words(error))
    except RfbenchError as error:
        row.update(status="failed", message=words(error))
    except MemoryError as error:
        row.update(status="memory", message=f"Out of memory: {words(error)}")
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt) and not interrupts_ignored:
            raise
        row.update(status="failed", message=f"{type(error).__name__}: {words(error)}")
        row["traceback"] = "".join(traceback.format_exception(error))[:LONGEST_TRACEBACK]
    row["peak_rss_mb"] = round(peak_rss_mb(), 1)
    if rows_before and _hash_of_rows(trial, context) != rows_before:
        what = f"{trial.code} changed the prepared rows: its numbers are those of other data."
        row = describe(trial) | {"status": "failed", "message": what, SPOILED: True}
    return row


def words(error: BaseException) -> str:
    """Return an error's message, or say that it has none that can be read."""
    try:
        return str(error)[:LONGEST_MESSAGE]
    except BaseException:
        return "its message cannot be read"


def plain(value: Any) -> Any:
    """Return a measured value as a number or text that can be written down; else TypeError."""
    if isinstance(value, np.generic | np.ndarray):
        value = value.item()
    if value is None or type(value) in (bool, int, float, str):
        return value
    raise TypeError(f"{type(value).__name__} is neither a number nor text")


def _hash_of_rows(trial: Trial, context: Context) -> str:
    """Return what changes with the prepared rows of a trial; rows on disk are not read."""
    rows = context.prepared(trial)
    parts = (rows.X_train, rows.y_train, rows.X_test, rows.y_test)
    return str(joblib.hash([part for part in parts if not isinstance(part, RowSource)]))


Methods = Mapping[str, Method]
"""What the labels of samplers name: resolved once per trial, and built anew for each fit."""


def resolved(trial: Trial) -> Methods:
    """Return the methods of a trial; what is measured of one is measured here."""
    specs = [trial.sampler, *([trial.reference] if trial.M is None else [])]
    methods = {spec.label: method_of(spec) for spec in specs}
    for method in methods.values():
        method.formula  # noqa: B018 - before any clock runs
    return methods


def measure(trial: Trial, context: Context, methods: Methods) -> dict[str, Any]:
    """Do the work of a trial and return the measured columns."""
    experiment, M = trial.experiment, trial.M
    prepared = context.prepared(trial)
    X, clock = prepared.X_train, Clock()
    shared = Shared(metrics={}, keeps_columns=True)
    bandwidth, at_edge, tried = _chosen_bandwidth(trial, context, methods, clock, shared)
    solver = None if experiment.solver.name == NO_SOLVER else _solver(trial, prepared, bandwidth)
    features: Any = None
    if solver is None or solver.uses_features:
        features, chosen = _fit_sampler(trial, context, methods, bandwidth, clock)
        M = M or chosen
    design = design_of(X[:1], features)
    measured: dict[str, Any] = {
        "n_train": X.shape[0],
        "n_test": prepared.X_test.shape[0],
        "d": X.shape[1],
        "bandwidth": bandwidth,
        "at_edge": at_edge,
        "M": M,
        "columns": design.n_columns,
        "feature_bytes": None if features is None else design.bytes_per_row,
        "kept": features.kept_ if getattr(features, "keeps_some", False) else None,
    }
    if experiment.kernel_error_rows and getattr(features, "approximates_kernel", False):
        rows, exact = context.exact_kernel(trial, features.kernel_, experiment.kernel_error_rows)
        every = [
            exact.errors(
                np.asarray(drawn.transform(rows), dtype=np.float64),
                getattr(drawn.feature_map_, "kernel_constant", 0.0),
            )
            for drawn in itertools.chain(
                [features], _drawn_again(trial, M, context, methods, bandwidth)
            )
        ]
        measured.update(
            {name: float(np.mean([errors[name] for errors in every])) for name in every[0]}
        )
    if experiment.kept_features and getattr(features, "keeps_some", False):
        measured[kept_features.KEY] = lines_of(features, trial.number)
    if solver is None:
        with clock.part("features"):
            design_of(X, features).matrix()
    else:
        refit = _refit(trial, context, methods, bandwidth, shared)
        _fit(solver, features, prepared, clock, refit)
        noted = [] if features is None else features.notes_
        decided = decisions(solver, prepared, clock)
        scores = score(solver, prepared, decided)
        chance = chance_note(scores, prepared)
        noted = [*noted, *chance]
        measured |= scores | {
            "at_chance": bool(chance),
            "columns": solver.n_columns_,
            "selection": solver.report_.selection,
            "selection_loss": solver.selection_loss_,
            "features_in_folds": trial.features_in_folds or solver.features_in_folds_,
            "alpha": solver.alpha_,
            "alpha_scale_free": solver.alpha_scale_free_,
            "converged": solver.converged_,
            "gap": solver.gap_,
            "gap_folds": solver.gap_folds_,
            **_chosen(solver.report_),
            "message": "; ".join([*tried, *noted, *solver.notes_]),
        }
        if experiment.predictions:
            with Clock.stopped():
                more, measured[predictions.KEY] = _predictions(solver, prepared, decided)
                measured |= more
        if experiment.refit_time:
            measured |= _times_of_a_fit(trial, M, context, methods, bandwidth, solver)
        if experiment.train_error:
            with Clock.stopped():
                measured["train_error"] = training_error(solver, prepared)
    for part in PARTS:
        measured[f"t_{part}"] = round(clock.wall[part], 6)
        measured[f"cpu_{part}"] = round(clock.cpu[part], 6)
    return measured


def _chosen(report: Any) -> dict[str, str]:
    """Return what the search of an estimator from elsewhere chose, if it has one."""
    if report.chosen is None:
        return {}
    chosen = json.dumps(report.chosen, sort_keys=True, default=str)
    return {"chosen": chosen, "chosen_at_edge": ", ".join(report.chosen_at_edge)}


def _times_of_a_fit(
    trial: Trial,
    M: int | None,
    context: Context,
    methods: Methods,
    bandwidth: float | None,
    solver: Any,
) -> dict[str, float]:
    """Fit once more with the settings that were chosen, and return what that alone takes.

    It draws the features, computes them and fits one penalty, without any folds.
    """
    prepared, clock = context.prepared(trial), Clock()
    solver, features = solver.with_choice(), None
    if solver.uses_features:
        features, _ = _fit_sampler(replace(trial, M=M), context, methods, bandwidth, clock)
    _fit(solver, features, prepared, clock, None)
    return {
        "t_refit": round(sum(clock.wall.values()) - clock.wall["test"], 6),
        "cpu_refit": round(sum(clock.cpu.values()) - clock.cpu["test"], 6),
    }


def lines_of(sampler: LKRF, trial: int) -> list[dict[str, Any]]:
    """Return one line of `kept.csv` per kept feature of a fitted sampler, the heaviest first.

    ``feature`` is the number of a coordinate (linear kernel) or of the candidate in the pool,
    ``w1`` to ``wd`` its frequency, ``b`` its offset (map ``offset``), ``weight`` its q.
    """
    numbers, features, weights = sampler.kept_features()
    coordinate = features.feature == "coordinate"
    names = features.frequencies if coordinate else numbers
    lines = []
    for i, (name, weight) in enumerate(zip(names, weights, strict=True)):
        line: dict[str, Any] = {"trial": trial, "M": sampler.n_components, "feature": int(name)}
        if not coordinate:
            line |= zip(kept_features.FREQUENCY, features.frequencies[:, i].tolist(), strict=False)
            line |= {} if features.offsets is None else {"b": float(features.offsets[i])}
        lines.append(line | {"weight": float(weight)})
    return lines


def _chosen_bandwidth(
    trial: Trial, context: Context, methods: Methods, clock: Clock, shared: Shared
) -> tuple[float | None, bool | None, list[str]]:
    """Return the bandwidth with the smallest loss on the validation rows of the penalty.

    And whether it lies at an edge of those tried; None where there was no choice. And a note of how
    many these are where they are more than the configuration lists. Each is fitted
    as a trial with it would be; of equally good ones the largest wins. All of it is time of
    training. A grid that is widened goes on by factors of two while the best lies at an edge; then
    the choice is that of `rfbench.bandwidths.nearest_to_rule`.
    """
    grid, rule = context.bandwidths(trial), trial.experiment.bandwidth
    if grid is None:
        return None, None, []
    widened = isinstance(rule, BandwidthGrid) and rule.widen
    if not trial.heeds_bandwidth or (len(grid.values) < 2 and not widened):
        return grid.values[0], None, []
    prepared, spent = context.prepared(trial), Clock()
    losses: dict[float, float] = {}
    folds: dict[float, Any] = {}

    def measure_loss(value: float) -> None:
        solver, features = _solver(trial, prepared, value), None
        if solver.uses_features:
            features, _ = _fit_sampler(trial, context, methods, value, spent, shared)
        refit = _refit(trial, context, methods, value, shared)
        _fit(solver, features, prepared, spent, refit)
        losses[value], folds[value] = float(solver.selection_loss_), solver.fold_losses_

    def best_of(tried: Iterable[float]) -> float:
        best, *others = sorted(tried, reverse=True)
        for value in others:
            if losses[value] < losses[best] * (1 - 1e-12):  # not by rounding alone
                best = value
        return best

    listed = len(grid.values)
    for value in grid.values:
        measure_loss(value)
    best = best_of(losses)
    while widened and (further := grid.wider(best)) is not None:
        measure_loss(further)
        grid, best = grid.with_value(further), best_of(losses)
    if widened and all(loss is not None for loss in folds.values()):
        best = nearest_to_rule(folds, grid.rule)
    clock.charge(spent, to="train")
    tried = [f"{len(losses)} {BANDWIDTHS_TRIED}"] if len(losses) > listed else []
    return best, best in (grid.values[0], grid.values[-1]), tried


def _fit_sampler(
    trial: Trial,
    context: Context,
    methods: Methods,
    bandwidth: float | None,
    clock: Clock,
    shared: Shared = KEEPS_COLUMNS,
    some_rows: tuple[Rows, Any] | None = None,
) -> tuple[Any, int]:
    """Return the fitted sampler and M; where M is kept_by a sampler, that one is fitted first.

    It is fitted on the training rows, or on some of them with their targets. A sampler that does
    not say that it looks at the target is given none.
    """
    prepared, seed = context.prepared(trial), _seed_of_features(trial)
    X, y = some_rows or (prepared.X_train, prepared.y_train)
    M = trial.M
    if M is None:
        reference = _built(trial, trial.reference, methods, 1, prepared, bandwidth, seed)
        M = reference._fit(X, y, replace(shared, keeps_columns=False)).n_kept
    sampler = _built(trial, trial.sampler, methods, M, prepared, bandwidth, seed)
    with clock.part("pp"):
        sampler._fit(X, y if sampler.needs_target else None, shared)
    return sampler, M


def _drawn_again(
    trial: Trial, M: int | None, context: Context, methods: Methods, bandwidth: float | None
) -> Iterator[Any]:
    """Yield the further draws of features over which the kernel errors of a trial are means."""
    prepared, seed = context.prepared(trial), _seed_of_features(trial)
    for repeat in range(1, trial.experiment.kernel_error_repeats):
        own = int(np.random.SeedSequence([seed, repeat]).generate_state(1)[0])
        sampler = _built(trial, trial.sampler, methods, M or 1, prepared, bandwidth, own)
        if looks_at_target(sampler):
            raise MethodError(
                f"{trial.sampler.name} looks at the target.",
                "Kernel errors over several draws are for features that do not.",
                "Leave kernel_error_repeats out.",
            )
        yield sampler.fit(prepared.X_train)


def _seed_of_features(trial: Trial) -> int:
    return integer_for(trial.experiment.seed, "features", trial.number)


def _built(
    trial: Trial,
    spec: SamplerSpec,
    methods: Methods,
    M: int,
    rows: Prepared,
    bandwidth: float | None,
    seed: int,
) -> Any:
    n, d = rows.X_train.shape
    return sampler_of(
        trial.experiment,
        spec,
        M=M,
        d=d,
        n=n,
        random_state=seed,
        bandwidth=bandwidth,
        method=methods[spec.label],
    )


def _refit(
    trial: Trial,
    context: Context,
    methods: Methods,
    bandwidth: float | None,
    shared: Shared,
) -> Refit | None:
    """Return how the features of a fold that chooses are fitted; None: like all the others.

    With the same random numbers, on other rows: those of the fold play no part. Nor do they in how
    many features there are, where a sampler decides it.
    """
    if trial.features_in_folds != NESTED:
        return None
    return lambda rows, targets, clock: _fit_sampler(
        trial, context, methods, bandwidth, clock, shared, (rows, targets)
    )[0]


def _solver(trial: Trial, prepared: Prepared, bandwidth: float | None) -> Any:
    return solver_of(
        trial.experiment,
        task="regression" if prepared.task == "regression" else "classification",
        random_state=integer_for(trial.experiment.seed, "folds", trial.number),
        bandwidth=bandwidth,
    )


def _fit(solver: Any, features: Any, prepared: Prepared, clock: Clock, refit: Refit | None) -> None:
    solver.fit(
        prepared.X_train,
        prepared.y_train,
        features=features,
        features_in_folds=refit or ONCE,
        groups=prepared.groups,
        evaluation=(prepared.X_test, prepared.y_test),
        clock=clock,
    )


def decisions(solver: Any, prepared: Prepared, clock: Clock) -> Array:
    """Return the decision values of the test rows, those of the fit where it has made them."""
    if solver.evaluation_decisions_ is not None:
        return np.asarray(solver.evaluation_decisions_)
    with clock.part("test"):
        return np.asarray(solver.decisions(prepared.X_test))


def _predictions(solver: Any, prepared: Prepared, values: Array) -> tuple[dict[str, float], str]:
    """Return the metrics of probabilities, of classes, and what is stored of the test rows."""
    arrays = {"rows": prepared.test_rows, "truth": prepared.y_test, "predictions": values}
    arrays |= solver.report_.arrays
    if prepared.task == "regression":
        return {}, predictions.encoded(arrays)
    codes = solver.predict_codes(values)
    shares = solver.probabilities(prepared.X_test, prepared.y_test, values)
    if shares is None:
        shares = np.eye(len(prepared.classes))[codes]
    arrays["probabilities"] = shares
    found = metrics.probabilistic(shares, codes, prepared.y_test)
    return found, predictions.encoded(arrays)


def score(solver: Any, prepared: Prepared, values: Array) -> dict[str, float]:
    """Return every metric that applies to the decision values of the test rows."""
    if prepared.task == "regression":
        return metrics.regression(values[:, 0], prepared.y_test)
    result = metrics.classification(solver.predict_codes(values), prepared.y_test)
    coded = solver.coded(prepared.y_test)
    if coded is not None:
        result.update(metrics.regression(values, coded))
    return result


def chance_note(scores: dict[str, float], prepared: Prepared) -> list[str]:
    """Say so where the test rows are predicted no better than without their columns.

    A class is predicted so by the commonest of the training rows: the error has to be two standard
    errors below that. A real target is by the mean of the test rows, whose r2 is 0.
    """
    if prepared.task == "regression":
        return ["at chance: no better than the mean"] if scores["r2"] <= 0 else []
    labels, counts = np.unique(prepared.y_train, return_counts=True)
    chance = float(np.mean(prepared.y_test != labels[np.argmax(counts)]))
    spread = (chance * (1 - chance) / len(prepared.y_test)) ** 0.5
    if scores["error"] / 100 < chance - CHANCE_ERRORS * spread or chance == 0:
        return []
    return [f"at chance: always the commonest class has an error of {100 * chance:.3g} %"]


def training_error(solver: Any, prepared: Prepared) -> float:
    """Return the misclassification in % on the training rows, or the relative squared error."""
    values, y = solver.decisions(prepared.X_train), prepared.y_train
    if prepared.task == "regression":
        return metrics.regression(values[:, 0], y)["relative_squared_error"]
    return metrics.classification(solver.predict_codes(values), y)["error"]
