"""`trials.csv` and `manifest.json` of a results folder: append-only, one writer."""

from __future__ import annotations

import csv
import datetime
import io
import json
import logging
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from rfbench.errors import ResultsError, WriteError
from rfbench.metrics import METRICS

log = logging.getLogger(__name__)

COLUMNS = (
    "trial_id", "setting", "config", "protocol", "dataset", "n_train", "n_test", "d", "sampler",
    "label", "variant", "parameters", "kernel", "bandwidth", "bandwidth_rule", "feature_map", "M",
    "columns", "kept", "trial", "solver", "alpha", "alpha_convention", "alpha_scale_free",
    "selection", "intercept", "split", "scaling", "dtype", "seed", *METRICS,
    "t_pp", "t_features", "t_train", "t_test", "cpu_pp", "cpu_features", "cpu_train", "cpu_test",
    "timing", "shared_M", "threads", "workers", "peak_rss_mb", "status", "message", "data_hash",
    "version",
)  # fmt: skip

# Columns that files of earlier versions lack; what is read from those is empty there.
ADDED = ("train_error",)


class Store:
    """The results folder of one configuration.

    Parameters
    ----------
    folder : Path
        Made when the first row or the manifest is written.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.csv = folder / "trials.csv"
        self.manifest = folder / "manifest.json"

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Hold the folder for one run; the lock ends with the process, however that ends.

        Raises
        ------
        ResultsError
            Another run holds it.
        """
        held = FileLock(self.folder / ".lock")
        owner = self.folder / ".owner"
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            held.acquire(timeout=0)
        except Timeout:
            who = owner.read_text(encoding="utf-8").strip() if owner.exists() else "another run"
            raise ResultsError(
                f"Another run is at work on {self.folder}: {who}.",
                "Two writers would spoil each other's rows.",
                "Wait for it, or give another --out.",
            ) from None
        except OSError as error:
            raise _not_writable(self.folder, error) from error
        try:
            now = datetime.datetime.now().isoformat(" ", timespec="seconds")
            owner.write_text(f"process {os.getpid()}, since {now}\n", encoding="utf-8")
            yield
        finally:
            owner.unlink(missing_ok=True)
            held.release()

    def keep_traceback(self, trial_id: str, text: str) -> None:
        """Write the traceback of a failed trial to `failures/TRIAL_ID.txt`."""
        target = self.folder / "failures" / f"{trial_id}.txt"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")

    def mend(self) -> None:
        """Move a last line that was cut off to `trials.csv.torn`; call it with the lock held."""
        if not self.csv.exists():
            return
        content = self.csv.read_bytes()
        keep = content.rfind(b"\n") + 1
        if keep == len(content):
            return
        with (self.folder / "trials.csv.torn").open("ab") as torn:
            torn.write(content[keep:] + b"\n")
        with self.csv.open("r+b") as file:
            file.truncate(keep)
        log.warning(
            "%s ended in the middle of a row; the torn row is in trials.csv.torn.", self.csv
        )

    def rows(self) -> list[dict[str, str]]:
        """Return the whole rows, the last one of each trial; a last line cut off is passed over.

        Raises
        ------
        ResultsError
            The columns are not those of this version, or a row is broken; file and line are named.
        """
        if not self.csv.exists():
            return []
        content = self.csv.read_bytes()
        whole = content[: content.rfind(b"\n") + 1].decode("utf-8", errors="replace")
        reader = csv.reader(io.StringIO(whole, newline=""))
        header = next(reader, None)
        if header is None:
            return []
        missing = {"trial_id", "status"} - set(header)
        if missing:
            raise ResultsError(
                f"{self.csv} has no column {', '.join(sorted(missing))}.",
                "It was not written by rfbench, or its first line is damaged.",
                "Move the file away, or give another --out.",
            )
        if not _is_ours(header):
            raise ResultsError(
                f"{self.csv} has other columns than this version of rfbench writes.",
                "New rows would not fit beneath the old ones.",
                "Move the folder away, or give another --out.",
            )
        found: dict[str, dict[str, str]] = {}
        line = reader.line_num + 1
        for cells in reader:
            if len(cells) != len(header):
                raise ResultsError(
                    f"{self.csv}, line {line}: the row has {len(cells)} cells, "
                    f"{len(header)} are expected.",
                    "It was cut or edited; nothing was measured or written.",
                    "Remove that line: its trial is then measured again.",
                )
            row = dict.fromkeys(COLUMNS, "") | dict(zip(header, cells, strict=True))
            found[row["trial_id"]] = row
            line = reader.line_num + 1
        return list(found.values())

    def done(self) -> dict[str, str]:
        """Return the status of each trial that has a row, by trial_id; see `rows`."""
        return {row["trial_id"]: row["status"] for row in self.rows()}

    def append(self, row: Mapping[str, Any]) -> None:
        """Write one row and force it to the disk before it counts."""
        text = io.StringIO()
        writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            if not self.csv.exists() or self.csv.stat().st_size == 0:
                writer.writeheader()
            else:
                self._widen()
            writer.writerow({column: _cell(row.get(column)) for column in COLUMNS})
            with self.csv.open("ab") as file:
                file.write(text.getvalue().encode())
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise WriteError(
                f"A row could not be written to {self.csv}: {error.strerror}.",
                "The rows before it are on the disk.",
                "Make room, or give another --out, and run the same command again.",
            ) from error

    def _widen(self) -> None:
        """Give the file of an earlier version the columns of this one, its rows as they were."""
        with self.csv.open(encoding="utf-8", newline="") as file:
            reader = csv.DictReader(file)
            if tuple(reader.fieldnames or ()) == COLUMNS:
                return
            rows = list(reader)
        scratch = self.csv.with_suffix(".wider")
        with scratch.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS, restval="", lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
            file.flush()
            os.fsync(file.fileno())
        os.replace(scratch, self.csv)

    def write_manifest(self, content: Mapping[str, Any]) -> None:
        """Write `manifest.json`, the old one staying until the new one is whole."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=self.folder, prefix=".manifest", suffix=".json")
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump(content, file, indent=1, ensure_ascii=False, default=str)
                file.write("\n")
            os.chmod(name, 0o644)
            os.replace(name, self.manifest)
        except OSError as error:
            raise _not_writable(self.folder, error) from error


def _is_ours(header: list[str]) -> bool:
    """Tell whether these are the columns of this version, or of one without those of `ADDED`."""
    lacking = [name for name in ADDED if name not in header]
    return tuple(header) == tuple(name for name in COLUMNS if name not in lacking)


def _not_writable(folder: Path, error: OSError) -> WriteError:
    return WriteError(
        f"The results folder {folder} cannot be written: {error.strerror}.",
        "",
        "Give another folder with --out.",
    )


def _cell(value: Any) -> str:
    """Return a cell: empty for None and NaN, numbers with all their digits, text on one line."""
    if value is None or (isinstance(value, float) and value != value):
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return repr(float(value))
    return " ".join(str(value).split())
