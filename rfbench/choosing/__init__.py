"""Which method, how many features, at what cost: an answer for one data set within a budget.

A quarter of the rows is held out. On the others the search fits ever larger sizes of ever fewer
methods, and takes the one with the smallest cross-validated loss. Only then is it measured on the
rows held out, beside plain features, a linear model and gradient boosting.
"""

from __future__ import annotations

import os
import pickle
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

from rfbench import bandwidths, datasets
from rfbench.choosing.pipeline import code_of, pipeline_of
from rfbench.choosing.stages import (
    ALPHAS,
    METHODS,
    PLAIN,
    Runs,
    Search,
    first_size,
    rounded,
    seconds,
)
from rfbench.config import DatasetSpec, Experiment
from rfbench.datasets import Dataset, Prepared
from rfbench.errors import ConfigError, DataError, MethodError
from rfbench.experiment.children import Local
from rfbench.experiment.context import Context
from rfbench.experiment.plan import plan
from rfbench.experiment.trial import warm_up
from rfbench.experiment.worker import Limits, memory_share
from rfbench.permissions import check_permission

LEAST_ROWS = 10
HELD_OUT, MOST_HELD_OUT = 0.25, 10_000
# Training rows for each second of the budget, and bounds of them.
ROWS_A_SECOND, LEAST_SAMPLE, MOST_ROWS = 300, 2_000, 50_000
# Of the budget: what one trial may take, and the whole search; the rest is for what follows it.
TRIAL_SHARE, SEARCH_SHARE = 0.3, 0.85
DRAWS = 5
# A fit with everything fixed, in fits with cross-validation.
FIXED_FIT = 0.5
LOGISTIC, RIDGE, BOOSTING = "logistic regression", "ridge", "boosting"
RAW = {"class": "sklearn.preprocessing.FunctionTransformer"}


@dataclass(frozen=True)
class Contender:
    """A method on the rows that are held out."""

    label: str
    M: int  # features; columns of the data for the linear model and for boosting
    # Mean and standard deviation over the draws (nan of one draw): misclassification in %, or RMSE
    # in units of the target. The error is nan where it could not be fitted.
    error: float
    deviation: float
    draws: int
    fit_seconds: float  # one fit with what was chosen
    predict_seconds: float  # 1000 predictions
    message: str = ""  # why there is no error


@dataclass(frozen=True)
class Choice:
    """What was chosen for a data set, and what it is worth."""

    folder: Path
    dataset: str
    note: str  # what was made of the columns of data of one's own
    metric: str  # ``error`` (misclassification in %) or ``rmse`` (in units of the target)
    grouped: bool  # whole groups are held out
    rows: int  # of the data set
    n_train: int  # rows that chose and trained
    n_test: int  # rows that were held out
    d: int  # columns
    features: Contender  # the random features that were chosen
    plain: Contender  # plain ones of the same number
    plain_best: Contender  # plain ones of the number that is best for them
    linear: Contender
    boosting: Contender
    rows_error: float  # standard error of the features' error from the number of test rows
    bandwidth: float  # of the scaled rows
    alpha: float  # penalty of the ridge regression
    model_bytes: int  # of the fitted pipeline, pickled
    pipeline: Any  # of scikit-learn, fitted on the training rows: the first of the draws
    code: str  # Python that builds and fits it, and prints its error
    tried: pd.DataFrame  # methods, sizes and bandwidths: label, M, selection_loss, seconds
    # Methods that failed or were too slow, and why the search ended, see `stages.Search`.
    dropped: dict[str, tuple[int, str]]
    stopped: str
    budget: float  # seconds
    spent: float  # seconds, without those before
    start_up: float  # seconds before, for starting workers and reading the data

    @property
    def sampled(self) -> bool:
        """Whether only some of the rows were used."""
        return self.n_train + self.n_test < self.rows

    def against(self, other: Contender) -> str:
        """Return whether the features are ``better``, ``worse`` or too ``near`` to call.

        The difference has to exceed twice its standard error: from the draws, and from the number
        of test rows. Both make errors on the same rows, so that the latter is an upper bound.
        """
        mine = self.features
        variance = sum(m.deviation**2 / m.draws for m in (mine, other) if m.draws > 1)
        if self.metric == "error":
            variance += 100 * (mine.error + other.error) / self.n_test
        else:
            variance += (self.rows_error / mine.error) ** 2 * (mine.error**2 + other.error**2)
        if not abs(mine.error - other.error) > 2 * np.sqrt(variance):
            return "near"
        return "better" if mine.error < other.error else "worse"


