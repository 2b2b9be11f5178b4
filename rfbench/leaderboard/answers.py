"""Questions of public threads, answered from rows: numbers here, words in the template."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from rfbench.analysis.frame import Collection
from rfbench.config import NO_SOLVER
from rfbench.leaderboard import figure
from rfbench.leaderboard.facts import Interval, Known
from rfbench.leaderboard.rows import (
    HELD_OUT,
    STANDARD,
    folders_of,
    interval,
    joined,
    log_quotients,
    rows_of,
    unlearnt_of,
)
from rfbench.pages.grids import Grid
from rfbench.pages.templates import render
from rfbench.pages.words import DASH, number
from rfbench.papers.models import PRINTED

PAGE, FIGURE = "answers.md", "answers.png"
OWN = "answers"  # with which the names of its own configuration begin
SIZES = (50, 100, 200, 400)


@dataclass(frozen=True)
class Side:
    """Which rows are compared: of a method, with M features, under a preparation."""

    method: str
    M: int = 400
    scaling: str = STANDARD
    value: str = "error"  # a column of the rows

    def pick(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Return its rows; those of a model without features have any M."""
        here = (rows["method"] == self.method) & (rows["scaling"] == self.scaling)
        return rows[here & ((rows["M"] == self.M) | rows["reference"])]

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
    cost : float
        CPU time of the search of the first over the second; NaN where it was not measured.
    """

    name: str
    M: int
    interval: Interval
    better: int
    cost: float

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
        ["nystroem-kmeans", "nystroem-recursive-rls", "nystroem-rpcholesky"], "nystroem", (100, 400)
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
    "exact": over(["rks", "nystroem"], "exact-kernel"),
    "boosting": over(["rks", "nystroem", "varpro", "exact-kernel"], "boosting", LARGEST),
    "linear": over(["rks"], "linear"),
    "time": [
        (Side(name, 2 * M, value="search"), Side(name, M, value="search"))
        for name in ("rks", "nystroem")
        for M in (100, 200)
    ],
}


def gather(collection: Collection, known: Known) -> dict[str, list[Compared]]:
    """Return by question the comparisons that the rows carry, without questions that have none."""
    usable = [e for e in collection.experiments if not (e.smoke or e.config.get("paper"))]
    usable = [each for each in usable if not each.name.startswith(HELD_OUT)]
    own = {each.path for each in usable if each.name.startswith(f"{OWN}_")}
    parts = [joined(collection, folders_of(usable)), rows_of(collection, own)]
    rows = pd.concat([part for part in parts if len(part)] or parts, ignore_index=True)
    if rows.empty:
        return {}
    rows = rows[~rows["dataset"].isin([*known.set_aside, *unlearnt_of(rows)])]
    made = {
        key: [each for pair in pairs if (each := compare(rows, *pair, known.twins)) is not None]
        for key, pairs in QUESTIONS.items()
    }
    if made["orthogonal"] and (kernel := kernel_errors(collection)) is not None:
        made["orthogonal"].append(kernel)
    return {key: each for key, each in made.items() if each}


def compare(
    rows: pd.DataFrame, one: Side, other: Side, twins: Mapping[str, str]
) -> Compared | None:
    """Compare two sides in the trials that both have; None where there are none."""
    left, right = (
        side.pick(rows).groupby(["dataset", "trial"])[list({side.value, "search"})].last()
        for side in (one, other)
    )
    logs = log_quotients(left[one.value], right[other.value], twins)
    if not len(logs):
        return None
    own = any(side.method.startswith("rks-") for side in (one, other))  # measured elsewhere
    cost = math.nan if own else interval(log_quotients(left["search"], right["search"], {})).ratio
    name = f"{one} / {other}" if one.method != other.method else str(one)
    if one.M != other.M:
        name += f", M = {one.M} / {other.M}"
    return Compared(name, one.M, interval(logs), int((logs < 0).sum()), cost)


def kernel_errors(collection: Collection) -> Compared | None:
    """Compare orthogonal and independent frequencies in the Frobenius error of the kernel.

    Of the runs without a solver: orthogonal ones by their definition, on the same rows.
    """
    rows = collection.counted
    if rows.empty:
        return None
    rows = rows[(rows["solver"] == NO_SOLVER) & (rows["kernel"] == "gaussian")]
    left = rows[(rows["label"] == "orf") & (rows["protocol"] == PRINTED)]
    right = rows[rows["label"] == "rks"]
    if left.empty or right.empty:
        return None
    keys = ["dataset", "M", "trial"]
    over, under = (each.set_index(keys)["kernel_error_frobenius"] for each in (left, right))
    logs = log_quotients(over, under, {})
    name = "orf / rks, error of the kernel"
    return Compared(name, 0, interval(logs), int((logs < 0).sum()), math.nan)


def files(collection: Collection, known: Known) -> dict[str, Any]:
    """Return page and figure by the names of their files; None of what the rows do not carry."""
    found = gather(collection, known)
    if not found:
        return {PAGE: None, FIGURE: None}
    bars = {
        each.name if "M =" in each.name or not each.M else f"{each.name}, M = {each.M}":
        each.interval
        for key, every in found.items()
        if key not in ("time", "linear")
        for each in every
        if each.M in (0, max(other.M for other in every))
    }  # fmt: skip
    return {PAGE: page(found), FIGURE: figure.intervals(bars)}


def page(found: Mapping[str, Sequence[Compared]]) -> str:
    """Write the page."""
    return render(
        "leaderboard/answers.md.j2",
        found=found,
        figure=FIGURE,
        grids={key: _grid(every) for key, every in found.items()},
    )


def _grid(every: Sequence[Compared]) -> Grid:
    head = ["compared", "M", "ratio (90 % interval)", "tables", "smaller on", "CPU time, ratio"]
    rows = [
        [
            each.name,
            str(each.M or DASH),
            f"{number(each.interval.ratio, 3)} "
            f"({number(each.interval.low, 3)}{DASH}{number(each.interval.high, 3)})",
            str(each.interval.datasets),
            str(each.better),
            DASH if math.isnan(each.cost) else f"{each.cost:.2g}",
        ]
        for each in every
    ]
    return Grid(head, rows)
