"""A metric of the rows that is learnt from gradients of kernel regressions; features in it."""

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
from rfbench.memory import check_fits
from rfbench.parameters import BOOLEAN, RANDOM_STATE, Checked, estimator, one_of, parameter, whole
from rfbench.registry import KERNELS
from rfbench.rows import RowSource
from rfbench.samplers.base import (
    NOTHING_SHARED,
    RandomState,
    Shared,
    Streams,
    make_target_columns,
    streams,
)
from rfbench.samplers.declaration import GAUSSIAN, Form, sampler
from rfbench.samplers.feature_map import FeatureMap
from rfbench.samplers.nystroem import NystroemMap
from rfbench.samplers.pool import SCORE_ROWS, ScoredFeatures, iterate_ridge_fits
from rfbench.samplers.projected import iterate_row_blocks

FULL, DIAGONAL = "full", "diagonal"
LEARNT_KERNELS = ("gaussian", "gaussian-unhalved", "laplacian", "laplacian-l2", "cauchy")
# A share of the rows is held out to choose the round; of fewer rows than FEWEST all train and all
# choose, because the loss of one row is chance. Measured on six draws of sin(2 x_1) + x_2 x_3 with
# noise (4,000 rows, 12 columns, a full metric), squared error on new rows: .173; with HELD_OUT
# halved .169, doubled .175.
HELD_OUT, FEWEST = 0.2, 10
# Rounds without a bound, then the loss over the one before at which rounds end. On pumadyn32nm
# three rounds find no column and five do; with LEAST_GAIN nearer to 1 it takes more rounds that
# gain next to nothing. Twice the FULL_ROUNDS would never end early in `choose`, which has six.
FULL_ROUNDS, LEAST_GAIN = 3, 0.95
# Rows of an outer product. Measured in the same way: halved .178, doubled .174, for .173 as it is.
OUTER_ROWS = 1000
# Up to so many landmarks one thread is faster than two: the pools of numpy, scipy and scikit-learn
# wait for one another. Measured: a metric of 300 landmarks took 2.8 s with two threads, 1.4 s with
# one.
ONE_THREAD = 600
# What each round chooses from: multiples of the median distance, and penalties times n. Measured in
# the same way as HELD_OUT: SMOOTH_BANDWIDTHS doubled .173, halved .209; with every second of the
# ALPHAS .181, for .173. PEAKED_BANDWIDTHS are those that `rfbench choose` tries, chosen
# without a measurement here.
SMOOTH_BANDWIDTHS, PEAKED_BANDWIDTHS = (0.25, 0.5, 1.0), (0.5, 2.0, 8.0)
ALPHAS = np.logspace(-7, 1, 9)
# Columns whose entries differ by less, relative to the largest, are constant but for rounding,
# which is about 1e-16 of it. Doubled or halved, only a target that varies in its twelfth digit is
# treated otherwise.
CONSTANT_SPREAD = 1e-12

# Of the metrics that a search remembers, 64 MiB; one more may go beyond. Chosen without a
# measurement: halved, full metrics of more than 2,000 columns are learnt again for each bandwidth.
METRIC_BYTES = 2**26


