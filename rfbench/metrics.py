"""The metrics: always all that apply; the training error and kernel errors on request."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def classification(predicted: NDArray[np.intp], truth: NDArray[np.intp]) -> dict[str, float]:
    """Return error and accuracy in percent of class codes, shape (n,) each."""
    wrong = 100.0 * float(np.mean(predicted != truth))
    return {"error": wrong, "accuracy": 100.0 - wrong}


def regression(predicted: NDArray[np.float64], truth: NDArray[np.float64]) -> dict[str, float]:
    """Return the errors of predictions of a real target, shape (n,) or (n, k) each.

    ``relative_squared_error`` is |p - y|^2 / |y|^2, ``relative_rmse`` its root |p - y| / |y|,
    ``rmse`` is in the units of y, ``mae_range`` is the mean absolute error over the range of y,
    ``r2`` is 1 - |p - y|^2 / |y - mean y|^2. A zero denominator gives NaN.
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
