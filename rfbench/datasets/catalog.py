"""The catalog: metadata of every data set, available before it is read."""

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
"""Sources of user data: a file, a function, OpenML, scikit-learn, a packed folder."""
FILES = ("catalog.yaml", "suite.yaml")
# libyaml's safe loader is five times as fast; PyYAML without libyaml has only the other loader.
LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
# Data sets that contain the rows of another data set; a comparison counts both as one data set.
TWINS = {"adult": "a9a", "sklearn-breast_cancer": "wdbc", "digits": "optdigits"}
Task = Literal["binary", "multiclass", "regression"]


class _CatalogSection(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Download(_CatalogSection):
    """A file at its original address; `sha256` is None if it is unknown.

    `also` are hashes of other archives with the same content. A download with `parts`, which are
    paths relative to its address, is built from them: their distinct lines, in order.
    """

    name: str
    sha256: str | None = None
    also: tuple[str, ...] = ()
    urls: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()


class Member(_CatalogSection):
    """A file that a reader reads, decompressed; it exists alone or inside a download, its `source`.

    `path` is the end of its path inside an archive. `also` are hashes of rewritten copies with the
    same values. `count` is the number of files that match the pattern.
    """

    name: str
    source: str | None = None
    path: str | None = None
    sha256: str | None = None
    also: tuple[str, ...] = ()
    count: int = 1

    @property
    def pattern(self) -> str:
        """End of the path of the file inside an archive."""
        return self.path or self.name


class Entry(_CatalogSection):
    """One data set of the catalog.

    Attributes
    ----------
    kind : str
        Source of the rows.
    folder : str
        Sub-folder of its files. Some subsets share the folder of the full set.
    train_rows : int or None
        Size of the published training part.
    classes : dict
        Number of rows of each class (or None), in the order of the codes.
    labels : dict
        Code of each label in the files, if it differs from the order of `classes`.
    arrays : str
        Hash of the parsed files (see `hash_arrays`), if the published files have a different form
        than the files that were available.
    groups : bool
        Whether the rows belong to groups (subjects, patients), which folds do not split.
    equal_rows_together : bool
        Whether rows with equal columns form groups, which random splits do not split.
    preparation : int
        Revision of the conversion of a table to numeric rows after the split; 0 if none is needed.
        `columns` is then an approximate number.
    suite : str
        Collection from which a comparison of methods selects data sets.
    set_aside : str
        Reason why a comparison counts the data set separately (a copy of another one, nothing to
        learn, repeated rows).
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
        """Class code of each label as written in the files."""
        return self.labels or {label: code for code, label in enumerate(self.classes)}

    def download_of(self, member: Member) -> Download | None:
        """Return the download that contains a file, or None."""
        return next((each for each in self.downloads if each.name == member.source), None)

    def check(self, X: Rows, y: NDArray[Any], n_given_train: int | None) -> None:
        """Compare rows, split and class counts with the catalog.

        Raise DataError if they differ.
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
                    "The files are a different version of the data, or a part of it.",
                    f"Get the files again with `rfbench data fetch {self.name}`.",
                )


def hash_arrays(X: Rows, y: NDArray[Any]) -> str:
    """Return the hash of dense rows and their target, as little-endian doubles."""
    parts = (np.ascontiguousarray(part, dtype="<f8") for part in (X, y))
    return hashlib.sha256(b"".join(part.tobytes() for part in parts)).hexdigest()


def find_source(parameters: Mapping[str, Any] | None) -> str | None:
    """Return the source of user data in the parameters of a data set.

    Parameters
    ----------
    parameters : mapping or None
        Parameters of a data set in a configuration.

    Returns
    -------
    str or None
        One of `SOURCES`. None if the data set is in the catalog.
    """
    return next((source for source in SOURCES if source in (parameters or {})), None)


@cache
def read_entries() -> dict[str, Entry]:
    """Return every entry of the catalog by its name."""
    raw: dict[str, dict[str, Any]] = {}
    for file in FILES:
        raw |= yaml.load(resources.files(__package__).joinpath(file).read_text("utf-8"), LOADER)
    return {
        name: Entry.model_validate({"name": name, "folder": name, **fields})
        for name, fields in raw.items()
    }


def list_names(suite: str = "") -> list[str]:
    """Return the names of data sets, in the order of the catalog.

    Parameters
    ----------
    suite : str
        Name of a collection; empty for all data sets.

    Returns
    -------
    list of str
        The names.
    """
    return [name for name, each in read_entries().items() if suite in ("", each.suite)]


def list_suites() -> list[str]:
    """Return the names of the collections that data sets belong to.

    Returns
    -------
    list of str
        The names, sorted.
    """
    return sorted({each.suite for each in read_entries().values()} - {""})


def set_aside() -> dict[str, str]:
    """Return the data sets that a comparison counts separately, with the reasons."""
    return {name: each.set_aside for name, each in read_entries().items() if each.set_aside}


def find_entry(name: str) -> Entry:
    """Return the entry of a data set; raise DataError, with the nearest name, if there is none."""
    if name not in read_entries():
        raise make_unknown_error("data set", name, list_names(), DataError)
    return read_entries()[name]
