"""Display of the progress of a run: a bar on a terminal, or plain lines in other outputs."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Column

from rfbench.cli.terminal import echo
from rfbench.escaping import escape_line
from rfbench.pages import formatting

# Number of seconds between two progress lines. These lines replace the progress bar if the output
# is not a terminal. The value was chosen without a measurement. With half this value, the log of
# one night has twice as many lines.
PLAIN_SECONDS = 10.0
# Number of trials that must finish before the remaining time is estimated. The first trial includes
# the start of the workers, measured as 2.6 s. An estimate after one short trial would therefore be
# several times too long. With twice this value, the estimate appears later.
MIN_FINISHED = 3


@contextmanager
def show_progress(
    name: str, total: int, found: int, first: str = ""
) -> Iterator[Callable[[dict[str, Any]], None]]:
    """Show the progress of a run: finished and failed trials, rate, remaining time, and last trial.

    Parameters
    ----------
    name : str
        Name of the run.
    total : int
        Number of trials to run.
    found : int
        Number of trials that had a row before the run.
    first : str, default=""
        Description of the first trial. It is printed once if no trial has finished after ten
        seconds, so that users see that the program is running.

    Yields
    ------
    callable
        Function that has to be called with the row of each finished trial.
    """
    there = f" ({found} measured before)" if found else ""
    echo(f"{name}: {total} trials to run{there}", err=True)
    done = failed = 0
    start = last = time.monotonic()
    bar = Progress(
        BarColumn(bar_width=16),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TextColumn("{task.fields[failed]}", style="red"),
        # In a narrow terminal, only the text in this column is wrapped, so that numbers are never
        # split.
        TextColumn("{task.fields[cell]}", markup=False, table_column=Column()),
        console=Console(stderr=True),
        transient=True,
        disable=not (sys.stderr.isatty() and total),
    )
    task = bar.add_task(name, total=total, rate="", failed="", cell="")

    def explain_silence() -> None:
        if bar.disable:
            seconds = f"{PLAIN_SECONDS:.0f} s"
            echo(f"{name}: no trial has finished after {seconds}; running: {first}", err=True)
        else:
            bar.update(task, cell=f"running: {first}")

    silence = threading.Timer(PLAIN_SECONDS, explain_silence)
    silence.daemon = True

    def ended(row: dict[str, Any]) -> None:
        nonlocal done, failed, last
        silence.cancel()
        done += 1
        failed += row["status"] != "ok"
        forecast = _forecast(done, total, time.monotonic() - start)
        failures = f"{failed} failed" if failed else ""
        bar.update(
            task, advance=1, rate=forecast, failed=failures, cell=describe_trial_briefly(row)
        )
        if bar.disable and time.monotonic() - last > PLAIN_SECONDS:
            last = time.monotonic()
            text = ", ".join(filter(None, [f"{name}: {done}/{total}", forecast]))
            echo(
                "; ".join(filter(None, [text, failures, f"last: {describe_trial_briefly(row)}"])),
                err=True,
            )

    try:
        with bar:
            if total and first:
                silence.start()
            yield ended
    finally:
        silence.cancel()
        if done:
            echo(f"{name}: {done} trials in {time.monotonic() - start:.1f} s", err=True)


def _forecast(done: int, total: int, seconds: float) -> str:
    """Return a text for the progress bar: trials per second, and remaining time.

    The text is empty until `MIN_FINISHED` trials have ended, because the first trials wait for
    workers to start and for loops to be compiled.
    """
    if done < MIN_FINISHED:
        return ""
    rate = done / max(seconds, 1e-9)
    return f"{rate:.2g} trials/s, {formatting.format_seconds((total - done) / rate)} left"


def describe_trial_briefly(row: dict[str, Any]) -> str:
    """Return a short description of a trial: data set, method, size and trial number."""
    size = "" if row.get("M") is None else f", M = {row['M']}"
    return escape_line(f"{row['dataset']}, {row['label']}{size}, trial {row['trial']}")
