"""Working folder of `choose`, whose files are moved to the output folder at the end.

The output folder may contain files of the user. Only files with the names in `NAMED` are replaced.
The file `model.json` is moved last. If the output folder already contains this file, its files with
the names in `NAMED` are from an earlier run of `choose`.
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rfbench import files
from rfbench.errors import ResultsError, raise_as_write_error
from rfbench.results import manifest, predictions
from rfbench.results.reader import TRIALS
from rfbench.results.schema import TRIAL_ID
from rfbench.results.store import LOG, Store

MODEL, CARD, ROWS, FAILURES = "model.joblib", "model.json", "rows.npz", "failures"
# Names of the files, in the order in which the files are moved to the output folder. Predictions
# are moved before trials.csv. Otherwise an interruption could leave a row of trials.csv without its
# predictions.
NAMED = (predictions.PREDICTIONS_KEY, FAILURES, manifest.MANIFEST, TRIALS, LOG, ROWS, MODEL, CARD)
RESULT_FILES = NAMED[:5]


@contextmanager
def make_working_folder(out: Path, *, allow_rows: bool = True) -> Iterator[Path]:
    """Yield a working folder, and move its files to the output folder `out` at the end.

    At the start, the working folder contains the measurements of an earlier or interrupted run. If
    `allow_rows` is False, all measurements are removed from `out`.

    Raise ResultsError if `out` has files of another command, or if another run is using `out`.
    Raise WriteError if a folder cannot be written.
    """
    target = out.resolve()
    above = target.parent / f".{target.name}.choosing"
    place, lock = above / target.name, above / ".lock"
    _check_own(out)
    for file in (lock, place / TRIALS):
        files.check_regular_file(file, target.parent)
    with raise_as_write_error(f"{out} cannot be written", todo="Use another folder with --out."):
        files.make_folder(place)
        files.make_folder(target)
        if not os.access(target, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    try:
        with files.lock_file(lock):
            if not (place / TRIALS).exists():
                for file in _files(target, RESULT_FILES if allow_rows else ()):
                    files.replace(place / file, files.read(target / file, target), place)
            try:
                yield place
                with raise_as_write_error(
                    f"{out} cannot be written", f"The results are in {place}."
                ):
                    _publish(place, target, allow_rows)
            finally:  # keep results that are not in `out`, so that the run can be resumed
                if _content(place / TRIALS) in (b"", _content(target / TRIALS)):
                    files.remove_folder(above)
    except BlockingIOError:
        raise ResultsError(
            f"Another `rfbench choose` is using {out}.",
            "Two runs that write at the same time would corrupt the rows.",
            "Wait until the other run has ended, or use another --out.",
        ) from None


def _check_own(out: Path) -> None:
    """Raise ResultsError if `out` contains files that `choose` would replace but did not write.

    The files of `choose` are recognized by the file `model.json` in the same folder.
    """
    if out.exists() and not out.is_dir():
        raise ResultsError(f"{out} is not a folder.", "", "Use another folder with --out.")
    there = [name for name in NAMED[2:] if os.path.lexists(out / name)]
    if there and not _is_card(out / CARD):
        raise ResultsError(
            f"{out} contains {there[0]}, but not the file {CARD} of `rfbench choose`.",
            "The output of another command would be overwritten.",
            "Use another folder with --out.",
        )


def _is_card(file: Path) -> bool:
    try:
        card: Any = json.loads(files.read(file))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(card, dict) and {"model_sha256", "take"} <= card.keys()


def _content(file: Path) -> bytes:
    return files.read(file) if file.exists() else b""


def _files(folder: Path, names: tuple[str, ...]) -> list[Path]:
    """Return the paths of the files with the given names in a folder, relative to the folder.

    If a name is the name of a subfolder, the files of single fits in this subfolder are returned.
    """
    found: list[Path] = []
    for name in names:
        if (folder / name).is_dir():
            every = (file.relative_to(folder) for file in (folder / name).iterdir())
            found += sorted(file for file in every if TRIAL_ID.fullmatch(file.stem))
        elif os.path.lexists(folder / name):
            found.append(Path(name))
    return found


def _publish(place: Path, target: Path, allow_rows: bool) -> None:
    """Move the new files from the working folder `place` to the output folder `target`.

    If `allow_rows` is False, the measurements of an earlier run are removed first.
    """
    if not allow_rows:  # rows of an earlier run are removed
        for trial_id in Store(target).read_statuses():
            files.remove(predictions.find_file(target, trial_id), target)
        files.remove(target / TRIALS, target)
        files.remove_empty_folder(target / predictions.PREDICTIONS_KEY)
    for file in _files(place, NAMED):
        files.move(place / file, target / file, target)
