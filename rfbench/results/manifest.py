"""Reader and writer of `manifest.json`, the file that describes the run of a results folder.

The file contains the configuration, the planned trials, hashes of the data, the machines and the
versions of packages.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from rfbench import files
from rfbench.errors import ResultsError
from rfbench.results.lines import add_checksum, remove_valid_checksum

MANIFEST = "manifest.json"
REQUIRED_KEYS = ("config", "settings", "trials")
MACHINE = "machine"  # key of the only machine, in manifests of earlier versions
# Key in manifest.json of a dictionary that maps the hash of each machine to facts about the
# machine. A worker adds the same key to each result row, and the key is removed before the row is
# written.
MACHINES = "machines"
WHAT = ("config", "variants", "settings", "trials", "smoke", "data")
MEASURING = ("python", "rfbench", "numpy", "scipy", "scikit-learn", "numba")
"""Packages that must have the same version on all machines."""

HARDWARE = ("system", "cpu", "cores", "memory_gib")
BLAS = ("library", "version", "core")


class _Part(BaseModel):
    """Section of the file `manifest.json`.

    Files of earlier versions may have fewer or more keys.
    """

    model_config = ConfigDict(strict=True, extra="allow")


class _Method(_Part):
    name: str = ""
    label: str = ""
    role: str | None = None
    imported: bool = False
    parameters: dict[str, Any] = {}


class _Check(_Part):
    column: str
    sampler: str | None = None
    at_each: str | None = None
    below: float | None = None
    above: float | None = None


class _Config(_Part):
    """Keys of a configuration that are used when results are read.

    `rfbench.config` checks all keys before a configuration is run.
    """

    name: str = ""
    title: str = ""
    description: str = ""
    paper: str | None = ""
    item: str | None = ""
    protocol: str | None = ""
    settings_from: str | None = None
    metric: str | None = None
    dataset: list[_Method] | str = []
    split: str | dict[str, Any] = ""
    M: list[Any] | dict[str, Any] | int | str = []
    samplers: list[_Method] = []
    solver: _Method = _Method()
    kernel_error_repeats: int | None = None
    checks: list[_Check] | None = []


class _Library(_Part):
    library: str | None = None
    version: str | None = None
    core: str | None = None


class _Machine(_Part):
    system: str | None = None
    cpu: str | None = None
    cores: int | None = None
    memory_gib: float | None = None
    blas: list[_Library] | None = None
    blas_variables: dict[str, str] | None = None


class _Manifest(_Part):
    config: _Config = _Config()
    variants: list[_Config] = []
    settings: list[str] = []
    trials: list[str] = []
    smoke: bool = False
    changed: list[str] = []
    data: dict[str, str] = {}
    versions: dict[str, str] = {}
    machine: _Machine = _Machine()
    machines: dict[str, _Machine] = {}


def write(folder: Path, content: Mapping[str, Any]) -> None:
    """Write the file `manifest.json` of a results folder.

    The old file is kept until the new file is complete.
    """
    plain = json.loads(json.dumps(content, default=str))
    text = json.dumps(add_checksum(plain), indent=1, ensure_ascii=False) + "\n"
    files.replace(folder / MANIFEST, text.encode(errors="backslashreplace"))


def read(folder: Path) -> dict[str, Any]:
    """Return the content of the file `manifest.json` of a results folder.

    Raise ResultsError if the file is missing, cannot be read, or has missing or invalid keys.
    """
    notes: list[str] = []
    content = read_if_valid(folder, notes)
    if absent := [key for key in REQUIRED_KEYS if key not in content]:
        raise ResultsError(
            f"The manifest {folder / MANIFEST} cannot be read.",
            notes[0] if notes else f"The manifest does not have the keys {', '.join(absent)}.",
            "Run the configuration again. Its finished rows are kept.",
        )
    return content


def read_if_valid(folder: Path, notes: list[str]) -> dict[str, Any]:
    """Return the content of the file `manifest.json` of a results folder.

    If the file is missing or invalid, return an empty dictionary and append the reason to `notes`.
    """
    unknown = "the configuration and the machine are unknown."
    try:
        return _load(folder)
    except FileNotFoundError:
        notes.append(f"There is no {MANIFEST}: {unknown}")
    except (OSError, ValueError) as error:
        why = f"{error.strerror}." if isinstance(error, OSError) else str(error)
        notes.append(f"{MANIFEST} cannot be read: {unknown} {why}")
    return {}


def has_same_configuration(folder: Path, content: Mapping[str, Any]) -> bool:
    """Return True if the file `manifest.json` of a folder matches `content`.

    The configuration and the data are compared. A run without new measurements does not replace a
    matching file, so that the file keeps the machine that measured the rows.
    """
    manifest = read_if_valid(folder, [])
    return all(manifest.get(key) == content[key] for key in WHAT)


def hash_machine(facts: Mapping[str, Any]) -> str:
    """Return a hash that identifies a machine: processor, cores, memory, system and BLAS.

    Machines for which these facts are equal have the same hash. The name of the machine, the order
    of the libraries, and values that vary between runs (free memory, number of threads) have no
    effect.
    """
    libraries = {
        " ".join(str(library.get(key)) for key in BLAS)
        for library in facts.get("blas") or []
        if isinstance(library, dict)
    }
    hardware = [str(facts.get(name)) for name in HARDWARE]
    text = json.dumps([*hardware, *sorted(libraries)])
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def list_machines(content: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return facts about each machine in the content of `manifest.json`.

    The keys of the result are the hashes of the machines. Files of earlier versions have a single
    machine, whose hash is computed here.
    """
    only = content.get(MACHINE)
    if isinstance(only, dict) and only:
        return {hash_machine(only): only}
    return dict(content.get(MACHINES, {}))


def find_machine_of_older_rows(content: Mapping[str, Any]) -> str:
    """Return the hash of the first machine in the content of `manifest.json`, or "" if it has none.

    The first machine has measured all rows that do not name a machine.
    """
    return next(iter(list_machines(content)), "")


def add_machines(folder: Path, more: Mapping[str, dict[str, Any]]) -> None:
    """Add machines to the file `manifest.json` of a folder, unless the file already has them."""
    content = read_if_valid(folder, [])
    if content and not more.keys() <= list_machines(content).keys():
        every = list_machines(content) | dict(more)
        write(folder, {k: v for k, v in content.items() if k != MACHINE} | {MACHINES: every})


def make_data_key(name: str, parameters: Mapping[str, Any]) -> str:
    """Return the key of a data set in ``manifest["data"]``.

    The key is the name of the data set, followed by its parameters if there are any.
    """
    return f"{name} {json.dumps(parameters, sort_keys=True)}" if parameters else name


def _load(folder: Path) -> dict[str, Any]:
    try:
        content = json.loads(files.read(folder / MANIFEST))
        if not isinstance(content, dict):
            raise ValueError("Expected a JSON object.")
        content = remove_valid_checksum(content)
        _Manifest.model_validate(content)
    except ValidationError as error:
        wrong = error.errors()[0]
        place = ".".join(map(str, wrong["loc"]))
        raise ValueError(f"{place}: {wrong['msg']}.") from None
    except RecursionError:
        raise ValueError("The JSON is nested too deeply.") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"The file is not valid JSON: {error}.") from None
    except UnicodeDecodeError:
        raise ValueError("The file is not UTF-8 text.") from None
    return content
