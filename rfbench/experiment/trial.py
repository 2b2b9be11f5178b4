"""One trial: prepare the rows, select the bandwidth, fit features and model, compute metrics.

The penalty is selected in the fit of the model, on held-out training rows by default (see
`rfbench.solvers.base.Solver.fit`). The steps of a trial are timed. All columns of the result row
depend only on its `Trial`, except for times and the peak memory.
"""

from __future__ import annotations

import json
import random
import signal
import sys
import traceback
import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any

import joblib
import numpy as np
import sklearn

from rfbench import platforms
from rfbench.clock import CLOCK_PARTS, Clock
from rfbench.compute import waves
from rfbench.compute.threads import find_thread_pools
from rfbench.errors import MemoryLimitError, RfbenchError
from rfbench.experiment.bandwidth_search import search_bandwidth
from rfbench.experiment.context import Context
from rfbench.experiment.extras import EXTRAS, Fitted
from rfbench.experiment.fitting import (
    ResolvedTrial,
    fit_features,
    fit_model,
    import_methods,
    make_fold_fit,
)
from rfbench.experiment.plan import RAN_USER_CODE, Job, Trial, draw_integer_seed, list_known_columns
from rfbench.experiment.scores import compute_decisions, compute_test_metrics, note_chance_level
from rfbench.results import kept_features, predictions
from rfbench.rows import RowSource
from rfbench.samplers.base import Shared
from rfbench.solvers.fitted_model import FitReport

# Maximum numbers of characters of an error message and of a traceback in a result row. A message of
# this length fits on a screen. A traceback of this length can be read by the csv module (limit:
# 131,072 characters). With twice LONGEST_TRACEBACK, the traceback would be truncated when the row
# is stored.
LONGEST_MESSAGE, LONGEST_TRACEBACK = 2000, 100_000


def _set_warning_filters() -> None:
    """Turn one warning into an error, and ignore another warning, in this process.

    Numpy's warning about a discarded imaginary part becomes an error, so that complex features are
    not replaced by their real parts without notice. Scikit-learn's warning that a target with many
    classes may be numeric is ignored, because the configuration contains the task.
    """
    refusal = ("error", None, np.exceptions.ComplexWarning, None, 0)
    # Do not install the filters twice. Installing a filter resets Python's list of warnings that
    # were already shown, so old warnings would be shown again.
    if refusal not in warnings.filters:
        warnings.simplefilter("error", np.exceptions.ComplexWarning)
        warnings.filterwarnings("ignore", "The number of unique classes is greater", UserWarning)


def run_job(job: Job, context: Context | None = None) -> Iterator[dict[str, Any]]:
    """Run the trials of a job, and yield one result row per trial, also for failed trials.

    The global random generators of Python and numpy are seeded before each trial, so that code that
    uses them is repeatable. `context` caches the objects that the trials share.
    """
    _set_warning_filters()
    waves.warm_up()  # load compiled functions before any clock runs
    context = context or Context()
    for trial in job:
        seed = draw_integer_seed(trial.experiment.seed, "globals", trial.number)
        random.seed(seed)
        np.random.seed(seed)  # noqa: NPY002
        with sklearn.config_context(assume_finite=True):
            row = run_trial(trial, context)
        yield row


def run_trial(trial: Trial, context: Context) -> dict[str, Any]:
    """Run a trial and return its result row. If the trial fails, the row has the error message."""
    row, rows_before = list_known_columns(trial), ""
    # True if this worker process ignores Ctrl-C. A KeyboardInterrupt can then only be raised by the
    # code of the trial, and counts as a failure of the trial.
    interrupts_ignored = signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    platforms.reset_peak_rss()
    try:
        if trial.code:
            rows_before = _hash_of_rows(trial, context)
        with limit_threads(trial):
            measured = measure_trial(trial, context)
        beside = {
            key: measured.pop(key, None)
            for key in (kept_features.KEPT_FEATURES_KEY, predictions.PREDICTIONS_KEY)
        }
        row.update({column: _to_plain_value(value) for column, value in measured.items()})
        row.update({key: content for key, content in beside.items() if content}, status="ok")
    except MemoryLimitError as error:
        row.update(status="memory", message=_read_message(error))
    except RfbenchError as error:
        row.update(status="failed", message=_read_message(error))
    except MemoryError as error:
        row.update(status="memory", message=f"Out of memory: {_read_message(error)}")
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt) and not interrupts_ignored:
            raise
        row.update(status="failed", message=f"{type(error).__name__}: {_read_message(error)}")
        row["traceback"] = "".join(traceback.format_exception(error))[:LONGEST_TRACEBACK]
    row.setdefault("peak_rss_mb", round(platforms.read_peak_rss_mb(), 1))
    if rows_before and _hash_of_rows(trial, context) != rows_before:
        what = f"{trial.code} changed the prepared rows, so its results belong to different data."
        row = list_known_columns(trial) | {"status": "failed", "message": what, RAN_USER_CODE: True}
    return row


