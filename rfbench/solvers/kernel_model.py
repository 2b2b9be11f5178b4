"""Ridge regression on the features of a kernel, with settings selected on a validation set.

The bandwidth, the penalty and the parameters of the probabilities are selected on the validation
set. All selected values are parameters, so that the model can be fitted again on other rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import gen_batches
from sklearn.utils.validation import check_is_fitted, validate_data

from rfbench.arrays import Array
from rfbench.compute.products import matmul, multiply_by_transpose
from rfbench.compute.ridge import solve_shifted_systems
from rfbench.errors import MethodError
from rfbench.samplers import RKS, Nystroem
from rfbench.samplers.metric import LearnedMetric, apply_metric
from rfbench.solvers.coding import Coding
from rfbench.solvers.probabilities import Link, apply_link, fit_link

# Number of rows whose features are computed together. Measured by `python -m scripts.bench.doubled`
# with 300 landmarks: half the value needs 1.17 times the CPU time, and twice the value 1.09 times.
ROWS_AT_ONCE = 4096
# The diagonal of the landmarks' kernel matrix is increased by JITTER times its mean, so that the
# matrix has a Cholesky factor. Rounding errors are about 1e-16 times the number of landmarks, which
# is at most 20,000. Chosen without a measurement. With twice the value, directions with a smaller
# eigenvalue would be penalized twice as much.
JITTER = 1e-9
FREQUENCIES = "frequencies"
# A metric is learned in ROUNDS rounds from METRIC_ROWS rows, a fifth of which is held out. Measured
# on the data set pumadyn32nm: three rounds do not find a relevant column, and five rounds do.
# METRIC_ROWS was chosen without a measurement. Twice the rows need twice the time.
ROUNDS, METRIC_ROWS = 6, 4_500


class _KernelModel(BaseEstimator):  # type: ignore[misc]
    r"""Base class of `KernelRegressor` and `KernelClassifier`.

    For features Z of n rows and targets Y with the mean :math:`\bar y`, the objective is
    :math:`|Y - \bar y - Z\theta|^2 + n\alpha|\theta|^2` with coefficients :math:`\theta`. For
    landmarks S, the features are the kernel values :math:`K_{nS}` between rows and landmarks, with
    the penalty :math:`n\alpha\,\theta^\top K_{SS}\theta`. The rows are processed in blocks.

    Parameters
    ----------
    features : str
        Method of selecting landmarks (see `Nystroem`). ``frequencies`` uses random Fourier
        features, which do not store rows.
    n_components : int
        Number of features or landmarks.
    kernel : str
        Name of the kernel.
    factors : sequence of float
        Bandwidths to select from, as multiples of the median distance between rows.
    alphas : sequence of float
        Penalties alpha to select from. The objective has the factor n alpha.
    metric : {'none', 'diagonal', 'full'}
        Type of a metric that is learned from the training rows (see `LearnedMetric`).
    metric_landmarks : int
        Number of landmarks for learning the metric.
    link : pair of float
        Parameters of class probabilities (see `rfbench.solvers.probabilities.apply_link`).
    random_state : int

    Attributes
    ----------
    factor_, alpha_, link_ : float, float and pair of float
        The values that were selected on the rows ``X_val`` of `fit`. Without these rows, `factors`
        and `alphas` need a single value each. Bandwidths are tried in ascending order, until the
        loss increases.
    evaluation_ : array of shape (n, 1) or (n, K)
        Predictions for the rows ``X_val``: numbers, or class probabilities. ``evaluation_loss_`` is
        their loss.
    arrays_ : dict of str to array
        Arrays to be stored: ``chosen`` are the selected values, ``root`` is the root of a metric,
        and ``seconds`` is the time of the last fit with one bandwidth.
    """

    revision: ClassVar[int] = 1

    def __init__(
        self,
        n_components: int = 300,
        kernel: str = "laplacian",
        factors: Sequence[float] = (1.0,),
        features: str = "uniform",
        alphas: Sequence[float] = (1e-3,),
        metric: str = "none",
        metric_landmarks: int = 300,
        link: Link = (4.0, 2.0),
        random_state: int = 0,
    ) -> None:
        self.n_components, self.kernel, self.factors = n_components, kernel, factors
        self.features, self.alphas = features, alphas
        self.metric, self.metric_landmarks = metric, metric_landmarks
        self.link, self.random_state = link, random_state

    def __getstate__(self) -> dict[str, Any]:
        """Return the state of the model for pickling, without the results on a validation set."""
        beside = ("evaluation_", "arrays_")
        return {key: v for key, v in super().__getstate__().items() if key not in beside}

    @property
    def chooses_by_evaluation(self) -> bool:
        """True if `fit` needs evaluation rows to select from several bandwidths or penalties."""
        return len(self.factors) > 1 or len(self.alphas) > 1

    def _fit(self, X: Array, Y: Array, held: Array | None, codes: Any, Y_held: Any) -> Self:
        """Fit the model on the rows X and the target columns Y, shape (n, k).

        If the rows `held` are given, the bandwidth and the penalty are selected by the loss on
        these rows, whose target columns are `Y_held`. `codes` are their class codes, or None for a
        regression.
        """
        self.arrays_, self.root_ = {}, None
        if self.metric != "none":
            metric = LearnedMetric(
                kind=self.metric,
                kernel=self.kernel,
                rounds=ROUNDS,
                early_stopping=True,
                n_rows=METRIC_ROWS,
                n_landmarks=self.metric_landmarks,
                random_state=self.random_state,
            )
            self.root_ = self.arrays_["root"] = metric.fit(X, Y).root_
        X = self._in_metric(X)
        self.intercept_ = Y.mean(axis=0)
        if held is None:
            if self.chooses_by_evaluation:
                raise MethodError("There are several bandwidths or penalties, but no rows X_val.")
            self.factor_, self.alpha_, self.link_ = self.factors[0], self.alphas[0], self.link
            self.map_, path = self._path(X, Y, self.factor_)
            self.coef_ = path[0]
            return self
        held, found = self._in_metric(held), []
        for factor in sorted(self.factors):
            begun = perf_counter()
            map_, path = self._path(X, Y, factor)
            self.arrays_["seconds"] = np.array(perf_counter() - begun)
            scores = self._scores_path(map_, held, path)
            best = _best(scores, Y_held, codes)
            loss = float(((scores[best] - Y_held) ** 2).mean())
            found.append((loss, factor, best, map_, path[best], scores[best]))
            if len(found) > 1 and not loss < found[-2][0]:
                break
        which = _best(np.stack([each[-1] for each in found]), Y_held, codes)
        loss, self.factor_, best, self.map_, self.coef_, scores = found[which]
        self.alpha_, self.evaluation_loss_ = self.alphas[best], loss
        self.link_ = self.link if codes is None else fit_link(scores, codes)
        self.evaluation_ = self._said(scores)
        self.arrays_["chosen"] = np.array([self.factor_, self.alpha_, *self.link_])
        return self

    def _path(self, X: Array, Y: Array, factor: float) -> tuple[Any, Array]:
        """Return the fitted feature map, and the coefficients for each penalty.

        The bandwidth is `factor` times the median distance between rows. The coefficients have
        shape (a, n_columns, k) for a penalties and k target columns.
        """
        sampler, n = self._sampler(factor, len(X)), len(X)
        getattr(sampler, "fit_landmarks", sampler.fit)(X, Y)
        map_ = sampler.feature_map_
        gram: Any = 0.0
        moments: Any = 0.0
        for rows in gen_batches(n, ROWS_AT_ONCE):
            columns = _columns(map_, X[rows])
            gram = gram + multiply_by_transpose(columns.T)
            moments = moments + matmul(columns.T, Y[rows] - self.intercept_)
        root = None
        if (landmarks := getattr(map_, "landmarks", None)) is not None:
            K = map_.kernel(landmarks, landmarks)
            K[np.diag_indices_from(K)] += JITTER * np.trace(K) / len(K)
            root = linalg.cholesky(K, lower=True)
            gram = _whitened(root, _whitened(root, gram).T)
            moments = _whitened(root, moments)
        noise, largest = len(gram) * float(np.finfo(np.float64).eps), float(np.diag(gram).max())
        penalties = n * np.asarray(self.alphas, dtype=np.float64)
        path, _ = solve_shifted_systems(
            lambda work: np.copyto(work, gram.T), moments, penalties, noise, largest
        )
        if root is not None:
            for coef in path:
                coef[...] = linalg.solve_triangular(root, coef, lower=True, trans="T")
        return map_, path

    def _sampler(self, factor: float, n: int) -> Any:
        M, bandwidth = min(self.n_components, n), f"{factor:.4g}*median"
        keys: dict[str, Any] = {
            "kernel": self.kernel, "bandwidth": bandwidth, "random_state": self.random_state
        }  # fmt: skip
        if self.features == FREQUENCIES:
            return RKS(M, **keys)
        return Nystroem(M, landmarks=self.features, **keys)

    def _in_metric(self, X: Array) -> Array:
        return X if self.root_ is None else np.asarray(apply_metric(self.root_, X))

    def _scores_path(self, map_: Any, X: Array, path: Array) -> Array:
        """Return the predictions for the n rows X with each of the a penalties, shape (a, n, k).

        `path` contains the coefficients for each penalty. k is the number of target columns.
        """
        a, p, k = path.shape
        flat = path.transpose(1, 0, 2).reshape(p, a * k)
        scores = np.vstack(
            [matmul(_columns(map_, X[rows]), flat) for rows in gen_batches(len(X), ROWS_AT_ONCE)]
        )
        return np.asarray(scores.reshape(len(X), a, k).transpose(1, 0, 2) + self.intercept_)

    def _scores(self, X: Any) -> Any:
        check_is_fitted(self, "coef_")
        X = validate_data(self, X, reset=False, dtype=np.float64)
        return self._scores_path(self.map_, self._in_metric(X), self.coef_[None])[0]


class KernelRegressor(RegressorMixin, _KernelModel):  # type: ignore[misc]
    """Ridge regression on random features or landmarks of a kernel.

    The parameters are the same as for `_KernelModel`. Predictions are clipped to the range of the
    training target, because the model cannot extrapolate.
    """

    def fit(self, X: Any, y: Any, X_val: Any = None, y_val: Any = None) -> Self:
        """Fit the model on the rows X, shape (n, d), and the target y, shape (n,).

        If X_val and y_val are given, the bandwidth and the penalty are selected on these rows.
        """
        X, y = validate_data(self, X, y, y_numeric=True, dtype=np.float64)
        self.range_ = float(y.min()), float(y.max())
        held = None if X_val is None else np.asarray(y_val, dtype=np.float64)[:, None]
        return self._fit(X, np.asarray(y, dtype=np.float64)[:, None], X_val, None, held)

    def _said(self, scores: Array) -> Array:
        return np.clip(scores, *self.range_)

    def predict(self, X: Any) -> Array:
        """Return the predictions for the rows X, shape (n,)."""
        return self._said(self._scores(X))[:, 0]


class KernelClassifier(ClassifierMixin, _KernelModel):  # type: ignore[misc]
    """Classifier that fits a kernel ridge regression to labels coded as -1 and +1.

    The parameters are the same as for `_KernelModel`.
    """

    def fit(self, X: Any, y: Any, X_val: Any = None, y_val: Any = None) -> Self:
        """Fit the model on the rows X, shape (n, d), and the class labels y.

        If X_val and y_val are given, the bandwidth and the penalty are selected on these rows.
        """
        X, y = validate_data(self, X, y, dtype=np.float64)
        self.classes_, codes = np.unique(y, return_inverse=True)
        coding, held, columns = Coding(len(self.classes_)), None, None
        if X_val is not None:
            held = np.searchsorted(self.classes_, y_val)
            columns = coding.encode(held)
        return self._fit(X, coding.encode(codes).astype(np.float64), X_val, held, columns)

    def _said(self, scores: Array) -> Array:
        return apply_link(scores, self.link_)

    def predict_proba(self, X: Any) -> Array:
        """Return the class probabilities of the rows X, shape (n, K)."""
        return self._said(self._scores(X))

    def predict(self, X: Any) -> Any:
        """Return the most probable class of each row of X, shape (n,)."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def _best(scores: Array, targets: Array, codes: NDArray[Any] | None) -> int:
    """Return the index of the predictions `scores[i]` with the smallest squared error.

    For class `codes`, only predictions are candidates whose error rate is within half a standard
    error of the smallest error rate. `scores` has shape (a, n, k) for a candidates.
    """
    squares = ((scores - targets) ** 2).mean(axis=(1, 2))
    if codes is None:
        return int(squares.argmin())
    wrong = (Coding(max(2, scores.shape[2])).decode(scores) != codes).mean(axis=1)
    least = wrong.min()
    close = wrong <= least + np.sqrt(least * (1 - least) / len(codes)) / 2
    return int(np.where(close, squares, np.inf).argmin())


def _columns(map_: Any, X: Array) -> Array:
    if hasattr(map_, "landmarks"):
        return np.asarray(map_.kernel(X, map_.landmarks))
    return np.asarray(map_.transform(X))


def _whitened(root: Array, matrix: Array) -> Array:
    return np.asarray(linalg.solve_triangular(root, matrix, lower=True))
