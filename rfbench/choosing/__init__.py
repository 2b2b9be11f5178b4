"""From a table to the model to take, within a budget: an answer, its statistics, a model file.

A quarter of the rows is held out. On the others the search (`rfbench.choosing.search`) fits a
constant, a linear model, gradient boosting, features of kernels, and averages of them, and takes
one. Only then are the best of each kind measured on the rows held out, and compared there in pairs.
The model that is taken is fitted again on all rows.
"""

from __future__ import annotations

import json
import pickle
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from rfbench.choosing.code import code_of
from rfbench.choosing.losses import (
    CLASS_METRICS,
    NUMBER_METRICS,
    Difference,
    Loss,
    Predicted,
    difference,
    loss,
)
from rfbench.choosing.model import Card, Model, half_widths, measured, save
from rfbench.choosing.search import (
    BLEND,
    BOOSTING,
    CONSTANT,
    FEATURES,
    LINEAR,
    Candidate,
    LearningProblem,
    Search,
    averaged,
    estimator_of,
    scores_of,
)
from rfbench.choosing.table import LabelledTable, read_table, table_of
from rfbench.datasets.preparation import Preparation
from rfbench.errors import ConfigError, WriteError, unknown

__all__ = ["Choice", "Contender", "choose", "choose_from", "measured", "read_table", "table_of"]

HELD_OUT, MOST_HELD_OUT = 0.25, 10_000
# Training rows for each second of the budget, and bounds of them.
ROWS_PER_SECOND, LEAST_SAMPLE, MOST_ROWS = 700, 2_000, 50_000
# Seconds of the budget that are kept for writing the files, and their share.
WRITING, WRITING_SHARE = 1.0, 0.04
RARE = 0.1  # a class of a smaller share is rare
DECADES = 100.0  # a target whose quantiles lie so far from each other: its logarithm is tried
CLOSE = 1.01  # of the smallest loss on the rows that choose: the simplest model up to here is taken
SIMPLEST = (LINEAR, FEATURES, BOOSTING, BLEND)
SIGNIFICANT = 0.05


@dataclass(frozen=True)
class Contender:
    """The best model of a kind, on the rows held out."""

    label: str
    family: str  # see `rfbench.choosing.search`
    M: int  # features of kernels; 0 of other models
    error: float  # its loss in the metric, see `rfbench.choosing.losses`
    standard_error: float
    others: Mapping[str, float]  # its losses in the other metrics
    against_taken: Difference  # its loss less that of the model that is taken
    against_constant: Difference
    fit_seconds: float
    predict_seconds: float  # of 1,000 rows
    n_bytes: int
    holds_rows: bool


@dataclass(frozen=True)
class Choice:
    """What was chosen for a table, and what it is worth."""

    folder: Path
    data: str
    notes: tuple[str, ...]  # what the target is
    preparation: tuple[str, ...]  # what was done to the columns
    metric: str
    metric_given: bool
    regression: bool
    classes: tuple[str, ...]
    shares: tuple[float, ...]  # of the classes
    rare: bool  # a class is below a tenth
    log_tried: bool
    log_target: bool
    grouped: bool
    rows: int
    n_train: int  # rows that chose and trained
    n_test: int  # rows held out
    columns: int
    nothing_learnt: bool
    learnt_by: tuple[str, ...]  # other metrics in which the best is better than the constant
    overturned: bool  # the rows held out said otherwise than those that chose
    taken: Contender
    contenders: tuple[Contender, ...]  # the best of each kind
    tried: pd.DataFrame  # all candidates: label, family, M, loss, seconds, n_bytes
    stopped: str  # what the budget cut off, see `Search.stopped`
    budget: float
    spent: float
    seed: int
    model: Model  # fitted on all rows
    others: Mapping[str, Model]  # of each kind, not fitted
    card: Card
    code: str  # Python that builds it, fits it on the training rows and prints its error

    def contender(self, family: str) -> Contender | None:
        """Return the best of a kind, if there is one."""
        return next((c for c in self.contenders if c.family == family), None)


