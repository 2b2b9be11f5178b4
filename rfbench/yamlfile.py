"""Reading YAML with line numbers, and without the traps of YAML 1.1.

Scalars follow YAML 1.2's core schema: `1e-5` is a number, `10:30` and `no` are text, only `true`
and `false` are truth values. Duplicate keys and runaway aliases are refused.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from rfbench.errors import ConfigError, nearest

# Of what is written, and once more of what it stands for when aliases are followed.
MAX_NODES = 20_000
MAX_CHARACTERS = 500_000
MAX_DEPTH = 30

_INTEGER = re.compile(r"[-+]?[0-9]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_INFINITE = re.compile(r"([-+]?)\.?inf", re.IGNORECASE)


@dataclass
class Document:
    """A YAML document."""

    value: dict[str, Any]  # the content
    source: str  # name of the file, for messages
    # Line number (from 1) of each path, a path being the tuple of keys and positions.
    lines: dict[tuple[Any, ...], int] = field(default_factory=dict)
    # What was written after ``--set``, ``key.path``, for each path that it changed.
    settings: dict[tuple[Any, ...], str] = field(default_factory=dict)

    def place_of(self, path: tuple[Any, ...]) -> str:
        """Return ``line 3``, or the ``--set``, of the path or of the nearest part that has one.

        Empty if none has.
        """
        for length in range(len(path), 0, -1):
            if path[:length] in self.settings:
                return f"--set {self.settings[path[:length]]}"
            if path[:length] in self.lines:
                return f"line {self.lines[path[:length]]}"
        return ""

    def put(self, path: tuple[Any, ...], setting: str) -> None:
        """Note that ``--set`` replaced what stood at a path, and all below it."""
        self._forget(path)
        self.settings[path] = setting

    def move(self, origin: Document, source: tuple[Any, ...], path: tuple[Any, ...]) -> None:
        """Note that what stands at a path, and all below it, comes from another document."""
        self._forget(path)
        for old, line in origin.lines.items():
            if old[: len(source)] == source:
                self.lines[path + old[len(source) :]] = line

    def _forget(self, path: tuple[Any, ...]) -> None:
        for places in (self.lines, self.settings):
            for old in [old for old in places if old[: len(path)] == path]:
                del places[old]


def scalar(text: str) -> Any:
    """Return what an unquoted word means: None, a truth value, a number, or the text.

    >>> scalar("1e-5"), scalar("10:30"), scalar("no"), scalar("true"), scalar("12")
    (1e-05, '10:30', 'no', True, 12)
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


def load(path: Path) -> Document:
    """Read a YAML file whose content is a mapping; ConfigError names file and line."""
    try:
        raw = path.read_bytes()
    except (OSError, ValueError) as error:  # ValueError: a null byte in the path
        reason = getattr(error, "strerror", None) or str(error)
        kind = "is a folder" if isinstance(error, IsADirectoryError) else reason.lower()
        from rfbench import shipped

        every = shipped.every()
        known = [each for each in every if f"{path.stem}_".startswith(f"{each.stem}_")]
        close = nearest(path.stem, [each.stem for each in every]).strip()
        hint = f"Did you mean {known[0]}?" if known else close
        hint = hint or "`rfbench list configs` shows some."
        raise ConfigError(f"The configuration {path} cannot be read: {kind}.", "", hint) from error
    return parse(raw, str(path))


def parse(raw: bytes | str, source: str) -> Document:
    """Read YAML text; see `load`."""
    if len(raw) > MAX_CHARACTERS:
        raise ConfigError(f"{source} has {len(raw)} characters.", f"The limit is {MAX_CHARACTERS}.")
    try:
        node = yaml.compose(raw, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f", line {mark.line + 1}" if mark else ""
        raise ConfigError(
            f"{source}{where}: this is not valid YAML: {error.problem or error.context}."
        ) from error
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ConfigError(f"{source}: this is not valid YAML: {reason}.") from error
    if node is None:
        raise ConfigError(f"{source} is empty.", "", "Begin with `dataset:` (configs/README.md).")
    if not isinstance(node, yaml.MappingNode):
        raise ConfigError(
            f"{source}, line 1: a configuration is a mapping of `key: value` lines, "
            f"this is a {'list' if isinstance(node, yaml.SequenceNode) else 'single word'}."
        )
    document = Document({}, source)
    document.value = _Builder(document).build(node, (), 0)
    return document


class _Loader(yaml.SafeLoader):
    """Stops at the first node too many or too deep, before the rest is read."""

    nodes = depth = 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        self.nodes += 1
        self.depth += 1
        if self.nodes > MAX_NODES or self.depth > 2 * MAX_DEPTH:
            problem = "it is too large or too deeply nested"
            mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]
            raise yaml.composer.ComposerError(None, None, problem, mark)
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node


class _Builder:
    def __init__(self, document: Document) -> None:
        self.document = document
        self.nodes = self.characters = 0

    def build(self, node: yaml.Node, path: tuple[Any, ...], depth: int) -> Any:
        line = node.start_mark.line + 1
        self.document.lines.setdefault(path, line)
        self.nodes += 1
        self.characters += len(node.value) if isinstance(node, yaml.ScalarNode) else 0
        large = self.nodes > MAX_NODES or self.characters > MAX_CHARACTERS
        if large or depth > MAX_DEPTH:
            raise self.error(line, "the document is too large or too deeply nested")
        if node.tag not in _KNOWN_TAGS:
            raise self.error(line, f"the tag {node.tag} is not allowed")
        if isinstance(node, yaml.MappingNode):
            return self.mapping(node, path, depth)
        if isinstance(node, yaml.SequenceNode):
            return [self.build(child, (*path, i), depth + 1) for i, child in enumerate(node.value)]
        quoted = isinstance(node, yaml.ScalarNode) and node.style is not None
        return node.value if quoted else scalar(node.value)

    def mapping(self, node: yaml.MappingNode, path: tuple[Any, ...], depth: int) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for key_node, value_node in node.value:
            line = key_node.start_mark.line + 1
            if not isinstance(key_node, yaml.ScalarNode):
                raise self.error(line, "a key must be a single word")
            key = str(key_node.value)
            if key == "<<":
                raise self.error(line, "merge keys (<<) are not supported")
            if key in result:
                first = self.document.lines[(*path, key)]
                raise self.error(line, f"the key '{key}' stands here again, first in line {first}")
            self.document.lines[(*path, key)] = line
            result[key] = self.build(value_node, (*path, key), depth + 1)
        return result

    def error(self, line: int, text: str) -> ConfigError:
        return ConfigError(f"{self.document.source}, line {line}: {text}.")


_KNOWN_TAGS = {
    f"tag:yaml.org,2002:{kind}"
    for kind in ("map", "seq", "str", "int", "float", "bool", "null", "timestamp", "value", "merge")
}
