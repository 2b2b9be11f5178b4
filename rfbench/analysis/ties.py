"""Which means are the best at their place, and which do not differ significantly from them."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from rfbench.analysis.frame import Collection
from rfbench.analysis.paired import Trials
from rfbench.analysis.statistics import paired_t
from rfbench.analysis.summary import SMALLER_IS_BETTER

LEVEL = 0.90  # of the interval of paired differences


def interval(a: ArrayLike, b: ArrayLike) -> tuple[float, float]:
    """Return the paired `LEVEL` interval of the mean of a - b; NaN below two common trials.

    Parameters
    ----------
    a, b : array of shape (n_trials,)
        Trials with a NaN are left out.
    """
    from scipy.special import stdtrit

    test = paired_t(a, b)
    if test.n < 2:
        return math.nan, math.nan
    half = float(stdtrit(test.n - 1, (1 + LEVEL) / 2)) * test.error
    return test.effect - half, test.effect + half


def best_or_tied(collection: Collection, table: pd.DataFrame) -> pd.Series[bool]:
    """Tell which lines have the best mean of their data set and place, or tie with it.

    A line ties where the `interval` of its differences from the best, trial by trial, holds zero.
    A place with a single method, or whose best has no trial in common with another line, has no
    best: nothing is told there.

    Parameters
    ----------
    table : DataFrame
        Lines of `rfbench.analysis.summary.grouped`: ``dataset``, ``x``, ``metric``, ``mean``,
        ``trials`` and ``group``, the line of `Collection.groups`.

    Returns
    -------
    Series of bool
        One value per line of the table.
    """
    tied = pd.Series(False, table.index)
    measured = table[table["trials"] > 0]
    for _, part in measured.groupby(["dataset", "x"], sort=False):
        if len(part) < 2:
            continue
        metric = str(part["metric"].iloc[0])
        best = part["mean"].idxmax() if metric in SMALLER_IS_BETTER else part["mean"].idxmin()
        values = Trials(collection, part["group"].to_numpy()).table(metric)
        first = values[:, part.index.get_loc(best)]
        intervals = np.array([interval(column, first) for column in values.T])
        if np.isfinite(intervals).all(axis=1).sum() > 1:  # the best itself is one
            tied[part.index] = (intervals[:, 0] <= 0) & (intervals[:, 1] >= 0)
    return tied
