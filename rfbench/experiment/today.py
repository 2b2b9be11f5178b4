"""What the configurations that come with rfbench ask for today."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

from rfbench import config, shipped
from rfbench.errors import RfbenchError
from rfbench.experiment.plan import Trial
from rfbench.results import Results


def find_settings(results: Results) -> frozenset[str] | None:
    """Return the settings that the shipped configuration of some results asks for today.

    That is the one of the same name; a setting is the identity of what is measured, but for M and
    the number of the trial (the column ``setting``). The data are those that the rows name, so
    that none need be on this machine. None where no shipped configuration has the name.
    """
    name = results.name
    files = (
        _documents(path) for path in shipped.list_configurations() if name.startswith(path.stem)
    )
    document = next((runs[name] for runs in files if name in runs), None)
    try:
        experiment = document and config.from_document(document, name)
    except RfbenchError:
        return None
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


@functools.cache
def _documents(path: Path) -> dict[str, Any]:
    return dict(config.read_documents(path))
