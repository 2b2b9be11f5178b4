"""Command line options that several commands share."""

from __future__ import annotations

import functools
import math
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rfbench.cli.terminal import echo
from rfbench.memory import limit_temporarily

if TYPE_CHECKING:
    from rfbench.experiment.worker import Limits

Command = Callable[..., Any]
READING_NAMES = ("separator", "decimal", "encoding", "header", "missing")
FILE_TYPE = click.Path(path_type=Path)
FOLDER_TYPE = click.Path(path_type=Path, file_okay=False)
POSITIVE_INTEGER = click.IntRange(1)  # smallest accepted value, by definition
RUN_HELP = "One run of the file, such as eeg.printed (see `rfbench list configs`)"


def parse_column(text: str) -> str | int:
    """Convert the text of an option to the name of a column, or to its position as an integer."""
    return int(text) if re.fullmatch(r"-?[0-9]+", text) else text


def split_commas(text: str | tuple[str, ...]) -> tuple[str, ...]:
    """Split a comma-separated list of names into a tuple."""
    if isinstance(text, tuple):
        return text
    return tuple(filter(None, (name.strip() for name in text.split(","))))


def make_setting_option(
    name: str, description: str, help: str, option: str = "--set", type: Any = None
) -> Callable[..., Any]:
    """Return a click option such as ``--set KEY=VALUE`` that may be repeated."""
    help = f"{help}; may be repeated."
    return click.option(option, name, multiple=True, type=type, metavar=description, help=help)


def parse_parameter(text: str) -> tuple[str, Any]:
    """Split a text such as ``NAME=VALUE`` into the name and the value of a parameter."""
    from rfbench import yamlfile

    name, sign, value = text.partition("=")
    if not sign:
        raise click.BadParameter(f"{text} does not have the form NAME=VALUE.")
    return name, yamlfile.parse_scalar(value)


CONFIG = click.argument("config", type=FILE_TYPE)
TARGET_OPTION = click.option("--target", type=parse_column, help="Column to predict.")
TASK = click.option(
    "--task",
    type=click.Choice(["classification", "regression"]),
    help="Task (default: inferred from the target). Up to 20 different whole numbers are classes.",
)
DROP = click.option(
    "--drop", type=parse_column, multiple=True, help="Column to leave out; may be repeated."
)
GROUPS_OPTION = click.option(
    "--groups", type=parse_column, help="Column of groups. Complete groups are held out."
)
READING_OPTIONS = (
    click.option("--separator", help="Separator of a CSV (default: detected)."),
    click.option("--decimal", help="Decimal sign of a CSV (default: detected)."),
    click.option(
        "--encoding",
        help="Encoding of a CSV, such as utf-8, utf-16 or latin-1 (default: detected).",
    ),
    click.option(
        "--missing",
        multiple=True,
        metavar="TEXT",
        help="String that means a missing value; may be repeated.",
    ),
    click.option(
        "--header/--no-header",
        default=None,
        help="Whether the first line of a CSV contains the column names.",
    ),
)
ALLOW_IMPORTS = click.option(
    "--allow-imports",
    is_flag=True,
    help="Allow the configuration to import any class, which runs its code.",
)
PAPERS = click.option(
    "--papers",
    "paper_folders",
    metavar="DIR",
    multiple=True,
    type=FILE_TYPE,
    help="Folder of a paper that is not part of rfbench, or of several such "
    "papers; may be repeated.",
)


def include_papers(
    paths: Sequence[Path], paper_folders: Sequence[Path], *, allow_imports: bool = False
) -> tuple[tuple[Path, ...], list[str]]:
    """Load papers that are not part of rfbench until the command ends.

    Papers that cannot be read are skipped with a message. Returns the results folders among
    `paths`, and the names of the papers whose folders are among `paths`. If the folder of a paper
    contains results, it is included in the results folders. If there are papers but no results
    folders, the user's default results folder is returned.

    Raises ResultsError if a path in `paper_folders` contains no paper. Raises ConfigError if none
    of the papers among `paths` can be read.
    """
    from rfbench import papers
    from rfbench.errors import ConfigError
    from rfbench.papers.outside import is_paper_folder
    from rfbench.results.reader import TRIALS

    named = [path for path in paths if is_paper_folder(path)]
    included = papers.include_external_papers([*named, *paper_folders], allow_imports=allow_imports)
    problems = click.get_current_context().with_resource(included)
    names = [path.resolve().name for path in named]
    names = [name for name in names if name in papers.list_external_papers()]
    if named and not names:
        raise ConfigError(*problems[:1])
    for problem in problems:
        echo(f"left out: {problem}", err=True)
    inside = [path for path in named if next(path.rglob(TRIALS), None)]
    others = [path for path in paths if path not in named]
    usual = [find_results_folder()] * (bool(names) and not others + inside)
    return (*others, *inside, *usual), names


RESULTS = Path("results")
OUT = click.option(
    "--out",
    type=FOLDER_TYPE,
    default=RESULTS,
    show_default=True,
    envvar="RFBENCH_OUT",
    help="Folder for the results, one sub-folder per configuration.",
)
AS_JSON = click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="Format of the output; json is for programs.",
)


def find_results_folder() -> Path:
    """Return the default results folder: the value of the variable RFBENCH_OUT, or ``results``."""
    return Path(os.environ.get("RFBENCH_OUT") or RESULTS)


def _named_or_usual(
    context: click.Context, parameter: click.Parameter, folders: tuple[Path, ...]
) -> tuple[Path, ...]:
    if folders:
        return folders
    usual = find_results_folder()
    if not usual.exists():
        raise click.UsageError(f"Name a results folder. The default folder {usual} does not exist.")
    return (usual,)


