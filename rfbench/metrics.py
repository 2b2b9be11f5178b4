"""Metrics of predictions, with one function for each type of prediction."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# Smallest probability in the log-loss, which was the limit of scikit-learn up to version 1.2. A
# wrong prediction with probability 1 then has the loss 34.5. With half this value, this loss would
# be larger by 0.7.
SMALLEST = 1e-15


def compute_classification_metrics(
    predicted: NDArray[np.intp], truth: NDArray[np.intp]
) -> dict[str, float]:
    """Return the error and the accuracy, in percent, of predicted class codes.

    Both arrays have shape (n,) for n rows.
    """
    wrong = 100.0 * float(np.mean(predicted != truth))
    return {"error": wrong, "accuracy": 100.0 - wrong}


def compute_probability_metrics(
    probabilities: NDArray[np.float64], predicted: NDArray[np.intp], truth: NDArray[np.intp]
) -> dict[str, float]:
    """Return the balanced error, the log-loss and the AUC of predicted class probabilities.

    `probabilities` has shape (n, K) for n rows and K classes. `predicted` and `truth` are class
    codes. ``balanced_error`` is the misclassification in percent, averaged over the classes.
    ``auc`` is the area under the ROC curve of a class against all other classes, averaged over the
    classes. It is NaN if there is a single class. Both averages include only classes that occur in
    `truth`.
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


def compute_regression_metrics(
    predicted: NDArray[np.float64], truth: NDArray[np.float64]
) -> dict[str, float]:
    """Return metrics of predicted numbers. Both arrays have shape (n,) or (n, k).

    For predictions p and a target y, ``relative_squared_error`` is |p - y|^2 / |y|^2, and
    ``relative_rmse`` is its square root. ``rmse`` is in the units of y. ``mae_range`` is the mean
    absolute error divided by the range of y. ``r2`` is 1 - |p - y|^2 / |y - mean y|^2. A metric is
    NaN if its denominator is zero.
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
