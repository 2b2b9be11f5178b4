"""Marks of significance: the test of a paper's table, repeated cell by cell."""

from __future__ import annotations

import math

import numpy as np

from rfbench import papers
from rfbench.analysis import verdicts
from rfbench.analysis.outcomes import Mark, Outcome
from rfbench.analysis.paired import Trials
from rfbench.analysis.selection import Selection
from rfbench.analysis.statistics import paired_t
from rfbench.papers import Claim, Marks


def outcomes_of(claim: Claim, selection: Selection) -> list[Outcome]:
    """Return the verdict on the marks of a paper's tables under each protocol that was run."""
    marked = {
        item: layout.marks
        for (paper, item), layout in papers.tables().items()
        if paper == claim.paper and layout.marks
    }
    outcomes = []
    for protocol in selection.protocols(claim.paper, marked):
        found, folders = [], set()
        for item, rule in marked.items():
            cells, used = _cells(claim.paper, item, rule, selection, protocol)
            found += cells
            folders |= used
        if folders:
            trials = max(rule.trials for rule in marked.values())
            outcomes.append(_outcome(claim, protocol, found, trials, sorted(folders)))
    return outcomes or [Outcome(claim, "", verdicts.NOT_RUN)]


def _cells(
    paper: str, item: str, rule: Marks, selection: Selection, protocol: str
) -> tuple[list[Mark], set[str]]:
    """Return the cells of a table that may be marked, and the folders of its rows."""
    numbers = [
        number
        for number in papers.published()
        if (number.paper, number.item, number.metric) == (paper, item, rule.metric)
        and number.method not in rule.baselines
    ]
    lines = {
        dataset: selection.select(paper, [item], dataset, protocol)
        for dataset in dict.fromkeys(number.dataset for number in numbers)
    }
    trials = {name: Trials(selection.collection, found) for name, found in lines.items()}
    marks = [
        Mark(
            number.dataset,
            number.method,
            number.M,
            number.mark == "significant",
            significant(trials[number.dataset], number.method, number.size, rule),
        )
        for number in numbers
    ]
    return marks, {folder for found in lines.values() for folder in found["folder"]}


def significant(trials: Trials, method: str, size: int | None, rule: Marks) -> bool | None:
    """Say whether a method is significantly better than every baseline, as the paper tests it.

    A paired t-test at 5 % against each baseline, without correction, on the first trials; None
    where fewer are common to all.
    """
    at_size = trials.facts["M"] == size
    names = (method, *rule.baselines)
    found = [[a for a in trials.of_method(name) if at_size[a]] for name in names]
    if not all(found):
        return None
    most = [max(columns, key=lambda a: int(trials.facts["trials"][a])) for columns in found]
    table = trials.table(rule.metric)[:, most]
    whole = np.isfinite(table).all(axis=1)
    number = trials.collection.of_pairs(["trial"])["trial"][trials.pairs[whole]]
    table = table[whole][np.argsort(number.to_numpy())[: rule.trials]]
    if len(table) < rule.trials:
        return None
    own, *others = table.T
    tests = [paired_t(own, other) for other in others]
    return all(test.effect > 0 and test.p <= verdicts.ALPHA for test in tests)


def _outcome(
    claim: Claim, protocol: str, marks: list[Mark], trials: int, folders: list[str]
) -> Outcome:
    decided = [mark for mark in marks if mark.significant is not None]
    wrong = sum(mark.significant != mark.marked for mark in decided)
    return Outcome(
        claim,
        protocol,
        verdicts.of_marks(len(marks), len(decided), wrong, claim.tolerance),
        effect=1 - wrong / len(decided) if decided else math.nan,
        compared=len(decided),
        held=len(decided) - wrong,
        trials=trials if decided else 0,
        marks=tuple(marks),
        folders=tuple(folders),
    )
