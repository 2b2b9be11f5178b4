"""Class probabilities from the scores of least-squares models, which are not logits."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import optimize

from rfbench.arrays import Array
from rfbench.metrics import SMALLEST

Link = tuple[float, float]


def apply_link(scores: Array, link: Link) -> Array:
    """Convert scores to class probabilities, shape (n, K), proportional to softplus(c score)^a.

    `link` contains the scale c and the power a. `scores` has shape (n, K), or (n, 1) for two
    classes.
    """
    if scores.shape[1] == 1:
        scores = np.hstack([-scores, scores])
    scale, power = link
    # Compute the logarithms of the probabilities first. In float64, softplus(z) = log(1 + exp(z))
    # is rounded to 0 for very negative z, and its logarithm is then replaced by z.
    z = scale * scores
    logs = power * np.where(z < -30, z, np.log(np.logaddexp(0.0, np.maximum(z, -30))))
    shares = np.exp(logs - logs.max(axis=1, keepdims=True))
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def fit_link(scores: Array, codes: NDArray[np.int64]) -> Link:
    """Return the scale and the power of `apply_link` with the smallest log-loss on the given rows.

    `scores` and the class `codes` have to be from rows that were not used to fit the model.
    """
    rows = np.arange(len(codes))

    def link(point: Array) -> Link:
        scale, slope = np.exp(point).tolist()
        return float(f"{scale:.4g}"), float(f"{slope / scale:.4g}")

    def log_loss(point: Array) -> float:
        right = apply_link(scores, link(point))[rows, codes]
        return float(-np.log(np.maximum(right, SMALLEST)).mean())

    start, bounds = np.log([2.0, 6.0]), [(-3.0, 3.0), (-3.0, 6.0)]
    best = optimize.minimize(
        log_loss, start, method="Nelder-Mead", bounds=bounds, options={"maxiter": 80, "xatol": 0.01}
    )
    return link(best.x)


def calibrate_probabilities(scores: Array, codes: NDArray[np.int64]) -> Array:
    """Convert the scores of n rows to class probabilities, shape (n, K).

    For each half of the rows, the conversion is fitted on the class `codes` of the other half.
    """
    made, n = np.empty((len(scores), max(2, scores.shape[1]))), len(scores)
    for part in (slice(0, n, 2), slice(1, n, 2)):
        rest = slice(1 - (part.start or 0), n, 2) if n > 1 else part
        made[part] = apply_link(scores[part], fit_link(scores[rest], codes[rest]))
    return made
