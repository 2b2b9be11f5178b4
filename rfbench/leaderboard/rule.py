"""The rule of the leaderboard: which methods differ significantly, and what an interval covers.

Errors of one data set are divided by those of the baseline in the same trial, at the same number
of features. A method's number is the median of these quotients over data sets. Two methods differ
significantly if a test over data sets that knows of all pairs says so, see `find_differing`. A
single pair has a `p_value`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from rfbench.analysis.verdicts import ALPHA

# Of the intervals, at least; that of the verdicts, 1 - 2 ALPHA. Halved, the misses make intervals
# about a fifth wider.
MEDIAN_LEVEL = 0.9
# Data sets with which a ratio has an interval: of 12 its ends are the third smallest and the third
# largest (binomial); halved, the interval is the range.
MIN_RATIOS = 12
# Data sets without which a geometric mean is shown too. Chosen without a measurement. Doubled, it
# is a mean of half of 12 data sets.
EXTREME = 3
# Draws of the signs. A p-value of .05 has a standard error of .0015 by definition; doubled, of
# .0011.
SIGNS = 20_000
# Differences of logarithms that are rounding: logarithms of doubles have errors of about 1e-16. Any
# value up to 1e-6 gives the same verdicts unless errors agree to as many digits, so that doubled it
# changes nothing.
EQUAL = 1e-12
SEED = 0  # of the draws; with twice as many, or another seed, see SIGNS
# Data sets from which on a method is named: with fewer, it would be luck. Among 19 to 22 methods
# the rule then finds a difference as large as its standard deviation over data sets with power .8.
# The largest |t| of all pairs nearly follows Tukey's studentised range q with n - 1 degrees of
# freedom, over the root of 2: the smallest n with q / sqrt(2) + z <= sqrt(n), z the normal quantile
# of the power, times pi / 3 for signed ranks. Fewer methods need fewer, 11 where there are two; 30
# need 28. The halves and doubles of it follow from the same formula, by definition.
MIN_DATASETS = 26
Values = NDArray[np.float64]
Logs = pd.DataFrame  # natural logarithms of quotients: a row per data set, a column per method


def find_differing(
    logs: Logs, alpha: float = ALPHA, draws: int = SIGNS, seed: int = SEED
) -> Values:
    r"""Return which pairs of methods differ significantly, a matrix of shape (k, k) of 0 and 1.

    Of each pair, the differences of the logarithms over data sets are ranked by size, and z is the
    sum of the ranks with the signs of the differences (Wilcoxon's), over its standard deviation. A
    difference counts by its rank, since a few data sets have very large ones: in a t-test they
    would hide what all the others say. Where two methods do equally well, their difference on a
    data set is as likely to have either sign. So the differences of each data set get one random
    sign for all pairs, often; a pair differs if its \|z\| lies above the 1 - `alpha` quantile
    of the largest one of any pair, and its mean has the same sign. Where all methods are equal, any
    pair is said to differ with probability `alpha` at most: hence so is a leader named. One test
    for all pairs of one size.
    """
    X, (n, k) = logs.to_numpy(dtype=np.float64), logs.shape
    apart, (left, right) = np.zeros((k, k)), np.triu_indices(k, 1)
    if n < 2 or k < 2:
        return apart
    D = drop_rounding(X[:, left] - X[:, right])
    ranks = signed_ranks(D)
    z = ranks / np.sqrt(np.maximum((ranks**2).sum(axis=0), 1.0))
    signs = np.random.default_rng(seed).choice([-1.0, 1.0], (draws, n))
    largest = np.abs(signs @ z).max(axis=1)
    # The values as they are are one of the draws: so the level holds for any number of them.
    own = z.sum(axis=0)
    share = (1 + (largest[None, :] >= np.abs(own)[:, None] * (1 - 1e-12)).sum(axis=1)) / (1 + draws)
    apart[left, right] = (share <= alpha) & (own * D.mean(axis=0) > 0)
    return np.asarray(apart + apart.T)


def drop_rounding(differences: Values) -> Values:
    """Return differences of logarithms, with those that are rounding set to 0."""
    return np.where(np.abs(differences) < EQUAL, 0.0, differences)


def signed_ranks(differences: Values) -> Values:
    """Return the ranks of the sizes of differences over data sets (rows), with their signs.

    Equal errors have a rank, and no sign (Pratt 1959).
    """
    from scipy.stats import rankdata

    return np.asarray(np.sign(differences) * rankdata(np.abs(differences), axis=0))


def p_value(logs: ArrayLike) -> float:
    """Return the two-sided p-value of one comparison over data sets, Wilcoxon's.

    1 if the signed ranks and the mean point to different sides, or no error differs.

    Parameters
    ----------
    logs : array of shape (n,)
        Logarithms of the quotients of two errors, one per data set.
    """
    from scipy.stats import wilcoxon

    differences = drop_rounding(np.asarray(logs, dtype=np.float64))
    if not signed_ranks(differences).sum() * differences.mean() > 0:
        return 1.0
    return float(wilcoxon(differences, zero_method="pratt").pvalue)


def median_interval(logs: Values, level: float = MEDIAN_LEVEL) -> tuple[float, float]:
    """Return the interval of a median between two of the values; NaN if fewer than `MIN_RATIOS`.

    Of independent data sets it covers the median of their distribution with a probability of at
    least `level`, whatever the distribution and their number: the number of values below the median
    is binomial.
    """
    from scipy.stats import quantile_test

    if len(logs) < MIN_RATIOS:
        return np.nan, np.nan
    ends: Any = quantile_test(logs, p=0.5).confidence_interval(level)
    return float(ends.low), float(ends.high)
