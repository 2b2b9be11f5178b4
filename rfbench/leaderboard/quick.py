"""Ten tables that stand for all: which, chosen from rows, and how well they do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from rfbench.leaderboard.rule import Logs

COUNT = 10
# What `choose` gives on the published rows at M = 400.
QUICK = (
    "ann-thyroid", "banana", "energy", "gas", "houses", "kin8nm", "pendulum", "segmentation", "sml",
    "tokyo1",
)  # fmt: skip


def cheap(searches: pd.Series[float]) -> list[str]:
    """Return the half of the data sets that take least time, by their names."""
    return sorted(map(str, searches.index[searches <= searches.median()]))


def choose(logs: Logs, among: Sequence[str], count: int = COUNT) -> list[str]:
    """Return the data sets over which all methods have nearly their means over all data sets.

    Squared differences of the means are summed over methods. One data set after the other is
    taken, then one is exchanged for another as long as that makes the sum smaller.

    Parameters
    ----------
    logs : DataFrame
        Logarithms of ratios to the baseline: a row per data set, a column per method.
    among : sequence of str
        The data sets to choose from.
    count : int
        How many.
    """
    X = logs.loc[list(among)].to_numpy() - logs.to_numpy().mean(axis=0)

    def error(chosen: Sequence[int]) -> float:
        return float((X[list(chosen)].mean(axis=0) ** 2).sum())

    chosen: list[int] = []
    while len(chosen) < count:
        left = [i for i in range(len(X)) if i not in chosen]
        chosen.append(min(left, key=lambda i: error([*chosen, i])))
    while True:
        exchanged = [
            [*(kept for kept in chosen if kept != out), new]
            for out in chosen
            for new in range(len(X))
            if new not in chosen
        ]
        best = min(exchanged, key=error, default=chosen)
        if error(best) >= error(chosen) - 1e-15:
            return sorted(among[i] for i in chosen)
        chosen = best


@dataclass(frozen=True)
class Quality:
    """How well few data sets stand for all, each method judged by those that others chose.

    Attributes
    ----------
    correlation : float
        Spearman's, of the methods' means over the few and over all.
    largest : float
        The largest quotient of the two means of one method, or its inverse.
    method : str
        The method that has it.
    """

    correlation: float
    largest: float
    method: str


def quality(logs: Logs, among: Sequence[str], baseline: str, count: int = COUNT) -> Quality:
    """Leave each method out in turn, choose by the others, and compare its two means."""
    from scipy.stats import spearmanr

    methods = [str(name) for name in logs if name != baseline]
    few = np.array(
        [logs.loc[choose(logs.drop(columns=name), among, count), name].mean() for name in methods]
    )
    every = logs[methods].mean().to_numpy()
    gaps = np.abs(few - every)
    worst = int(gaps.argmax())
    correlation = float(spearmanr(few, every).statistic)
    return Quality(correlation, float(np.exp(gaps[worst])), methods[worst])
