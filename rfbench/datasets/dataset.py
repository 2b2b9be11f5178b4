"""Loading of a data set: find its files, check their hashes, and read the rows and the target."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from rfbench.datasets import cache, catalog, readers, user_data
from rfbench.datasets.catalog import Entry, find_source
from rfbench.datasets.columns import Parsed
from rfbench.datasets.fetch import FileCheck, check_entry_files, ensure_downloaded
from rfbench.datasets.synthetic import PROBLEMS
from rfbench.errors import DataError

Parameters = Mapping[str, Any] | None


@dataclass(frozen=True)
class Dataset:
    """The rows and the target of a data set, before they are split and scaled.

    Parameters
    ----------
    name : str
        Name of the data set.
    X : array, sparse matrix or DataFrame of shape (n, d)
        Rows. A dense array may be a read-only memory map. A DataFrame has strings, dates or missing
        values, which `prepare` converts to numbers.
    y : array of shape (n,)
        Target of a regression (float64), or class codes from 0 to K - 1 for K classes (int64).
    task : {'binary', 'multiclass', 'regression'}
        Kind of target.
    classes : tuple of str
        Labels in the order of the class codes. Code 1 of a binary task is the positive class. The
        tuple is empty for a regression.
    n_given_train : int or None
        Number of rows of the published training set, which come first. None if there is no
        published split.
    groups : array of shape (n,) or None
        Number of the group of each row. A group is a subject, or all rows with equal values.
    sha256 : str
        Hash that identifies the data. It depends on the files and on the options for reading them.
    equal_rows_together : bool, default=False
        True if each group consists of rows with equal values.
    """

    name: str
    X: Any
    y: NDArray[Any]
    task: str
    classes: tuple[str, ...]
    n_given_train: int | None
    groups: NDArray[np.int64] | None
    sha256: str
    equal_rows_together: bool = False


def find_entry(
    name: str,
    parameters: Parameters = None,
    folder: Path | None = None,
    sha256: str | None = None,
) -> Entry:
    """Return the catalog entry of a data set, or an entry that is created from user data.

    Parameters
    ----------
    name : str
        Name of the data set, as printed by ``rfbench data list``, or a name for your own data.
    parameters : mapping, optional
        Parameters of a synthetic problem, or the location of your own data.
    folder : Path, optional
        Base folder of relative paths to your own data.
    sha256 : str, optional
        Hash that identifies the data. If it is given, the files are not read again.

    Returns
    -------
    Entry
        The entry.

    Raises
    ------
    DataError
        If the data set is unknown.
    """
    if find_source(parameters):
        return user_data.load_user_data_entry(name, parameters or {}, folder, sha256)[0]
    return catalog.find_entry(name)


def load(
    name: str,
    *,
    parameters: Parameters = None,
    generator: np.random.Generator | None = None,
    folder: Path | None = None,
    sha256: str | None = None,
) -> Dataset:
    """Load a data set. Its files are downloaded if they are not on disk.

    Parameters
    ----------
    name : str
        Name in the catalog, or a name for your own data.
    parameters : mapping, optional
        Parameters of a synthetic problem, or the location of your own data
        (`rfbench.datasets.user_data`).
    generator : numpy.random.Generator, optional
        Random generator, which is required for a synthetic problem.
    folder : Path, optional
        Base folder of relative paths to your own data.
    sha256 : str, optional
        Hash that the data are required to have.

    Returns
    -------
    Dataset
        Rows, targets and metadata.

    Raises
    ------
    DataError
        If the name is unknown, files are missing, broken or different from the catalog, or a
        parameter is wrong.
    """
    if find_source(parameters):
        entry, parsed, identity = user_data.read_user_data(name, parameters or {}, folder, sha256)
    else:
        entry = catalog.find_entry(name)
        checks = [] if parameters else ensure_downloaded(entry)
        identity = _sha256(entry, parameters, checks)
        if entry.kind == "synthetic":
            parsed = _generate(entry, parameters, generator)
        elif entry.kind == "bundled":
            from sklearn.datasets import load_digits

            parsed = Parsed(*load_digits(return_X_y=True))
            entry.check(parsed.X, parsed.y, parsed.n_given_train)
        else:
            parsed = _parse(entry, checks, identity)
    if sha256 not in (None, identity):
        raise DataError(
            f"The rows of {name} have changed during the run.",
            "Each trial has to use the same rows.",
            "Do not change files during a run. If a function returns the data, use a "
            "fixed seed in it.",
        )
    X: Any = parsed.X
    if not isinstance(X, pd.DataFrame) and X.dtype != np.float64:
        X = X.astype(np.float64)
    groups = parsed.groups
    if entry.equal_rows_together:
        groups = np.unique(X, axis=0, return_inverse=True)[1].ravel()
    return Dataset(
        name=entry.name,
        X=X,
        y=parsed.y,
        task=entry.task,
        classes=tuple(entry.classes),
        n_given_train=parsed.n_given_train,
        groups=groups,
        sha256=identity,
        equal_rows_together=entry.equal_rows_together,
    )


def hash_data(name: str, parameters: Parameters = None, folder: Path | None = None) -> str:
    """Return a hash that identifies the content of a data set.

    The files of a data set in the catalog are hashed, but not parsed.

    Parameters
    ----------
    name : str
        Name of the data set, as printed by ``rfbench data list``, or a name for your own data.
    parameters : mapping, optional
        Parameters of a synthetic problem, or the location of your own data.
    folder : Path, optional
        Base folder of relative paths to your own data.

    Returns
    -------
    str
        SHA-256 of the content, as stored in the rows of results.

    Raises
    ------
    DataError
        If a file is missing or wrong, or a parameter is unknown.
    """
    if find_source(parameters):
        return user_data.load_user_data_entry(name, parameters or {}, folder)[1]
    entry = catalog.find_entry(name)
    return _sha256(entry, parameters, check_entry_files(entry))


def _sha256(entry: Entry, parameters: Parameters, checks: list[FileCheck]) -> str:
    parts: list[Any] = [entry.reader, 1]
    if values := check_parameters(entry, parameters):
        parts += [values]
    if entry.kind == "files":
        parts += [entry.options, entry.codes, entry.sparse, [each.sha256 for each in checks]]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def check_parameters(entry: Entry, parameters: Parameters) -> dict[str, int | float]:
    """Return all parameters of a synthetic problem, with default values for those not given.

    For other data sets the result is an empty dictionary. Raise DataError if a parameter is wrong,
    or if `parameters` are given for a data set that is not synthetic.
    """
    if entry.kind == "synthetic":
        return PROBLEMS[entry.reader].complete(entry.name, parameters)
    if parameters:
        raise DataError(
            f"{entry.name} does not accept parameters, but got {', '.join(parameters)}.",
            "Only synthetic problems have parameters.",
        )
    return {}


def _parse(entry: Entry, checks: list[FileCheck], sha256: str) -> Parsed:
    def read() -> Parsed:
        parsed = readers.read_catalog_data(entry, [each.source for each in checks if each.source])
        entry.check(parsed.X, parsed.y, parsed.n_given_train)
        return parsed

    return cache.load_cached_rows_or_read(sha256, read)


def _generate(
    entry: Entry, parameters: Parameters, generator: np.random.Generator | None
) -> Parsed:
    if generator is None:
        raise DataError(
            f"{entry.name} needs a random generator.",
            "The rows are drawn again for every trial.",
            "Pass `generator=numpy.random.default_rng(seed)`.",
        )
    values = check_parameters(entry, parameters)
    n_train, n_test = int(values.pop("n_train")), int(values.pop("n_test"))
    X, y = PROBLEMS[entry.reader].draw(generator, n=n_train + n_test, **values)
    return Parsed(X, y, n_train)
