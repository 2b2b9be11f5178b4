"""The parts of the models that `choose` makes beside those of scikit-learn and the core."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin, clone
from sklearn.preprocessing import StandardScaler

from rfbench.arrays import Array
from rfbench.choosing.losses import Predicted, difference, loss
from rfbench.datasets.scaling import RankScaler, SmoothClipScaler
from rfbench.samplers.metric import into

# By the name of the core's scaling.
SCALERS: dict[str, Any] = {
    "rank": RankScaler,
    "robust": SmoothClipScaler,
    "standard": StandardScaler,
}


class InMetric(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Rows in a metric that was learnt before.

    Parameters
    ----------
    root : array of shape (d,) or (d, d)
        The root of the metric.
    """

    def __init__(self, root: Any) -> None:
        self.root = root

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn nothing."""
        self.n_features_in_ = X.shape[1]
        return self

    def transform(self, X: Any) -> Array:
        """Return the rows times the root, shape (n, d)."""
        return np.asarray(into(np.asarray(self.root), X))

    def __sklearn_is_fitted__(self) -> bool:
        """Return True: there is nothing to learn."""
        return True


class WeightedClasses(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier that takes the class with the largest weight times probability.

    Parameters
    ----------
    estimator : estimator
        A classifier with `predict_proba`.
    weights : sequence of K floats
        One per class, in sorted order. Of two classes (w, 1 - w): the second from the probability
        w on.
    """

    def __init__(self, estimator: Any, weights: Sequence[float] = ()) -> None:
        self.estimator = estimator
        self.weights = weights

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the classifier."""
        self.estimator_ = clone(self.estimator).fit(X, y)
        self.classes_ = self.estimator_.classes_
        return self

    def predict_proba(self, X: Any) -> Array:
        """Return the probabilities of the classes, shape (n, K)."""
        return np.asarray(self.estimator_.predict_proba(X))

    def predict(self, X: Any) -> Any:
        """Return the class of each row, shape (n,)."""
        return self.classes_[(self.predict_proba(X) * np.asarray(self.weights)).argmax(axis=1)]


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
