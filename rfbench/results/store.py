"""Writer of the file `trials.csv` of a results folder.

Rows are only appended, by a single process.
"""

from __future__ import annotations

import datetime
import logging
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from rfbench import files
from rfbench.errors import ResultsError, WriteError, raise_as_write_error
from rfbench.results import manifest as manifests
from rfbench.results.lines import CHECK, encode_cells, with_checksum
from rfbench.results.reader import (
    TRIALS,
    describe_invalid_lines,
    iterate_valid_rows_in_pieces,
    parse_trials_csv,
)
from rfbench.results.schema import COLUMNS, SCHEMA

TORN = "trials.csv.torn"
# Log file of a results folder, with one dated line for each event of a run.
LOG = "rfbench.log"
# File with the ids of trials that were started and have not finished.
BEGUN = ".begun"
# Maximum number of characters of a cell in trials.csv. The csv module of Python rejects cells with
# more than 131,072 characters.
MAX_MESSAGE_LENGTH = 100_000

log = logging.getLogger(__name__)


def append_to_log(folder: Path, event: str) -> None:
    """Append an event to the log file of a results folder. Errors of writing are ignored."""
    now = datetime.datetime.now().astimezone().isoformat(" ", timespec="seconds")
    line = f"{now} {' '.join(event.split())}\n"
    with suppress(OSError, ResultsError):
        files.append(folder / LOG, line.encode(errors="backslashreplace"))


class Store:
    """Results folder of a configuration, which is created when the first row is written."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.csv, self._begun = folder / TRIALS, folder / BEGUN

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Lock the results folder, so that only one run writes to it.

        The lock ends with the process, even after a crash. Raise ResultsError if a different run
        holds the lock.
        """
        lock, owner = self.folder / ".lock", self.folder / ".owner"
        for file in (self.csv, self.folder / TORN, lock, owner):
            files.check_regular_file(file)
        held = ExitStack()
        try:
            files.make_folder(self.folder)
            held.enter_context(files.lock_file(lock))
        except BlockingIOError:
            who = files.read(owner).decode().strip() if owner.exists() else "another run"
            raise ResultsError(
                f"Another run is using {self.folder}: {who}.",
                "Two runs that write at the same time would corrupt the rows.",
                "Wait until the other run has ended, or use another --out.",
            ) from None
        except OSError as error:
            raise WriteError(
                f"The results folder {self.folder} cannot be written: {error.strerror}.",
                "",
                "Use another folder with --out.",
            ) from error
        with held:
            now = datetime.datetime.now().isoformat(" ", timespec="seconds")
            files.replace(owner, f"process {os.getpid()}, since {now}\n".encode())
            try:
                yield
            finally:
                files.remove(owner)

    def read_started(self) -> set[str]:
        """Return the ids of trials that had started when a run was interrupted.

        One of these trials may have caused the interruption, for example by exhausting the memory.
        Therefore these trials are run last, one at a time. The folder has to be locked.
        """
        there = os.path.lexists(self._begun)
        return set(files.read(self._begun).decode(errors="replace").split()) if there else set()

    def mark_started(self, trial_id: str) -> None:
        """Record in a file that a trial was started.

        The record is not forced to disk, but it survives a crash of the process.
        """
        files.append(self._begun, f"{trial_id}\n".encode(), force=False)

    def finish_run(self, left: Collection[str]) -> None:
        """Remove the record of the trials that were started, except the trials in `left`."""
        if left:
            files.replace(self._begun, "".join(f"{trial_id}\n" for trial_id in left).encode())
        else:
            files.remove(self._begun)

    def save_traceback(self, trial_id: str, text: str) -> None:
        """Write the traceback of a failed trial to `failures/TRIAL_ID.txt`."""
        target = self.folder / "failures" / f"{trial_id}.txt"
        files.replace(target, text.encode(errors="backslashreplace"), self.folder)

    def repair(self) -> dict[str, str]:
        """Move invalid rows to `trials.csv.torn`, and add missing columns to an older `trials.csv`.

        Return the status of each trial, as `read_statuses` does. The trials of the invalid rows
        have no status, so that they are measured again. The folder has to be locked. Raise
        ResultsError if the file has unknown columns. The file is then not changed.
        """
        if not self._has_header():
            if self.csv.exists() and self.csv.stat().st_size:
                self._quarantine([files.read(self.csv)])
                files.replace(self.csv, b"")
            return {}
        table = parse_trials_csv(self.csv)
        check_columns(self.csv, table.header)
        if table.broken:
            self._quarantine([line for line, _ in table.broken.values()])
            for what in describe_invalid_lines(table.broken):
                log.warning("%s: %s It is in %s.", self.folder, what, TORN)
                append_to_log(self.folder, f"repaired: {what} The removed text is in {TORN}.")
        if table.broken or tuple(table.header) != COLUMNS:
            rows = self._with_machine(table.iterate_named())
            files.replace(self.csv, b"".join([_HEADER, *(encode_row(row) + b"\n" for row in rows)]))
        return dict(zip(table.values["trial_id"], table.values["status"], strict=True))

    def _has_header(self) -> bool:
        if not self.csv.exists():
            return False
        with files.open_checked(self.csv) as file:
            return file.readline().endswith(b"\n")

    def _quarantine(self, lines: Sequence[bytes]) -> None:
        torn = b"".join(line.rstrip(b"\n") + b"\n" for line in lines)
        files.append(self.folder / TORN, torn)

    def read_rows(self) -> list[dict[str, str]]:
        """Return the last valid row of each trial in `trials.csv` as strings.

        Invalid rows are skipped. Raise ResultsError if the header of the file is not valid.
        """
        rows = parse_trials_csv(self.csv).iterate_named() if self._has_header() else ()
        return self._with_machine({row["trial_id"]: row for row in rows}.values())

    def read_statuses(self) -> dict[str, str]:
        """Return the status of each trial that has a valid row in `trials.csv`.

        The keys of the result are trial ids. Raise ResultsError if the header of the file is not
        valid.
        """
        done: dict[str, str] = {}
        for piece in iterate_valid_rows_in_pieces(self.csv) if self._has_header() else ():
            done |= zip(piece.values["trial_id"], piece.values["status"], strict=True)
        return done

    def _with_machine(self, rows: Iterable[dict[str, str]]) -> list[dict[str, str]]:
        """Return the rows with a value for the column `machine`.

        Rows of earlier versions were written without this column.
        """
        older = manifests.find_machine_of_older_rows(manifests.read_if_valid(self.folder, []))
        return [{**row, "machine": row.get("machine") or older} for row in rows]

    def append(self, row: Mapping[str, Any]) -> None:
        """Append one row to `trials.csv`, and force it to disk."""
        with raise_as_write_error(
            f"A row could not be written to {self.csv}",
            "The earlier rows are on disk.",
            "Free disk space, or use another --out. Then run the same command again.",
        ):
            files.make_folder(self.folder)
            files.append(self.csv, encode_row(row) + b"\n", _HEADER)


