"""The options that `rfbench run`, `sweep` and `audit` share."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from rfbench.experiment.worker import Limits

Command = Callable[..., Any]
FILE = click.Path(path_type=Path)
FOLDER = click.Path(path_type=Path, file_okay=False)
WHOLE = click.IntRange(1)
RUN = "The run of the file, as `rfbench list configs` has it: eeg.printed"


@dataclass(frozen=True)
class RunOptions:
    """What the command line says about which trials to run, where and within what."""

    trials: int | None
    jobs: int | None
    out: Path
    smoke: bool
    allow_imports: bool
    timeout: float | None
    memory: str
    executor: str
    retry: tuple[str, ...]
    only: tuple[str, ...]
    shard: tuple[int, int] | None
    fail_fast: bool
    dry_run: bool
    quiet: bool
    verbose: bool

    @property
    def overrides(self) -> list[str]:
        """What they set of a configuration."""
        return [f"trials={self.trials}"] if self.trials else []

    @property
    def base(self) -> Path:
        """The folder of the results folders."""
        return self.out / "smoke" if self.smoke else self.out

    def limits(self, workers: int) -> Limits:
        """Return the limits of one of so many workers; a remote one has them for itself."""
        from rfbench.experiment.worker import Limits, memory_share

        if self.executor == "local":
            return Limits(memory_share(self.memory, workers), self.timeout)
        amount = None if self.memory.endswith("%") else memory_share(self.memory, 1)
        return Limits(amount, self.timeout)


def _shard(ctx: click.Context, param: click.Parameter, value: str | None) -> Any:
    """Return the number of a part, from 1, and how many there are."""
    number, _, count = (value or "").partition("/")
    if number.isdecimal() and count.isdecimal() and 1 <= int(number) <= int(count):
        return int(number), int(count)
    if value is None:
        return None
    raise click.BadParameter(f"{value} is not a part of a run; write 3/20.")


ALLOW_IMPORTS = click.option(
    "--allow-imports",
    is_flag=True,
    help="Let the configuration import any class: that runs its code.",
)
CONFIG = click.argument("config", type=FILE)
OUT = click.option(
    "--out",
    type=FOLDER,
    default=Path("results"),
    show_default=True,
    help="Folder for the results, one sub-folder per configuration.",
)
OPTIONS = (
    click.option("--trials", type=WHOLE, help="Number of trials, in place of the file's."),
    click.option(
        "--jobs",
        type=WHOLE,
        help="Worker processes; default: one per core. Results do not depend on it.",
    ),
    OUT,
    click.option(
        "--smoke",
        is_flag=True,
        help="A few hundred rows, one trial: does it run? Lands in OUT/smoke.",
    ),
    ALLOW_IMPORTS,
    click.option(
        "--timeout",
        type=click.FloatRange(0, min_open=True),
        metavar="SECONDS",
        help="Longest time for one trial; a longer one is a row that says so.",
    ),
    click.option(
        "--memory",
        default="80%",
        show_default=True,
        help="Memory for all workers: a share of what is free, or GiB (6, 1.5). With "
        "--executor, GiB for each of them.",
    ),
    click.option(
        "--executor",
        default="local",
        show_default=True,
        metavar="WHERE",
        help="dask:ADDRESS, ray[:ADDRESS], or module:factory of an executor.",
    ),
    click.option(
        "--retry",
        multiple=True,
        type=click.Choice(["failed", "timeout", "crashed", "memory"]),
        help="Run trials with this status again; may be repeated.",
    ),
    click.option(
        "--only",
        multiple=True,
        metavar="KEY=VALUE",
        help="Only trials with this: dataset, protocol, sampler, label, M, trial, d.",
    ),
    click.option(
        "--shard",
        callback=_shard,
        metavar="K/N",
        help="Run the K-th of N parts, in OUT/NAME/shards; then `rfbench merge OUT/NAME`.",
    ),
    click.option("--fail-fast", is_flag=True, help="Stop at the first failed trial."),
    click.option("--dry-run", is_flag=True, help="Say what would run; write and download nothing."),
    click.option("--quiet", "-q", is_flag=True, help="Print errors only."),
    click.option(
        "--verbose", "-v", is_flag=True, help="Say what is decided: workers, memory, data, trials."
    ),
)


class ColumnName(click.ParamType):  # type: ignore[type-arg]
    """A column as a configuration names it: by a name, or by its number."""

    name = "COLUMN"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> str | int:
        """Return a number for digits."""
        return int(value) if re.fullmatch(r"-?[0-9]+", value) else str(value)


TARGET = click.option("--target", type=ColumnName(), help="The column to predict.")
TASK = click.option(
    "--task",
    type=click.Choice(["classification", "regression"]),
    help="Default: guessed from the target.",
)
DROP = click.option(
    "--drop", type=ColumnName(), multiple=True, help="A column to leave out; repeatable."
)
GROUPS = click.option(
    "--groups", type=ColumnName(), help="Whose rows belong together: whole groups are held out."
)


def setting(name: str, words: str, help: str, option: str = "--set") -> Callable[..., Any]:
    """Return an option `KEY=...` that may be repeated."""
    return click.option(
        option, name, multiple=True, metavar=words, help=f"{help}; may be repeated."
    )


def run_options(command: Command) -> Command:
    """Add the shared options to a command, which gets them as its `options`."""

    @functools.wraps(command)
    def with_options(**words: Any) -> Any:
        shared = {field.name: words.pop(field.name) for field in fields(RunOptions)}
        return command(**words, options=RunOptions(**shared))

    return functools.reduce(lambda made, option: option(made), reversed(OPTIONS), with_options)
