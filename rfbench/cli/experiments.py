"""Commands `rfbench run` and `rfbench sweep`, which measure trials."""

from __future__ import annotations

import glob
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rfbench import usable
from rfbench.cli.options import (
    FILE_TYPE,
    PAPERS,
    RUN_HELP,
    RunOptions,
    add_run_options,
    include_papers,
    make_setting_option,
)
from rfbench.cli.terminal import echo
from rfbench.errors import ConfigError, DataError

if TYPE_CHECKING:
    from rfbench.config.schema import Experiment


@click.command(short_help="Run the missing trials of configurations.")
@click.argument("configs", nargs=-1, required=True, type=FILE_TYPE)
@make_setting_option("overrides", "KEY.PATH=VALUE", "Change a key of the configuration")
@click.option("--run", "runs", multiple=True, metavar="NAME", help=f"{RUN_HELP}; may be repeated.")
@click.option(
    "--offline",
    is_flag=True,
    help="Do not download data. Configurations without local data are skipped and listed.",
)
@PAPERS
@add_run_options
def run(
    configs: tuple[Path, ...],
    paper_folders: tuple[Path, ...],
    overrides: tuple[str, ...],
    runs: tuple[str, ...],
    offline: bool,
    options: RunOptions,
) -> None:
    """Run the missing trials of one or several configurations, given as files or names.

    If the folder of a paper is given, all configurations in it are run.

    Trials that have a row in OUT/NAME/trials.csv are not repeated. An interrupted run resumes, and
    a larger --trials adds only the new trials.

    \b
    Examples:
        rfbench run quickstart
        rfbench run configs/*.yaml --offline --jobs 4
        rfbench run configs/PAPER_ITEM.yaml --only dataset=eeg --only protocol=printed
        rfbench run configs/quickstart.yaml --set samplers.eerf.pool_size=8000 --out /tmp/try
        rfbench run configs/quickstart.yaml --set M=50:200:50 --dry-run
    """
    with _start_worker(options, configs):
        _run(configs, paper_folders, overrides, runs, offline, options)


def _start_worker(options: RunOptions, configs: Sequence[Path]) -> AbstractContextManager[None]:
    """Start the first worker process early, while the run is planned, because its imports need 2 s.

    No worker is started if there is only one core. If results exist, no worker is started either,
    because then all trials may already have a row.
    """
    from rfbench.experiment import worker_process

    results = (options.base.glob(f"{glob.escape(config.stem)}*") for config in configs)
    are_there = any(path.is_dir() for paths in results for path in paths)
    try:
        is_needed = options.executor == "local" and usable.count_usable_cores() > 1
    except ConfigError:  # the same error is raised again below, when the workers are counted
        is_needed = False
    is_needed = is_needed and not options.dry_run and not are_there
    return worker_process.start_worker_early() if is_needed else nullcontext()


def _run(
    configs: tuple[Path, ...],
    paper_folders: tuple[Path, ...],
    overrides: tuple[str, ...],
    runs: tuple[str, ...],
    offline: bool,
    options: RunOptions,
) -> None:
    from rfbench import config
    from rfbench.cli.running import RunRequest, run_experiments

    experiments = [
        experiment
        for path in _find_configurations(configs, paper_folders, options)
        for experiment in config.read_runs(
            path, [*overrides, *options.overrides], only=runs, allow_imports=options.allow_imports
        )
    ]
    names = [experiment.name for experiment in experiments]
    for name in names:
        if names.count(name) > 1:
            raise ConfigError(
                f"Two runs have the name {name}.",
                "The results of the two runs would be written to the same folder.",
                "Run them separately with a different --out, or rename one of them.",
            )
    if options.only:
        experiments = _with_trials(experiments, options.only)
    if offline or (len(experiments) > 1 and not options.dry_run):
        experiments = _with_data(experiments, offline, progress=not options.quiet)
    run_experiments(
        [RunRequest(experiment.name, [experiment]) for experiment in experiments], options
    )


def _find_configurations(
    paths: Sequence[Path], paper_folders: Sequence[Path], options: RunOptions
) -> list[Path]:
    """Return the configuration files for the arguments of a command.

    An argument is a file, a name, or the folder of a paper. The folder of a paper means all
    configurations in it. The papers of these folders are loaded.
    """
    from rfbench.papers.outside import is_paper_folder, list_configurations

    above = [each for path in paths if path.is_file() for each in path.absolute().parents[:2]]
    named = [path for path in (*paths, *above) if is_paper_folder(path)]
    include_papers(named, paper_folders, allow_imports=options.allow_imports)
    found = [list_configurations(path) if is_paper_folder(path) else [path] for path in paths]
    for path, configurations in zip(paths, found, strict=True):
        if not configurations:
            raise ConfigError(
                f"{path} does not contain a configuration.",
                "",
                "Write a configuration next to paper.yaml.",
            )
    return [path for configurations in found for path in configurations]


