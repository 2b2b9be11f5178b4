"""Class probabilities from the scores of least-squares models, which are not logits."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import optimize

from rfbench.arrays import Array
from rfbench.metrics import SMALLEST

Link = tuple[float, float]


def apply_link(scores: Array, link: Link) -> Array:
    """Return class probabilities, shape (n, K), proportional to softplus(c score)^a.

    The scores, shape (n, K), or (n, 1) for two classes, are from a model of targets coded as -1 and
    +1. The link consists of the scale c and the power a.
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
    """Return the scale c and the power a with the smallest log-loss on rows not used in the fit.

    A link maps a score to a probability. If the scale is near 0, the link is the logistic function
    with the slope c a.
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
    """Convert scores to class probabilities, shape (n, K).

    Each half of the rows is converted with a link that is fitted on the other half.
    """
    made, n = np.empty((len(scores), max(2, scores.shape[1]))), len(scores)
    for part in (slice(0, n, 2), slice(1, n, 2)):
        rest = slice(1 - (part.start or 0), n, 2) if n > 1 else part
        made[part] = apply_link(scores[part], fit_link(scores[rest], codes[rest]))
    return made
