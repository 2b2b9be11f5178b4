"""Tables in the shape of the papers' own: which measured number stands in which place."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from rfbench import papers
from rfbench.analysis.marks import significant
from rfbench.analysis.paired import Trials
from rfbench.analysis.ranking import BASELINE
from rfbench.analysis.selection import Selection
from rfbench.papers import Layout

Span = tuple[float, float]  # smallest and largest, NaN where nothing is known


@dataclass(frozen=True)
class TableRow:
    """A data set of a paper's table, or what stands in for it, under one protocol."""

    dataset: str  # as the paper calls it
    used: str  # what stands in for it, or ""
    used_rows: float  # its training rows, or NaN
    sizes: list[str]  # of the published numbers, in their order
    cells: pd.DataFrame  # lines of `published` that have a group behind them
    groups: pd.DataFrame  # these groups, each once, with M_low, M_high and given (parameters)
    significant: dict[tuple[str, str], bool | None]  # by method and size, see `marks.significant`

    @cached_property
    def measured(self) -> pd.DataFrame:
        """The cells that have a value."""
        return self.cells[self.cells["trials"] > 0]

    def cell(self, method: str, metric: str, size: str | None = None) -> dict[str, Any] | None:
        """Return the cell of a method and metric, at a size or the first; None if not run."""
        return self._by_place.get((method, metric, size))

    @cached_property
    def _by_place(self) -> dict[tuple[str, str, str | None], dict[str, Any]]:
        places: dict[tuple[str, str, str | None], dict[str, Any]] = {}
        for line in self.cells.to_dict("records"):
            cell = {str(name): value for name, value in line.items()}
            for size in (cell["M"], None):
                places.setdefault((cell["method"], cell["metric"], size), cell)
        return places

    def span(self, name: str) -> Span:
        """Return the range of ``M``, ``n_train``, ``n_test``, ``d`` or ``trials``."""
        if name == "trials":
            values = self.measured["trials"]
            return _span(values) if len(values) or self.groups.empty else (0, 0)
        low, high = ("M_low", "M_high") if name == "M" else (name, name)
        return _span(pd.concat([self.groups[low], self.groups[high]]))

    def sizes_of(self, group: float) -> Span:
        """Return the range of M of one group."""
        return float(self.groups["M_low"][group]), float(self.groups["M_high"][group])

    def given(self, name: str) -> list[Any]:
        """Return the different values of a parameter of the methods that draw from data."""
        every = self.groups.loc[self.groups["sampler"] != BASELINE, "given"]
        values: list[Any] = []
        for given in every:
            if given.get(name) not in values:
                values.append(given.get(name))
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
    layout = papers.tables()[paper, item]
    here = numbers[
        (numbers["paper"] == paper)
        & (numbers["item"] == item)
        & (numbers["protocol"] == protocol)
        & numbers["group"].notna()
    ]
    here = here.assign(
        used=here["used"].where(here["stand_in"], ""),
        used_rows=here["used_rows"].where(here["stand_in"]),
    )
    by = ["dataset", "stand_in", "used", "used_rows"]  # own data come first in the frame
    parts: dict[Any, list[pd.DataFrame]] = {}
    for key, part in here.groupby(by, sort=False, dropna=False):
        parts.setdefault(key[0], []).append(part)
    every = _groups(selection, here["group"].drop_duplicates().astype(int))
    sizes: dict[str, list[str]] = {}
    for one in papers.published():
        if (one.paper, one.item) == (paper, item):
            sizes.setdefault(one.dataset, []).append(one.M)
    found: list[TableRow] = []
    for dataset, printed in sizes.items():
        for part in parts.get(dataset, [here.iloc[:0]]):
            used, used_rows = part[["used", "used_rows"]].iloc[0] if len(part) else ("", np.nan)
            groups = every.loc[part["group"].drop_duplicates().astype(int)]
            marks = _marks(selection, layout, part, groups)
            known = list(dict.fromkeys(printed))
            found.append(TableRow(dataset, used, used_rows, known, part, groups, marks))
    return found


def _groups(selection: Selection, codes: pd.Series[int]) -> pd.DataFrame:
    collection = selection.collection
    groups = collection.groups.loc[codes]
    counted, every = (
        rows[rows["group"].isin(set(codes))] for rows in (collection.counted, collection.rows)
    )
    sizes = counted.groupby("group")["M"].agg(["min", "max"]).reindex(codes)
    texts = every[every["parameters"] != ""].groupby("group")["parameters"].first()
    return groups.assign(
        M_low=groups["M"].fillna(sizes["min"].astype("float64")),
        M_high=groups["M"].fillna(sizes["max"].astype("float64")),
        given=codes.map(texts.map(_given)).tolist(),
    )


def _given(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _marks(
    selection: Selection, layout: Layout, cells: pd.DataFrame, groups: pd.DataFrame
) -> dict[tuple[str, str], bool | None]:
    rule = layout.marks
    if rule is None or cells.empty:
        return {}
    trials = Trials(selection.collection, groups.assign(group=groups.index))
    wanted = cells[(cells["metric"] == rule.metric) & ~cells["method"].isin(rule.baselines)]
    each = wanted[["method", "M", "size"]].itertuples(index=False, name=None)
    return {
        (method, M): significant(trials, method, None if pd.isna(size) else int(size), rule)
        for method, M, size in each
    }


def _span(values: pd.Series[Any]) -> Span:
    return float(values.min()), float(values.max())
