"""Energy-based exploration of random features (EERF): selection by correlation with the target."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rfbench.arrays import Array, Rows
from rfbench.parameters import one_of, parameter
from rfbench.samplers.base import RandomStreams
from rfbench.samplers.declaration import ANY, CheckCase, sampler
from rfbench.samplers.feature_map import FeatureMap
from rfbench.samplers.pool import (
    CENTERING,
    SCORE_ROWS,
    PooledFeatures,
    PoolScores,
    argsort_descending,
    is_target_centered,
    sum_cosine_and_sine_columns,
)


@sampler(
    "eerf",
    kernels=ANY,
    about="the M features of a random pool that correlate most with the target",
    forms=(
        CheckCase({"pool_size": 40, "score_rows": 1.0}),
        CheckCase({"pool_size": 40, "score_rows": 0.5, "center_target": True, "multiclass": "max"}),
        CheckCase({"pool_size": 40, "score_rows": 30, "multiclass": "per-class"}),
    ),
)
class EERF(PooledFeatures):
    r"""The M features of a random pool that have the largest correlation with the target.

    The score of a candidate w is :math:`S(w) = (1/N_0) \sum_i y_i \phi(x_i, w)`, the mean product
    of the target y and the feature :math:`\phi` over :math:`N_0` random training rows. The M
    candidates with the largest :math:`|S|` are kept, in decreasing order of :math:`|S|`. The cost
    is O(M0 N0 d) for M0 candidates and d columns of the data.

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
        Type of the features. For the paired map, the score of a frequency is the l2 norm of the
        scores of its cos and sin columns.
    random_state : int, Generator, RandomState, SeedSequence or None, default=None
        Random seed or generator. None uses a new seed in every fit.
    score_rows : int or float, default=0.1
        N0, as a number or a fraction of the rows. The rule of thumb in the paper is 0.1.
    pool_size : int, default=1000
        M0, the size of the pool. The rule of thumb in the paper is 5M to 20M.
    center_target : {'auto', True, False}, default='auto'
        If True, the mean of the target is subtracted from the target before the scores are
        computed. ``auto`` subtracts it only if there are several target columns, because one-hot
        columns that are not centered favor features with little variation. The default is our
        choice, because the paper does not state it.
    multiclass : {'norm', 'max', 'per-class'}, default='norm'
        Method of combining the scores of several classes: their l2 norm over the one-hot columns,
        their maximum, or the best candidate of each class in turn. This is our choice, because the
        paper does not state it.

    Attributes
    ----------
    scores_ : array of shape (n_components,)
        |S| of the kept features :math:`\phi = \sqrt 2 \cos(w^\top x + b)`, or of the pairs. For
        ``norm`` and ``per-class`` the score is the l2 norm over the classes. The scores are in
        decreasing order except for ``per-class``. Scores that differ only by rounding errors keep
        the order of the pool.

    References
    ----------
    Shahrampour, Beirami and Tarokh, On Data-Dependent Random Features for Improved Generalization
    in Supervised Learning, AAAI 2018, Algorithm 1.

    Examples
    --------
    >>> import numpy as np
    >>> from rfbench.samplers import EERF
    >>> X = np.random.default_rng(0).standard_normal((200, 3))
    >>> sampler = EERF(10, pool_size=100, bandwidth=2.0, random_state=0)
    >>> sampler.fit(X, X[:, 0]).transform(X).shape
    (200, 10)
    """

    needs_target: ClassVar[bool] = True
    approximates_kernel: ClassVar[bool] = False
    changed_defaults: ClassVar[Mapping[str, Any]] = MappingProxyType({"center_target": "auto"})

    score_rows: int | float = parameter(0.1, SCORE_ROWS)
    center_target: bool | str = parameter("auto", CENTERING)
    multiclass: str = parameter("norm", one_of("norm", "max", "per-class"))

    def _draw(self, X: Rows, targets: Array | None, random: RandomStreams) -> FeatureMap:
        assert targets is not None
        pool = self.draw_pool(random, X.shape[1])
        scored = PoolScores.from_rows(pool, *self.draw_scoring_rows(X, targets, random))
        centered = is_target_centered(self.center_target, targets)
        moments = scored.compute_target_moments(centered=centered) / scored.n
        energy = np.stack(
            [sum_cosine_and_sine_columns(pool, column**2) for column in moments.T], axis=1
        )
        errors = scored.rounding / scored.n
        joined = np.sqrt(energy.max(axis=1) if self.multiclass == "max" else energy.sum(axis=1))
        if self.multiclass == "per-class":
            order = _best_of_each_class_in_turn(np.sqrt(energy), errors)
        else:
            order = argsort_descending(joined, float(np.linalg.norm(errors)))
        chosen = order[: self.n_components]
        self.scores_ = joined[chosen]
        return pool.select(chosen).times(self.n_components**-0.5)


def _best_of_each_class_in_turn(scores: Array, errors: Array) -> NDArray[np.intp]:
    """Return the indices of all candidates, ordered by their ranks within the classes.

    The best candidate of each class comes first, then the second best of each class, and so on.
    Each candidate appears once, at its first position in this order. `scores` has one row per
    candidate and one column per class, and `errors` has the rounding error of each class.
    """
    orders = [argsort_descending(*of) for of in zip(scores.T, errors, strict=True)]
    ranking = np.stack(orders, axis=1).ravel()
    _, first = np.unique(ranking, return_index=True)
    return np.asarray(ranking[np.sort(first)], dtype=np.intp)