def choose_for(
    dataset: str | Mapping[str, Any],
    *,
    budget: float = 60.0,
    n_jobs: int | None = None,
    out: Path,
    seed: int = 0,
    on_row: Callable[[dict[str, Any]], None] | None = None,
) -> Choice:
    """Choose random features for a data set; every trial lands in the results folder `out`.

    The data set is given as the key `dataset` of a configuration. The budget is in seconds, for
    everything but starting the workers (`n_jobs`, by default one per core) and reading the data.
    `on_row` is called with each new row. DataError if there are too few rows, the target is
    constant or a class has a single row; ConfigError if the budget is too small for one fit.
    """
    before = time.monotonic()
    spec = DatasetSpec.model_validate(dataset)
    if spec.code is not None:
        check_permission(spec.code)
    n_jobs = n_jobs or os.cpu_count() or 1
    workers = Local(n_jobs)
    started = [workers.call(warm_up) for _ in range(n_jobs)]
    data = datasets.load(spec.name, parameters=spec.parameters or None)
    check(data)
    n_train, n_test = sizes(len(data.y), budget)
    regression = data.task == "regression"
    shared = {
        "dataset": dataset,
        "split": {"held_out": n_test, "train_size": n_train},
        "scaling": "standard" if isinstance(data.X, np.ndarray) else "none",
        "target": "raw",
        "metric": "rmse" if regression else "error",
        "timing": "isolated",
        "trials": 1,
        "seed": seed,
    }
    limits = Limits(memory_share("80%", n_jobs), TRIAL_SHARE * budget)
    runs = Runs(out, shared, n_jobs, limits, on_row)
    probe = runs.experiment(PLAIN, first_size(n_train), bandwidth=1.0)
    prepared = Context().prepared(plan(probe)[0])
    for worker in started:
        worker.result()
    start = time.monotonic()
    search = Search(runs, len(prepared.train_rows), start + SEARCH_SHARE * budget)
    wanted = _others(runs, data.X.shape[1], regression=regression)
    rows = runs.run(wanted + search.first_stage(middle(prepared)), "search", search.deadline)
    first, others = (rows[rows["label"].isin(METHODS) == ours] for ours in (True, False))
    _refuse_small_budget(first[first["label"] == PLAIN], TRIAL_SHARE * budget)
    search.go_on(first)
    return _confirm(
        search, others, data, prepared, budget=budget, start=start, start_up=start - before
    )


def choose(
    X: Any,
    y: Any,
    *,
    budget: float = 60.0,
    n_jobs: int | None = None,
    out: str | Path = "results/choose",
    seed: int = 0,
) -> Choice:
    """Choose random features for rows in memory; they are kept in the results folder.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d), or DataFrame
    y : array of shape (n,)
        Labels (integers, words) or a real target (floats).
    out : path
        Results folder. The other parameters, and the errors, are those of `choose_for`.
    """
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    target = np.asarray(y)
    task = "regression" if target.dtype.kind == "f" else "classification"
    spec = {"file": str(folder / "data.npz"), "target": "y", "task": task}
    if isinstance(X, pd.DataFrame):
        spec |= {"file": str(folder / "data.csv"), "target": "target"}
        X.assign(target=target).to_csv(spec["file"], index=False)
    elif sparse.issparse(X):
        spec = {"file": str(folder / "data.svm"), "task": task}
        codes = target if task == "regression" else np.unique(target, return_inverse=True)[1]
        dump_svmlight_file(X, codes, spec["file"])
    else:
        np.savez(spec["file"], X=np.asarray(X), y=target)
    return choose_for(spec, budget=budget, n_jobs=n_jobs, out=folder, seed=seed)


