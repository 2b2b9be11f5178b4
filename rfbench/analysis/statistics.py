"""Statistical tests over the trials of one data set: the paired t-test, and Holm's correction."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rfbench.analysis.verdicts import ALPHA as ALPHA
from rfbench.errors import ResultsError


@dataclass(frozen=True)
class Test:
    """Result of a paired test of the hypothesis that the mean difference is zero.

    Attributes
    ----------
    n : int
        Number of trials.
    effect : float
        Mean of the differences.
    statistic, p : float
        Test statistic and p-value; NaN if the test is not defined.
    note : str
        Reason why the test is not defined, else an empty string.
    error : float
        Standard error of `effect`; NaN for fewer than two trials.
    """

    __test__ = False

    n: int
    effect: float
    statistic: float
    p: float
    note: str = ""
    error: float = math.nan

    def compute_confidence_interval(self, coverage: float) -> tuple[float, float]:
        """Return Student's confidence interval of the mean difference, `effect`.

        The ends are NaN for fewer than two trials.
        """
        from scipy.special import stdtrit

        if self.n < 2:
            return math.nan, math.nan
        half = float(stdtrit(self.n - 1, (1 + coverage) / 2)) * self.error
        return self.effect - half, self.effect + half


def paired_t_test(a: ArrayLike, b: ArrayLike | float = 0.0) -> Test:
    """Test whether the mean of paired differences is zero, by a two-sided paired t-test.

    The conclusion applies to new splits of the same rows and to new random features. If the split
    is predefined, it applies to new random features only. It does not apply to new rows.

    Parameters
    ----------
    a, b : array of shape (n,)
        One value per trial; `b` may be a single number. Trials with a NaN are dropped.

    Returns
    -------
    Test
        Result of the test.

    Notes
    -----
    For fixed rows, trials are independent and identically distributed, so the test has its nominal
    level if the differences are normally distributed. `tests/analysis/test_level.py` simulates the
    level. Nadeau and Bengio's correction for overlapping training rows is meant for statements
    about new rows. Here it would reject in less than one of a thousand cases if the methods are
    equal.
    """
    from scipy.special import stdtr

    x, y = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if x.ndim != 1 or (y.ndim and x.shape != y.shape):
        raise ResultsError(
            f"Arrays of shapes {x.shape} and {y.shape} cannot be paired.",
            "A paired test needs results of both methods in the same trials.",
        )
    d = (x - y)[np.isfinite(x - y)]
    n = len(d)
    if n < 2:
        mean = float(d[0]) if n else math.nan
        return Test(
            n, mean, math.nan, math.nan, f"{n} trials: a standard deviation needs at least two"
        )
    mean, variance = float(d.mean()), float(d.var(ddof=1))
    error = math.sqrt(variance / n)
    if variance <= (1e-12 * max(1e-300, float(np.abs(d).max()))) ** 2:
        why = "all differences are equal: the t statistic is not defined"
        return Test(n, mean, math.nan, math.nan, why, error)
    t = mean / error
    return Test(n, mean, t, 2 * float(stdtr(n - 1, -abs(t))), error=error)


def holm_correction(p_values: ArrayLike) -> NDArray[np.float64]:
    """Return p-values after Holm's correction for multiple tests, in the given order.

    NaN values stay NaN.
    """
    values = np.asarray(p_values, dtype=np.float64)
    adjusted, order = np.full_like(values, np.nan), np.argsort(values)  # argsort puts NaN last
    order = order[: np.isfinite(values).sum()]
    times = np.arange(len(order), 0, -1)
    adjusted[order] = np.maximum.accumulate(np.minimum(1.0, times * values[order]))
    return adjusted
