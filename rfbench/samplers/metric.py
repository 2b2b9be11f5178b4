"""A distance (metric) learned from the gradients of kernel regressions, with random features."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import joblib
import numpy as np
from scipy import linalg, sparse
from sklearn.base import BaseEstimator
from sklearn.utils.extmath import row_norms
from threadpoolctl import threadpool_limits

from rfbench import kernels
from rfbench.arrays import Array, Rows
from rfbench.kernels import Kernel, to_dense, to_float64
from rfbench.memory import check_memory_fits
from rfbench.parameters import BOOLEAN, RANDOM_STATE, Checked, estimator, one_of, parameter, whole
from rfbench.registry import KERNELS
from rfbench.rows import RowSource
from rfbench.samplers.base import (
    NOTHING_SHARED,
    RandomState,
    RandomStreams,
    Shared,
    make_streams,
    make_target_columns,
)
from rfbench.samplers.declaration import GAUSSIAN, CheckCase, sampler
from rfbench.samplers.feature_map import FeatureMap
from rfbench.samplers.nystroem import NystroemMap
from rfbench.samplers.pool import SCORE_ROWS, ScoredFeatures, iterate_ridge_fits
from rfbench.samplers.projected import iterate_row_blocks

FULL, DIAGONAL = "full", "diagonal"
LEARNED_KERNELS = ("gaussian", "gaussian-unhalved", "laplacian", "laplacian-l2", "cauchy")
# HELD_OUT is the share of training rows on which the best round is selected. With fewer than FEWEST
# rows, all rows are used for training and for the selection, because the loss of one row is random.
# Measured squared error on new rows, for six draws of sin(2 x_1) + x_2 x_3 with noise (4,000 rows,
# 12 columns, full metric): 0.173 with this share, 0.169 with half the share, and 0.175 with twice
# the share.
HELD_OUT, FEWEST = 0.2, 10
# After FULL_ROUNDS rounds, learning stops if the loss is more than LEAST_GAIN times the loss of the
# previous round. Measured on the data set pumadyn32nm: three rounds are not enough to find a
# relevant column, and five rounds are enough. If LEAST_GAIN were nearer to 1, more rounds with
# almost no gain would be computed. With twice the FULL_ROUNDS, `rfbench choose` would never stop
# early, because it computes at most six rounds.
FULL_ROUNDS, LEAST_GAIN = 3, 0.95
# Maximum number of rows whose gradients are averaged. Measured squared error on new rows, on the
# data in the comment at HELD_OUT: 0.173 with this number, 0.178 with half this number, and 0.174
# with twice this number.
OUTER_ROWS = 1000
# With at most this number of landmarks, only one thread is used. More threads would be slower,
# because the thread pools of numpy, scipy and scikit-learn wait for each other. Measured: with 300
# landmarks, learning a metric needs 2.8 s with two threads and 1.4 s with one thread.
ONE_THREAD = 600
# Each round selects a bandwidth and a penalty from these values. Bandwidths are multiples of the
# median distance, and penalties are multiples of n. Gaussian kernels use SMOOTH_BANDWIDTHS.
# Measured squared error on new rows, on the data in the comment at HELD_OUT: 0.173 with these
# values, 0.173 with SMOOTH_BANDWIDTHS doubled, 0.209 with SMOOTH_BANDWIDTHS halved, and 0.181 with
# every second value of ALPHAS. All other kernels use PEAKED_BANDWIDTHS, which `rfbench choose` also
# uses.
SMOOTH_BANDWIDTHS, PEAKED_BANDWIDTHS = (0.25, 0.5, 1.0), (0.5, 2.0, 8.0)
ALPHAS = np.logspace(-7, 1, 9)
# A target column counts as constant if its range, divided by its largest absolute value, is at most
# this value. The rounding error of this ratio is about 1e-16. Twice or half the value would matter
# only for targets that are constant up to the twelfth digit.
CONSTANT_SPREAD = 1e-12

# Memory limit in bytes (64 MiB) of the learned metrics that are stored for reuse. The last stored
# metric may exceed the limit. The value was chosen without a measurement. With the limit halved, a
# full metric of more than 2,000 columns is learned again for each bandwidth.
METRIC_BYTES = 2**26


@estimator
class LearnedMetric(Checked, BaseEstimator):  # type: ignore[misc]
    r"""A metric that stretches rows along the directions in which the target varies.

    The metric is a matrix A that replaces each row x by :math:`A^{1/2} x` before a kernel is
    computed. A is learned in rounds, starting with A = I. Each round fits a kernel ridge
    regression f in the current metric, and computes the average outer product of its gradients,

    .. math:: G = \frac1n \sum_i \nabla f(x_i) \nabla f(x_i)^\top.

    The next metric A is the diagonal of G, or the root :math:`G^{1/2}` of the full matrix. A is
    scaled so that the mean squared distance of two rows does not change. At the end, the metric
    with the smallest squared loss on held-out rows is selected, which may be A = I. The bandwidth
    and the penalty of each f are also selected on the held-out rows. For several target columns, G
    is summed over the columns.

    Parameters
    ----------
    kind : {'diagonal', 'full'}
        Diagonal metric (weights of the columns) or full matrix (which also rotates the rows).
    kernel : str
        The kernel of the regressions, which has to decrease with a distance.
    rounds : int
        Number of rounds, each with one outer product.
    early_stopping : bool
        Stop after two rounds that have not reduced the loss. From the third round on, also stop
        after one round that reduces the loss by less than 5 %, if all rounds together have reduced
        the loss by more.
    n_landmarks : int
        Number of landmarks, the rows that have coefficients in the kernel regressions.
    n_rows : int
        Maximum number of rows used, drawn at random. A fifth of these rows is held out. Outer
        products are averages over at most 1,000 of the other rows.
    random_state : int, Generator, RandomState, SeedSequence or None
        Random seed or generator. None uses a new seed in every fit.

    Attributes
    ----------
    metric_ : array of shape (d,) or (d, d)
        The metric A, or the weights of the columns if it is diagonal.
    root_ : array of shape (d,) or (d, d)
        The symmetric root of the metric.
    losses_ : array of shape (rounds + 1,)
        Mean squared loss on the held-out rows after each round, starting with A = I. There are
        fewer values if the target is constant or the rounds stopped early.
    round_ : int
        The selected round. For 0, A = I, and the rows are not changed.
    notes_ : list of str
        Remarks about the fit, which are stored with the results.

    Notes
    -----
    The fit uses the target. In cross-validation, the metric therefore has to be fitted without the
    held-out fold.

    The authors fit the regressions on all rows, with fixed penalties. The landmarks, the held-out
    rows and the defaults of all sizes are our choices. In our trials the power 1/2 of a full metric
    never diverged, the power 1 diverged, and three rounds had most of the gain. The cost is O(n
    m^2) for m landmarks per bandwidth and round, and O(d^3) for a full metric.

    References
    ----------
    Radhakrishnan, Beaglehole, Pandit and Belkin, Mechanism for feature learning in neural networks
    and backpropagation-free machine learning models, Science 2024. Beaglehole, Holzmueller,
    Radhakrishnan and Belkin, xRFM: Accurate, scalable, and interpretable feature learning models
    for tabular data, 2025.

    Examples
    --------
    >>> import numpy as np
    >>> from rfbench.samplers.metric import LearnedMetric
    >>> X = np.random.default_rng(0).standard_normal((300, 3))
    >>> metric = LearnedMetric(random_state=0).fit(X, np.sin(2 * X[:, 0]))
    >>> bool(metric.metric_[0] > 2.5)
    True
    """

    kind: str = parameter(DIAGONAL, one_of(DIAGONAL, FULL))
    kernel: str = parameter("gaussian", one_of(*LEARNED_KERNELS))
    rounds: int = parameter(3, whole(1))
    early_stopping: bool = parameter(False, BOOLEAN)
    n_landmarks: int = parameter(300, whole(1))
    n_rows: int = parameter(3000, whole(2))
    random_state: RandomState = parameter(None, RANDOM_STATE)

    def fit(self, X: Rows, y: Any) -> LearnedMetric:
        """Learn the metric from the rows X and their target y.

        Parameters
        ----------
        X : array or CSR matrix of shape (n, d)
        y : array of shape (n,) or (n, k)
            Target of each row: class labels, real numbers, or several columns of numbers.

        Raises
        ------
        MethodError
            If a parameter is not allowed.
        MemoryLimitError
            If the rows have too many columns for a full metric.
        """
        self.check_parameters()
        (n, d), targets = X.shape, make_target_columns(y, X.shape[0])
        if self.kind == FULL:  # a full metric needs dense rows, because it is a d x d matrix
            check_memory_fits(
                8.0 * d * (4.0 * min(n, self.n_rows) + 5.0 * d),
                f"A full metric of {d:,} columns",
                "Use fewer columns, or a diagonal metric.",
            )
        random = make_streams(self.random_state)
        taken = np.arange(n)
        if n > self.n_rows:
            taken = np.sort(random.rows.choice(n, self.n_rows, replace=False))
        rows = to_float64(X[taken])
        if self.kind == FULL:
            rows = to_dense(rows)
        targets = targets[taken]
        # The best round, bandwidth and penalty are selected by their loss on held-out rows. On the
        # training rows, the loss decreases in every round, so the last round would always be
        # selected.
        order = random.selection.permutation(len(taken))
        held, training = np.split(order, [round(HELD_OUT * len(taken))])
        if len(taken) < FEWEST:
            held = training = order
        parts = rows[training], targets[training]
        chosen_on = rows[held], targets[held]
        self.notes_: list[str] = []
        with threadpool_limits(1 if self.n_landmarks <= ONE_THREAD else None):
            self._learn(*parts, *chosen_on)
        return self

    def _learn(self, rows: Rows, targets: Array, held_rows: Rows, held: Array) -> None:
        d = rows.shape[1]
        metric = root = np.ones(d) if self.kind == DIAGONAL else np.eye(d)
        losses: list[float] = []
        for number in range(self.rounds + 1):
            # A kernel regression with the metric A is an ordinary kernel regression on the
            # transformed rows A^(1/2) x. In the first round, A is the identity matrix.
            inside = apply_metric(root, rows)
            m = min(self.n_landmarks, int(rows.shape[0]))
            fit = fit_best_kernel_ridge(
                self.kernel, inside, targets, apply_metric(root, held_rows), held, m
            )
            if fit is None or not _has_variation(targets):
                self.notes_.append(
                    "no metric was learned, because the target or the rows are constant"
                )
                break
            loss, kernel, landmarks, coef = fit
            losses.append(loss)
            # The round with the smallest loss on held-out rows is selected. If two rounds have the
            # same loss, the later round is selected, because its metric depends more on the target.
            if loss <= min(losses):
                self.round_, self.metric_, self.root_ = number, metric, root
            if number == self.rounds or (self.early_stopping and _stalls(losses)):
                break
            # `outer` is the average outer product of the gradients, 1/n * sum_i grad f(x_i) grad
            # f(x_i)'. The gradients are with respect to the original rows x. By the chain rule,
            # they are A^(1/2) times the gradients with respect to the transformed rows A^(1/2) x.
            outer = compute_gradient_outer_product(
                kernel, inside[:OUTER_ROWS], landmarks, coef, root, diagonal=metric.ndim == 1
            )
            # The new metric is scaled so that the mean squared distance between rows does not
            # change. A bandwidth for the original rows can then be used for the transformed rows.
            # Scaling does not affect the following rounds, because their bandwidths are multiples
            # of the median distance.
            following = compute_metric(outer, rows)
            # If the regression function f is constant, all its gradients are 0, and no new metric
            # can be computed. The current metric is then the result.
            if following is None:
                break
            metric, root = following
        if not losses:
            self.round_, self.metric_, self.root_ = 0, metric, root
        self.losses_ = np.array(losses)


def _stalls(losses: list[float]) -> bool:
    """Return True if learning should stop, because the last rounds have hardly reduced the loss.

    `losses` contains the loss after each round.
    """
    # After FULL_ROUNDS rounds, learning stops if the last round has hardly reduced the loss, and
    # the loss is clearly smaller than in the first round. Otherwise learning stops only after two
    # rounds that have not reduced the loss. With many irrelevant columns, the first gradients are
    # mostly noise, and the loss decreases later.
    began, last = losses[0], losses[-1]
    if len(losses) > FULL_ROUNDS and LEAST_GAIN * losses[-2] < last < LEAST_GAIN * began:
        return True
    return len(losses) > 2 and min(losses[-2:]) >= min(losses[:-2])


def apply_metric(root: Array, rows: Rows) -> Any:
    """Return the rows multiplied by `root`, the square root of a metric (a matrix).

    `root` has the shape (d, d), or (d,) if the metric is diagonal.
    """
    if root.ndim == 2:
        return rows @ root
    if sparse.issparse(rows):
        weights: Any = sparse.diags_array(root)
        return rows @ weights.tocsr()
    return rows * root


def _has_variation(targets: Array) -> bool:
    """Return True if at least one target column is not constant, except for rounding errors.

    `targets` has the shape (n, k).
    """
    # If the target is constant, its gradients consist of rounding errors. No metric is learned from
    # these gradients, because scaling the metric would amplify the errors.
    spread = np.ptp(targets, axis=0)
    return bool(np.any(spread > CONSTANT_SPREAD * np.abs(targets).max(axis=0)))


def fit_best_kernel_ridge(
    name: str, rows: Rows, targets: Array, held_rows: Rows, held: Array, m: int
) -> tuple[float, Kernel, Rows, Array] | None:
    """Return the kernel ridge regression with the smallest loss on held-out rows.

    Regressions with several bandwidths and penalties are fitted on `rows` and `targets`. The first
    m rows are the landmarks, which have coefficients in the regression.

    Returns
    -------
    tuple of float, Kernel, array of shape (m, d), array of shape (m, k), or None
        The mean squared loss on the held-out rows, the kernel, the landmarks and the coefficients
        of the landmarks. None if all landmarks are equal.
    """
    # The first m rows are used as landmarks. They are a random sample, because the rows were
    # shuffled.
    landmarks = rows[:m]
    squares = kernels.compute_squared_distances(*kernels.shift_by_mean(landmarks, landmarks))
    # Bandwidths are multiples of the median distance between landmarks in the current metric.
    # Distances of 0 are left out, because rows with discrete values may be equal, and the median
    # could then be 0.
    median = float(np.median(np.sqrt(squares[squares > 0]))) if np.any(squares > 0) else 0.0
    if not np.isfinite(median) or median < np.sqrt(np.finfo(float).tiny):
        return None
    # For each bandwidth and penalty alpha, the coefficients c minimize |Y - K_nS c|^2 + n * alpha *
    # c'K_SS c, where K_nS are the kernel values between rows and landmarks. This is ridge
    # regression on the Nystroem features K_nS K_SS^(-1/2) with the coefficients K_SS^(1/2) c. The
    # authors' code uses a fixed penalty. With few rows, gradients would then be mostly noise.
    best: tuple[float, Kernel, Rows, Array] | None = None
    smooth = issubclass(KERNELS.find(name), kernels.Gaussian)
    for multiple in SMOOTH_BANDWIDTHS if smooth else PEAKED_BANDWIDTHS:
        kernel = kernels.make(name, multiple * median)
        features = NystroemMap(kernel, landmarks)
        for loss, coef in iterate_ridge_fits(features, (rows, targets), (held_rows, held), ALPHAS):
            if best is None or loss < best[0]:
                best = loss, kernel, landmarks, features.matrix @ coef
    return best


def compute_metric(outer: Array, rows: Rows) -> tuple[Array, Array] | None:
    """Return a metric, computed from the average outer product of gradients, and its root.

    If `outer` has the shape (d,), it contains only the diagonal and is itself the metric. If
    `outer` has the shape (d, d), the metric is its square root. The metric is scaled so that the
    mean squared distance of the rows does not change. The result is None if this distance is 0 or
    not finite in the metric.
    """
    if not np.isfinite(outer).all():
        return None
    # Let G be the average outer product of the gradients. The new metric A is diag(G) if it is
    # diagonal, and G^(1/2) if it is a full matrix. A full metric A = G diverged, because G contains
    # the metric of the previous round as a factor. The variable `root` is A^(1/2), by which rows
    # are multiplied.
    if outer.ndim == 1:
        metric, root = outer, np.sqrt(outer)
    else:
        values, vectors = linalg.eigh(outer)
        values = np.sqrt(np.maximum(values, 0.0))
        metric, root = ((vectors * power) @ vectors.T for power in (values, np.sqrt(values)))
    spread = compute_total_variance(rows, root)
    if not (np.isfinite(spread) and spread > 0):
        return None
    # The metric is multiplied by tr Cov(X) / tr Cov(A^(1/2) X), so that the mean squared distance
    # between rows does not change.
    scale = compute_total_variance(rows) / spread
    return metric * scale, root * scale**0.5


def compute_total_variance(rows: Rows, root: Array | None = None) -> float:
    """Return the sum of the column variances of the rows.

    If `root` is given, the rows are first multiplied by it. The sum is half the mean squared
    distance of two rows.
    """
    n, d = rows.shape
    root = np.ones(d) if root is None else root
    # The trace of the covariance is computed as mean |x|^2 - |mean x|^2. If the mean is large, this
    # difference of two large numbers would lose all digits. The first row is therefore subtracted
    # from all rows. Sparse rows are not shifted, because they would become dense.
    shift = 0.0 if sparse.issparse(rows) else np.asarray(rows[:1], dtype=np.float64)
    sums, squares = np.zeros(d), 0.0
    for block in iterate_row_blocks(n, d):
        part: Any = rows[block].astype(np.float64)
        part = part if sparse.issparse(part) else part - shift
        sums += np.asarray(part.sum(axis=0)).ravel()
        squares += float(row_norms(apply_metric(root, part), squared=True).sum())
    mean = apply_metric(root, sums / n)
    return float(squares / n - mean @ mean)


def compute_gradient_outer_product(
    kernel: Kernel, rows: Rows, landmarks: Rows, coef: Array, root: Array, *, diagonal: bool
) -> Array:
    """Return the average outer product of the gradients of k kernel regressions.

    Parameters
    ----------
    kernel : Kernel
    rows, landmarks : array of shape (n, d) and (m, d)
        Rows at which gradients are computed, and landmarks of the regressions. Both are already
        multiplied by the root of the current metric.
    coef : array of shape (m, k)
        Coefficients of the landmarks in k regressions. The outer products of the regressions are
        added.
    root : array of shape (d,) or (d, d)
        Root of the current metric. Gradients are with respect to the original rows, before they are
        multiplied by the root.
    diagonal : bool
        Return only the diagonal of the outer product.

    Returns
    -------
    array of shape (d,) if `diagonal`, else (d, d)
    """
    d, k = rows.shape[1], coef.shape[1]
    total = np.zeros(d) if diagonal else np.zeros((d, d))
    for block in iterate_row_blocks(rows.shape[0], k * d):
        # Compute the average outer product 1/n * sum_i grad f grad f'. With f(x) = h(A^(1/2) x),
        # the gradient is grad f = A^(1/2) grad h, which is with respect to the original rows x. The
        # sum is computed in blocks, because the gradients of all rows would be an array of n * k *
        # d numbers.
        for gradients in kernel.gradients(rows[block], landmarks, coef):
            by_rows = apply_metric(root, gradients)
            total += np.sum(by_rows**2, axis=0) if diagonal else by_rows.T @ by_rows
    return np.asarray(total / rows.shape[0])


@sampler(
    "rfm-rff",
    kernels=GAUSSIAN,
    about="random Fourier features of a metric that is learned from the gradients of a few fits",
    contract={"float32_tolerance": 1e-3},
    forms=(CheckCase({"rounds": 2}), CheckCase({"metric": "full", "score_rows": 40})),
)
class RFMFeatures(ScoredFeatures):
    r"""Random Fourier features of a Mahalanobis kernel whose metric is learned from gradients.

    The frequencies are :math:`w = A^{1/2} w_0`. Here :math:`w_0` is drawn from the spectral measure
    of the kernel, and the matrix A is a metric learned from the target. `LearnedMetric` computes A
    in a few rounds of kernel regression, from the average outer products of the gradients. For A =
    I the features are random kitchen sinks.

    The method combines the recursive feature machine of the paper with random features, which is
    our choice. The paper solves a kernel regression on all rows. Here the metric is learned from
    kernel regressions with few landmarks.

    Parameters
    ----------
    n_components : int, default=100
        M, the number of frequencies. A frequency has one column, or two in the paired map.
    kernel : str, default='gaussian'
        Name of a kernel in `rfbench.registry.KERNELS`.
    bandwidth : float or {'median', 'knn50', 'knn50-sample'}, default='median'
        Bandwidth (length scale) of the kernel, or the rule that computes the bandwidth from the
        training set.
    feature_map : {'offset', 'paired'}, default='offset'
        'offset': the columns are sqrt(2/M) cos(w'x + b) for frequencies w and random offsets b.
        'paired': the columns are the pairs sqrt(1/M) [cos w'x, sin w'x]. Ignored for arc-cosine and
        linear kernels.
    random_state : int, Generator, RandomState, SeedSequence or None, default=None
        Random seed or generator. None uses a new seed in every fit.
    score_rows : int or float, default=3000
        Number or fraction of the training rows from which the metric is learned.
    rounds : int, default=3
        Number of rounds, each with one outer product.
    metric : {'diagonal', 'full'}, default='diagonal'
        Diagonal metric (weights of the columns) or full matrix.

    Attributes
    ----------
    metric_, losses_, round_
        The learned metric, the losses of all rounds and the selected round, as in `LearnedMetric`.

    References
    ----------
    Radhakrishnan, Beaglehole, Pandit and Belkin, Mechanism for feature learning in neural networks
    and backpropagation-free machine learning models, Science 2024.

    Examples
    --------
    >>> import numpy as np
    >>> from rfbench.samplers import RFMFeatures
    >>> X = np.random.default_rng(0).standard_normal((300, 3))
    >>> sampler = RFMFeatures(50, bandwidth=2.0, random_state=0).fit(X, np.sin(2 * X[:, 0]))
    >>> bool(sampler.metric_[0] > 2.5)
    True
    """

    needs_target: ClassVar[bool] = True
    approximates_kernel: ClassVar[bool] = False
    kernels_served: ClassVar[Any] = kernels.Gaussian
    # In revision 1, the method always used Fourier features, the metric of the last round, a full
    # metric and a fixed penalty.
    revision: ClassVar[int] = 2

    rounds: int = parameter(3, whole(1))
    metric: str = parameter(DIAGONAL, one_of(DIAGONAL, FULL))
    score_rows: int | float = parameter(3000, SCORE_ROWS)

    def _metric_of(
        self, X: Rows, targets: Array | None, random: RandomStreams, known: dict[str, Any] | None
    ) -> LearnedMetric:
        """Return the metric that is learned from the rows X and their targets.

        If the cache `known` contains the metric of the same data and parameters, this metric is
        returned. Otherwise the new metric is added to the cache. The metric does not depend on the
        bandwidth of the sampler.
        """
        # The rows of a fold are copied for each bandwidth, so the key is a hash of their content.
        # The time of learning a metric counts only for the first bandwidth.
        metric = LearnedMetric(
            kind=self.metric,
            kernel=self.kernel,
            rounds=self.rounds,
            n_rows=max(2, self.count_scoring_rows(X.shape[0])),
            random_state=random.selection,
        )
        if known is None or isinstance(X, RowSource):
            return metric.fit(X, targets)
        # The key under which a learned metric is stored depends on the data, the parameters and the
        # state of the random generator. A different seed gives a different metric.
        key = joblib.hash((X, targets, metric.get_params()))
        if key in known:
            found: LearnedMetric = known[key]
            return found
        metric.fit(X, targets)
        if sum(other.root_.nbytes for other in known.values()) < METRIC_BYTES:
            known[key] = metric
        return metric

    def _draw(self, X: Rows, targets: Array | None, random: RandomStreams) -> FeatureMap:
        return self._draw_sharing(X, None, targets, random, NOTHING_SHARED)

    def _draw_sharing(
        self, X: Rows, y: Any, targets: Array | None, random: RandomStreams, shared: Shared
    ) -> FeatureMap:
        learned = self._metric_of(X, targets, random, shared.metrics)
        self.metric_, self.losses_ = learned.metric_, learned.losses_
        self.round_ = learned.round_
        self.notes_.extend(learned.notes_)
        drawn = self.draw_unit_map(random, X.shape[1], self.n_components)
        # A feature of the transformed row A^(1/2) x has the phase w'A^(1/2) x. A^(1/2) is
        # symmetric, so this is the phase of the original row x with the frequency A^(1/2) w.
        turned = apply_metric(learned.root_, drawn.frequencies.T).T
        return replace(drawn, frequencies=np.ascontiguousarray(turned)).times(
            self.n_components**-0.5
        )