def _with_data(experiments: list[Experiment], offline: bool, *, progress: bool) -> list[Experiment]:
    """Return the experiments whose data sets are available. Print a message for all others.

    Missing data sets are downloaded unless `offline` is True. Raises DataError if no experiment
    remains.
    """
    from rfbench import datasets

    here: list[Experiment] = []
    errors: list[DataError] = []
    for experiment in experiments:
        names = dict.fromkeys(s.name for s in experiment.dataset if not s.is_user_data)
        try:
            for name in [name for name in names if not datasets.is_on_disk(name)]:
                if offline:
                    todo = f"Run without --offline, or `rfbench data fetch {name}`."
                    raise DataError(f"The data of {name} are not on this machine.", "", todo)
                datasets.fetch(name, progress=progress)
            here.append(experiment)
        except DataError as error:
            echo(f"left out: {experiment.name}: {error.what}", err=True)
            errors.append(error)
    if not here:
        raise errors[0]
    return here


def _with_trials(experiments: list[Experiment], conditions: Sequence[str]) -> list[Experiment]:
    """Return the experiments with a trial that matches all conditions of the option ``--only``.

    Conditions on the trial number are ignored.
    """
    from rfbench.experiment.run_plan import filter_trials, list_trials_without_data

    of_all = [text for text in conditions if not text.startswith("trial=")]
    met = filter_trials(list_trials_without_data(experiments), of_all, each=True)
    names = {trial.experiment.name for trial in met}
    return [experiment for experiment in experiments if experiment.name in names]


@click.command(short_help="Run a configuration at many values of M or another key.")
@click.argument("config", required=False, type=FILE_TYPE)
@click.option(
    "--M", "sizes", metavar="VALUES", help="Values of M: 50:1000, 50,100 or log:50:1000:8."
)
@make_setting_option("settings", "KEY.PATH=VALUES", "Values of another key, in the same form")
@click.option("--run", "runs", metavar="NAME", multiple=True, help=f"{RUN_HELP}.")
@add_run_options
def sweep(
    config: Path | None,
    sizes: str | None,
    settings: tuple[str, ...],
    runs: tuple[str, ...],
    options: RunOptions,
) -> None:
    """Run a configuration over many values of M, or of any other key.

    Without CONFIG the quickstart is used. The results are written to a separate folder, named after
    the swept values. `50:1000` means 20 even steps (or all integers, if there are fewer),
    `50:1000:50` sets the step, and `log:50:1000:8` gives 8 values with equal ratios.

    \b
    Examples:
        rfbench sweep --M 50:1000
        rfbench sweep configs/quickstart.yaml --M log:10:1000:7 --trials 3
        rfbench sweep --M 200 --set samplers.eerf.pool_size=1000,2000,4000
        rfbench sweep --M 100 --set bandwidth=2,4,8,16
    """
    from rfbench import aliases, grids
    from rfbench import config as configuration
    from rfbench.cli.running import RunRequest, run_experiments
    from rfbench.config import sweeps

    if not sizes and not settings:
        raise click.UsageError("Name the key to sweep: --M 50:1000, or --set KEY=VALUES.")
    if len(runs) > 1:
        raise click.UsageError(
            "A sweep varies one run. Name one run with --run, or start one sweep per run."
        )
    swept = [f"M={sizes}"] if sizes else []
    axes: sweeps.Choices = {}
    named = [*swept]
    for text in settings:
        key, sign, values = text.partition("=")
        key = aliases.resolve_path(key)
        values = ",".join(aliases.resolve_text(value, key) for value in values.split(","))
        if not sign or key in axes:
            what = (
                "sets a key for the second time"
                if sign
                else "does not have the form KEY.PATH=VALUES"
            )
            raise ConfigError(f"--set {text} {what}.", "", "Write for example --set seed=1,2.")
        axes[key] = {f"{key}={value}": {key: value} for value in grids.expand_grid_text(values)}
        named.append(f"{key}={values}")
    path = config or Path("quickstart")
    # If the configuration is stored in the folder of a paper, this call loads the paper.
    _find_configurations([path], (), options)
    documents = configuration.read_run_documents(path, [*swept, *options.overrides])
    run_name, document = configuration.choose_run(path, documents, *runs)
    combinations = sweeps.iterate_combinations(axes)
    experiments = [
        sweeps.apply_changes(
            document,
            run_name,
            sweeps.get_settings(axes, combination),
            allow_imports=options.allow_imports,
        )
        for combination in combinations
    ]
    folder = _sweep_name(experiments[0].name, named)
    variants = [", ".join(combination.values()) for combination in combinations]
    run_experiments([RunRequest(folder, experiments, variants)], options)


def _sweep_name(stem: str, settings: Sequence[str]) -> str:
    from rfbench.experiment.plan import compute_digest

    folder_name = "_".join(settings).replace(":", "..").replace(",", "+").replace(" ", "")
    readable = "".join(c if c.isalnum() or c in "._+=-" else "-" for c in folder_name)
    if len(readable) > 80:
        readable = readable[:60] + "-" + compute_digest(readable)[:8]
    return f"{stem}-sweep-{readable}"
