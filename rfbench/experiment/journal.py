"""A job's rows on the disk while the job still runs, so that a killed run loses none."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

FOLDER = ".unfinished"


class Journal:
    """The file of one job in `RESULTS/.unfinished`: lines of JSON, each a start or a row.

    The job's first trial names it. The worker writes it; the runner moves its rows to `trials.csv`
    and removes it, either when the job is done or when the next run finds it.
    """

    def __init__(self, folder: Path, first_trial: str) -> None:
        self.path = folder / FOLDER / f"{first_trial}.jsonl"
        # What a crash or a timeout writes its traceback to.
        self.trace = self.path.with_suffix(".trace")

    def begin(self, trial_id: str) -> None:
        """Say that a trial begins, for whoever finds the worker dead: no disk is forced."""
        self._write({"started": trial_id}, force=False)

    def add(self, row: dict[str, Any]) -> None:
        """Write a finished row."""
        self._write({"row": row}, force=True)

    def _write(self, line: dict[str, Any], *, force: bool) -> None:
        # Opened for each line: a trial may have closed all files.
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
            if force:
                file.flush()
                os.fsync(file.fileno())

    def read(self) -> tuple[list[dict[str, Any]], str | None]:
        """Return the finished rows, and the id of the trial that was begun but not finished."""
        rows: list[dict[str, Any]] = []
        started: str | None = None
        for text in _text(self.path).splitlines():
            with suppress(ValueError):  # a torn line
                line = json.loads(text)
                started = line.get("started")
                rows += [line["row"]] if "row" in line else []
        return rows, started

    def crash_report(self) -> str:
        """Return what the worker's fault handler wrote before it died, or an empty string."""
        return _text(self.trace)

    def remove(self) -> None:
        """Remove its files, not the folder: another worker may be about to open its own."""
        self.path.unlink(missing_ok=True)
        self.trace.unlink(missing_ok=True)


def suspect(folder: Path, trial_id: str) -> None:
    """Keep in mind, until the trial has a row, that a run was cut off while it was at work."""
    with suppress(OSError):
        Journal(folder, trial_id).begin(trial_id)


def remove_folder(folder: Path) -> None:
    """Remove the journals' folder, once no worker runs, if it is empty."""
    with suppress(OSError):
        (folder / FOLDER).rmdir()


def leftovers(folder: Path) -> list[Journal]:
    """Return the journals that an earlier run left in a results folder."""
    return [Journal(folder, path.stem) for path in sorted((folder / FOLDER).glob("*.jsonl"))]


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""
