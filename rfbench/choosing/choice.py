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
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from rfbench.choosing.judge import Judge, average
from rfbench.choosing.losses import CLASS_METRICS, NUMBER_METRICS
from rfbench.choosing.model import Model, save
from rfbench.choosing.parts import pipeline_of
from rfbench.choosing.problem import LabelledTable
from rfbench.choosing.rounds import Candidate, Rounds
from rfbench.choosing.table import read_table, table_of, without_rows
from rfbench.datasets.preparation import describe
from rfbench.errors import ConfigError, DataError, unknown
from rfbench.experiment import children
from rfbench.memory import check_fits

# Seconds of the budget that are kept for writing the files, and their share.
WRITING, WRITING_SHARE = 1.0, 0.04
TABLES = 4  # copies of the rows: as read, prepared, and scaled in two ways
DECADES = 100.0  # a target whose quantiles lie so far from each other: its logarithm is tried


@dataclass(frozen=True)
class Choice:
    """What was chosen for a table, and what it is worth."""

    folder: Path
    model: Model  # fitted on all rows, see `rfbench.choosing.judge.Judge.final`
    others: Mapping[str, Model]  # of each kind, not fitted
    card: Mapping[str, Any]  # what model.json says, see `choose`

    @property
    def taken(self) -> dict[str, Any]:
        """The contender that was taken, see `rfbench.choosing.judge.Judge.contender`."""
        return dict(self.card["take"])

    def contender(self, family: str) -> dict[str, Any] | None:
        """Return the best of a kind, if there is one."""
        return next((c for c in self.card["contenders"] if c["family"] == family), None)


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
        keys: dict[str, Any] = {"task": task, "groups": groups, "time": time}
        if isinstance(X, str | Path):
            table = read_table(X, target=target, drop=drop, **keys, **reading)
        else:
            table = table_of(X, y, **keys)
    table = table if allow_rows else without_rows(table)
    metrics = CLASS_METRICS if table.n_classes else NUMBER_METRICS
    if metric not in (None, *metrics):
        kind = "classes" if table.n_classes else "numbers"
        raise unknown(f"metric of {kind}", metric, metrics, ConfigError)
    # One thread here, too: beside other work two of OpenMP wait for one another, for minutes.
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of solvers that stop early, and overflows in trials
        table = replace(table, metric=metric or metrics[0], seed=seed)
        table, left_out, kept = _parted(table, budget)
        train, test = table.held_out(budget)
        n, d = len(train) + len(test), table.X.shape[1]
        check_fits(
            TABLES * 8.0 * n * d,
            f"To prepare {n:,} rows of {d:,} columns and to scale them",
            "Take fewer columns.",
        )
        first = Rounds(
            table.take(train), deadline, folder, workers, allow_rows, on_candidate=on_candidate
        )
        try:
            rounds = _searched(first)
            judged = Judge(rounds, table, (train, test), deadline)
            taken, overturned, nothing = judged.decide()
            model, fitted = judged.final(taken, deadline)
        finally:
            first.clear()
    judged.contenders[taken.family] = taken
    contenders = [judged.contender(c, taken) for c in judged.contenders.values()]
    model.reading_ = table.how
    facts: dict[str, Any] = {
        "data": table.name,
        "data_sha256": table.sha256,
        "notes": table.notes,  # what the rows say of themselves
        "preparation": describe(model[0].notes_),  # what was done to the columns
        "columns": [str(column) for column in table.X.columns],
        "metric": table.metric,
        "classes": [str(label) for label in table.classes],  # none of a regression
        "shares": (np.bincount(table.y) / len(table.y)).tolist() if table.n_classes else [],
        "left_out": left_out,  # classes that a side of a split would lack, and their rows
        "log_target": rounds.log,
        "grouped": table.groups is not None,
        "in_time": table.time is not None,  # the last rows were held out
        "rows": len(table.y),
        "n_train": len(train),  # training and validation rows
        "n_test": len(test),  # rows held out
        "n_fitted": fitted,  # the rows that the model in the file was fitted on
        "nothing_learnt": nothing,
        "overturned": overturned,  # the rows held out said otherwise than those that chose
        "take": next(c for c in contenders if c["family"] == taken.family),
        "contenders": contenders,  # the best of each kind
        "tried": len(rounds.candidates),
        "stopped": rounds.stopped,  # what budget or memory cut off, see `Rounds.stopped`
        "interrupted": rounds.interrupted,
        "budget": budget,
        "spent": monotonic() - started,
        "seed": seed,
    }
    card = {**save(model, folder, **facts), **facts}  # as they are: JSON has no infinity
    np.savez(folder / "rows.npz", train=kept[train], test=kept[test])
    others = {family: pipeline_of(c, rounds) for family, c in judged.contenders.items()}
    return Choice(folder, model, others, card)


def _parted(table: LabelledTable, budget: float) -> tuple[LabelledTable, dict[str, int], Any]:
    """Leave out the classes that a side of a split lacks; return their rows, and those kept."""
    left_out: dict[str, int] = {}
    kept = np.arange(len(table.y))
    while absent := table.absent_classes(budget):
        if table.n_classes - len(absent) < 2:
            raise DataError(
                f"Of {table.name}, fewer than two classes have rows on both sides of every split.",
                "A class has to be learnt from some rows and checked on others.",
                "Put rare classes together, or split otherwise (--groups, --time).",
            )
        counts = np.bincount(table.y)
        left_out |= {str(table.classes[code]): int(counts[code]) for code in absent}
        kept = kept[~np.isin(table.y, absent)]
        table = table.keeping(np.setdiff1d(np.arange(table.n_classes), absent))
    return table, left_out, kept


def _searched(rounds: Rounds) -> Rounds:
    """Go through the rounds, of a positive target over several decades for its logarithm too.

    That is what goes on after the first round if it is better. An interruption ends the rounds, and
    what was measured before it counts.
    """
    rounds.clear()
    try:
        rounds.first()
        y, going = rounds.problem.y, rounds.candidates and not rounds.interrupted
        if going and not rounds.problem.n_classes and spans_decades(y):
            rival = replace(rounds, log=True, candidates=[], _packs={})
            rival.first()
            least = [min((c.fine for c in r.candidates), default=np.inf) for r in (rounds, rival)]
            rounds.interrupted = rival.interrupted
            rounds = rival if least[1] < least[0] else rounds
        rounds.run()
        average(rounds)
    except KeyboardInterrupt:
        rounds.interrupted = True
    if not rounds.candidates:
        raise ConfigError(
            f"Nothing was measured within {rounds.deadline - monotonic():.3g} s.",
            "Not even the constant was.",
            "Allow a larger budget.",
        )
    return rounds


def spans_decades(y: Any) -> bool:
    """Tell whether a target is positive and its quantiles lie two decades or more apart."""
    low, high = np.quantile(y, [0.01, 0.99])
    return bool(y.min() > 0 and high > DECADES * low)
