"""The search within a budget: cheap contenders first, then kernels on ever more landmarks.

All that is chosen is chosen on rows that its model was not fitted on: a fifth of the training rows,
or of few rows five folds. What looks at the target (a learnt metric, a calibration's fit) is fitted
without these rows too. `rfbench.choosing` then measures the finalists on rows held out from all of
it.
"""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import optimize
from sklearn.base import BaseEstimator, clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from rfbench.arrays import Array
from rfbench.choosing import menu as menus
from rfbench.choosing.losses import Loss, Predicted, difference, joined, loss, mean
from rfbench.choosing.menu import Menu
from rfbench.choosing.parts import (
    FeatureClassifier,
    FeatureRegressor,
    WeightedClasses,
    coded,
    fitted_link,
    linked,
)
from rfbench.datasets.dataset import Dataset
from rfbench.datasets.preparation import Preparation
from rfbench.datasets.scaling import RankScaler, SmoothClipScaler
from rfbench.datasets.split import in_time, split_rows
from rfbench.errors import ConfigError
from rfbench.memory import free_bytes
from rfbench.samplers import RKS, Nystroem, VariableProjection
from rfbench.samplers.metric import ONE_THREAD, LearnedMetric
from rfbench.solvers.folds import whole_groups

CONSTANT, LINEAR, BOOSTING, FEATURES, BLEND = "constant", "linear", "boosting", "features", "blend"
VALIDATION, FOLDS = 0.2, 3
FOLDED_ROWS = 2_000  # up to so many training rows there are folds
ALPHAS = [10.0**power for power in range(-7, 2)]
SCALERS = {"rank": RankScaler, "robust": SmoothClipScaler}
# The time of a fit is taken to grow like M (M + LINEAR_M) (rows + SOLVED M): up to so many features
# the kernel's values take longer than their products; the products' system counts as more rows.
LINEAR_M, SOLVED = 1_000, 8
GROWTH, GAIN = 2.0, 0.995  # M grows by this factor while the loss falls below this share
ALL_ROWS = 4 / 3  # of the training rows
CLOSE = 1.01  # of the smallest loss: as good
NEAR = 1.1  # of the smallest loss: a model that may still be taken
FAR = 1.5  # of the smallest loss at few landmarks: more of them are not tried
STEP = 1.4  # of the bandwidth, at the middle number of landmarks
SMALL_ROWS, MIDDLE_ROWS = 3_000, 10_000  # rows that small and middle models are compared on
DRAWS = 3  # of the features of close candidates
METRIC_ROWS = 4_500  # that a metric is learnt from
METRIC_LANDMARKS = 300, 600  # the best metric once more: it sees weaker directions
FINER = 2.1  # times as long as that takes
TRAINED_ROWS = 6_000  # rows that frequencies are trained on
TRAINED_FITS = 10  # what that takes, in fits of small features
MEMBERS, LEAST_WEIGHT = 6, 0.05  # of an average
SUM_TO_ONE = 1e3  # how much the weights' sum counts, relative to all rows
# Of the time that is left then: what the stages may take, so that each has its turn.
SMALL_SHARE, METRIC_SHARE, FINER_SHARE = 0.3, 0.3, 0.2
MIDDLE_SHARE, BOOSTING_SHARE = 0.5, 0.2
PROBED, PROBED_COLUMNS = 5, 200  # trees of boosting, and columns, that say what a fit takes
GRAMS = 6  # matrices of M x M that a fit of features holds at its peak


@dataclass(frozen=True)
class LearningProblem:
    """The rows that choose and train."""

    X: pd.DataFrame  # of shape (n, columns), as it was read
    y: NDArray[Any]  # numbers (float64) or class codes 0 .. K-1 (int64)
    n_classes: int  # 0 of a regression
    groups: NDArray[np.int64] | None
    metric: str
    seed: int
    time: Array | None = None  # when the rows are: the last ones are held out

    def split(
        self, share: float, *, most: int | None = None, folds: int = 1
    ) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Return numbers of rows to fit and to predict: one split, or so many folds.

        Whole groups stay together; the classes' shares are kept where each has rows enough. Rows
        with times are predicted by earlier ones. ConfigError if there are none.
        """
        n, y, groups = len(self.y), self.y, self.groups
        size = max(1, min(round(share * n), n if most is None else most))
        if self.time is not None:
            return self._split_in_time(size, folds)
        counts = np.bincount(y) if self.n_classes else np.zeros(0, dtype=np.int64)
        if folds > 1 and (groups is None or len(np.unique(groups)) >= folds):
            codes = y if self.n_classes else None
            return _folds(np.arange(n) if groups is None else groups, codes, folds, self.seed)
        rule: dict[str, Any] = {"test_size": size}
        if groups is not None:
            rule = {"leave_groups": share}
        elif len(counts) and counts.min() >= 2:
            rule = {"stratified": max(size, self.n_classes)}
        task = "multiclass" if self.n_classes else "regression"
        rows = Dataset("the table", self.X, y, task, (), None, groups, "")
        return [split_rows(rows, rule, np.random.default_rng(self.seed))]

    def _split_in_time(
        self, size: int, folds: int
    ) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Return the last rows, or the last folds, each with all rows before it."""
        parts = [
            (fit, held)
            for fit, held in in_time(np.asarray(self.time), size, folds)
            if len(held) and len(np.unique(self.y[fit])) >= min(2, self.n_classes or 1)
        ]
        if not parts:
            raise ConfigError(
                "The rows cannot be parted by time.",
                "Too many have the same time, or those of one class all come first.",
                "Name another column of times, or none.",
            )
        return parts

    def take(self, rows: NDArray[np.int64]) -> LearningProblem:
        """Return some of the rows."""
        groups = None if self.groups is None else self.groups[rows]
        time = None if self.time is None else self.time[rows]
        return replace(self, X=self.X.iloc[rows], y=self.y[rows], groups=groups, time=time)


