"""Reader for YAML files that records line numbers and reads scalars as in YAML 1.2.

In YAML 1.2, `1e-5` is a number, `10:30` and `no` are strings, and only `true` and `false` are
booleans. Duplicate keys and excessive aliases are rejected.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from rfbench.errors import ConfigError, suggest_nearest_name

# Limits on the content of a YAML file after aliases are expanded, because a malicious file could
# otherwise stall the parser. The values were chosen without a measurement. With MAX_NODES and
# MAX_CHARACTERS doubled, such a file needs twice the time. MAX_DEPTH is far below 1,000, the
# recursion limit of Python.
MAX_NODES = 20_000
MAX_CHARACTERS = 500_000
MAX_DEPTH = 30
# CSafeLoader is 14 times as fast as SafeLoader, but is missing if PyYAML was built without libyaml.
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_INTEGER = re.compile(r"[-+]?[0-9]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_INFINITE = re.compile(r"([-+]?)\.?inf", re.IGNORECASE)


@dataclass
class Document:
    """Content of a YAML file, with the line number of each value."""

    # content of the YAML file as a dictionary
    value: dict[str, Any]
    # name of the file that is shown in error messages
    source: str
    # Maps the path of each value to its place, such as ``line 3``, or ``--set key.path`` for a
    # value from the command line. A path is a tuple of keys and of positions in lists.
    places: dict[tuple[Any, ...], str] = field(default_factory=dict)

    def find_location(self, path: tuple[Any, ...]) -> str:
        """Return the location of a value in the file, such as ``line 3``.

        `path` contains the keys and list positions that lead to the value. If the location is
        unknown, return the location of the nearest enclosing value, or an empty string.
        """
        parts = (path[:length] for length in range(len(path), 0, -1))
        return next((self.places[part] for part in parts if part in self.places), "")

    def find_locations_below(self, path: tuple[Any, ...]) -> dict[tuple[Any, ...], str]:
        """Return the locations of the value at `path` and of all values inside it.

        The result is a dictionary from paths relative to `path` to locations such as ``line 3``.
        """
        size = len(path)
        return {p[size:]: position for p, position in self.places.items() if p[:size] == path}

    def set_locations(self, path: tuple[Any, ...], below: Mapping[tuple[Any, ...], str]) -> None:
        """Replace the locations of the value at `path` and of all values inside it.

        `below` is a dictionary from paths relative to `path` to locations such as ``line 3``.
        """
        for rest in self.find_locations_below(path):
            del self.places[path + rest]
        self.places |= {path + rest: position for rest, position in below.items()}


def parse_scalar(text: str) -> Any:
    """Return the value of an unquoted YAML scalar: None, a boolean, a number, or the string.

    >>> [parse_scalar(text) for text in ("1e-5", "10:30", "no", "true", "12")]
    [1e-05, '10:30', 'no', True, 12]
    """
    if text in ("", "~", "null", "Null", "NULL"):
        return None
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    if _INTEGER.fullmatch(text):
        return int(text) if len(text) < 30 else float(text)
    if _FLOAT.fullmatch(text):
        return float(text)
    if infinite := _INFINITE.fullmatch(text):
        return float(infinite[1] + "inf")
    return text


def load_yaml(path: Path) -> Document:
    """Read a YAML file that contains a mapping.

    Raise ConfigError, with the file name and the line, if the file is missing or invalid.
    """
    try:
        raw = path.read_bytes()
    except (OSError, ValueError) as error:  # a null byte in the path raises ValueError
        reason = getattr(error, "strerror", None) or str(error)
        kind = "is a folder" if isinstance(error, IsADirectoryError) else reason.lower()
        from rfbench import shipped

        hint = suggest_nearest_name(
            path.stem, [each.stem for each in shipped.list_configurations()]
        ).strip()
        hint = hint or "`rfbench list configs` lists all configurations."
        raise ConfigError(f"The configuration {path} cannot be read: {kind}.", "", hint) from error
    return parse_yaml(raw, str(path))


def parse_yaml(raw: bytes | str, source: str) -> Document:
    """Parse YAML text that contains a mapping. `source` is the file name in error messages.

    Raise ConfigError, with the file name and the line, if the text is invalid.
    """
    if len(raw) > MAX_CHARACTERS:
        raise ConfigError(f"{source} has {len(raw)} characters.", f"The limit is {MAX_CHARACTERS}.")
    try:
        _check_size(raw, source)
        node = yaml.compose(raw, Loader=_LOADER)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f", line {mark.line + 1}" if mark else ""
        raise ConfigError(
            f"{source}{where}: this is not valid YAML: {error.problem or error.context}."
        ) from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ConfigError(f"{source}: this is not valid YAML: {reason}.") from error
    if node is None:
        raise ConfigError(
            f"{source} is empty.", "", "Start the file with `dataset:` (see configs/README.md)."
        )
    if not isinstance(node, yaml.MappingNode):
        raise ConfigError(
            f"{source}, line 1: a configuration is a mapping of `key: value` lines, "
            f"this is a {'list' if isinstance(node, yaml.SequenceNode) else 'single word'}."
        )
    document = Document({}, source)
    document.value = _Builder(document).build(node, ())
    return document


def _check_size(raw: bytes | str, source: str) -> None:
    """Raise ConfigError if a YAML document is too large or too deeply nested.

    The parser libyaml would crash the process for such a document.
    """
    nodes = depth = 0
    for event in yaml.parse(raw, Loader=_LOADER):
        opens = isinstance(event, yaml.CollectionStartEvent)
        depth += opens - isinstance(event, yaml.CollectionEndEvent)
        nodes += opens or isinstance(event, yaml.ScalarEvent | yaml.AliasEvent)
        if nodes > MAX_NODES or depth > MAX_DEPTH + 1:
            line = event.start_mark.line + 1  # type: ignore[union-attr]
            raise ConfigError(
                f"{source}, line {line}: the document is too large or too deeply nested."
            )


class _Builder:
    def __init__(self, document: Document) -> None:
        self.document = document
        self.nodes = self.characters = 0

    def build(self, node: yaml.Node, path: tuple[Any, ...]) -> Any:
        self.document.places.setdefault(path, f"line {node.start_mark.line + 1}")
        self.nodes += 1
        self.characters += len(node.value) if isinstance(node, yaml.ScalarNode) else 0
        large = self.nodes > MAX_NODES or self.characters > MAX_CHARACTERS
        if large or len(path) > MAX_DEPTH:
            raise self.error(node, "the document is too large or too deeply nested")
        if node.tag not in _KNOWN_TAGS:
            raise self.error(node, f"the tag {node.tag} is not allowed")
        if isinstance(node, yaml.MappingNode):
            return self.mapping(node, path)
        if isinstance(node, yaml.SequenceNode):
            return [self.build(child, (*path, i)) for i, child in enumerate(node.value)]
        quoted = isinstance(node, yaml.ScalarNode) and bool(node.style)
        return node.value if quoted else parse_scalar(node.value)

    def mapping(self, node: yaml.MappingNode, path: tuple[Any, ...]) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                raise self.error(key_node, "a key has to be a single value")
            key = str(key_node.value)
            inside = (*path, key)
            if key == "<<":
                raise self.error(key_node, "merge keys (<<) are not supported")
            if key in result:
                first = self.document.places[inside]
                raise self.error(
                    key_node, f"the key '{key}' occurs twice; the first occurrence is in {first}"
                )
            self.document.places[inside] = f"line {key_node.start_mark.line + 1}"
            result[key] = self.build(value_node, inside)
        return result

    def error(self, node: yaml.Node, text: str) -> ConfigError:
        return ConfigError(f"{self.document.source}, line {node.start_mark.line + 1}: {text}.")


_KNOWN_TAGS = {
    f"tag:yaml.org,2002:{kind}"
    for kind in ("map", "seq", "str", "int", "float", "bool", "null", "timestamp", "value", "merge")
}
