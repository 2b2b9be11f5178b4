"""Figures are drawn once: beside them stands a hash of all that they show.

Times of files would not do: a copy, a checkout or a run that adds nothing changes them, and a
figure drawn from other rows in the same second has the right one.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pandas as pd

import rfbench
from rfbench import files as doors
from rfbench.figures.measured import paper_of
from rfbench.results import Results, kept_features

FILE = ".figures.json"


def digest(results: Results, formats: Sequence[str]) -> str:
    """Return a hash of the rows, configuration, paper, settings of matplotlib and our code.

    The settings are those that are on when it is called.
    """
    import matplotlib

    settings = matplotlib.rcParams  # asked for, the backend imports pyplot
    facts = [
        results.name,
        results.smoke,
        results.config,
        str(paper_of(results)),
        list(formats),
        matplotlib.__version__,
        [f"{key}: {settings[key]!r}" for key in sorted(settings) if key != "backend"],
        _code(),
        *map(_content, (results.rows, kept_features.frame(results.folder, []))),
    ]
    return hashlib.sha256(json.dumps(facts, sort_keys=True, default=str).encode()).hexdigest()


def files(folder: Path, record: str) -> list[Path] | None:
    """Return the files that were drawn for a hash; None if there are none, or one has gone."""
    try:
        stored = json.loads(doors.read(folder / FILE))
        drawn = [folder / Path(name).name for name in stored["files"]]
    except (OSError, ValueError, TypeError, KeyError):
        return None
    there = all(file.is_file() and not file.is_symlink() for file in drawn)
    return drawn if stored["of"] == record and there else None


def write(folder: Path, record: str, drawn: Sequence[Path]) -> None:
    """Store which files were drawn for a hash.

    Raises WriteError if that cannot be written.
    """
    content = {"of": record, "files": [file.name for file in drawn]}
    doors.replace(folder / FILE, json.dumps(content).encode() + b"\n")


def _content(rows: pd.DataFrame) -> str:
    hashes = pd.util.hash_pandas_object(rows, index=False).to_numpy()
    return hashlib.sha256(f"{list(rows)}".encode() + hashes.tobytes()).hexdigest()


@cache
def _code() -> str:
    """Return a hash of the package: another version of it may draw the same rows differently."""
    top = Path(rfbench.__file__).parent
    parts = sorted(file for kind in ("py", "yaml", "csv") for file in top.rglob(f"*.{kind}"))
    return hashlib.sha256(b"".join(part.read_bytes() for part in parts)).hexdigest()
