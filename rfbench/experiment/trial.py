"""One trial: prepare, draw features, fit, score; timed, and a pure function of its Trial."""

from __future__ import annotations

import functools
import json
import traceback
from collections.abc import Iterator
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

import rfbench
from rfbench import datasets, kernels, metrics, solvers
from rfbench.clock import PARTS, Clock
from rfbench.compute import waves
from rfbench.config import DatasetSpec
from rfbench.datasets import Prepared
from rfbench.errors import RfbenchError
from rfbench.experiment.environment import peak_rss_mb
from rfbench.experiment.methods import build_sampler
from rfbench.experiment.plan import Job, Trial
from rfbench.solvers.base import LinearClassifier, predicted_codes, signed_columns

ROLES = ("data", "split", "subsample", "bandwidth", "features", "folds")


def seed_for(seed: int, role: str, number: int) -> np.random.SeedSequence:
    """Return the random numbers of a role in a trial.

    All samplers of the trial see the same ones, so that their differences can be paired; another
    trial has other ones.
    """
    return np.random.SeedSequence([seed, ROLES.index(role), number])


def integer_seed(seed: int, role: str, number: int) -> int:
    """Return the same as one whole number, as scikit-learn's estimators take it."""
    return int(seed_for(seed, role, number).generate_state(1, np.uint32)[0])


@functools.cache
def warm_up() -> None:
    """Compile or load the compiled loops, before any clock runs."""
    waves.warm_up()


def run_job(job: Job) -> Iterator[dict[str, Any]]:
    """Run the trials of a job, one row each; a trial that fails is a row that says so."""
    warm_up()
    with threadpool_limits(limits=job.trials[0].experiment.threads):
        for trial in job.trials:
            yield run_trial(trial)


def run_trial(trial: Trial) -> dict[str, Any]:
    """Return the row of a trial, with status 'ok' or 'failed'."""
    row = describe(trial)
    try:
        row.update(measure(trial))
        row["status"] = "ok"
    except RfbenchError as error:
        row.update(status="failed", message=str(error))
    except MemoryError as error:
        row.update(status="memory", message=f"Out of memory: {error}")
    except Exception as error:
        row.update(status="failed", message=f"{type(error).__name__}: {error}")
        row["traceback"] = traceback.format_exc()
    row["peak_rss_mb"] = round(peak_rss_mb(), 1)
    return row


def describe(trial: Trial) -> dict[str, Any]:
    """Return the columns of the row that are known before anything is measured."""
    experiment, solver = trial.experiment, trial.experiment.solver
    name = trial.dataset.name
    return {
        "trial_id": trial.id,
        "setting": trial.setting,
        "config": experiment.name,
        "protocol": experiment.protocol,
        "dataset": name if experiment.rows is None else f"{name}[{experiment.rows} rows]",
        "sampler": trial.sampler.name,
        "label": trial.sampler.label,
        "variant": trial.variant,
        "parameters": json.dumps(trial.sampler.parameters, sort_keys=True),
        "kernel": experiment.kernel,
        "bandwidth_rule": experiment.bandwidth,
        "feature_map": experiment.feature_map,
        "M": trial.M,
        "trial": trial.number,
        "solver": solver.name,
        "alpha_convention": solver.alpha_convention,
        "selection": solver.selection or ("fixed" if len(solver.alphas) == 1 else "cv5"),
        "intercept": solver.intercept,
        "split": json.dumps(experiment.split).strip('"'),
        "scaling": experiment.scaling,
        "dtype": experiment.dtype,
        "seed": experiment.seed,
        "timing": experiment.timing,
        "threads": experiment.threads,
        "data_hash": trial.data_sha256,
        "version": rfbench.__version__,
    }


@functools.lru_cache(maxsize=2)
def _prepared(key: str, number: int) -> Prepared:
    """Return the prepared data of a trial; `key` is JSON so that it can be remembered."""
    facts = json.loads(key)
    seed = facts["seed"]
    dataset = datasets.load(
        facts["dataset"]["name"],
        dtype=facts["dtype"],
        parameters=facts["dataset"]["parameters"] or None,
        generator=np.random.default_rng(seed_for(seed, "data", number)),
    )
    return datasets.prepare(
        dataset,
        split=facts["split"],
        scaling=facts["scaling"],
        target=facts["target"],
        generator=np.random.default_rng(seed_for(seed, "split", number)),
        rows=facts["rows"],
        dtype=facts["dtype"],
    )


