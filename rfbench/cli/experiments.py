"""`rfbench run` and `rfbench sweep`."""

from __future__ import annotations

import itertools
import logging
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rfbench.cli.options import FILE, RUN, RunOptions, run_options, setting
from rfbench.cli.terminal import print_text
from rfbench.errors import ConfigError, RfbenchError, WriteError

if TYPE_CHECKING:
    from rfbench.config import Experiment
    from rfbench.experiment.plan import Trial
    from rfbench.experiment.run_plan import RunPlan
    from rfbench.experiment.runner import Summary
    from rfbench.experiment.worker import Limits
    from rfbench.results import Results


@click.command()
@click.argument("configs", nargs=-1, required=True, type=FILE)
@setting("overrides", "KEY.PATH=VALUE", "Change a key of the configuration")
@click.option("--run", "runs", multiple=True, metavar="NAME", help=f"{RUN}; may be repeated.")
@click.option(
    "--offline",
    is_flag=True,
    help="Download nothing: leave out configurations whose data are not here, and say so.",
)
@run_options
def run(
    configs: tuple[Path, ...],
    overrides: tuple[str, ...],
    runs: tuple[str, ...],
    offline: bool,
    options: RunOptions,
) -> None:
    """Run what is missing of one or several configurations, named as files or by their names.

    Trials that have a row in OUT/NAME/trials.csv are not repeated, so a run that was interrupted
    goes on where it stopped, and a larger --trials adds only the new ones.

    \b
    Examples:
      rfbench run quickstart
      rfbench run configs/*.yaml --offline --jobs 4
      rfbench run configs/PAPER_ITEM.yaml --only dataset=eeg --only protocol=printed
      rfbench run configs/quickstart.yaml --set samplers.eerf.pool_size=8000 --out /tmp/try
      rfbench run configs/quickstart.yaml --set M=50:200:50 --dry-run
    """
    from rfbench import config

    experiments = [
        experiment
        for path in configs
        for experiment in config.read_all(
            path, [*overrides, *options.overrides], only=runs, allow_imports=options.allow_imports
        )
    ]
    names = [experiment.name for experiment in experiments]
    for name in names:
        if names.count(name) > 1:
            raise ConfigError(
                f"Two runs are called {name}.",
                "Their results would land in the same folder.",
                "Run them one by one with different --out, or rename one.",
            )
    if options.only and len(experiments) > 1:
        experiments = _with_trials(experiments, options.only)
    work = [([e], [""], e.name) for e in (_with_data(experiments) if offline else experiments)]
    _carry_out(work, options)


def _with_data(experiments: list[Experiment]) -> list[Experiment]:
    """Leave out the experiments whose data are not on this machine, and say which."""
    from rfbench import datasets

    here = []
    for experiment in experiments:
        names = dict.fromkeys(s.name for s in experiment.dataset if not s.own)
        absent = [name for name in names if not datasets.on_disk(name)]
        if absent:
            click.echo(f"left out: {experiment.name}, no data here: {', '.join(absent)}", err=True)
        else:
            here.append(experiment)
    if not here:
        raise ConfigError(
            "No configuration is left to run.",
            "The data of none of them are on this machine.",
            "Run without --offline, or see `rfbench data list`.",
        )
    return here


def _with_trials(experiments: list[Experiment], conditions: Sequence[str]) -> list[Experiment]:
    """Leave out the experiments that have no trial for ``--only``."""
    from rfbench.cli.memory import trials_without_data
    from rfbench.experiment.run_plan import meeting

    of_all = [text for text in conditions if not text.startswith("trial=")]
    met = meeting(trials_without_data(experiments), of_all)
    names = {trial.experiment.name for trial in met}
    return [experiment for experiment in experiments if experiment.name in names]


@click.command()
@click.argument("config", required=False, type=FILE)
@click.option(
    "--M", "sizes", metavar="VALUES", help="Values of M: 50:1000, 50,100 or log:50:1000:8."
)
@setting("settings", "KEY.PATH=VALUES", "Values of any other key, in the same grammar")
@click.option("--run", "name", metavar="NAME", default="", help=f"{RUN}.")
@run_options
def sweep(
    config: Path | None,
    sizes: str | None,
    settings: tuple[str, ...],
    name: str,
    options: RunOptions,
) -> None:
    """Run a configuration over many values of M, or of any other key.

    Without CONFIG it is the quickstart. The results land in a folder of their own, named after
    what is swept. `50:1000` stands for 20 even steps (or every whole number, if those are fewer),
    `50:1000:50` names the step, `log:50:1000:8` has equal ratios.

    \b
    Examples:
      rfbench sweep --M 50:1000
      rfbench sweep configs/quickstart.yaml --M log:10:1000:7 --trials 3
      rfbench sweep --M 200 --set samplers.eerf.pool_size=1000,2000,4000
      rfbench sweep --M 100 --set bandwidth=2,4,8,16
    """
    from rfbench import config as configuration
    from rfbench import grids

    if not sizes and not settings:
        raise click.UsageError("Name what to sweep: --M 50:1000, or --set KEY=VALUES.")
    path = config or Path("quickstart")
    swept = [f"M={sizes}"] if sizes else []
    fixed = [*swept, *options.overrides]
    axes = []
    for text in settings:
        key, sign, values = text.partition("=")
        if not sign:
            raise ConfigError(f"--set {text} is not KEY.PATH=VALUES.", "", "Write --set seed=1,2.")
        axes.append([f"{key}={value}" for value in grids.expand(values)])
    combinations = [list(c) for c in itertools.product(*axes)]
    experiments = [
        configuration.read(path, [*fixed, *c], run=name, allow_imports=options.allow_imports)
        for c in combinations
    ]
    name = _sweep_name(experiments[0].name, [*swept, *settings])
    _carry_out([(experiments, [", ".join(c) for c in combinations], name)], options)


