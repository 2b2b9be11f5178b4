"""Hashes of the settings in the shipped configurations.

Result rows with other settings are outdated.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rfbench import config, shipped
from rfbench.config.schema import Experiment
from rfbench.errors import RfbenchError
from rfbench.experiment.plan import Trial
from rfbench.parameters import is_path
from rfbench.results import Results
from rfbench.yamlfile import Document

# Packages whose classes may occur in cached settings. The cache is valid for the installed versions
# of these packages. Code from other packages could change without a new version.
SHIPPED_CODE = ("rfbench", "sklearn")


def find_current_settings(results: Results) -> frozenset[str] | None:
    """Return the hashes of the current settings of the configuration that produced the results.

    The configuration is the shipped configuration with the name of the results. Each hash (column
    ``setting``) covers everything that affects a measurement, except the number of features M and
    the trial number. The hash of the data is read from the results. Return None if no shipped
    configuration has the name.
    """
    experiment = _find_experiment(results.name)
    if experiment is None:
        return None
    hashes: dict[tuple[str, int], str] = {}
    alone: dict[str, str] = {}
    for source, d, data in results.list_data():
        hashes[source, d] = alone[source] = data
    asked = set()
    for dataset in experiment.dataset:
        d = (dataset.parameters or {}).get("d", -1)
        found = hashes.get((dataset.name, d), alone.get(dataset.name))
        if found is not None:
            asked |= {
                Trial(experiment, dataset, found, sampler, experiment.sizes[0], 0).setting
                for sampler in experiment.samplers
            }
    return frozenset(asked)


def find_current_settings_of_each(
    several_results: Sequence[Results],
) -> list[frozenset[str] | None]:
    """Return a list with the value of `find_current_settings` for each of several results."""
    return [find_current_settings(results) for results in several_results]


def depends_on_shipped_files(name: str) -> bool:
    """Return True if the named configuration uses no data files of the user and no other code.

    Other code is imported code outside rfbench and scikit-learn. The hashes of the settings then
    depend only on rfbench, scikit-learn and the hashes of the data.
    """
    experiment = _find_experiment(name)
    if experiment is None:
        return True
    specs = (*experiment.dataset, *experiment.samplers, experiment.solver)
    imported = [spec.code for spec in specs if spec.code]
    imported += [experiment.kernel] if is_path(experiment.kernel) else []
    own = any(dataset.is_user_data for dataset in experiment.dataset)
    return not own and all(path.split(".")[0] in SHIPPED_CODE for path in imported)


def read_paper_configurations() -> dict[str, dict[str, Any]]:
    """Return the content of each shipped configuration that belongs to a paper, by its name.

    The content has the same form as in `manifest.json`.
    """
    every = [
        (path, name)
        for path in _list_configurations()
        for name, run in _documents(path).items()
        if run.value.get("paper")
    ]
    read = {name: _read(path, name) for path, name in every}
    return {name: each.model_dump(mode="json") for name, each in read.items() if each}


def _find_experiment(name: str) -> Experiment | None:
    paths = (path for path in _list_configurations() if name.startswith(path.stem))
    path = next((path for path in paths if name in _documents(path)), None)
    return None if path is None else _read(path, name)


@functools.cache
def _list_configurations() -> list[Path]:
    return shipped.list_configurations()


@functools.cache
def _read(path: Path, name: str) -> Experiment | None:
    try:
        return config.build_experiment(_documents(path)[name], name, combinations=False)
    except RfbenchError:
        return None


@functools.cache
def _documents(path: Path) -> dict[str, Document]:
    return dict(config.read_run_documents(path))
