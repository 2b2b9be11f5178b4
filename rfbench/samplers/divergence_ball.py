"""The best distribution near the uniform one, for divergences t^k - 1 and for a penalty.

Each function takes the scores v, shape (N,), and returns q, shape (N,), in their order: not
negative, and summing to one. MethodError is raised where there are no scores, or a NaN or an
infinite one, or the radius or penalty is NaN. The source is Sinha and Duchi, Learning Kernels with
Random Features, NIPS 2016.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize import brentq

from rfbench.arrays import Array
from rfbench.errors import MethodError

_FARTHEST = 2.0**50


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


def power_weights(scores: Array, rho: float, power: float) -> Array:
    r"""Return the distribution q that maximises q'v within a ball of the divergence t^k - 1.

    .. math:: \max_q q^\top v \quad\text{subject to}\quad q \ge 0,\; 1^\top q = 1,\;
              \frac1N \sum_i (N q_i)^k - 1 \le \rho

    Problem (4). The Karush-Kuhn-Tucker conditions give
    :math:`q_i \propto (v_i - \tau)_+^{1/(k-1)}`. Algorithm 1 bisects on the multiplier of the
    ball, and for each on tau until q sums to one; here q is divided by its sum, which leaves one
    unknown: the divergence grows with tau, and tau is its root where it equals rho.

    Parameters
    ----------
    scores : array of shape (N,)
    rho : float
        Radius of the ball. At most 0 (or all scores tied): the uniform distribution. From
        (N/m)^(k-1) - 1 on, where m candidates share the maximum: uniform over those.
    power : float
        k, above 1.
    """
    v = _checked(scores, rho)
    n, exponent = len(v), 1.0 / (power - 1.0)
    span = v.max() - v.min()
    if rho <= 0 or span == 0:
        return np.full(n, 1.0 / n)
    below = (v.max() - v) / span
    tied = below == 0
    radius = np.log1p(rho)
    if radius >= (power - 1.0) * np.log(n / np.count_nonzero(tied)):
        return np.asarray(tied / np.count_nonzero(tied))

    def weights(depth: float) -> Array:
        unscaled = np.maximum(1.0 - below / depth, 0.0) ** exponent
        return np.asarray(unscaled / unscaled.sum())

    def excess(log_depth: float) -> float:
        ratios = n * weights(np.exp(log_depth))
        most = ratios.max()
        return float(power * np.log(most) + np.log(np.mean((ratios / most) ** power)) - radius)

    depth = 1.0
    while excess(np.log(depth)) > 0:
        depth *= 4.0
        if depth > _FARTHEST:
            return np.full(n, 1.0 / n)
    return weights(np.exp(_root(excess, np.log(below[~tied].min() / 2.0), np.log(depth))))


def penalised_weights(scores: Array, penalty: float, power: float = 2.0) -> Array:
    r"""Return the distribution q that maximises q'v less a penalised divergence.

    .. math:: \max_q q^\top v - \lambda \Big(\frac1N \sum_i (N q_i)^k - 1\Big)
              \quad\text{subject to}\quad q \ge 0,\; 1^\top q = 1

    with v divided by its maximum. :math:`q_i = N^{-1} ((v_i - \tau)_+ / (k \lambda))^{1/(k-1)}`,
    tau such that q sums to one (the paper's solution of problem (8) lacks the factor k). For
    k = 2 this is the projection of :math:`1/N + v / (2 \lambda N)` on the simplex.

    Parameters
    ----------
    scores : array of shape (N,)
        v, non-negative.
    penalty : float
        lambda, above 0. Large: the uniform distribution; small: uniform over the maximisers.
    power : float
        k, above 1.

    Notes
    -----
    Problem (8). Dividing by the maximum is a choice.
    """
    v = _checked(scores, penalty)
    n, exponent = len(v), 1.0 / (power - 1.0)
    if v.max() <= 0:
        return np.full(n, 1.0 / n)
    below = 1.0 - v / v.max()
    slope = power * penalty
    if power == 2:
        return _on_simplex(-below / (slope * n))

    def weights(depth: float) -> Array:
        return np.asarray((np.maximum(depth - below, 0.0) / slope) ** exponent / n)

    # At depth k lambda all of q sum to 1 at most; at k lambda N^(k-1) the best one alone has 1.
    least, most = np.log(slope), np.log(slope) + (power - 1.0) * np.log(n)
    q = weights(np.exp(_root(lambda x: float(weights(np.exp(x)).sum()) - 1.0, least - 1, most + 1)))
    return np.asarray(q / q.sum())


def _on_simplex(point: Array) -> Array:
    """Return the nearest distribution to a point (Held, Wolfe & Crowder 1974)."""
    ranked = np.sort(point)[::-1]
    threshold = (np.cumsum(ranked) - 1.0) / np.arange(1, len(point) + 1)
    k = int(np.flatnonzero(ranked > threshold)[-1])
    kept = np.maximum(point - threshold[k], 0.0)
    return np.asarray(kept / kept.sum())


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    return float(brentq(function, low, high, xtol=1e-15, rtol=1e-15, maxiter=500))


def _checked(scores: Array, number: float) -> Array:
    v = np.asarray(scores, dtype=np.float64)
    if v.ndim != 1 or len(v) == 0 or not np.isfinite(v).all() or np.isnan(number):
        raise MethodError(
            "The scores or the radius cannot be used.",
            f"{v.size} scores, {int(np.sum(~np.isfinite(v)))} of them NaN or infinite, "
            f"radius or penalty {number}.",
        )
    return v
