"""What the papers' own methods gain over the ones they are held against, published and measured."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from rfbench import papers
from rfbench.analysis.chance import doubt
from rfbench.analysis.paired import Trials, Values
from rfbench.analysis.selection import Selection
from rfbench.papers.models import Published

COLUMNS = [
    "paper", "item", "dataset", "method", "other", "protocol", "sizes",
    "published", "mean", "standard_error", "trials", "doubt",
]  # fmt: skip


def gains(selection: Selection) -> pd.DataFrame:
    """Return by how many points methods have a smaller error than others, as the tables ask.

    Returns
    -------
    DataFrame
        One line per pair, data set and protocol, on the paper's own data: ``paper``, ``item``,
        ``dataset`` (as the paper calls it); ``method``, ``other``, ``protocol``; ``sizes``, those
        of the table, over which the gain is the mean; ``published``, NaN where the paper prints
        neither or only one; ``mean``, ``standard_error`` and ``trials``, over our trials that ran
        every size; ``doubt``, see `rfbench.analysis.chance.doubt`.
    """
    lines = [
        gain
        for paper in papers.papers()
        for item, pairs in papers.paper(paper).gains.items()
        for numbers in _numbers(paper, item).values()
        for pair in pairs
        for gain in _of_pair(selection, numbers, *pair)
    ]
    return pd.DataFrame(lines, columns=COLUMNS)


def _numbers(paper: str, item: str) -> dict[str, list[Published]]:
    numbers: dict[str, list[Published]] = {}
    for number in papers.published():
        if (number.paper, number.item, number.unit) == (paper, item, "%"):
            numbers.setdefault(number.dataset, []).append(number)
    return numbers


def _of_pair(
    selection: Selection, numbers: Sequence[Published], method: str, other: str
) -> Iterator[tuple[Any, ...]]:
    """Yield the gains on one data set of a table, by protocol."""
    paper, item, dataset = numbers[0].paper, numbers[0].item, numbers[0].dataset
    sizes = sorted({n.size for n in numbers if n.method == other and n.size is not None})
    printed = [_better(numbers, method, M) - _better(numbers, other, M) for M in sizes]
    collection = selection.collection
    for protocol in papers.PROTOCOLS:
        groups = selection.select(paper, [item], dataset, protocol, False)
        values = gain(Trials(collection, groups), method, other, sizes)
        if not len(values):
            continue
        n, both = len(values), groups[collection.of_method(groups, method, other)]
        error = float(values.std(ddof=1)) / math.sqrt(n) if n > 1 else math.nan
        measured = (float(np.mean(printed)), float(values.mean()), error, n)
        why = doubt(collection, both, papers.sources()[paper][dataset])
        yield paper, item, dataset, method, other, protocol, tuple(sizes), *measured, why


def _better(numbers: Sequence[Published], method: str, size: int) -> float:
    """Return the accuracy of a method, or the error with its sign turned; NaN without one."""
    signs = {"accuracy": 1.0, "error": -1.0}
    here = [n for n in numbers if (n.method, n.size) == (method, size) and n.metric in signs]
    return signs[here[0].metric] * here[0].value if here else math.nan


def gain(trials: Trials, method: str, other: str, sizes: Sequence[int]) -> Values:
    """Return, per trial, the mean over the sizes of the other's error less the method's.

    Of several groups at one size that with the most trials counts; a trial that lacks one of the
    sizes is left out.
    """
    steps = np.array([trials.at(other, M, "error") - trials.at(method, M, "error") for M in sizes])
    means: Values = steps.mean(axis=0) if len(steps) else np.array([])
    return means[np.isfinite(means)]
