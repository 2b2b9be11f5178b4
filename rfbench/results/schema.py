"""Columns of the file `trials.csv`. Each column is declared once, in this module.

The writer, the reader, the types and the documentation use these declarations. A new column needs a
line here and the code that fills it. Older files without the column are read with empty cells.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from rfbench.results.lines import CHECK

BOOLEAN_TEXTS = ("true", "false", "")
TEXT, INTEGER, NUMBER, BOOLEAN = "text", "integer", "number", "boolean"
# Type of columns that contain strings. It is the default type of strings in pandas 3. The default
# in pandas 2.3 is object.
STRING = pd.StringDtype(na_value=np.nan)
# Form of a trial id: 16 hexadecimal digits. Trial ids are also used as file names, so characters
# such as / must not occur.
TRIAL_ID = re.compile("[0-9a-f]{16}")
DECIMAL_NUMBER = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?")


@dataclass(frozen=True)
class Column:
    """Column of the file `trials.csv`: its name, the type of its values, and its meaning."""

    name: str
    # Type of the values: ``text``, ``integer``, ``number`` (finite) or ``boolean`` (``true`` or
    # ``false``).
    kind: str
    meaning: str
    unit: str = ""
    required: bool = False  # True if a file without this column is rejected
    pattern: re.Pattern[str] | None = None  # pattern that a string has to match

    @property
    def title(self) -> str:
        """Description of the column with its unit, for an axis or a table header."""
        return f"{self.meaning} ({self.unit})" if self.unit else self.meaning

    @property
    def form(self) -> str:
        """Expected form of a value in this column, for an error message."""
        return "name of 16 hexadecimal digits" if self.pattern else self.kind

    def make_missing(self, n: int) -> Any:
        """Return an array of n missing values that has the type of this column."""
        texts = self.kind in (TEXT, BOOLEAN)
        values = pd.array([""] * n, dtype=STRING) if texts else np.full(n, np.nan)
        return values if self.kind == TEXT else self.convert(values)

    def convert(self, values: Any) -> Any:
        """Convert strings, or float64 numbers with NaN, to an array of the column's type.

        Raise ValueError if a value has a different type.
        """
        if self.kind == TEXT:
            if self.pattern and not all(map(self.pattern.fullmatch, values)):
                raise ValueError("The string does not have the form of its column.")
            return values
        if self.kind == BOOLEAN:
            true, false, missing = (np.asarray(values == text, bool) for text in BOOLEAN_TEXTS)
            if not (true | false | missing).all():
                raise ValueError("A boolean has to be true or false.")
            return pd.arrays.BooleanArray(true, missing)
        numbers = np.asarray(values)
        missing = np.isnan(numbers)
        if np.isinf(numbers).any():
            raise ValueError("Infinity is not allowed.")
        if self.kind == NUMBER:
            return numbers
        filled = np.where(missing, 0.0, numbers)
        # Reject integers from 2^53 on. Means are computed in float64, which cannot represent all
        # integers above this limit.
        if (filled != np.trunc(filled)).any() or (np.abs(filled) >= 2**53).any():
            raise ValueError("The value is not a whole number.")
        return pd.arrays.IntegerArray(filled.astype(np.int64), missing)

    def is_valid(self, cell: str) -> bool:
        """Return True if the string `cell` is a valid value of this column.

        `convert` is not used, because every row is checked twice, and an array per cell would need
        more time than the rest of a small trial.
        """
        if self.pattern:
            return bool(self.pattern.fullmatch(cell))
        if self.kind == TEXT or not cell:
            return True
        if self.kind == BOOLEAN:
            return cell in BOOLEAN_TEXTS
        # Reject values such as 1_000, NaN and infinity, which Python's float() would accept.
        if not DECIMAL_NUMBER.fullmatch(cell):
            return False
        number = float(cell)
        if self.kind == NUMBER:
            return math.isfinite(number)
        return number.is_integer() and abs(number) < 2**53


# Roles of a sampler in a comparison. A `baseline` is the method to compare with. A `model` has no
# random features, so its results do not depend on M. Rows with the role `validation` have errors on
# validation data, which were used for a selection, and not on test data.
METHOD, BASELINE, MODEL, VALIDATION = "method", "baseline", "model", "validation"

_WHAT = (
    Column(
        "trial_id",
        TEXT,
        "identity of the trial, the same on every machine",
        required=True,
        pattern=TRIAL_ID,
    ),
    Column("setting", TEXT, "identity of the measurement, without M and the trial number"),
    Column("config", TEXT, "name of the configuration"),
    Column("protocol", TEXT, "protocol of the configuration", required=True),
    Column("dataset", TEXT, "data set, with [rows] for a subset", required=True),
    Column("n_train", INTEGER, "rows of the training set"),
    Column("n_test", INTEGER, "rows of the test set"),
    Column("d", INTEGER, "columns of the prepared data", required=True),
    Column("sampler", TEXT, "registered name or import path of the sampler", required=True),
    Column("label", TEXT, "label of the sampler in the configuration"),
    Column(
        "role", TEXT, "method, baseline, model (no random features), or validation (for tuning)"
    ),
    Column("variant", TEXT, "the swept settings, key=value, ..."),
    Column("parameters", TEXT, "the sampler's parameters", "JSON"),
    Column("kernel", TEXT, "kernel"),
    Column("bandwidth", NUMBER, "bandwidth of the kernel", "of the prepared rows"),
    Column("bandwidth_rule", TEXT, "the rule or the number that the configuration gives"),
    Column("feature_map", TEXT, "offset for cos(w x + b), paired for cos(w x) and sin(w x)"),
    Column("M", INTEGER, "features, as the papers count them", required=True),
    Column("columns", INTEGER, "real columns used by the solver"),
    Column("feature_bytes", INTEGER, "features of one row, as the method stores them", "bytes"),
    Column("kept", INTEGER, "features with positive weight after optimization"),
    Column("trial", INTEGER, "number of the trial, from 0", required=True),
    Column("solver", TEXT, "solver"),
    Column("alpha", NUMBER, "penalty, in its convention"),
    Column(
        "alpha_convention", TEXT, "absolute (as in the solver's formula) or per-sample (n alpha)"
    ),
    Column("alpha_scale_free", NUMBER, "absolute penalty / mean squared norm of the features"),
    Column("selection", TEXT, "how the penalty was chosen"),
    Column("selection_loss", NUMBER, "mean loss of the chosen penalty on its validation rows"),
    Column(
        "features_in_folds",
        TEXT,
        "features that use the target: fitted without each fold (nested), or once",
    ),
    Column("at_edge", BOOLEAN, "whether the chosen bandwidth is at an edge of the grid"),
    Column("converged", BOOLEAN, "whether the solver reached its tolerance, if it has one"),
    Column("gap", NUMBER, "relative distance of the final fit to its optimum"),
    Column("gap_folds", NUMBER, "relative distance of the worst fold to its optimum"),
    Column("chosen", TEXT, "settings chosen by the solver's own search", "JSON"),
    Column("chosen_at_edge", TEXT, "names of chosen settings that are at an edge of their values"),
    Column("intercept", BOOLEAN, "whether the solver fits an intercept"),
    Column("split", TEXT, "how training and test rows were split", "text or JSON"),
    Column("scaling", TEXT, "scaling of the columns"),
    Column("dtype", TEXT, "floating-point type of the features"),
    Column("seed", TEXT, "seed of the configuration"),
)
_METRICS = (
    Column("error", NUMBER, "test error", "%"),
    Column("accuracy", NUMBER, "test accuracy", "%"),
    Column("balanced_error", NUMBER, "test error, the mean over the classes", "%"),
    Column("log_loss", NUMBER, "mean of -log of the probability of the right class"),
    Column("auc", NUMBER, "area under the ROC curve, the mean over the classes"),
    Column("relative_squared_error", NUMBER, "relative squared error"),
    Column("relative_rmse", NUMBER, "relative RMSE"),
    Column("rmse", NUMBER, "RMSE", "in units of the prepared target"),
    Column("mae_range", NUMBER, "mean absolute error / range of the target"),
    Column("r2", NUMBER, "R^2"),
    Column("train_error", NUMBER, "training error"),
    Column("kernel_error_spectral", NUMBER, "relative spectral error of the kernel"),
    Column("kernel_error_frobenius", NUMBER, "relative Frobenius error of the kernel"),
    Column("kernel_error_delta1", NUMBER, "least D >= 0 with (1 - D)(K + aI) <= ZZ' + aI"),
    Column("kernel_error_delta2", NUMBER, "least D >= 0 with ZZ' + aI <= (1 + D)(K + aI)"),
)
_TIMES = (
    Column("t_pp", NUMBER, "wall time to draw, score and select features", "s"),
    Column("t_features", NUMBER, "wall time to compute the features", "s"),
    Column("t_train", NUMBER, "wall time of the solver", "s"),
    Column("t_test", NUMBER, "wall time to predict the test rows", "s"),
    Column("cpu_pp", NUMBER, "CPU time of t_pp", "s"),
    Column("cpu_features", NUMBER, "CPU time of t_features", "s"),
    Column("cpu_train", NUMBER, "CPU time of t_train", "s"),
    Column("cpu_test", NUMBER, "CPU time of t_test", "s"),
)
_REFIT = (
    Column("t_refit", NUMBER, "wall time to draw, compute and fit once, with given settings", "s"),
    Column("cpu_refit", NUMBER, "CPU time of t_refit", "s"),
)
_HOW = (
    Column("timing", TEXT, "isolated, or shared: the smaller sizes are prefixes of the largest"),
    Column("shared_M", INTEGER, "the largest M, if timing is shared"),
    Column("threads", INTEGER, "threads of the BLAS"),
    Column("workers", INTEGER, "worker processes of the run"),
    Column("machine", TEXT, "machine that measured the trial; manifest.json describes it"),
    Column("device", TEXT, "of earlier versions: cpu, or the device of features and sums"),
    Column("accelerator", TEXT, "of earlier versions: name of the GPU of the device cuda"),
    Column("device_memory_mb", NUMBER, "of earlier versions: largest memory on the GPU", "MB"),
    Column("peak_rss_mb", NUMBER, "largest resident memory during the trial", "MB"),
    Column("status", TEXT, "ok, failed, memory, timeout or crashed", required=True),
    Column(
        "at_chance", BOOLEAN, "whether the test rows are predicted no better than by a constant"
    ),
    Column("message", TEXT, "reason for a status other than ok, or notes of the solver"),
    Column("data_hash", TEXT, "SHA-256 of the rows before preparation"),
    Column("version", TEXT, "version of rfbench"),
    Column("check", TEXT, "CRC-32 of the row's bytes before the last comma", "8 hex digits", True),
)

SCHEMA = {column.name: column for column in (*_WHAT, *_METRICS, *_TIMES, *_REFIT, *_HOW)}
COLUMNS = tuple(SCHEMA)
REQUIRED = tuple(column.name for column in SCHEMA.values() if column.required)
METRICS = {column.name: column.title for column in _METRICS}
ROW_TIMES = tuple(column.name for column in _TIMES)
assert COLUMNS[-1] == CHECK, "the check is the last column: add yours before it"


# Largest difference between a stored metric and the repeated metric that counts as equal, for each
# dtype of the features. The difference is divided by the metric if the metric is above 1. Measured
# on two CPU architectures: the metrics of 50 trials in float32 differed by up to 3e-6, and the
# metrics of 30 trials in float64 by up to 2e-13.
REPLAY_TOLERANCE = {"float64": 1e-9, "float32": 1e-4}


def is_metric_reproduced(stored_value: float, new_value: float, dtype: str) -> bool:
    """Return True if two values of a metric are equal up to the rounding error of the features.

    The rounding error depends on the `dtype` of the features. The result is False if the new value
    is NaN.
    """
    return abs(stored_value - new_value) <= REPLAY_TOLERANCE.get(dtype, 1e-9) * max(
        1.0, abs(stored_value)
    )
