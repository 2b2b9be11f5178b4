"""Changes of a configuration with the option `--set key.path=value`."""

from __future__ import annotations

from typing import Any

from rfbench import aliases, yamlfile
from rfbench.errors import ConfigError, suggest_nearest_name
from rfbench.registry import SAMPLERS


def apply_override(document: yamlfile.Document, text: str) -> None:
    """Change a value of a configuration. `text` has the form `key.path=value`.

    Raise ConfigError if the path is invalid.
    """
    key, sign, value = text.partition("=")
    if not sign or not key.strip():
        raise ConfigError(
            f"--set {text} does not have the form `key.path=value`.", "", "Write --set M=50:200:50."
        )
    try:
        parsed = yamlfile.parse_yaml(f"value: {value}", f"--set {text}").value["value"]
    except ConfigError:
        parsed = value
    assign_nested_key(document, key.strip(), parsed, text)


def assign_nested_key(document: yamlfile.Document, key: str, value: Any, text: str) -> None:
    """Set the nested key `key` of a configuration, such as `a.b.c`, to `value`.

    If the path of the key is invalid, the error message contains `text`.
    """
    stored, value = aliases.resolve_setting(key, value, f"--set {text}")
    document.set_locations(
        set_document_key(document, stored, value, f"--set {text}"), {(): f"--set {key}"}
    )


def set_document_key(
    document: yamlfile.Document, key: str, value: Any, text: str
) -> tuple[Any, ...]:
    """Set the nested key `key` of a configuration to `value`, and return the path of the key.

    If the path is invalid, a ConfigError with `text` is raised. The stored line numbers are not
    changed.
    """
    *parts, last = key.split(".")
    path: tuple[Any, ...] = ()
    target: Any = document.value
    for part in parts:
        if isinstance(target, list):
            target, inside = _entry_of_list(target, part, text)
            path += inside
        else:
            child = target.get(part)
            if isinstance(child, str):
                child = {"name": child}
            target[part] = child if isinstance(child, dict | list) else {}
            target = target[part]
            path += (part,)
    if isinstance(target, list):
        _entry_of_list(target, last, text)
        raise ConfigError(
            f"{text} would replace a complete entry of a list.",
            todo=f"Name a parameter of this entry: {key}.parameter=value.",
        )
    target[last] = value
    return (*path, last)


def _entry_of_list(
    entries: list[Any], part: str, text: str
) -> tuple[dict[str, Any], tuple[Any, ...]]:
    """Return the parameters of the list entry with the name or label `part`, and their path.

    Raise ConfigError if there is no such entry.
    """
    part = SAMPLERS.find_published_name(part)
    names = []
    for position, entry in enumerate(entries):
        if isinstance(entry, str):
            entries[position] = entry = {entry: {}}
        if not isinstance(entry, dict) or not entry:
            continue
        first = next(iter(entry))
        inner = entry[first] if len(entry) == 1 else entry
        if inner is None:
            entry[first] = inner = {}
        own = [first, str(entry.get("name"))]
        own += [str(inner["label"])] if isinstance(inner, dict) and "label" in inner else []
        names.append(first)
        if part in own + [SAMPLERS.find_published_name(name) for name in own] and isinstance(
            inner, dict
        ):
            return inner, (position,) if inner is entry else (position, first)
    raise ConfigError(
        f"{text}: the list does not contain '{part}'.{suggest_nearest_name(part, names)}",
        f"The entries of the list are {', '.join(names)}.",
    )
