"""The best distribution near the uniform one: within a chi-square ball, or with a penalty.

Each function takes the scores v, shape (N,), and returns q, shape (N,), in their order: not
negative, and summing to one. MethodError is raised where there are no scores, or a NaN or an
infinite one, or the radius or penalty is NaN. The source is Sinha and Duchi, Learning Kernels with
Random Features, NIPS 2016.
"""

from __future__ import annotations

import numpy as np

from rfbench.arrays import Array
from rfbench.errors import MethodError


def chi_square_weights(scores: Array, rho: float) -> Array:
    r"""Return the distribution q that maximises q'v within a chi-square ball, exactly.

    .. math:: \max_q q^\top v \quad\text{subject to}\quad q \ge 0,\; 1^\top q = 1,\;
              N |q|^2 - 1 \le \rho

    With v sorted in decreasing order and the support the first k, the Karush-Kuhn-Tucker
    conditions give :math:`q_i = 1/k + a_k (v_i - \bar v_k)` with
    :math:`a_k = \sqrt{((1+\rho)/N - 1/k) / SS_k}`, where :math:`\bar v_k` and :math:`SS_k` are the
    mean and the sum of squared deviations of the first k scores. The valid k has
    :math:`k > N/(1+\rho)`, :math:`q_k \ge 0` and a formula that is not positive at k + 1. One
    sort and a few passes, no tolerance. The prefix sums of squares are added up from positive
    terms (Welford), so that nearly tied scores do not cancel.

    Parameters
    ----------
    scores : array of shape (N,)
    rho : float
        Radius of the ball. At most 0 (or all scores tied): the uniform distribution. From
        N/m - 1 on, where m candidates share the maximum: uniform over those.

    Notes
    -----
    Problem (4) with f(t) = t^2 - 1; Algorithm 1 there bisects instead.
    """
    v = _checked(scores, rho)
    n = len(v)
    order = np.argsort(-v, kind="stable")
    span = v[order[0]] - v[order[-1]]
    q = np.zeros(n)
    if rho <= 0 or span == 0:
        q[:] = 1.0 / n
        return q
    ranked = (v[order] - v[order[0]]) / span
    tied = int(np.sum(ranked == 0))
    if rho >= n / tied - 1:
        q[order[:tied]] = 1.0 / tied
        return q
    count = np.arange(1, n + 1)
    mean = np.cumsum(ranked) / count
    deviations = np.zeros(n)
    deviations[1:] = count[:-1] / count[1:] * (ranked[1:] - mean[:-1]) ** 2
    squares = np.cumsum(deviations)
    room = (1.0 + rho) / n - 1.0 / count
    usable = (room > 0) & (squares > 0)
    slope = np.sqrt(np.divide(room, squares, out=np.zeros(n), where=usable))
    last = usable & (1.0 / count + slope * (ranked - mean) >= 0)
    following = np.full(n, -np.inf)
    following[:-1] = 1.0 / count[:-1] + slope[:-1] * (ranked[1:] - mean[:-1])
    valid = np.flatnonzero(last & (following <= 0))
    k = int(valid[0] if len(valid) else np.flatnonzero(last)[-1]) + 1
    kept = np.maximum(1.0 / k + slope[k - 1] * (ranked[:k] - mean[k - 1]), 0.0)
    q[order[:k]] = kept / kept.sum()
    return q


def penalised_weights(scores: Array, penalty: float) -> Array:
    r"""Return the distribution q that maximises q'v less a penalised divergence.

    .. math:: \max_q q^\top v - \lambda (N |q|^2 - 1)
              \quad\text{subject to}\quad q \ge 0,\; 1^\top q = 1

    with v divided by its maximum: the projection of :math:`1/N + v / (2 \lambda N)` on the simplex
    (the paper's solution of problem (8) lacks the factor 2).

    Parameters
    ----------
    scores : array of shape (N,)
        v, non-negative.
    penalty : float
        lambda, above 0. Large: the uniform distribution; small: uniform over the maximisers.

    Notes
    -----
    Problem (8). Dividing by the maximum is a choice.
    """
    v = _checked(scores, penalty)
    n = len(v)
    if v.max() <= 0:
        return np.full(n, 1.0 / n)
    return _on_simplex(-(1.0 - v / v.max()) / (2.0 * penalty * n))


def _on_simplex(point: Array) -> Array:
    """Return the nearest distribution to a point (Held, Wolfe & Crowder 1974)."""
    ranked = np.sort(point)[::-1]
    threshold = (np.cumsum(ranked) - 1.0) / np.arange(1, len(point) + 1)
    k = int(np.flatnonzero(ranked > threshold)[-1])
    kept = np.maximum(point - threshold[k], 0.0)
    return np.asarray(kept / kept.sum())


def _checked(scores: Array, number: float) -> Array:
    v = np.asarray(scores, dtype=np.float64)
    if v.ndim != 1 or len(v) == 0 or not np.isfinite(v).all() or np.isnan(number):
        raise MethodError(
            "The scores or the radius cannot be used.",
            f"{v.size} scores, {int(np.sum(~np.isfinite(v)))} of them NaN or infinite, "
            f"radius or penalty {number}.",
        )
    return v
