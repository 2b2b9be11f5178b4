"""The parts of the models that `choose` makes: estimators of scikit-learn with fixed parameters.

What the search chooses is a parameter, so that a model is built again from what its parts print,
and fitted again on other rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Self

import numpy as np
from scipy import linalg, optimize
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.utils.validation import check_is_fitted, validate_data

from rfbench.arrays import Array
from rfbench.compute.ridge import solve_shifted

ROWS_AT_ONCE = 4096
# Added to the diagonal of the landmarks' kernel matrix, relative to its mean.
JITTER = 1e-9
SMALLEST = 1e-15  # of a probability


class FeatureRidge(BaseEstimator):  # type: ignore[misc]
    r"""Base of ridge regression on the features of a sampler.

    With features Z of n rows it minimises :math:`|Y - \bar y - Z\theta|^2 + n\alpha|\theta|^2`.
    Of landmarks S the kernel itself is taken: :math:`Z = K_{nS}` with the penalty
    :math:`n\alpha\,\theta^\top K_{SS}\theta`, the same model without the root of :math:`K_{SS}`,
    so that a prediction costs one block of the kernel. The rows are streamed.

    Parameters
    ----------
    features : estimator
        A sampler of `rfbench.samplers`.
    alpha : float
        The penalty, in the convention n alpha.

    Attributes
    ----------
    map_ : callable
        Rows to columns.
    coef_ : array of shape (n_columns, k)
    intercept_ : array of shape (k,)
    """

    def __init__(self, features: Any, alpha: float = 1e-3) -> None:
        self.features = features
        self.alpha = alpha

    def fit_path(self, X: Array, Y: Array, alphas: Sequence[float]) -> Array:
        """Fit target columns Y, shape (n, k), for each penalty; coefficients (a, n_columns, k)."""
        sampler = clone(self.features)
        getattr(sampler, "fit_landmarks", sampler.fit)(X, Y)
        self.map_, n = sampler.feature_map_, len(X)
        self.intercept_ = Y.mean(axis=0)
        gram: Any = 0.0
        moments: Any = 0.0
        for rows in _blocks(n):
            columns = self._columns(X[rows])
            gram = gram + columns.T @ columns
            moments = moments + columns.T @ (Y[rows] - self.intercept_)
        root = None
        if (landmarks := getattr(self.map_, "landmarks", None)) is not None:
            K = self.map_.kernel(landmarks, landmarks)
            K[np.diag_indices_from(K)] += JITTER * np.trace(K) / len(K)
            root = linalg.cholesky(K, lower=True)
            gram = _whitened(root, _whitened(root, gram).T)
            moments = _whitened(root, moments)
        noise, largest = len(gram) * float(np.finfo(np.float64).eps), float(np.diag(gram).max())
        penalties = n * np.asarray(alphas, dtype=np.float64)
        path, _ = solve_shifted(
            lambda work: np.copyto(work, gram.T), moments, penalties, noise, largest
        )
        if root is not None:
            for coef in path:
                coef[...] = linalg.solve_triangular(root, coef, lower=True, trans="T")
        return path

    def scores_path(self, X: Array, path: Array) -> Array:
        """Return the scores of the rows for each penalty, shape (a, n, k)."""
        a, p, k = path.shape
        flat = path.transpose(1, 0, 2).reshape(p, a * k)
        scores = np.vstack([self._columns(X[rows]) @ flat for rows in _blocks(len(X))])
        return np.asarray(scores.reshape(len(X), a, k).transpose(1, 0, 2) + self.intercept_)

    def _fit(self, X: Array, Y: Array) -> None:
        self.coef_ = self.fit_path(X, Y, [self.alpha])[0]

    def _scores(self, X: Any) -> Array:
        check_is_fitted(self, "coef_")
        X = validate_data(self, X, reset=False, dtype=np.float64)
        return np.asarray(self.scores_path(X, self.coef_[None])[0])

    def _columns(self, X: Array) -> Array:
        if hasattr(self.map_, "landmarks"):
            return np.asarray(self.map_.kernel(X, self.map_.landmarks))
        return np.asarray(self.map_.transform(X))


class FeatureRegressor(RegressorMixin, FeatureRidge):  # type: ignore[misc]
    """Ridge regression on the features of a sampler, see `FeatureRidge`.

    Predictions are clipped to the range of the training target: beyond the rows that it has seen
    the model knows nothing.
    """

    def fit(self, X: Any, y: Any) -> Self:
        """Fit rows of shape (n, d) and a target of shape (n,)."""
        X, y = validate_data(self, X, y, y_numeric=True, dtype=np.float64)
        self.range_ = float(y.min()), float(y.max())
        self._fit(X, np.asarray(y, dtype=np.float64)[:, None])
        return self

    def predict(self, X: Any) -> Array:
        """Return the predictions, shape (n,)."""
        return np.clip(self._scores(X)[:, 0], *self.range_)


class FeatureClassifier(ClassifierMixin, FeatureRidge):  # type: ignore[misc]
    """Ridge regression on coded classes (-1, 1), see `FeatureRidge`.

    Parameters
    ----------
    link : pair of floats
        Scale c and power a of the probabilities, in proportion to softplus(c score)^a of each
        class; see `fitted_link`. Scores of least squares are no logits.
    """

    def __init__(
        self, features: Any, alpha: float = 1e-3, link: tuple[float, float] = (4.0, 2.0)
    ) -> None:
        super().__init__(features, alpha)
        self.link = link

    def fit(self, X: Any, y: Any) -> Self:
        """Fit rows of shape (n, d) and labels of shape (n,)."""
        X, y = validate_data(self, X, y, dtype=np.float64)
        self.classes_, codes = np.unique(y, return_inverse=True)
        self._fit(X, coded(codes, len(self.classes_)))
        return self

    def predict_proba(self, X: Any) -> Array:
        """Return the probabilities of the classes, shape (n, K)."""
        return linked(self._scores(X), self.link)

    def predict(self, X: Any) -> Any:
        """Return the most probable class of each row, shape (n,)."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


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


