"""The search within a budget: small sizes first, each bandwidth and penalty by cross-validation."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from rfbench import config, results, yamlfile
from rfbench.config import Experiment
from rfbench.experiment import runner
from rfbench.experiment.plan import Trial
from rfbench.experiment.run_plan import RunPlan, plan_run
from rfbench.experiment.trial import BANDWIDTHS_TRIED
from rfbench.experiment.worker import Limits
from rfbench.results.schema import COLUMNS

PLAIN = "rks"
# Those of the page on methods that are best, or cost nothing more than plain features.
METHODS: dict[str, dict[str, Any]] = {
    "rks": {},
    "orf": {},
    "qmc": {"sequence": "sobol", "scramble": True},
    "nystroem": {"landmarks": "uniform"},
    "svd": {"base_size": "4*M"},
    "eerf": {"pool_size": "10*M", "score_rows": 1.0, "center_target": True},
}
ALPHAS = [10.0**power for power in range(-8, 5)]
# Of the bandwidth and the penalty of the size before; of the median, and `ALPHAS`, at the first.
# The likely ones come first: where time is short, they are all that is tried.
FIRST_FACTORS = (1.0, 0.5, 2.0, 0.25, 4.0)
FACTORS, FINE_FACTORS, FINE_FROM = (1.0, 0.5, 2.0), (1.0, 0.7, 1.4), 400
ALPHA_FACTORS = (0.1, 1.0, 10.0)
FIRST_SIZE, LARGEST_SIZE = 50, 6400
STEPS = (2.0, 1.5)  # from size to size: the first for which there is time
COMPARED_FROM = 200
# How many methods go on to the second size, the third, ...; plain features go on beside them.
SURVIVORS = (5, 4, 3, 2, 2, 1)
# Time grows as a power of M, from features alone to Cholesky factors.
LEAST_POWER, USUAL_POWER, MOST_POWER = 1.0, 2.0, 3.0
# What the measurements after the search take, in fits with cross-validation of what was chosen.
CHECK_FITS = 2.0
TIMES = ["t_pp", "t_features", "t_train", "t_test"]

Rows = pd.DataFrame


@dataclass
class Runs:
    """Experiments on one data set that land, one after the other, in one results folder."""

    folder: Path
    shared: Mapping[str, Any]  # the keys of a configuration that all of them have
    n_jobs: int
    limits: Limits
    on_row: Callable[[dict[str, Any]], None] | None = None  # called with each new row
    _experiments: list[Experiment] = field(default_factory=list)
    _planned: list[Trial] = field(default_factory=list)

    def experiment(self, label: str, M: int, **keys: Any) -> Experiment:
        """Return the experiment of a method of `METHODS`, or of a sampler given as a mapping."""
        sampler = keys.pop("sampler", None) or {label: {**METHODS[label], "label": label}}
        document = {**self.shared, "samplers": [sampler], "M": M, **keys}
        source = yamlfile.Document(document, self.folder.name)
        return config.from_document(source, self.folder.name)

    def run(self, experiments: Sequence[Experiment], phase: str, deadline: float) -> Rows:
        """Run what is missing, until a moment of `time.monotonic`; return the rows there are.

        A trial that is running then is ended, and its row says ``timeout``.
        """
        now = plan_run(experiments, self.folder, variants=[f"phase={phase}"] * len(experiments))
        self._experiments += experiments
        self._planned += now.trials
        trials = sorted(now.trials, key=lambda trial: trial.number)
        plan = RunPlan(self.folder, self._experiments, trials, self._planned)
        limits = replace(self.limits, deadline=deadline)
        ran = runner.run(
            plan, n_jobs=self.n_jobs, limits=limits, retry=["timeout"], on_row=self.on_row
        )
        if not ran.found + ran.done:
            return pd.DataFrame(columns=list(COLUMNS))
        rows = results.read(self.folder).rows
        return rows[rows["trial_id"].isin({trial.id for trial in trials})]


@dataclass
class Search:
    """From small to large sizes as long as there is time, with ever fewer methods."""

    runs: Runs
    n_train: int
    deadline: float  # in the seconds of `time.monotonic`
    # One line per method, size and bandwidths that were fitted.
    rows: Rows = field(default_factory=pd.DataFrame)
    # Methods that failed or were too slow: their size and status. Those that others were better
    # than are not among them.
    dropped: dict[str, tuple[int, str]] = field(default_factory=dict)
    # Why it went no further: ``budget``, ``rows`` (as many features as rows) or ``flat``.
    stopped: str = ""
    overhead: float = 0.0  # seconds of a trial beside those in its row

    def first_stage(self, median: float) -> list[Experiment]:
        """Return the experiments of all methods at the first size."""
        grid = [median * factor for factor in FIRST_FACTORS]
        size = first_size(self.n_train)
        return [self._tuned(n, size, grid, ALPHAS, widen=True) for n in METHODS]

    def go_on(self, first: Rows) -> None:
        """Search on from the rows of the first size."""
        self.rows = first.iloc[:0]
        self._take(first)
        size, largest = first_size(self.n_train), min(self.n_train, LARGEST_SIZE)
        for count in itertools.chain(SURVIVORS, itertools.repeat(SURVIVORS[-1])):
            self.stopped = "rows" if size >= largest else "flat" if self._flat(size) else ""
            if self.stopped:
                return
            alive = [*self._ranked(size)[:count], PLAIN]
            for step in STEPS:
                larger = min(round(step * size), largest)
                if wanted := self._affordable(alive, larger):
                    break
            else:
                self.stopped = "budget"
                return
            self.dropped |= {n: (larger, "slow") for n in alive if n not in (*wanted, PLAIN)}
            size, begun = larger, time.monotonic()
            rows = self.runs.run(self._experiments(wanted, size), "search", self.deadline)
            beside = (time.monotonic() - begun) * self.runs.n_jobs - seconds(rows).sum()
            self.overhead = max(0.0, beside / max(1, len(rows)))
            self._take(rows)
            if not (self.rows["M"] == size).any():
                self.stopped = "budget"
                return

    def best(self, label: str | None = None) -> pd.Series[Any]:
        """Return the row with the smallest loss on the rows that choose, of a method or of all."""
        rows = self.rows if label is None else self.rows[self.rows["label"] == label]
        return rows.iloc[int(rows["selection_loss"].argmin())]

    def at(self, label: str, size: int | None = None) -> pd.Series[Any]:
        """Return a method's best row at a size; of none there, at its largest."""
        rows = self.rows[self.rows["label"] == label]
        there = rows[rows["M"] == (rows["M"].max() if size is None else size)]
        if there.empty:
            return self.at(label)
        return there.iloc[int(there["selection_loss"].argmin())]

    def _take(self, rows: Rows) -> None:
        """Add the rows of a stage; a method of which none came to its end is dropped."""
        good = rows[rows["status"] == "ok"]
        for label, M, status in rows[["label", "M", "status"]].itertuples(index=False):
            if label != PLAIN and label not in set(good["label"]):
                self.dropped[label] = int(M), status
        self.rows = pd.concat([self.rows, good])

    def _ranked(self, size: int) -> list[str]:
        """Return the methods at a size but plain features, those with the smallest loss first.

        From `COMPARED_FROM` on without those for which some method, of any size, has a smaller loss
        in half the time. At smaller sizes the ranks still change, and little time is lost.
        """
        rows = self.rows[(self.rows["M"] == size) & (self.rows["label"] != PLAIN)]
        order = rows.groupby("label")["selection_loss"].min().sort_values()
        return [str(n) for n, loss in order.items() if not self._dominated(str(n), size, loss)]

    def _dominated(self, label: str, size: int, loss: float) -> bool:
        if size < COMPARED_FROM:
            return False
        better = self.rows[self.rows["selection_loss"] < loss]
        return bool((_each(better) < 0.5 * self.seconds(label, size)).any())

    def seconds(self, label: str, size: int) -> float:
        """Return what a fit with one bandwidth ought to take at a size."""
        rows = self.rows[self.rows["label"] == label]
        each = _each(rows).groupby(rows["M"]).mean()
        power, last = USUAL_POWER, each.index[-1]
        if len(each) > 1:
            power = float(np.log(each.iloc[-1] / each.iloc[-2]) / np.log(last / each.index[-2]))
        power = float(np.clip(power, LEAST_POWER, MOST_POWER))
        return float(each.iloc[-1] * (size / last) ** power)

    def _flat(self, size: int) -> bool:
        """Tell whether two doublings were worth less than a hundredth to those still there."""
        there = self.rows[self.rows["label"].isin(self.rows.loc[self.rows["M"] == size, "label"])]
        least = there.groupby("M")["selection_loss"].min()
        return size // 4 in least.index and float(least[size]) > 0.99 * float(least[size // 4])

    def _affordable(self, labels: Sequence[str], size: int) -> dict[str, list[float]]:
        """Return the bandwidths for which there is time at a size, and for what comes after it.

        The best method comes first, with all its bandwidths; plain features and the others follow.
        """
        wanted: dict[str, list[float]] = {}
        left, spent = self.deadline - time.monotonic(), 0.0
        for label in labels:
            each = self.seconds(label, size) + self.overhead
            for factor in FACTORS if size < FINE_FROM else FINE_FACTORS:
                longest = max((spent + each) / self.runs.n_jobs, each)
                if longest + CHECK_FITS * each > left:
                    break
                spent += each
                wanted.setdefault(label, []).append(self.at(label)["bandwidth"] * factor)
        # Plain features alone would be no search, unless nothing else is left.
        return wanted if set(wanted) - {PLAIN} or list(labels) == [PLAIN] else {}

    def _experiments(self, wanted: Mapping[str, Sequence[float]], size: int) -> list[Experiment]:
        """Return the experiments of a stage, the longest first and in pieces to be shared out."""
        made = []
        for label in sorted(wanted, key=lambda label: -self.seconds(label, size)):
            grid = wanted[label]
            alphas = [self.at(label)["alpha"] * factor for factor in ALPHA_FACTORS]
            pieces = [grid] if size < FINE_FROM else [[value] for value in grid]
            made += [self._tuned(label, size, piece, alphas) for piece in pieces]
        return made

    def _tuned(
        self,
        label: str,
        size: int,
        grid: Sequence[float],
        alphas: Sequence[float],
        *,
        widen: bool = False,
    ) -> Experiment:
        """Return an experiment; grids around the best of the size before move without widening."""
        return self.runs.experiment(
            label,
            size,
            bandwidth={"cv": [rounded(value) for value in grid], "widen": widen},
            solver={"alphas": [rounded(value) for value in alphas], "selection": "cv5"},
        )


def first_size(n_train: int) -> int:
    """Return the smallest number of features that is tried."""
    return min(FIRST_SIZE, n_train)


def seconds(rows: Rows) -> pd.Series[float]:
    """Return what the trials took; 0 of those that came to no end."""
    return rows[TIMES].sum(axis=1)


def _each(rows: Rows) -> pd.Series[float]:
    """Return the seconds of a fit with one bandwidth: of several, the best is fitted again."""
    listed = rows["bandwidth_rule"].str.count(",") + 1
    tried = rows["message"].str.extract(rf"(\d+) {BANDWIDTHS_TRIED}", expand=False).astype(float)
    count = tried.where(tried.notna(), listed.astype(float))
    return seconds(rows).clip(lower=1e-6) / (count + (count > 1))


def rounded(value: float) -> float:
    """Return four digits: what is chosen is read and written by people."""
    return float(f"{value:.4g}")
