"""From a table to the model to take, within a budget: a model file, and its card with the answer.

A quarter of the rows is held out. On the others rounds of trials (`rfbench.choosing.rounds`)
measure a constant, a linear model, gradient boosting and features of kernels; averages are made of
what they said. Only then are the best of each kind measured on the rows held out, and compared
there in pairs.
The model that is taken is fitted again on all rows, unless that goes wrong.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
from scipy import optimize
from threadpoolctl import threadpool_limits

from rfbench import metrics
from rfbench.arrays import Array
from rfbench.choosing.losses import CLASS_METRICS, NUMBER_METRICS, Loss, difference, loss
from rfbench.choosing.model import Model, half_widths, save
from rfbench.choosing.rounds import (
    BLEND,
    BOOSTING,
    CONSTANT,
    FEATURES,
    FITS,
    LINEAR,
    Candidate,
    Rounds,
    scores_of,
)
from rfbench.choosing.table import parted, table_of, without_rows
from rfbench.datasets.preparation import describe
from rfbench.errors import ConfigError, unknown
from rfbench.experiment import children
from rfbench.solvers.folds import whole_groups

# Seconds of the budget that are kept for writing the files, and their share.
WRITING, WRITING_SHARE = 1.0, 0.04
LATE = 1.0  # seconds after the deadline, at most, until the last fit ends
SIMPLEST = (LINEAR, FEATURES, BOOSTING, BLEND)
SIGNIFICANT = 0.05
MEMBERS, LEAST_WEIGHT = 6, 0.05  # of an average
SUM_TO_ONE = 1e3  # how much the weights' sum counts, relative to all rows


@dataclass(frozen=True)
class Choice:
    """What was chosen for a table, and what it is worth."""

    folder: Path
    model: Model  # fitted on all rows, see `last_fit`
    others: Mapping[str, Model]  # of each kind, not fitted
    card: Mapping[str, Any]  # what model.json says, see `choose`


def choose(
    X: Any,
    y: Any = None,
    *,
    target: str | int | None = None,
    task: str | None = None,
    drop: Sequence[str | int] = (),
    groups: Any = None,
    time: Any = None,
    metric: str | None = None,
    budget: float = 60.0,
    started: float | None = None,
    n_jobs: int | None = None,
    allow_rows: bool = True,
    out: str | Path | None = None,
    seed: int = 0,
    on_candidate: Callable[[Candidate], None] | None = None,
    **reading: Any,
) -> Choice:
    """Choose a model for a table, and fit it.

    Parameters
    ----------
    X : path, DataFrame, array or sparse matrix of shape (n, d)
        A file, read with its column `target`; or rows in memory.
    y : array of shape (n,), optional
        Of rows in memory: labels (whole numbers, words) or numbers (floats).
    task : {'classification', 'regression'}, optional
        By default the target says it.
    drop : sequence of str or int
        Columns of a file to leave out.
    groups : str, int or array of shape (n,), optional
        Whose rows belong together: whole groups are held out. Of a file, a column.
    time : str, int or array of shape (n,), optional
        When the rows are, if later ones are to be predicted: the last ones are held out. Of a file,
        a column, of dates or numbers.
    metric : str, optional
        See `rfbench.choosing.losses.loss`; by default ``log-loss`` or ``rmse``.
    budget : float
        Seconds, for everything.
    started : float, optional
        When the budget began, of `time.monotonic`: now by default.
    n_jobs : int, optional
        Trials side by side, by default one per core.
    allow_rows : bool
        Whether the model may hold training rows (landmarks).
    out : path, optional
        Folder of what is written: ``results/choose`` by default.
    on_candidate : callable, optional
        Called with each model that was measured.
    **reading : Any
        How a file is read, see `rfbench.datasets.files.read`.

    Raises
    ------
    RfbenchError
        The table cannot be read or learnt from, or a parameter is wrong.
    """
    started, workers = started or monotonic(), n_jobs or os.cpu_count() or 1
    deadline = started + budget - max(WRITING, WRITING_SHARE * budget)
    folder = Path(out) if out is not None else Path("results") / "choose"
    # Processes take seconds to begin: they do it while the table is read.
    with ThreadPoolExecutor(1) as thread:
        thread.submit(children.prepare, workers)
        keys: dict[str, Any] = {"task": task, "drop": drop, "groups": groups, "time": time}
        table = table_of(X, y, target=target, **keys, **reading)
    table = table if allow_rows else without_rows(table)
    known = CLASS_METRICS if table.n_classes else NUMBER_METRICS
    if metric not in (None, *known):
        kind = "classes" if table.n_classes else "numbers"
        raise unknown(f"metric of {kind}", metric, known, ConfigError)
    whole = replace(table, metric=metric or known[0], seed=seed)
    # One thread here, too: beside other work two of OpenMP wait for one another, for minutes.
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of solvers that stop early, and overflows in trials
        table, splits, kept, left_out = parted(whole, budget)
        train, test = splits[-1]
        rounds = Rounds(table, splits, deadline, folder, workers, allow_rows, on_candidate)
        rounds.clear()
        try:
            try:
                rounds.run()
                average(rounds)
            except KeyboardInterrupt:  # what was measured before it counts
                rounds.interrupted = True
            contenders = held_out(rounds, deadline) if rounds.candidates else {}
            if CONSTANT not in contenders:
                raise ConfigError(
                    f"Nothing was measured within {budget:.3g} s.",
                    "Not even the constant was.",
                    "Allow a larger budget.",
                )
            taken, overturned, nothing = decide(rounds, contenders)
            model, fitted = last_fit(rounds, taken, deadline)
        finally:
            rounds.clear()
    model.reading_ = table.how
    facts = {
        family: facts_of(rounds, contender, taken, contenders[CONSTANT])
        for family, contender in contenders.items()
    }
    card: dict[str, Any] = {
        "data": table.name,
        "data_sha256": table.sha256,
        "notes": table.notes,  # what the rows say of themselves
        "preparation": describe(model[0].notes_),  # what was done to the columns
        "columns": [str(column) for column in table.X.columns],
        "metric": table.metric,
        "classes": [str(label) for label in table.classes],  # none of a regression
        "shares": (np.bincount(table.y) / len(table.y)).tolist() if table.n_classes else [],
        "left_out": left_out,  # classes that a side of a split would lack, and their rows
        "grouped": table.groups is not None,
        "in_time": table.time is not None,  # the last rows were held out
        "rows": len(table.y),
        "n_train": len(train),  # training and validation rows
        "n_test": len(test),  # rows held out
        "n_fitted": fitted,  # the rows that the model in the file was fitted on
        "nothing_learnt": nothing,
        "overturned": overturned,  # the rows held out said otherwise than those that chose
        "take": facts[taken.family],
        "contenders": list(facts.values()),  # the best of each kind
        "tried": len(rounds.candidates),
        "stopped": rounds.stopped,  # what budget or memory cut off, see `Rounds.stopped`
        "interrupted": rounds.interrupted,
        "budget": budget,
        "spent": monotonic() - started,
        "seed": seed,
    }
    card = {**save(model, folder, **card), **card}
    np.savez(folder / "rows.npz", train=kept[train], test=kept[test])
    others = {family: rounds.model(c) for family, c in contenders.items()}
    return Choice(folder, model, others, card)


def average(rounds: Rounds) -> None:
    """Add averages by non-negative least squares: of features, and of them with the rest."""
    features = [c for c in rounds.candidates if c.family == FEATURES]
    members = rounds.leading(features, MEMBERS)
    # Every member is fitted again, and the best one is counted already.
    while len(members) > 1 and rounds.left(sum(c.seconds for c in members[1:])) < 0:
        members.pop()
    average_of(rounds, members, FEATURES, "average of")
    best = rounds.best_of_families()
    others = [best[family] for family in (BOOSTING, LINEAR) if family in best]
    average_of(rounds, [*members, *others], BLEND, "blend of")


def average_of(rounds: Rounds, members: Sequence[Candidate], family: str, label: str) -> None:
    """Add an average of these, unless one of them has all the weight."""
    table, held = rounds.table, rounds.held
    if min(len(members), len(held)) < 2:
        return
    y, K = table.y[held], table.n_classes
    target = np.eye(K)[y] if K else y[:, None]
    every = np.stack([c.scores for c in members], axis=2)  # of shape (n, k, members)
    weights = weights_of(every, target)
    # Weights judged by the rows that they were fitted on look too good: so each half of the rows
    # is averaged with the weights of the other one.
    groups = np.arange(len(y)) if table.groups is None else table.groups[held]
    groups = groups if len(np.unique(groups)) > 1 else np.arange(len(y))
    halves = whole_groups(groups, None, 2, table.seed)
    scores = np.empty_like(members[0].scores)
    for half in (0, 1):
        fitted = weights_of(every[halves != half], target[halves != half])
        scores[halves == half] = every[halves == half] @ fitted
    rounded = tuple((c, float(f"{w:.3g}")) for c, w in zip(members, weights, strict=True) if w > 0)
    if len(rounded) > 1:
        rounds.add(Candidate(f"{label} {len(rounded)}", family, members=rounded), scores)


def weights_of(scores: Array, target: Array) -> Array:
    """Return the weights of an average's members, by non-negative least squares.

    Scores of shape (n, k, members), targets of shape (n, k). Weights under `LEAST_WEIGHT` are 0.
    """
    centre = target.mean(axis=0)
    stacked = (scores - centre[:, None]).reshape(-1, scores.shape[2])
    # The weights add up to one, by a row that outweighs all others. Scaled to one afterwards
    # they would be no optimum: what hardly varies, as a linear model of noise, can get any.
    heavy = SUM_TO_ONE * (np.linalg.norm(stacked) or 1.0)
    weights, _ = optimize.nnls(
        np.vstack([stacked, np.full(scores.shape[2], heavy)]),
        np.append((target - centre).ravel(), heavy),
    )
    weights[weights < LEAST_WEIGHT * weights.sum()] = 0.0
    return np.asarray(weights / weights.sum())


def held_out(rounds: Rounds, end: float) -> dict[str, Candidate]:
    """Measure the best of each kind on the rows held out.

    What is ahead is measured whatever the time, and the constant that it is held against; of the
    others what ends in time.
    """
    best, last = rounds.best_of_families(), len(rounds.splits) - 1
    train, test = rounds.splits[last]
    needed = dict.fromkeys([*best[CONSTANT].parts, *best[simplest(rounds, best)].parts])
    others = dict.fromkeys(part for c in best.values() for part in c.parts if part not in needed)
    said: dict[Candidate, Any] = {}
    for models, deadline in ((needed, None), (others, end)):
        if models:
            trials = [(part, last, len(train)) for part in models]
            said |= zip(models, rounds.measured(trials, deadline), strict=True)
    made = {}
    for candidate in [best[family] for family in (CONSTANT, *SIMPLEST) if family in best]:
        parts, weights = zip(*(candidate.members or [(candidate, 1.0)]), strict=True)
        if None in [said[part] for part in parts]:
            continue
        scores = np.average([scores_of(said[part]) for part in parts], axis=0, weights=weights)
        made[candidate.family] = replace(
            candidate,
            scores=scores,
            loss=rounds.loss(rounds.table.metric, scores, test),
            seconds=sum(float(said[part][0][t]) for part in parts for t in FITS),
            predicting=1000 * sum(float(said[part][0]["t_test"]) for part in parts) / len(test),
        )
    return made


def simplest(rounds: Rounds, families: Iterable[str]) -> str:
    """Return the kind of the simplest model that is as good as the best on the validation rows."""
    best = rounds.best_of_families()
    models = [best[family] for family in SIMPLEST if family in families]
    close = rounds.close(models) if models else []
    return next((model.family for model in models if model in close), CONSTANT)


def decide(rounds: Rounds, contenders: Mapping[str, Candidate]) -> tuple[Candidate, bool, bool]:
    """Return what to take, whether the rows held out overturned it, and if nothing was learnt.

    The simplest model that is as good as the best on the validation rows, unless another is
    significantly better on the rows held out. Nothing was learnt where no model is significantly
    better there than the constant, at 5 % over all of them (Bonferroni): of classes by the
    log-loss, which shows it with fewer rows than errors do.
    """
    models = [contenders[family] for family in SIMPLEST if family in contenders]
    metric = "log-loss" if rounds.table.n_classes else rounds.table.metric
    test = rounds.splits[-1][1]
    constant = rounds.loss(metric, contenders[CONSTANT].scores, test)
    gains = [difference(rounds.loss(metric, c.scores, test), constant, metric) for c in models]
    if not any(gain.value < 0 and gain.p < SIGNIFICANT / len(models) for gain in gains):
        return contenders[CONSTANT], False, True
    taken, metric = contenders[simplest(rounds, contenders)], rounds.table.metric
    better = [c for c in models if difference(taken.loss, c.loss, metric).verdict == "worse"]
    return min(better or [taken], key=lambda c: c.loss.value), bool(better), False


def facts_of(
    rounds: Rounds, contender: Candidate, taken: Candidate, constant: Candidate
) -> dict[str, Any]:
    """Return the facts of a contender on the rows held out."""
    table, test = rounds.table, rounds.splits[-1][1]
    every = CLASS_METRICS if table.n_classes else NUMBER_METRICS
    others = {m: rounds.loss(m, contender.scores, test).value for m in every if m != table.metric}
    if table.n_classes:
        decided = contender.scores.argmax(axis=1)
        made = metrics.probabilistic(contender.scores, decided, table.y[test])
        others |= {"balanced-error": made["balanced_error"], "1 - AUC": 1 - made["auc"]}
    return {
        "label": contender.label,
        "family": contender.family,
        "M": contender.M,  # features of kernels; 0 of other models
        "error": contender.loss.value,
        "standard_error": contender.loss.standard_error,
        "others": others,  # its losses in the other metrics, and of classes 1 - AUC
        "against_taken": asdict(difference(contender.loss, taken.loss, table.metric)),
        "against_constant": asdict(difference(contender.loss, constant.loss, table.metric)),
        "fit_seconds": contender.seconds,
        "predict_seconds": contender.predicting,
        "holds_rows": rounds.allow_rows and contender.M > 0,
    }


def last_fit(rounds: Rounds, taken: Candidate, end: float) -> tuple[Model, int]:
    """Return the model that is taken, with its intervals, and how many rows it was fitted on.

    These are all rows. But a fit on more rows can go wrong where the measured one did not: boosting
    of many classes diverges on some rows and not on others. Where it is significantly worse on the
    rows held out, which it has seen, or where there is no time for it, it is fitted on the rows
    that it was measured with.
    """
    table, (train, test) = rounds.table, rounds.splits[-1]
    every = np.sort(np.concatenate([train, test]))
    seconds = taken.seconds * len(every) / len(train)
    for rows in [every] * (monotonic() + seconds < end + LATE) + [train]:
        model = rounds.model(taken).fit(table.X.iloc[rows], table.labels[rows])
        if rows is train:
            break
        groups = None if table.groups is None else table.groups[test]
        seen = loss_of(table.metric, model, table.X.iloc[test], table.labels[test], groups)
        if difference(seen, taken.loss, table.metric).verdict != "worse":
            break
    model.half_widths_ = {}
    if not table.n_classes:
        model.half_widths_ = half_widths(table.y[test] - taken.scores[:, 0])
    return model, len(rows)


def loss_of(metric: str, model: Any, X: Any, y: Any, groups: Any = None) -> Loss:
    """Return the loss of a fitted model, see `rfbench.choosing.losses`."""
    if metric in NUMBER_METRICS:
        return loss(metric, y, np.asarray(model.predict(X), dtype=float), groups)
    return loss(metric, np.searchsorted(model.classes_, y), model.predict_proba(X), groups)
