"""Replacing a file of a results folder as a whole."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from rfbench.errors import WriteError


def replace(file: Path, content: bytes) -> None:
    """Write a file so that after a crash either the old content is there or the new one.

    Raises WriteError: the folder cannot be written; the old file stays.
    """
    scratch = None
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        handle, scratch = tempfile.mkstemp(dir=file.parent, prefix=f".{file.stem}")
        with os.fdopen(handle, "wb") as new:
            new.write(content)
            new.flush()
            os.fsync(new.fileno())
        os.chmod(scratch, 0o644)
        os.replace(scratch, file)
    except OSError as error:
        if scratch is not None:
            Path(scratch).unlink(missing_ok=True)
        raise WriteError(
            f"{file} could not be written: {error.strerror}.",
            "What was there before stays as it was.",
            "Make room, or give another --out, and run the same command again.",
        ) from error
