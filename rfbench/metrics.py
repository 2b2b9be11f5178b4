"""Metrics of predictions; all metrics of a task are computed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# Smallest probability in the log-loss: the limit of scikit-learn up to version 1.2. With half the
# value, a wrong prediction with probability 1 costs .7 more than 34.5.
SMALLEST = 1e-15


def compute_classification(
    predicted: NDArray[np.intp], truth: NDArray[np.intp]
) -> dict[str, float]:
    """Return error and accuracy in percent of class codes, shape (n,) each."""
    wrong = 100.0 * float(np.mean(predicted != truth))
    return {"error": wrong, "accuracy": 100.0 - wrong}


def compute_probabilistic(
    probabilities: NDArray[np.float64], predicted: NDArray[np.intp], truth: NDArray[np.intp]
) -> dict[str, float]:
    """Return metrics of class probabilities, shape (n, K); the codes have shape (n,) each.

    ``balanced_error`` is the mean over the classes of the misclassification in percent. ``auc`` is
    the mean over the classes of the area under the curve of each against the rest, NaN for a single
    class. Only classes that occur count.
    """
    codes, present = np.arange(probabilities.shape[1]), np.unique(truth)
    wrong = [100.0 * float(np.mean(predicted[truth == code] != code)) for code in present]
    columns = present[-1:] if len(codes) == 2 else present
    from sklearn.metrics import roc_auc_score

    areas = [roc_auc_score(truth == c, probabilities[:, c]) for c in columns if len(present) > 1]
    right = np.clip(probabilities[np.arange(len(truth)), truth], SMALLEST, None)
    return {
        "balanced_error": float(np.mean(wrong)),
        "log_loss": float(-np.log(right).mean()),
        "auc": float(np.mean(areas)) if areas else float("nan"),
    }


def compute_regression(
    predicted: NDArray[np.float64], truth: NDArray[np.float64]
) -> dict[str, float]:
    """Return the errors of predictions of a real target, shape (n,) or (n, k) each.

    ``relative_squared_error`` is |p - y|^2 / |y|^2, ``relative_rmse`` its root |p - y| / |y|,
    ``rmse`` is in the units of y, ``mae_range`` is the mean absolute error divided by the range of
    y, ``r2`` is 1 - |p - y|^2 / |y - mean y|^2. A zero denominator gives NaN.
    """
    residual = predicted - truth
    squares = float(np.sum(residual**2))
    energy = float(np.sum(truth**2))
    spread = float(np.sum((truth - truth.mean(axis=0)) ** 2))
    width = float(truth.max() - truth.min())

    def over(numerator: float, denominator: float) -> float:
        return numerator / denominator if denominator > 0 else float("nan")

    return {
        "relative_squared_error": over(squares, energy),
        "relative_rmse": float(np.sqrt(over(squares, energy))),
        "rmse": float(np.sqrt(squares / residual.size)),
        "mae_range": over(float(np.mean(np.abs(residual))), width),
        "r2": 1.0 - over(squares, spread),
    }
