"""`manifest.json` of a results folder: configuration, trials, data, machine and versions."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rfbench.errors import ResultsError
from rfbench.results import files

MANIFEST = "manifest.json"
DEEPEST = 20
NEEDED = ("config", "settings", "trials")
MACHINE = "machine"  # of manifests that have one machine alone, without its identity
MACHINES = "machines"  # by identity; also of a row on its way to the file, where it is known
KINDS = {
    **{"config": dict, "data": dict, "settings": list, "trials": list, "variants": list},
    MACHINES: dict,
}
ITEMS = {"data": str, "settings": str, "trials": str, "variants": dict, MACHINES: dict}
WHAT = ("config", "variants", "settings", "trials", "smoke", "data")
HARDWARE = ("system", "cpu", "cores", "memory_gib")
BLAS = ("library", "version", "core")
WORDS = ("name", "title", "description", "paper", "item", "protocol", "metric")


def write(folder: Path, content: Mapping[str, Any]) -> None:
    """Write the manifest, the old one staying until the new one is whole."""
    text = json.dumps(content, indent=1, ensure_ascii=False, default=str) + "\n"
    files.replace(folder / MANIFEST, text.encode(errors="backslashreplace"))


def read(folder: Path) -> dict[str, Any]:
    """Return the manifest of a results folder.

    Raises ResultsError: it is not there, cannot be read, or lacks or holds what no manifest does.
    """
    try:
        content = _load(folder)
        absent = [key for key in NEEDED if key not in content]
        if absent:
            raise ValueError(f"It has no {', '.join(absent)}.")
    except (OSError, ValueError) as error:
        why = f"{error.strerror}." if isinstance(error, OSError) else str(error)
        raise ResultsError(
            f"The manifest {folder / MANIFEST} cannot be read.",
            why,
            "Run the configuration again; its finished rows are kept.",
        ) from error
    return content


def read_if_sound(folder: Path, notes: list[str]) -> dict[str, Any]:
    """Return the manifest of a results folder, or nothing and a note why."""
    unknown = "configuration and machine are unknown."
    try:
        return _load(folder)
    except FileNotFoundError:
        notes.append(f"There is no {MANIFEST}: {unknown}")
    except (OSError, ValueError) as error:
        why = f"{error.strerror}." if isinstance(error, OSError) else str(error)
        notes.append(f"{MANIFEST} cannot be read: {unknown} {why}")
    return {}


def describes(folder: Path, content: Mapping[str, Any]) -> bool:
    """Tell whether the manifest of a folder is of this configuration and these data.

    Then a run that measures nothing leaves it, with the machine that did measure.
    """
    found = read_if_sound(folder, [])
    return all(found.get(key) == content[key] for key in WHAT)


def machine_id(facts: Mapping[str, Any]) -> str:
    """Return the identity of a machine: processor, cores, memory, system, BLAS; no name.

    Two machines with the same ones are one. What varies from run to run (free memory, threads) and
    the order of the libraries play no part.
    """
    libraries = {
        " ".join(str(library.get(key)) for key in BLAS)
        for library in facts.get("blas") or []
        if isinstance(library, dict)
    }
    known = [str(facts.get(name)) for name in HARDWARE]
    text = json.dumps([*known, *sorted(libraries)])
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def machines(content: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the machines of a manifest by identity; older manifests have one, without it."""
    only = content.get(MACHINE)
    if isinstance(only, dict) and only:
        return {machine_id(only): only}
    return dict(content.get(MACHINES, {}))


def machine_of_older_rows(content: Mapping[str, Any]) -> str:
    """Return the machine of rows that were written before rows had one: the manifest's first.

    An empty text if the manifest names none.
    """
    return next(iter(machines(content)), "")


def add_machines(folder: Path, more: Mapping[str, dict[str, Any]]) -> None:
    """Add machines to the manifest of a folder, where it does not have them."""
    content = read_if_sound(folder, [])
    if content and not more.keys() <= machines(content).keys():
        every = machines(content) | dict(more)
        write(folder, {k: v for k, v in content.items() if k != MACHINE} | {MACHINES: every})


def data_key(name: str, parameters: Mapping[str, Any]) -> str:
    """Return the key of a data set in ``manifest["data"]``: its name, and parameters if any."""
    return f"{name} {json.dumps(parameters, sort_keys=True)}" if parameters else name


def _load(folder: Path) -> dict[str, Any]:
    try:
        content = json.loads((folder / MANIFEST).read_bytes())
    except RecursionError:
        raise ValueError("It is nested too deeply.") from None
    except ValueError as error:
        raise ValueError(f"It is not JSON: {error}.") from error
    if not isinstance(content, dict):
        raise ValueError("It is not a JSON object.")
    _check(content)
    return content


def _check(content: dict[str, Any]) -> None:
    """Raise ValueError for what no manifest holds."""
    if _deeper(content, DEEPEST):
        raise ValueError("It is nested too deeply.")
    for key, kind in KINDS.items():
        value = content.get(key, kind())
        if not isinstance(value, kind):
            raise ValueError(f"Its {key} is no {kind.__name__}.")
        items = value.values() if isinstance(value, dict) else value
        if key in ITEMS and not all(isinstance(item, ITEMS[key]) for item in items):
            raise ValueError(f"Its {key} holds something other than {ITEMS[key].__name__}.")
    for word in WORDS:
        if not isinstance(content.get("config", {}).get(word), str | None):
            raise ValueError(f"Its config has a {word} that is no text.")


def _deeper(value: Any, levels: int) -> bool:
    if not isinstance(value, dict | list):
        return False
    items = value.values() if isinstance(value, dict) else value
    return levels == 0 or any(_deeper(item, levels - 1) for item in items)
