"""Data sets: the catalogue, the files, the arrays, and their preparation for a trial.

The transformers are in `preparation` and `scaling`, which import scikit-learn: that takes a second.
"""

from rfbench.datasets.catalog import Entry, names, source_of, suites
from rfbench.datasets.dataset import Dataset, data_sha256, entry, load
from rfbench.datasets.fetch import FileCheck, data_folder, fetch, on_disk, verify
from rfbench.datasets.prepare import Prepared, prepare
from rfbench.datasets.split import split_rows

__all__ = [
    "Dataset",
    "Entry",
    "FileCheck",
    "Prepared",
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
