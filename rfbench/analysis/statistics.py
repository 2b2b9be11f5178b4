"""Tests over trials and over data sets, each with the sample size that it needs.

Over the trials of one data set: the paired t-test and Nadeau and Bengio's correction of it for
trials that split the same rows again and again. Over data sets: Friedman's test with Iman and
Davenport's statistic, Wilcoxon's signed-rank test, average ranks and Nemenyi's critical
difference. Over comparisons: Holm's correction. A test that cannot reach a significance level
with its sample size says so, and never gives a p-value below what the sample can bear.

References
----------
Nadeau and Bengio, Inference for the generalization error, Machine Learning 52, 2003.
Demsar, Statistical comparisons of classifiers over multiple data sets, JMLR 7, 2006.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from rfbench.errors import ResultsError

ALPHA = 0.05
Alternative = Literal["two-sided", "less", "greater"]


@dataclass(frozen=True)
class Test:
    """The outcome of a test.

    Attributes
    ----------
    n : int
        Trials, or data sets.
    effect : float
        Mean of the differences (NaN for tests of more than two methods).
    statistic, p : float
        NaN where the test is not defined.
    note : str
        Why it is not defined or cannot be significant; empty otherwise.
    """

    __test__ = False

    n: int
    effect: float
    statistic: float
    p: float
    note: str = ""


def _differences(a: ArrayLike, b: ArrayLike | float) -> NDArray[np.float64]:
    x, y = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if x.ndim != 1 or (y.ndim and x.shape != y.shape):
        raise ResultsError(
            f"Values of shapes {x.shape} and {y.shape} cannot be paired.",
            "A paired test needs both methods in the same trials.",
        )
    d = x - y
    return d[np.isfinite(d)]


def paired_t(
    a: ArrayLike, b: ArrayLike | float = 0.0, *, alternative: Alternative = "two-sided"
) -> Test:
    """Test whether the mean difference of paired values is zero; see `corrected_t`."""
    return corrected_t(a, b, test_train_ratio=0.0, alternative=alternative)


def corrected_t(
    a: ArrayLike,
    b: ArrayLike | float = 0.0,
    *,
    test_train_ratio: float,
    alternative: Alternative = "two-sided",
) -> Test:
    r"""Test paired values of trials that split the same rows at random.

    The training sets of such trials overlap, so their differences are correlated and the plain
    paired test finds far too much. The corrected statistic is

    .. math:: t = \frac{\bar d}{\sqrt{(1/n + n_{test}/n_{train}) s_d^2}},

    with n - 1 degrees of freedom; a ratio of 0 gives the plain test.

    Parameters
    ----------
    a, b : array of shape (n,)
        One value a trial; `b` may be a single number. Trials with a NaN are left out.
    test_train_ratio : float
        Test rows over training rows of a trial.
    alternative : {'two-sided', 'less', 'greater'}
        About the mean of a - b.
    """
    from scipy.special import stdtr

    d = _differences(a, b)
    n = len(d)
    if n < 2:
        mean = float(d[0]) if n else math.nan
        return Test(n, mean, math.nan, math.nan, f"{n} trials: a spread needs two")
    mean, variance = float(d.mean()), float(d.var(ddof=1))
    if variance <= (1e-12 * max(1e-300, float(np.abs(d).max()))) ** 2:
        return Test(n, mean, math.nan, math.nan, "the differences do not vary: t is not defined")
    t = mean / math.sqrt((1 / n + test_train_ratio) * variance)
    below = float(stdtr(n - 1, t))
    p = {"less": below, "greater": float(stdtr(n - 1, -t))}
    two_sided = 2 * float(stdtr(n - 1, -abs(t)))
    return Test(n, mean, t, p.get(alternative, two_sided))


def smallest_sign_p(n: int, alternative: Alternative = "two-sided") -> float:
    """Return the smallest p-value that a sign test on n pairs can give: 2^-n, or twice that.

    A t-test on two trials can give any p-value, on the strength of its normal distribution alone;
    this is what the trials by themselves can show.
    """
    return min(1.0, (2.0 if alternative == "two-sided" else 1.0) * 0.5**n)


def trials_for(gap: float, spread: float, ratio: float, alpha: float, power: float) -> float:
    r"""Return how many trials make a true mean significant with the power asked for.

    From the normal approximation of `corrected_t`, with z the sum of the normal quantiles of
    1 - alpha and of the power,

    .. math:: n = \frac{z^2 s_d^2}{gap^2 - z^2 s_d^2 n_{test} / n_{train}} + z_{1-\alpha}^2 / 2.

    Infinite where that is not above 0: the corrected statistic of ever more trials stays small.

    Parameters
    ----------
    gap, spread : float
        The distance of the true mean from the bound, and the standard deviation over the trials.
    ratio : float
        Test rows over training rows, see `corrected_t`.

    Examples
    --------
    >>> trials_for(0.5, 1.0, 0.0, 0.05, 0.8), trials_for(0.5, 1.0, 1.0, 0.05, 0.8)
    (27, inf)
    """
    from scipy.special import ndtri

    scaled = ((ndtri(1 - alpha) + ndtri(power)) * spread) ** 2
    room = gap**2 - scaled * ratio
    return math.ceil(scaled / room + ndtri(1 - alpha) ** 2 / 2) if room > 0 else math.inf


def holm(p: ArrayLike) -> NDArray[np.float64]:
    """Return Holm's adjusted p-values, in the order given; NaN stay NaN and do not count."""
    values = np.asarray(p, dtype=np.float64)
    adjusted = np.full(values.shape, np.nan)
    order = [i for i in np.argsort(values) if np.isfinite(values[i])]
    largest = 0.0
    for place, i in enumerate(order):
        largest = max(largest, min(1.0, (len(order) - place) * float(values[i])))
        adjusted[i] = largest
    return adjusted


