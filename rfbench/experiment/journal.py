"""A job's rows on the disk while the job still runs, so that a killed run loses none."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from rfbench.experiment.plan import Job

FOLDER = ".unfinished"


class Journal:
    """The file of one job in `RESULTS/.unfinished`: lines of JSON, each a start or a row.

    The worker writes it; the runner moves its rows to `trials.csv` and removes it, either when
    the job is done or when the next run finds it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.trace = path.with_suffix(".trace")

    @classmethod
    def of(cls, folder: Path, job: Job) -> Journal:
        """Return the journal of a job in a results folder: its first trial names it."""
        return cls._of_trial(folder, job.trials[0].id)

    @classmethod
    def _of_trial(cls, folder: Path, trial_id: str) -> Journal:
        return cls(folder / FOLDER / f"{trial_id}.jsonl")

    @classmethod
    @contextmanager
    def open(cls, folder: Path, job: Job) -> Iterator[Journal]:
        """Open the journal of a job for writing."""
        with cls.of(folder, job)._opened() as journal:
            yield journal

    @classmethod
    def suspect(cls, folder: Path, trial_id: str) -> None:
        """Keep in mind, until the trial has a row, that a run was cut off while it was at work."""
        with suppress(OSError), cls._of_trial(folder, trial_id)._opened() as journal:
            journal.begin(trial_id)

    @contextmanager
    def _opened(self) -> Iterator[Journal]:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as self._file:
            yield self

    _file: IO[str]

    def begin(self, trial_id: str) -> None:
        """Say that a trial begins, for whoever finds the worker dead: no disk is forced."""
        self._write({"started": trial_id})

    def add(self, row: dict[str, Any]) -> None:
        """Write a finished row."""
        self._write({"row": row})
        os.fsync(self._file.fileno())

    def _write(self, line: dict[str, Any]) -> None:
        self._file.write(json.dumps(line, default=_plain) + "\n")
        self._file.flush()

    @contextmanager
    def traces(self) -> Iterator[IO[str]]:
        """Open the file that a crash or a timeout writes its traceback to."""
        with self.trace.open("w", encoding="utf-8") as file:
            yield file

    def read(self) -> tuple[list[dict[str, Any]], str | None]:
        """Return the finished rows, and the id of the trial that was begun but not finished."""
        rows: list[dict[str, Any]] = []
        started: str | None = None
        try:
            lines = self.path.read_text(encoding="utf-8").splitlines()
        except FileNotFoundError:
            return [], None
        for text in lines:
            try:
                line = json.loads(text)
            except ValueError:
                continue
            if "row" in line:
                rows.append(line["row"])
                started = None
            else:
                started = line["started"]
        return rows, started

    def crash_report(self) -> str:
        """Return what the worker's fault handler wrote before it died, or an empty string."""
        try:
            return self.trace.read_text(encoding="utf-8")
        except FileNotFoundError:
            return ""

    def remove(self) -> None:
        """Remove its files, not the folder: another worker may be about to open its own."""
        self.path.unlink(missing_ok=True)
        self.trace.unlink(missing_ok=True)


def remove_folder(folder: Path) -> None:
    """Remove the journals' folder, once no worker runs, if it is empty."""
    with suppress(OSError):
        (folder / FOLDER).rmdir()


def leftovers(folder: Path) -> list[Journal]:
    """Return the journals that an earlier run left in a results folder."""
    return [Journal(path) for path in sorted((folder / FOLDER).glob("*.jsonl"))]


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else str(value)
