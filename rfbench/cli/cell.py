"""Command `rfbench verify --cell`, which measures one published number again.

The measured value is compared with the published number.
"""

from __future__ import annotations

import re
import shlex
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click
import pandas as pd

from rfbench import config, datasets, papers, results, shipped, usable
from rfbench.analysis import frame
from rfbench.analysis.published import compare_published_numbers
from rfbench.analysis.selection import Selection, split_item_list
from rfbench.cli.progress import describe_trial_briefly, show_progress
from rfbench.cli.terminal import echo
from rfbench.config.schema import Experiment
from rfbench.config.specs import SameSizeAs
from rfbench.errors import ConfigError
from rfbench.experiment import current_settings, runner
from rfbench.experiment.plan import Trial, list_known_columns, plan_trials
from rfbench.experiment.run_plan import RunPlan
from rfbench.experiment.worker import Limits, compute_memory_share
from rfbench.pages.cell import render_cell_result
from rfbench.pages.formatting import format_seconds as format_seconds
from rfbench.papers.cells import find_published_cell
from rfbench.papers.models import Published
from rfbench.papers.outside import list_configurations
from rfbench.results import Results
from rfbench.results.reader import TRIALS

CELLS = "cells"  # subfolder of the results folder for the rows that this command measures
ALL_TIMES = frame.SUMS["t_all"]
# Status of trials that were stopped when the time budget was used up. These trials are run again.
RETRIED = ("timeout",)


@dataclass
class CellRun:
    """Run of a configuration that measures one published number again.

    A number can have several runs, one for each protocol (source of the settings). A cell is the
    place of the number in a table of the paper.

    Attributes
    ----------
    config : str
        Name or path of the configuration, as in `rfbench run`.
    experiment : Experiment
        Run of the configuration, restricted to the data set, the method and the size of the cell.
    before : list of Results
        Results that were measured by other commands.
    folder : Path
        Results folder to which missing trials are written.
    trials : list of Trial
        Trials of the cell; empty if the data set is not on disk.
    """

    config: str
    experiment: Experiment
    before: list[Results]
    folder: Path
    trials: list[Trial]

    @property
    def protocol(self) -> str:
        """Name of the protocol of the run, which is the source of its settings."""
        return self.experiment.protocol

    @property
    def problem(self) -> str:
        """Reason why the published number cannot be measured, or an empty text if it can."""
        name = self.experiment.dataset[0].name
        return (
            ""
            if self.trials
            else (
                f"the data set {name} is not on this machine. To download it: rfbench "
                f"data fetch {name}"
            )
        )

    def join(self) -> list[Results]:
        """Combine all result rows for the published number in one `Results` object.

        Return a list with this object, or an empty list if there are no rows. Trials that were
        stopped at the end of the time budget are left out.
        """
        every = [*self.before, *_read(self.folder)]
        ids, labels = {t.id for t in self.trials}, [s.label for s in self.experiment.samplers]
        parts = [
            each.rows[each.rows["trial_id"].isin(ids) if ids else each.rows["label"].isin(labels)]
            for each in every
        ]
        if not parts:
            return []
        rows = pd.concat([part[~part["status"].isin(RETRIED)] for part in parts])
        rows = rows.drop_duplicates("trial_id", keep="last").reset_index(drop=True)
        return [replace(every[0], rows=rows)] if len(rows) else []

    def find_missing_trials(self) -> list[Trial]:
        """Return the planned trials for the published number that have no result row."""
        done = {trial_id for each in self.join() for trial_id in each.rows["trial_id"]}
        return [trial for trial in self.trials if trial.id not in done]

    def repeat(self) -> str:
        """Return a shell command that measures the published number again."""
        of, run = self.experiment, config.shorten_run_name(Path(self.config), self.experiment.name)
        words = ["rfbench", "run", self.config, *["--run", run] * (run != Path(self.config).stem)]
        only = [f"dataset={of.dataset[0].name}", *(f"label={spec.label}" for spec in of.samplers)]
        only += [f"M={size}" for size in of.sizes if size is not None]
        words += [word for each in only for word in ("--only", each)]
        return shlex.join([*words, "--trials", str(of.trials), "--out", "again"])


