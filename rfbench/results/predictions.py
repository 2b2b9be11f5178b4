"""Reader and writer of `predictions/TRIAL_ID.npz`, the files with the test predictions of a trial.

The files are written for runs with ``predictions: true`` in their configuration. The arrays have
one row per test sample: ``rows`` (indices in the data set), ``truth`` (numbers, or class codes),
``predictions`` of shape (n, k) and, for classes, ``probabilities`` of shape (n, K). External
estimators may add further arrays. The file of a trial is written before its row in `trials.csv`.
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
    """Encode arrays as text, so that a result row can contain them.

    The arrays are later written to a file.
    """
    stream = io.BytesIO()
    np.savez(stream, **arrays)  # type: ignore[arg-type]
    return base64.b64encode(stream.getvalue()).decode()


def find_file(folder: Path, trial_id: str) -> Path:
    """Return the path of the file with the stored predictions of a trial."""
    return folder / PREDICTIONS_KEY / f"{trial_id}.npz"


def write(folder: Path, trial_id: str, text: str) -> None:
    """Write the predictions of a trial, encoded as text, to the file of the trial.

    An existing file is replaced. Raise WriteError if the folder cannot be written, and ResultsError
    if the text is not a result of `encode_arrays`.
    """
    try:
        content = base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise ResultsError("A trial did not return predictions.", f"{error}.") from error
    files.replace(find_file(folder, trial_id), content, folder)


def read(folder: Path, trial_id: str) -> dict[str, NDArray[Any]]:
    """Return the stored predictions of a trial as a dictionary of arrays.

    Raise ResultsError if the file is missing or damaged. Nothing is unpickled.
    """
    file = find_file(folder, trial_id)
    try:
        with np.load(io.BytesIO(files.read(file, folder)), allow_pickle=False) as arrays:
            return dict(arrays)
    except (OSError, ValueError, EOFError, KeyError) as error:
        raise ResultsError(
            f"{file} does not contain predictions.",
            f"{error}.",
            "Delete the row of the trial to measure it again.",
        ) from error


def copy(source: Path, folder: Path, trial_id: str) -> None:
    """Copy the stored predictions of a trial from the folder `source` to `folder`.

    Nothing is copied if the source has no predictions of the trial.
    """
    file = find_file(source, trial_id)
    if file.exists():
        files.replace(find_file(folder, trial_id), files.read(file, source), folder)