def check_columns(file: Path, names: Iterable[str]) -> None:
    """Raise ResultsError if any of the column names is unknown in this version of rfbench.

    `file` is named in the message.
    """
    for name in names:
        if name not in SCHEMA:
            raise ResultsError(
                f"{file} has a column {name}, which this version of rfbench does not have.",
                "The rows of the file cannot be combined with rows of this version.",
                "Use the version that has written the file, or a different folder.",
            )


def encode_row(row: Mapping[str, Any]) -> bytes:
    """Encode a result row as one line of `trials.csv`, with its checksum and without the line end.

    A value with a wrong type or without a column is left out, and the trial is recorded as failed.
    """
    cells = {name: _cell(row.get(name)) for name in COLUMNS if name != CHECK}
    faults = [f"There is no column {name} in results/schema.py." for name in row.keys() - SCHEMA]
    for name, cell in cells.items():
        if not SCHEMA[name].is_valid(cell):
            faults.append(
                f"Column {name} cannot contain {cell[:40]} (expected: {SCHEMA[name].form})."
            )
            cells[name] = ""
    if faults:
        cells |= {"status": "failed", "message": " ".join(faults)}
    return with_checksum(list(cells.values()))


def _cell(value: Any) -> str:
    """Return a value as a string for `trials.csv`.

    Numbers have all digits, text is on one line, and None and NaN are empty.
    """
    if value is None or value != value:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return repr(float(value))
    return " ".join(str(value).replace("\0", " ").split())[:MAX_MESSAGE_LENGTH]


_HEADER = encode_cells(COLUMNS) + b"\n"
