"""The settings of the configurations that are currently shipped with rfbench."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

from rfbench import config, shipped
from rfbench.config.schema import Experiment
from rfbench.errors import RfbenchError
from rfbench.experiment.plan import Trial
from rfbench.results import Results
from rfbench.yamlfile import Document


def find_settings(results: Results) -> frozenset[str] | None:
    """Return the settings of the shipped configuration that has the same name as these results.

    A setting is the identity of a measurement, without M and the trial number (column ``setting``).
    The data are identified by the rows, so that they need not be on this machine. Return None if no
    shipped configuration has the name.
    """
    name = results.name
    files = (path for path in _list_configurations() if name.startswith(path.stem))
    path = next((path for path in files if name in _documents(path)), None)
    experiment = None if path is None else _read(path, name)
    if experiment is None:
        return None
    named = results.rows[["dataset", "d", "data_hash"]].drop_duplicates().dropna()
    hashes: dict[tuple[str, int], str] = {}
    alone: dict[str, str] = {}
    for name, d, data in named[named["data_hash"] != ""].itertuples(index=False, name=None):
        source = str(name).partition("[")[0]
        hashes[source, int(d)] = alone[source] = str(data)
    asked = set()
    for dataset in experiment.dataset:
        d = (dataset.parameters or {}).get("d", -1)
        data = hashes.get((dataset.name, d), alone.get(dataset.name))
        if data is not None:
            asked |= {
                Trial(experiment, dataset, data, sampler, experiment.sizes[0], 0).setting
                for sampler in experiment.samplers
            }
    return frozenset(asked)


def read_paper_configurations() -> dict[str, dict[str, Any]]:
    """Return the shipped configurations of papers by run name, in the form of a manifest."""
    every = [
        (path, name)
        for path in _list_configurations()
        for name, run in _documents(path).items()
        if run.value.get("paper")
    ]
    read = {name: _read(path, name) for path, name in every}
    return {name: each.model_dump(mode="json") for name, each in read.items() if each}


@functools.cache
def _list_configurations() -> list[Path]:
    return shipped.list_configurations()


@functools.cache
def _read(path: Path, name: str) -> Experiment | None:
    try:
        return config.from_document(_documents(path)[name], name, combinations=False)
    except RfbenchError:
        return None


@functools.cache
def _documents(path: Path) -> dict[str, Document]:
    return dict(config.read_documents(path))
