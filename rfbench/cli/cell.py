"""`rfbench verify --cell`: one published number, measured now."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import click
import pandas as pd

from rfbench import config, datasets, papers, results, shipped, usable
from rfbench.analysis import frame
from rfbench.analysis.published import compare_published
from rfbench.analysis.selection import Selection, split_items
from rfbench.cli.progress import name_trial, show_progress
from rfbench.cli.terminal import echo
from rfbench.config.schema import Experiment
from rfbench.errors import ConfigError
from rfbench.experiment import runner, today
from rfbench.experiment.plan import Trial, describe, plan
from rfbench.experiment.run_plan import RunPlan
from rfbench.experiment.worker import Limits, compute_memory_share
from rfbench.pages.cell import render_cell
from rfbench.pages.words import seconds as format_seconds
from rfbench.papers.cells import find_cell
from rfbench.papers.models import Published
from rfbench.papers.outside import list_configurations
from rfbench.results import Results
from rfbench.results.reader import TRIALS

CELLS = "cells"  # folder of the rows that this command measures, below that of the results
RETRIED = ("timeout",)  # the budget cuts off a trial


@dataclass
class CellRun:
    """The run that measures a cell under one protocol.

    Attributes
    ----------
    config : Path
        The configuration file.
    experiment : Experiment
        Its run, with the data set of the cell alone.
    labels : list of str
        The samplers that are the method of the cell.
    sizes : list of int or None
        The sizes of the cell.
    before : list of Results
        Rows that other commands measured.
    folder : Path
        The results folder of the missing trials.
    trials : list of Trial
        All trials of the cell; none if the data are not here.
    problem : str
        Why nothing can be measured.
    """

    config: Path
    experiment: Experiment
    labels: list[str]
    sizes: list[int | None]
    before: list[Results]
    folder: Path
    trials: list[Trial] = field(default_factory=list)
    problem: str = ""

    @property
    def protocol(self) -> str:
        """The protocol of the run."""
        return self.experiment.protocol

    @property
    def missing(self) -> list[Trial]:
        """The trials without a row, or whose row says that the budget cut them off."""
        done = {trial_id for each in self.join() for trial_id in each.rows["trial_id"]}
        return [trial for trial in self.trials if trial.id not in done]

    def join(self) -> list[Results]:
        """Return the rows of the cell as one results folder; empty if there are no rows."""
        every = [*self.before, *_read(self.folder)]
        rows = pd.concat([each.rows for each in every], ignore_index=True) if every else None
        if rows is None:
            return []
        ids = [trial.id for trial in self.trials]
        here = rows["trial_id"].isin(ids) if ids else rows["label"].isin(self.labels)
        here &= ~rows["status"].isin(RETRIED)
        rows = rows[here].drop_duplicates("trial_id", keep="last").reset_index(drop=True)
        return [replace(every[0], rows=rows)] if len(rows) else []

    @property
    def seconds(self) -> float:
        """The median time of a trial that is there, 0 if there is none."""
        times = [each.rows[[*frame.SUMS["t_all"]]].sum(axis=1).median() for each in self.join()]
        return float(times[0]) if times else 0.0

    def repeat(self) -> str:
        """Return the command that measures the rows of the cell again."""
        run = config.shorten_path(self.config, self.experiment.name)
        words = [f"rfbench run {self.config}"]
        words += [f"--run {run}"] * (run != self.config.stem)
        words += [f"--only dataset={self.experiment.dataset[0].name}"]
        words += [f"--only label={label}" for label in self.labels]
        words += [f"--only M={size}" for size in self.sizes if size is not None]
        return " ".join([*words, f"--trials {self.experiment.trials} --out again"])


def verify_cell(
    text: str, out: Path, trials: int | None, budget: float, *, allow_imports: bool
) -> None:
    """Measure the missing trials of a cell within a budget in seconds, and compare its numbers.

    Exit with 1 if it was interrupted or a trial failed.

    Raises ConfigError: there is no such cell, or no configuration measures it.
    """
    numbers = find_cell(text, papers.read_library())
    runs = list(_find_runs(numbers, out, trials, allow_imports))
    if not runs:
        raise ConfigError(
            f"No configuration measures {text}.",
            f"{numbers[0].paper} has none with its table, data set, method and size.",
            "`rfbench list configs` has all.",
        )
    missing, times = [run.missing for run in runs], [run.seconds for run in runs]
    stopped, end = False, time.monotonic() + budget
    for place, run in enumerate(runs):
        if missing[place] and not stopped:
            now = time.monotonic()
            # The rows of the other protocols have the same size and data set.
            seconds = times[place] or max(times)
            deadline = now + (end - now) / (len(runs) - place)
            stopped = _measure(run, missing[place], deadline, seconds)
    lines = {run.protocol: _compare(run, numbers) for run in runs}
    left = {run.protocol: len(run.missing) for run in runs}
    again = f"rfbench verify --cell '{text}' --trials {runs[0].experiment.trials} --budget "
    echo(render_cell(numbers, runs, lines, left, f"{again}{budget:g}s"), nl=False)
    if stopped:
        raise click.exceptions.Exit(1)


def _find_runs(
    numbers: Sequence[Published], out: Path, trials: int | None, allow_imports: bool
) -> Iterator[CellRun]:
    """Yield the first run of each protocol that measures the cell."""
    number = numbers[0]
    folder = papers.find_folder(number.paper)
    source = folder.paper.datasets[number.dataset].dataset
    paths = list_configurations(folder.folder) if folder.folder else shipped.list_configurations()
    seen: set[str] = set()
    documents = [(path, *each) for path in paths for each in config.read_documents(path).items()]
    for path, name, document in documents:
        value = document.value
        items = split_items(str(value.get("item")))
        if value.get("paper") != number.paper or number.item not in items:
            continue
        experiment = config.from_document(document, name, allow_imports=allow_imports)
        here = [spec for spec in experiment.dataset if spec.name == source]
        named = {spec.label: spec.name for spec in experiment.samplers}
        labels = [label for label in named if label == number.method]
        labels = labels or [label for label, name in named.items() if name == number.method]
        sizes = [size for size in experiment.sizes if number.size in (None, size)]
        if not (here and labels and sizes) or experiment.protocol in seen:
            continue
        seen.add(experiment.protocol)
        count = trials or experiment.trials
        experiment = experiment.model_copy(update={"dataset": here[:1], "trials": count})
        published = [each / name for each in [shipped.find_published()] if each]
        run = CellRun(
            path if folder.folder else Path(path.stem), experiment, labels, sizes,
            _read(*published, out / name), out / CELLS / name,
        )  # fmt: skip
        if here[0].own or datasets.is_on_disk(source):
            run.trials = [t for t in plan(experiment) if t.sampler.label in labels and t.M in sizes]
        else:
            run.problem = f"the data of {source} are not here: rfbench data fetch {source}"
        yield run


def _read(*folders: Path) -> list[Results]:
    return [results.read(folder) for folder in folders if (folder / TRIALS).is_file()]


def _measure(run: CellRun, missing: list[Trial], deadline: float, seconds: float) -> bool:
    """Run trials until the deadline; return True if that was interrupted or one failed.

    `seconds` is the expected time of a trial, 0 if it is not known.
    """
    left, workers = deadline - time.monotonic(), usable.count_cores()
    expected = format_seconds(len(missing) * seconds / workers) if seconds else "not known"
    echo(
        f"{run.protocol}: {len(missing)} trials to run, expected time {expected} after the workers "
        f"have started, {format_seconds(left)} of the budget"
    )
    planned = RunPlan(run.folder, [run.experiment], missing, run.trials)
    with show_progress(run.protocol, len(missing), 0, name_trial(describe(missing[0]))) as ended:
        summary = runner.run(
            planned,
            n_jobs=workers,
            limits=Limits(compute_memory_share("80%", workers), None, deadline),
            retry=RETRIED,
            on_row=ended,
        )
    late = [text for text in summary.messages if "timeout" in text]
    for text in dict.fromkeys(set(summary.messages) - set(late)):
        echo(text, err=True, mark="failed: ")
    return summary.interrupted or summary.failed > len(late)


def _compare(run: CellRun, numbers: Sequence[Published]) -> list[dict[Any, Any]]:
    """Return the line of `compare_published` of each number that was measured."""
    collection = frame.build_collection(run.join(), today=today.find_settings)
    table = compare_published(Selection(collection), numbers[0].paper)
    every = papers.list_published()
    wanted = [every.index(number) for number in numbers]
    here = table["number"].isin(wanted) & (table["protocol"] == run.protocol)
    return table[here & (table["trials"] > 0)].to_dict("records")