@dataclass(frozen=True, eq=False)
class Candidate:
    """A model with everything fixed, and what it said of the rows that choose."""

    label: str
    family: str
    estimator: BaseEstimator | None  # of prepared rows, not fitted; None of an average
    scores: Array  # of the rows that choose: numbers or probabilities, shape (n, k)
    loss: Loss
    # The log-loss of classes, else the loss: what tells apart those that are close in the loss.
    fine: float
    weights: tuple[float, ...] = ()  # of the classes, where the decision is moved
    M: int = 0  # features
    seconds: float = 0.0  # of a fit on the rows of one split
    before: float = 0.0  # of these, for a metric and other steps before the features
    took: float = 0.0  # seconds of a split in the search, with all penalties, on `rows` of its rows
    rows: int = 1
    n_bytes: int = 0
    members: tuple[tuple[Candidate, float], ...] = ()  # of an average

    @property
    def parts(self) -> list[Candidate]:
        """The models that are fitted: those of an average, or this one."""
        return [member for member, _ in self.members] or [self]


@dataclass(frozen=True)
class Recipe:
    """What a kernel's features are made of."""

    scaling: str
    kernel: str
    factor: float  # of the median distance
    metric: str | None = None  # one of the menu's, learnt; None: distances as they are
    metric_landmarks: int = METRIC_LANDMARKS[0]  # that it is learnt with


