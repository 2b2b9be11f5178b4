"""Averages of what was measured, the best of each kind on the rows held out, and what is taken."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from time import monotonic
from typing import Any

import numpy as np
from scipy import optimize
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import VotingClassifier, VotingRegressor
from sklearn.pipeline import make_pipeline

from rfbench import plugins
from rfbench.arrays import Array
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
from rfbench.choosing.parts import SCALERS, InMetric, WeightedClasses
from rfbench.choosing.problem import LearningProblem, Sides
from rfbench.choosing.rounds import (
    BLEND,
    BOOSTING,
    CONSTANT,
    FEATURES,
    LINEAR,
    Candidate,
    Rounds,
)
from rfbench.choosing.table import LabelledTable
from rfbench.datasets.preparation import Preparation
from rfbench.solvers.folds import whole_groups

LATE = 1.0  # seconds after the deadline, at most, until the last fit ends
SIMPLEST = (LINEAR, FEATURES, BOOSTING, BLEND)
SIGNIFICANT = 0.05
MEMBERS, LEAST_WEIGHT = 6, 0.05  # of an average
SUM_TO_ONE = 1e3  # how much the weights' sum counts, relative to all rows


def average(rounds: Rounds) -> None:
    """Add averages by non-negative least squares: of features, and of them with the rest."""
    features = sorted(
        (c for c in rounds.candidates if c.family == FEATURES), key=lambda c: c.loss.value
    )
    members = rounds.leading(features, MEMBERS)
    # Every member is fitted again, and the best one is counted already.
    while len(members) > 1 and rounds.left(sum(c.seconds for c in members[1:])) < 0:
        members.pop()
    _average(rounds, members, FEATURES, "average of")
    best = rounds.best_of_families()
    _average(
        rounds, [*members, *(best[f] for f in (BOOSTING, LINEAR) if f in best)], BLEND, "blend of"
    )


def _average(rounds: Rounds, members: Sequence[Candidate], family: str, label: str) -> None:
    K, held = rounds.problem.n_classes, np.concatenate([held for _, held in rounds.splits])
    if min(len(members), len(held)) < 2:
        return
    target = np.eye(K)[rounds.truth] if K else rounds.target[held][:, None]
    every = np.stack([c.scores for c in members], axis=2)  # of shape (n, k, members)
    weights = weights_of(every, target)
    # Weights judged by the rows that they were fitted on look too good: so each half of the rows
    # is averaged with the weights of the other one.
    scores, groups = np.empty_like(members[0].scores), rounds.groups
    whole = groups is not None and len(np.unique(groups)) > 1
    halves = whole_groups(groups if whole else np.arange(len(held)), None, 2, rounds.problem.seed)  # type: ignore[arg-type]
    for half in (0, 1):
        fitted = weights_of(every[halves != half], target[halves != half])
        scores[halves == half] = every[halves == half] @ fitted
    rounded = tuple((c, float(f"{w:.3g}")) for c, w in zip(members, weights, strict=True) if w > 0)
    if len(rounded) > 1:
        rounds.add(f"{label} {len(rounded)}", family, scores, members=rounded)


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


@dataclass(frozen=True)
class Contender:
    """The best model of a kind, on the rows held out."""

    label: str
    family: str  # see `rfbench.choosing.rounds`
    M: int  # features of kernels; 0 of other models
    error: float  # its loss in the metric, see `rfbench.choosing.losses`
    standard_error: float
    others: Mapping[str, float]  # its losses in the other metrics
    against_taken: Difference  # its loss less that of the model that is taken
    against_constant: Difference
    fit_seconds: float
    predict_seconds: float  # of 1,000 rows
    holds_rows: bool


class Judge:
    """The best candidates of each kind on the rows held out, each measured by a trial."""

    def __init__(self, rounds: Rounds, problem: LearningProblem, sides: Sides, end: float) -> None:
        self.rounds, self.problem, (self.train, self.test) = rounds, problem, sides
        self.truth = problem.y[self.test]
        self.groups = None if problem.groups is None else problem.groups[self.test]
        self.losses: dict[str, Loss] = {}
        self.predicted: dict[str, Predicted] = {}
        best = rounds.best_of_families()
        every = [f for f in (CONSTANT, *SIMPLEST) if f in best]
        ahead = [f for f in every if f != CONSTANT] or every
        close = rounds.close([best[f] for f in ahead])
        first = next(best[f] for f in ahead if best[f] in close)
        # What is ahead is measured whatever the time, and the constant that it is held against.
        needed = list(dict.fromkeys([*best[CONSTANT].parts, *first.parts]))
        others = [part for f in every for part in best[f].parts if part not in needed]
        self.fitted = self._measured(needed, None)
        self.fitted |= self._measured(list(dict.fromkeys(others)), end)
        self.contenders = {
            f: best[f] for f in every if all(part in self.fitted for part in best[f].parts)
        }
        for family, candidate in self.contenders.items():
            words = "probabilities" if problem.n_classes else "predictions"
            members = candidate.members or ((candidate, 1.0),)
            said = np.average(
                [self.fitted[member][1][words] for member, _ in members],
                axis=0,
                weights=[weight for _, weight in members],
            )
            self.predicted[family] = rounds.predicted(said, candidate.weights)
            self.losses[family] = loss(problem.metric, self.truth, self.predicted[family])

    def _measured(self, parts: Sequence[Candidate], end: float | None) -> dict[Candidate, Any]:
        """Fit candidates on the training rows, and let them predict the rows held out."""
        rounds, trials = self.rounds, []
        for part in parts:
            assert part.setting is not None
            X, target, n = self.rows
            if basis := part.setting.basis:
                scaling, roots = rounds.metrics[basis]
                scaled = SCALERS[scaling]().fit(X[:n]).transform(X)
                X = InMetric(mean_root(roots)).transform(scaled)
            trials.append((part.setting, rounds.pack(("held out", basis), X, target, n)))
        results = rounds.measured(trials, "", end) if trials else []
        return {part: each for part, each in zip(parts, results, strict=True) if each is not None}

    @cached_property
    def rows(self) -> tuple[Array, Any, int]:
        """Training rows, then those held out, prepared; their target; how many train."""
        X, order = self.problem.X, np.concatenate([self.train, self.test])
        prepared = Preparation().fit(X.iloc[self.train]).transform(X.iloc[order])
        y = self.problem.y[order]
        made = np.asarray(prepared, dtype=np.float64)
        return made, np.log(y) if self.rounds.log else y, len(self.train)

    def _costs(self, candidate: Candidate) -> tuple[float, float]:
        """Return the seconds of a fit and of 1,000 predictions, as fitted here."""
        rows = [self.fitted[part][0] for part in candidate.parts]
        fit = sum(float(row[t]) for row in rows for t in ("t_pp", "t_features", "t_train"))
        predict = sum(float(row["t_test"]) for row in rows) / len(self.test)
        return fit, 1000 * predict

    def _against(self, family: str, other: str) -> Difference:
        return difference(self.losses[family], self.losses[other], self.problem.metric, self.groups)

    def decide(self) -> tuple[Candidate, bool, bool]:
        """Return what to take, whether the rows held out overturned it, and if nothing was learnt.

        The simplest model that is as good as the best on the validation rows, unless another is
        significantly better on the rows held out. Nothing was learnt where no model is
        significantly better there than the constant: in the metric, or of two classes in their
        order (AUC), which shows it with fewer rows; at 5 % over all of these tests (Bonferroni).
        """
        families = [f for f in SIMPLEST if f in self.contenders]
        second = ["auc"] if self.problem.n_classes == 2 else []
        metrics = dict.fromkeys([self.problem.metric, *second])
        level = SIGNIFICANT / max(1, len(families) * len(metrics))
        if not any(self._learnt(f, metric, level) for f in families for metric in metrics):
            return self.contenders[CONSTANT], False, True
        close = self.rounds.close([self.contenders[f] for f in families])
        taken = next(f for f in families if self.contenders[f] in close)
        rivals = [f for f in families if self._against(taken, f).verdict == "worse"]
        if rivals:
            taken = min(rivals, key=lambda f: self.losses[f].value)
        return self.contenders[taken], bool(rivals), False

    def _learnt(self, family: str, metric: str, level: float) -> bool:
        """Tell whether a model is better than the constant in a metric, at a level."""
        own, constant = (loss(metric, self.truth, self.predicted[f]) for f in (family, CONSTANT))
        gain = difference(own, constant, metric, self.groups)
        return gain.value < 0 and gain.p < level

    def contender(self, candidate: Candidate, taken: Candidate) -> Contender:
        """Return the facts of a candidate on the rows held out."""
        family = candidate.family
        fit, predict = self._costs(candidate)
        metrics = CLASS_METRICS if self.problem.n_classes else NUMBER_METRICS
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
            holds_rows=any(holds_rows(part) for part in candidate.parts),
        )

    def final(self, taken: Candidate, table: LabelledTable, end: float) -> tuple[Model, int]:
        """Return the model that is taken, with its intervals, and how many rows it was fitted on.

        These are all rows. But a fit on more rows can go wrong where the measured one did not:
        boosting of many classes diverges on some rows and not on others. Where it is significantly
        worse on the rows held out, which it has seen, or where there is no time for it, it is
        fitted on the rows that it was measured with.
        """
        every = np.sort(np.concatenate([self.train, self.test]))
        seconds = self._costs(taken)[0]
        rows = (
            every
            if monotonic() + seconds * len(every) / len(self.train) < end + LATE
            else self.train
        )
        model = self._fitted(taken, table, rows)
        if len(rows) > len(self.train) and self._is_worse(model, taken, table):
            rows, model = self.train, self._fitted(taken, table, self.train)
        model.half_widths_, model.log_target_ = {}, self.rounds.log
        if table.regression:
            pair = (self.truth, self.predicted[taken.family].values)
            truth, predicted = (np.log(part) for part in pair) if self.rounds.log else pair
            model.half_widths_ = half_widths(truth - predicted)
        return model, len(rows)

    def _fitted(self, taken: Candidate, table: LabelledTable, rows: Any) -> Model:
        model = pipeline_of(taken, self.rounds, regression=table.regression)
        return model.fit(table.X.iloc[rows], table.y[rows])  # type: ignore[no-any-return]

    def _is_worse(self, model: Model, taken: Candidate, table: LabelledTable) -> bool:
        metric, unseen = self.problem.metric, self.losses[taken.family]
        seen = loss_of(metric, model, table.X.iloc[self.test], table.y[self.test])
        return difference(seen, unseen, metric, self.groups).verdict == "worse"


def pipeline_of(candidate: Candidate, rounds: Rounds, *, regression: bool) -> Model:
    """Return the model of a candidate, not fitted."""
    built = [_estimator(part, rounds) for part in candidate.parts]
    estimator: Any = built[0]
    if candidate.members:
        voting = VotingRegressor if regression else VotingClassifier
        keys = {} if regression else {"voting": "soft"}
        weights = [weight for _, weight in candidate.members]
        names = [f"m{number}" for number in range(len(built))]
        estimator = voting(list(zip(names, built, strict=True)), weights=weights, **keys)
    if candidate.weights:
        estimator = WeightedClasses(estimator, candidate.weights)
    if rounds.log:
        estimator = TransformedTargetRegressor(estimator, func=np.log, inverse_func=np.exp)
    return Model([("prepare", Preparation()), ("predict", clone(estimator))])


def _estimator(part: Candidate, rounds: Rounds) -> Any:
    """Return the estimator of prepared rows that a candidate stands for, not fitted."""
    setting, steps = part.setting, []
    assert setting is not None
    if setting.basis:
        scaling, roots = rounds.metrics[setting.basis]
        steps = [SCALERS[scaling](), InMetric(mean_root(roots))]
    elif setting.scaling != "none":
        steps = [SCALERS[setting.scaling]()]
    model = plugins.load_class(setting.estimator)(**setting.parameters)
    return make_pipeline(*steps, model) if steps else model


def mean_root(roots: Sequence[Array]) -> Array:
    """Return the root of the mean of the metrics of all splits."""
    if len(roots) == 1:
        return roots[0]
    if all(root.ndim == 1 for root in roots):
        return np.asarray(np.sqrt(np.mean(np.square(roots), axis=0)))
    full = [np.diag(root) if root.ndim == 1 else root for root in roots]
    values, vectors = np.linalg.eigh(np.mean([root @ root for root in full], axis=0))
    return np.asarray((vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T)


def holds_rows(candidate: Candidate) -> bool:
    """Tell whether a candidate holds training rows: landmarks."""
    setting = candidate.setting
    return bool(
        setting and setting.M and setting.parameters["features"] not in ("frequencies", "trained")
    )