def _sweep_name(stem: str, settings: Iterable[str]) -> str:
    from rfbench.experiment.plan import digest

    words = "_".join(settings).replace(":", "..").replace(",", "+").replace(" ", "")
    readable = "".join(c if c.isalnum() or c in "._+=-" else "-" for c in words)
    if len(readable) > 80:
        readable = readable[:60] + "-" + digest(readable)[:8]
    return f"{stem}-sweep-{readable}"


def _carry_out(several: list[tuple[list[Experiment], list[str], str]], options: RunOptions) -> None:
    from rfbench.experiment.run_plan import plan_run

    if any(experiments[0].paper for experiments, _, _ in several):
        from rfbench import papers

        papers.papers()  # a folder that cannot be read is named now, and not after the trials
    failed, interrupted = 0, False
    for experiments, variants, name in several:
        folder, smoke = options.base / name, options.smoke
        if options.dry_run:
            say_what_would_run(experiments, variants, folder, options)
            continue
        shown = not options.quiet
        plan = plan_run(experiments, folder, variants=variants, smoke=smoke, progress=shown)
        plan = _chosen(plan, options)
        if shown:
            _say_left_out(plan)
            _say_own_data(plan)
        with nullcontext() if shown else _no_output():
            summary = run_with_progress(plan, options)
            _report(summary, plan.whole)
        failed += summary.failed
        interrupted = summary.interrupted
        if interrupted or (options.fail_fast and failed):
            break
    if failed or interrupted:
        raise click.exceptions.Exit(1)


@contextmanager
def _no_output() -> Iterator[None]:
    """Print nothing but errors, and no warnings."""
    logging.disable(logging.WARNING)
    try:
        with redirect_stdout(None):
            yield
    finally:
        logging.disable(logging.NOTSET)


def _chosen(plan: RunPlan, options: RunOptions) -> RunPlan:
    plan = plan.only(options.only)
    return plan.shard(*options.shard) if options.shard else plan


def say_what_would_run(
    experiments: list[Experiment], variants: list[str], folder: Path, options: RunOptions
) -> None:
    """Print what is done and would run, and the memory that it takes, for ``--dry-run``."""
    from rfbench import datasets
    from rfbench.cli.memory import say_memory, trials_without_data
    from rfbench.experiment.run_plan import RunPlan, plan_run, smoke_variant

    smoke, workers = options.smoke, options.jobs or os.cpu_count() or 1
    limits = options.limits(workers)
    specs = {spec.name: spec for e in experiments for spec in e.dataset}
    names = list(specs)
    absent = [name for name in names if not (specs[name].own or datasets.on_disk(name))]
    if absent:
        click.echo(f"{folder.name}: would download {', '.join(absent)} first.")
        chosen = [smoke_variant(e) for e in experiments] if smoke else experiments
        trials = trials_without_data(chosen)
        planned = _chosen(RunPlan(folder, chosen, trials, trials, smoke), options)
        say_memory(planned.trials, workers, limits)
        return
    plan = _chosen(plan_run(experiments, folder, variants=variants, smoke=smoke), options)
    _say_left_out(plan)
    missing = _missing(plan, options)
    labels = ", ".join(spec.label for spec in plan.experiments[0].samplers)
    click.echo(
        f"{folder.name}: {len(plan.trials)} trials of {labels} on {', '.join(names)}; "
        f"{len(plan.trials) - len(missing)} are done, {len(missing)} would run, "
        f"into {plan.folder}/trials.csv."
    )
    _say_timing(experiments[0])
    say_memory(missing, workers, limits)


def _say_left_out(plan: RunPlan) -> None:
    """Say which sizes are not planned, because a sampler needs more features."""
    for line in plan.left_out:
        click.echo(f"left out: {line}", err=True)


def _say_own_data(plan: RunPlan) -> None:
    """Say what was made of data of one's own, and whether they changed since the last run."""
    from rfbench.results import manifest
    from rfbench.results.manifest import data_key

    before = manifest.read_if_sound(plan.folder, []).get("data", {})
    for spec, sha256 in {t.dataset.name: (t.dataset, t.data_sha256) for t in plan.trials}.values():
        if spec.own:
            click.echo(f"{spec.name}: {spec.entry.note}", err=True)
            if before.get(data_key(spec.name, spec.parameters), sha256) != sha256:
                text = "its content has changed since the last run, so all its trials are new"
                click.echo(f"{spec.name}: {text}", err=True)


