"""The options that `rfbench run` and `rfbench sweep` share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from rfbench.experiment.worker import Limits

Command = Callable[..., Any]


@dataclass(frozen=True)
class RunOptions:
    """What the command line says about limits and about which trials to run."""

    timeout: float | None
    memory: str
    retry: tuple[str, ...]
    only: tuple[str, ...]
    fail_fast: bool

    def limits(self, jobs: int) -> Limits:
        """Return the limits of one of so many workers."""
        from rfbench.experiment.worker import Limits, memory_share

        return Limits(memory_share(self.memory, jobs), self.timeout)


RUN = "The run of the file, as `rfbench list configs` has it: eeg.printed"


def run_options(command: Command) -> Command:
    """Add the shared options to a command."""
    for option in reversed(
        [
            click.option(
                "--trials", type=click.IntRange(1), help="Number of trials, in place of the file's."
            ),
            click.option(
                "--jobs",
                type=click.IntRange(1),
                default=None,
                help="Worker processes; default: one a core. Results do not depend on it.",
            ),
            click.option(
                "--out",
                type=click.Path(path_type=Path, file_okay=False),
                default=Path("results"),
                show_default=True,
                help="Folder for the results, one sub-folder a configuration.",
            ),
            click.option(
                "--smoke",
                is_flag=True,
                help="A few hundred rows, one trial: does it run? Lands in OUT/smoke.",
            ),
            click.option(
                "--allow-imports",
                is_flag=True,
                help="Let the configuration import any class: that runs its code.",
            ),
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
                help="Memory for all workers: a share of what is free, or GiB (6, 1.5).",
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
            click.option("--fail-fast", is_flag=True, help="Stop at the first failed trial."),
            click.option(
                "--dry-run", is_flag=True, help="Say what would run; write and download nothing."
            ),
        ]
    ):
        command = option(command)
    return command
