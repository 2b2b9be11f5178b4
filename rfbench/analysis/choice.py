"""Which method to take: the answers that a comparison of methods allows, as numbers."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from rfbench.analysis.ranking import BASELINE, Comparison, against, at_equal_time, time_ratios
from rfbench.analysis.statistics import (
    ALPHA,
    average_ranks,
    friedman,
    holm,
    nemenyi_difference,
    smallest_sign_p,
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
    against: pd.DataFrame  # see `rfbench.analysis.ranking.against`; its p corrected over `tests`
    tests: int = 0  # the number of comparisons with the baseline at all sizes

    @property
    def floor(self) -> float:
        """The smallest corrected p-value that so few data sets can give; 0 without comparisons."""
        if self.against.empty:
            return 0.0
        return min(1.0, smallest_sign_p(int(self.against["n"].iloc[0])) * self.tests)


@dataclass(frozen=True)
class Answers:
    """The answers for the method of the best average rank at the largest size."""

    best: str
    leaders: dict[str, float]  # the three best average ranks
    apart: bool  # whether they differ significantly
    always: tuple[str, ...]  # methods significantly better than the baseline at every size
    never: tuple[str, ...]  # at none, and never worse
    sometimes: dict[str, int]  # the others: at how many sizes significantly better
    worse: dict[str, int]  # at how many sizes significantly worse
    small: int  # the size of `needs`, 0 where a single size was run
    # On how many data sets the baseline needs so many features (None: more than were run) for the
    # error that the best method has at the size `small`.
    needs: dict[int | None, int]
    # By which share the error of the best method and of the baseline falls from the size before
    # the largest to the largest.
    falls: dict[str, float]
    # By size, the methods with a smaller error than the baseline in the same time on more than
    # half of the data sets: (method, better, of).
    in_the_same_time: dict[int, list[tuple[str, int, int]]]
    open_at: tuple[int, ...]  # sizes at which most of these comparisons are open


def size_tests(comparison: Comparison) -> list[SizeTest]:
    """Test the mean errors at each size; Holm's correction is over all methods and sizes."""
    tests = [size_test(comparison, M) for M in comparison.sizes]
    corrected = holm([p for test in tests for p in test.against["p"]])
    parts = np.split(corrected, np.cumsum([len(test.against) for test in tests])[:-1])
    return [
        replace(test, against=test.against.assign(p=p), tests=len(corrected))
        for test, p in zip(tests, parts, strict=True)
    ]


def size_test(comparison: Comparison, M: int) -> SizeTest:
    """Test the mean errors at one size, its comparisons with the baseline not corrected."""
    scores = comparison.complete(M).scores
    n, k = scores.shape
    if min(n, k) < 2:
        nothing = pd.Series(dtype="float64")
        return SizeTest(M, n, k, math.nan, math.nan, nothing, against(scores, BASELINE))
    (_, chi2_p), (_, p) = friedman(scores).values()
    p = chi2_p if math.isnan(p) else p
    difference, ranks = nemenyi_difference(k, n), average_ranks(scores)
    return SizeTest(M, n, k, p, difference, ranks, against(scores, BASELINE))


def answers(comparison: Comparison, tests: list[SizeTest]) -> Answers | None:
    """Answer from the tests at all sizes; None where the largest has too little to rank."""
    last = tests[-1]
    if last.ranks.empty or BASELINE not in last.ranks:
        return None
    best = str(last.ranks.index[0])
    leaders = last.ranks[:3]
    better: Counter[str] = Counter()
    worse: Counter[str] = Counter()
    for test in tests:
        sure = test.against[test.against["p"] <= ALPHA]
        better.update(map(str, sure.index[sure["ratio"] < 1]))
        worse.update(map(str, sure.index[sure["ratio"] > 1]))
    methods = dict.fromkeys(str(name) for test in tests for name in test.against.index)
    small, needs = _needs(comparison, best)
    winners, open_at = _in_the_same_time(comparison)
    return Answers(
        best,
        {str(name): float(rank) for name, rank in leaders.items()},
        bool(leaders.iloc[-1] - leaders.iloc[0] > last.difference),
        tuple(name for name in methods if better[name] == len(tests)),
        tuple(name for name in methods if not better[name] and not worse[name]),
        {name: better[name] for name in methods if 0 < better[name] < len(tests)},
        dict(worse),
        small,
        needs,
        _falls(comparison, best),
        winners,
        open_at,
    )


def _needs(comparison: Comparison, method: str) -> tuple[int, dict[int | None, int]]:
    sizes, learnt = comparison.sizes, comparison.learnt
    if len(sizes) < 2 or method == BASELINE:
        return 0, {}
    small = sizes[(len(sizes) - 1) // 2]
    empty = pd.Series(dtype="float64")
    reached = {size: learnt.at(size).get(BASELINE, empty) for size in sizes}
    needs: Counter[int | None] = Counter()
    for dataset, error in learnt.at(small).get(method, empty).dropna().items():
        enough = [size for size in sizes if reached[size].get(dataset, math.inf) <= error]
        needs[min(enough) if enough else None] += 1
    order = sorted(needs, key=lambda size: size or math.inf)
    return small, {size: needs[size] for size in order}


def _falls(comparison: Comparison, method: str) -> dict[str, float]:
    if len(comparison.sizes) < 2:
        return {}
    before, after = (comparison.learnt.at(size) for size in comparison.sizes[-2:])
    falls = {}
    for name in dict.fromkeys((method, BASELINE)):
        if name in before and name in after:
            quotient = (after[name] / before[name]).dropna()
            if (quotient > 0).any():
                falls[name] = 1 - float(np.exp(np.log(quotient[quotient > 0]).mean()))
    return falls


def _in_the_same_time(
    comparison: Comparison,
) -> tuple[dict[int, list[tuple[str, int, int]]], tuple[int, ...]]:
    table = at_equal_time(comparison)
    table["of"] = table["better"] + table["worse"] + table["open"]
    winners, open_at = {}, []
    for M, here in table.groupby("M"):
        most = here[here["better"] > here["of"] / 2]
        most = most.sort_values("better", ascending=False, kind="stable")
        winners[int(str(M))] = list(
            most[["method", "better", "of"]].itertuples(index=False, name=None)
        )
        if here["open"].sum() > here["of"].sum() / 2:
            open_at.append(int(str(M)))
    return winners, tuple(open_at)


def regret(comparison: Comparison, M: int) -> pd.DataFrame:
    """Tell by data set what the advice of the others costs there.

    Returns
    -------
    DataFrame
        One row per data set: ``advised``, the method of the best average rank on all other data
        sets; ``times``, its error over the smallest of any method; ``baseline``, the same of the
        baseline. Data sets with an error of zero, and fewer than three, have none; nor has a size
        at which the baseline cannot be ranked.
    """
    scores = comparison.complete(M).scores
    scores = scores[(scores > 0).all(axis=1)]
    regrets = {}
    for name in scores.index if min(scores.shape) > 2 and BASELINE in scores else ():
        advised = str(average_ranks(scores.drop(index=name)).index[0])
        best = scores.loc[name].min()
        times = scores.loc[name, advised] / best
        regrets[name] = (advised, times, scores.loc[name, BASELINE] / best)
    return pd.DataFrame.from_dict(regrets, "index", columns=["advised", "times", "baseline"])


def cost(comparison: Comparison, method: str, time: str = "all") -> dict[str, object] | None:
    """Return the line of `time_ratios` for a method at the largest size."""
    times = time_ratios(comparison, comparison.sizes[-1], time)
    if method not in times.index:
        return None
    return {str(key): value for key, value in times.loc[method].items()}
