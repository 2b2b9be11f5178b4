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

from rfbench import bandwidths, datasets
from rfbench.choosing.pipeline import code_of, pipeline_of
from rfbench.choosing.stages import (
    ALPHAS,
    PLAIN,
    SEARCH_SHARE,
    TIMES,
    Runs,
    Search,
    first_size,
    rounded,
    search,
    seconds,
    tuned,
)
from rfbench.config import DatasetSpec, Experiment
from rfbench.datasets import Dataset, Prepared
from rfbench.errors import ConfigError, DataError, MethodError
from rfbench.experiment.context import Context
from rfbench.experiment.plan import plan
from rfbench.experiment.worker import Limits, memory_share

LEAST_ROWS = 10
HELD_OUT, MOST_HELD_OUT = 0.25, 10_000
# Training rows for each second of the budget, and bounds of them.
ROWS_A_SECOND, LEAST_SAMPLE, MOST_ROWS = 300, 2_000, 50_000
# Of the budget, what one trial may take.
TRIAL_SHARE = 0.2
DRAWS = 5
LINEAR, BOOSTING = "linear", "boosting"
RAW = {"class": "sklearn.preprocessing.FunctionTransformer"}


@dataclass(frozen=True)
class Contender:
    """A method on the rows that are held out.

    Attributes
    ----------
    label : str
    M : int
        Features; columns of the data for the linear model and for boosting.
    error, deviation : float
        Mean and standard deviation over the draws (nan of one draw): misclassification in %, or
        RMSE in units of the target. The error is nan where it could not be fitted.
    draws : int
    fit_seconds, predict_seconds : float
        One fit with what was chosen; 1000 predictions.
    message : str
        Why there is no error.
    """

    label: str
    M: int
    error: float
    deviation: float
    draws: int
    fit_seconds: float
    predict_seconds: float
    message: str = ""


@dataclass(frozen=True)
class Choice:
    """What was chosen for a data set, and what it is worth.

    Attributes
    ----------
    note : str
        What was made of the columns of data of one's own.
    metric : str
        ``error`` (misclassification in %) or ``rmse`` (in units of the target).
    rows, n_train, n_test, d : int
        Of the data set; that chose and trained; that were held out; columns.
    features, plain, linear, boosting : Contender
        The random features that were chosen, plain ones of the same number, and the two others.
    bandwidth, alpha : float
        Of the scaled rows; penalty of the ridge regression.
    model_bytes : int
        Of the fitted pipeline, pickled.
    pipeline : sklearn.pipeline.Pipeline
        Fitted on the training rows: the first of the draws.
    code : str
        Python that builds and fits it, and prints its error.
    tried : DataFrame
        Every method and size: label, M, selection_loss, seconds.
    stopped : str
        Why the search ended, see `rfbench.choosing.stages.Search`.
    budget, spent : float
        Seconds.
    """

    folder: Path
    dataset: str
    note: str
    metric: str
    rows: int
    n_train: int
    n_test: int
    d: int
    features: Contender
    plain: Contender
    linear: Contender
    boosting: Contender
    bandwidth: float
    alpha: float
    model_bytes: int
    pipeline: Any
    code: str
    tried: pd.DataFrame
    stopped: str
    budget: float
    spent: float

    @property
    def sampled(self) -> bool:
        """Whether only some of the rows were used."""
        return self.n_train + self.n_test < self.rows

    def against(self, other: Contender) -> str:
        """Return whether the features are ``better``, ``worse`` or too ``near`` to call.

        The difference has to exceed twice its standard error: from the draws, and in a
        classification from the number of test rows (at most the sum of the two rates over it).
        """
        mine, own = self.features, [m for m in (self.features, other) if m.draws > 1]
        variance = sum(m.deviation**2 / m.draws for m in own)
        if self.metric == "error":
            variance += 100 * (mine.error + other.error) / self.n_test
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

    Parameters
    ----------
    dataset : str or mapping
        As the key `dataset` of a configuration.
    budget : float
        Seconds for everything but the reading of the data.
    n_jobs : int, optional
        Worker processes; default: one per core.
    on_row : callable, optional
        Called with each new row.

    Raises
    ------
    DataError
        There are too few rows, the target is constant, or a class has a single row.
    ConfigError
        The budget is too small for one fit.
    """
    spec = DatasetSpec.model_validate(dataset)
    data = datasets.load(spec.name, parameters=spec.parameters or None)
    check(data)
    start = time.monotonic()
    n_jobs = n_jobs or os.cpu_count() or 1
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
    median = middle(prepared)
    first = runs.run([tuned(runs, PLAIN, first_size(n_train), median)], "search")
    _refuse_small_budget(first.iloc[0], limits.timeout or budget)
    others = runs.run(_others(runs, data.X.shape[1], regression=regression), "others")
    seen = search(runs, first, median, n_train, start + SEARCH_SHARE * budget)
    return _confirm(runs, seen, others, data, prepared, budget=budget, start=start)


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
    X : array of shape (n, d), or DataFrame
    y : array of shape (n,)
        Labels (integers, words) or a real target (floats).
    out : path
        Results folder. The other parameters, and the errors, are those of `choose_for`.
    """
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    target = np.asarray(y)
    task = "regression" if target.dtype.kind == "f" else "classification"
    if isinstance(X, pd.DataFrame):
        file, column = folder / "data.csv", "target"
        X.assign(**{column: target}).to_csv(file, index=False)
    else:
        file, column = folder / "data.npz", "y"
        np.savez(file, X=np.asarray(X), y=target)
    spec = {"file": str(file), "target": column, "task": task}
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
    """Return the linear model on the columns themselves, and boosting."""
    boosted = "HistGradientBoosting" + ("Regressor" if regression else "Classifier")
    linear: dict[str, Any] = {"name": "ridge", "alphas": ALPHAS, "selection": "cv5"}
    if not regression:
        linear = {"name": "logistic", "alphas": [0.01, 1.0, 100.0], "selection": "validation"}
    solvers = {
        LINEAR: linear,
        BOOSTING: {"class": f"sklearn.ensemble.{boosted}", "early_stopping": True},
    }
    return [
        runs.experiment(label, d, sampler={**RAW, "label": label}, bandwidth=1.0, solver=solver)
        for label, solver in solvers.items()
    ]