def choose(
    X: Any,
    y: Any = None,
    *,
    target: str | int | None = None,
    task: str | None = None,
    drop: Sequence[str | int] = (),
    groups: Any = None,
    metric: str | None = None,
    budget: float = 60.0,
    n_jobs: int | None = None,
    allow_rows: bool = True,
    largest_model: float | None = None,
    out: str | Path | None = None,
    seed: int = 0,
    on_candidate: Callable[[Candidate], None] | None = None,
    started: float | None = None,
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
    metric : str, optional
        See `rfbench.choosing.losses.loss`; by default ``error`` or ``rmse``.
    budget : float
        Seconds, for everything.
    n_jobs : int, optional
        Threads, by default one per core.
    allow_rows : bool
        Whether the model may hold training rows (landmarks).
    largest_model : float, optional
        Bytes of the model at most.
    out : path, optional
        Folder of what is written: ``results/choose-NAME`` by default.
    on_candidate : callable, optional
        Called with each model that was fitted.
    started : float, optional
        When the budget began, in the seconds of `time.monotonic`; by default now.
    **reading : Any
        How a file is read, see `rfbench.datasets.files.read`.

    Raises
    ------
    RfbenchError
        The table cannot be read or learnt from, or a parameter is wrong.
    """
    started = time.monotonic() if started is None else started
    if isinstance(X, str | Path):
        table = read_table(X, target=target, task=task, drop=drop, groups=groups, **reading)
    else:
        table = table_of(X, y, task=task, groups=groups)
    return choose_from(
        table,
        metric=metric,
        budget=budget,
        n_jobs=n_jobs,
        allow_rows=allow_rows,
        largest_model=largest_model,
        out=Path(out) if out is not None else Path("results") / "choose",
        seed=seed,
        on_candidate=on_candidate,
        started=started,
    )


def choose_from(
    table: LabelledTable,
    *,
    metric: str | None = None,
    budget: float = 60.0,
    n_jobs: int | None = None,
    allow_rows: bool = True,
    largest_model: float | None = None,
    out: Path,
    seed: int = 0,
    on_candidate: Callable[[Candidate], None] | None = None,
    started: float | None = None,
) -> Choice:
    """Choose a model for a table that was read; see `choose`."""
    started = time.monotonic() if started is None else started
    allowed = NUMBER_METRICS if table.regression else CLASS_METRICS
    if metric not in (None, *allowed):
        kind = "numbers" if table.regression else "classes"
        raise unknown(f"metric of {kind}", metric, allowed, ConfigError)
    used = metric or allowed[0]
    deadline = started + budget - max(WRITING, WRITING_SHARE * budget)
    with threadpool_limits(n_jobs), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of solvers that stop early, and overflows in trials
        problem = LearningProblem(
            table.X, table.target, len(table.classes), table.groups, used, seed
        )
        train, test = held_out(problem, budget)
        search = searched(
            problem.take(train),
            deadline,
            allow_rows=allow_rows,
            largest=np.inf if largest_model is None else largest_model,
            on_candidate=on_candidate,
        )
        judged = _Judged(search, problem, train, test)
        taken, overturned, nothing = judged.decide()
        model = judged.final(taken, table)
    judged.contenders[taken.family] = taken
    contenders = tuple(judged.contender(c, taken) for c in judged.contenders.values())
    winner = next(c for c in contenders if c.family == taken.family)
    rows = out / "rows.npz"
    card = save(
        model,
        out,
        data=table.name,
        data_sha256=table.sha256,
        task="regression" if table.regression else "classification",
        classes=[str(label) for label in table.classes],
        columns=[str(column) for column in table.X.columns],
        label=winner.label,
        metric=used,
        error=winner.error,
        standard_error=winner.standard_error,
        rows=len(train) + len(test),
        held_out=len(test),
        holds_rows=winner.holds_rows,
    )
    np.savez(rows, train=train, test=test)
    tried = pd.DataFrame(
        [(c.label, c.family, c.M, c.loss.value, c.seconds, c.n_bytes) for c in search.candidates],
        columns=["label", "family", "M", "loss", "seconds", "n_bytes"],
    )
    shares = np.bincount(table.target) / len(table.y) if not table.regression else np.empty(0)
    choice = Choice(
        folder=out,
        data=table.name,
        notes=table.notes,
        preparation=described(model[0]),
        metric=used,
        metric_given=metric is not None,
        regression=table.regression,
        classes=tuple(card.classes),
        shares=tuple(shares.tolist()),
        rare=bool(len(shares) and shares.min() < RARE and shares.max() > 0.5),
        log_tried=judged.log_tried,
        log_target=search.log,
        grouped=table.groups is not None,
        rows=len(table.y),
        n_train=len(train),
        n_test=len(test),
        columns=table.X.shape[1],
        nothing_learnt=nothing,
        learnt_by=judged.learnt_by(),
        overturned=overturned,
        taken=winner,
        contenders=contenders,
        tried=tried.sort_values("loss", kind="stable", ignore_index=True),
        stopped=search.stopped,
        budget=budget,
        spent=time.monotonic() - started,
        seed=seed,
        model=model,
        others={
            family: _pipeline(candidate, regression=table.regression, log=search.log)
            for family, candidate in judged.contenders.items()
        },
        card=card,
        code=code_of(clone(model), table, rows, used),
    )
    _write(choice)
    return choice


def _write(choice: Choice) -> None:
    """Write answer.json and report.html; WriteError if they cannot be written."""
    from rfbench.pages.choose import page

    facts = {
        name: getattr(choice, name)
        for name in Choice.__dataclass_fields__
        if name not in ("model", "others", "card", "tried", "folder", "taken", "contenders")
    }
    answer = {
        "take": asdict(choice.taken),
        "contenders": [asdict(contender) for contender in choice.contenders],
        **facts,
        "model": choice.card.model_dump(),
        "tried": choice.tried.to_dict("records"),
    }
    files = {
        "answer.json": json.dumps(_plain(answer), indent=1) + "\n",
        "report.html": page(choice),
    }
    for name, text in files.items():
        try:
            (choice.folder / name).write_text(text, encoding="utf-8")
        except OSError as error:
            raise WriteError(f"{name} cannot be written.", f"{error.strerror or error}.") from error


def _plain(value: Any) -> Any:
    """Return a value as JSON has it: what is not finite is null."""
    if isinstance(value, Mapping):
        return {str(key): _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    value = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(value, float) and not np.isfinite(value) else value


def held_out(problem: LearningProblem, budget: float) -> tuple[Any, Any]:
    """Return the rows that choose and train, and those held out; of many rows, a sample."""
    ((train, test),) = problem.split(HELD_OUT, most=MOST_HELD_OUT)
    generator = np.random.default_rng(problem.seed)
    most = min(max(int(ROWS_PER_SECOND * budget), LEAST_SAMPLE), MOST_ROWS)
    sampled = [
        part if len(part) <= size else np.sort(generator.choice(part, size, replace=False))
        for part, size in ((train, most), (test, MOST_HELD_OUT))
    ]
    return sampled[0], sampled[1]


def searched(problem: LearningProblem, deadline: float, **options: Any) -> Search:
    """Search, of a positive target over several decades for its logarithm where that is better."""
    search = Search(problem, deadline, **options)
    search.log_tried = not problem.n_classes and spans_decades(problem.y)
    if search.log_tried:
        rival = Search(problem, deadline, log=True, **options)
        for each in (search, rival):
            each.simple()
            each.boost()
        least = [min(c.loss.value for c in each.candidates) for each in (search, rival)]
        if least[1] < least[0]:
            rival.log_tried = True
            search = rival
    search.run()
    return search


def spans_decades(y: Any) -> bool:
    """Tell whether a target is positive and its quantiles lie two decades or more apart."""
    if not y.min() > 0:
        return False
    low, high = np.quantile(y, [0.01, 0.99])
    return bool(high > DECADES * low)


def described(preparation: Preparation) -> tuple[str, ...]:
    """Return in sentences what was done to the columns."""
    from rfbench.datasets.preparation import describe

    return tuple(describe(preparation.notes_))


class _Judged:
    """The best candidates of each kind on the rows held out."""

    def __init__(self, search: Search, problem: LearningProblem, train: Any, test: Any) -> None:
        self.search, self.problem, self.train, self.test = search, problem, train, test
        self.contenders = search.best_of_families()
        self.log_tried = search.log_tried
        inner = problem.take(train)
        self.truth = problem.y[test]
        self.groups = None if problem.groups is None else problem.groups[test]
        preparation = Preparation().fit(inner.X)
        self.X = np.asarray(preparation.transform(inner.X))
        self.X_test = np.asarray(preparation.transform(problem.X.iloc[test]))
        self.fitted: dict[int, tuple[Any, float, float, int]] = {}
        self.losses: dict[str, Loss] = {}
        self.predicted: dict[str, Predicted] = {}
        for family, candidate in self.contenders.items():
            self.predicted[family] = search.predicted(self._scores(candidate), candidate.weights)
            self.losses[family] = loss(problem.metric, self.truth, self.predicted[family])

    def _scores(self, candidate: Candidate) -> Any:
        """Fit a candidate on the training rows, and return its scores of the rows held out."""
        if candidate.members:
            return averaged(
                [self._scores(member) for member, _ in candidate.members],
                [weight for _, weight in candidate.members],
            )
        number = self.search.candidates.index(candidate)
        if number not in self.fitted:
            moments = [time.monotonic()]
            model = clone(candidate.estimator).fit(self.X, self.search.target)
            moments.append(time.monotonic())
            scores = scores_of(model, self.X_test, self.problem.n_classes)
            moments.append(time.monotonic())
            fit, predict = np.diff(moments)
            size = len(pickle.dumps(model))
            self.fitted[number] = scores, fit, 1000 * predict / len(self.test), size
        return self.fitted[number][0]

    def _against(self, family: str, other: str) -> Difference:
        return difference(self.losses[family], self.losses[other], self.problem.metric, self.groups)

    def decide(self) -> tuple[Candidate, bool, bool]:
        """Return what to take, whether the rows held out overturned it, and if nothing was learnt.

        The simplest model that is within a hundredth of the best on the rows that chose, unless
        another is significantly better on the rows held out. Nothing was learnt where no model is
        significantly better there than the constant, at 5 % over all of them (Bonferroni).
        """
        families = [f for f in SIMPLEST if f in self.contenders]
        better = [f for f in families if self._better_than_constant(f, len(families))]
        if not better:
            return self.contenders[CONSTANT], False, True
        least = min(self.contenders[f].loss.value for f in better)
        taken = next(f for f in better if self.contenders[f].loss.value <= CLOSE * least)
        rivals = [f for f in better if self._against(taken, f).verdict == "worse"]
        if rivals:
            taken = min(rivals, key=lambda f: self.losses[f].value)
        return self.contenders[taken], bool(rivals), False

    def _better_than_constant(self, family: str, count: int) -> bool:
        found = self._against(family, CONSTANT)
        return found.value < 0 and found.p * count < SIGNIFICANT

    def learnt_by(self) -> tuple[str, ...]:
        """Return the other metrics in which some model is better than the constant."""
        metrics = CLASS_METRICS if self.problem.n_classes else NUMBER_METRICS[:2]
        families = [f for f in SIMPLEST if f in self.contenders]
        learnt = []
        for metric in metrics:
            if metric == self.problem.metric:
                continue
            constant = loss(metric, self.truth, self.predicted[CONSTANT])
            for family in families:
                own = loss(metric, self.truth, self.predicted[family])
                found = difference(own, constant, metric, self.groups)
                if found.value < 0 and found.p * len(families) < SIGNIFICANT:
                    learnt.append(metric)
                    break
        return tuple(learnt)

    def contender(self, candidate: Candidate, taken: Candidate) -> Contender:
        """Return the facts of a candidate on the rows held out."""
        family = candidate.family
        bases = [member for member, _ in candidate.members] or [candidate]
        costs = [self.fitted[self.search.candidates.index(base)][1:] for base in bases]
        fit, predict, size = (sum(column) for column in zip(*costs, strict=True))
        metrics = CLASS_METRICS if self.problem.n_classes else NUMBER_METRICS[:2]
        return Contender(
            label=candidate.label,
            family=family,
            M=candidate.M,
            error=self.losses[family].value,
            standard_error=self.losses[family].standard_error(self.groups),
            others={
                metric: loss(metric, self.truth, self.predicted[family]).value
                for metric in metrics
                if metric != self.problem.metric
            },
            against_taken=self._against(family, taken.family),
            against_constant=self._against(family, CONSTANT),
            fit_seconds=float(fit),
            predict_seconds=float(predict),
            n_bytes=int(size),
            holds_rows=any(_holds(base) for base in bases),
        )

    def final(self, taken: Candidate, table: LabelledTable) -> Model:
        """Return the model that is taken, fitted on all rows, with its intervals."""
        model = _pipeline(taken, regression=table.regression, log=self.search.log)
        rows = np.sort(np.concatenate([self.train, self.test]))
        model.fit(table.X.iloc[rows], table.y[rows])
        model.half_widths_, model.log_target_ = {}, self.search.log
        if table.regression:
            values = self.predicted[taken.family].values
            pair = (self.truth, values)
            truth, said = (np.log(part) for part in pair) if self.search.log else pair
            model.half_widths_ = half_widths(truth - said)
        return model


def _pipeline(candidate: Candidate, *, regression: bool, log: bool) -> Model:
    """Return the model of a candidate, not fitted."""
    estimator = estimator_of(candidate, classes=not regression, log=log)
    return Model([("prepare", Preparation()), ("predict", clone(estimator))])


def _holds(candidate: Candidate) -> bool:
    """Tell whether a fitted candidate holds training rows: landmarks."""
    steps = getattr(candidate.estimator, "steps", [])
    return any(hasattr(getattr(step, "features", None), "fit_landmarks") for _, step in steps)
