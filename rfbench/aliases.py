"""Second names of keys that users write, each replaced by its key when a file is read.

A file with a second name and a file with the key are the same: the trials have the same identities,
and manifests contain the key.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from rfbench.errors import ConfigError
from rfbench.yamlfile import Document

CONFIGURATION, PAPER = "configuration", "paper.yaml"
Path = tuple[Any, ...]


class Alias(NamedTuple):
    """A second name of a key, or of a text that is the value of a key."""

    file: str  # kind of file
    place: str  # path of the mapping with the key, or of the text; `*` is any part of a path
    alias: str
    key: str  # name that is stored


ALIASES = (
    Alias(CONFIGURATION, "", "max_train_rows", "rows"),
    Alias(CONFIGURATION, "", "max_test_rows", "test_rows"),
    Alias(CONFIGURATION, "", "save_selected_features", "kept_features"),
    Alias(CONFIGURATION, "", "assertions", "checks"),
    Alias(CONFIGURATION, "protocol", "custom", "own"),
    Alias(CONFIGURATION, "bandwidth", "extend_grid", "widen"),
    Alias(CONFIGURATION, "split", "fixed_test_size", "held_out"),
    Alias(CONFIGURATION, "split", "group_test_size", "leave_groups"),
    Alias(CONFIGURATION, "split", "n_blocks", "blocks"),
    Alias(PAPER, "", "inconsistencies", "doubts"),
    Alias(PAPER, "", "displayed_with", "beside"),
    Alias(PAPER, "datasets.*", "substitutes", "stand_ins"),
    Alias(PAPER, "rows_source", "license", "licence"),
)


def resolve_document(document: Document, file: str, entries: tuple[str, ...] = ()) -> Document:
    """Return a document in which each alias is replaced by its key; line numbers are kept.

    `file` is the kind of file. Each key in `entries` has a mapping of names to mappings whose keys
    are paths, such as ``split.test_size``. Raises ConfigError if a mapping has an alias and its
    key.
    """
    renamed: dict[Path, str] = {}

    def replace(value: Any, path: Path, place: Path) -> Any:
        return _replace(value, file, path, place, document, renamed)

    top = {key: part for key, part in document.value.items() if key not in entries}
    value = replace(top, (), ())
    for axis in entries:
        if axis in document.value:
            part = document.value[axis]
            value[axis] = (
                {name: replace(entry, (axis, name), ()) for name, entry in part.items()}
                if isinstance(part, dict)
                else part
            )
    places = {
        tuple(renamed.get(path[: i + 1], part) for i, part in enumerate(path)): line
        for path, line in document.places.items()
    }
    return Document(value, document.source, places)


def resolve_setting(key: str, value: Any, source: str) -> tuple[str, Any]:
    """Return a path such as ``split.test_size`` of a configuration, and its value, with no alias.

    `source` is the place of the setting in messages. Raises ConfigError if the value has an alias
    and its key.
    """
    key = resolve_path(key)
    document = Document({}, source)
    return key, _replace(value, CONFIGURATION, (), tuple(key.split(".")), document, {})


def resolve_path(key: str) -> str:
    """Return a path of a configuration, such as ``split.test_size``, with no alias."""
    return _resolve_path(key, CONFIGURATION, ())


def resolve_text(text: str, key: str) -> str:
    """Return the text that is stored as the value of a key of a configuration."""
    return _find_names(CONFIGURATION, (key,)).get(text, text)


def list_aliases(file: str) -> list[str]:
    """Return the aliases of the keys of a file that are not inside of another key."""
    return [*_find_names(file, ())]


def _find_names(file: str, place: Path) -> dict[str, str]:
    """Return the keys of the aliases at a place."""
    found = {}
    for alias in ALIASES:
        parts = alias.place.split(".") if alias.place else []
        same = len(parts) == len(place) and all(
            wanted in ("*", part) for wanted, part in zip(parts, place, strict=True)
        )
        if alias.file == file and same:
            found[alias.alias] = alias.key
    return found


def _resolve_path(key: str, file: str, place: Path) -> str:
    parts: list[str] = []
    for part in key.split("."):
        parts.append(_find_names(file, (*place, *parts)).get(part, part))
    return ".".join(parts)


def _replace(
    value: Any, file: str, path: Path, place: Path, document: Document, renamed: dict[Path, str]
) -> Any:
    """Return a value without aliases, and add the renamed paths of the document to `renamed`."""
    if isinstance(value, str):
        return _find_names(file, place).get(value, value)
    if not isinstance(value, dict):
        return value
    result: dict[Any, Any] = {}
    given: dict[Any, Any] = {}
    for name, part in value.items():
        key = _resolve_path(name, file, place) if isinstance(name, str) else name
        inside = (*path, name)
        if key in result:
            line = document.find_location(inside)
            raise ConfigError(
                f"{document.source}{', ' * bool(line)}{line}: '{given[key]}' and '{name}' are two "
                "names of the same key.",
                todo="Remove one of them.",
            )
        if key != name:
            renamed[inside] = key
        below = (*place, *key.split(".")) if isinstance(key, str) else (*place, key)
        result[key] = _replace(part, file, inside, below, document, renamed)
        given[key] = name
    return result
