"""Data of the user: a file, a function, or a data set of OpenML or of scikit-learn."""

from __future__ import annotations

import functools
import hashlib
import json
import re
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from rfbench import plugins
from rfbench.datasets import cache, columns, files, npy_folder
from rfbench.datasets.catalog import Entry, find_source
from rfbench.datasets.columns import REVISION, Parsed
from rfbench.errors import DataError, RfbenchError, make_unknown_error
from rfbench.memory import GIB, count_free_bytes, limit_memory_to_free

# Keys of a configuration that control how the rows of user data are converted. If the data are
# loaded by a function (`load`), all other keys are arguments of the function.
SHAPING = ("target", "task", "drop", "groups", "part")
READING_KEYS = ("header", "separator", "decimal", "encoding", "missing")
# Version of the hash that identifies user data. By definition, the version is incremented if the
# same file is converted differently. Version 2 encodes a column with two categories as one column,
# and version 3 reads files as `rfbench choose` does.
VERSION = 3

Options = Mapping[str, Any]
# Cache of the catalog entries of user data. The key is the name of the data, their hash, and the
# version `REVISION` of the conversion.
_entries: dict[tuple[str, str, int], Entry] = {}


def make_default_data_name(parameters: Options) -> str:
    """Return the name of the user's own data in results, if the user gives no name.

    The name is derived from the path, the function or the number of the data.
    """
    source = str(find_source(parameters))
    value = str(parameters[source])
    if source in ("file", "path"):
        return Path(value).name
    return value.replace(".py:", "-") if source == "load" else f"{source}-{value}"


def load_user_data_entry(
    name: str, parameters: Options, folder: Path | None = None, sha256: str | None = None
) -> tuple[Entry, str]:
    """Return a catalog entry for the user's own data, and a hash that identifies the data.

    If this process has already read the same content, the rows are not read again.
    """
    content_hash = sha256 or _find_hash(parameters, folder)
    entry = _entries.get((name, content_hash, REVISION))
    if entry is None:
        entry, _, content_hash = read_user_data(name, parameters, folder, content_hash)
    return entry, content_hash


def read_user_data(
    name: str, parameters: Options, folder: Path | None = None, sha256: str | None = None
) -> tuple[Entry, Parsed, str]:
    """Return a catalog entry for the user's own data, the rows, and a hash that identifies them.

    `name` is the name in results. `parameters` has one of the keys in `SOURCES`, such as `file`,
    and the options for reading this source. Relative paths start at `folder`, or at the current
    folder if it is None. If `sha256`, the hash of the data, is known, it is used to find rows in
    the cache. Raise DataError if the data do not exist or cannot be used.
    """
    if find_source(parameters) == "path":
        path, task = _locate_rows(parameters, folder)
        content_hash, parsed = (
            npy_folder.hash_npy_folder(path, task),
            npy_folder.open_npy_folder(path, task),
        )
    else:
        content_hash = sha256 or _find_hash(parameters, folder)
        cached = cache.find_cached_rows(content_hash)
        content_hash, parsed = (content_hash, cached) if cached else _stored(parameters, folder)
    facts = {
        "name": name,
        "title": name,
        "kind": "own",
        "groups": parsed.groups is not None,
        "preparation": REVISION if isinstance(parsed.X, pd.DataFrame) else 0,
    }
    entry = Entry.model_validate({**facts, **(parsed.about or {})})
    _entries[name, content_hash, REVISION] = entry
    return entry, parsed, content_hash


def hash_user_data(parameters: Options, folder: Path | None, parsed: Parsed | None = None) -> str:
    """Return a hash of the content of the user's own data and of the options for reading it.

    The hash does not depend on the path or the name. `parsed` contains the rows, which are needed
    unless the source is a file.
    """
    shape = {key: parameters[key] for key in (*SHAPING, *READING_KEYS) if key in parameters}
    if find_source(parameters) == "file":
        path = files.find_data_file(str(parameters["file"]), folder)
        digest = cache.compute_cached_text(
            f"content|{cache.describe_file_state(path)}", lambda: files.hash_content(path)
        )
        content = f"{files.detect_file_format(path)} {digest}"
    else:
        assert parsed is not None
        content = _arrays_sha256(parsed)
    return hashlib.sha256(
        json.dumps([VERSION, shape, content], sort_keys=True).encode()
    ).hexdigest()


def _locate_rows(parameters: Options, folder: Path | None) -> tuple[Path, str | None]:
    """Return the path of the folder of `.npy` files, and the task, as given in the parameters."""
    path = (folder or Path()) / Path(parameters["path"]).expanduser()
    return path.absolute(), parameters.get("task")


def _find_hash(parameters: Options, folder: Path | None) -> str:
    """Return the hash that identifies the user's own data.

    Data that are not on disk are read once and stored in the cache.
    """
    source = find_source(parameters)
    if source == "path":
        return npy_folder.hash_npy_folder(*_locate_rows(parameters, folder))
    if source == "file":
        return hash_user_data(parameters, folder)
    if source == "load":
        code = plugins.hash_class_code(str(parameters["load"]), folder)
        return _of_function(json.dumps(dict(parameters)), folder, code)
    import sklearn

    key = json.dumps([sklearn.__version__, dict(parameters)], sort_keys=True)
    return cache.compute_cached_text(key, lambda: _stored(parameters, folder)[0])


@functools.cache
def _of_function(parameters: str, folder: Path | None, code: str) -> str:
    """Return the hash of the data that the user's function returns.

    The function is called once per process, and its rows are stored in the cache. `parameters` is
    JSON with the path and the arguments of the function. `code` is a hash of the code.
    """
    return _stored(json.loads(parameters), folder)[0]


