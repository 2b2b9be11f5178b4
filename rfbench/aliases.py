"""Alternative names of keys in YAML files. Each alias is replaced by its key when a file is read.

A file with an alias is equivalent to a file with the key, and has the same results.
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
    """Return a YAML document in which each alias of a key is replaced by the key.

    Line numbers are kept. `file` is the kind of file: CONFIGURATION or PAPER. `entries` are
    top-level keys whose value is a dictionary from names, such as names of data sets, to settings.
    In such a name, the alias of a protocol, the source of the settings, is replaced, too. Raise
    ConfigError if a mapping contains both an alias and its key.
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
    """Replace the aliases in a key such as ``split.test_size`` and in its value. Return both.

    `source` is the origin of the setting in error messages. Raise ConfigError if the value contains
    both an alias and its key.
    """
    key = resolve_path(key)
    place = tuple(key.split("."))
    document = Document({}, source)
    return key, _replace(value, file=CONFIGURATION, document=document, renamed={}, place=place)


def resolve_path(key: str, file: str = CONFIGURATION, place: Path = ()) -> str:
    """Replace the aliases in a path of keys such as ``split.test_size``.

    `file` is the kind of file. `place` contains the keys of the mapping in which the path starts.
    """
    parts: list[str] = []
    for part in key.split("."):
        parts.append(_find_names(file, (*place, *parts)).get(part, part))
    return ".".join(parts)


def resolve_text(text: str, key: str) -> str:
    """Return the value `text` of a key in a configuration, with an alias replaced by its name.

    Only values of the key ``protocol`` have aliases.
    """
    return PROTOCOL_NAMES.get(text, text) if key == "protocol" else text


def list_aliases(file: str) -> list[str]:
    """Return the aliases of the top-level keys in a kind of file: CONFIGURATION or PAPER."""
    return [*KEYS[file][()]]


def _find_names(file: str, place: Path) -> dict[str, str]:
    """Return a dictionary from each alias in a mapping of a file to the key that it replaces.

    `place` contains the keys that lead to the mapping.
    """
    names = KEYS[file]
    return names.get(place) or names.get((*place[:-1], "*"), {})


def _resolve_run(name: str) -> str:
    """Replace the alias in the name of a run, ``PROTOCOL`` or ``DATASET.PROTOCOL``.

    A protocol is the source of the settings of a run, such as a paper.
    """
    dataset, dot, protocol = name.rpartition(".")
    return f"{dataset}{dot}{resolve_text(protocol, 'protocol')}"


def _rename_keys(
    mapping: dict[Any, Any],
    find_key: Callable[[str], str],
    path: Path,
    document: Document,
    renamed: dict[Path, str],
) -> Iterator[tuple[Any, Path, Any]]:
    """Yield the key without an alias, the path as written, and the value of each entry.

    `path` is the path of the mapping in the document. Each path with an alias, and its key, is
    added to `renamed`.
    """
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
    """Return a value of a YAML document in which all aliases of keys are replaced.

    Each path with an alias, and its key, is added to `renamed`. `path` is the path of the value as
    written, and `place` is the path without aliases.
    """
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
