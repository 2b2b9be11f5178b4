"""The practitioner's page in a few sentences: which method, how many features, what it costs."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass

import numpy as np
import pandas as pd

from rfbench.analysis.ranking import BASELINE, Comparison, against, at_equal_time, time_ratios
from rfbench.analysis.statistics import ALPHA, average_ranks, nemenyi_difference
from rfbench.report.costs import CLOCKS
from rfbench.report.summary import spread


@dataclass(frozen=True)
class Answers:
    """The sentences; each is empty where the results cannot give it."""

    which: str = ""
    how_many: str = ""
    cost: str = ""

    def lines(self) -> list[str]:
        """Return the sentences as a Markdown list."""
        named = {
            "Which method": self.which,
            "How many features": self.how_many,
            "What it costs": self.cost,
        }
        return [f"- **{name}.** {text}" for name, text in named.items() if text]


def answers(comparison: Comparison) -> Answers:
    """Answer for the method of the best average rank at the largest size.

    Nothing is said where that size has fewer than two data sets or methods to rank.
    """
    M = comparison.sizes[-1]
    scores = comparison.complete(M).scores
    if min(scores.shape) < 2 or BASELINE not in scores:
        return Answers()
    best = str(average_ranks(scores).index[0])
    said = (
        f"At M = {M}, over {len(scores)} data sets, the best average ranks are {_leaders(scores)}"
    )
    if best == BASELINE:
        return Answers(which=f"{said}. {_tested(comparison)}")
    return Answers(
        f"{said}. The error of {best} is {_quotient(scores, best)}. {_tested(comparison)}",
        " ".join(filter(None, [_to_match(comparison, best), _doubling(comparison, best)])),
        _cost(comparison, best, M),
    )


def _quotient(scores: pd.DataFrame, method: str) -> str:
    table = against(scores, BASELINE)
    mean, low, high = (float(table[name][method]) for name in ("quotient", "low", "high"))
    return f"{mean:.2f} times that of {BASELINE} (geometric mean; {low:.2f} to {high:.2f})"


def _leaders(scores: pd.DataFrame) -> str:
    """Name the three best ranks, and say whether they differ significantly."""
    ranks = average_ranks(scores)[:3]
    named = ", ".join(f"{name} ({rank:.1f})" for name, rank in ranks.items())
    apart = ranks.iloc[-1] - ranks.iloc[0] > nemenyi_difference(scores.shape[1], len(scores))
    return named if apart else f"{named}, too near to call"


def _tested(comparison: Comparison) -> str:
    """Say which methods the tests tell from the baseline, and at how many of the sizes."""
    sizes = comparison.sizes
    better: Counter[str] = Counter()
    worse: Counter[str] = Counter()
    methods: dict[str, None] = {}
    for M in sizes:
        table = against(comparison.complete(M).scores, BASELINE)
        methods |= dict.fromkeys(map(str, table.index))
        sure = table[table["p"] <= ALPHA]
        better.update(map(str, sure.index[sure["quotient"] < 1]))
        worse.update(map(str, sure.index[sure["quotient"] > 1]))
    always = [name for name in methods if better[name] == len(sizes)]
    some = [name for name in methods if 0 < better[name] < len(sizes)]
    never = [name for name in methods if not better[name] and not worse[name]]
    at = f"M = {spread(sizes[0], sizes[-1])}"
    said = [f"Significantly better than {BASELINE} at every size ({at}): {_names(always)}."]
    if some:
        said.append(f"At some sizes, and how many: {_names(some, better)}.")
    if worse:
        said.append(f"Significantly worse, and at how many sizes: {_names(list(worse), worse)}.")
    if never:
        said.append(f"No significant difference, which is not equality: {_names(never)}.")
    return " ".join(said)


def _names(names: list[str], counts: Counter[str] | None = None) -> str:
    shown = [f"{name} ({counts[name]})" if counts else name for name in names]
    return ", ".join(shown) or "none"


def _to_match(comparison: Comparison, method: str) -> str:
    """Say how many features the baseline needs for the error of a method at a small size."""
    sizes = comparison.sizes
    if len(sizes) < 2:
        return ""
    M = sizes[(len(sizes) - 1) // 2]
    empty = pd.Series(dtype="float64")
    wanted = comparison.learnt.at(M).get(method, empty).dropna()
    needs: Counter[int | None] = Counter()
    reached = {size: comparison.learnt.at(size).get(BASELINE, empty) for size in sizes}
    for dataset, error in wanted.items():
        enough = [size for size in sizes if reached[size].get(dataset, math.inf) <= error]
        needs[min(enough) if enough else None] += 1
    if not needs:
        return ""
    counts = [f"{size} on {needs[size]}" for size in sizes if needs[size]]
    if needs[None]:
        counts.append(f"more than {sizes[-1]} on {needs[None]}")
    return (
        f"For the error that {method} has at M = {M}, {BASELINE} needs, of the sizes that were "
        f"run, {', '.join(counts)} of {needs.total()} data sets (by mean errors)."
    )


def _doubling(comparison: Comparison, method: str) -> str:
    """Say what the last step to more features brings."""
    if len(comparison.sizes) < 2:
        return ""
    low, high = comparison.sizes[-2:]
    before, after = comparison.learnt.at(low), comparison.learnt.at(high)
    said = []
    for name in (method, BASELINE):
        if name in before and name in after:
            quotient = (after[name] / before[name]).dropna()
            quotient = quotient[quotient > 0]
            if len(quotient):
                fall = 1 - float(np.exp(np.log(quotient).mean()))
                said.append(
                    f"that of {name} {'falls' if fall >= 0 else 'rises'} by {abs(fall):.0%}"
                )
    if not said:
        return ""
    return f"From M = {low} to {high} the error still changes: {', '.join(said)}."


def _cost(comparison: Comparison, method: str, M: int) -> str:
    times = time_ratios(comparison, M)
    if method not in times.index:
        return ""
    ratio, low, high = (float(times[name][method]) for name in ("ratio", "low", "high"))
    bound = {">=": "at least ", "<=": "at most "}.get(str(times["bound"][method]), "")
    said = (
        f"At M = {M} the {CLOCKS[comparison.clock]} of {method} is {bound}{ratio:.2g} times that "
        f"of {BASELINE} ({low:.2g} to {high:.2g})."
    )
    return " ".join(filter(None, [said, _in_the_same_time(comparison)]))


def _in_the_same_time(comparison: Comparison) -> str:
    """Say which methods beat the baseline in the same time on more than half of the data sets."""
    table = at_equal_time(comparison)
    if table.empty:
        return ""
    table["of"] = table["better"] + table["worse"] + table["open"]
    parts = []
    for M, here in table.groupby("M"):
        most = here[here["better"] > here["of"] / 2].sort_values("better", ascending=False)
        counts = zip(most["method"], most["better"], most["of"], strict=True)
        names = ", ".join(f"{name} ({better} of {of})" for name, better, of in counts)
        unknown = "none, but most are open, because no size of the baseline took as long"
        none = unknown if here["open"].sum() > here["of"].sum() / 2 else "none"
        parts.append(f"at M = {M} {names or none}")
    return (
        f"In the same time, a smaller error than that of {BASELINE} on more than half of the data "
        f"sets: {'; '.join(parts)}."
    )
