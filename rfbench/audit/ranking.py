"""Combinations by their distance to the published row."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from rfbench import papers
from rfbench.analysis import frame, verdicts
from rfbench.analysis.published import published
from rfbench.analysis.selection import Selection
from rfbench.audit.plan import Audit
from rfbench.audit.target import Target
from rfbench.errors import ResultsError
from rfbench.experiment.plan import plan
from rfbench.results import Results
from rfbench.results.maintenance import rows_of

DISTANCE = "%.6g"  # in a table; what is then equal is a tie
POOLED_PART = 10  # the nearest tenth
LEAST_POOLED = 5
VERDICTS = {"agree": verdicts.AGREES, "close": verdicts.CLOSE, "differ": verdicts.DIFFERS}


@dataclass(frozen=True)
class Ranking:
    """The combinations of an audit in the order of their distance on the choosing half.

    Attributes
    ----------
    audit : Audit
    cells : DataFrame
        One line per combination and published number that was measured: ``combination`` and
        ``number``, places in the audit's `grid` and in the target's numbers, and the columns of
        `rfbench.analysis.published.published` (differences in points).
    in_folder : int
        The number of combinations that the folder holds trials of, those of earlier audits too.
        Combinations that measure the same, but are read by another metric, share their trials: so
        the folder may seem to hold fewer than this audit has.
    """

    audit: Audit
    cells: pd.DataFrame
    in_folder: int = 0

    @property
    def target(self) -> Target:
        """The published row."""
        return self.audit.target

    @property
    def tried(self) -> int:
        """The number of combinations of this audit."""
        return len(self.audit.experiments)

    @property
    def incomplete(self) -> int:
        """The number of combinations that lack a number: not run yet, or failed."""
        return self.tried - len(self.table)

    @cached_property
    def stand_in(self) -> pd.Series[Any] | None:
        """The first cell whose data are a subset or replacement of the paper's, if there is one."""
        found = self.cells[self.cells["stand_in"]]
        return next((cell for _, cell in found.iterrows()), None)

    @cached_property
    def table(self) -> pd.DataFrame:
        """One line per combination that has all numbers, the nearest first; ties in their order.

        The index is the combination. Columns: ``place`` (from 1; those that are equally near share
        one), the option of each choice, ``rms_choosing`` and ``rms_confirming`` (root mean square
        differences of the halves in points, NaN where there is none), ``largest_difference`` of
        all, ``cells``, ``agree``, ``close`` and ``differ`` (numbers by their verdict, the rest is
        not clear; empty on a stand-in), ``trials`` (the smallest number behind a cell), ``tried``.
        """
        choosing, confirming = self.target.halves()
        gaps = self._wide("difference").dropna()
        table = self.audit.grid.loc[gaps.index]
        table.insert(0, "place", 0)
        table["rms_choosing"] = _rms(gaps[choosing])
        table["rms_confirming"] = _rms(gaps[confirming])
        table["largest_difference"] = gaps.abs().max(axis=1)
        table["cells"] = len(self.target.numbers)
        judged = self._wide("verdict").loc[gaps.index]
        for name, verdict in VERDICTS.items():
            table[name] = pd.NA if self.stand_in is not None else (judged == verdict).sum(axis=1)
        table["trials"] = self._wide("trials").loc[gaps.index].min(axis=1).astype(int)
        table["tried"] = max(self.tried, self.in_folder)
        table["place"] = _places(table["rms_choosing"])
        return table.sort_values("place", kind="stable")

    def _wide(self, column: str) -> pd.DataFrame:
        """Return a column of the cells, one line per combination, one column per number."""
        wide = self.cells.pivot(index="combination", columns="number", values=column)
        return pd.DataFrame(wide, columns=range(len(self.target.numbers)))

    @property
    def first(self) -> pd.DataFrame:
        """The lines that share the first place."""
        return pd.DataFrame(self.table[self.table["place"] == 1])

    @property
    def cells_of_first(self) -> pd.DataFrame:
        """The cells of the first combination in the order of the numbers.

        With ``chose``, whether the number is of the half that chooses.
        """
        cells = self.cells[self.cells["combination"] == self.table.index[0]].sort_values("number")
        return pd.DataFrame(cells).assign(chose=cells["number"].isin(self.target.halves()[0]))

    @property
    def as_it_stands(self) -> pd.Series[Any] | None:
        """The line of the configuration itself, if it has one."""
        own = self.audit.as_it_stands
        return next((line for place, line in self.table.iterrows() if place == own), None)

    @property
    def pooled(self) -> int:
        """The number of nearest combinations whose standard errors count for the noise."""
        return min(len(self.table), max(LEAST_POOLED, len(self.table) // POOLED_PART))

    @cached_property
    def noise(self) -> float:
        """The distance that the spread alone gives the right one on the choosing half, in points.

        The root mean square of the standard errors of the differences, theirs and ours; NaN where
        a spread is not known. Ours is the median over the nearest combinations: a few trials of
        one tell little, and the first one has been picked; far ones may scatter as the right one
        never would.
        """
        choosing, _ = self.target.halves()
        nearest = self.table.index[: self.pooled]
        theirs = _rms(self._wide("published_error").loc[nearest, choosing])
        ours = _rms(self._wide("standard_error").loc[nearest, choosing])
        return float(np.hypot(theirs.iloc[0], ours.median()))

    @property
    def within_noise(self) -> int:
        """The number of combinations that are no farther than the noise on the choosing half."""
        return int((self.table["rms_choosing"] <= self.noise).sum())

    @property
    def places_confirmed(self) -> tuple[int, int] | None:
        """The first and the last place on the confirming half of those that share the first.

        None where nothing confirms.
        """
        if self.table["rms_confirming"].isna().any():
            return None
        places = _places(self.table["rms_confirming"])[self.table["place"] == 1]
        return int(places.min()), int(places.max())

    @property
    def correlation(self) -> float:
        """Spearman's rank correlation of the two halves; NaN where one has a single place."""
        halves = self.table["rms_choosing"], self.table["rms_confirming"]
        if len(self.table) < 3 or halves[1].isna().any():
            return math.nan
        choosing, confirming = map(_places, halves)
        if choosing.nunique() == 1 or confirming.nunique() == 1:
            return math.nan
        return float(choosing.corr(confirming, method="spearman"))

    def worth(self) -> pd.DataFrame:
        """Return what each option of a choice is worth: the nearest combinations that have it.

        One line per option that was tried, idle choices left out: ``choice``, ``option``,
        ``chosen``, ``low`` and ``high`` (what confirms, smallest and largest), ``place``.
        """
        parts = [pd.DataFrame()]
        for name in [name for name in self.audit.varied if name not in self.audit.idle]:
            best = self.table.groupby(name)["place"].transform("min")
            part = (
                self.table[self.table["place"] == best]
                .groupby(name)
                .agg(
                    chosen=("rms_choosing", "first"),
                    low=("rms_confirming", "min"),
                    high=("rms_confirming", "max"),
                    place=("place", "first"),
                )
            )
            order = [option for option in self.audit.choices[name] if option in part.index]
            part = part.loc[order].rename_axis("option").reset_index()
            parts.append(part.assign(choice=name))
        return pd.concat(parts, ignore_index=True)


def rank(audit: Audit, results: Results) -> Ranking:
    """Hold every combination against the target.

    Parameters
    ----------
    audit : Audit
    results : Results
        The folder that the audit's trials were run into.
    """
    return Ranking(audit, measured(audit, results), tried_in(results.folder))


def measured(audit: Audit, results: Results) -> pd.DataFrame:
    """Return the cells of every combination, see `Ranking`.

    To `rfbench.analysis` each combination is a protocol of its own; so one trial may serve
    several of them.
    """
    target = audit.target
    by_id = results.rows.set_index("trial_id", drop=False)
    each = []
    for i, experiment in enumerate(audit.experiments):
        ids = [trial.id for trial in plan(experiment)]
        rows = by_id.loc[by_id.index.intersection(ids)].reset_index(drop=True)
        config = experiment.model_dump(mode="json", include={"paper", "metric", "M"})
        config["item"] = ",".join(target.items)
        if len(rows):
            rows = rows.assign(protocol=str(i), variant="")
            each.append(Results(results.folder, results.name, rows, {"config": config}))
    cells = published(Selection(frame.of(each)), target.paper)
    every = list(papers.published())
    places = {every.index(number): i for i, number in enumerate(target.numbers)}
    cells = cells[cells["number"].isin(places) & cells["measured"].notna()]
    cells = cells.assign(
        number=cells["number"].map(places), combination=cells["protocol"].astype(int)
    )
    cells = cells.sort_values("stand_in", kind="stable")  # the paper's own data come first
    return cells.drop_duplicates(["combination", "number"], ignore_index=True)


def tried_in(folder: Path) -> int:
    """Return the number of combinations whose trials a folder holds; 0 without a table.

    They differ in what they set for the audit, or in what was set for all of one audit: then the
    same label has several settings.
    """
    try:
        # As written: in `Results` a row names no setting of another sampler.
        rows = pd.DataFrame(rows_of(folder))
    except ResultsError:
        return 0
    settings = rows[rows["variant"] != ""].groupby(["variant", "label"])["setting"].nunique()
    return int(settings.groupby("variant").max().sum())


def _places(distances: pd.Series[float]) -> pd.Series[int]:
    """Return one more than the number of smaller distances, for each."""
    rounded = distances.map(lambda distance: float(DISTANCE % distance))
    return rounded.rank(method="min").astype(int)


def _rms(values: pd.DataFrame) -> pd.Series[float]:
    """Return the root mean square of each line, NaN with a value that is not known or none."""
    return (values**2).mean(axis=1, skipna=False).astype(float) ** 0.5
