"""A job's rows on the disk while the job still runs, so that a killed run loses none."""

from __future__ import annotations

import errno
import json
import os
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from rfbench import files
from rfbench.results import kept_features, manifest
from rfbench.results.lines import CHECK, opened, sealed
from rfbench.results.store import line_of, row_of

FOLDER = ".unfinished"
EXTRAS = (kept_features.KEY, manifest.MACHINES, "traceback")


class Journal:
    """The file of one job in `RESULTS/.unfinished`: lines of JSON, each a start or a row.

    A row is the line that `trials.csv` gets, with its check, beside what comes with it; the line of
    JSON has a check of its own. The job's first trial names the file. The worker writes it; the
    runner moves its rows to `trials.csv` and removes it, either when the job is done or when the
    next run finds it.
    """

    def __init__(self, folder: Path, first_trial: str) -> None:
        self.folder = folder
        self.path = folder / FOLDER / f"{first_trial}.jsonl"
        # What a crash or a timeout writes its traceback to.
        self.trace = self.path.with_suffix(".trace")
        self.was_closed = False  # by a trial that closed a file that is not its own
        self.changed = 0  # lines that `read` left out
        self._descriptor = -1

    def begin(self, trial_id: str) -> None:
        """Say that a trial begins, for whoever finds the worker dead: no disk is forced."""
        self._write({"started": trial_id}, force=False)

    def add(self, row: dict[str, Any]) -> None:
        """Write a finished row, and what comes with it and is no column."""
        extras = {name: value for name, value in row.items() if name in EXTRAS}
        cells = {name: value for name, value in row.items() if name not in EXTRAS}
        self._write({"row": line_of(cells).decode(), **extras}, force=True)

    def _write(self, line: dict[str, Any], *, force: bool) -> None:
        data = json.dumps(sealed(line)).encode() + b"\n"
        try:
            self._append(data, force)
        except OSError as error:
            if error.errno != errno.EBADF:
                raise
            self.was_closed, self._descriptor = True, -1
            self._append(data, force)

    def _append(self, data: bytes, force: bool) -> None:
        if self._descriptor < 0:
            files.check(self.path, self.folder)
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
        while data:
            data = data[os.write(self._descriptor, data) :]
        if force:
            os.fsync(self._descriptor)

    def close(self) -> None:
        """Close its file, if one is open."""
        with suppress(OSError):
            os.close(self._descriptor)
        self._descriptor = -1

    def read(self) -> tuple[list[dict[str, Any]], str | None]:
        """Return the finished rows, and the id of the trial that was begun but not finished.

        A line that is cut, or was changed, or that an earlier version wrote, is none: its trial
        counts as not measured.
        """
        rows: list[dict[str, Any]] = []
        started: str | None = None
        self.changed = 0
        for text in _bytes(self.path, self.folder).splitlines():
            try:
                sealed_line = json.loads(text)
                if CHECK not in sealed_line:
                    raise ValueError("A line of an earlier version has no check.")
                line = opened(sealed_line)
                if "row" in line:
                    row = row_of(line.pop("row").encode())
                    rows.append(row | line)
                started = line.get("started")
            except (ValueError, TypeError, AttributeError, RecursionError):
                self.changed += 1
        return rows, started

    def crash_report(self) -> str:
        """Return what the worker's fault handler wrote before it died, or an empty string."""
        return _bytes(self.trace, self.folder).decode(errors="backslashreplace")

    def remove(self) -> None:
        """Remove its files, not the folder: another worker may be about to open its own."""
        self.path.unlink(missing_ok=True)
        self.trace.unlink(missing_ok=True)


def suspect(folder: Path, trial_id: str) -> None:
    """Keep in mind, until the trial has a row, that a run was cut off while it was at work."""
    with suppress(OSError), closing(Journal(folder, trial_id)) as journal:
        journal.begin(trial_id)


def remove_folder(folder: Path) -> None:
    """Remove the journals' folder, once no worker runs, if it is empty."""
    with suppress(OSError):
        (folder / FOLDER).rmdir()


def leftovers(folder: Path) -> list[Journal]:
    """Return the journals that an earlier run left in a results folder."""
    there = (folder / FOLDER).glob("*.*")
    names = {path.stem for path in there if path.suffix in (".jsonl", ".trace")}
    return [Journal(folder, name) for name in sorted(names)]


def _bytes(path: Path, top: Path) -> bytes:
    return files.read(path, top) if os.path.lexists(path) else b""
