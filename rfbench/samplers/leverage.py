"""Features drawn from a pool by their leverage, or by a surrogate of it that needs no inverse."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace as replaced
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from scipy.linalg import lapack

from rfbench.errors import MethodError
from rfbench.kernels import Array, Rows
from rfbench.samplers.base import RandomState, Streams
from rfbench.samplers.feature_map import OFFSET, PAIRED, FeatureMap
from rfbench.samplers.pool import ScoredFeatures, feature_blocks, fold_pairs

INVERSE = "inverse"


class LeverageWeighted(ScoredFeatures):
    r"""Base of the samplers that draw from a pool with probabilities q and re-weight.

    Of a pool of l frequencies with unnormalised columns :math:`z_i` (the paired map has a cos and
    a sin column a frequency) s are drawn from :math:`q_i = p_i / \sum_j p_j`; the columns are
    :math:`z_i / \sqrt{s\, l\, q_i}`, so that the kernel estimate stays unbiased.

    Parameters
    ----------
    n_components : int
        s.
    pool_size : int or None
        l; None: n_components, as in the experiments of liu2020.
    replace : bool
        Draw with replacement. Without it the weights stay the same (a choice) and the estimate is
        no longer unbiased; the pool must hold n_components.
    reweight : bool or 'inverse'
        True: multiply by :math:`\sqrt{p_0/q_i}`, :math:`p_0` the uniform distribution (1/l, or
        1/(2l) over columns). ``inverse``: by :math:`1/\sqrt{q_i}`, larger by the square root of
        the number of candidates, which lowers a fixed penalty by that number. False: by 1.
    resample : bool
        False: draw nothing; keep every column of the pool, with :math:`1/\sqrt l`, and re-weight
        it. The number of columns then follows pool_size.
    per_column : bool
        Score, draw and weight cos and sin columns apart; the q over all 2l columns sum to 1, and
        2 n_components columns are drawn. Only the paired map knows the difference.
    score_rows, kernel, bandwidth, feature_map, random_state
        See `ScoredFeatures` and `rfbench.samplers.base.RandomFeatures`; n in the scores is the
        number of rows that are scored.

    Attributes
    ----------
    scores_ : array of shape (l,), or (n_columns of the pool,) with per_column
        p. What is below machine epsilon times the mean is raised to it: a column that is zero on
        all rows would get an infinite weight.
    pool_weights_ : array of the shape of scores_
        q.
    """

    def __init__(
        self,
        n_components: int = 100,
        *,
        pool_size: int | None = None,
        replace: bool = True,
        reweight: bool | str = True,
        resample: bool = True,
        per_column: bool = False,
        score_rows: int | float = 1.0,
        kernel: str = "gaussian",
        bandwidth: float | str = "median",
        feature_map: str = OFFSET,
        random_state: RandomState = None,
    ) -> None:
        super().__init__(
            n_components,
            score_rows=score_rows,
            kernel=kernel,
            bandwidth=bandwidth,
            feature_map=feature_map,
            random_state=random_state,
        )
        self.pool_size = pool_size
        self.replace = replace
        self.reweight = reweight
        self.resample = resample
        self.per_column = per_column

    def check_parameters(self) -> None:
        """Check the pool and the choices."""
        super().check_parameters()
        if self.pool_size is not None:
            self._check_count("pool_size", self.pool_size)
        self._check_choice("reweight", self.reweight, (True, False, INVERSE))
        for name in ("replace", "resample", "per_column"):
            self._check_choice(name, getattr(self, name), (True, False))
        if self.resample and not self.replace and self.n_components > self._candidates():
            raise MethodError(
                f"{self.n_components} features cannot be drawn without replacement from a pool of "
                f"{self._candidates()}.",
                "Every candidate can be drawn once.",
                "Raise pool_size or lower n_components.",
            )

    def _candidates(self) -> int:
        return self.n_components if self.pool_size is None else self.pool_size

    def _draw(self, X: Rows, targets: NDArray[np.float64] | None, random: Streams) -> FeatureMap:
        pool = self.draw_unit_map(random, X.shape[1], self._candidates())
        none = np.empty((X.shape[0], 0))
        rows, y = self.scoring_rows(X, none if targets is None else targets, random)
        scores = self._column_scores(pool, rows, y)
        if not self.per_column:
            scores = fold_pairs(pool, scores)
        self.scores_ = _raised_above_zero(scores)
        self.pool_weights_ = q = self.scores_ / self.scores_.sum()
        weights = self._weights(q)
        if self.resample:
            candidates = _columns_apart(pool) if self.per_column else pool
            count = self.n_components * (len(q) // pool.n_frequencies)
            chosen = random.selection.choice(len(q), size=count, replace=self.replace, p=q)
            kept = candidates.take(chosen).times(self.n_components**-0.5)
            return kept.weighted_by(weights[chosen])
        whole = pool.times(pool.n_frequencies**-0.5)
        if self.per_column:
            return replaced(whole, weights=weights)
        return whole.weighted_by(weights)

    @abstractmethod
    def _column_scores(
        self, pool: FeatureMap, rows: Rows, targets: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return p for every column of the unnormalised pool, shape (n_columns,)."""

    def _weights(self, q: NDArray[np.float64]) -> NDArray[np.float64]:
        if not self.reweight:
            return np.ones_like(q)
        return np.asarray((q if self.reweight == INVERSE else len(q) * q) ** -0.5)


