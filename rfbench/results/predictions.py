"""`predictions/TRIAL_ID.npz` beside `trials.csv`: what a trial says of its test rows.

Of the runs whose configuration says ``predictions: true``. The arrays of a file have a line per
test row: ``rows`` (their numbers in the data set), ``truth`` (numbers, or class codes),
``predictions`` of shape (n, k), of classes ``probabilities`` of shape (n, K). Of an estimator from
elsewhere there is also what it wants to be stored of itself. A trial's file is on the disk before
its row is.
"""

from __future__ import annotations

import base64
import binascii
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rfbench import files
from rfbench.errors import ResultsError

PREDICTIONS_KEY = "predictions"


def encode_arrays(arrays: Mapping[str, NDArray[Any]]) -> str:
    """Return arrays as text, which a row carries to the process that writes them."""
    stream = io.BytesIO()
    np.savez(stream, **arrays)  # type: ignore[arg-type]
    return base64.b64encode(stream.getvalue()).decode()


def find_file(folder: Path, trial_id: str) -> Path:
    """Return where the arrays of a trial lie."""
    return folder / PREDICTIONS_KEY / f"{trial_id}.npz"


def write(folder: Path, trial_id: str, text: str) -> None:
    """Write the arrays of a trial from their text; those that it had are replaced.

    Raises WriteError: the folder cannot be written. ResultsError: the text is none of
    `encode_arrays`.
    """
    try:
        content = base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise ResultsError("A trial returned no predictions.", f"{error}.") from error
    files.replace(find_file(folder, trial_id), content, folder)


def read(folder: Path, trial_id: str) -> dict[str, NDArray[Any]]:
    """Return the arrays of a trial by name.

    Raises ResultsError: there are none, or the file is torn. Nothing is unpickled.
    """
    file = find_file(folder, trial_id)
    try:
        with np.load(io.BytesIO(files.read(file, folder)), allow_pickle=False) as arrays:
            return dict(arrays)
    except (OSError, ValueError, EOFError, KeyError) as error:
        raise ResultsError(
            f"{file} holds no predictions.", f"{error}.", "Delete its row: it is measured again."
        ) from error


def copy(source: Path, folder: Path, trial_id: str) -> None:
    """Copy the arrays of a trial from another folder, if it has some."""
    file = find_file(source, trial_id)
    if file.exists():
        files.replace(find_file(folder, trial_id), files.read(file, source), folder)
