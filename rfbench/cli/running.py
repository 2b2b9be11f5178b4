"""Functions that run experiments for commands, with messages before, during and after a run."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, redirect_stdout
from dataclasses import replace
from typing import Any, NamedTuple

import click

from rfbench import datasets, results, usable
from rfbench.analysis import frame
from rfbench.cli.options import RunOptions
from rfbench.cli.progress import describe_trial_briefly, show_progress
from rfbench.cli.terminal import echo
from rfbench.config.schema import Experiment
from rfbench.errors import RfbenchError, WriteError
from rfbench.experiment import fanout, runner
from rfbench.experiment.plan import Trial, list_known_columns
from rfbench.experiment.run_plan import RunPlan, plan_run
from rfbench.pages import summary_table
from rfbench.results import manifest
from rfbench.results.manifest import make_data_key
from rfbench.results.reader import TRIALS
from rfbench.results.store import Store


class RunRequest(NamedTuple):
    """Experiments that write to the same results folder.

    In a sweep, `variants` has the swept settings of each experiment as text.
    """

    folder: str
    experiments: list[Experiment]
    variants: Sequence[str] = ()


def run_experiments(requests: Sequence[RunRequest], options: RunOptions) -> None:
    """Run the experiments of each results folder in turn.

    The command exits with code 1 if a trial failed or the run was interrupted. With ``--dry-run``,
    the numbers of trials are printed instead.
    """
    if options.dry_run:
        for work in requests:
            print_dry_run(work, options)
        return
    failed = 0
    for plan, whole in _parts(requests, options):
        if whole and not options.quiet:
            for line in _own_data(plan):
                echo(line, err=True)
        with _errors_only() if options.quiet else nullcontext():
            summary = run_missing_trials(plan, options)
            if whole:
                _report(summary)
        failed += summary.failed
        if summary.interrupted or (options.fail_fast and failed):
            raise click.exceptions.Exit(1)
    if failed:
        raise click.exceptions.Exit(1)


def _parts(several: Sequence[RunRequest], options: RunOptions) -> Iterator[tuple[RunPlan, bool]]:
    """Yield the plans to run, each with True if it covers all trials of a results folder.

    With ``--trial-by-trial``, the first trials of all folders are run before all second trials, and
    so on. If such a run is interrupted, all methods and data sets can still be compared, with fewer
    trials.
    """
    progress = not options.quiet
    if options.trials_first:
        plans = [plan_and_report(work, options, progress=progress) for work in several]
        for number in sorted({trial.number for plan in plans for trial in plan.trials}):
            for plan in plans:
                if some := [trial for trial in plan.trials if trial.number == number]:
                    yield replace(plan, trials=some), False
    for work in several:
        yield plan_and_report(work, options, progress=progress), True


@contextmanager
def _errors_only() -> Iterator[None]:
    logging.disable(logging.WARNING)
    try:
        # The output is written to the null device. It would not work to set stdout to None, because
        # the start of a worker calls `stdout.flush`.
        with open(os.devnull, "w") as nowhere, redirect_stdout(nowhere):
            yield
    finally:
        logging.disable(logging.NOTSET)


def plan_and_report(work: RunRequest, options: RunOptions, *, progress: bool = False) -> RunPlan:
    """Plan the trials of a results folder that the options select.

    Missing data sets are downloaded.
    """
    folder, smoke = options.base / work.folder, options.smoke
    plan = plan_run(
        work.experiments, folder, variants=work.variants, smoke=smoke, progress=progress
    )
    return plan.select(options.only)


def print_dry_run(work: RunRequest, options: RunOptions) -> None:
    """Print the numbers of measured, failed and missing trials, for the option ``--dry-run``.

    Nothing is run or downloaded.
    """
    options.make_limits(
        options.jobs or usable.count_usable_cores()
    )  # an invalid --memory raises an error here
    specs = {spec.name: spec for e in work.experiments for spec in e.dataset}
    absent = [n for n, spec in specs.items() if not (spec.is_user_data or datasets.is_on_disk(n))]
    if absent:
        echo(f"{work.folder}: would first download {', '.join(absent)}.")
        return
    plan = plan_and_report(work, options)
    done = Store(plan.folder).read_statuses()
    found = [done[trial.id] for trial in plan.trials if trial.id in done]
    failed = len(found) - found.count("ok")
    missing = runner.find_missing_trials(plan, done, options.retry)
    labels = ", ".join(spec.label for spec in plan.experiments[0].samplers)
    echo(
        f"{work.folder}: {len(plan.trials)} trials of {labels} on "
        f"{', '.join(specs)}. {len(found)} are measured, {failed} failed, and "
        f"{len(missing)} would run and be written to {plan.folder}/trials.csv."
    )


def _own_data(plan: RunPlan) -> Iterator[str]:
    """Yield notes on the data sets in a plan that are the user's own files.

    If the content of a data set changed since the last run, a further line states this.
    """
    before = manifest.read_if_valid(plan.folder, []).get("data", {})
    for spec, sha256 in {t.dataset.name: (t.dataset, t.data_sha256) for t in plan.trials}.values():
        if spec.is_user_data:
            yield f"{spec.name}: {spec.entry.note}"
            if before.get(make_data_key(spec.name, spec.parameters), sha256) != sha256:
                text = "its content has changed since the last run, so all its trials are new"
                yield f"{spec.name}: {text}"


def run_missing_trials(plan: RunPlan, options: RunOptions) -> runner.Summary:
    """Run the planned trials that have no result row, with a progress bar, and return a summary.

    Ctrl-C stops the run after the trials that are running.
    """
    workers, client = fanout.find_executor(options.executor, options.jobs)
    limits = options.make_limits(workers)
    stopping = "\nstopping after the running trials. Press Ctrl-C again to stop at once"
    with ExitStack() as shown:
        ended: Callable[[dict[str, Any]], None] | None = None

        def begin(missing: list[Trial]) -> None:
            nonlocal ended
            done = len(plan.trials) - len(missing)
            first = describe_trial_briefly(list_known_columns(missing[0])) if missing else ""
            bar = show_progress(plan.folder.name, len(missing), done, first)
            ended = shown.enter_context(bar)

        def on_row(row: dict[str, Any]) -> None:
            if ended:
                ended(row)

        return runner.run_plan(
            plan,
            n_jobs=workers,
            client=client,
            limits=limits,
            retry=options.retry,
            fail_fast=options.fail_fast,
            on_begin=None if options.quiet else begin,
            on_row=on_row,
            on_interrupt=lambda: echo(stopping, err=True),
        )


def _report(summary: runner.Summary) -> None:
    """Print the results table of a finished run and the paths of its files.

    If a figure cannot be drawn, the error is printed after the table.
    """
    for text in list(dict.fromkeys(summary.messages))[:5]:
        echo(text, err=True, mark="failed: ")
    if summary.done + summary.found:
        read = results.read_results_folder(summary.folder)
        echo()
        for line in summary_table.describe_best_methods(frame.build_collection([read]), read):
            echo(line)
        echo()
        text = summary_table.render_summary_tables(read, "text", brief=True)
        echo(text.rstrip("\n") + "\n")
        echo(f"CSV:     {summary.folder / TRIALS}")
        from rfbench import figures  # importing matplotlib takes half a second

        try:
            for path in figures.plot(read):
                echo(f"figure:  {path}")
        except RfbenchError as error:
            echo(f"no figure: {error}", err=True)
        except OSError as error:
            raise WriteError(
                f"The figures could not be drawn: {error.strerror or error}.",
                "All measured rows are stored.",
                f"Free disk space. Then draw the figures with `rfbench plot {summary.folder}`.",
            ) from error
    again = f"{summary.found} measured before"
    print_trial_counts(summary, again)
    echo()


def print_trial_counts(summary: runner.Summary, there: str) -> None:
    """Print the numbers of trials that were run, that failed, and that remain.

    `there` is a text about the trials that were measured before.
    """
    echo(f"trials:  {summary.done} run, {summary.failed} failed, {there}")
    if summary.left:
        echo(f"not run: {summary.left} (run the same command again to resume)")
