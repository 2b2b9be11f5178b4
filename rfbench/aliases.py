"""Aliases of keys in YAML files. Each alias is replaced by its key when a file is read.

A file with an alias is equivalent to a file with the key: the trials have the same identities, and
manifests contain the key.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from rfbench.errors import ConfigError
from rfbench.yamlfile import Document

CONFIGURATION, PAPER = "configuration", "paper.yaml"
Path = tuple[Any, ...]

# Aliases of keys, for each kind of file. A path such as ("datasets", "*") is the place of the keys
# in the file, and `*` matches any key. The innermost dictionaries map each alias to the key that
# the alias replaces.
KEYS: dict[str, dict[Path, dict[str, str]]] = {
    CONFIGURATION: {
        (): {
            "max_train_rows": "rows",
            "max_test_rows": "test_rows",
            "save_selected_features": "kept_features",
            "assertions": "checks",
        },
        ("bandwidth",): {"extend_grid": "widen"},
        ("split",): {
            "fixed_test_size": "held_out",
            "group_test_size": "leave_groups",
            "n_blocks": "blocks",
        },
    },
    PAPER: {
        (): {"inconsistencies": "doubts", "displayed_with": "beside"},
        ("datasets", "*"): {"substitutes": "stand_ins"},
        ("rows_source",): {"license": "licence"},
    },
}
# Maps each alias of a protocol to the name of the protocol.
PROTOCOL_NAMES = {"custom": "own"}


def resolve_document(document: Document, file: str, entries: tuple[str, ...] = ()) -> Document:
    """Return a document in which each alias is replaced by its key; line numbers are kept.

    `file` is the kind of file: CONFIGURATION or PAPER. The value of each key in `entries` is a
    dictionary, for example from names of data sets to their settings. Keys of settings are paths,
    such as ``split.test_size``. The last part of a name may be a protocol. Raises ConfigError if a
    mapping contains both an alias and its key.
    """
    renamed: dict[Path, str] = {}
    replace = partial(_replace, file=file, document=document, renamed=renamed)
    value = replace({k: part for k, part in document.value.items() if k not in entries})
    for axis in entries:
        part = document.value.get(axis)
        if isinstance(part, dict):
            find_name = str if axis == "datasets" else _resolve_run
            names = _rename_keys(part, find_name, (axis,), document, renamed)
            value[axis] = {name: replace(entry, path=path) for name, path, entry in names}
        elif axis in document.value:
            value[axis] = part
    places = {
        tuple(renamed.get(path[: i + 1], part) for i, part in enumerate(path)): (
            f"{line} ('{path[-1]}')" if path in renamed else line
        )
        for path, line in document.places.items()
    }
    return Document(value, document.source, places)


def resolve_setting(key: str, value: Any, source: str) -> tuple[str, Any]:
    """Replace the aliases in a path such as ``split.test_size`` and in its value. Return both.

    `source` is the place of the setting in messages. Raises ConfigError if the value contains both
    an alias and its key.
    """
    key = resolve_path(key)
    place = tuple(key.split("."))
    document = Document({}, source)
    return key, _replace(value, file=CONFIGURATION, document=document, renamed={}, place=place)


def resolve_path(key: str, file: str = CONFIGURATION, place: Path = ()) -> str:
    """Replace the aliases in a path such as ``split.test_size``, which starts at `place`."""
    parts: list[str] = []
    for part in key.split("."):
        parts.append(_find_names(file, (*place, *parts)).get(part, part))
    return ".".join(parts)


def resolve_text(text: str, key: str) -> str:
    """Return the value of a key of a configuration, without the alias of a protocol."""
    return PROTOCOL_NAMES.get(text, text) if key == "protocol" else text


def list_aliases(file: str) -> list[str]:
    """Return the aliases of the top-level keys of a kind of file."""
    return [*KEYS[file][()]]


def _find_names(file: str, place: Path) -> dict[str, str]:
    """Return the key for each alias that is allowed in the mapping at the path `place`."""
    names = KEYS[file]
    return names.get(place) or names.get((*place[:-1], "*"), {})


def _resolve_run(name: str) -> str:
    """Replace the alias of a protocol in a name: ``PROTOCOL`` or ``DATASET.PROTOCOL``."""
    dataset, dot, protocol = name.rpartition(".")
    return f"{dataset}{dot}{resolve_text(protocol, 'protocol')}"


def _rename_keys(
    mapping: dict[Any, Any],
    find_key: Callable[[str], str],
    path: Path,
    document: Document,
    renamed: dict[Path, str],
) -> Iterator[tuple[Any, Path, Any]]:
    """Yield the key without an alias, the path as written, and the value of each entry."""
    given: dict[Any, Any] = {}
    for name, part in mapping.items():
        key, inside = find_key(name) if isinstance(name, str) else name, (*path, name)
        if key in given:
            line = document.find_location(inside)
            raise ConfigError(
                f"{document.source}{', ' * bool(line)}{line}: '{given[key]}' and '{name}' are two "
                "names of the same key.",
                todo="Remove one of them.",
            )
        if key != name:
            renamed[inside] = key
        given[key] = name
        yield key, inside, part


def _replace(
    value: Any,
    *,
    file: str,
    document: Document,
    renamed: dict[Path, str],
    path: Path = (),
    place: Path = (),
) -> Any:
    """Return a value without aliases. Add each path with an alias, and its key, to `renamed`."""
    if isinstance(value, str) and place == ("protocol",) and file == CONFIGURATION:
        return resolve_text(value, "protocol")
    if not isinstance(value, dict):
        return value
    replace = partial(_replace, file=file, document=document, renamed=renamed)
    find_key = partial(resolve_path, file=file, place=place)
    return {
        key: replace(part, path=inside, place=(*place, *str(key).split(".")))
        for key, inside, part in _rename_keys(value, find_key, path, document, renamed)
    }
