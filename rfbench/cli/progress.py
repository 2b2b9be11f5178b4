"""A progress bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from typing import Any

import click

PLAIN_SECONDS = 10.0


class Progress:
    """Shows how many trials are done, the last one, their rate, the time left and the failures.

    Of what is called `name`, `total` trials are to run and `found` have a row already.
    """

    def __init__(self, name: str, total: int, found: int, quiet: bool = False) -> None:
        self.name, self.total, self.found, self.quiet = name, total, found, quiet
        self.done = self.failed = 0
        self.start = self.last = time.monotonic()
        self.bar: Any = None

    def __enter__(self) -> Progress:
        if self.quiet:
            return self
        there = f" ({self.found} are there already)" if self.found else ""
        click.echo(f"{self.name}: {self.total} trials to run{there}", err=True)
        if sys.stderr.isatty() and self.total:
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
            from rich.progress import Progress as Bar
            from rich.table import Column

            self.bar = Bar(
                BarColumn(bar_width=16),
                MofNCompleteColumn(),
                TextColumn("{task.fields[rate]} trials/s, left"),
                TimeRemainingColumn(),
                TextColumn("{task.fields[failed]}", style="red"),
                # The one that is wrapped where the window is narrow: numbers stay whole.
                TextColumn("{task.fields[cell]}", markup=False, table_column=Column()),
                console=Console(stderr=True),
                transient=True,
            )
            self.task = self.bar.add_task(self.name, total=self.total, rate="-", failed="", cell="")
            self.bar.start()
        return self

    def row(self, row: dict[str, Any]) -> None:
        """Count one finished trial."""
        self.done += 1
        self.failed += row["status"] != "ok"
        seconds = max(time.monotonic() - self.start, 1e-9)
        rate = self.done / seconds
        failures = f"{self.failed} failed" if self.failed else ""
        if self.quiet:
            return
        if self.bar:
            self.bar.update(
                self.task, advance=1, rate=f"{rate:.2g}", failed=failures, cell=cell(row)
            )
        elif time.monotonic() - self.last > PLAIN_SECONDS:
            self.last = time.monotonic()
            left = (self.total - self.done) / rate
            text = f"{self.name}: {self.done}/{self.total}, {rate:.2g} trials/s, {left:.0f} s left"
            said = [text, failures, f"last: {cell(row)}"]
            click.echo("; ".join(filter(None, said)), err=True)

    def __exit__(self, *_: object) -> None:
        if self.bar:
            self.bar.stop()
        if self.done and not self.quiet:
            seconds = time.monotonic() - self.start
            click.echo(f"{self.name}: {self.done} trials in {seconds:.1f} s", err=True)


def cell(row: dict[str, Any]) -> str:
    """Name what a trial measured: data set, method, M and the trial's number."""
    size = "" if row.get("M") is None else f", M = {row['M']}"
    return f"{row['dataset']}, {row['label']}{size}, trial {row['trial']}"
