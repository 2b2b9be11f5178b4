"""What all samplers of a trial share: prepared rows, bandwidth, the exact kernel matrix.

Each is remembered in the worker, so that the trials of a job, and the next job on the same rows,
find it ready. What is remembered is read-only: no method can change what the next one sees.
"""

from __future__ import annotations

import json
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from rfbench import bandwidths, datasets, kernels
from rfbench.datasets import Prepared
from rfbench.experiment.kernel_error import spectral_norm
from rfbench.experiment.plan import Trial
from rfbench.experiment.seeds import generator_for
from rfbench.frozen import frozen
from rfbench.kernels import Rows


def _key(trial: Trial) -> str:
    experiment = trial.experiment
    return json.dumps(
        {
            "dataset": trial.dataset.model_dump(),
            "data": trial.data_sha256,
            "split": experiment.split,
            "scaling": experiment.scaling,
            "target": experiment.target,
            "rows": experiment.rows,
            "dtype": experiment.dtype,
            "seed": experiment.seed,
        },
        sort_keys=True,
    )


def prepared(trial: Trial) -> Prepared:
    """Return the trial's training and test rows, scaled, encoded and read-only."""
    entry = datasets.entry(trial.dataset.name)
    fixed = trial.experiment.split == "given" and trial.experiment.rows is None
    number = 0 if fixed and entry.kind != "synthetic" else trial.number
    return _prepared(_key(trial), number)


@lru_cache(maxsize=2)
def _prepared(key: str, number: int) -> Prepared:
    facts = json.loads(key)
    dataset = datasets.load(
        facts["dataset"]["name"],
        parameters=facts["dataset"]["parameters"] or None,
        generator=generator_for(facts["seed"], "data", number),
    )
    return frozen(
        datasets.prepare(
            dataset,
            split=facts["split"],
            scaling=facts["scaling"],
            target=facts["target"],
            generator=generator_for(facts["seed"], "split", number),
            rows=facts["rows"],
            dtype=facts["dtype"],
        )
    )


_bandwidths: dict[tuple[str, int, float | str], float] = {}


def bandwidth(trial: Trial) -> float | None:
    """Return the bandwidth that the experiment's rule gives on the training rows, if it has one."""
    experiment = trial.experiment
    if not kernels.kernel_class(experiment.kernel).has_bandwidth:
        return None
    key = (_key(trial), trial.number, experiment.bandwidth)
    if key not in _bandwidths:
        generator = generator_for(experiment.seed, "bandwidth", trial.number)
        rows = prepared(trial).X_train
        _bandwidths[key] = bandwidths.resolve(experiment.bandwidth, rows, generator)
    return _bandwidths[key]


def kernel_rows(trial: Trial, count: int) -> Rows:
    """Return the random training rows that kernel matrices are compared on."""
    rows = prepared(trial).X_train
    generator = generator_for(trial.experiment.seed, "kernel rows", trial.number)
    n = rows.shape[0]
    return rows[np.sort(generator.choice(n, size=min(count, n), replace=False))]


_kernel_matrices: dict[tuple[object, ...], tuple[Rows, NDArray[np.float64], float]] = {}


def exact_kernel(
    trial: Trial, kernel: kernels.Kernel, count: int
) -> tuple[Rows, NDArray[np.float64], float]:
    """Return rows, the exact kernel matrix on them and its spectral norm; the last is kept."""
    key = (_key(trial), trial.number, count, kernel)
    if key not in _kernel_matrices:
        rows = frozen(kernel_rows(trial, count))
        exact = frozen(kernel(rows, rows))
        _kernel_matrices.clear()
        _kernel_matrices[key] = (rows, exact, spectral_norm(exact))
    return _kernel_matrices[key]