def _refuse_small_budget(row: pd.Series[Any], allowed: float) -> None:
    """Raise ConfigError where plain features at the smallest size could not be fitted."""
    if row["status"] == "timeout":
        raise ConfigError(
            f"In {allowed:.3g} seconds not one fit of {row['M']} plain features came to its end.",
            f"One fit may take {TRIAL_SHARE:.0%} of the budget.",
            f"Take a --budget of {10 * allowed / TRIAL_SHARE:.0f} seconds.",
        )
    if row["status"] != "ok":
        raise ConfigError(
            f"Plain random features could not be fitted: {row['message']}",
            "So there is nothing to choose from.",
        )


def _confirm(
    runs: Runs,
    seen: Search,
    others: pd.DataFrame,
    data: Dataset,
    prepared: Prepared,
    *,
    budget: float,
    start: float,
) -> Choice:
    """Measure the choice, and plain features, on the rows held out, in several draws."""
    metric = str(runs.shared["metric"])
    best, plain = seen.best(), seen.best(PLAIN)
    same = seen.rows[(seen.rows["label"] == PLAIN) & (seen.rows["M"] == best["M"])]
    plain = same.iloc[0] if len(same) else plain
    left = start + budget - time.monotonic()
    each = float(best[TIMES].sum()) / 2 / runs.n_jobs  # both methods, a fit in place of four
    draws = int(np.clip(left / max(each, 1e-9), 2, DRAWS))

    def fixed(row: pd.Series[Any]) -> Any:
        solver = {"alphas": rounded(row["alpha"]), "selection": "fixed"}
        return runs.experiment(
            row["label"], int(row["M"]), bandwidth=rounded(row["bandwidth"]), solver=solver,
            trials=draws,
        )  # fmt: skip

    wanted = [fixed(row) for row in ([best] if best["label"] == PLAIN else [best, plain])]
    rows = runs.run(wanted, "check")
    trial = plan(wanted[0])[0]
    pipeline = pipeline_of(trial, prepared)
    train, test = prepared.train_rows, prepared.test_rows
    pipeline.fit(data.X[train], data.y[train])
    np.savez(runs.folder / "rows.npz", train=train, test=test)
    tried = seen.rows[["label", "M", "selection_loss"]].assign(seconds=seconds(seen.rows))

    def measured(table: pd.DataFrame, label: str) -> Contender:
        return _measured(table[table["label"] == label], label, metric)

    return Choice(
        folder=runs.folder,
        dataset=data.name,
        note=trial.dataset.entry.note if trial.dataset.own else "",
        metric=metric,
        rows=len(data.y),
        n_train=len(train),
        n_test=len(test),
        d=data.X.shape[1],
        features=measured(rows, best["label"]),
        plain=measured(rows, PLAIN),
        linear=measured(others, LINEAR),
        boosting=measured(others, BOOSTING),
        bandwidth=rounded(best["bandwidth"]),
        alpha=rounded(best["alpha"]),
        model_bytes=len(pickle.dumps(pipeline)),
        pipeline=pipeline,
        code=code_of(pipeline, trial.dataset, runs.folder / "rows.npz", metric),
        tried=tried.sort_values(["M", "selection_loss"], ignore_index=True),
        stopped=seen.stopped,
        budget=budget,
        spent=time.monotonic() - start,
    )


def _measured(rows: pd.DataFrame, label: str, metric: str) -> Contender:
    good = rows[rows["status"] == "ok"]
    if good.empty:
        why = rows["message"].iloc[0] if len(rows) else "It was not run."
        return Contender(label, 0, np.nan, np.nan, 0, np.nan, np.nan, str(why))
    fit = good[["t_pp", "t_features", "t_train"]].sum(axis=1)
    return Contender(
        label,
        int(good["M"].iloc[0]),
        float(good[metric].mean()),
        float(good[metric].std(ddof=1)),
        len(good),
        float(fit.median()),
        float((good["t_test"] / good["n_test"]).median() * 1000),
    )