def verify_cell(
    text: str, out: Path, trials: int | None, budget: float, *, allow_imports: bool
) -> None:
    """Measure one published number again, and print the comparison of the two values.

    `text` names the number: paper, table, data set, method and size. Only missing trials are run,
    for at most `budget` seconds. The command exits with code 1 if the run was interrupted or a
    trial failed.

    Raises ConfigError if the paper has no such number, or if no configuration measures it.
    """
    numbers = find_published_cell(text, papers.read_known_papers())
    runs = list(_find_runs(numbers, out, trials, allow_imports))
    if not runs:
        raise ConfigError(
            f"No configuration measures {text}.",
            f"No configuration of {numbers[0].paper} has this table, data set, method and size.",
            "`rfbench list configs` lists all configurations.",
        )
    there, missing = [run.join() for run in runs], [run.find_missing_trials() for run in runs]
    times = [sum(each.rows[[*ALL_TIMES]].sum(axis=1).median() for each in every) for every in there]
    failed, end = 0, time.monotonic() + budget
    for place, (run, wanted) in enumerate(zip(runs, missing, strict=True)):
        if wanted:
            now = time.monotonic()
            # If no trial of this protocol has been measured, the time per trial is estimated from
            # other protocols. Their trials have the same size and data set, so they need about the
            # same time.
            seconds, share = times[place] or max(times), (end - now) / (len(runs) - place)
            summary = _measure(run, wanted, now + share, seconds)
            failed += summary.interrupted or any(": timeout:" not in x for x in summary.messages)
            if summary.interrupted:
                break
    lines = {run.protocol: _compare(run, numbers) for run in runs}
    left = {run.protocol: len(run.find_missing_trials()) for run in runs}
    words = ("--trials", str(runs[0].experiment.trials), "--budget", f"{budget:g}s")
    again = shlex.join(["rfbench", "verify", "--cell", text, *words])
    echo(render_cell_result(numbers, runs, lines, left, again), nl=False)
    if failed:
        raise click.exceptions.Exit(1)


def _find_runs(
    numbers: Sequence[Published], out: Path, trials: int | None, allow_imports: bool
) -> Iterator[CellRun]:
    """Yield the runs that measure the published numbers in one cell of a paper's table.

    The first matching run of each protocol (source of the settings) is used.
    """
    number, folder = numbers[0], papers.find_paper_files(numbers[0].paper)
    source, seen = folder.paper.datasets[number.dataset].dataset, set[str]()
    paths = list_configurations(folder.folder) if folder.folder else shipped.list_configurations()
    documents = [
        (path, *each) for path in paths for each in config.read_run_documents(path).items()
    ]
    for path, name, document in documents:
        items = split_item_list(str(document.value.get("item")))
        if document.value.get("paper") != number.paper or number.item not in items:
            continue
        whole = config.build_experiment(document, name, allow_imports=allow_imports)
        samplers = [spec for spec in whole.samplers if spec.label == number.method]
        samplers = samplers or [spec for spec in whole.samplers if spec.name == number.method]
        found = {
            "dataset": [spec for spec in whole.dataset if spec.name == source][:1],
            "samplers": samplers,
            "M": [size for size in whole.sizes if number.size in (None, size)],
        }
        if not all(found.values()) or whole.protocol in seen:
            continue
        seen.add(whole.protocol)
        # If M is the number of features of a different method, the trials of that method have to be
        # planned, too. All samplers are therefore kept, and only the data set is restricted.
        if isinstance(whole.M, SameSizeAs):
            found = {"dataset": found["dataset"]}
        cell = whole.model_copy(update={**found, "trials": trials or whole.trials})
        above = [each for each in (shipped.find_published_folder(), out) if each]
        own = re.sub(r"[^\w.+=-]", "-", f"{name}_{source}_{number.method}_{number.M}")
        here = cell.dataset[0].is_user_data or datasets.is_on_disk(source)
        yield CellRun(
            str(path if folder.folder else path.stem),
            cell,
            _read(*(each / name for each in above)),
            out / CELLS / own,
            [t for t in plan_trials(cell) if t.sampler in samplers] if here else [],
        )


def _read(*folders: Path) -> list[Results]:
    return [
        results.read_results_folder(folder) for folder in folders if (folder / TRIALS).is_file()
    ]


def _measure(run: CellRun, wanted: list[Trial], deadline: float, seconds: float) -> runner.Summary:
    """Run the trials in `wanted` until the deadline, and return a summary.

    `deadline` is a value of `time.monotonic`. `seconds` is the expected time of one trial, or 0 if
    it is not known.
    """
    left, workers = deadline - time.monotonic(), usable.count_usable_cores()
    expected = format_seconds(len(wanted) * seconds / workers) if seconds else "not known"
    echo(
        f"{run.protocol}: {len(wanted)} trials to run, expected time {expected} after the workers "
        f"have started, {format_seconds(left)} of the budget"
    )
    limits = Limits(compute_memory_share("80%", workers), None, deadline)
    planned = RunPlan(run.folder, [run.experiment], wanted, run.trials)
    with show_progress(
        run.protocol, len(wanted), 0, describe_trial_briefly(list_known_columns(wanted[0]))
    ) as ended:
        summary = runner.run_plan(
            planned, n_jobs=workers, limits=limits, retry=RETRIED, on_row=ended
        )
    for text in dict.fromkeys(summary.messages):
        echo(text, err=True, mark="failed: ")
    return summary


def _compare(run: CellRun, numbers: Sequence[Published]) -> list[dict[Any, Any]]:
    """Compare each published number in `numbers` with the trials of the run.

    Return a row of `compare_published_numbers`, as a dictionary, for each number that was measured.
    """
    collection = frame.build_collection(
        run.join(), today=current_settings.find_current_settings_of_each
    )
    table = compare_published_numbers(Selection(collection), numbers[0].paper)
    every = papers.list_published_numbers()
    wanted = [every.index(number) for number in numbers]
    here = table["number"].isin(wanted) & (table["protocol"] == run.protocol)
    return table[here & (table["trials"] > 0)].to_dict("records")
