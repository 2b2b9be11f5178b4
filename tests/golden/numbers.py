"""Which trials the published configurations plan, and what the seeds draw.

`python -m tests.golden.numbers` writes the stored values. Run it after a method was added, rows
were measured again, or a verdict's rule was changed on purpose. The diff then shows the changes. A
stored value stays if the new value differs from it by rounding errors only.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd

from rfbench import datasets, samplers, solvers
from rfbench.config import build_experiment_from_manifest
from rfbench.config.build import get_solver_properties
from rfbench.config.schema import Experiment
from rfbench.experiment.plan import Trial, plan_trials
from rfbench.registry import SAMPLERS, SOLVERS

HERE = Path(__file__).parent
PUBLISHED = HERE.parents[1] / "results" / "published"
IDENTITIES, FEATURES = HERE / "identities.json", HERE / "features.json"
SOLUTIONS = HERE / "solutions.json"
MAPS = ("offset", "paired")


def folders() -> list[Path]:
    """List the published folders whose trials can be planned again."""
    return sorted(path.parent for path in PUBLISHED.glob("*/manifest.json"))


def identities() -> dict[str, str]:
    """Return, by folder, one hash of the trial identities that its manifest gives now."""
    return {folder.name: _identities_of(folder) for folder in folders()}


def _identities_of(folder: Path) -> str:
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    configs = [manifest["config"], *manifest["variants"]]
    ids = planned(
        folder, [build_experiment_from_manifest(config, folder.name) for config in configs]
    )
    return hashlib.sha256("\n".join(dict.fromkeys(ids)).encode()).hexdigest()


def planned(folder: Path, experiments: Sequence[Experiment]) -> list[str]:
    """Return the identities of all trials, see `trials`."""
    known: dict[int, dict[str, Any]] = {}

    def answers(experiment: Experiment) -> dict[str, Any]:
        # Each experiment is asked once: it is the same for all of its trials.
        if id(experiment) not in known:
            known[id(experiment)] = get_solver_properties(experiment)
        return known[id(experiment)]

    every = trials(folder, experiments)
    with (
        mock.patch("rfbench.config.build.get_solver_properties", answers),
        mock.patch("rfbench.experiment.plan.get_solver_properties", answers),
    ):
        return [trial.id for trial in every]


def trials(folder: Path, experiments: Sequence[Experiment]) -> list[Trial]:
    """Return all trials, with the data that a published folder's rows name."""
    rows = pd.read_csv(folder / "trials.csv", usecols=["dataset", "d", "data_hash"])
    hashes = {
        (str(name).split("[")[0], int(d)): str(data)
        for name, d, data in rows.dropna().itertuples(index=False)
    }
    alone = {name: data for (name, _), data in hashes.items()}

    def known(name: str, parameters: dict[str, Any] | None = None, folder: Any = None) -> str:
        # No row of them yet: a run that goes on where it stopped.
        return hashes.get((name, (parameters or {}).get("d", -1)), alone.get(name, "not measured"))

    with mock.patch.object(datasets, "hash_data", known):
        return [trial for experiment in experiments for trial in plan_trials(experiment)]


def features() -> dict[str, list[float]]:
    """Return, by sampler and map, four sums over the features that seed 0 draws."""
    draws = np.random.default_rng(1)
    X = draws.standard_normal((40, 5))
    y = np.where(np.linalg.norm(X, axis=1) > 2.0, 1.0, -1.0)
    probe = draws.standard_normal((12, 5))
    return {
        f"{name}, {feature_map}": _sums(name, feature_map, X, y, probe)
        for name in SAMPLERS
        for feature_map in MAPS
    }


def solutions() -> dict[str, list[float]]:
    """Return, by solver and task, four sums over what its fit says of new rows."""
    draws = np.random.default_rng(2)
    X, probe = draws.standard_normal((60, 5)), draws.standard_normal((12, 5))
    target = X[:, 0] + np.sin(2 * X[:, 1]) + 0.3 * draws.standard_normal(60)
    return {
        f"{name}, {task}": _solution(name, task, X, target, probe)
        for name, classes in SOLVERS.items()
        for task in classes
    }


def _solution(name: str, task: str, X: Any, target: Any, probe: Any) -> list[float]:
    y = np.digitize(target, [-0.5, 0.5]) if task == "classification" else target
    y = y if name != "joint" else np.minimum(y, 1)  # it has two classes
    features = samplers.make("rks", n_components=20, bandwidth=2.0, random_state=0)
    options = {} if name.startswith("kernel-") else {"features": features.fit(X, y)}
    solver = solvers.make(name, task, random_state=0).fit(X, y, **options)
    says = solver.predict if task == "regression" else solver.decision_function
    return _condense(np.asarray(says(probe), dtype=float).reshape(len(probe), -1))


def _sums(name: str, feature_map: str, X: Any, y: Any, probe: Any) -> list[float]:
    sampler = samplers.make(
        name, n_components=6, bandwidth=2.0, feature_map=feature_map, random_state=0
    )
    return _condense(np.asarray(sampler.fit(X, y).transform(probe)))


def _condense(Z: Any) -> list[float]:
    rows, columns = np.arange(1, len(Z) + 1.0), np.arange(1, Z.shape[1] + 1.0)
    sums = (Z.sum(), np.abs(Z).sum(), (Z * Z).sum(), rows @ Z @ columns)
    return [float(value) for value in sums]


# Largest relative difference of stored values. Features differ between machines by rounding errors.
# Iterative solvers end at a gap of 1e-4 or less, so that further digits of a solution may change.
FEATURE_TOLERANCE, SOLUTION_TOLERANCE = 1e-9, 1e-5


def differ(
    sums: Sequence[float], stored: Sequence[float], tolerance: float = FEATURE_TOLERANCE
) -> bool:
    """Return True if sums differ by more than the tolerance, relative to the largest sum."""
    return not np.allclose(sums, stored, rtol=0, atol=tolerance * max(map(abs, stored)))


def keep_equal(
    found: dict[str, list[float]],
    stored: dict[str, list[float]],
    tolerance: float = FEATURE_TOLERANCE,
) -> dict[str, list[float]]:
    """Return the found sums; sums that differ by at most the tolerance keep the stored value."""
    same = {
        name: stored[name]
        for name in stored.keys() & found
        if len(found[name]) == len(stored[name])
        and not differ(found[name], stored[name], tolerance)
    }
    return found | same


def write() -> None:
    """Write all values that changed by more than rounding errors."""
    IDENTITIES.write_text(json.dumps(identities(), indent=1) + "\n")
    for file, found, tolerance in (
        (FEATURES, features(), FEATURE_TOLERANCE),
        (SOLUTIONS, solutions(), SOLUTION_TOLERANCE),
    ):
        kept = keep_equal(found, json.loads(file.read_text()), tolerance)
        file.write_text(json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__":
    write()
