"""The scoreboard: published numbers beside ours, under each protocol.

The rules for verdicts are those of `rfbench.report.rules`, which the help of ``rfbench verify``
shows. How results find their cell:

- A configuration file is called ``<paper>_<item>_<dataset>.<protocol>.yaml``. What counts is in
  it: ``paper``, ``item`` (one or several, ``item: "table3, figure1"``) and ``protocol``, which land
  in the manifest; a folder whose configuration names no paper plays no part.
- The data set is a catalogue name; the paper's `paper.yaml` says which one is the paper's, what
  stands in for it, and of which item ``rows: 5000`` is the paper's own sample. It also says which
  of our times is the printed one, which items and methods are not the paper's, and what else is
  our reading.
- The method is the sampler's label, or its name where no other label has it, so controls need
  labels of their own. Everything under the solver ``joint`` is the method ``joint``.
- M is the number of frequencies; ``best`` is the best of the sizes that were run; for numbers
  without a size it is M as kept by the method, else the largest.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

from rfbench import papers
from rfbench.errors import ResultsError, nearest
from rfbench.papers import PROTOCOLS, Published
from rfbench.report import rules
from rfbench.report.arms import Arm
from rfbench.report.claims import Outcome, evaluate
from rfbench.report.evidence import Evidence, of_method

COLUMNS = (
    "paper", "item", "dataset", "method", "M", "metric", "protocol", "published",
    "published_spread", "measured", "standard_error", "trials", "difference", "verdict",
)  # fmt: skip


@dataclass(frozen=True)
class Cell:
    """A published number and what was measured for it under one protocol.

    `dataset` is what was measured on: the catalogue's name, for a stand-in with its number of
    training rows; `note` says what a reader must know about the measurement.
    """

    number: Published
    protocol: str
    verdict: str
    measured: float = math.nan
    standard_error: float = math.nan
    trials: int = 0
    dataset: str = ""
    stand_in: bool = False
    note: str = ""

    @property
    def difference(self) -> float:
        """Measured less published, in the unit of the number."""
        return self.measured - self.number.value


@dataclass
class Board:
    """Everything that ``rfbench verify`` says.

    Attributes
    ----------
    cells : list of Cell
        Each published number under each protocol.
    stand_ins : list of Cell
        Measurements on stand-ins, not judged.
    outcomes : list of Outcome
        The claims.
    notes : list of str
        What was left out of the results.
    """

    cells: list[Cell]
    stand_ins: list[Cell]
    outcomes: list[Outcome]
    notes: list[str] = field(default_factory=list)

    @property
    def contradicted(self) -> bool:
        """Whether a number differs or a claim fails."""
        return any(cell.verdict == rules.DIFFERS for cell in self.cells) or any(
            outcome.verdict == rules.FAILS for outcome in self.outcomes
        )

    def under(self, protocol: str) -> Board:
        """Return what belongs to one protocol.

        Raises
        ------
        ResultsError
            If there is no such protocol, neither a usual one nor one of the results.
        """
        known = list(dict.fromkeys([*PROTOCOLS, *(cell.protocol for cell in self.cells)]))
        if protocol not in known:
            raise ResultsError(
                f"There is no protocol '{protocol}'.{nearest(protocol, known)}",
                f"The protocols are {', '.join(known)}.",
            )
        return Board(
            [cell for cell in self.cells if cell.protocol == protocol],
            [cell for cell in self.stand_ins if cell.protocol == protocol],
            [outcome for outcome in self.outcomes if outcome.protocol in (protocol, "")],
            self.notes,
        )

    def table(self) -> pd.DataFrame:
        """Return the cells as a table with the documented columns."""
        return pd.DataFrame([_line(cell) for cell in self.cells], columns=list(COLUMNS))


def board(
    evidence: Evidence,
    paper: str | None = None,
    has_data: Callable[[str], bool] | None = None,
) -> Board:
    """Hold the published numbers and the claims against the evidence.

    Parameters
    ----------
    evidence : Evidence
        See `rfbench.report.evidence.gather`.
    paper : str, optional
        Only this one.
    has_data : callable, optional
        Says whether a data set of the catalogue is on this machine; by default
        `rfbench.datasets.on_disk`.

    Raises
    ------
    ResultsError
        If there is no such paper.
    """
    chosen = papers.papers() if paper is None else [papers.check_paper(paper)]
    here = _Presence(has_data)
    groups: dict[tuple[str, str, str], list[Published]] = {}
    for number in papers.published():
        if number.paper in chosen:
            groups.setdefault((number.paper, number.item, number.dataset), []).append(number)
    found = Board([], [], [], list(evidence.notes))
    for (name, item, dataset), numbers in groups.items():
        missing = rules.NOT_RUN if here(name, dataset) else rules.NO_DATA
        extra = [p for p in evidence.protocols(name, [item]) if p not in PROTOCOLS]
        for protocol in [*PROTOCOLS, *extra]:
            own = evidence.select(name, [item], dataset, protocol)
            others = evidence.select(name, [item], dataset, protocol, stand_in=True)
            if own or protocol in PROTOCOLS:
                absent = rules.NOT_RUN if own else missing
                found.cells += [measure(number, protocol, own, absent) for number in numbers]
            for used in dict.fromkeys(map(stand_in_name, others)):
                arms = [arm for arm in others if stand_in_name(arm) == used]
                cells = [measure(number, protocol, arms, missing) for number in numbers]
                found.stand_ins += [
                    replace(cell, dataset=used, stand_in=True, verdict=rules.NO_DATA)
                    for cell in cells
                    if cell.trials
                ]
    wanted = [claim for claim in papers.claims() if claim.paper in chosen]
    found.outcomes = [outcome for claim in wanted for outcome in evaluate(claim, evidence)]
    return found


def stand_in_name(arm: Arm) -> str:
    """Name a stand-in: the data set and, where it is known, its number of training rows."""
    n_train = arm.rows[0]
    return arm.dataset if math.isnan(n_train) else f"{arm.dataset}, {n_train:.0f} training rows"


class _Presence:
    """Says, once a data set, whether it is on this machine."""

    def __init__(self, has_data: Callable[[str], bool] | None) -> None:
        self.has_data = has_data
        self.known: dict[str, bool] = {}

    def __call__(self, paper: str, dataset: str) -> bool:
        name = papers.sources()[paper][dataset].dataset
        if name not in self.known:
            if self.has_data is None:
                from rfbench import datasets

                self.has_data = datasets.on_disk
            self.known[name] = self.has_data(name)
        return self.known[name]


def measure(number: Published, protocol: str, arms: Sequence[Arm], missing: str) -> Cell:
    """Find the arm of a number and judge its mean; the verdict is `missing` if there is none."""
    arm = pick(arms, number)
    if arm is None:
        return Cell(number, protocol, missing)
    metric = papers.paper(number.paper).measured_as.get(number.metric, number.metric)
    values = arm.values(metric)
    values = values[np.isfinite(values)]
    n = len(values)
    if not n:
        said = f"{arm.failed} trials did not end well" if arm.failed else "not measured"
        return Cell(number, protocol, rules.NOT_RUN, dataset=arm.dataset, note=said)
    mean = float(values.mean())
    error = float(values.std(ddof=1)) / math.sqrt(n) if n > 1 else math.nan
    notes = []
    if metric == "error" and arm.error_metric() != "error":
        notes.append(f"100 times {arm.error_metric()}: our reading of the measure")
    if number.M == "best":
        notes.append(f"best at M = {arm.M}, chosen on the test rows: optimistic")
    if arm.failed:
        notes.append(f"{arm.failed} trials did not end well")
    verdict = judge(number, mean, error, n)
    return Cell(number, protocol, verdict, mean, error, n, arm.dataset, note="; ".join(notes))


def pick(arms: Sequence[Arm], number: Published) -> Arm | None:
    """Return the arm of a published number, that with the most trials, or None."""
    arms = of_method(arms, number.method)
    if number.size is not None:
        arms = [arm for arm in arms if number.size == arm.M]
    elif number.M == "best":
        arms = [arm for arm in arms if np.isfinite(arm.values("error")).any()]
        return min(arms, key=lambda arm: float(np.nanmean(arm.values("error"))), default=None)
    else:
        kept = [arm for arm in arms if arm.M is None]
        largest = max((arm.M or 0 for arm in arms), default=0)
        arms = kept or [arm for arm in arms if largest == arm.M]
    return max(arms, key=lambda arm: len(arm.index), default=None)


def judge(number: Published, mean: float, standard_error: float, trials: int) -> str:
    """Return the verdict on a measured mean; the rules are those of `rfbench.report.rules`."""
    if number.unit != "%":
        return rules.NOT_JUDGED
    distance = round(abs(mean - number.value), 9)
    if distance > rules.CLOSE_POINTS:
        return rules.DIFFERS
    wide = interval(number, standard_error, trials)
    if distance <= min(rules.AGREES_POINTS, wide) and wide <= rules.WIDEST_POINTS:
        return rules.AGREES
    return rules.CLOSE


def interval(number: Published, standard_error: float, trials: int) -> float:
    """Return half the width of the 95 % interval of the difference, in points.

    Welch's degrees of freedom, or ours alone where the paper does not state its trials; NaN
    where the published spread is not known or we have fewer than two trials.
    """
    from scipy.special import stdtrit

    theirs = number.standard_error
    if theirs is None or trials < 2:
        return math.nan
    variance, freedom = theirs**2 + standard_error**2, trials - 1.0
    if variance == 0:
        return rules.HALF_A_DIGIT
    if number.trials:
        spread = standard_error**4 / (trials - 1) + theirs**4 / (number.trials - 1)
        freedom = variance**2 / spread
    return float(stdtrit(freedom, 0.975)) * math.sqrt(variance) + rules.HALF_A_DIGIT


def _line(cell: Cell) -> dict[str, object]:
    number, measured = cell.number, cell.trials > 0
    return {
        "paper": number.paper,
        "item": number.item,
        "dataset": number.dataset,
        "method": number.method,
        "M": number.M,
        "metric": number.metric,
        "protocol": cell.protocol,
        "published": number.value,
        "published_spread": number.spread,
        "measured": cell.measured if measured else None,
        "standard_error": cell.standard_error if measured else None,
        "trials": cell.trials,
        "difference": cell.difference if measured else None,
        "verdict": cell.verdict,
    }