def _say_timing(experiment: Experiment) -> None:
    """Say that the sizes share no work although they were to, and because of which samplers."""
    from rfbench.config import SHARED, KeptBy
    from rfbench.experiment.plan import without_prefixes

    alone = without_prefixes(experiment)
    several = not isinstance(experiment.M, KeptBy) and len(experiment.M) > 1
    if experiment.timing == SHARED and several and 0 < len(alone) < len(experiment.samplers):
        click.echo(
            f"timing: isolated, every M is measured alone: the sizes of {', '.join(alone)} have no "
            "work to share, and shared times are no match for theirs"
        )


def _missing(plan: RunPlan, options: RunOptions) -> list[Trial]:
    from rfbench.results.store import Store

    done = (Store(plan.whole).done() if plan.whole else {}) | Store(plan.folder).done()
    return [t for t in plan.trials if t.id not in done or done[t.id] in options.retry]


def run_with_progress(plan: RunPlan, options: RunOptions) -> Summary:
    """Run what is missing beside a progress bar; the first Ctrl-C is answered."""
    from rfbench.cli.memory import say_memory
    from rfbench.cli.progress import Progress
    from rfbench.experiment import clusters, runner

    executor = clusters.find(options.executor, options.jobs, allow_imports=options.allow_imports)
    workers = executor.workers()
    limits = options.limits(workers)
    missing = _missing(plan, options)
    if missing:
        _say_timing(plan.experiments[0])
    say_memory(missing, workers, limits)
    done = len(plan.trials) - len(missing)
    if options.verbose and not options.quiet:
        _say_decisions(plan, workers, limits, done, options)
    with Progress(plan.folder.name, len(missing), done, options.quiet) as progress:
        return runner.run(
            plan,
            executor=executor,
            limits=limits,
            retry=options.retry,
            fail_fast=options.fail_fast,
            on_row=progress.row,
            on_interrupt=_say_stopping,
        )


def _say_decisions(
    plan: RunPlan, workers: int, limits: Limits, done: int, options: RunOptions
) -> None:
    """Say what is decided before a run begins, for ``--verbose``."""
    from rfbench.datasets import data_folder
    from rfbench.memory import GIB

    memory = "any memory" if limits.memory is None else f"{limits.memory / GIB:.1f} GiB"
    seconds = "any time" if limits.timeout is None else f"{limits.timeout:g} s per trial"
    click.echo(
        f"workers: {workers} ({options.executor}), each with {memory} and {seconds}", err=True
    )
    click.echo(f"cache:   {data_folder()}", err=True)
    for name, sha256 in {t.dataset.name: t.data_sha256 for t in plan.trials}.items():
        click.echo(f"data:    {name}, sha256 {sha256}", err=True)
    others = len(plan.planned) - len(plan.trials)
    click.echo(f"left out: {done} trials with a row, {others} that were not asked for", err=True)


def _say_stopping() -> None:
    click.echo(
        "\nstopping: trials in flight are finished first; Ctrl-C again stops at once", err=True
    )


def _report(summary: Summary, whole: Path | None) -> None:
    """Print the table and say where everything is; a figure that fails does not hide the table.

    The rows of a shard make no table: `whole` is where they belong.
    """
    from rfbench import results
    from rfbench.pages import summary_table

    for text in list(dict.fromkeys(summary.messages))[:5]:
        click.secho(f"failed: {text}", fg="red", err=True)
    if whole:
        click.echo(f"shard:   {summary.folder}; once all are done: rfbench merge {whole}")
    elif summary.done + summary.found:
        read = results.read(summary.folder)
        click.echo()
        print_text(summary_table.render(read, "text").rstrip("\n") + "\n\n")
        click.echo(f"CSV:     {summary.folder / 'trials.csv'}")
        try:
            for path in _figures(read):
                click.echo(f"figure:  {path}")
        except RfbenchError as error:
            click.echo(f"no figure: {error}", err=True)
        except OSError as error:
            raise WriteError(
                f"The figures could not be drawn: {error.strerror or error}.",
                "All rows are safe.",
                f"Make room, then draw them with `rfbench plot {summary.folder}`.",
            ) from error
    again = f"{summary.found} were there already" if summary.found else "none was there before"
    click.echo(f"trials:  {summary.done} run, {summary.failed} failed, {again}")
    if summary.left:
        click.echo(f"left:    {summary.left}; run the same command again to go on")
    click.echo()


def _figures(read: Results) -> list[Path]:
    """Return the figures of a folder, drawn anew if its rows or its configuration are newer."""
    from rfbench.results.manifest import MANIFEST
    from rfbench.results.reader import TRIALS

    there = [path for suffix in ("png", "pdf") for path in read.folder.glob(f"*.{suffix}")]
    newest = max((read.folder / name).stat().st_mtime for name in (TRIALS, MANIFEST))
    if there and min(path.stat().st_mtime for path in there) >= newest:
        return sorted(there)
    from rfbench import figures

    return figures.plot(read)
