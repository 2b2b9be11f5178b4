"""The search, and its best models on the rows that were held out: which of them is taken."""

from __future__ import annotations

import pickle
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator

from rfbench.choosing.losses import (
    CLASS_METRICS,
    NUMBER_METRICS,
    Difference,
    Loss,
    Predicted,
    difference,
    loss,
)
from rfbench.choosing.model import Model, half_widths, loss_of
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
from rfbench.choosing.table import LabelledTable
from rfbench.datasets.preparation import Preparation

HELD_OUT, MOST_HELD_OUT = 0.25, 10_000
# Training rows for each second of the budget, and bounds of them.
ROWS_PER_SECOND, LEAST_SAMPLE, MOST_ROWS = 700, 2_000, 50_000
LATE = 1.0  # seconds after the deadline, at most, until the last fit ends
DECADES = 100.0  # a target whose quantiles lie so far from each other: its logarithm is tried
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


@dataclass(frozen=True)
class Fitted:
    """A part of a model, fitted on the training rows."""

    estimator: Any
    scores: Any  # of the rows held out, shape (n, k)
    fit_seconds: float
    predict_seconds: float  # of 1,000 rows
    n_bytes: int


class Judged:
    """The best candidates of each kind on the rows held out."""

    def __init__(self, search: Search, problem: LearningProblem, train: Any, test: Any) -> None:
        self.search, self.problem, self.train, self.test = search, problem, train, test
        self.contenders = search.best_of_families()
        self.log_tried = search.log_tried
        inner = problem.take(train)
        self.truth = problem.y[test]
        self.groups = None if problem.groups is None else problem.groups[test]
        self.preparation = Preparation().fit(inner.X)
        self.X = np.asarray(self.preparation.transform(inner.X))
        self.X_test = np.asarray(self.preparation.transform(problem.X.iloc[test]))
        self.prepared_bytes = len(pickle.dumps(self.preparation))
        self.fitted: dict[Candidate, Fitted] = {}
        self.losses: dict[str, Loss] = {}
        self.predicted: dict[str, Predicted] = {}
        # What was left out, as larger than allowed: of each kind the best one, with its bytes.
        self.too_large = search.too_large()
        for family, candidate in list(self.contenders.items()):
            scores = self._scores(candidate)
            *_, n_bytes = self._costs(candidate)
            if family != CONSTANT and n_bytes > search.largest:
                self.too_large[candidate.label] = n_bytes
                del self.contenders[family]
                continue
            self.predicted[family] = search.predicted(scores, candidate.weights)
            self.losses[family] = loss(problem.metric, self.truth, self.predicted[family])

    def _scores(self, candidate: Candidate) -> Any:
        """Fit a candidate on the training rows, and return its scores of the rows held out."""
        if candidate.members:
            return averaged(
                [self._scores(member) for member, _ in candidate.members],
                [weight for _, weight in candidate.members],
            )
        if candidate not in self.fitted:
            moments = [time.monotonic()]
            model = clone(candidate.estimator).fit(self.X, self.search.target)
            moments.append(time.monotonic())
            scores = scores_of(model, self.X_test, self.problem.n_classes)
            moments.append(time.monotonic())
            fit, predict = np.diff(moments)
            per_row, n_bytes = predict / len(self.test), len(pickle.dumps(model))
            self.fitted[candidate] = Fitted(model, scores, fit, 1000 * per_row, n_bytes)
        return self.fitted[candidate].scores

    def _costs(self, candidate: Candidate) -> tuple[float, float, int]:
        """Return the seconds of a fit and of 1,000 predictions, and the bytes, as fitted here."""
        parts = [self.fitted[part] for part in candidate.parts]
        fit, predict = sum(p.fit_seconds for p in parts), sum(p.predict_seconds for p in parts)
        return fit, predict, sum(p.n_bytes for p in parts) + self.prepared_bytes

    def _against(self, family: str, other: str) -> Difference:
        return difference(self.losses[family], self.losses[other], self.problem.metric, self.groups)

    def only_class(self, taken: Candidate) -> int | None:
        """Return the class that a model says for every row held out, if it does."""
        said = np.unique(self.predicted[taken.family].values)
        return int(said[0]) if self.problem.n_classes and len(said) == 1 else None

    def decide(self) -> tuple[Candidate, bool, bool]:
        """Return what to take, whether the rows held out overturned it, and if nothing was learnt.

        The simplest model that is as good as the best on the rows that chose, unless another is
        significantly better on the rows held out. Nothing was learnt where no model is
        significantly better there than the constant: in the metric, or of classes in their order
        (AUC), which shows it with fewer rows; at 5 % over all of these tests (Bonferroni).
        """
        families = [f for f in SIMPLEST if f in self.contenders]
        metrics = dict.fromkeys([self.problem.metric, *(["auc"] if self.problem.n_classes else [])])
        level = SIGNIFICANT / max(1, len(families) * len(metrics))
        better = [
            family
            for family in families
            if self._against(family, CONSTANT).verdict != "worse"
            and any(self._learnt(family, metric, level) for metric in metrics)
        ]
        if not better:
            return self.contenders[CONSTANT], False, True
        close = self.search.close([self.contenders[f] for f in better])
        taken = next(f for f in better if self.contenders[f] in close)
        rivals = [f for f in better if self._against(taken, f).verdict == "worse"]
        if rivals:
            taken = min(rivals, key=lambda f: self.losses[f].value)
        return self.contenders[taken], bool(rivals), False

    def _learnt(self, family: str, metric: str, level: float) -> bool:
        """Tell whether a model is better than the constant in a metric, at a level."""
        own, constant = (loss(metric, self.truth, self.predicted[f]) for f in (family, CONSTANT))
        gain = difference(own, constant, metric, self.groups)
        return gain.value < 0 and gain.p < level

    def learnt_by(self) -> tuple[str, ...]:
        """Return the other metrics in which some model is better than the constant."""
        families = [f for f in SIMPLEST if f in self.contenders]
        metrics = CLASS_METRICS if self.problem.n_classes else NUMBER_METRICS[:2]
        level = SIGNIFICANT / max(1, len(families) * len(metrics))
        return tuple(
            metric
            for metric in metrics
            if metric != self.problem.metric
            and any(self._learnt(family, metric, level) for family in families)
        )

    def contender(self, candidate: Candidate, taken: Candidate) -> Contender:
        """Return the facts of a candidate on the rows held out."""
        family = candidate.family
        fit, predict, size = self._costs(candidate)
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
            fit_seconds=fit,
            predict_seconds=predict,
            n_bytes=size,
            holds_rows=any(_holds(part) for part in candidate.parts),
        )

    def final(self, taken: Candidate, table: LabelledTable) -> tuple[Model, int]:
        """Return the model that is taken, with its intervals, and how many rows it was fitted on.

        These are all rows. But a fit on more rows can go wrong where the measured one did not:
        boosting of many classes diverges on some rows and not on others. Where it is significantly
        worse on the rows held out, which it has seen, or larger than allowed, or where there is no
        time for it, the model is the one that was measured.
        """
        rows = np.sort(np.concatenate([self.train, self.test]))
        model = self._fitted_again(taken, table, rows)
        if model is None:
            rows, model = self.train, self._measured(taken, table)
        model.half_widths_, model.log_target_ = {}, self.search.log
        if table.regression:
            values = self.predicted[taken.family].values
            pair = (self.truth, values)
            truth, predicted = (np.log(part) for part in pair) if self.search.log else pair
            model.half_widths_ = half_widths(truth - predicted)
        return model, len(rows)

    def _fitted_again(self, taken: Candidate, table: LabelledTable, rows: Any) -> Model | None:
        """Return the model fitted on so many rows; None: no time for it, too large, or worse."""
        seconds = self._costs(taken)[0] * len(rows) / len(self.train)
        if time.monotonic() + seconds > self.search.deadline + LATE:
            return None
        model = pipeline_of(taken, regression=table.regression, log=self.search.log)
        model.fit(table.X.iloc[rows], table.y[rows])
        if len(pickle.dumps(model)) > self.search.largest:
            return None
        metric, unseen = self.problem.metric, self.losses[taken.family]
        seen = loss_of(metric, model, table.X.iloc[self.test], table.y[self.test])
        worse = difference(seen, unseen, metric, self.groups).verdict == "worse"
        return None if worse else model

    def _measured(self, taken: Candidate, table: LabelledTable) -> Model:
        """Return the model that was measured: its parts, as they were fitted."""
        parts = tuple(
            (replace(part, estimator=FrozenEstimator(self.fitted[part].estimator)), weight)
            for part, weight in taken.members or [(taken, 1.0)]
        )
        # The parts were fitted on codes of classes, which a vote, of one too, turns into labels.
        single = table.regression and not taken.members
        frozen = parts[0][0] if single else replace(taken, members=parts)
        model = estimator_of(frozen, classes=not table.regression, log=self.search.log)
        model.fit(self.X, table.y[self.train])
        return Model([("prepare", self.preparation), ("predict", model)])


def pipeline_of(candidate: Candidate, *, regression: bool, log: bool) -> Model:
    """Return the model of a candidate, not fitted."""
    estimator = estimator_of(candidate, classes=not regression, log=log)
    return Model([("prepare", Preparation()), ("predict", clone(estimator))])


def _holds(candidate: Candidate) -> bool:
    """Tell whether a fitted candidate holds training rows: landmarks."""
    steps = getattr(candidate.estimator, "steps", [])
    return any(hasattr(getattr(step, "features", None), "fit_landmarks") for _, step in steps)