# nargs=-1 means any number of arguments, by definition of the package click.
RESULTS_OR_USUAL = click.argument(
    "folders", metavar="[RESULTS]...", nargs=-1, type=FILE_TYPE, callback=_named_or_usual
)


def parse_duration(text: str | float) -> float:
    """Convert a positive duration such as 60, 60s, 500ms, 5m, 2h or 1d to seconds."""
    match = re.fullmatch(r"([0-9]*\.?[0-9]+(?:e[+-]?[0-9]+)?) *([a-z]*)", str(text))
    unit = UNIT_SECONDS.get(match[2]) if match else None
    result = float(match[1]) * unit if match and unit else 0.0
    if not 0 < result < math.inf:
        raise click.BadParameter(f"Invalid duration '{text}'; write for example 60s, 5m or 1h.")
    return result


# Duration of each unit of time in seconds, by definition.
UNIT_SECONDS = {"": 1.0, "ms": 1e-3, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0}


def _option(*names: str, **kwargs: Any) -> Any:
    return field(metadata={"option": click.option(*names, **kwargs)})


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """Options of commands such as `rfbench run`: trials, limits, output folder and others.

    Each field is one option of the command line.
    """

    trials: int | None = _option(
        "--trials",
        type=POSITIVE_INTEGER,
        help="Number of trials, instead of the number in the file.",
    )
    jobs: int | None = _option(
        "--jobs",
        type=POSITIVE_INTEGER,
        envvar="RFBENCH_JOBS",
        help="Number of worker processes (default: one per usable core). It affects "
        "only times, unless your own code keeps state in its process.",
    )
    out: Path = field(metadata={"option": OUT})
    smoke: bool = _option(
        "--smoke",
        is_flag=True,
        help="Test run with a few hundred rows and one trial. Results are written to OUT/smoke.",
    )
    allow_imports: bool = field(metadata={"option": ALLOW_IMPORTS})
    timeout: float | None = _option(
        "--timeout",
        type=parse_duration,
        metavar="TIME",
        help="Time limit for one trial, such as 90s or 5m. A longer trial is recorded as failed.",
    )
    memory: str = _option(
        "--memory",
        default="80%",
        show_default=True,
        help="Memory for all workers: a share of the free memory, or GiB (6, 1.5). "
        "With dask, GiB per running trial.",
    )
    executor: str = _option(
        "--executor",
        default="local",
        show_default=True,
        envvar="RFBENCH_EXECUTOR",
        metavar="WHERE",
        help="local, or dask:ADDRESS of a scheduler whose workers run the trials.",
    )
    retry: tuple[str, ...] = _option(
        "--retry",
        multiple=True,
        type=click.Choice(["failed", "timeout", "crashed", "memory"]),
        help="Status of trials to run again; may be repeated.",
    )
    only: tuple[str, ...] = _option(
        "--only",
        multiple=True,
        metavar="KEY=VALUE",
        help="Run only trials with this value of dataset, protocol, sampler, label, "
        "M, trial or d. Repeat a key to allow several values.",
    )
    trials_first: bool = _option(
        "--trial-by-trial",
        "trials_first",
        is_flag=True,
        help="Run the first trial of every run, then the second trial of every run.",
    )
    fail_fast: bool = _option("--fail-fast", is_flag=True, help="Stop at the first failed trial.")
    dry_run: bool = _option(
        "--dry-run",
        is_flag=True,
        help="Count the measured, failed and missing trials. Nothing is written or downloaded.",
    )
    quiet: bool = _option("--quiet", "-q", is_flag=True, help="Print errors only.")

    @property
    def overrides(self) -> list[str]:
        """Settings in options that replace settings of the configuration, such as ``trials=10``."""
        return [] if self.trials is None else [f"trials={self.trials}"]

    @property
    def base(self) -> Path:
        """Folder in which the results folders are created."""
        return self.out / "smoke" if self.smoke else self.out

    def make_limits(self, workers: int) -> Limits:
        """Return the memory limit and the time limit of one worker process.

        The memory is divided by `workers`, the number of local workers. The number is not used for
        dask.
        """
        from rfbench.experiment.worker import Limits, compute_memory_share

        if self.executor == "local":
            return Limits(compute_memory_share(self.memory, workers), self.timeout)
        amount = None if self.memory.endswith("%") else compute_memory_share(self.memory, 1)
        return Limits(amount, self.timeout)


def add_reading_options(command: Command) -> Command:
    """Add the options for reading a data file, such as ``--separator``, to a command.

    Only options that the user specifies are passed to the command.
    """

    @functools.wraps(command)
    def with_reading(**kwargs: Any) -> Any:
        return command(
            **{k: v for k, v in kwargs.items() if k not in READING_NAMES or v not in (None, ())}
        )

    for option in reversed(READING_OPTIONS):
        with_reading = option(with_reading)
    return with_reading


def add_run_options(command: Command) -> Command:
    """Add the options of `RunOptions`, such as ``--trials``, to a command.

    The command receives them as the argument `options`.
    """

    @functools.wraps(command)
    def with_options(**kwargs: Any) -> Any:
        from rfbench.experiment.worker import compute_memory_share

        options = RunOptions(**{each.name: kwargs.pop(each.name) for each in fields(RunOptions)})
        limited = limit_temporarily(
            compute_memory_share(options.memory, 1)
        )  # the user's own data are read in this process, so its memory is limited
        with limited:
            return command(**kwargs, options=options)

    made = with_options
    for each in reversed(fields(RunOptions)):
        made = each.metadata["option"](made)
    return made