@functools.lru_cache(maxsize=4)
def _bandwidth(key: str, number: int, rule: float | str) -> float:
    generator = np.random.default_rng(
        seed_for(json.loads(key)["seed"], "bandwidth", number)
    )
    prepared = _prepared(key, _number_that_matters(key, number))
    return kernels.resolve_bandwidth(rule, prepared.X_train, generator)


def _number_that_matters(key: str, number: int) -> int:
    """Return 0 where every trial has the same rows: a published split of a fixed data set."""
    facts = json.loads(key)
    fixed = facts["split"] == "given" and facts["rows"] is None
    return 0 if fixed and not _is_generated(facts["dataset"]["name"]) else number


def _is_generated(name: str) -> bool:
    return datasets.entry(name).kind == "synthetic"


def _key(trial: Trial) -> str:
    experiment = trial.experiment
    dataset: DatasetSpec = trial.dataset
    return json.dumps(
        {
            "dataset": dataset.model_dump(),
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


def measure(trial: Trial) -> dict[str, Any]:
    """Do the work of a trial and return the measured columns."""
    experiment, number = trial.experiment, trial.number
    key = _key(trial)
    prepared = _prepared(key, _number_that_matters(key, number))
    has_bandwidth = kernels.kernel_class(experiment.kernel).has_bandwidth
    bandwidth = _bandwidth(key, number, experiment.bandwidth) if has_bandwidth else None
    X, y = prepared.X_train, prepared.labels_train
    target = prepared.y_train if y is None else y
    features_seed = integer_seed(experiment.seed, "features", number)

    def sampler_of(spec: Any, M: int) -> Any:
        return build_sampler(
            experiment,
            spec,
            M=M,
            d=X.shape[1],
            n=X.shape[0],
            random_state=features_seed,
            bandwidth=bandwidth,
        )

    M = trial.M
    if M is None:
        M = 1
        if trial.sampler != trial.reference:
            M = int(sampler_of(trial.reference, 1).fit(X, target).kept_)
    clock = Clock()
    sampler = sampler_of(trial.sampler, M)
    with clock.part("pp"):
        sampler.fit(X, target)
    kept = getattr(sampler, "kept_", None)
    if trial.M is None and trial.sampler == trial.reference:
        M = int(sampler.kept_)
    solver = solvers.make(
        experiment.solver.name,
        task="regression" if y is None else "classification",
        **experiment.solver.keywords(),
        random_state=integer_seed(experiment.seed, "folds", number),
    )
    truth = prepared.y_test if y is None else prepared.labels_test
    solver.fit(X, target, features=sampler, evaluation=(prepared.X_test, truth), clock=clock)
    measured = score(solver, prepared, clock)
    return {
        **measured,
        "n_train": X.shape[0],
        "n_test": prepared.X_test.shape[0],
        "d": X.shape[1],
        "bandwidth": bandwidth,
        "M": M,
        "columns": solver.coef_.shape[1],
        "kept": kept,
        "alpha": solver.alpha_,
        "alpha_scale_free": solver.alpha_scale_free_,
        "message": "; ".join(solver.notes_),
        **{f"t_{part}": round(clock.wall[part], 6) for part in PARTS},
        **{f"cpu_{part}": round(clock.cpu[part], 6) for part in PARTS},
    }


def score(solver: Any, prepared: Prepared, clock: Clock) -> dict[str, float]:
    """Return every metric that applies, on the test rows."""
    decisions = getattr(solver, "evaluation_decisions_", None)
    if decisions is not None:
        values = decisions[solver.chosen_]
    else:
        with clock.part("test"):
            values = solver.decisions(prepared.X_test)
    if prepared.labels_test is None:
        return metrics.regression(values[:, 0], prepared.y_test)
    result = metrics.classification(predicted_codes(values), prepared.labels_test)
    if isinstance(solver, LinearClassifier) and solver.fits_coded_labels:
        coded = signed_columns(prepared.labels_test, len(solver.classes_))
        result.update(metrics.regression(values, coded))
    return result
