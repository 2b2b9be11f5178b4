"""Questions of public threads, answered from rows: numbers here, words in the template."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from rfbench.analysis.frame import Collection
from rfbench.config import NO_SOLVER
from rfbench.leaderboard import figure
from rfbench.leaderboard.facts import Interval
from rfbench.leaderboard.rows import STANDARD, TRIAL, counted, interval, log_quotients
from rfbench.pages.templates import render
from rfbench.papers.models import PRINTED

PAGE, FIGURE = "answers.md", "answers.png"
OWN = "answers_"  # with which the names of its own configuration begin
SIZES = (50, 100, 200, 400)


@dataclass(frozen=True)
class Side:
    """Which rows are compared: of a method, with M features, under a preparation."""

    method: str
    M: int = 400
    scaling: str = STANDARD

    def errors(self, rows: pd.DataFrame) -> pd.Series[float]:
        """Return its errors by trial; those of a model without features have any M."""
        here = (rows["method"] == self.method) & (rows["scaling"] == self.scaling)
        here &= (rows["M"] == self.M) | rows["reference"]
        return rows[here].groupby(TRIAL)["error"].last()

    def __str__(self) -> str:
        return self.method if self.scaling == STANDARD else f"{self.method}, {self.scaling}"


@dataclass(frozen=True)
class Compared:
    """One comparison: errors of one side over those of the other, in the same trials.

    Attributes
    ----------
    name : str
    M : int
        Number of features of the first side.
    interval : Interval
        Over data sets.
    better : int
        Data sets on which the first side has the smaller error.
    """

    name: str
    M: int
    interval: Interval
    better: int

    @property
    def verdict(self) -> str:
        """What the interval says: ``smaller``, ``larger`` or ``none``."""
        if self.interval.high < 1:
            return "smaller"
        return "larger" if self.interval.low > 1 else "none"


Pair = tuple[Side, Side]


def over(methods: Sequence[str], baseline: str, sizes: Sequence[int] = SIZES) -> list[Pair]:
    """Return pairs of methods with a baseline at each size."""
    return [(Side(name, M), Side(baseline, M)) for name in methods for M in sizes]


LARGEST = SIZES[-1:]
# By question, in the order of the page, what is compared. The template has a macro of each name.
QUESTIONS: dict[str, list[Pair]] = {
    "landmarks": over(
        ["nystroem-kmeans", "nystroem-recursive-rls", "nystroem-rpcholesky"], "nystroem", LARGEST
    ),
    "orthogonal": over(["orf"], "rks"),
    "pair": [(Side("rks-pair", M), Side("rks", 2 * M)) for M in (50, 200)],
    "quasi": over(["qmc"], "rks"),
    "nystroem": over(["nystroem"], "rks"),
    "target": over(["eerf", "lkrf", "surrogate-leverage-kept", "varpro"], "rks", LARGEST),
    "size": [
        (Side(name, 2 * M), Side(name, M)) for name in ("rks", "nystroem") for M in SIZES[:-1]
    ],
    "bandwidth": over(["rks-half-median", "rks-median", "rks-double-median"], "rks", LARGEST),
    "scaling": [
        (Side(name, 400, scaling), Side(name))
        for name in ("rks", "nystroem", "swim")
        for scaling in ("robust", "rank")
    ],
    "precision": over(["rks-float32"], "rks", LARGEST),
    "exact": [*over(["rks"], "exact-kernel"), *over(["nystroem"], "exact-kernel", LARGEST)],
    "boosting": over(["rks", "nystroem", "varpro", "exact-kernel"], "boosting", LARGEST),
    "linear": over(["rks"], "linear"),
}


def gather(collection: Collection) -> dict[str, list[Compared]]:
    """Return by question the comparisons that the rows carry, without questions that have none.

    All comparisons of a question are over the data sets that each of them has.
    """
    rows, _ = counted(collection, OWN)
    made = {}
    for key, pairs in QUESTIONS.items():
        every = {pair: log_quotients(*(side.errors(rows) for side in pair)) for pair in pairs}
        measured = {pair: logs for pair, logs in every.items() if len(logs)}
        common = pd.DataFrame(measured).dropna().index
        if len(common):
            made[key] = [_compared(pair, logs[common]) for pair, logs in measured.items()]
    if "orthogonal" in made and (kernel := kernel_errors(collection)) is not None:
        made["orthogonal"].append(kernel)
    return made


def _compared(pair: Pair, logs: pd.Series[float]) -> Compared:
    one, other = pair
    name = f"{one} / {other}" if one.method != other.method else str(one)
    if one.M != other.M:
        name += f", M = {one.M} / {other.M}"
    return Compared(name, one.M, interval(logs), int((logs < 0).sum()))


def kernel_errors(collection: Collection) -> Compared | None:
    """Compare orthogonal and independent frequencies in the Frobenius error of the kernel.

    Of the runs without a solver: orthogonal ones by their definition, on the same rows.
    """
    rows = collection.counted
    if rows.empty:
        return None
    rows = rows[(rows["solver"] == NO_SOLVER) & (rows["kernel"] == "gaussian")]
    rows = rows.set_index(["dataset", "M", "trial"])
    left = (rows["label"] == "orf") & (rows["protocol"] == PRINTED)
    errors = rows["kernel_error_frobenius"]
    logs = log_quotients(errors[left], errors[rows["label"] == "rks"])
    name = "orf / rks, error of the kernel"
    return Compared(name, 0, interval(logs), int((logs < 0).sum())) if len(logs) else None


def files(collection: Collection) -> dict[str, Any]:
    """Return page and figure by the names of their files; None of what the rows do not carry."""
    found = gather(collection)
    if not found:
        return {PAGE: None, FIGURE: None}
    bars = {
        each.name if "M =" in each.name or not each.M else f"{each.name}, M = {each.M}":
        each.interval
        for every in found.values()
        for each in every
        if each.M in (0, max(other.M for other in every))
    }  # fmt: skip
    return {PAGE: page(found), FIGURE: figure.intervals(bars)}


def page(found: Mapping[str, Sequence[Compared]]) -> str:
    """Write the page."""
    return render("leaderboard/answers.md.j2", found=found, figure=FIGURE)
