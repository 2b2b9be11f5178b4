"""The search within a budget: small sizes first, each bandwidth and penalty by cross-validation."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from rfbench import config, results, yamlfile
from rfbench.config import Experiment
from rfbench.experiment import runner
from rfbench.experiment.plan import Trial
from rfbench.experiment.run_plan import RunPlan, plan_run
from rfbench.experiment.worker import Limits

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
MULTIPLES = (0.25, 0.5, 1.0, 2.0, 4.0)
ALPHAS = [10.0**power for power in range(-8, 5)]
FIRST_SIZE, LARGEST_SIZE = 50, 6400
# How many methods go on to the second size, the third, ...; plain features go on beside them.
SURVIVORS = (6, 4, 3, 2)
# Twice the features take at most about so many times the time: between M and M^3.
GROWTH = 5.0
# What is left of the budget for the check on the rows that are held out.
SEARCH_SHARE = 0.7
TIMES = ["t_pp", "t_features", "t_train", "t_test"]

Rows = pd.DataFrame


@dataclass
class Runs:
    """Experiments on one data set that land, one after the other, in one results folder.

    Attributes
    ----------
    shared : mapping
        The keys of a configuration that all of them have.
    on_row : callable, optional
        Called with each new row.
    """

    folder: Path
    shared: Mapping[str, Any]
    n_jobs: int
    limits: Limits
    on_row: Callable[[dict[str, Any]], None] | None = None
    _experiments: list[Experiment] = field(default_factory=list)
    _planned: list[Trial] = field(default_factory=list)

    def experiment(self, label: str, M: int, **keys: Any) -> Experiment:
        """Return the experiment of a method of `METHODS`, or of a sampler given as a mapping."""
        sampler = keys.pop("sampler", None) or {label: {
            **METHODS[label], "label": label,
        }}  # fmt: skip
        document = {**self.shared, "samplers": [sampler], "M": M, **keys}
        source = yamlfile.Document(document, self.folder.name)
        return config.from_document(source, self.folder.name, allow_imports=True)

    def run(self, experiments: Sequence[Experiment], phase: str) -> Rows:
        """Run what is missing and return the rows of these experiments."""
        now = plan_run(experiments, self.folder, variants=[f"phase={phase}"] * len(experiments))
        self._experiments += experiments
        self._planned += now.trials
        plan = RunPlan(self.folder, self._experiments, now.trials, self._planned)
        runner.run(plan, n_jobs=self.n_jobs, limits=self.limits, on_row=self.on_row)
        rows = results.read(self.folder).rows
        return rows[rows["trial_id"].isin({trial.id for trial in now.trials})]


@dataclass
class Search:
    """What the search has seen, and how far each method got.

    Attributes
    ----------
    rows : DataFrame
        One line per method and size that was fitted.
    stopped : str
        Why it went no further: ``budget``, ``rows`` (as many features as rows) or ``flat``.
    """

    rows: Rows
    stopped: str

    def best(self, label: str | None = None) -> pd.Series[Any]:
        """Return the row with the smallest loss on the rows that choose, of a method or of all."""
        rows = self.rows if label is None else self.rows[self.rows["label"] == label]
        return rows.iloc[int(rows["selection_loss"].argmin())]


def search(runs: Runs, first: Rows, median: float, n_train: int, deadline: float) -> Search:
    """Go from small to large sizes as long as there is time, with ever fewer methods.

    Parameters
    ----------
    first : DataFrame
        The row of plain features at the first size, see `first_size`.
    median : float
        The middle of the first bandwidths.
    deadline : float
        In the seconds of `time.monotonic`.
    """
    known, alive = first, [name for name in METHODS if name != PLAIN]
    size, stopped, stages = first_size(n_train), "rows", iter([*SURVIVORS, *[SURVIVORS[-1]] * 20])
    last: dict[str, float] = dict.fromkeys(METHODS, GROWTH * seconds(first).iloc[0])
    while True:
        wanted = [
            name
            for name in (*alive, PLAIN)
            if not ((known["label"] == name) & (known["M"] == size)).any()
        ]
        affordable = list(_affordable(wanted, last, runs.n_jobs, deadline))
        if affordable:
            rows = runs.run([tuned(runs, n, size, median, known) for n in affordable], "search")
            known = pd.concat([known, rows[rows["status"] == "ok"]])
            last |= dict(zip(rows["label"], GROWTH * seconds(rows), strict=True))
        here = known[known["M"] == size].set_index("label")["selection_loss"].sort_values()
        alive = [name for name in here.index if name != PLAIN][: next(stages)]
        if len(affordable) < len(wanted):
            stopped = "budget"
        if not affordable or not alive:
            break
        if _flat(known, size):
            stopped = "flat"
            break
        if 2 * size > min(n_train, LARGEST_SIZE):
            break
        size *= 2
    return Search(known, stopped)


def first_size(n_train: int) -> int:
    """Return the smallest number of features that is tried."""
    return min(FIRST_SIZE, n_train)


def seconds(rows: Rows) -> pd.Series[float]:
    """Return what the trials took."""
    return rows[TIMES].sum(axis=1)


def _affordable(
    wanted: Sequence[str], expected: Mapping[str, float], n_jobs: int, deadline: float
) -> Iterator[str]:
    left = deadline - time.monotonic()
    for name in wanted:
        left -= expected[name] / min(n_jobs, len(wanted))
        if left < 0:
            return
        yield name


def tuned(
    runs: Runs, label: str, size: int, median: float, known: Rows | None = None
) -> Experiment:
    """Return the experiment that looks around the best bandwidth and penalty of the size before."""
    grid, alphas = [median * m for m in MULTIPLES], ALPHAS
    if known is not None and (known["label"] == label).any():
        rows = known[known["label"] == label]
        best = rows.iloc[int(rows["M"].argmax())]
        grid = [best["bandwidth"] * m for m in (0.5, 1.0, 2.0)]
        alphas = [best["alpha"] * 10.0**power for power in range(-2, 3)]
    return runs.experiment(
        label,
        size,
        bandwidth={"cv": [rounded(value) for value in grid]},
        solver={"alphas": [rounded(value) for value in alphas], "selection": "cv5"},
    )


def rounded(value: float) -> float:
    """Return four digits: what is chosen is read and written by people."""
    return float(f"{value:.4g}")


def _flat(known: Rows, size: int) -> bool:
    """Tell whether the last two doublings were worth less than a hundredth of the loss."""
    least = known.groupby("M")["selection_loss"].min()
    return size // 4 in least.index and float(least[size]) > 0.99 * float(least[size // 4])