def _stored(parameters: Options, folder: Path | None) -> tuple[str, Parsed]:
    parsed = _parse(parameters, folder)
    content_hash = hash_user_data(parameters, folder, parsed)
    return content_hash, cache.load_cached_rows_or_read(content_hash, lambda: parsed)


def _arrays_sha256(parsed: Parsed) -> str:
    X, groups = parsed.X, parsed.groups
    facts = {key: value for key, value in (parsed.about or {}).items() if key != "note"}
    # The field `fills_gaps` is not used by any code. The field is part of the hash, so removing the
    # field would change the identities of all user data.
    facts["fills_gaps"] = False
    digest = hashlib.sha256(json.dumps(facts, sort_keys=True).encode())
    arrays: tuple[Any, ...] = (X,)
    if isinstance(X, pd.DataFrame):
        digest.update(json.dumps([list(X.columns), X.dtypes.astype(str).tolist()]).encode())
        arrays = (pd.util.hash_pandas_object(X, index=False).to_numpy(),)
    elif not isinstance(X, np.ndarray):
        arrays = (X.data, X.indices, X.indptr)
    for array in (*arrays, parsed.y, *(() if groups is None else (groups,))):
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def _parse(parameters: Options, folder: Path | None) -> Parsed:
    what = str(parameters[str(find_source(parameters))])
    free = count_free_bytes()
    try:
        with limit_memory_to_free():
            return _read(parameters, folder)
    except MemoryError:
        raise DataError(
            f"{what} does not fit into memory.",
            f"The rows need more than the {free / GIB:.3g} GiB of memory that are free or allowed.",
            "Allow more memory (`--memory`), or write the rows into a folder that is "
            "read in blocks, `dataset: {path: FOLDER}`. data/README.md has an "
            "example.",
        ) from None


def _read(parameters: Options, folder: Path | None) -> Parsed:
    source = str(find_source(parameters))
    what = str(parameters[source])
    shaping = {key: parameters[key] for key in SHAPING if key in parameters}
    if source == "file":
        reading = {key: parameters[key] for key in READING_KEYS if key in parameters}
        if (words := reading.get("missing")) is not None:
            listed = words if isinstance(words, list) else [words]
            reading["missing"] = tuple(map(str, listed))
        path = files.find_data_file(what, folder)
        task = shaping.pop("task", None)
        return columns.parse_table(files.read_table(path, special=shaping, **reading)[0], task)
    if source == "load":
        arguments = {k: v for k, v in parameters.items() if k not in ("load", *SHAPING)}
        return _taken(what, _called(what, folder, arguments), shaping)
    fetched = _fetched(source, parameters[source], shaping)
    if source == "openml":
        shaping.pop("target", None)  # the target is an argument of the fetching function
    return _taken(f"{source} {what}", fetched, shaping)


def _called(path: str, folder: Path | None, arguments: Options) -> Any:
    function = plugins.load_object(path, folder)
    try:
        return function(**arguments)
    except (RfbenchError, MemoryError):  # the message of this error already has advice
        raise
    except (Exception, SystemExit) as error:
        given = f" with the arguments {', '.join(arguments)}" if arguments else ""
        raise DataError(
            f"{path} could not be called{given}.",
            f"{type(error).__name__}: {error}.",
            "The function has to return X and y, a Bunch of scikit-learn, or a DataFrame.",
        ) from error


def _taken(what: str, result: Any, shaping: Options) -> Parsed:
    """Convert the return value of the user's function, or of scikit-learn, to `Parsed` rows.

    `what` is the name of the function in error messages.
    """
    labels: Any = ()
    if isinstance(result, Mapping) and "data" in result:
        X, y = result["data"], result.get("target")
        names = result.get("feature_names")
        labels = [] if result.get("target_names") is None else list(result["target_names"])
    elif isinstance(result, pd.DataFrame):
        X, y, names = result, None, None
    elif isinstance(result, tuple) and len(result) == 2:
        (X, y), names = result, None
    else:
        raise DataError(
            f"{what} returns {type(result).__name__}, which is not a data set.",
            "The function has to return X and y, a Bunch of scikit-learn, or a DataFrame.",
            "Write `return X, y`.",
        )
    return columns.parse_data(what, *columns.to_table(what, X, y, names), labels=labels, **shaping)


def _fetched(source: str, which: Any, shaping: Options) -> Any:
    from sklearn import datasets

    # The cache must be in a folder to which only the user can write. The functions of scikit-learn
    # unpickle cached files, and unpickling a manipulated file can run any code.
    home = str(cache.find_user_folder() / "sklearn")
    if source == "openml":
        target = shaping.get("target", "default-target")
        fetch = functools.partial(
            datasets.fetch_openml, data_id=which, data_home=home, target_column=target
        )
    elif hasattr(datasets, f"load_{which}"):
        fetch = getattr(datasets, f"load_{which}")
    elif hasattr(datasets, f"fetch_{which}"):
        fetch = functools.partial(getattr(datasets, f"fetch_{which}"), data_home=home)
    else:
        names = [name.partition("_")[2] for name in dir(datasets) if re.match("load_|fetch_", name)]
        raise make_unknown_error("data set of scikit-learn", which, sorted(names), DataError)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # ignore warnings about retries and missing files
            return fetch()
    except MemoryError:
        raise
    except Exception as error:  # the cause is the network, a server or a damaged file
        raise DataError(
            f"{source} {which} is not on this machine and could not be downloaded.",
            f"{type(error).__name__}: {str(error)[:200]}.",
            "Run the same command once with a network connection (the data are then "
            f"stored in {home}), or save the data as a file and write `file: PATH`.",
        ) from error
