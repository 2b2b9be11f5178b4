"""Division of a number of random features among the degrees of a Maclaurin series.

The chosen numbers of features minimize the error of a kernel estimate: the variances of the random
features of all degrees, plus the error of truncating the series.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np

from rfbench.arrays import Array


class MomentsOfPairs(NamedTuple):
    """Variances and errors of random features for the powers (x'y)^n, for n = 1 to P.

    All values are averaged over pairs of rows x and y.

    Attributes
    ----------
    variance : array of shape (P,)
        Mean variance of one feature.
    covariance : array of shape (P,)
        Mean covariance of two features from the same block of a Hadamard matrix. The covariance is
        0 if the features are independent.
    truncation : array of shape (P,)
        Mean squared difference between the kernel and its series truncated after degree n.
    """

    variance: Array
    covariance: Array
    truncation: Array


def compute_pair_moments(
    rows: Array,
    coefficients: Array,
    evaluate: Callable[[Array], Array],
    projection: str,
    *,
    is_complex: bool = False,
    decays: bool = False,
) -> MomentsOfPairs:
    """Return the errors of random features for a power series in x'y, averaged over pairs of rows.

    The errors are the variances and covariances of the features for each power of x'y, and the
    errors of truncating the series.

    Parameters
    ----------
    rows : array of shape (n, d)
        At least 2 rows, divided by the length scale. d is a power of two.
    coefficients : array of shape (P + 1,)
        Coefficients of the series in x'y, from degree 0.
    evaluate : callable
        The kernel as a function of x'y. If `decays` is True, without the exponential factor.
    projection : str
        'gaussian', 'rademacher', 'srht' or 'countsketch'.
    is_complex : bool
        True if the random projections are complex.
    decays : bool
        True if the kernel contains the factor exp(-(|x|^2 + |y|^2) / 2).

    Returns
    -------
    MomentsOfPairs
        The mean errors. Variances and covariances are means over the pairs of different rows.
    """
    n, d = rows.shape
    P = len(coefficients) - 1
    variance, covariance, truncation = np.zeros((3, P))
    squares = rows**2
    norms = squares.sum(axis=1)
    twice = 1.0 if is_complex else 2.0
    for start in range(0, n, 200):
        part = slice(start, start + 200)
        g, N = rows[part] @ rows.T, np.outer(norms[part], norms)
        Q = squares[part] @ squares.T
        c2 = np.exp(-(norms[part, None] + norms)) if decays else np.ones_like(g)
        apart = c2 * (1.0 - np.eye(len(g), n, start))
        g2 = g**2
        # A feature of degree n is a product of n projections w'x. Its product for the rows x and y
        # has the variance M^n - (x'y)^(2n), where M is the mean of (w'x)^2 (w'y)^2 over w. For a
        # count sketch, the variance is N^n + (x'y)^(2n) with N = |x|^2 |y|^2.
        sign = 1.0 if projection == "countsketch" else -1.0
        M = N if sign > 0 else N + twice * (g2 - Q * (projection != "gaussian"))
        R = g2 - (N - Q + (twice - 1.0) * (g2 - Q)) / max(d - 1, 1)
        rest, gn, g2n, Mn, Rn = evaluate(g) - coefficients[0], *np.ones((4, *g.shape))
        for degree in range(P):
            for power, base in ((gn, g), (g2n, g2), (Mn, M), (Rn, R)):
                power *= base
            variance[degree] += np.vdot(apart, Mn + sign * g2n)
            covariance[degree] += np.vdot(apart, Rn - g2n) * (projection == "srht")
            rest -= coefficients[degree + 1] * gn
            truncation[degree] += np.vdot(c2, rest**2)
    pairs = n * (n - 1)
    return MomentsOfPairs(variance / pairs, covariance / pairs, truncation / n**2)


def tabulate_variances(moments: MomentsOfPairs, d: int, most: int) -> Array:
    """Return the mean variance of the estimate of each power of x'y, for 1 to `most` features.

    Row n - 1 of the result, shape (P, most), is for the power n. `d` is the block size.
    """
    V, C = moments.variance[:, None], moments.covariance[:, None]
    k = np.arange(1, most + 1)
    rest = k % d
    blocks = V / k + ((k // d) * d * (d - 1) + rest * (rest - 1)) * C / k**2
    return np.where((C > 0) | (k > d), (V + (d - 1) * C) / k, blocks)


def allocate_features_to_degrees(
    moments: MomentsOfPairs, coefficients: Array, d: int, totals: Iterable[int], least: int = 2
) -> dict[int, list[int]]:
    """Return how a total number of features is divided among the degrees of a power series.

    The degrees are 1 to m. The variance of a degree is multiplied by the square of its coefficient
    in the series. Features are assigned one at a time, each to the degree for which the sum of
    these variances becomes smallest. The highest degree m is chosen such that the sum of the
    variances plus the truncation error is smallest.

    Parameters
    ----------
    moments : MomentsOfPairs
        Mean variances, covariances and truncation errors of the degrees 1 to P.
    coefficients : array of shape (P + 1,)
        Coefficients of the series, from degree 0.
    d : int
        Number of columns of the padded rows.
    totals : iterable of int
        Total numbers of features to divide. The constant feature of degree 0 is not counted.
    least : int
        Lowest allowed value of m. If P or the total is smaller, m may be as small as that number.

    Returns
    -------
    dict
        Each total, mapped to a list with the number of features for each of the degrees 1 to m.
    """
    totals = sorted(set(totals))
    P = len(moments.variance)
    weighted = tabulate_variances(moments, d, totals[-1] + 1) * coefficients[1:, None] ** 2
    gains = np.diff(weighted, axis=1)
    best: dict[int, tuple[float, list[int]]] = {}
    for m in range(1, P + 1):
        counts, used = np.ones(m, dtype=int), m
        degrees = np.arange(m)
        current = gains[degrees, 0].copy()
        for total in totals:
            if not min(least, P, total) <= m <= total:
                continue
            for _ in range(total - used):
                # If several degrees reduce the sum of the variances equally, the feature is
                # assigned to the highest of these degrees.
                degree = m - 1 - int(current[::-1].argmin())
                if current[degree] > 0:
                    degree = 0
                counts[degree] += 1
                current[degree] = gains[degree, counts[degree] - 1]
            used = total
            score = weighted[degrees, counts - 1].sum() + moments.truncation[m - 1]
            if total not in best or score <= best[total][0]:
                best[total] = (float(score), counts.tolist())
    return {total: counts for total, (_, counts) in best.items()}