def check(data: Dataset) -> None:
    """Raise DataError where there is nothing to choose by."""
    n = len(data.y)
    if n < LEAST_ROWS:
        raise DataError(
            f"{data.name} has {n} rows.",
            f"To choose and to check, at least {LEAST_ROWS} are needed.",
            "Measure more rows.",
        )
    values, counts = np.unique(data.y, return_counts=True)
    if len(values) < 2:
        raise DataError(
            f"The target of {data.name} is constant.",
            "There is nothing to predict.",
            "Name another column: --target.",
        )
    if data.task != "regression" and counts.min() < 2:
        alone = [data.classes[int(code)] for code in values[counts < 2]]
        raise DataError(
            f"Of {data.name}, there is one row only of {', '.join(alone[:5])}.",
            "A class has to be learnt from one row and checked on another.",
            "Leave such rows out, or put rare classes together.",
        )


def sizes(n: int, budget: float) -> tuple[int, int]:
    """Return how many training and test rows are used, of n, within so many seconds."""
    n_test = min(max(2, round(HELD_OUT * n)), MOST_HELD_OUT)
    most = min(max(int(ROWS_A_SECOND * budget), LEAST_SAMPLE), MOST_ROWS)
    return min(n - n_test, most), n_test


def middle(prepared: Prepared) -> float:
    """Return the median distance of the training rows; where most coincide, that of noise."""
    try:
        return bandwidths.resolve("median", prepared.X_train, np.random.default_rng(0))
    except MethodError:
        return float(np.sqrt(2 * prepared.X_train.shape[1]))


def _others(runs: Runs, d: int, *, regression: bool) -> list[Experiment]:
    """Return boosting, and the linear models on the columns themselves."""
    boosted = "HistGradientBoosting" + ("Regressor" if regression else "Classifier")
    fitted: dict[str, dict[str, Any]] = {
        BOOSTING: {"class": f"sklearn.ensemble.{boosted}", "early_stopping": True},
        LOGISTIC: {"name": "logistic", "alphas": [1.0], "selection": "fixed"},
        RIDGE: {"name": "ridge", "alphas": ALPHAS, "selection": "cv5"},
    }
    if regression:
        del fitted[LOGISTIC]
    return [
        runs.experiment(label, d, sampler={**RAW, "label": label}, bandwidth=1.0, solver=solver)
        for label, solver in fitted.items()
    ]


def _refuse_small_budget(rows: pd.DataFrame, allowed: float) -> None:
    """Raise ConfigError where plain features at the smallest size could not be fitted."""
    status = rows["status"].iloc[0] if len(rows) else "timeout"
    if status == "timeout":
        raise ConfigError(
            f"In {allowed:.3g} seconds not one fit of plain features came to its end.",
            f"One fit may take {TRIAL_SHARE:.0%} of the budget.",
            f"Take a --budget of {10 * allowed / TRIAL_SHARE:.3g} seconds.",
        )
    if status != "ok":
        raise ConfigError(
            f"Plain random features could not be fitted: {rows['message'].iloc[0]}",
            "So there is nothing to choose from.",
        )


