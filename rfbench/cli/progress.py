"""A progress bar on a terminal, plain lines elsewhere."""

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
from rfbench.pages import words

# Silence after which a line is printed where there is no bar. Chosen without a measurement: halved,
# a log of a night has twice the lines.
PLAIN_SECONDS = 10.0
# Trials before a forecast. The first one waits for workers, which takes 2.6 s (measured), longer
# than a short trial: at 1 the forecast is several times too long. Doubled, it comes later.
MIN_FINISHED = 3


@contextmanager
def show_progress(
    name: str, total: int, found: int, first: str = ""
) -> Iterator[Callable[[dict[str, Any]], None]]:
    """Show how many trials are done, the last one, their rate, the time left and the failures.

    Parameters
    ----------
    name : str
        Name of the run.
    total : int
        Number of trials to run.
    found : int
        Number of trials that have a row already.
    first : str, default=""
        Description of the first trial. It is printed once if no trial has finished after ten
        seconds, so that a slow first trial is not taken for a program that hangs.

    Yields
    ------
    callable
        The function to call with the row of each finished trial.
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
        # The one that is wrapped where the window is narrow: numbers stay whole.
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
        bar.update(task, advance=1, rate=forecast, failed=failures, cell=name_trial(row))
        if bar.disable and time.monotonic() - last > PLAIN_SECONDS:
            last = time.monotonic()
            text = ", ".join(filter(None, [f"{name}: {done}/{total}", forecast]))
            echo("; ".join(filter(None, [text, failures, f"last: {name_trial(row)}"])), err=True)

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
    """Say how fast trials end and how long the rest takes, once `MIN_FINISHED` have ended.

    The first ones wait for workers to start, and for loops to be compiled.
    """
    if done < MIN_FINISHED:
        return ""
    rate = done / max(seconds, 1e-9)
    return f"{rate:.2g} trials/s, {words.seconds((total - done) / rate)} left"


def name_trial(row: dict[str, Any]) -> str:
    """Name what a trial measured: data set, method, M and the trial's number."""
    size = "" if row.get("M") is None else f", M = {row['M']}"
    return escape_line(f"{row['dataset']}, {row['label']}{size}, trial {row['trial']}")