def wilcoxon(
    a: ArrayLike,
    b: ArrayLike | float = 0.0,
    *,
    alternative: Alternative = "two-sided",
    alpha: float = ALPHA,
) -> Test:
    """Wilcoxon's signed-rank test of paired values, usually one pair a data set.

    Pairs without a difference are left out (Wilcoxon's own way), and the p-value of few pairs is
    exact. With n pairs it cannot fall below 2^(1-n) two-sided, .0625 for n = 5: where
    that is above `alpha`, the note says so.
    """
    from scipy import stats

    d = _differences(a, b)
    zeros = int(np.count_nonzero(d == 0))
    used = d[d != 0]
    n = len(used)
    mean = float(d.mean()) if len(d) else math.nan
    if n < 1:
        return Test(len(d), mean, math.nan, math.nan, "no pair differs")
    floor = smallest_sign_p(n, alternative)
    found = stats.wilcoxon(used, alternative=alternative)
    notes = [f"{zeros} pairs without a difference are left out"] if zeros else []
    if floor > alpha:
        notes.append(
            f"{n} pairs cannot be significant: the smallest possible p is {floor:.4g}, "
            f"above {alpha:g}"
        )
    p = max(float(found.pvalue), floor)
    return Test(len(d), mean, float(found.statistic), p, "; ".join(notes))


def _complete(scores: pd.DataFrame) -> pd.DataFrame:
    """Return the data sets (rows) on which every method (column) has a value."""
    whole = scores.dropna()
    if whole.shape[1] < 2 or whole.empty:
        raise ResultsError(
            f"{whole.shape[1]} methods on {whole.shape[0]} common data sets cannot be compared.",
            "Ranks need two methods, and data sets on which each of them was run.",
        )
    return whole


def average_ranks(scores: pd.DataFrame) -> pd.Series[float]:
    """Return the mean rank of each method, 1 for the smallest score; ties share their ranks.

    Parameters
    ----------
    scores : DataFrame
        One row a data set, one column a method, smaller is better; rows with a NaN are left out.
    """
    return _complete(scores).rank(axis=1).mean().sort_values()


