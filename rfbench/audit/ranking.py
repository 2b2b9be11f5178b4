"""Combinations by their distance to the published row."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from rfbench.audit.choices import Combination, Option
from rfbench.audit.plan import Audit, Tried
from rfbench.audit.target import Target
from rfbench.errors import ResultsError
from rfbench.experiment.plan import plan
from rfbench.report import rules
from rfbench.report.arms import Arm
from rfbench.report.evidence import arms_of, split_name, standing
from rfbench.report.verify import Cell, measure, stand_in_name
from rfbench.results import Results
from rfbench.results.maintenance import rows_of

DISTANCE = "%.6g"  # as the table has it
POOLED_PART = 10  # the nearest tenth
LEAST_POOLED = 5


@dataclass(frozen=True)
class Placed:
    """A combination with what it gave.

    Attributes
    ----------
    cells : tuple of Cell
        One a number of the target, in its order.
    choosing, confirming : float
        Root mean square difference, in points, of the half of the numbers that chooses and of
        the other one; NaN where there is none.
    """

    combination: Combination
    cells: tuple[Cell, ...]
    choosing: float
    confirming: float

    @property
    def largest(self) -> float:
        """The largest difference of all, in points."""
        return max(abs(cell.difference) for cell in self.cells)

    @property
    def trials(self) -> int:
        """The smallest number of trials behind a cell."""
        return min(cell.trials for cell in self.cells)

    def verdicts(self, verdict: str) -> int:
        """Return the number of cells with a verdict."""
        return sum(cell.verdict == verdict for cell in self.cells)


@dataclass
class Ranking:
    """The combinations of an audit in the order of their distance on the choosing half.

    Attributes
    ----------
    audit : Audit
    placed : list of Placed
        Of those that are equally near, the ones with earlier options come first.
    incomplete : int
        Combinations that lack a cell: not run yet, or failed.
    stand_in : str
        Name of the data where they are a subset or replacement of the paper's; else empty.
    absent : list of str
        The options that no combination had that was tried.
    in_folder : int
        The number of combinations that the folder holds trials of, those of earlier audits too.
    """

    audit: Audit
    placed: list[Placed]
    incomplete: int = 0
    stand_in: str = ""
    absent: list[str] = field(default_factory=list)
    in_folder: int = 0

    @property
    def target(self) -> Target:
        """The published row."""
        return self.audit.target

    @property
    def tried(self) -> int:
        """The number of combinations of this audit."""
        return len(self.placed) + self.incomplete

    @property
    def tried_in_all(self) -> int:
        """The number of combinations of this audit and of earlier ones in the folder.

        Combinations that measure the same, but are read by another metric, share their trials: so
        the folder may seem to hold fewer than this audit has.
        """
        return max(self.tried, self.in_folder)

    @property
    def pooled(self) -> int:
        """The number of nearest combinations whose standard errors count for the noise."""
        return min(len(self.placed), max(LEAST_POOLED, len(self.placed) // POOLED_PART))

    @property
    def noise(self) -> float:
        """The distance that the spread alone gives the right one on the choosing half, in points.

        The root mean square of the standard errors of the differences, theirs and ours; NaN where
        a spread is not known. Ours is the median over the nearest combinations: a few trials of
        one tell little, and the first one has been picked; far ones may scatter as the right one
        never would.
        """
        choosing, _ = self.target.halves()
        cells = [self.placed[0].cells[i] for i in choosing]
        known = [cell.number.standard_error for cell in cells]
        theirs = np.array([np.nan if error is None else error for error in known])
        nearest = self.placed[: self.pooled]
        errors = [[placed.cells[i].standard_error for i in choosing] for placed in nearest]
        ours = np.array([_rms(np.array(row)) for row in errors])
        ours = ours[~np.isnan(ours)]
        if not len(ours):
            return math.nan
        return float(np.hypot(_rms(theirs), np.median(ours)))

    @property
    def within_noise(self) -> int:
        """The number of combinations that are no farther than the noise on the choosing half."""
        noise = self.noise
        return sum(placed.choosing <= noise for placed in self.placed)

    @property
    def places(self) -> list[int]:
        """The place of each combination, from 1; those that are equally near share one."""
        return _places([placed.choosing for placed in self.placed])

    @property
    def first(self) -> list[Placed]:
        """The combinations that share the first place."""
        return self._equally_near(self.placed[0], self.placed)

    @property
    def places_confirmed(self) -> tuple[int, int] | None:
        """The first and the last place of those on the confirming half, None where there is none.

        Of the combinations that share the first place on the choosing half.
        """
        confirming = [placed.confirming for placed in self.placed]
        if math.isnan(confirming[0]):
            return None
        places = _places(confirming)[: len(self.first)]
        return min(places), max(places)

    @property
    def correlation(self) -> float:
        """Spearman's rank correlation of the two halves; NaN where one has a single place."""
        from scipy.stats import spearmanr

        confirming = [placed.confirming for placed in self.placed]
        halves = self.places, _places(confirming)
        if len(confirming) < 3 or any(map(math.isnan, confirming)):
            return math.nan
        if any(len(set(places)) == 1 for places in halves):
            return math.nan
        return float(spearmanr(*halves).statistic)

    def nearest_with(self, option: Option) -> list[Placed]:
        """Return the nearest combinations that have this option; several if equally near."""
        having = [placed for placed in self.placed if option in placed.combination]
        return self._equally_near(having[0], having) if having else []

    def place_of(self, combination: Combination) -> int:
        """Return the place of a combination; 0 if it has none."""
        places = zip(self.placed, self.places, strict=True)
        return next((place for placed, place in places if placed.combination == combination), 0)

    def _equally_near(self, one: Placed, among: Sequence[Placed]) -> list[Placed]:
        return [other for other in among if _digits(other.choosing) == _digits(one.choosing)]


