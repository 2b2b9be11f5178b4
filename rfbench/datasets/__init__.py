"""Data sets: the catalogue, the files, the arrays, and their preparation for a trial."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rfbench.datasets.catalog import Entry, names, source_of, suites
from rfbench.datasets.dataset import Dataset, data_sha256, entry, load
from rfbench.datasets.fetch import fetch
from rfbench.datasets.hashes import data_folder
from rfbench.datasets.locate import FileCheck, on_disk, verify
from rfbench.datasets.prepare import Prepared, prepare
from rfbench.datasets.split import split_rows

if TYPE_CHECKING:
    from rfbench.datasets.preparation import Differences, Note, Preparation
    from rfbench.datasets.scaling import RankScaler, SmoothClipScaler

__all__ = [
    "Dataset",
    "Differences",
    "Entry",
    "FileCheck",
    "Note",
    "Preparation",
    "Prepared",
    "RankScaler",
    "SmoothClipScaler",
    "data_folder",
    "data_sha256",
    "entry",
    "fetch",
    "load",
    "names",
    "on_disk",
    "prepare",
    "source_of",
    "split_rows",
    "suites",
    "verify",
]


def __getattr__(name: str) -> Any:
    """Import a transformer when it is asked for: scikit-learn takes a second to import."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from rfbench.datasets import preparation, scaling

    return getattr(scaling if name.endswith("Scaler") else preparation, name)
