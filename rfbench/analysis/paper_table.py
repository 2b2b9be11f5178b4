"""Tables in the shape of the papers' own: which measured number stands in which place."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pandas as pd

from rfbench import papers
from rfbench.analysis.naming import parameters_of
from rfbench.analysis.published import Line, by_data_set
from rfbench.analysis.selection import Selection
from rfbench.analysis.summary import BASELINE

Span = tuple[float, float]  # smallest and largest, NaN where nothing is known


@dataclass(frozen=True)
class TableRow:
    """A data set of a paper's table, or what stands in for it, under one protocol."""

    dataset: str  # as the paper calls it
    used: str  # what stands in for it, or ""
    used_rows: float  # its training rows, or NaN
    sizes: list[str]  # of the published numbers, in their order
    cells: list[Line]  # lines of `published` that have a group behind them
    groups: dict[Any, Line]  # the lines of `Collection.groups` behind them

    @cached_property
    def measured(self) -> list[Line]:
        """The cells that have a value."""
        return [cell for cell in self.cells if cell["trials"] > 0]

    def cell(self, method: str, metric: str, size: str | None = None) -> Line | None:
        """Return the cell of a method and metric, at a size or the first; None if not run."""
        return self._by_place.get((method, metric, size))

    @cached_property
    def _by_place(self) -> dict[tuple[str, str, str | None], Line]:
        places: dict[tuple[str, str, str | None], Line] = {}
        for cell in self.cells:
            for size in (cell["M"], None):
                places.setdefault((cell["method"], cell["metric"], size), cell)
        return places

    def span(self, name: str) -> Span:
        """Return the range of ``M``, ``n_train``, ``n_test``, ``d`` or ``trials``."""
        if name == "trials":
            values = [cell["trials"] for cell in self.measured]
            return _span(values) if values or not self.groups else (0, 0)
        names = ("M_low", "M_high") if name == "M" else (name,)
        return _span([group[each] for group in self.groups.values() for each in names])

    def sizes_of(self, group: int) -> Span:
        """Return the range of M of one group."""
        return self.groups[group]["M_low"], self.groups[group]["M_high"]

    def given(self, name: str) -> list[Any]:
        """Return the different values of a parameter of the methods that draw from data."""
        values: list[Any] = []
        for group in self.groups.values():
            value = parameters_of(group["parameters"]).get(name)
            if group["sampler"] != BASELINE and value not in values:
                values.append(value)
        return values


def rows(
    selection: Selection, numbers: pd.DataFrame, paper: str, item: str, protocol: str
) -> list[TableRow]:
    """Return the rows of a table under one protocol, a stand-in at the place of its data set.

    Parameters
    ----------
    numbers : DataFrame
        See `rfbench.analysis.published.published`.
    """
    here = numbers[
        (numbers["paper"] == paper)
        & (numbers["item"] == item)
        & (numbers["protocol"] == protocol)
        & numbers["group"].notna()
    ].astype({"group": int})
    groups = selection.collection.groups.loc[here["group"].unique()].to_dict("index")
    parts = by_data_set(here)
    sizes: dict[str, list[str]] = {}
    for entry in papers.published():
        if (entry.paper, entry.item) == (paper, item):
            sizes.setdefault(entry.dataset, []).append(entry.M)
    table_rows: list[TableRow] = []
    for dataset, printed in sizes.items():
        for cells in parts.get((paper, item, dataset), [[]]):
            used, used_rows = (cells[0]["used"], cells[0]["used_rows"]) if cells else ("", math.nan)
            behind = {cell["group"]: groups[cell["group"]] for cell in cells}
            sizes_printed = list(dict.fromkeys(printed))
            table_rows.append(TableRow(dataset, used, used_rows, sizes_printed, cells, behind))
    return table_rows


def _span(values: list[float]) -> Span:
    series = pd.Series(values, dtype="float64")
    return float(series.min()), float(series.max())
