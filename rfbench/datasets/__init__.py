"""Data sets: the catalogue, the files, the arrays, and their preparation for a trial."""

from rfbench.datasets.catalog import Entry, names, source_of
from rfbench.datasets.dataset import Dataset, data_sha256, entry, load
from rfbench.datasets.fetch import add, fetch
from rfbench.datasets.hashes import data_folder
from rfbench.datasets.locate import FileCheck, on_disk, paths, verify
from rfbench.datasets.prepare import Prepared, prepare
from rfbench.datasets.split import split_rows

__all__ = [
    "Dataset",
    "Entry",
    "FileCheck",
    "Prepared",
    "add",
    "data_folder",
    "data_sha256",
    "entry",
    "fetch",
    "load",
    "names",
    "on_disk",
    "paths",
    "prepare",
    "source_of",
    "split_rows",
    "verify",
]