def rank(audit: Audit, results: Results) -> Ranking:
    """Hold every combination against the target.

    Parameters
    ----------
    audit : Audit
    results : Results
        The folder that the audit's trials were run into.

    Raises
    ------
    ConfigError
        If the configuration's data set is neither the target's nor a stand-in for it.
    """
    choosing, confirming = audit.target.halves()
    by_id = results.rows.set_index("trial_id", drop=False)
    ranking = Ranking(audit, [], absent=_absent(audit))
    ranking.in_folder = tried_in(results.folder)
    for tried in audit.tried:
        arms = _arms(tried, by_id, results)
        cells = [measure(number, "", arms, rules.NOT_RUN) for number in audit.target.numbers]
        if any(not cell.trials or math.isnan(cell.difference) for cell in cells):
            ranking.incomplete += 1
            continue
        ranking.stand_in = _stand_in(audit.target, arms)
        gaps = np.array([cell.difference for cell in cells])
        ranking.placed.append(
            Placed(tried.combination, tuple(cells), _rms(gaps[choosing]), _rms(gaps[confirming]))
        )
    ranking.placed.sort(key=lambda placed: _digits(placed.choosing))  # stable: ties stay in order
    return ranking


def tried_in(folder: Path) -> int:
    """Return the number of combinations whose trials a folder holds; 0 without a table.

    They differ in what they set for the audit, or in what was set for all of one audit: then the
    same label has several settings.
    """
    try:
        # As written: in `Results` a row names no setting of another sampler.
        rows = pd.DataFrame(rows_of(folder))
        rows = rows[rows["variant"] != ""]
        settings = rows.groupby(["variant", "label"])["setting"].nunique()
    except ResultsError:
        return 0
    return int(settings.groupby("variant").max().sum())


def _absent(audit: Audit) -> list[str]:
    had = {
        (choice.name, option.name)
        for tried in audit.tried
        for choice, option in zip(audit.choices, tried.combination, strict=True)
    }
    return [
        f"{choice.name} {option.name}"
        for choice in audit.choices
        for option in choice.options
        if (choice.name, option.name) not in had
    ]


def _arms(tried: Tried, by_id: pd.DataFrame, results: Results) -> list[Arm]:
    ids = [trial.id for trial in plan(tried.experiment)]
    rows = by_id.loc[by_id.index.intersection(ids)].reset_index(drop=True)
    if rows.empty:
        return []
    config = tried.experiment.model_dump(mode="json")
    return arms_of(Results(results.folder, results.name, rows, {"config": config}), rows, [])


def _stand_in(target: Target, arms: Sequence[Arm]) -> str:
    """Return the name of the data where they are not the paper's own."""
    for arm in arms:
        target.check_data(split_name(arm.dataset)[0])
        if standing(target.source, target.items[0], arm):
            return stand_in_name(arm)
    return ""


def _digits(distance: float) -> float:
    """Return a distance with the digits that the table has: what is then equal is a tie."""
    return float(DISTANCE % distance)


def _places(distances: Sequence[float]) -> list[int]:
    """Return one more than the number of smaller distances, for each."""
    rounded = np.array([_digits(distance) for distance in distances])
    return [1 + int(smaller) for smaller in np.searchsorted(np.sort(rounded), rounded)]


def _rms(gaps: NDArray[np.float64]) -> float:
    return float(np.sqrt(np.mean(gaps**2))) if len(gaps) else math.nan
