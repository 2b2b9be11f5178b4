"""Tests of significance and confidence intervals for the leaderboard.

The error of a method on a data set is divided by the error of the baseline in the same trial and at
the same number of features. The methods are sorted by the median of these quotients over data sets.
`find_significant_differences` tests all pairs of methods. `compute_wilcoxon_p_value` tests a single
pair.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from rfbench.analysis.verdicts import ALPHA

# Smallest probability with which a confidence interval contains the true median. It is 1 - 2 ALPHA,
# where ALPHA is the level of the verdicts. If the probability outside the interval is halved, the
# interval is about a fifth wider.
MEDIAN_LEVEL = 0.9
# Smallest number of data sets for which a confidence interval is computed. With 12 data sets, the
# ends of the interval are the third smallest and the third largest value (binomial distribution).
# If the number is halved, the ends are the smallest and the largest value.
MIN_RATIOS = 12
# Number of data sets, with the most extreme ratios, that the trimmed geometric mean leaves out. The
# value was chosen without a measurement. With twice this value, only half of 12 data sets would
# remain.
EXTREME = 3
# Number of draws of random signs in a permutation test. By definition of a binomial share, a
# p-value of 0.05 then has a standard error of 0.0015. With twice as many draws, the standard error
# is 0.0011.
SIGNS = 20_000
# A difference of two logarithms below this value counts as 0, because logarithms of doubles have
# rounding errors of about 1e-16. The verdicts would be the same with twice this value, and with any
# value up to 1e-6, unless two errors agree in that many digits.
EQUAL = 1e-12
# Seed of the random signs in permutation tests. The value is arbitrary by definition. With a
# different seed, p-values change by about their standard error (see the comment at SIGNS).
SEED = 0
# Smallest number of data sets for naming a best method. With fewer data sets, the best method would
# often be due to chance. By definition, the test with this number has the power 0.8 for 19 to 22
# methods, if two methods differ by the standard deviation of their difference over data sets. The
# number is the smallest n with q / sqrt(2) + z <= sqrt(n). q is a quantile of Tukey's studentized
# range with n - 1 degrees of freedom, and q / sqrt(2) approximates the quantile of the largest |t|
# over all pairs of methods. z is the normal quantile of the power, multiplied by pi / 3 because the
# test uses signed ranks. For two methods n is 11, and for 30 methods n is 28. The power with half
# or twice as many data sets follows from the same formula.
MIN_DATASETS = 26
Values = NDArray[np.float64]
# Table of natural logarithms of ratios of errors. Rows are data sets, and columns are methods.
Logs = pd.DataFrame


def find_significant_differences(
    log_ratios: Logs, alpha: float = ALPHA, draws: int = SIGNS, seed: int = SEED
) -> Values:
    r"""Test all pairs of k methods; return a (k, k) matrix with 1 for significant differences.

    `log_ratios` has the logarithms of error ratios, with a row per data set and a column per
    method. For each pair of methods, z is Wilcoxon's signed-rank statistic of the differences over
    data sets, divided by its standard deviation.

    The test is a permutation test with `draws` draws. In each draw, the differences on each data
    set are multiplied by a random sign, which is the same for all pairs. A pair differs
    significantly if its \|z\| is above the 1 - `alpha` quantile of the largest \|z\| over all
    pairs. In addition, the mean difference of the pair must have the same sign as z. If all methods
    are equal, the probability that any pair is reported is at most `alpha`.
    """
    # Ranks are used because a few data sets have very large differences, which would dominate a
    # t-test. If two methods are equally good, their difference on a data set has either sign with
    # the same probability.
    X, (n, k) = log_ratios.to_numpy(dtype=np.float64), log_ratios.shape
    apart, (left, right) = np.zeros((k, k)), np.triu_indices(k, 1)
    if n < 2 or k < 2:
        return apart
    D = drop_rounding_errors(X[:, left] - X[:, right])
    ranks = compute_signed_ranks(D)
    z = ranks / np.sqrt(np.maximum((ranks**2).sum(axis=0), 1.0))
    signs = np.random.default_rng(seed).choice([-1.0, 1.0], (draws, n))
    largest = np.abs(signs @ z).max(axis=1)
    # The observed signs are counted as one additional draw. The level of the test is then valid for
    # any number of draws.
    own = z.sum(axis=0)
    share = (1 + (largest[None, :] >= np.abs(own)[:, None] * (1 - 1e-12)).sum(axis=1)) / (1 + draws)
    apart[left, right] = (share <= alpha) & (own * D.mean(axis=0) > 0)
    return np.asarray(apart + apart.T)


def drop_rounding_errors(differences: Values) -> Values:
    """Return a copy of `differences` in which values below a rounding error are set to 0.

    `differences` are differences of logarithms.
    """
    return np.where(np.abs(differences) < EQUAL, 0.0, differences)


def compute_signed_ranks(differences: Values) -> Values:
    """Return the ranks of the absolute differences in each column, with the signs of differences.

    Rows are data sets. A difference of 0 has the signed rank 0, but is included in the ranking
    (Pratt 1959).
    """
    from scipy.stats import rankdata

    return np.asarray(np.sign(differences) * rankdata(np.abs(differences), axis=0))


def compute_wilcoxon_p_value(log_ratios: ArrayLike) -> float:
    """Return the two-sided p-value of Wilcoxon's signed-rank test that compares two methods.

    The p-value is 1 if the sum of the signed ranks and the mean of `log_ratios` have different
    signs. The p-value is also 1 if all errors are equal.

    Parameters
    ----------
    log_ratios : array of shape (n,)
        Logarithms of the quotients of two errors, one per data set.
    """
    from scipy.stats import wilcoxon

    differences = drop_rounding_errors(np.asarray(log_ratios, dtype=np.float64))
    if not compute_signed_ranks(differences).sum() * differences.mean() > 0:
        return 1.0
    return float(wilcoxon(differences, zero_method="pratt").pvalue)


def compute_median_interval(log_ratios: Values, level: float = MEDIAN_LEVEL) -> tuple[float, float]:
    """Return the ends of a confidence interval of the median of `log_ratios`.

    If the values are independent, the interval contains the median of their distribution with a
    probability of at least `level`, for any distribution. Both ends are NaN if there are fewer than
    `MIN_RATIOS` values.
    """
    # The number of values below the median has a binomial distribution.
    from scipy.stats import quantile_test

    if len(log_ratios) < MIN_RATIOS:
        return np.nan, np.nan
    ends: Any = quantile_test(log_ratios, p=0.5).confidence_interval(level)
    return float(ends.low), float(ends.high)