@estimator
class LearnedMetric(Checked, BaseEstimator):  # type: ignore[misc]
    r"""A metric that stretches the rows along the directions in which the target varies.

    Kernels of the rows :math:`A^{1/2} x` (see `apply_metric`) are kernels of the metric A. At
    first A = I. Every round fits a kernel ridge regression f on landmarks in the metric so far,
    its bandwidth and its penalty chosen on rows held out, and takes the average gradient outer
    product (AGOP)

    .. math:: G = \frac1n \sum_i \nabla f(x_i) \nabla f(x_i)^\top,

    added up over the columns of the target. Then A is the diagonal of G, or the root
    :math:`G^{1/2}` of all of it, scaled so that the mean squared distance of two rows stays what it
    was: a bandwidth keeps its meaning. Of all rounds, the first (A = I) included, that with the
    smallest squared loss on the rows held out is taken. It looks at the target: where folds choose
    something, it has to be fitted without the rows of the fold.

    Parameters
    ----------
    kind : {'diagonal', 'full'}
        Weights of the columns, or rotations of them as well.
    kernel : str
        The kernel of the regressions; it has to fall with a distance.
    rounds : int
        Number of outer products.
    early_stopping : bool
        End after two rounds that gain nothing. From the third round on also after one that makes
        the loss less than a twentieth smaller, if all together have made it smaller by that: where
        few of many columns count, the first rounds gain next to nothing.
    n_landmarks : int
        Number of rows that the regressions have a coefficient for.
    n_rows : int
        Number of training rows that are looked at, drawn at random; a fifth of them is held out.
        Outer products are averages over at most 1,000 of the others.
    random_state : int, Generator, RandomState, SeedSequence or None
        Seed or generator of the random numbers. None draws a new seed in every fit.

    Attributes
    ----------
    metric_ : array of shape (d,) or (d, d)
        A, or the weights of the columns if it is diagonal.
    root_ : array of shape (d,) or (d, d)
        Its symmetric root.
    losses_ : array of shape (rounds + 1,)
        Mean squared loss of the rows held out, A = I first; fewer if the target is constant, or
        rounds ended early.
    round_ : int
        The round that is taken; 0: A = I, and rows stay as they are.
    notes_ : list of str
        What a reader of the results has to know about this fit.

    Notes
    -----
    The authors fit on all rows, with fixed penalties. Landmarks, rows held out and the defaults of
    all sizes are ours: the power 1/2 of a full metric never diverged and the power 1 did, and
    three rounds have most of the gain. Costs O(n m^2) for m landmarks per bandwidth and round,
    and O(d^3) if it is full.

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
    kernel: str = parameter("gaussian", one_of(*LEARNT_KERNELS))
    rounds: int = parameter(3, whole(1))
    early_stopping: bool = parameter(False, BOOLEAN)
    n_landmarks: int = parameter(300, whole(1))
    n_rows: int = parameter(3000, whole(2))
    random_state: RandomState = parameter(None, RANDOM_STATE)

    def fit(self, X: Rows, y: Any) -> LearnedMetric:
        """Learn the metric.

        Parameters
        ----------
        X : array or CSR matrix of shape (n, d)
        y : array of shape (n,) or (n, k)
            Class labels, a real target, or target columns (see `rfbench.samplers.base`).

        Raises
        ------
        MethodError
            A parameter is not allowed.
        MemoryLimit
            The rows have too many columns for a full metric.
        """
        self.check_parameters()
        (n, d), targets = X.shape, make_target_columns(y, X.shape[0])
        if self.kind == FULL:  # the rows are dense, and the outer product has all columns squared
            check_fits(
                8.0 * d * (4.0 * min(n, self.n_rows) + 5.0 * d),
                f"A full metric of {d:,} columns",
                "Take fewer columns, or a diagonal metric.",
            )
        random = streams(self.random_state)
        taken = np.arange(n)
        if n > self.n_rows:
            taken = np.sort(random.rows.choice(n, self.n_rows, replace=False))
        rows = to_float64(X[taken])
        if self.kind == FULL:
            rows = to_dense(rows)
        targets = targets[taken]
        # The round, the bandwidth and the penalty are chosen on rows that train nothing: f fits its
        # training rows better in any metric, and the last round would always win.
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
            # f of the rows A^(1/2) x is a kernel regression in the metric A; A = I at first.
            inside = apply_metric(root, rows)
            m = min(self.n_landmarks, int(rows.shape[0]))
            fit = fit_best(self.kernel, inside, targets, apply_metric(root, held_rows), held, m)
            if fit is None or not has_variation(targets):
                self.notes_.append("the target or the rows do not vary: no metric was learnt")
                break
            loss, kernel, landmarks, coef = fit
            losses.append(loss)
            # The loss is that of rows held out: on the rows of the fit every round would gain.
            # Of equal losses the later round is taken, whose metric has seen more of the target.
            if loss <= min(losses):
                self.round_, self.metric_, self.root_ = number, metric, root
            if number == self.rounds or (self.early_stopping and _stalls(losses)):
                break
            # G = 1/n sum_i grad f(x_i) grad f(x_i)', by the rows before the metric: the chain rule
            # multiplies the gradients of the rows A^(1/2) x by the root.
            outer = gradient_outer_product(
                kernel, inside[:OUTER_ROWS], landmarks, coef, root, diagonal=metric.ndim == 1
            )
            # Scaled to the spread of the rows before the metric, for the bandwidth of whoever uses
            # it. The rounds themselves would not notice: their bandwidths are multiples of the
            # median distance.
            following = compute_metric(outer, rows)
            # f is constant: no direction has a gradient, and the metric so far is the last one.
            if following is None:
                break
            metric, root = following
        if not losses:
            self.round_, self.metric_, self.root_ = 0, metric, root
        self.losses_ = np.array(losses)


def _stalls(losses: list[float]) -> bool:
    """Return whether the last rounds gain too little to continue."""
    # After round FULL_ROUNDS one small gain ends, if all gained something. Before, and where
    # nothing was gained so far, two rounds without any have to come first: if few of many columns
    # count, the first gradients are mostly noise, and the gains come late.
    began, last = losses[0], losses[-1]
    if len(losses) > FULL_ROUNDS and LEAST_GAIN * losses[-2] < last < LEAST_GAIN * began:
        return True
    return len(losses) > 2 and min(losses[-2:]) >= min(losses[:-2])


def apply_metric(root: Array, rows: Rows) -> Any:
    """Return the rows times the root of a metric, shape (d,) or (d, d)."""
    if root.ndim == 2:
        return rows @ root
    if sparse.issparse(rows):
        weights: Any = sparse.diags_array(root)
        return rows @ weights.tocsr()
    return rows * root


def has_variation(targets: Array) -> bool:
    """Return whether a column of the targets, shape (n, k), varies by more than rounding."""
    # The gradients of a constant target are rounding, and a metric scaled to the spread of the rows
    # would make directions of it.
    spread = np.ptp(targets, axis=0)
    return bool(np.any(spread > CONSTANT_SPREAD * np.abs(targets).max(axis=0)))


def fit_best(
    name: str, rows: Rows, targets: Array, held_rows: Rows, held: Array, m: int
) -> tuple[float, Kernel, Rows, Array] | None:
    """Fit kernel ridge regressions on the first m rows as landmarks; return the best one.

    Returns
    -------
    tuple of float, Kernel, array of shape (m, d), array of shape (m, k), or None
        The mean squared loss on the rows held out, the kernel, the landmarks and their
        coefficients; None if all landmarks are the same.
    """
    # The rows are in random order here, so that the first m are a random choice.
    landmarks = rows[:m]
    squares = kernels.compute_squared_distances(*kernels.shift_by_mean(landmarks, landmarks))
    # Bandwidths as multiples of the median distance in this metric: it has another in each round.
    # Coinciding landmarks are left out, or the median of discrete rows would be 0.
    median = float(np.median(np.sqrt(squares[squares > 0]))) if np.any(squares > 0) else 0.0
    if not np.isfinite(median) or median < np.sqrt(np.finfo(float).tiny):
        return None
    # min |Y - K_nS c|^2 + n alpha c'K_SS c for each bandwidth and penalty: ridge regression on the
    # Nystroem features K_nS K_SS^(-1/2), whose coefficients give c = K_SS^(-1/2) theta. A fixed
    # penalty, as the authors have it, makes gradients of noise where rows are few.
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
    """Return the metric that follows from an outer product, and its root.

    The metric is the outer product itself if it is the diagonal, shape (d,), and its root if it is
    the full matrix, shape (d, d). It is scaled so that the mean squared distance of the rows does
    not change. None if that distance is 0 in the metric, or not finite.
    """
    if not np.isfinite(outer).all():
        return None
    # A = diag(G), or A = G^(1/2) of all of it, and the root A^(1/2) that rows are multiplied by.
    # The power 1 of a full G diverged: each round multiplies what the last one had found.
    if outer.ndim == 1:
        metric, root = outer, np.sqrt(outer)
    else:
        values, vectors = linalg.eigh(outer)
        values = np.sqrt(np.maximum(values, 0.0))
        metric, root = ((vectors * power) @ vectors.T for power in (values, np.sqrt(values)))
    spread = total_variance(rows, root)
    if not (np.isfinite(spread) and spread > 0):
        return None
    # A <- A tr Cov(X) / tr Cov(A^(1/2) X): the mean squared distance stays that of the rows.
    scale = total_variance(rows) / spread
    return metric * scale, root * scale**0.5


def total_variance(rows: Rows, root: Array | None = None) -> float:
    """Return the sum of the variances of the columns, of the rows times a root if there is one.

    It is half the mean squared distance of two rows.
    """
    n, d = rows.shape
    root = np.ones(d) if root is None else root
    # tr Cov = mean |x|^2 - |mean x|^2, of rows less the first one: where their mean is large, the
    # difference of two large numbers would have no digits. Sparse rows would become dense.
    shift = 0.0 if sparse.issparse(rows) else np.asarray(rows[:1], dtype=np.float64)
    sums, squares = np.zeros(d), 0.0
    for block in iterate_row_blocks(n, d):
        part: Any = rows[block].astype(np.float64)
        part = part if sparse.issparse(part) else part - shift
        sums += np.asarray(part.sum(axis=0)).ravel()
        squares += float(row_norms(apply_metric(root, part), squared=True).sum())
    mean = apply_metric(root, sums / n)
    return float(squares / n - mean @ mean)


def gradient_outer_product(
    kernel: Kernel, rows: Rows, landmarks: Rows, coef: Array, root: Array, *, diagonal: bool
) -> Array:
    """Return the average outer product of the gradients of kernel regressions.

    Parameters
    ----------
    kernel : Kernel
    rows, landmarks : array of shape (n, d) and (m, d)
        In the metric so far.
    coef : array of shape (m, k)
        The outer products of the k regressions are added up.
    root : array of shape (d,) or (d, d)
        The root of the metric so far: gradients are those by the rows before it.
    diagonal : bool

    Returns
    -------
    array of shape (d,) if `diagonal`, else (d, d)
    """
    d, k = rows.shape[1], coef.shape[1]
    total = np.zeros(d) if diagonal else np.zeros((d, d))
    for block in iterate_row_blocks(rows.shape[0], k * d):
        # G = 1/n sum_i grad f grad f', where f(x) = h(A^(1/2) x) and so grad f = A^(1/2) grad h.
        # Without the root the metrics of the rounds would not be of the same rows. By blocks: all
        # gradients at once are n x k x d numbers.
        for gradients in kernel.gradients(rows[block], landmarks, coef):
            by_rows = apply_metric(root, gradients)
            total += np.sum(by_rows**2, axis=0) if diagonal else by_rows.T @ by_rows
    return np.asarray(total / rows.shape[0])


@sampler(
    "rfm-rff",
    kernels=GAUSSIAN,
    about="random Fourier features of a metric that is learnt from the gradients of a few fits",
    contract={"float32_tolerance": 1e-3},
    forms=(Form({"rounds": 2}), Form({"metric": "full", "score_rows": 40})),
)
class RFMFeatures(ScoredFeatures):
    r"""Random Fourier features of a Mahalanobis kernel whose metric is learnt from gradients.

    The frequencies are :math:`w = A^{1/2} w_0`, with :math:`w_0` from the spectral measure and A
    the average gradient outer product of kernel regressions (AGOP), see
    `LearnedMetric`: in a few rounds, of which that with the smallest loss
    on rows held out is kept. Round 0, A = I, is random kitchen sinks.

    This is the recursive feature machine with random features, and a method of rfbench: the
    method of the paper solves kernel regression on all rows. The metric is learnt from fits on
    landmarks, because the gradients of fits on random Fourier features carry the noise of these
    features.

    Parameters
    ----------
    n_components : int, default=100
        M, the number of frequencies; the paired map has two columns per frequency.
    kernel : str, default='gaussian'
        Name of the kernel, see `rfbench.registry.KERNELS`.
    bandwidth : float or {'median', 'knn50', 'knn50-sample'}, default='median'
        Length scale of the kernel, or the rule that finds it on the rows of `fit`.
    feature_map : {'offset', 'paired'}, default='offset'
        Columns sqrt(2/M) cos(w'x + b), or the pairs sqrt(1/M) [cos w'x, sin w'x]. Ignored by the
        kernels without waves (arc-cosine, linear).
    random_state : int, Generator, RandomState, SeedSequence or None, default=None
        Seed or generator of the random numbers. None draws a new seed in every fit.
    score_rows : int or float, default=3000
        Number, or fraction, of training rows that the scores are made from.
    rounds : int, default=3
        Number of outer products that are tried.
    metric : {'diagonal', 'full'}, default='diagonal'
        Weights of the columns, or any linear map of them.

    Attributes
    ----------
    metric_, losses_, round_
        Those of `LearnedMetric`.

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
    revision: ClassVar[int] = 2  # 1: from Fourier features, the last round, full, one penalty

    rounds: int = parameter(3, whole(1))
    metric: str = parameter(DIAGONAL, one_of(DIAGONAL, FULL))
    score_rows: int | float = parameter(3000, SCORE_ROWS)

    def _metric_of(
        self, X: Rows, targets: Array | None, random: Streams, known: dict[str, Any] | None
    ) -> LearnedMetric:
        """Return the metric of these rows: the one that is known, or one that is learnt now.

        It is the same for every bandwidth. The rows of a fold are copied anew for each of them, so
        they are known by their content. A metric that is found takes no time, and none is charged.
        """
        metric = LearnedMetric(
            kind=self.metric,
            kernel=self.kernel,
            rounds=self.rounds,
            n_rows=max(2, self.n_scored(X.shape[0])),
            random_state=random.selection,
        )
        if known is None or isinstance(X, RowSource):
            return metric.fit(X, targets)
        # With the parameters, and the state of the generator among them: another seed learns anew.
        key = joblib.hash((X, targets, metric.get_params()))
        if key in known:
            found: LearnedMetric = known[key]
            return found
        metric.fit(X, targets)
        if sum(other.root_.nbytes for other in known.values()) < METRIC_BYTES:
            known[key] = metric
        return metric

    def _draw(self, X: Rows, targets: Array | None, random: Streams) -> FeatureMap:
        return self._draw_sharing(X, None, targets, random, NOTHING_SHARED)

    def _draw_sharing(
        self, X: Rows, y: Any, targets: Array | None, random: Streams, shared: Shared
    ) -> FeatureMap:
        learned = self._metric_of(X, targets, random, shared.metrics)
        self.metric_, self.losses_ = learned.metric_, learned.losses_
        self.round_ = learned.round_
        self.notes_.extend(learned.notes_)
        drawn = self.draw_unit_map(random, X.shape[1], self.n_components)
        # w'A^(1/2)x is a plain feature of the row A^(1/2) x, and the root is symmetric.
        turned = apply_metric(learned.root_, drawn.frequencies.T).T
        return replace(drawn, frequencies=np.ascontiguousarray(turned)).times(
            self.n_components**-0.5
        )
