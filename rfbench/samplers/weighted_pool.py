"""Samplers that draw from a pool with given probabilities and re-weight what they drew."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace as replaced
from typing import ClassVar

import numpy as np

from rfbench.arrays import Array, FloatArray, Rows
from rfbench.memory import may_hold
from rfbench.parameters import NOTHING, TRUTH, estimator, one_of, parameter, whole
from rfbench.samplers.base import Streams
from rfbench.samplers.feature_map import FeatureMap, FormedFeatures
from rfbench.samplers.pool import ScoredFeatures, fold_pairs

INVERSE = "inverse"


@estimator
class WeightedPool(ScoredFeatures):
    r"""Base of the samplers that draw from a pool with probabilities q and re-weight.

    Of a pool of l frequencies with unnormalised columns :math:`z_i` (the paired map has a cos and
    a sin column per frequency) s are drawn from :math:`q_i = p_i / \sum_j p_j`; the columns are
    :math:`z_i / \sqrt{s\, l\, q_i}`, so that the kernel estimate stays unbiased.

    Parameters
    ----------
    n_components : int
        s.
    pool_size : int or None
        l; None: n_components, as in the experiments of Liu et al. (2020).
    replace : {True}
        Draws are with replacement.
    reweight : {True, 'inverse'}
        True: multiply by :math:`\sqrt{p_0/q_i}`, :math:`p_0` the uniform distribution (1/l, or
        1/(2l) over columns). ``inverse``: by :math:`1/\sqrt{q_i}`, larger by the square root of
        the number of candidates, which lowers a fixed penalty by that number.
    resample : bool
        False: draw nothing; keep every column of the pool, with :math:`1/\sqrt l`, and re-weight
        it. The number of columns then follows pool_size.
    per_column : bool
        Score, draw and weight cos and sin columns apart; the q over all 2l columns sum to 1, and
        2 n_components columns are drawn. Only the paired map knows the difference.
    score_rows : int or float
        n in the scores is the number of rows that are scored.
    Other parameters: those of `ScoredFeatures`.

    Attributes
    ----------
    scores_ : array of shape (l,), or (n_columns of the pool,) with per_column
        p. What is below machine epsilon times the mean is raised to it: a column that is zero on
        all rows would get an infinite weight.
    pool_weights_ : array of the shape of scores_
        q.
    """

    revision: ClassVar[int] = 2

    pool_size: int | None = parameter(None, whole(1) | NOTHING)
    replace: bool = parameter(True, one_of(True))
    reweight: bool | str = parameter(True, one_of(True, INVERSE))
    resample: bool = parameter(True, TRUTH)
    per_column: bool = parameter(False, TRUTH)

    def _draw(self, X: Rows, targets: Array | None, random: Streams) -> FeatureMap:
        size = self.n_components if self.pool_size is None else self.pool_size
        pool = self.draw_unit_map(random, X.shape[1], size)
        none = np.empty((X.shape[0], 0))
        rows, y = self.scoring_rows(X, none if targets is None else targets, random)
        formed = self._room_for(pool, X) if rows is X and self._holds_formed else None
        scores = self._column_scores(pool, rows, y, formed)
        if not self.per_column:
            scores = fold_pairs(pool, scores)
        self.scores_ = _raised_above_zero(scores)
        self.pool_weights_ = q = self.scores_ / self.scores_.sum()
        weights = self._weights(q)
        if len(weights) < pool.n_columns:
            weights = np.tile(weights, 2)
        kept, columns = pool, np.arange(pool.n_columns)
        if self.resample:
            candidates = pool.columns_apart() if self.per_column else pool
            count = self.n_components * (len(q) // pool.n_frequencies)
            chosen = random.selection.choice(len(q), size=count, p=q)
            columns = chosen if self.per_column else pool.columns_of(chosen)
            kept = candidates.take(chosen)
        scale = (self.n_components if self.resample else pool.n_frequencies) ** -0.5
        weights = weights[columns]
        if formed is not None:
            self.formed_ = FormedFeatures(X, formed, columns, (scale * weights).astype(X.dtype))
        return replaced(kept.times(scale), weights=weights)

    def _room_for(self, pool: FeatureMap, X: Rows) -> FloatArray | None:
        """Return an array for all features of the rows, None where it would be too large."""
        shape = (X.shape[0], pool.n_columns)
        if may_hold(float(X.dtype.itemsize) * shape[0] * shape[1]):
            return np.empty(shape, X.dtype)
        self.notes_.append("the scored features do not fit into memory and are made again")
        return None

    @abstractmethod
    def _column_scores(
        self, pool: FeatureMap, rows: Rows, targets: Array, formed: FloatArray | None
    ) -> Array:
        """Return p for every column of the unnormalised pool; its features left in `formed`."""

    def _weights(self, q: Array) -> Array:
        return np.asarray((q if self.reweight == INVERSE else len(q) * q) ** -0.5)


def _raised_above_zero(scores: Array) -> Array:
    floor = np.finfo(float).eps * scores.mean()
    return np.maximum(scores, floor) if floor > 0 else np.ones_like(scores)
