"""Expansion of a configuration file into several runs: each protocol on each data set.

A protocol is a set of keys and values, such as all settings from one source.

    protocols:
      printed: {scaling: minmax}
      matched: {scaling: row-standard, for: [eeg]}
    datasets:
      eeg: {split: {test_size: 0.5}}
      mnist: {split: given, solver.multiclass: one-vs-one}
    exceptions:
      mnist.printed: {scaling: /255}

The keys of an entry have the same form as in ``--set``. The changes of the protocol are applied
first, then the changes of the data set, then the changes of the exception. A run is named
FILE_DATASET.PROTOCOL. If the file has no data sets or no protocols, this part of the name is
omitted. Aliases of keys are replaced first (see `rfbench.aliases`).
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from rfbench import aliases, yamlfile
from rfbench.config.axes import AXES, DATASETS, EXCEPTIONS, PROTOCOLS
from rfbench.config.messages import format_location
from rfbench.config.overrides import set_document_key
from rfbench.errors import ConfigError, suggest_nearest_name

AXIS_PATHS = {(axis,) for axis in AXES}
FOR = "for"
# Keys whose texts are joined if several entries have the key. For all other keys, the last entry is
# used.
JOINED = ("title", "description")
Entries = Mapping[str, Mapping[str, Any]]


def expand_run_matrix(document: yamlfile.Document, stem: str) -> dict[str, yamlfile.Document]:
    """Return the runs of a parsed configuration file by name, each as a separate document.

    `stem` is the name of the file, and the name of the run if the file has a single run. Raise
    ConfigError if ``protocols``, ``datasets``, ``exceptions`` or one of their entries is not a
    mapping, or if an entry names an unknown data set or run.
    """
    return {name: make() for name, make in find_run_builders(document, stem).items()}


def find_run_builders(
    document: yamlfile.Document, stem: str
) -> dict[str, Callable[[], yamlfile.Document]]:
    """Return a dictionary that maps the name of each run to a function that builds its document.

    `document` is the parsed configuration file, and `stem` is the name of the file. The same errors
    are raised as in `expand_run_matrix`.
    """
    document = aliases.resolve_document(document, aliases.CONFIGURATION, AXES)
    if not any(axis in document.value for axis in AXES):
        return {stem: lambda: document}
    axes = {axis: _entries(document, axis) for axis in AXES}
    runs = {}
    for dataset in axes[DATASETS] or [""]:
        for protocol in axes[PROTOCOLS] or [""]:
            if dataset in _wanted(document, axes, protocol):
                key = ".".join(filter(None, (dataset, protocol)))
                runs[key] = partial(_run, document, axes, dataset, protocol, key)
    for key in axes[EXCEPTIONS]:
        if key not in runs:
            raise ConfigError(
                f"{format_location(document, (EXCEPTIONS, key))}: there is no run '{key}'."
                f"{suggest_nearest_name(key, list(runs))}",
                f"The runs are {', '.join(runs)}.",
            )
    return {f"{stem}{'_' if axes[DATASETS] else '.'}{key}": run for key, run in runs.items()}


def _entries(document: yamlfile.Document, axis: str) -> Entries:
    entries = document.value.get(axis, {})
    named = isinstance(entries, dict) and (entries or axis not in document.value)
    if not named or not all(isinstance(entry, dict | None) for entry in entries.values()):
        raise ConfigError(
            f"{format_location(document, (axis,))}: {axis} is not a mapping of names to keys.",
            todo=f"Write `{axis}: {{NAME: {{key: value}}}}`."
            + (" Data sets of one table belong under `dataset`." if axis == DATASETS else ""),
        )
    return {name: entry or {} for name, entry in entries.items()}


def _wanted(document: yamlfile.Document, axes: Mapping[str, Entries], protocol: str) -> list[str]:
    """Return the data sets to which an entry of ``protocols`` in a configuration file applies.

    The key ``for`` of the entry lists the data sets. Without this key, the entry applies to all
    data sets of the file.
    """
    every = list(axes[DATASETS]) or [""]
    wanted = axes[PROTOCOLS].get(protocol, {}).get(FOR, every)
    if not isinstance(wanted, list) or not all(name in every for name in wanted):
        raise ConfigError(
            f"{format_location(document, (PROTOCOLS, protocol, FOR))}: "
            "`for` is not a list of data sets of this file.",
            f"The data sets are {', '.join(axes[DATASETS])}.",
        )
    return wanted


def _run(
    document: yamlfile.Document, axes: Mapping[str, Entries], dataset: str, protocol: str, key: str
) -> yamlfile.Document:
    run = yamlfile.Document(
        {word: copy.deepcopy(value) for word, value in document.value.items() if word not in AXES},
        document.source,
        {path: line for path, line in document.places.items() if path[:1] not in AXIS_PATHS},
    )
    for axis, name, word in ((DATASETS, dataset, "dataset"), (PROTOCOLS, protocol, "protocol")):
        if name:
            run.value[word] = name
            run.set_locations((word,), document.find_locations_below((axis, name)))
    entries = []
    for axis, name in ((PROTOCOLS, protocol), (DATASETS, dataset), (EXCEPTIONS, key)):
        entries.append(axes[axis].get(name, {}))
        for word, value in entries[-1].items():
            if word not in JOINED and (axis, word) != (PROTOCOLS, FOR):
                source = (axis, name, word)
                path = set_document_key(
                    run, word, copy.deepcopy(value), f"{format_location(document, source)}: {word}"
                )
                run.set_locations(path, document.find_locations_below(source))
    of_protocol, of_dataset, _ = entries
    titles = [of_dataset.get("title", dataset), of_protocol.get("title", protocol)]
    texts = [entry.get("description") for entry in entries]
    for word, mark, parts in (("title", ", ", titles), ("description", " ", texts)):
        run.value[word] = mark.join(str(p).strip() for p in [run.value.get(word), *parts] if p)
    return run
