"""Loading a data set: find, verify, parse (once), compare with the catalogue."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rfbench.arrays import Rows
from rfbench.datasets import cache, catalog
from rfbench.datasets.archives import FoundFiles
from rfbench.datasets.catalog import Entry, source_of
from rfbench.datasets.fetch import obtain
from rfbench.datasets.locate import complete, content_hashes, data_folder, pin
from rfbench.datasets.readers import READERS, Parsed
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
    fills_gaps : bool
        NaN in the rows is filled when they are prepared, by the mean of the training rows.
    """

    name: str
    X: Rows
    y: NDArray[Any]
    task: str
    classes: tuple[str, ...]
    n_given_train: int | None
    groups: NDArray[np.int64] | None
    sha256: str
    fills_gaps: bool = False


def entry(
    name: str, parameters: Mapping[str, Any] | None = None, folder: Path | None = None
) -> Entry:
    """Return what is known of a data set: the catalogue's entry, or one made from its rows.

    Parameters
    ----------
    name : str
        Name in the catalogue, or of data of one's own.
    parameters : mapping, optional
        Of a synthetic problem; or where data of one's own are, see `rfbench.datasets.own`.
    folder : Path, optional
        Where relative paths of data of one's own start.

    Raises
    ------
    DataError
        If there are no such data.
    """
    if parameters and source_of(parameters):
        from rfbench.datasets import own

        return own.read(name, parameters, folder)[0]
    return catalog.entry(name)


def load(
    name: str,
    *,
    dtype: str = "float64",
    parameters: Mapping[str, object] | None = None,
    generator: np.random.Generator | None = None,
    folder: Path | None = None,
    sha256: str | None = None,
) -> Dataset:
    """Load a data set; its files are downloaded if they are not on disk.

    Parameters
    ----------
    name : str
        Name in the catalogue.
    dtype : {'float64', 'float32'}
        Type of the rows.
    parameters, folder
        See `entry`.
    generator : numpy.random.Generator, optional
        Source of the draws of a synthetic problem, which needs it.
    sha256 : str, optional
        Identity that data of one's own have to have.

    Raises
    ------
    DataError
        If the name is unknown, if files are missing, broken or not what the catalogue says, or if
        a parameter is wrong.
    """
    if dtype not in ("float64", "float32"):
        raise DataError(
            f"Rows of type '{dtype}' cannot be loaded.", "", "Choose 'float64' or 'float32'."
        )
    if parameters and source_of(parameters):
        from rfbench.datasets import own

        entry, parsed, sha256 = own.read(name, parameters, folder, sha256)
        return _dataset(entry, parsed, sha256, dtype)
    entry = catalog.entry(name)
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
    return _dataset(entry, parsed, sha256, dtype)


def _dataset(entry: Entry, parsed: Parsed, sha256: str, dtype: str) -> Dataset:
    X: Any = parsed.X if parsed.X.dtype == dtype else parsed.X.astype(dtype)
    return Dataset(
        name=entry.name,
        X=X,
        y=parsed.y,
        task=entry.task,
        classes=tuple(entry.classes),
        n_given_train=parsed.n_given_train,
        groups=parsed.groups,
        sha256=sha256,
        fills_gaps=entry.fills_gaps,
    )


def data_sha256(
    name: str, parameters: Mapping[str, Any] | None = None, folder: Path | None = None
) -> str:
    """Return the identity of a data set, without reading those of the catalogue into arrays.

    Raises
    ------
    DataError
        If a file is missing or wrong, or a parameter is unknown.
    """
    if parameters and source_of(parameters):
        from rfbench.datasets import own

        return own.read(name, parameters, folder)[2]
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