def coded(codes: Any, n_classes: int) -> Array:
    """Return class codes as columns of -1 and 1: one per class, of two classes the second's."""
    columns = 2.0 * (np.asarray(codes)[:, None] == np.arange(n_classes)) - 1.0
    return np.asarray(columns[:, 1:] if n_classes == 2 else columns)


def linked(scores: Array, link: tuple[float, float]) -> Array:
    """Return probabilities, shape (n, K), in proportion to softplus(c score)^a."""
    if scores.shape[1] == 1:
        scores = np.hstack([-scores, scores])
    scale, power = link
    # In logarithms: the softplus of a very negative score is 0 in doubles.
    z = scale * scores
    logs = power * np.where(z < -30, z, np.log(np.logaddexp(0.0, np.maximum(z, -30))))
    shares = np.exp(logs - logs.max(axis=1, keepdims=True))
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def fitted_link(scores: Array, codes: Any) -> tuple[float, float]:
    """Return the scale and power with the smallest log-loss on rows that were not fitted.

    With a scale near 0 the link is the logistic function, whose slope is the product of the two.
    """
    rows = np.arange(len(codes))

    def link(point: Array) -> tuple[float, float]:
        scale, slope = np.exp(point).tolist()
        return float(f"{scale:.4g}"), float(f"{slope / scale:.4g}")

    def log_loss(point: Array) -> float:
        right = linked(scores, link(point))[rows, codes]
        return float(-np.log(np.maximum(right, SMALLEST)).mean())

    start, bounds = np.log([2.0, 6.0]), [(-3.0, 3.0), (-3.0, 6.0)]
    best = optimize.minimize(
        log_loss, start, method="Nelder-Mead", bounds=bounds, options={"maxiter": 80, "xatol": 0.01}
    )
    return link(best.x)


def _blocks(n: int) -> Iterator[slice]:
    return (slice(start, start + ROWS_AT_ONCE) for start in range(0, n, ROWS_AT_ONCE))


def _whitened(root: Array, matrix: Array) -> Array:
    return np.asarray(linalg.solve_triangular(root, matrix, lower=True))
