"""The rows of a paper's table: its data sets in its order, with what was measured on each."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rfbench import papers
from rfbench.papers import Published
from rfbench.report.arms import Arm
from rfbench.report.evidence import Evidence
from rfbench.report.summary import DASH, spread
from rfbench.report.verify import Board, Cell, pick, stand_in_name
from rfbench.results import reader as folders
from rfbench.results.schema import METRICS


@dataclass(frozen=True)
class Place:
    """A place of the table: the cell of the scoreboard and the arm behind it, None if not run."""

    cell: Cell
    arm: Arm | None

    @property
    def measured(self) -> bool:
        """Whether there is a value."""
        return self.cell.trials > 0

    @property
    def shared(self) -> bool:
        """Whether its time is an upper bound."""
        return self.arm is not None and self.arm.shared


@dataclass(frozen=True)
class Row:
    """A data set of a paper's table, or what stands in for it, under one protocol.

    Attributes
    ----------
    dataset : str
        As the paper calls it.
    name : str
        The same; for a stand-in with what it is.
    numbers : list of Published
        The numbers that the table has on this data set.
    places : list of Place
        Empty where it was not run.
    """

    dataset: str
    name: str
    numbers: list[Published]
    places: list[Place]

    @property
    def measured(self) -> list[Place]:
        """The places that have a value."""
        return [place for place in self.places if place.measured]

    @property
    def arms(self) -> list[Arm]:
        """The arms behind the places, each once."""
        return list({id(place.arm): place.arm for place in self.places if place.arm}.values())

    def place(self, method: str, metric: str, size: str | None = None) -> Place | None:
        """Return the place of a method and metric, at a size or the first; None if not run."""
        for place in self.places:
            number = place.cell.number
            if (number.method, number.metric) == (method, metric) and size in (None, number.M):
                return place
        return None


def rows_of(found: Board, evidence: Evidence, paper: str, item: str, protocol: str) -> list[Row]:
    """Return the rows of a table under one protocol, a stand-in at the place of its data set."""
    numbers = [n for n in papers.published() if (n.paper, n.item) == (paper, item)]
    cells = [
        cell
        for cell in (*found.cells, *found.stand_ins)
        if (cell.number.paper, cell.number.item, cell.protocol) == (paper, item, protocol)
    ]
    rows = []
    for dataset in dict.fromkeys(number.dataset for number in numbers):
        here = [cell for cell in cells if cell.number.dataset == dataset]
        of = [number for number in numbers if number.dataset == dataset]
        rows += _on_dataset(evidence, of, here, protocol)
    return rows


def _on_dataset(
    evidence: Evidence, numbers: list[Published], cells: Sequence[Cell], protocol: str
) -> list[Row]:
    """Return the row of a data set, those of its stand-ins, or an empty one if none was run."""
    first = numbers[0]

    def arms(stand_in: bool) -> list[Arm]:
        return evidence.select(first.paper, [first.item], first.dataset, protocol, stand_in)

    groups = {}
    if own := arms(stand_in=False):
        groups[first.dataset] = [c for c in cells if not c.stand_in], own
    others = arms(stand_in=True)
    for used in dict.fromkeys(cell.dataset for cell in cells if cell.stand_in):
        name = f"{first.dataset} (stand-in {used})"
        here = [cell for cell in cells if cell.stand_in and cell.dataset == used]
        groups[name] = here, [arm for arm in others if stand_in_name(arm) == used]
    rows = [
        Row(first.dataset, name, numbers, [Place(c, pick(among, c.number)) for c in here])
        for name, (here, among) in groups.items()
    ]
    return rows or [Row(first.dataset, first.dataset, numbers, [])]


def trials(row: Row) -> str:
    """Write the number of trials that ended well, or the fewest and the most."""
    counts = [place.cell.trials for place in row.measured] or [0] * bool(row.arms)
    return spread(min(counts), max(counts)) if counts else DASH


def size(arms: Sequence[Arm]) -> str:
    """Write the number of features, a range where it varies from trial to trial."""
    known = [arm.column("M") if arm.M is None else np.array([arm.M]) for arm in arms]
    return _span(np.concatenate(known)) if known else DASH


def _span(values: Any) -> str:
    known = values[np.isfinite(values)]
    return spread(float(known.min()), float(known.max())) if len(known) else DASH


def _training_rows(row: Row) -> str:
    return _span(np.array([arm.rows[0] for arm in row.arms]))


def _test_rows(row: Row) -> str:
    return _span(np.array([arm.rows[1] for arm in row.arms]))


def _columns(row: Row) -> str:
    return _span(np.array([math.nan if arm.d is None else arm.d for arm in row.arms]))


def _pool(row: Row) -> str:
    return _parameter(row, "pool_size")


def _scored(row: Row) -> str:
    return _parameter(row, "score_rows")


def _parameter(row: Row, name: str) -> str:
    """Write a parameter of the methods that draw a pool, every value that it has."""
    found = [parameters(arm) for arm in row.arms if arm.sampler != "rks"]
    texts = dict.fromkeys(_setting(name, settings.get(name)) for settings in found)
    return " / ".join(texts) or DASH


def _setting(name: str, value: Any) -> str:
    if value is None:
        return "default"
    share = name == "score_rows" and isinstance(value, float)
    return f"{100 * value:g} %" if share else str(value)


def parameters(arm: Arm) -> dict[str, Any]:
    """Read what an arm's sampler was given from its first row; empty if the row does not say."""
    rows = folders.read(arm.folder).rows
    mine = rows[(rows["label"] == arm.method) & (rows["dataset"] == arm.dataset)]
    if arm.M is not None:
        mine = mine[mine["M"] == arm.M]
    said = next((text for text in mine["parameters"] if text), "{}")
    try:
        found = json.loads(said)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


FACTS: dict[str, Callable[[Row], str]] = {
    "M": lambda row: size(row.arms),
    "M_0": _pool,
    "N_0/N": _scored,
    "n": _training_rows,
    "n_test": _test_rows,
    "d": _columns,
    "trials": trials,
}


def timing(rows: Sequence[Row]) -> str:
    """Say how the times were taken, in a few words; nothing where there are none."""
    timed = [p for row in rows for p in row.measured if p.cell.number.unit == "s"]
    kinds = {place.shared for place in timed}
    if not kinds:
        return ""
    if kinds == {False}:
        return "timed alone"
    return "shared timing (≤)" if kinds == {True} else "timed alone, or shared (≤)"


def failures(rows: Sequence[Row]) -> list[str]:
    """Say which arms have trials that did not end well."""
    return [
        f"{row.name}, {arm.method} at M = {size([arm])}: {arm.failed} trials did not end well"
        for row in rows
        for arm in row.arms
        if arm.failed
    ]


def regressions(rows: Sequence[Row]) -> list[str]:
    """Say what the error of a regression is."""
    named = {
        row.dataset: place.arm.error_metric()
        for row in rows
        for place in row.measured
        if place.arm and place.cell.number.metric == "error"
    }
    return [
        f"{dataset} is a regression: its error (%) is 100 times the {METRICS[metric]}, our "
        "reading; the paper does not say"
        for dataset, metric in named.items()
        if metric != "error"
    ]
