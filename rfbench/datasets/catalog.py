"""The catalog: metadata of every data set, which are available before its files are read."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any, Literal

import numpy as np
import yaml
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from rfbench.arrays import Rows
from rfbench.errors import DataError, make_unknown_error

SOURCES = ("file", "load", "openml", "sklearn", "path")
"""Sources of user data: a file, a function, OpenML, scikit-learn, or a folder of `.npy` files."""
FILES = ("catalog.yaml", "suite.yaml")
# The loader that uses the C library libyaml is five times as fast as the loader in pure Python.
# PyYAML may be built without libyaml, so the slow loader is the fallback.
LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
# Maps a data set to another data set with the same rows. A comparison of methods counts such a pair
# as one data set.
TWINS = {"adult": "a9a", "sklearn-breast_cancer": "wdbc", "digits": "optdigits"}
Task = Literal["binary", "multiclass", "regression"]


class _CatalogSection(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Download(_CatalogSection):
    """A file to download for a data set: its name, its SHA-256 hash and its web addresses.

    `sha256` is None if the hash is unknown. `also` are the hashes of different archives with the
    same content. `parts` are paths relative to the addresses in `urls`. If `parts` is not empty,
    the files at these paths are downloaded, and their distinct lines are written to one file.
    """

    name: str
    sha256: str | None = None
    also: tuple[str, ...] = ()
    urls: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()


class Member(_CatalogSection):
    """A decompressed file of a data set: a separate file, or a file inside the archive `source`.

    `path` is the end of the path of the file inside the archive. `also` are the hashes of files
    with the same values in a different notation. `count` is the number of files in the archive that
    have to match `pattern`.
    """

    name: str
    source: str | None = None
    path: str | None = None
    sha256: str | None = None
    also: tuple[str, ...] = ()
    count: int = 1

    @property
    def pattern(self) -> str:
        """End of the path of the file inside an archive: `path`, or `name` without a path."""
        return self.path or self.name


class Entry(_CatalogSection):
    """The metadata of one data set in the catalog.

    Attributes
    ----------
    kind : str
        Source of the data: files, a Python package, a generator of synthetic data, or the user.
    folder : str
        Sub-folder for the files. Some subsets share the folder of the full data set.
    train_rows : int or None
        Number of rows of the published training set. None if there is no published split.
    classes : dict
        Number of rows of each class label, or None if the number is unknown. The labels are in the
        order of the class codes 0, 1, ...
    labels : dict
        Code of each label in the files, if the codes do not follow the order of `classes`.
    arrays : str
        Hash of the parsed rows (see `hash_arrays`). It is set for data sets whose published files
        may have different forms with the same values.
    groups : bool
        Whether the rows belong to groups, such as patients, which cross-validation does not split.
    equal_rows_together : bool
        Whether rows with equal values in all columns form groups, which random splits do not split.
    preparation : int
        Version of the conversion of a table to numeric rows, or 0 if no conversion is needed. If
        it is not 0, `columns` is an approximate number.
    suite : str
        Collection of data sets, on which methods are compared, that contains the data set.
    set_aside : str
        Reason why a comparison of methods counts the data set separately. For example, it is a copy
        of a different data set, there is nothing to learn, or rows are repeated.
    """

    name: str
    title: str
    kind: Literal["files", "bundled", "synthetic", "own"] = "files"
    task: Task
    reader: str = ""
    options: dict[str, Any] = Field(default_factory=dict)
    folder: str = ""
    downloads: tuple[Download, ...] = ()
    files: tuple[Member, ...] = ()
    rows: int
    columns: int
    train_rows: int | None = None
    sparse: bool = False
    groups: bool = False
    equal_rows_together: bool = False
    arrays: str = ""
    preparation: int = 0
    suite: str = ""
    set_aside: str = ""
    classes: dict[str, int | None] = Field(default_factory=dict)
    labels: dict[str, int] = Field(default_factory=dict)
    licence: str = ""
    citation: str = ""
    note: str = ""

    @property
    def codes(self) -> dict[str, int]:
        """Dictionary from each class label in the files to the integer code of the class."""
        return self.labels or {label: code for code, label in enumerate(self.classes)}

    def find_download(self, member: Member) -> Download | None:
        """Return the download that contains the file `member`, or None.

        None means that the catalog entry has no such download.
        """
        return next((each for each in self.downloads if each.name == member.source), None)

    def check(self, X: Rows, y: NDArray[Any], n_given_train: int | None) -> None:
        """Check that the rows, the split and the class counts agree with the catalog.

        `n_given_train` is the number of rows of the published training set. Raise DataError if a
        value differs from the catalog.
        """
        facts: list[tuple[str, object, object]] = [
            ("shape", tuple(X.shape), (self.rows, self.columns)),
            ("training rows", n_given_train, self.train_rows),
        ]
        counts = np.bincount(y, minlength=len(self.classes)) if self.classes else ()
        for (label, count), seen in zip(self.classes.items(), counts, strict=True):
            facts.append(
                (f"rows of class '{label}'", int(seen), int(seen if count is None else count))
            )
        if self.arrays:
            facts.append(("the sha256 of its arrays", hash_arrays(X, y), self.arrays))
        for what, actual, expected in facts:
            if actual != expected:
                raise DataError(
                    f"{self.name} has {what} {actual}, but {expected} in the catalog.",
                    "The files are a different version of the data, or are incomplete.",
                    f"Download the files again with `rfbench data fetch {self.name}`.",
                )


def hash_arrays(X: Rows, y: NDArray[Any]) -> str:
    """Return the SHA-256 hash of the rows X and the targets y, as little-endian float64."""
    parts = (np.ascontiguousarray(part, dtype="<f8") for part in (X, y))
    return hashlib.sha256(b"".join(part.tobytes() for part in parts)).hexdigest()


def find_source(parameters: Mapping[str, Any] | None) -> str | None:
    """Return the kind of source of the user's own data, such as a file or a function.

    Parameters
    ----------
    parameters : mapping or None
        Parameters of a data set in a configuration.

    Returns
    -------
    str or None
        One of `SOURCES`. None if the parameters do not describe the user's own data.
    """
    return next((source for source in SOURCES if source in (parameters or {})), None)


@cache
def read_catalog() -> dict[str, Entry]:
    """Return a dictionary from the name of each data set to its catalog entry."""
    raw: dict[str, dict[str, Any]] = {}
    for file in FILES:
        raw |= yaml.load(resources.files(__package__).joinpath(file).read_text("utf-8"), LOADER)
    return {
        name: Entry.model_validate({"name": name, "folder": name, **fields})
        for name, fields in raw.items()
    }


def list_names(suite: str = "") -> list[str]:
    """Return the names of all data sets in the catalog, or of the data sets in one collection.

    Parameters
    ----------
    suite : str
        Name of a collection of data sets. An empty string selects all data sets.

    Returns
    -------
    list of str
        The names, in the order of the catalog.
    """
    return [name for name, each in read_catalog().items() if suite in ("", each.suite)]


def list_suites() -> list[str]:
    """Return the names of the collections of data sets.

    Returns
    -------
    list of str
        The names, sorted.
    """
    return sorted({each.suite for each in read_catalog().values()} - {""})


def list_excluded_data_sets() -> dict[str, str]:
    """Return the data sets that a comparison of methods counts separately.

    The result is a dictionary from the name of each data set to the reason.
    """
    return {name: each.set_aside for name, each in read_catalog().items() if each.set_aside}


def find_entry(name: str) -> Entry:
    """Return the catalog entry of the data set `name`.

    If there is no such data set, raise DataError with the most similar name.
    """
    if name not in read_catalog():
        raise make_unknown_error("data set", name, list_names(), DataError)
    return read_catalog()[name]
