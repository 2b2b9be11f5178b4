"""The catalogue: what is known about every data set before it is read."""

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
"""Where data of one's own come from: a file, a function, an id or name there, a packed folder."""
FILES = ("catalog.yaml", "suite.yaml")
# The safe loader of libyaml, five times as fast; a PyYAML that was built without it has the other.
LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
# Data sets that hold the rows of others: in a comparison the two count as one.
TWINS = {"adult": "a9a", "sklearn-breast_cancer": "wdbc", "digits": "optdigits"}
Task = Literal["binary", "multiclass", "regression"]


class _CatalogSection(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Download(_CatalogSection):
    """A file as it stands at its original home; `sha256` is None until it is known.

    `also` holds the hashes of other archives with the same content. A download with `parts`, which
    are paths below its address, is made of them: their distinct lines, in order.
    """

    name: str
    sha256: str | None = None
    also: tuple[str, ...] = ()
    urls: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()


class Member(_CatalogSection):
    """A file that a reader reads, unpacked; it stands alone or inside a download, its `source`.

    `path` is the end of its path inside an archive, `also` holds the hashes of copies that were
    written again with the same values, `count` says how many files match the pattern.
    """

    name: str
    source: str | None = None
    path: str | None = None
    sha256: str | None = None
    also: tuple[str, ...] = ()
    count: int = 1

    @property
    def pattern(self) -> str:
        """The end of the path that the file has inside an archive."""
        return self.path or self.name


class Entry(_CatalogSection):
    """One data set of the catalogue.

    `kind` says where its rows come from, `folder` the sub-folder of its files (some
    subsets share the folder of the full set), `train_rows` the size of the published training
    part. `classes` gives the number of rows of each class (or None), in the order of the codes,
    `labels` the code of each label in the files where that is not simply the order of `classes`.
    `arrays` is the hash of what is read of the files (see `hash_arrays`), where those at their
    home are written otherwise than those that were at hand. `groups` says that its rows come from
    groups (subjects, patients), which folds leave whole. `equal_rows_together` makes groups of rows
    with equal columns, which a random split leaves whole, too.
    `preparation` is the revision of what makes rows of numbers of a table of more than numbers once
    it is split (0: none is needed); `columns` are then about as many as are returned. `suite` names
    the collection that a comparison of methods takes it from, `set_aside` why a comparison counts
    it apart from the others (a twin of another one, nothing to learn, repeated rows).
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
        """The class code of each label as the files spell it."""
        return self.labels or {label: code for code, label in enumerate(self.classes)}

    def download_of(self, member: Member) -> Download | None:
        """Return the download that a file comes in, if there is one."""
        return next((each for each in self.downloads if each.name == member.source), None)

    def check(self, X: Rows, y: NDArray[Any], n_given_train: int | None) -> None:
        """Compare rows, split and class counts with the catalogue's.

        DataError if one is another.
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
                    f"{self.name} has {what} {actual}, the catalogue says {expected}.",
                    "The files are another version of the data, or a part of it.",
                    f"Get the files again with `rfbench data fetch {self.name}`.",
                )


def hash_arrays(X: Rows, y: NDArray[Any]) -> str:
    """Return the hash of dense rows and their target, as little-endian doubles."""
    parts = (np.ascontiguousarray(part, dtype="<f8") for part in (X, y))
    return hashlib.sha256(b"".join(part.tobytes() for part in parts)).hexdigest()


def find_source(parameters: Mapping[str, Any] | None) -> str | None:
    """Return the source that the parameters of a data set name.

    Parameters
    ----------
    parameters : mapping or None
        Parameters of a data set, as a configuration has them.

    Returns
    -------
    str or None
        One of `SOURCES`. None if the data set is in the catalogue.
    """
    return next((source for source in SOURCES if source in (parameters or {})), None)


@cache
def read_entries() -> dict[str, Entry]:
    """Return every entry of the catalogue by its name."""
    raw: dict[str, dict[str, Any]] = {}
    for file in FILES:
        raw |= yaml.load(resources.files(__package__).joinpath(file).read_text("utf-8"), LOADER)
    return {
        name: Entry.model_validate({"name": name, "folder": name, **fields})
        for name, fields in raw.items()
    }


def list_names(suite: str = "") -> list[str]:
    """Return the names of data sets, in the order of the catalogue.

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
    """Return, by data set that a comparison counts apart from the others, why."""
    return {name: each.set_aside for name, each in read_entries().items() if each.set_aside}


def find_entry(name: str) -> Entry:
    """Return the entry of a data set; DataError, with the nearest name, if there is none."""
    if name not in read_entries():
        raise make_unknown_error("data set", name, list_names(), DataError)
    return read_entries()[name]
