"""Rows that were read once, kept for the next time in the folder of this user."""

from __future__ import annotations

import logging
import os
import tempfile
from collections.abc import Callable
from typing import TYPE_CHECKING

from rfbench.datasets import hashes

if TYPE_CHECKING:
    from rfbench.datasets.columns import Parsed

log = logging.getLogger(__name__)


def found(sha256: str) -> Parsed | None:
    """Return the rows that were kept of data with an identity, arrays as maps of the file.

    Nobody else writes into the folder, so that what is unpickled is this user's own.
    """
    import joblib

    path = hashes.user_folder() / "rows" / sha256
    try:
        parsed: Parsed = joblib.load(path, mmap_mode="r")
        return parsed
    except FileNotFoundError:
        return None
    except Exception as error:  # of a damaged file pickle raises almost anything
        log.warning("%s cannot be used and is made anew: %s", path, error)
        return None


def kept(sha256: str, read: Callable[[], Parsed]) -> Parsed:
    """Return the rows of data with an identity; if none were kept, read and keep them."""
    import joblib

    parsed = found(sha256)
    if parsed is not None:
        return parsed
    parsed, path = read(), hashes.user_folder() / "rows" / sha256
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=path.parent) as stage:
            joblib.dump(parsed, os.path.join(stage, "rows"))
            os.replace(os.path.join(stage, "rows"), path)
    except OSError as error:
        log.warning("%s cannot be written, so its rows are read each time: %s", path, error)
    return found(sha256) or parsed