class LeverageRFF(LeverageWeighted):
    r"""Random Fourier features drawn by their ridge leverage score.

    With Z the n x l unnormalised columns of the pool,

    .. math:: p_i = \big(Z^\top Z (\tfrac1l Z^\top Z + n \lambda I)^{-1}\big)_{ii},

    that is l times the diagonal of :math:`G (G + n \lambda I)^{-1}` with :math:`G = Z^\top Z / l`
    the Gram matrix of the columns that carry :math:`1/\sqrt l`. The score of a frequency of the
    paired map is the sum over its cos and sin columns. Costs O(n l^2 + l^3).

    What gives the numbers that liu2020 prints for this method is ``resample=False,
    per_column=True, reweight='inverse', alpha=0.05, feature_map='paired'``: with s frequencies and
    base columns :math:`\sqrt{1/s}[\cos, \sin]`, all 2s columns times :math:`1/\sqrt{q_i}`.

    Parameters
    ----------
    alpha : float
        The :math:`\lambda` of the score, in the convention n lambda.
    n_components, pool_size, replace, reweight, resample, per_column, score_rows, kernel, \
bandwidth, feature_map, random_state
        See `LeverageWeighted`.

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
    >>> sampler.transform(X).shape, round(sampler.pool_weights_.sum(), 12)
    ((200, 10), 1.0)
    """

    def __init__(
        self,
        n_components: int = 100,
        *,
        pool_size: int | None = None,
        alpha: float = 0.05,
        replace: bool = True,
        reweight: bool | str = True,
        resample: bool = True,
        per_column: bool = False,
        score_rows: int | float = 1.0,
        kernel: str = "gaussian",
        bandwidth: float | str = "median",
        feature_map: str = OFFSET,
        random_state: RandomState = None,
    ) -> None:
        super().__init__(
            n_components,
            pool_size=pool_size,
            replace=replace,
            reweight=reweight,
            resample=resample,
            per_column=per_column,
            score_rows=score_rows,
            kernel=kernel,
            bandwidth=bandwidth,
            feature_map=feature_map,
            random_state=random_state,
        )
        self.alpha = alpha

    def check_parameters(self) -> None:
        """Check alpha as well."""
        super().check_parameters()
        self._check_positive("alpha", self.alpha)

    def _column_scores(
        self, pool: FeatureMap, rows: Rows, targets: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        from rfbench.compute.gram import accumulate

        transform = pool.astype(rows.dtype).transform_into
        equations = accumulate(transform, rows, targets, pool.n_columns, dtype=rows.dtype)
        size = pool.n_frequencies
        return size * ridge_leverage(equations.gram / size, rows.shape[0] * self.alpha)


class SurrogateLeverage(LeverageWeighted):
    r"""Random Fourier features drawn by a surrogate of their ridge leverage score.

    With :math:`z_i` the unnormalised columns of the pool and y the target,

    .. math::
        p_i = |y^\top z_i|^2 + n |z_i|^2 \quad (12), \qquad p_i = |y^\top z_i|^2 \quad (14),

    summed over the cos and sin columns of a frequency in the paired map, and over the columns of
    the target where there are several (a choice: the paper is binary). Costs O(n l).

    What gives the numbers that liu2020 prints is ``equation=14, resample=False, per_column=True,
    reweight='inverse', feature_map='paired'``: with s frequencies and base columns
    :math:`\sqrt{1/s}[\cos, \sin]`, all 2s columns times :math:`1/\sqrt{q_i}`.

    Parameters
    ----------
    equation : {12, 14}
        14 is what the experiments of the paper use (its equation 15 is the same score as a sum of
        the cos and sin parts).
    center_target : bool
        Subtract the mean of the target in the score. Not settled by the text: a choice.
    n_components, pool_size, replace, reweight, resample, per_column, score_rows, kernel, \
bandwidth, feature_map, random_state
        See `LeverageWeighted`.

    References
    ----------
    Liu, Huang, Chen, Yang and Suykens, Random Fourier Features via Fast Surrogate Leverage
    Weighted Sampling, AAAI 2020, Algorithm 1, equations 12, 14 and 15.

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

    def __init__(
        self,
        n_components: int = 100,
        *,
        pool_size: int | None = None,
        equation: int = 14,
        center_target: bool = False,
        replace: bool = True,
        reweight: bool | str = True,
        resample: bool = True,
        per_column: bool = False,
        score_rows: int | float = 1.0,
        kernel: str = "gaussian",
        bandwidth: float | str = "median",
        feature_map: str = OFFSET,
        random_state: RandomState = None,
    ) -> None:
        super().__init__(
            n_components,
            pool_size=pool_size,
            replace=replace,
            reweight=reweight,
            resample=resample,
            per_column=per_column,
            score_rows=score_rows,
            kernel=kernel,
            bandwidth=bandwidth,
            feature_map=feature_map,
            random_state=random_state,
        )
        self.equation = equation
        self.center_target = center_target

    def check_parameters(self) -> None:
        """Check the equation as well."""
        super().check_parameters()
        self._check_choice("equation", self.equation, (12, 14))
        self._check_choice("center_target", self.center_target, (True, False))

    def _column_scores(
        self, pool: FeatureMap, rows: Rows, targets: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        if self.center_target:
            targets = targets - targets.mean(axis=0)
        moments, squares = _moments_and_squares(pool, rows, targets)
        scores = (moments**2).sum(axis=1)
        return scores + rows.shape[0] * squares if self.equation == 12 else scores