def friedman(scores: pd.DataFrame) -> tuple[Test, Test]:
    r"""Test whether methods differ over data sets: Friedman, and Iman and Davenport.

    Friedman's :math:`\chi^2_F` (corrected for ties) has k - 1 degrees of freedom;
    :math:`F_F = (n-1) \chi^2_F / (n (k-1) - \chi^2_F)`, less conservative, has k - 1 and
    (k - 1)(n - 1). Both are approximations that want more than 10 data sets or 5 methods.

    Parameters
    ----------
    scores : DataFrame
        See `average_ranks`.
    """
    from scipy import special

    whole = _complete(scores)
    n, k = whole.shape
    ranks = whole.rank(axis=1).to_numpy()
    spread = float(np.sum((ranks - (k + 1) / 2) ** 2))
    if spread == 0:
        empty = Test(n, math.nan, math.nan, math.nan, "the methods tie on every data set")
        return empty, empty
    between = n * float(np.sum((ranks.mean(axis=0) - (k + 1) / 2) ** 2))
    chi2 = n * (k - 1) * between / spread
    rest = n * (k - 1) - chi2
    small = n <= 10 and k <= 5
    note = f"{n} data sets, {k} methods: the approximation is rough" if small else ""
    first = Test(n, math.nan, chi2, float(special.chdtrc(k - 1, chi2)), note)
    if n < 2 or rest <= 1e-9 * n * (k - 1):
        why = "every data set ranks the methods alike" if n > 1 else "one data set"
        return first, Test(n, math.nan, math.nan, math.nan, f"{why}: F is not defined")
    f = (n - 1) * chi2 / rest
    return first, Test(n, math.nan, f, float(special.fdtrc(k - 1, (k - 1) * (n - 1), f)), note)


@cache
def _studentized_range(level: float, methods: int) -> float:
    """Return the quantile for infinitely many degrees of freedom; it takes a tenth of a second."""
    from scipy.stats import studentized_range

    return float(studentized_range.ppf(level, methods, np.inf))


def nemenyi_difference(methods: int, datasets: int, alpha: float = ALPHA) -> float:
    r"""Return Nemenyi's critical difference of average ranks.

    .. math:: CD = \frac{q_{\alpha, k, \infty}}{\sqrt 2} \sqrt{\frac{k (k + 1)}{6 n}}
    """
    q = _studentized_range(1 - alpha, methods)
    return q / math.sqrt(2) * math.sqrt(methods * (methods + 1) / (6 * datasets))


def wilcoxon_holm(
    scores: pd.DataFrame, control: str | None = None, alpha: float = ALPHA
) -> pd.DataFrame:
    """Compare methods over data sets by Wilcoxon's test, with Holm's correction.

    Parameters
    ----------
    scores : DataFrame
        See `average_ranks`.
    control : str, optional
        Compare each method with this one; by default every pair.

    Returns
    -------
    DataFrame
        Columns first, second, n, effect (mean score of first less second), p, p_holm, note.
    """
    whole = _complete(scores)
    names: Sequence[str] = list(whole.columns)
    pairs = [
        pair for pair in itertools.combinations(names, 2) if control is None or control in pair
    ]
    tests = [wilcoxon(whole[a].to_numpy(), whole[b].to_numpy(), alpha=alpha) for a, b in pairs]
    adjusted = holm([test.p for test in tests])
    floor = smallest_sign_p(len(whole)) * len(pairs)
    short = (
        f"{len(whole)} data sets cannot be significant over {len(pairs)} comparisons: "
        f"the smallest corrected p is {min(1.0, floor):.4g}"
    )
    return pd.DataFrame(
        {
            "first": [a for a, _ in pairs],
            "second": [b for _, b in pairs],
            "n": [test.n for test in tests],
            "effect": [test.effect for test in tests],
            "p": [test.p for test in tests],
            "p_holm": adjusted,
            "note": [test.note or (short if floor > alpha else "") for test in tests],
        }
    )