def _confirm(
    seen: Search,
    others: pd.DataFrame,
    data: Dataset,
    prepared: Prepared,
    *,
    budget: float,
    start: float,
    start_up: float,
) -> Choice:
    """Measure the choice, and plain features, on the rows held out, in several draws."""
    runs, metric, d = seen.runs, str(seen.runs.shared["metric"]), data.X.shape[1]
    best, M = seen.best(), int(seen.best()["M"])
    own = int(seen.best(PLAIN)["M"])
    contenders = dict.fromkeys([(str(best["label"]), M), (PLAIN, M), (PLAIN, own)])
    fits = [FIXED_FIT * seen.seconds(label, size) for label, size in contenders]
    last = start + budget - fits[0]  # the pipeline is fitted once more, here
    draws = int(np.clip((last - time.monotonic()) * runs.n_jobs / max(sum(fits), 1e-9), 2, DRAWS))
    wanted = []
    for label, size in contenders:
        row = seen.at(label, size)
        solver = {"alphas": rounded(row["alpha"]), "selection": "fixed"}
        bandwidth = rounded(row["bandwidth"])
        wanted.append(
            runs.experiment(label, size, bandwidth=bandwidth, solver=solver, trials=draws)
        )
    rows = runs.run(wanted, "check", last)
    trial = plan(wanted[0])[0]
    pipeline = pipeline_of(trial, prepared)
    train, test = prepared.train_rows, prepared.test_rows
    moments = [time.monotonic()]
    pipeline.fit(data.X[train], data.y[train])
    moments.append(time.monotonic())
    predicted = pipeline.predict(data.X[test])
    moments.append(time.monotonic())
    np.savez(runs.folder / "rows.npz", train=train, test=test)
    tried = seen.rows[["label", "M", "selection_loss"]].assign(seconds=seconds(seen.rows))
    rows_error, error = _errors(predicted, data.y[test], metric)
    linear = set(others.loc[others["status"] == "ok", "label"])
    features = _measured(rows, str(best["label"]), M, metric)
    if not features.draws:  # no worker was there in time
        fit, test_seconds = np.diff(moments)
        each = 1000 * test_seconds / len(test)
        features = Contender(features.label, M, error, np.nan, 1, fit, each)
    return Choice(
        folder=runs.folder,
        dataset=data.name,
        note=trial.dataset.entry.note if trial.dataset.own else "",
        metric=metric,
        grouped=data.groups is not None,
        rows=len(data.y),
        n_train=len(train),
        n_test=len(test),
        d=d,
        features=features,
        plain=_measured(rows, PLAIN, M, metric),
        plain_best=_measured(rows, PLAIN, own, metric),
        linear=_measured(others, LOGISTIC if LOGISTIC in linear else RIDGE, d, metric),
        boosting=_measured(others, BOOSTING, d, metric),
        rows_error=rows_error,
        bandwidth=rounded(best["bandwidth"]),
        alpha=rounded(best["alpha"]),
        model_bytes=len(pickle.dumps(pipeline)),
        pipeline=pipeline,
        code=code_of(pipeline, trial.dataset, runs.folder / "rows.npz", metric),
        tried=tried.sort_values(["M", "selection_loss"], ignore_index=True),
        dropped=seen.dropped,
        stopped=seen.stopped,
        budget=budget,
        spent=time.monotonic() - start,
        start_up=start_up,
    )


def _errors(predicted: Any, truth: Any, metric: str) -> tuple[float, float]:
    """Return the standard error of an error in % or of an RMSE from the number of rows, and it.

    Of a mean of n values it is their standard deviation over the root of n; of the root of a mean,
    that over twice the root (delta method).
    """
    each = 100.0 * (predicted != truth) if metric == "error" else (predicted - truth) ** 2
    mean, deviation = float(np.mean(each)), float(np.std(each) / np.sqrt(len(each)))
    if metric == "error":
        return deviation, mean
    return deviation / max(2 * mean**0.5, 1e-300), mean**0.5


def _measured(rows: pd.DataFrame, label: str, M: int, metric: str) -> Contender:
    rows = rows[(rows["label"] == label) & (rows["M"] == M)]
    good = rows[rows["status"] == "ok"]
    if good.empty:
        why = rows["message"].iloc[0] if len(rows) else "It was not run."
        return Contender(label, M, np.nan, np.nan, 0, np.nan, np.nan, str(why))
    fit = good[["t_pp", "t_features", "t_train"]].sum(axis=1)
    return Contender(
        label,
        M,
        float(good[metric].mean()),
        float(good[metric].std(ddof=1)),
        len(good),
        float(fit.median()),
        float((good["t_test"] / good["n_test"]).median() * 1000),
    )
