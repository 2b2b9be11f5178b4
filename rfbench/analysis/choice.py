"""Average ranks of methods over data sets, with their tests."""

from __future__ import annotations

import math
from dataclasses import dataclass

import pandas as pd

from rfbench.analysis.ranking import Comparison
from rfbench.analysis.statistics import (
    average_ranks,
    friedman,
    nemenyi_difference,
)


@dataclass(frozen=True)
class SizeTest:
    """What the tests over data sets say at one size."""

    M: int
    datasets: int
    methods: int
    p: float  # Iman and Davenport's, or Friedman's; NaN below two data sets or methods
    difference: float  # Nemenyi's critical one of the ranks
    ranks: pd.Series[float]  # average ranks, ascending


def size_tests(comparison: Comparison) -> list[SizeTest]:
    """Test the mean errors at each size."""
    return [size_test(comparison, M) for M in comparison.sizes]


def size_test(comparison: Comparison, M: int) -> SizeTest:
    """Test the mean errors at one size."""
    scores = comparison.complete(M).scores
    n, k = scores.shape
    if min(n, k) < 2:
        nothing = pd.Series(dtype="float64")
        return SizeTest(M, n, k, math.nan, math.nan, nothing)
    (_, chi2_p), (_, p) = friedman(scores).values()
    p = chi2_p if math.isnan(p) else p
    difference, ranks = nemenyi_difference(k, n), average_ranks(scores)
    return SizeTest(M, n, k, p, difference, ranks)
