"""One trial: prepare the rows, search the bandwidth, draw the features, fit, score.

A trial is timed, and its row is a function of its `Trial` alone.
"""

from __future__ import annotations

import json
import random
import signal
import sys
import traceback
import warnings
from collections.abc import Iterator
from typing import Any

import joblib
import numpy as np
import sklearn

from rfbench import platforms
from rfbench.clock import CLOCK_PARTS, Clock
from rfbench.compute import waves
from rfbench.compute.threads import find_thread_pools
from rfbench.errors import MemoryLimit, RfbenchError
from rfbench.experiment.bandwidth_search import search_bandwidth
from rfbench.experiment.context import Context
from rfbench.experiment.extras import EXTRAS, Fitted
from rfbench.experiment.fitting import ResolvedTrial, fit_features, fit_model, refit_in_folds
from rfbench.experiment.plan import SPOILED, Job, Trial, describe, draw_integer
from rfbench.experiment.scores import decide, note_chance, score
from rfbench.results import kept_features, predictions
from rfbench.rows import RowSource
from rfbench.samplers.base import Shared
from rfbench.solvers.fitted_model import FitReport

# Characters that a row keeps: of a message a screen, of a traceback what a cell of the csv module
# holds (131,072). Doubled, the second is cut by the store, see `rfbench.results.store`.
LONGEST_MESSAGE, LONGEST_TRACEBACK = 2000, 100_000


def refuse_complex_numbers() -> None:
    """Make it an error, in this process, that an imaginary part is dropped where it is written.

    Features would be measured by their real parts, and nobody would know.
    """
    refusal = ("error", None, np.exceptions.ComplexWarning, None, 0)
    if refusal not in warnings.filters:  # setting it makes warnings that were shown be shown again
        warnings.simplefilter("error", np.exceptions.ComplexWarning)


def run_job(job: Job, context: Context | None = None) -> Iterator[dict[str, Any]]:
    """Run the trials of a job, one row each; a trial that fails is a row that says so.

    Python's and numpy's global generators begin alike in each: code that draws from them is as
    repeatable as the rest. `context` holds what they share.
    """
    refuse_complex_numbers()
    waves.warm_up()  # before any clock runs
    libraries = find_thread_pools(len(sys.modules))
    context = context or Context()
    for trial in job:
        seed = draw_integer(trial.experiment.seed, "globals", trial.number)
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
    platforms.reset_peak_rss()
    try:
        if trial.code:
            rows_before = _hash_of_rows(trial, context)
        measured = measure(trial, context)
        beside = {
            key: measured.pop(key, None)
            for key in (kept_features.KEPT_FEATURES_KEY, predictions.PREDICTIONS_KEY)
        }
        row.update({column: to_plain_value(value) for column, value in measured.items()})
        row.update({key: content for key, content in beside.items() if content}, status="ok")
    except MemoryLimit as error:
        row.update(status="memory", message=read_message(error))
    except RfbenchError as error:
        row.update(status="failed", message=read_message(error))
    except MemoryError as error:
        row.update(status="memory", message=f"Out of memory: {read_message(error)}")
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt) and not interrupts_ignored:
            raise
        row.update(status="failed", message=f"{type(error).__name__}: {read_message(error)}")
        row["traceback"] = "".join(traceback.format_exception(error))[:LONGEST_TRACEBACK]
    row.setdefault("peak_rss_mb", round(platforms.read_peak_rss_mb(), 1))
    if rows_before and _hash_of_rows(trial, context) != rows_before:
        what = f"{trial.code} changed the prepared rows: its numbers are those of other data."
        row = describe(trial) | {"status": "failed", "message": what, SPOILED: True}
    return row


def read_message(error: BaseException) -> str:
    """Return an error's message, or say that it has none that can be read."""
    try:
        return str(error)[:LONGEST_MESSAGE]
    except BaseException:
        return "its message cannot be read"


def to_plain_value(value: Any) -> Any:
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


def measure(trial: Trial, context: Context) -> dict[str, Any]:
    """Do the work of a trial and return the measured columns, with the content of its files.

    The clock has four parts. pp: the sampler's fit on all training rows. features: the features of
    training rows, in the fit on all rows and in folds that share its features. train: the fits of
    all penalties, folds that fit features of their own, and the whole search of the bandwidth.
    test: the decisions of the test rows, with their features. Loading, splitting and scaling rows,
    scores and extras are outside of the clock.
    """
    # The rows are loaded, split and scaled, and methods imported, before any clock runs.
    resolved, clock = ResolvedTrial.of(trial, context), Clock()
    data, shared = resolved.data, Shared(metrics={}, keeps_columns=True)
    # Each candidate is fitted as the trial will be, with a choice of the penalty of its own.
    # Candidates share the metrics that are learnt from the same rows.
    choice = search_bandwidth(resolved, clock, shared)
    model = resolved.model(choice.bandwidth)
    # These features learn a metric again that the search has learnt, so that t_pp is the time of
    # one fit.
    fit = fit_features(resolved, model, choice.bandwidth, clock)
    features, M = fit.features, fit.M
    # With `features_in_folds: nested`, features that look at the target are fitted again in each
    # fold, without the rows that the fold holds out to choose the penalty.
    refit = refit_in_folds(resolved, model, choice.bandwidth, shared)
    model = fit_model(resolved, model, features, clock, refit)
    decisions = decide(model, data, clock)
    measured: dict[str, Any] = {
        "n_train": data.X_train.shape[0],
        "n_test": data.X_test.shape[0],
        "d": data.X_train.shape[1],
        "bandwidth": choice.bandwidth,
        "at_edge": choice.at_edge,
        "M": M,
        "columns": model.report_.n_columns,
        "feature_bytes": features.bytes_per_row(data.X_train.dtype.itemsize),
        "kept": features.n_kept,
    }
    measured |= score(model, data, decisions)
    if model.predicts:
        notes = [*choice.notes, *features.notes_, *note_chance(measured, data)]
        measured |= collect_columns(trial, model.report_, notes)
    # The clock and the memory are read before the extras, which change no column but their own.
    for part in CLOCK_PARTS:
        measured[f"t_{part}"] = round(clock.wall[part], 6)
        measured[f"cpu_{part}"] = round(clock.cpu[part], 6)
    measured["peak_rss_mb"] = round(platforms.read_peak_rss_mb(), 1)
    fitted = Fitted(resolved, choice.bandwidth, M, features, model, decisions)
    for extra in EXTRAS:
        measured = extra(fitted) | measured
    return measured


def collect_columns(trial: Trial, report: FitReport, notes: list[str]) -> dict[str, Any]:
    """Return the columns of a fit, with the notes of all that was done before it."""
    columns = {
        "selection": report.selection,
        "selection_loss": report.selection_loss,
        "features_in_folds": trial.features_in_folds or report.features_in_folds,
        "alpha": report.alpha,
        "alpha_scale_free": report.alpha_scale_free,
        "converged": report.converged,
        "gap": report.gap,
        "gap_folds": report.gap_folds,
        "message": "; ".join([*notes, *report.notes]),
    }
    if report.chosen is not None:  # by a search of the estimator's own
        columns["chosen"] = json.dumps(report.chosen, sort_keys=True, default=str)
        columns["chosen_at_edge"] = ", ".join(report.chosen_at_edge)
    return columns