def limit_threads(trial: Trial) -> AbstractContextManager[Any]:
    """Return a context in which BLAS and OpenMP use the number of threads of the trial.

    The methods of the trial are imported first, because an import may load further libraries. A
    library that a method loads in its fit is not limited.
    """
    import_methods(trial)
    limit: AbstractContextManager[Any] = find_thread_pools(len(sys.modules)).limit(
        limits=trial.experiment.threads
    )
    return limit


def _read_message(error: BaseException) -> str:
    """Return the message of an error, or a replacement if the message cannot be read."""
    try:
        return str(error)[:LONGEST_MESSAGE]
    except BaseException:
        return "the message of the error cannot be read"


def _to_plain_value(value: Any) -> Any:
    """Return a measured value as a plain number or string. Raise TypeError for other values."""
    if isinstance(value, np.generic | np.ndarray):
        value = value.item()
    if value is None or type(value) in (bool, int, float, str):
        return value
    raise TypeError(f"{type(value).__name__} is neither a number nor a string")


def _hash_of_rows(trial: Trial, context: Context) -> str:
    """Return a hash of the training set and the test set of a trial.

    Rows that are stored on disk are not included.
    """
    rows = context.prepare(trial)
    parts = (rows.X_train, rows.y_train, rows.X_test, rows.y_test)
    return str(joblib.hash([part for part in parts if not isinstance(part, RowSource)]))


def measure_trial(trial: Trial, context: Context) -> dict[str, Any]:
    """Run a trial, and return its measured columns and the content of its files.

    The clock measures the time of four parts.

    - pp: the sampler's fit on the complete training set.
    - features: computing the features of the training set, in the fit on all rows and in folds that
      share these features.
    - train: the fits for all penalties, the fits of features in folds, and the complete bandwidth
      search.
    - test: computing the features and the decision values of the test set. If the penalty is
      selected on the test set, this part includes the losses of all penalties.

    The clock excludes loading, splitting and scaling the rows, and computing metrics. It also
    excludes the fit of a different sampler that determines the number of features (`kept_by`).
    """
    # Load, split and scale the rows, and import the methods. These steps precede the timed part.
    resolved, clock = ResolvedTrial.resolve(trial, context), Clock()
    data, shared = resolved.data, Shared(metrics={}, keeps_columns=True)
    # Select the bandwidth: fit features and model with each candidate bandwidth. The candidates
    # share metrics that are learned from the same rows.
    choice = search_bandwidth(resolved, clock, shared)
    model = resolved.make_model(choice.bandwidth)
    # Fit the features with the selected bandwidth. A metric that was learned in the search is
    # learned again, so that t_pp is the time of a complete fit of the features.
    fit = fit_features(resolved, model, choice.bandwidth, clock)
    features, M = fit.features, fit.M
    # With `features_in_folds: nested`, features that use the target are fitted again for each fold,
    # without the held-out rows. Otherwise the features would have seen the held-out targets.
    fit_fold = make_fold_fit(resolved, model, choice.bandwidth, shared)
    model = fit_model(resolved, model, features, clock, fit_fold)
    decisions = compute_decisions(model, data, clock)
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
    measured |= compute_test_metrics(model, data, decisions)
    if model.predicts:
        notes = [*choice.notes, *features.notes_, *note_chance_level(measured, data)]
        measured |= _collect_columns(trial, model.report_, notes)
    # Read the clock and the peak memory before the extra measurements, such as the kernel error, so
    # that their time and memory are not counted.
    for part in CLOCK_PARTS:
        measured[f"t_{part}"] = round(clock.wall[part], 6)
        measured[f"cpu_{part}"] = round(clock.cpu[part], 6)
    measured["peak_rss_mb"] = round(platforms.read_peak_rss_mb(), 1)
    fitted = Fitted(resolved, choice.bandwidth, M, features, model, decisions)
    for extra in EXTRAS:
        measured = extra(fitted) | measured
    return measured


def _collect_columns(trial: Trial, report: FitReport, notes: list[str]) -> dict[str, Any]:
    """Return the columns of the result row that describe the fit, with all notes in one column."""
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
    # `report.chosen` has the parameters that a scikit-learn search has selected. For all other
    # models, it is None.
    if report.chosen is not None:
        columns["chosen"] = json.dumps(report.chosen, sort_keys=True, default=str)
        columns["chosen_at_edge"] = ", ".join(report.chosen_at_edge)
    return columns
