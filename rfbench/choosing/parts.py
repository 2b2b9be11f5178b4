"""From a candidate to an estimator of scikit-learn that takes a table as it was read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import VotingClassifier, VotingRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from rfbench import plugins
from rfbench.arrays import Array
from rfbench.choosing.model import Model
from rfbench.choosing.table import preparation
from rfbench.datasets.scaling import RankScaler, SmoothClipScaler
from rfbench.samplers.metric import into

if TYPE_CHECKING:
    from rfbench.choosing.rounds import Candidate, Rounds

# By the name of the core's scaling.
SCALERS: dict[str, Any] = {
    "rank": RankScaler,
    "robust": SmoothClipScaler,
    "standard": StandardScaler,
}


def in_metric(X: Any, root: Array) -> Array:
    """Return rows of shape (n, d) times the root of a metric, of shape (d,) or (d, d)."""
    return np.asarray(into(root, np.asarray(X)))


def mean_root(roots: Sequence[Array]) -> Array:
    """Return the root of the mean of metrics that are given by their roots."""
    if all(root.ndim == 1 for root in roots):
        return np.asarray(np.sqrt(np.mean(np.square(roots), axis=0)))
    full = [np.diag(root) if root.ndim == 1 else root for root in roots]
    values, vectors = np.linalg.eigh(np.mean([root @ root for root in full], axis=0))
    return np.asarray((vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T)


class BalancedDecision(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier that takes the class with the largest probability over its share of the rows.

    Parameters
    ----------
    estimator : estimator
        A classifier with `predict_proba`.
    """

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the classifier."""
        self.estimator_ = clone(self.estimator).fit(X, y)
        self.classes_, counts = np.unique(y, return_counts=True)
        self.shares_ = counts / len(y)
        return self

    def predict_proba(self, X: Any) -> Array:
        """Return the probabilities of the classes, shape (n, K)."""
        return np.asarray(self.estimator_.predict_proba(X))

    def predict(self, X: Any) -> Any:
        """Return the class of each row, shape (n,)."""
        return self.classes_[(self.predict_proba(X) / self.shares_).argmax(axis=1)]


def pipeline_of(candidate: Candidate, rounds: Rounds) -> Model:
    """Return the model of a candidate, not fitted."""
    regression = not rounds.problem.n_classes
    built = [_estimator(part, rounds) for part in candidate.parts]
    estimator: Any = built[0]
    if candidate.members:
        voting = VotingRegressor if regression else VotingClassifier
        keys = {} if regression else {"voting": "soft"}
        weights = [weight for _, weight in candidate.members]
        names = [f"m{number}" for number in range(len(built))]
        estimator = voting(list(zip(names, built, strict=True)), weights=weights, **keys)
    if rounds.problem.metric == "balanced-error":
        estimator = BalancedDecision(estimator)
    if rounds.log:
        estimator = TransformedTargetRegressor(estimator, func=np.log, inverse_func=np.exp)
    prepare = preparation(allow_rows=rounds.allow_rows)
    return Model([("prepare", prepare), ("predict", clone(estimator))])


def _estimator(part: Candidate, rounds: Rounds) -> Any:
    """Return the estimator of prepared rows that a candidate stands for, not fitted."""
    steps: list[Any] = []
    if part.scaling != "none":
        steps.append(SCALERS[part.scaling]())
    if part.basis:
        root = mean_root(rounds.metrics[part.basis])
        steps.append(FunctionTransformer(in_metric, kw_args={"root": root}))
    return make_pipeline(*steps, plugins.load_class(part.estimator)(**part.parameters))
