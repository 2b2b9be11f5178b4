"""Averages of what was measured, the best of each kind on the rows held out, and what is taken."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from functools import cached_property
from time import monotonic
from typing import Any

import numpy as np
from scipy import optimize

from rfbench.arrays import Array
from rfbench.choosing.losses import (
    CLASS_METRICS,
    NUMBER_METRICS,
    Difference,
    Loss,
    Predicted,
    area_above,
    difference,
    loss,
)
from rfbench.choosing.model import Model, half_widths
from rfbench.choosing.parts import SCALERS, in_metric, mean_root, pipeline_of
from rfbench.choosing.problem import LabelledTable, Sides
from rfbench.choosing.rounds import (
    BLEND,
    BOOSTING,
    CONSTANT,
    FEATURES,
    FITS,
    LINEAR,
    Candidate,
    Rounds,
)
from rfbench.choosing.table import prepared
from rfbench.solvers.folds import whole_groups

LATE = 1.0  # seconds after the deadline, at most, until the last fit ends
SIMPLEST = (LINEAR, FEATURES, BOOSTING, BLEND)
SIGNIFICANT = 0.05
MEMBERS, LEAST_WEIGHT = 6, 0.05  # of an average
SUM_TO_ONE = 1e3  # how much the weights' sum counts, relative to all rows


def average(rounds: Rounds) -> None:
    """Add averages by non-negative least squares: of features, and of them with the rest."""
    features = [c for c in rounds.candidates if c.family == FEATURES]
    members = rounds.leading(features, MEMBERS)
    # Every member is fitted again, and the best one is counted already.
    while len(members) > 1 and rounds.left(sum(c.seconds for c in members[1:])) < 0:
        members.pop()
    _average(rounds, members, FEATURES, "average of")
    best = rounds.best_of_families()
    others = [best[family] for family in (BOOSTING, LINEAR) if family in best]
    _average(rounds, [*members, *others], BLEND, "blend of")


def _average(rounds: Rounds, members: Sequence[Candidate], family: str, label: str) -> None:
    K, held = rounds.problem.n_classes, rounds.held
    if min(len(members), len(held)) < 2:
        return
    target = np.eye(K)[rounds.truth] if K else rounds.target[held][:, None]
    every = np.stack([c.scores for c in members], axis=2)  # of shape (n, k, members)
    weights = weights_of(every, target)
    # Weights judged by the rows that they were fitted on look too good: so each half of the rows
    # is averaged with the weights of the other one.
    groups = rounds.groups
    if groups is None or len(np.unique(groups)) < 2:
        groups = np.arange(len(held))
    halves = whole_groups(groups, None, 2, rounds.problem.seed)
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


class Judge:
    """The best candidates of each kind on the rows held out, each measured by a trial."""

    def __init__(self, rounds: Rounds, problem: LabelledTable, sides: Sides, end: float) -> None:
        self.rounds, self.problem, (self.train, self.test) = rounds, problem, sides
        self.truth = problem.y[self.test]
        self.groups = None if problem.groups is None else problem.groups[self.test]
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
        self.predicted = {f: self._said(candidate) for f, candidate in self.contenders.items()}
        self.losses = {f: self._loss(f, problem.metric) for f in self.contenders}

    def _measured(self, parts: Sequence[Candidate], end: float | None) -> dict[Candidate, Any]:
        """Fit candidates on the training rows, and let them predict the rows held out."""
        rounds, trials = self.rounds, []
        for part in parts:
            X, target, n = self.rows
            if part.basis:
                scaled = SCALERS[part.scaling]().fit(X[:n]).transform(X)
                X = in_metric(scaled, mean_root(rounds.metrics[part.basis]))
            trials.append((part, rounds.pack(("held out", part.basis), X, target, n)))
        results = rounds.measured(trials, "", end) if trials else []
        return {part: each for part, each in zip(parts, results, strict=True) if each is not None}

    @cached_property
    def rows(self) -> tuple[Array, Any, int]:
        """Training rows, then those held out, prepared; their target; how many train."""
        allowed = self.rounds.allow_rows
        made = prepared(self.problem.X, self.train, self.test, allow_rows=allowed)
        y = self.problem.y[np.concatenate([self.train, self.test])]
        return made, np.log(y) if self.rounds.log else y, len(self.train)

    def _said(self, candidate: Candidate) -> Predicted:
        words = "probabilities" if self.problem.n_classes else "predictions"
        members = candidate.members or ((candidate, 1.0),)
        scores = [self.fitted[member][1][words] for member, _ in members]
        weights = [weight for _, weight in members]
        return self.rounds.predicted(np.average(scores, axis=0, weights=weights))

    def _loss(self, family: str, metric: str) -> Loss:
        return loss(metric, self.truth, self.predicted[family])

    def _costs(self, candidate: Candidate) -> tuple[float, float]:
        """Return the seconds of a fit and of 1,000 predictions, as fitted here."""
        rows = [self.fitted[part][0] for part in candidate.parts]
        fit = sum(float(row[t]) for row in rows for t in FITS)
        predict = sum(float(row["t_test"]) for row in rows) / len(self.test)
        return fit, 1000 * predict

    def _against(self, family: str, other: str) -> Difference:
        return difference(self.losses[family], self.losses[other], self.problem.metric, self.groups)

    def decide(self) -> tuple[Candidate, bool, bool]:
        """Return what to take, whether the rows held out overturned it, and if nothing was learnt.

        The simplest model that is as good as the best on the validation rows, unless another is
        significantly better on the rows held out. Nothing was learnt where no model is
        significantly better there than the constant, at 5 % over all of them (Bonferroni): of
        classes by the log-loss, which shows it with fewer rows than errors do.
        """
        families = [f for f in SIMPLEST if f in self.contenders]
        level = SIGNIFICANT / max(1, len(families))
        if not any(self._learnt(f, level) for f in families):
            return self.contenders[CONSTANT], False, True
        close = self.rounds.close([self.contenders[f] for f in families])
        taken = next(f for f in families if self.contenders[f] in close)
        rivals = [f for f in families if self._against(taken, f).verdict == "worse"]
        if rivals:
            taken = min(rivals, key=lambda f: self.losses[f].value)
        return self.contenders[taken], bool(rivals), False

    def _learnt(self, family: str, level: float) -> bool:
        """Tell whether a model is better than the constant, at a level."""
        metric = "log-loss" if self.problem.n_classes else self.problem.metric
        own, constant = self._loss(family, metric), self._loss(CONSTANT, metric)
        gain = difference(own, constant, metric, self.groups)
        return gain.value < 0 and gain.p < level

    def contender(self, candidate: Candidate, taken: Candidate) -> dict[str, Any]:
        """Return the facts of a candidate on the rows held out."""
        family = candidate.family
        fit, predict = self._costs(candidate)
        metrics = CLASS_METRICS if self.problem.n_classes else NUMBER_METRICS
        others = {m: self._loss(family, m).value for m in metrics if m != self.problem.metric}
        shares = self.predicted[family].probabilities
        if shares is not None:
            others["1 - AUC"] = area_above(self.truth, shares)
        return {
            "label": candidate.label,
            "family": family,
            "M": candidate.M,  # features of kernels; 0 of other models
            "error": self.losses[family].value,
            "standard_error": self.losses[family].standard_error(self.groups),
            "others": others,  # its losses in the other metrics, and of classes 1 - AUC
            "against_taken": asdict(self._against(family, taken.family)),
            "against_constant": asdict(self._against(family, CONSTANT)),
            "fit_seconds": fit,
            "predict_seconds": predict,  # of 1,000 rows
            "holds_rows": self.rounds.allow_rows and candidate.M > 0,
        }

    def final(self, taken: Candidate, end: float) -> tuple[Model, int]:
        """Return the model that is taken, with its intervals, and how many rows it was fitted on.

        These are all rows. But a fit on more rows can go wrong where the measured one did not:
        boosting of many classes diverges on some rows and not on others. Where it is significantly
        worse on the rows held out, which it has seen, or where there is no time for it, it is
        fitted on the rows that it was measured with.
        """
        every, model = np.sort(np.concatenate([self.train, self.test])), None
        seconds = self._costs(taken)[0] * len(every) / len(self.train)
        rows = every if monotonic() + seconds < end + LATE else self.train
        model = self._fitted(taken, rows)
        if len(rows) > len(self.train) and self._is_worse(model, taken):
            rows = self.train
            model = self._fitted(taken, rows)
        model.half_widths_, model.log_target_ = {}, self.rounds.log
        if not self.problem.n_classes:
            pair = self.truth, self.predicted[taken.family].values
            truth, predicted = np.log(pair) if self.rounds.log else pair
            model.half_widths_ = half_widths(truth - predicted)
        return model, len(rows)

    def _fitted(self, taken: Candidate, rows: Any) -> Model:
        X, y = self.problem.X.iloc[rows], self.problem.labels[rows]
        fitted: Model = pipeline_of(taken, self.rounds).fit(X, y)
        return fitted

    def _is_worse(self, model: Model, taken: Candidate) -> bool:
        metric, unseen = self.problem.metric, self.losses[taken.family]
        X, y = self.problem.X.iloc[self.test], self.problem.labels[self.test]
        seen = loss_of(metric, model, X, y)
        return difference(seen, unseen, metric, self.groups).verdict == "worse"


def loss_of(metric: str, model: Any, X: Any, y: Any) -> Loss:
    """Return the loss of a fitted model, see `rfbench.choosing.losses`."""
    if metric in NUMBER_METRICS:
        return loss(metric, y, Predicted(np.asarray(model.predict(X), dtype=float)))
    codes = np.searchsorted(model.classes_, model.predict(X))
    return loss(
        metric, np.searchsorted(model.classes_, y), Predicted(codes, model.predict_proba(X))
    )