@dataclass
class Search:
    """Candidates for one problem, as many as the time allows."""

    problem: LearningProblem
    deadline: float  # in the seconds of `time.monotonic`
    allow_rows: bool = True  # models may hold training rows
    largest: float = np.inf  # bytes of a model
    log: bool = False  # the logarithm of the target is learnt
    log_tried: bool = False
    on_candidate: Callable[[Candidate], None] | None = None
    menu: Menu = field(default_factory=lambda: menus.shipped())
    candidates: list[Candidate] = field(default_factory=list)
    # What budget or memory cut off: ``boosting``, ``metric``, ``size``, ``memory``; or nothing.
    stopped: str = ""
    _stage_end: float = np.inf
    _arrays: dict[Any, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.began = time.monotonic()

    # The rows that choose.

    @cached_property
    def splits(self) -> list[tuple[Array, Array, NDArray[Any], NDArray[Any]]]:
        """Prepared rows to fit and to predict, with their targets."""
        problem = self.problem
        folds = FOLDS if len(problem.y) <= FOLDED_ROWS else 1
        made = []
        self.held: list[NDArray[np.int64]] = []
        for fit, held in problem.split(VALIDATION, folds=folds):
            preparation = Preparation().fit(problem.X.iloc[fit])
            X, X_held = (
                np.asarray(preparation.transform(problem.X.iloc[rows])) for rows in (fit, held)
            )
            made.append((X, X_held, self.target[fit], self.target[held]))
            self.held.append(held)
        return made

    @cached_property
    def target(self) -> NDArray[Any]:
        """What is learnt: class codes, numbers or their logarithms."""
        return np.log(self.problem.y) if self.log else self.problem.y

    @cached_property
    def truth(self) -> NDArray[Any]:
        """The target of the rows that choose, split after split."""
        self.splits  # noqa: B018  names the rows
        return self.problem.y[np.concatenate(self.held)]

    @property
    def groups(self) -> NDArray[np.int64] | None:
        """The groups of the rows that choose."""
        groups = self.problem.groups
        return None if groups is None else groups[np.concatenate(self.held)]

    def predicted(self, scores: Array, weights: tuple[float, ...] = ()) -> Predicted:
        """Return what scores say: of a regression the numbers themselves."""
        if self.problem.n_classes:
            decided = scores * np.asarray(weights) if weights else scores
            return Predicted(decided.argmax(axis=1), scores)
        return Predicted(np.exp(scores[:, 0]) if self.log else scores[:, 0])

    def left(self, more: float = 0.0) -> float:
        """Return the seconds until the deadline, less those for the fits that follow.

        They follow on all training rows for the best of each kind, and on all rows for the one that
        is taken: one of those that are not far from the best. `more` are the seconds of a fit of
        features that is planned, in the place of the best ones.
        """
        best = self.best_of_families().values()
        least = min((c.loss.value for c in best), default=0.0)
        near = [c for c in best if c.loss.value <= NEAR * least]
        parts = {part for c in best for part in c.parts}
        replaced = max((p.seconds for p in parts if p.family == FEATURES), default=0.0)
        first = sum(part.seconds for part in parts) + max(0.0, more - replaced)
        last = max([*(sum(part.seconds for part in c.parts) for c in near), more], default=0.0)
        larger = len(self.problem.y) / len(self.splits[0][0])  # than the rows of a split
        return self.deadline - time.monotonic() - larger * (first + ALL_ROWS * last)

    # Candidates.

    def add(self, label: str, family: str, scores: Array, **keys: Any) -> Candidate:
        """Add a candidate from its scores of the rows that choose."""
        return self._added(self._judged(label, family, scores, **keys))

    def _added(self, candidate: Candidate) -> Candidate:
        self.candidates.append(candidate)
        if self.on_candidate is not None:
            self.on_candidate(candidate)
        return candidate

    def _judged(self, label: str, family: str, scores: Array, **keys: Any) -> Candidate:
        weights = class_weights(self.problem.metric, self.truth, scores, self.problem.n_classes)
        value = self._loss(self.predicted(scores, weights))
        fine = value.value
        if self.problem.n_classes:
            fine = loss("log-loss", self.truth, self.predicted(scores)).value
        keys |= {"scores": scores, "loss": value, "fine": fine, "weights": weights}
        return Candidate(label, family, **keys)

    def _loss(self, predicted: Predicted) -> Loss:
        """Return the loss on the rows that choose.

        The AUC ranks rows: those of a fold, whose scores are of one model, and not of all folds.
        """
        metric, probabilities = self.problem.metric, predicted.probabilities
        if metric != "auc" or probabilities is None:
            return loss(metric, self.truth, predicted)
        ends = np.cumsum([len(rows) for rows in self.held])[:-1]
        parts = (np.split(each, ends) for each in (self.truth, predicted.values, probabilities))
        return joined([loss(metric, y, Predicted(v, p)) for y, v, p in zip(*parts, strict=True)])

    def fit(self, label: str, family: str, estimator: Any) -> Candidate:
        """Fit an estimator of scikit-learn on every split, and add it."""
        splits, parts = self.splits, []
        begun = time.monotonic()
        for X, X_held, y, _ in splits:
            fitted = clone(estimator).fit(X, y)
            parts.append(scores_of(fitted, X_held, self.problem.n_classes))
        seconds = time.monotonic() - begun
        size = len(pickle.dumps(fitted))
        return self.add(
            label,
            family,
            np.vstack(parts),
            estimator=estimator,
            seconds=seconds / len(parts),
            n_bytes=size,
        )

    def kernel(self, recipe: Recipe, M: int, rows: int, draw: int = 0) -> Candidate:
        """Fit features of a kernel for all penalties, and return the best."""
        sampler = self.sampler(recipe, M, draw)
        return self._features(recipe, sampler, rows, f"{self._name(recipe)}, M = {M}")

    def sampler(self, recipe: Recipe, M: int, draw: int = 0) -> Any:
        """Return landmarks, or random frequencies where no rows may be held."""
        kind: Any = Nystroem if self.allow_rows else RKS
        own = {"landmarks": self.menu.landmarks.kind} if self.allow_rows else {}
        return kind(
            M,
            **own,
            kernel=recipe.kernel,
            bandwidth=f"{recipe.factor:.4g}*median",
            random_state=self.problem.seed + draw,
        )

    def _name(self, recipe: Recipe) -> str:
        kind = "Nystroem" if self.allow_rows else "Fourier features"
        metric = "" if recipe.metric is None else f", {recipe.metric} metric"
        return f"{kind}, {recipe.kernel} kernel, {recipe.scaling}{metric}"

    def _features(self, recipe: Recipe, sampler: Any, rows: int, label: str) -> Candidate:
        K, M = self.problem.n_classes, sampler.n_components
        build = FeatureClassifier if K else FeatureRegressor
        paths, size, seconds, took = [], 0, 0.0, 0.0
        for number, (X, _, y, _) in enumerate(self.splits):
            Z, Z_held = self.transformed(number, recipe)
            begun = time.monotonic()
            some = _some(len(X), rows)
            fitted = build(sampler)
            Y = coded(y[some], K) if K else y[some][:, None].astype(float)
            with threadpool_limits(1 if M <= ONE_THREAD else None):
                coefs = fitted.fit_path(Z[some], Y, ALPHAS)
            seconds += _cost(M, len(X)) / _cost(M, len(Y)) * (time.monotonic() - begun)
            paths.append(fitted.scores_path(Z_held, coefs))
            fitted.coef_ = coefs[0]
            size = max(size, len(pickle.dumps(fitted)))
            took += time.monotonic() - begun
        scores = np.concatenate(paths, axis=1)
        held = np.concatenate([part[3] for part in self.splits])
        best = _best_alpha(scores, coded(held, K) if K else held[:, None], held if K else None)
        chosen, alpha = scores[best], ALPHAS[best]
        if K:
            link = fitted_link(chosen, held)
            estimator: Any = FeatureClassifier(sampler, alpha=alpha, link=link)
            chosen = linked(chosen, link)
        else:
            low, high = self.target.min(), self.target.max()
            estimator, chosen = FeatureRegressor(sampler, alpha=alpha), np.clip(chosen, low, high)
        steps = [made for key, made in self._arrays.items() if _made_for(key, recipe)]
        before = sum(seconds for _, _, seconds, _ in steps)
        size += sum(n_bytes for *_, n_bytes in steps) // len(self.splits)
        return self._judged(
            label,
            FEATURES,
            chosen,
            estimator=make_pipeline(*self.steps(recipe), estimator),
            M=M,
            seconds=(seconds + before) / len(self.splits),
            before=before / len(self.splits),
            took=took / len(self.splits),
            rows=min(rows, len(X)),
            n_bytes=size,
        )

    def steps(self, recipe: Recipe) -> list[Any]:
        """Return the transformers before the features."""
        steps: list[Any] = [SCALERS[recipe.scaling]()]
        if recipe.metric is not None:
            steps.append(self.metric(recipe))
        return steps

    def metric(self, recipe: Recipe) -> Any:
        """Return the metric to be learnt with a kernel."""
        assert recipe.metric is not None
        return LearnedMetric(
            kind=recipe.metric,
            kernel=recipe.kernel,
            rounds=self.menu.rounds,
            early_stopping=True,
            n_rows=METRIC_ROWS,
            n_landmarks=recipe.metric_landmarks,
            random_state=self.problem.seed,
        )

    def transformed(self, number: int, recipe: Recipe) -> tuple[Array, Array]:
        """Return the rows of a split, scaled and in the metric, which is learnt without the held.

        They are made once.
        """
        key = (number, recipe.scaling, *_learnt(recipe))
        if key not in self._arrays:
            begun = time.monotonic()
            X, X_held, y, _ = self.splits[number]
            if recipe.metric is None:
                step: Any = SCALERS[recipe.scaling]()
            else:
                X, X_held = self.transformed(number, replace(recipe, metric=None))
                step = self.metric(recipe)
            step.fit(X, y)
            made = step.transform(X), step.transform(X_held)
            self._arrays[key] = *made, time.monotonic() - begun, len(pickle.dumps(step))
        Z, Z_held, *_ = self._arrays[key]
        return Z, Z_held

    # The stages.

    def run(self) -> None:
        """Search until there is no time, or nothing left to try."""
        if not self.candidates:
            self.simple()
        if all(c.family != BOOSTING for c in self.candidates):
            self.boost()
        first = self._compare_small()
        self._compare_metrics(first)
        middle = self._compare_middle(first)
        self._finer(middle)
        self.trained()
        self.boost_more()
        self._draw_again(self._grow(middle))
        self.average()

    def simple(self) -> None:
        """Add the constant and the linear model, its penalty chosen.

        Raises ConfigError where not even the constant is small enough.
        """
        if self.problem.n_classes:
            label, constant = "the largest class", DummyClassifier(strategy="prior")
        else:
            strategy = "median" if self.problem.metric == "mae" else "mean"
            label, constant = f"the {strategy}", DummyRegressor(strategy=strategy)
        n_bytes = self.fit(label, CONSTANT, constant).n_bytes
        if n_bytes > self.largest:
            raise ConfigError(
                f"No model is as small as {self.largest:g} bytes.",
                f"The constant, the smallest of all, has {n_bytes:,}.",
                "Allow a larger model, of 100 kB, say.",
            )
        if self.problem.n_classes:
            for C in (1.0, 0.03, 30.0):
                if C != 1.0 and self.left() < 3 * self.candidates[-1].seconds:
                    break
                linear = LogisticRegression(C=C, max_iter=300)
                self.fit("logistic regression", LINEAR, make_pipeline(StandardScaler(), linear))
        else:
            ridge = RidgeCV(alphas=np.logspace(-3, 5, 17))
            self.fit("ridge regression", LINEAR, make_pipeline(StandardScaler(), ridge))

    def boost(self) -> None:
        """Add boosting at scikit-learn's defaults."""
        # A fit cannot be interrupted: the first trees say what a hundred take, and of a wide table
        # the first columns what all of them do.
        boosting = self._boosting({})
        X, _, y, _ = self.splits[0]
        probed = X[:, :PROBED_COLUMNS]
        moments = [time.monotonic()]
        for trees in (1, 1 + PROBED):
            clone(boosting).set_params(max_iter=trees).fit(probed, y)
            moments.append(time.monotonic())
        first, more = np.diff(moments) * X.shape[1] / probed.shape[1]
        each = first + max(0.0, more - first) * boosting.max_iter / PROBED
        if each * len(self.splits) > self.left(each):
            self.stopped = "boosting"
        else:
            self.fit("boosting", BOOSTING, boosting)

    def boost_more(self) -> None:
        """Add other settings of boosting, while they take a small share of the time."""
        if all(c.family != BOOSTING for c in self.candidates):
            return
        variants: list[dict[str, Any]] = [dict(settings) for settings in self.menu.boosting]
        if self.problem.metric == "mae":
            variants.insert(0, {"loss": "absolute_error"})
        allowed = BOOSTING_SHARE * (self.deadline - self.began)
        for variant in variants:
            done = [c for c in self.candidates if c.family == BOOSTING]
            rate = max(c.seconds / _leaves(c.estimator) for c in done)
            boosting = self._boosting(variant)
            needed = rate * _leaves(boosting) * len(self.splits)
            if needed > allowed or self.left() < 4 * needed:
                continue
            allowed -= needed
            settings = ", ".join(f"{key} {value}" for key, value in variant.items())
            self.fit(f"boosting ({settings})", BOOSTING, boosting)

    def _boosting(self, settings: dict[str, Any]) -> Any:
        kind = (
            HistGradientBoostingClassifier
            if self.problem.n_classes
            else HistGradientBoostingRegressor
        )
        return kind(random_state=self.problem.seed, **settings)

    def _compare_small(self) -> dict[Recipe, Candidate]:
        """Compare scalings, kernels and bandwidths at few landmarks."""
        results: dict[Recipe, Candidate] = {}
        self._begin(SMALL_SHARE)
        for position in range(3):
            for kernel, factors in self.menu.kernels.items():
                for scaling in self.menu.scalings:
                    recipe = Recipe(scaling, kernel, factors[position])
                    self._try(recipe, self.menu.landmarks.small, SMALL_ROWS, results)
        return results

    def _compare_metrics(self, results: dict[Recipe, Candidate]) -> None:
        """Compare learnt metrics for the kernels near the best one, while they gain.

        The best one comes first. The best metric is seldom that of a kernel that is far behind
        without one, and where it gains nothing for the best kernel, it seldom does for others.
        """
        if not results:
            return
        self._begin(METRIC_SHARE)
        leading = self._leading(results, len(results))
        least = results[leading[0]].loss.value
        near = [recipe for recipe in leading if results[recipe].loss.value <= NEAR * least]
        for recipe in near:
            tried = [
                self._try(each, self.menu.landmarks.small, SMALL_ROWS, results)
                for each in self._with_metrics(recipe)
            ]
            if None in tried:
                self.stopped = self.stopped or "metric"
                break
            if min(c.loss.value for c in results.values()) > GAIN * least:
                break

    def _with_metrics(self, recipe: Recipe) -> Iterator[Recipe]:
        """Yield a recipe with each metric, at its own bandwidth and the first two."""
        for metric in self.menu.metrics:
            for factor in sorted({recipe.factor, *self.menu.kernels[recipe.kernel][:2]}):
                yield replace(recipe, factor=factor, metric=metric)

    def _compare_middle(self, results: dict[Recipe, Candidate]) -> dict[Recipe, Candidate]:
        """Compare the best recipes at more landmarks, at larger bandwidths until it is worse."""
        self._begin(MIDDLE_SHARE)
        best: dict[Recipe, Candidate] = {}
        least = min((c.loss.value for c in results.values()), default=0.0)
        for recipe in self._leading(results, 4):
            last, before = np.inf, results[recipe]
            if before.loss.value > FAR * least:
                break
            while candidate := self._try(
                recipe, self.menu.landmarks.middle, MIDDLE_ROWS, best, before=before
            ):
                if not candidate.loss.value < last:
                    break
                last = candidate.loss.value
                recipe = replace(recipe, factor=STEP * recipe.factor)
        return best

    def _finer(self, results: dict[Recipe, Candidate]) -> None:
        """Learn the metric of the best recipe with more landmarks."""
        recipe = next(iter(self._leading(results, 1)), None)
        if recipe is None or recipe.metric is None:
            return
        self._begin(FINER_SHARE)
        best, seconds = results[recipe], FINER * results[recipe].before
        left = min(
            self.left(best.seconds - best.before + seconds), self._stage_end - time.monotonic()
        )
        finer = replace(recipe, metric_landmarks=METRIC_LANDMARKS[1])
        if seconds * len(self.splits) > left or not self._try(finer, best.M, best.rows, results):
            self.stopped = self.stopped or "metric"

    def _grow(self, results: dict[Recipe, Candidate]) -> dict[Recipe, Candidate]:
        """Take ever more landmarks for the best recipes, as long as each of them gains by it.

        Return each with the number of landmarks at which it is best.
        """
        self._begin(1.0)
        best = {recipe: results[recipe] for recipe in self._leading(results, 3)}
        alive = list(best)
        while alive:
            for recipe in list(alive):
                before, after = best[recipe], None
                M = int(GROWTH * before.M)
                if len(self.splits[0][0]) > before.M and self.menu.landmarks.largest >= M:
                    after = self._try(recipe, M, len(self.problem.y), {}, before=before)
                    if after is None:
                        self.stopped = self.stopped or "size"
                if after is None or after.loss.value > GAIN * before.loss.value:
                    alive.remove(recipe)
                if after is not None and after.loss.value < before.loss.value:
                    best[recipe] = after
        return best

    def _draw_again(self, results: dict[Recipe, Candidate]) -> None:
        """Judge close candidates by the mean over several draws, so that no lucky one decides."""
        least = min((c.loss.value for c in results.values()), default=0.0)
        close = [recipe for recipe, c in results.items() if c.loss.value <= NEAR * least]
        if len(close) < 2:
            return
        n = len(self.splits[0][0])
        drawn = {recipe: [results[recipe]] for recipe in close if n > results[recipe].M}
        kept = sum(results[recipe].seconds for recipe in close)  # for an average of them
        for draw in range(1, DRAWS):
            for recipe, draws in drawn.items():
                first = draws[0]
                if first.took * len(self.splits) < self.left(kept):
                    draws.append(self.kernel(recipe, first.M, first.rows, draw))
        for draws in drawn.values():
            self.candidates[self.candidates.index(draws[0])] = replace(
                draws[0],
                loss=mean([each.loss for each in draws]),
                fine=float(np.mean([each.fine for each in draws])),
            )

    def _begin(self, share: float) -> None:
        """Begin a stage, which may take a share of the time that is left."""
        self._stage_end = time.monotonic() + share * self.left()

    def _leading(self, results: dict[Recipe, Candidate], count: int) -> list[Recipe]:
        """Return the best recipes, one per scaling and kernel."""
        ranked = sorted(results, key=lambda recipe: results[recipe].loss.value)
        first: dict[tuple[str, str], Recipe] = {}
        for recipe in ranked:
            first.setdefault((recipe.scaling, recipe.kernel), recipe)
        return list(first.values())[:count]

    def _try(
        self,
        recipe: Recipe,
        M: int,
        rows: int,
        results: dict[Recipe, Candidate],
        before: Candidate | None = None,
    ) -> Candidate | None:
        """Fit features where there is time for them and for what follows; None: there is not."""
        n = len(self.splits[0][0])
        M = min(M, n)
        width = self.splits[0][0].shape[1] + max(1, self.problem.n_classes)
        if 8 * M * width > self.largest:
            M = int(self.largest / (8 * width))
            if M < 10:
                return None
        if before is not None and before.M >= M:
            return None
        scaled = sum(X.nbytes + X_held.nbytes for X, X_held, *_ in self.splits)
        if free_bytes() < GRAMS * 8 * M**2 + scaled:
            self.stopped = self.stopped or "memory"
            return None
        needed, again = self._needed(M, rows, before)
        if needed > min(self.left(again), self._stage_end - time.monotonic()):
            return None
        results[recipe] = candidate = self._added(self.kernel(recipe, M, rows))
        return candidate

    def _needed(self, M: int, rows: int, before: Candidate | None) -> tuple[float, float]:
        """Return the seconds that features take on every split, and those of a fit that follows."""
        done = before or max(
            (c for c in self.candidates if c.family == FEATURES), key=lambda c: c.M, default=None
        )
        if done is None:
            return 0.0, 0.0
        n, own = len(self.splits[0][0]), _cost(done.M, done.rows)
        needed = _cost(M, min(rows, n)) / own * done.took * len(self.splits)
        again = _cost(M, n) / _cost(done.M, n) * (done.seconds - done.before) + done.before
        return needed, again if M > done.M else 0.0

    def trained(self) -> None:
        """Add a few trained frequencies: the smallest model, which holds no rows."""
        ranked = [c for c in self.candidates if c.family == FEATURES]
        if not ranked or not self.menu.trained:
            return
        n = len(self.splits[0][0])
        M, best = min(self.menu.trained, n), min(ranked, key=lambda c: c.loss.value)
        width = self.splits[0][0].shape[1] + 1 + max(1, self.problem.n_classes)
        needed = TRAINED_FITS * (best.seconds - best.before) * min(1.0, TRAINED_ROWS / n)
        if 8 * M * width > self.largest or needed * (len(self.splits) + 2) > 0.3 * self.left():
            return
        build: Any = VariableProjection
        sampler = build(
            M,
            bandwidth="2*median",
            random_state=self.problem.seed,
            score_rows=min(TRAINED_ROWS, n),
        )
        scaling = next(name for name in SCALERS if name in best.label)
        recipe = Recipe(scaling, "gaussian", 1.0)
        label = f"varpro, {scaling}, M = {M}"
        self._added(self._features(recipe, sampler, len(self.problem.y), label))

    def average(self) -> None:
        """Add averages by non-negative least squares: of features, and of them with the rest."""
        features = self._members([c for c in self.candidates if c.family == FEATURES])[:MEMBERS]
        # Every member is fitted again, and the best one is counted already.
        while len(features) > 1 and self.left(sum(c.seconds for c in features[1:])) < 0:
            features.pop()
        self._average(features, FEATURES, "average of")
        others = [c for f, c in self.best_of_families().items() if f in (BOOSTING, LINEAR)]
        self._average([*features, *others], BLEND, "blend of")

    def _members(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        """Return the best candidate of each scaling and kernel, the best one first."""
        first: dict[str, Candidate] = {}
        for candidate in sorted(self._allowed(candidates), key=lambda c: c.loss.value):
            first.setdefault(candidate.label.partition(", M")[0], candidate)
        return list(first.values())

    def _average(self, members: Sequence[Candidate], family: str, label: str) -> None:
        K = self.problem.n_classes
        held = np.concatenate([part[3] for part in self.splits])
        if min(len(members), len(held)) < 2:
            return
        target = np.eye(K)[held] if K else held[:, None]
        every = np.stack([c.scores for c in members], axis=2)  # of shape (n, k, members)
        weights = _weights(every, target)
        # Weights judged by the rows that they were fitted on look too good: so each half of the
        # rows is averaged with the weights of the other one.
        scores = np.empty_like(members[0].scores)
        for fit, judged in self._halves(len(held)):
            scores[judged] = every[judged] @ _weights(every[fit], target[fit])
        rounded = tuple(
            (c, float(f"{w:.3g}")) for c, w in zip(members, weights, strict=True) if w > 0
        )
        if len(rounded) < 2:
            return
        self.add(
            f"{label} {len(rounded)}",
            family,
            scores,
            estimator=None,
            M=sum(c.M for c, _ in rounded),
            seconds=0.0,
            n_bytes=sum(c.n_bytes for c, _ in rounded),
            members=rounded,
        )

    def _halves(self, n: int) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Return two halves of the rows that choose, both ways around; whole groups."""
        groups = self.groups
        if groups is None or len(np.unique(groups)) < 2:
            groups = np.arange(n)
        return _folds(groups, None, 2, self.problem.seed)

    # What was found.

    def _allowed(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        return [c for c in candidates if c.n_bytes <= self.largest]

    def too_large(self) -> dict[str, int]:
        """Return the best models of all that are larger than allowed, and their bytes.

        One of each kind of which none is allowed, or of which a larger one is better.
        """
        best: dict[str, Candidate] = {}
        for candidate in sorted(self.candidates, key=lambda c: c.loss.value):
            best.setdefault(candidate.family, candidate)
        return {c.label: c.n_bytes for c in best.values() if c.n_bytes > self.largest}

    def best_of_families(self) -> dict[str, Candidate]:
        """Return the best candidate of each family; the first of equal ones."""
        families: dict[str, list[Candidate]] = {}
        for candidate in self._allowed(self.candidates):
            families.setdefault(candidate.family, []).append(candidate)
        # An average costs more at each prediction: it is taken where no single one is close.
        return {
            family: min(self.close(candidates), key=lambda c: (len(c.members), c.fine))
            for family, candidates in families.items()
        }

    def close(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        """Return the candidates that are as good as the best: within a hundredth of its loss.

        The loss of classes is a number of rows: there those within half a standard error are
        close, if their log-loss is within a hundredth of the smallest of them.
        """
        best = min(candidates, key=lambda c: c.loss.value)
        reach = (CLOSE - 1) * best.loss.value
        if self.problem.n_classes:
            reach = max(reach, 0.5 * best.loss.standard_error(self.groups))
        near = [c for c in candidates if c.loss.value <= best.loss.value + reach]
        least = min(c.fine for c in near)
        return [c for c in near if c.fine <= CLOSE * least]


def _leaves(boosting: Any) -> int:
    """Return the leaves of all trees, per class: what a fit takes is in proportion."""
    return int(boosting.max_iter * boosting.max_leaf_nodes)


def _cost(M: int, rows: int) -> float:
    """Return the seconds of a fit of M features on so many rows, in proportion."""
    return float(M * (M + LINEAR_M) * (rows + SOLVED * M))


def scores_of(fitted: Any, X: Any, n_classes: int) -> Array:
    """Return numbers, shape (n, 1), or the probabilities of all classes, shape (n, K).

    A class that the model has not seen has the probability 0.
    """
    if not n_classes:
        return np.asarray(fitted.predict(X), dtype=float)[:, None]
    probabilities = fitted.predict_proba(X)
    if probabilities.shape[1] == n_classes:
        return np.asarray(probabilities)
    every = np.zeros((len(probabilities), n_classes))
    every[:, np.asarray(fitted.classes_, dtype=int)] = probabilities
    return every


def averaged(scores: Sequence[Array], weights: Sequence[float]) -> Array:
    """Return the weighted mean of scores."""
    return np.asarray(np.average(np.stack(scores), axis=0, weights=weights))


def _folds(
    groups: NDArray[Any], codes: NDArray[Any] | None, count: int, seed: int
) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Return rows to fit and to predict, fold by fold, see `rfbench.solvers.folds.whole_groups`."""
    numbers = whole_groups(groups, codes, count, seed)
    folds = range(int(numbers.max()) + 1)
    return [(np.flatnonzero(numbers != fold), np.flatnonzero(numbers == fold)) for fold in folds]


def _weights(scores: Array, target: Array) -> Array:
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


def estimator_of(candidate: Candidate, *, classes: bool, log: bool) -> Any:
    """Return the estimator of prepared rows that a candidate stands for, not fitted."""
    if candidate.members:
        voting = VotingClassifier if classes else VotingRegressor
        keys = {"voting": "soft"} if classes else {}
        members = [(f"m{i}", member.estimator) for i, (member, _) in enumerate(candidate.members)]
        estimator: Any = voting(members, weights=[w for _, w in candidate.members], **keys)
    else:
        estimator = candidate.estimator
    if candidate.weights:
        return WeightedClasses(estimator, candidate.weights)
    if log:
        return TransformedTargetRegressor(estimator, func=np.log, inverse_func=np.exp)
    return estimator


def class_weights(
    metric: str, truth: NDArray[Any], probabilities: Array, n_classes: int
) -> tuple[float, ...]:
    """Return the weights of the classes with which the decision is best for a metric.

    Of two classes the threshold is the best of a grid if it is significantly better than a half.
    Of more, the balanced error weighs each class by one over its share, and others weigh none.
    """
    if n_classes < 2 or metric not in ("error", "balanced-error"):
        return ()
    if n_classes == 2:
        grid = sorted(np.linspace(0.02, 0.98, 49).round(4).tolist(), key=lambda t: abs(t - 0.5))
        no, yes = probabilities.T
        losses = [
            loss(metric, truth, Predicted((yes * (1 - t) > no * t).astype(np.int64))) for t in grid
        ]
        best = int(np.argmin([each.value for each in losses]))
        if difference(losses[best], losses[0], metric).verdict != "better":
            return ()
        return grid[best], round(1 - grid[best], 4)
    if metric == "error":
        return ()
    shares = np.bincount(truth, minlength=n_classes) / len(truth)
    return tuple(float(f"{1 / max(share, 1 / len(truth)):.4g}") for share in shares)


def _best_alpha(scores: Array, targets: Array, codes: NDArray[Any] | None) -> int:
    """Return the penalty with the fewest wrong classes, then the smallest squared error."""
    squares = ((scores - targets) ** 2).mean(axis=(1, 2))
    if codes is None:
        return int(squares.argmin())
    decided = scores.argmax(axis=2) if scores.shape[2] > 1 else (scores[:, :, 0] > 0).astype(int)
    wrong = (decided != codes).mean(axis=1)
    # Errors are whole numbers of rows: among penalties within a standard error, the squares tell.
    least = wrong.min()
    close = wrong <= least + np.sqrt(least * (1 - least) / len(codes)) / 2
    return int(np.where(close, squares, np.inf).argmin())


def _made_for(key: tuple[Any, ...], recipe: Recipe) -> bool:
    """Tell whether transformed rows are those of a recipe, or of a step before."""
    return key[1:] in ((recipe.scaling,), (recipe.scaling, *_learnt(recipe)))


def _learnt(recipe: Recipe) -> tuple[Any, ...]:
    """Return what a recipe's metric is learnt with; nothing where none is."""
    return () if recipe.metric is None else (recipe.kernel, recipe.metric, recipe.metric_landmarks)


def _some(n: int, rows: int) -> Any:
    """Return every so-manieth row number, at most so many: the rows of a split are sorted."""
    return slice(None) if n <= rows else np.linspace(0, n - 1, rows).astype(np.int64)
