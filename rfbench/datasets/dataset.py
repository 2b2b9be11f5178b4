"""Loading a data set: find, verify, parse (once), compare with the catalogue."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rfbench.datasets import cache, catalog
from rfbench.datasets.archives import FoundFiles
from rfbench.datasets.catalog import Entry
from rfbench.datasets.fetch import obtain
from rfbench.datasets.locate import complete, content_hashes, data_folder, pin
from rfbench.datasets.readers import READERS, Parsed, Rows
from rfbench.datasets.synthetic import PROBLEMS
from rfbench.errors import DataError


@dataclass(frozen=True)
class Dataset:
    """A data set as it was published, before any split or scaling.

    Parameters
    ----------
    name : str
        Name in the catalogue; a subset has a name of its own.
    X : ndarray or csr_array of shape (n, d)
        The rows; dense ones may be a read-only memory map.
    y : ndarray of shape (n,)
        float64 target of a regression, otherwise int64 class codes 0..K-1.
    task : {'binary', 'multiclass', 'regression'}
    classes : tuple of str
        Labels in the order of the codes; code 1 of a binary task is the positive class. Empty for
        a regression.
    n_given_train : int or None
        The first rows are the published training part, the rest the test part; None if there is
        no published split.
    groups : ndarray of shape (n,) or None
        Numbers of the subjects (patients) that the rows come from.
    sha256 : str
        Identity of the data: hash over the files' hashes and how they are read.
    """

    name: str
    X: Rows
    y: NDArray[Any]
    task: str
    classes: tuple[str, ...]
    n_given_train: int | None
    groups: NDArray[np.int64] | None
    sha256: str


def load(
    name: str,
    *,
    dtype: str = "float64",
    parameters: Mapping[str, object] | None = None,
    generator: np.random.Generator | None = None,
) -> Dataset:
    """Load a data set; its files are downloaded if they are not on disk.

    Parameters
    ----------
    name : str
        Name in the catalogue.
    dtype : {'float64', 'float32'}
        Type of the rows.
    parameters : mapping, optional
        Parameters of a synthetic problem.
    generator : numpy.random.Generator, optional
        Source of the draws of a synthetic problem, which needs it.

    Raises
    ------
    DataError
        If the name is unknown, if files are missing, broken or not what the catalogue says, or if
        a parameter is wrong.
    """
    entry = catalog.entry(name)
    if dtype not in ("float64", "float32"):
        raise DataError(
            f"Rows of type '{dtype}' cannot be loaded.", "", "Choose 'float64' or 'float32'."
        )
    _refuse_parameters(entry, parameters)
    if entry.kind == "synthetic":
        parsed = _generate(entry, parameters, generator)
        sha256 = _generated_sha256(entry, parameters)
    elif entry.kind == "bundled":
        parsed, sha256 = _digits(), _bundled_sha256(entry)
        entry.check(parsed.X.shape, parsed.y, parsed.n_given_train)
    else:
        sources = obtain(entry)
        sha256 = _files_sha256(entry, sources)
        parsed = _parse(entry, sources, sha256, dtype)
    X: Any = parsed.X if parsed.X.dtype == dtype else parsed.X.astype(dtype)
    return Dataset(
        name=name,
        X=X,
        y=parsed.y,
        task=entry.task,
        classes=tuple(entry.classes),
        n_given_train=parsed.n_given_train,
        groups=parsed.groups,
        sha256=sha256,
    )


def data_sha256(name: str, parameters: Mapping[str, object] | None = None) -> str:
    """Return the identity of a data set without reading it into arrays.

    Raises
    ------
    DataError
        If a file is missing or wrong, or a parameter is unknown.
    """
    entry = catalog.entry(name)
    _refuse_parameters(entry, parameters)
    if entry.kind == "synthetic":
        return _generated_sha256(entry, parameters)
    if entry.kind == "bundled":
        return _bundled_sha256(entry)
    return _files_sha256(entry, complete(entry))


def _refuse_parameters(entry: Entry, parameters: Mapping[str, object] | None) -> None:
    if parameters and entry.kind != "synthetic":
        raise DataError(
            f"{entry.name} takes no parameters, but was given {', '.join(parameters)}.",
            "Only synthetic problems have parameters.",
            "Remove them.",
        )


def _parse(entry: Entry, sources: list[FoundFiles], sha256: str, dtype: str) -> Parsed:
    folder = data_folder() / "cache" / f"{entry.name}-{sha256[:16]}-{dtype}"
    cached = cache.load(folder)
    if cached is not None:
        return cached
    parsed = READERS[entry.reader].read(entry, sources)
    entry.check(parsed.X.shape, parsed.y, parsed.n_given_train)
    pin(entry, sources)
    return cache.store(folder, parsed, dtype) or parsed


def _generate(
    entry: Entry, parameters: Mapping[str, object] | None, generator: np.random.Generator | None
) -> Parsed:
    if generator is None:
        raise DataError(
            f"{entry.name} needs a random generator.",
            "Its rows are drawn anew for every trial.",
            "Pass `generator=numpy.random.default_rng(seed)`.",
        )
    problem = PROBLEMS[entry.reader]
    values = dict(problem.complete(entry.name, parameters))
    n_train, n_test = int(values.pop("n_train")), int(values.pop("n_test"))
    X, y = problem.draw(generator, n=n_train + n_test, **values)
    return Parsed(X, y, n_train)


def _digits() -> Parsed:
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    return Parsed(X, y.astype(np.int64))


def _files_sha256(entry: Entry, sources: list[FoundFiles]) -> str:
    return _identity(
        entry.reader,
        READERS[entry.reader].version,
        entry.options,
        entry.codes,
        entry.sparse,
        content_hashes(entry, sources),
    )


def _generated_sha256(entry: Entry, parameters: Mapping[str, object] | None) -> str:
    problem = PROBLEMS[entry.reader]
    return _identity(entry.reader, problem.version, problem.complete(entry.name, parameters))


def _bundled_sha256(entry: Entry) -> str:
    return _identity(entry.reader, 1)


def _identity(*parts: object) -> str:
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
