"""Data sets: the catalog, the download and reading of files, and the split and scaling of rows.

The transformers are in the modules `preparation` and `scaling`. Importing these modules takes a
second, because they import scikit-learn.
"""

from rfbench.datasets.catalog import Entry, find_source, list_names, list_suites
from rfbench.datasets.dataset import Dataset, find_entry, hash_data, load
from rfbench.datasets.fetch import FileCheck, fetch, find_data_folder, is_on_disk, verify
from rfbench.datasets.prepare import Prepared, prepare
from rfbench.datasets.split import split_rows

__all__ = [
    "Dataset",
    "Entry",
    "FileCheck",
    "Prepared",
    "fetch",
    "find_data_folder",
    "find_entry",
    "find_source",
    "hash_data",
    "is_on_disk",
    "list_names",
    "list_suites",
    "load",
    "prepare",
    "split_rows",
    "verify",
]
