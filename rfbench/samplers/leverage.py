"""Random features drawn from a pool of candidates by ridge leverage scores or cheaper scores."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace as replaced
from typing import Any, ClassVar

import numpy as np
from scipy import linalg
from scipy.linalg import lapack

from rfbench.arrays import Array, FloatArray, Rows
from rfbench.memory import can_hold_in_memory
from rfbench.parameters import BOOLEAN, NONE, estimator, number, one_of, parameter, whole
from rfbench.samplers.base import NOTHING_SHARED, RandomStreams, Shared
from rfbench.samplers.declaration import ANY, CheckCase, sampler
from rfbench.samplers.feature_map import FeatureMap, PrecomputedFeatures
from rfbench.samplers.pool import (
    ScoredFeatures,
    compute_target_moments,
    sum_cosine_and_sine_columns,
)

INVERSE = "inverse"


@estimator
class WeightedPool(ScoredFeatures):
    r"""Base class of the samplers that draw features from a pool with unequal probabilities.

    The pool contains l random frequencies. A subclass computes a score :math:`p_i` of each
    frequency. Then s frequencies are drawn with the probabilities :math:`q_i = p_i / \sum_j p_j`.
    The feature column :math:`z_i` of a drawn frequency is divided by :math:`\sqrt{s\, l\, q_i}`, so
    that the kernel estimate is unbiased.

    Parameters
    ----------
    n_components : int, default=100
        Number s of frequencies to draw.
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
    score_rows : int or float, default=1.0
        Number n, or fraction, of the training rows from which the scores are computed.
    pool_size : int or None, default=None
        Number l of frequencies in the pool. By default it is n_components, as in the experiments of
        Liu et al. (2020).
    replace : {True}, default=True
        Features are drawn with replacement.
    reweight : {True, 'inverse'}, default=True
        Factor of a drawn column. True: :math:`\sqrt{p_0/q_i}`, with the uniform probability
        :math:`p_0` (1/l, or 1/(2l) with per_column). ``inverse``: :math:`1/\sqrt{q_i}`, which has
        the same effect as dividing the penalty of a ridge regression by the number of candidates.
    resample : bool, default=True
        True: draw features from the pool. False: keep every column of the pool, multiplied by
        :math:`1/\sqrt l` and its weight. The number of columns then depends on pool_size.
    per_column : bool, default=False
        Score, draw and weight the cos and the sin column of a frequency separately. The
        probabilities q of all 2l columns sum to 1, and 2 n_components columns are drawn. The
        parameter has an effect only for the paired map.

    Attributes
    ----------
    scores_ : array of shape (l,), or (n_columns of the pool,) with per_column
        The scores p. Scores below machine epsilon times the mean score are replaced by this limit,
        because a column that is zero on all rows would otherwise get an infinite weight.
    pool_weights_ : array of the shape of scores_
        The probabilities q with which the frequencies (or columns) are drawn.
    """

    revision: ClassVar[int] = 2

    pool_size: int | None = parameter(None, whole(1) | NONE)
    replace: bool = parameter(True, one_of(True))
    reweight: bool | str = parameter(True, one_of(True, INVERSE))
    resample: bool = parameter(True, BOOLEAN)
    per_column: bool = parameter(False, BOOLEAN)

    def _draw(self, X: Rows, targets: Array | None, random: RandomStreams) -> FeatureMap:
        return self._draw_sharing(X, None, targets, random, NOTHING_SHARED)

    def _draw_sharing(
        self, X: Rows, y: Any, targets: Array | None, random: RandomStreams, shared: Shared
    ) -> FeatureMap:
        size = self.n_components if self.pool_size is None else self.pool_size
        pool = self.draw_unit_map(random, X.shape[1], size)
        none = np.empty((X.shape[0], 0))
        rows, own = self.draw_scoring_rows(X, none if targets is None else targets, random)
        formed = self._room_for(pool, X) if rows is X and shared.keeps_columns else None
        scores = self._column_scores(pool, rows, own, formed)
        if not self.per_column:
            scores = sum_cosine_and_sine_columns(pool, scores)
        floor = np.finfo(float).eps * scores.mean()
        self.scores_ = np.maximum(scores, floor) if floor > 0 else np.ones_like(scores)
        self.pool_weights_ = q = self.scores_ / self.scores_.sum()
        weights = np.asarray((q if self.reweight == INVERSE else len(q) * q) ** -0.5)
        if len(weights) < pool.n_columns:
            weights = np.tile(weights, 2)
        kept, columns = pool, np.arange(pool.n_columns)
        if self.resample:
            candidates = pool.to_offset() if self.per_column else pool
            count = self.n_components * (len(q) // pool.n_frequencies)
            chosen = random.selection.choice(len(q), size=count, p=q)
            columns = chosen if self.per_column else pool.find_columns(chosen)
            kept = candidates.select(chosen)
        scale = (self.n_components if self.resample else pool.n_frequencies) ** -0.5
        weights = weights[columns]
        if formed is not None:
            self.formed_ = PrecomputedFeatures(
                X, formed, columns, (scale * weights).astype(X.dtype)
            )
        return replaced(kept.times(scale), weights=weights)

    def _room_for(self, pool: FeatureMap, X: Rows) -> FloatArray | None:
        """Return an empty array for the features of all rows of X.

        The result is None if the array would not fit into memory.
        """
        shape = (X.shape[0], pool.n_columns)
        if can_hold_in_memory(float(X.dtype.itemsize) * shape[0] * shape[1]):
            return np.empty(shape, X.dtype)
        self.notes_.append("the scored features do not fit into memory, so they are computed again")
        return None

    @abstractmethod
    def _column_scores(
        self, pool: FeatureMap, rows: Rows, targets: Array, formed: FloatArray | None
    ) -> Array:
        """Return the score of each feature column of the pool.

        The scores are computed from the given rows and their targets. If `formed` is an array, the
        feature columns are also written into it.
        """


@sampler(
    "leverage-rff",
    kernels=ANY,
    about="features drawn from a pool by their ridge leverage scores",
    # With the parameters below, the checks do not require an unbiased kernel estimate. Another
    # test, in tests/samplers/test_leverage.py, requires that importance-weighted features are
    # unbiased.
    contract={"unbiased": False},
    forms=(
        CheckCase({"pool_size": 30}),
        CheckCase(
            {"resample": False, "per_column": True, "reweight": "inverse"},
            {"float32_tolerance": 1e-3},
        ),
    ),
)
class LeverageRFF(WeightedPool):
    r"""Random Fourier features drawn with probabilities proportional to ridge leverage scores.

    Let Z be the matrix of the l feature columns of a pool of candidates on n training rows. The
    ridge leverage score of column i is

    .. math:: p_i = \big(Z^\top Z (\tfrac1l Z^\top Z + n \lambda I)^{-1}\big)_{ii}.

    In the paired map, the score of a frequency is the sum of the scores of its cos and its sin
    column. Drawn features are divided by the square root of their probability. The cost is
    O(n l^2 + l^3).

    Parameters
    ----------
    n_components : int, default=100
        Number s of frequencies to draw.
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
    score_rows : int or float, default=1.0
        Number n, or fraction, of the training rows from which the scores are computed.
    pool_size : int or None, default=None
        Number l of frequencies in the pool. By default it is n_components, as in the experiments of
        Liu et al. (2020).
    replace : {True}, default=True
        Features are drawn with replacement.
    reweight : {True, 'inverse'}, default=True
        Factor of a drawn column. True: :math:`\sqrt{p_0/q_i}`, with the uniform probability
        :math:`p_0` (1/l, or 1/(2l) with per_column). ``inverse``: :math:`1/\sqrt{q_i}`, which has
        the same effect as dividing the penalty of a ridge regression by the number of candidates.
    resample : bool, default=True
        True: draw features from the pool. False: keep every column of the pool, multiplied by
        :math:`1/\sqrt l` and its weight. The number of columns then depends on pool_size.
    per_column : bool, default=False
        Score, draw and weight the cos and the sin column of a frequency separately. The
        probabilities q of all 2l columns sum to 1, and 2 n_components columns are drawn. The
        parameter has an effect only for the paired map.
    alpha : float, default=0.05
        The penalty :math:`\lambda` of the score, which is multiplied by n.

    Notes
    -----
    Table 3 of Liu et al. (2020) is obtained with ``resample=False, per_column=True,
    reweight='inverse', alpha=0.05, feature_map='paired'``. No features are then drawn. Each cos or
    sin column of the s frequencies has the factor :math:`1/\sqrt{s\, q_i}`.

    References
    ----------
    Li, Ton, Oglic and Sejdinovic, Towards a Unified Analysis of Random Fourier Features, ICML
    2019, Algorithm 1. Liu, Huang, Chen, Yang and Suykens, Random Fourier Features via Fast
    Surrogate Leverage Weighted Sampling, AAAI 2020, Table 3.

    Examples
    --------
    >>> import numpy as np
    >>> from rfbench.samplers import LeverageRFF
    >>> X = np.random.default_rng(0).standard_normal((200, 3))
    >>> sampler = LeverageRFF(10, pool_size=50, bandwidth=2.0, random_state=0).fit(X)
    >>> sampler.transform(X).shape, sampler.pool_weights_.shape
    ((200, 10), (50,))
    """

    alpha: float = parameter(0.05, number(above=0))

    def _column_scores(
        self, pool: FeatureMap, rows: Rows, targets: Array, formed: FloatArray | None
    ) -> Array:
        from rfbench.compute.gram import accumulate_normal_equations

        unit, size, done = pool.astype(rows.dtype), pool.n_frequencies, 0

        def transform(block: Rows, out: FloatArray) -> None:
            nonlocal done
            unit.transform_into(block, out)
            if formed is not None:
                formed[done : done + len(out)] = out
                done += len(out)

        equations = accumulate_normal_equations(
            transform, rows, targets, pool.n_columns, dtype=rows.dtype
        )
        return size * compute_ridge_leverage(equations.gram / size, rows.shape[0] * self.alpha)


@sampler(
    "surrogate-leverage",
    kernels=ANY,
    about="features drawn from a pool by a cheap approximation of their ridge leverage scores",
    labels={
        "surrogate-leverage-kept": "all features of the pool, weighted by these scores; none drawn"
    },
    # With the parameters below, the checks do not require an unbiased kernel estimate. Another
    # test, in tests/samplers/test_leverage.py, requires that importance-weighted features are
    # unbiased.
    contract={"unbiased": False},
    forms=(
        CheckCase({"pool_size": 30, "center_target": True}, {"float32_tolerance": 1e-3}),
        CheckCase({"pool_size": 30, "equation": 12, "per_column": True}),
    ),
)
class SurrogateLeverage(WeightedPool):
    r"""Random Fourier features drawn by a score that is cheaper than the ridge leverage score.

    Let :math:`z_i` be column i of a pool of l candidates on n training rows, and y the target. The
    score of column i is one of

    .. math::
        p_i = |y^\top z_i|^2 + n |z_i|^2 \quad (12), \qquad p_i = |y^\top z_i|^2 \quad (14).

    Features are drawn with probabilities proportional to their scores. In the paired map, the score
    of a frequency is the sum of the scores of its cos and its sin column. The cost is O(n l).

    Parameters
    ----------
    n_components : int, default=100
        Number s of frequencies to draw.
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
    score_rows : int or float, default=1.0
        Number n, or fraction, of the training rows from which the scores are computed.
    pool_size : int or None, default=None
        Number l of frequencies in the pool. By default it is n_components, as in the experiments of
        Liu et al. (2020).
    replace : {True}, default=True
        Features are drawn with replacement.
    reweight : {True, 'inverse'}, default=True
        Factor of a drawn column. True: :math:`\sqrt{p_0/q_i}`, with the uniform probability
        :math:`p_0` (1/l, or 1/(2l) with per_column). ``inverse``: :math:`1/\sqrt{q_i}`, which has
        the same effect as dividing the penalty of a ridge regression by the number of candidates.
    resample : bool, default=True
        True: draw features from the pool. False: keep every column of the pool, multiplied by
        :math:`1/\sqrt l` and its weight. The number of columns then depends on pool_size.
    per_column : bool, default=False
        Score, draw and weight the cos and the sin column of a frequency separately. The
        probabilities q of all 2l columns sum to 1, and 2 n_components columns are drawn. The
        parameter has an effect only for the paired map.
    equation : {12, 14}, default=14
        Equation of the score in the paper. The experiments of the paper use 14. (Equation 15 is the
        same score as a sum of the cos and sin parts.)
    center_target : bool, default=False
        If True, the mean of the target is subtracted from the target before the scores are
        computed. The default is our choice, because the paper does not state it.

    Notes
    -----
    The re-weighted estimate is unbiased for both equations. For (14) its variance over pools is
    unbounded if a score is a single square |y'z|^2. The reason is that y'z is nearly normal, and
    1/|y'z|^2 then has no mean. A score is a single square in the offset map and with per_column.
    The term n |z|^2 in (12) bounds the weights.

    If there are several target columns, the score is summed over them. The sum is our choice,
    because the paper has only one target column.

    The published results of the paper are obtained with ``equation=14, resample=False,
    per_column=True, reweight='inverse', feature_map='paired'``. No features are then drawn. Each
    cos or sin column of the s frequencies has the factor :math:`1/\sqrt{s\, q_i}`.

    References
    ----------
    Liu, Huang, Chen, Yang and Suykens, Random Fourier Features via Fast Surrogate Leverage
    Weighted Sampling, AAAI 2020, equations 12, 14 and 15.

    Examples
    --------
    >>> import numpy as np
    >>> from rfbench.samplers import SurrogateLeverage
    >>> X = np.random.default_rng(0).standard_normal((200, 3))
    >>> sampler = SurrogateLeverage(10, pool_size=50, bandwidth=2.0, random_state=0)
    >>> sampler.fit(X, np.sign(X[:, 0])).transform(X).shape
    (200, 10)
    """

    needs_target: ClassVar[bool] = True

    equation: int = parameter(14, one_of(12, 14))
    center_target: bool = parameter(False, BOOLEAN)

    def _column_scores(
        self, pool: FeatureMap, rows: Rows, targets: Array, formed: FloatArray | None
    ) -> Array:
        if self.center_target:
            targets = targets - targets.mean(axis=0)
        squares = np.zeros(pool.n_columns) if self.equation == 12 else None
        scores = np.asarray(
            (compute_target_moments(pool, rows, targets, formed, squares) ** 2).sum(axis=1)
        )
        return scores if squares is None else scores + rows.shape[0] * squares


def compute_ridge_leverage(gram: Array, penalty: float) -> Array:
    r"""Return the ridge leverage scores, the diagonal of :math:`G (G + \mu I)^{-1}`, shape (p,).

    The scores are between 0 and 1.

    Parameters
    ----------
    gram : array of shape (p, p)
        The symmetric, positive semi-definite matrix G, for example the Gram matrix of p features.
    penalty : float
        The penalty :math:`\mu > 0`.

    Notes
    -----
    With the Cholesky factorization :math:`L L^\top = G + \mu I`, score i is :math:`1 - \mu \sum_k
    (L^{-1})_{ki}^2`. If the factorization fails or is inaccurate, the scores are computed from the
    eigenvalues of G. Eigenvalues below p eps times the largest eigenvalue count as zeros.
    """
    size = len(gram)
    shifted = np.array(gram, order="F")
    shifted[np.diag_indices(size)] += penalty
    factor, failed = lapack.dpotrf(shifted, lower=1, clean=1, overwrite_a=1)
    pivots = np.diag(factor)
    eps = size * np.finfo(float).eps
    if failed or pivots.min() ** 2 <= eps * pivots.max() ** 2:
        eigenvalues, vectors = linalg.eigh(gram)
        kept = np.where(eigenvalues > eps * eigenvalues[-1], eigenvalues, 0.0)
        return np.asarray(vectors**2 @ (kept / (kept + penalty)))
    inverse, _ = lapack.dtrtri(factor, lower=1, overwrite_c=1)
    scores = 1.0 - penalty * np.einsum("ki,ki->i", inverse, inverse)
    return np.asarray(np.clip(scores, 0.0, 1.0))
