"""Learning kernels with random features (LKRF): features weighted by their fit to the target."""

from __future__ import annotations

from copy import deepcopy
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from rfbench.arrays import Array, Rows
from rfbench.errors import MethodError
from rfbench.parameters import BOOLEAN, NONE, number, one_of, parameter
from rfbench.rows import select_rows
from rfbench.samplers.base import RandomStreams, make_streams
from rfbench.samplers.declaration import ANY, CheckCase, sampler
from rfbench.samplers.feature_map import FeatureMap
from rfbench.samplers.pool import (
    CENTERING,
    PooledFeatures,
    PoolScores,
    is_target_centered,
    iterate_ridge_fits,
    sum_cosine_and_sine_columns,
)

VALIDATION = "validation"
# DIVERGENCE_PENALTIES are the candidate penalties on the divergence of the feature weights from
# uniform weights. The range 1e-5 to 1e5 is used in Shahrampour et al. 2018. RIDGE_ALPHAS are the
# candidate penalties of the ridge fits with which these candidates are compared. This range was
# chosen without a measurement. With half of either range, the best value would sometimes be outside
# the range.
DIVERGENCE_PENALTIES = tuple(float(f"1e{power}") for power in range(-5, 6))
RIDGE_ALPHAS = np.array([float(f"1e{power}") for power in range(-6, 1)])


@sampler(
    "lkrf",
    kernels=ANY,
    about="features drawn from, or weighted by, the kernel that is best aligned with the target",
    labels={
        "lkrf-top": (
            "the M features with the largest weights in that kernel, nearly as in eerf;"
            " differs from Sinha and Duchi"
        )
    },
    forms=(
        CheckCase({"pool_size": 40, "rho": 2.0}),
        CheckCase({"pool_size": 40, "rho": 2.0, "estimator": "draw", "score_rows": 0.5}),
        CheckCase({"pool_size": 40, "penalty": 0.5, "weighted": False}),
        CheckCase(
            {"pool_size": 40, "penalty": "validation", "estimator": "draw", "score_rows": 0.5}
        ),
    ),
)
class LKRF(PooledFeatures):
    r"""Features selected from a random pool by a probability distribution learned from the target.

    The score of candidate m, a feature :math:`\phi` with the frequency :math:`w_m`, is :math:`v_m =
    (\sum_i y_i \phi(x_i, w_m))^2`, its squared correlation with the target y. The learned
    distribution q over the :math:`N_w` candidates maximizes the mean score :math:`q^\top v`. The
    distance of q from the uniform distribution is limited: :math:`N_w |q|^2 - 1 \le \rho`. The
    parameter `estimator` sets how features are selected with q.

    Parameters
    ----------
    n_components : int, default=100
        M, the number of features. The estimator ``all`` ignores it.
    kernel, bandwidth, feature_map, random_state
        Kernel, length scale, type of the features and random seed, as in `RKS`.
    score_rows : int or float, default=1.0
        Number or fraction of the training rows from which the scores are computed. If there are
        several target columns, the scores are summed over the columns. The sum is our choice,
        because the paper has only one target column.
    pool_size : int, default=1000
        N_w, the number of candidates. If pool_size is d or more, the pool of the linear kernel
        contains each coordinate once.
    rho : float, default=10.0
        Largest allowed distance of q from the uniform distribution. At least N_w / (1 + rho)
        candidates have q > 0.
    penalty : float or 'validation', optional, default=None
        Penalty lambda above 0, which replaces rho: q maximizes
        :math:`q^\top v - \lambda (N_w |q|^2 - 1)`. The scores v are first divided by their maximum,
        so that lambda has the same meaning for every data set (our choice). ``validation`` selects
        the value with the smallest validation error from 1e-5, 1e-4, ..., 1e5 (the grid of
        Shahrampour et al. 2018). If several values have the same error, the largest is selected.
        For each value, the scores are computed on four fifths of the scoring rows. Ridge regression
        is then fitted to these rows, with an intercept and the best penalty of 1e-6, ..., 1 times
        the number of rows. The validation error is the squared error on the held-out fifth. All
        values use the same random numbers. The selected value is then used with the scores of all
        scoring rows, and reported in a note. For values above about 1 the weights are nearly
        uniform and the features are similar to random kitchen sinks, so that the choice of lambda
        has little effect. The validation is our choice, because the papers do not describe one.
    estimator : {'draw', 'top', 'all', 'paper'}, default='top'
        ``draw``: M draws with replacement from q (estimator 5). ``top``: the M most probable
        candidates (as in the comparison of Shahrampour et al.), in the order of their scores if q
        is equal. If weighted, candidates with q = 0 become zero columns, and a note reports this.
        As q increases with the score, the result consists of the candidates with the M largest
        scores, for every `rho` and `penalty`. These are the candidates that `EERF` selects from the
        same pool and scoring rows. Without weights the result does not depend on q. ``all``: every
        feature with q > 0 (estimator 6). The number of features is then nnz(q), for every M.
        ``paper``: ``draw`` if M < nnz(q), and ``all`` otherwise.
    weighted : bool, default=True
        Multiply column m by sqrt(q_m) for ``top`` and ``all``. Estimator (6) has these factors, but
        the code of the authors does not. Draws are never weighted.
    center_target : {'auto', True, False}, default='auto'
        If True, the mean of the target is subtracted from the target before the scores are
        computed. ``auto`` subtracts it only if there are several target columns. The default is our
        choice, because the paper does not state it.

    Attributes
    ----------
    pool_weights_ : array of shape (number of candidates,)
        The distribution q.
    kept_ : int
        The number of candidates with q > 0, nnz(q).
    penalty_ : float or None
        The penalty lambda.

    References
    ----------
    Sinha and Duchi, Learning Kernels with Random Features, NIPS 2016: problem (4), estimators (5)
    and (6). Shahrampour, Beirami and Tarokh, On Data-Dependent Random Features, AAAI 2018.

    Examples
    --------
    >>> import numpy as np
    >>> from rfbench.samplers import LKRF
    >>> X = np.random.default_rng(0).standard_normal((500, 2))
    >>> y = np.sign(np.linalg.norm(X, axis=1) - 1.2)
    >>> sampler = LKRF(pool_size=1000, rho=50.0, estimator="all", bandwidth=1.0, random_state=0)
    >>> sampler.fit(X, y).transform(X).shape == (500, sampler.kept_)
    True
    """

    needs_target: ClassVar[bool] = True
    approximates_kernel: ClassVar[bool] = False
    keeps_some: ClassVar[bool] = True

    rho: float = parameter(10.0, number(least=0) | one_of(np.inf))
    penalty: float | str | None = parameter(None, number(above=0) | one_of(VALIDATION) | NONE)
    estimator: str = parameter("top", one_of("draw", "top", "all", "paper"))
    weighted: bool = parameter(True, BOOLEAN)
    center_target: bool | str = parameter("auto", CENTERING)

    @property
    def has_selection(self) -> bool:
        """True if M different frequencies are selected from the pool, which needs at least M."""
        return self.estimator == "top"

    def _draw(self, X: Rows, targets: Array | None, random: RandomStreams) -> FeatureMap:
        assert targets is not None
        pool = self.draw_pool(random, X.shape[1])
        rows, y = self.draw_scoring_rows(X, targets, random)
        scored = PoolScores.from_rows(pool, rows, y)
        self.penalty_: float | None = None
        if self.penalty == VALIDATION:
            self.penalty_ = self._validated_penalty(scored, rows, y, random.selection.spawn(1)[0])
        elif self.penalty is not None:
            self.penalty_ = float(self.penalty)
        v = self._alignments(scored)
        self.pool_weights_ = q = self._distribution(v, self.penalty_)
        self.kept_ = int(np.count_nonzero(q))
        if self.estimator == "top" and (beyond := max(0, self.n_components - self.kept_)):
            zeros = ", and their columns are zero" if self.weighted else ""
            self.notes_.append(
                f"{beyond} of {self.n_components} features have the weight q = 0{zeros}"
            )
        return self._taken(pool, v, q, random.selection)

    def _alignments(self, scored: PoolScores) -> Array:
        centered = is_target_centered(self.center_target, scored.moments)
        return sum_cosine_and_sine_columns(
            scored.pool, (scored.compute_target_moments(centered=centered) ** 2).sum(axis=1)
        )

    def _taken(
        self, pool: FeatureMap, v: Array, q: Array, generator: np.random.Generator
    ) -> FeatureMap:
        """Select features from the pool, and return them as a feature map.

        `v` contains the scores of the candidates, and `q` their probabilities. The parameter
        `weighted` sets if the columns are multiplied by weights.
        """
        kept = int(np.count_nonzero(q))
        if self.estimator == "draw" or (self.estimator == "paper" and self.n_components < kept):
            chosen = generator.choice(len(q), size=self.n_components, p=q)
            return pool.select(chosen).times(self.n_components**-0.5)
        chosen = np.lexsort((-v, -q))[: self.n_components if self.estimator == "top" else kept]
        if not self.weighted:
            return pool.select(chosen).times(len(chosen) ** -0.5)
        return pool.select(chosen).with_weights(np.sqrt(q[chosen]))

    def _validated_penalty(
        self, scored: PoolScores, rows: Rows, targets: Array, generator: np.random.Generator
    ) -> float:
        """Return the penalty lambda with the smallest error on a held-out fifth of the rows.

        For each penalty, features are selected and ridge regression is fitted on the other rows.
        """
        order = generator.permutation(len(targets))
        held, used = np.sort(order[: len(order) // 5]), np.sort(order[len(order) // 5 :])
        if len(held) == 0:
            self.notes_.append("there are too few rows to choose the penalty on validation rows")
            return DIVERGENCE_PENALTIES[-1]
        validation, training = ((select_rows(rows, p), targets[p]) for p in (held, used))
        v = self._alignments(scored.subtract(PoolScores.from_rows(scored.pool, *validation)))

        def error(penalty: float) -> float:
            q = self._distribution(v, penalty)
            taken = self._taken(scored.pool, v, q, deepcopy(generator))
            fits = iterate_ridge_fits(taken, training, validation, RIDGE_ALPHAS)
            return min((loss for loss, _ in fits), default=np.inf)

        best = min(reversed(DIVERGENCE_PENALTIES), key=error)
        self.notes_.append(f"penalty {best:g} selected by validation")
        return best

    def kept_features(self) -> tuple[NDArray[np.intp], FeatureMap, Array]:
        """Return the indices, features and probabilities q of all candidates with q > 0.

        The candidate with the largest q is first. The result does not depend on the parameter
        `estimator`. The parameter `random_state` has to be a number, because the pool of candidates
        is drawn again.
        """
        check_is_fitted(self, "pool_weights_")
        pool = self.draw_pool(make_streams(self.random_state), self.n_features_in_)
        order = np.argsort(-self.pool_weights_, kind="stable")[: self.kept_]
        return order, pool.select(order), self.pool_weights_[order]

    def _distribution(self, scores: Array, penalty: float | None) -> Array:
        if penalty is not None:
            return compute_penalized_weights(scores, penalty)
        return compute_chi_square_weights(scores, self.rho)


# Each of the following two functions returns a probability distribution q that puts more weight on
# features with a large score v, but is near the uniform distribution. The first function limits the
# chi-square distance of q from the uniform distribution, and the second function penalizes this
# distance. v and q have shape (N,). MethodError is raised if v is empty, or if a score, the radius
# or the penalty is not valid.


def compute_chi_square_weights(scores: Array, rho: float) -> Array:
    r"""Return the distribution q near the uniform distribution that maximizes the mean score q'v.

    v are the N scores. The exact solution of this problem is computed:

    .. math:: \max_q q^\top v \quad\text{subject to}\quad q \ge 0,\; 1^\top q = 1,\;
              N |q|^2 - 1 \le \rho

    Let v be sorted in decreasing order and let q be positive for the first k scores. The
    Karush-Kuhn-Tucker conditions give :math:`q_i = 1/k + a_k (v_i - \bar v_k)` with :math:`a_k =
    \sqrt{((1+\rho)/N - 1/k) / SS_k}`, where :math:`\bar v_k` and :math:`SS_k` are the mean and the
    sum of squared deviations of the first k scores. The valid k satisfies :math:`k > N/(1+\rho)`
    and :math:`q_k \ge 0`, and the formula for :math:`q_{k+1}` does not give a positive value. The
    sums of squares are accumulated from positive terms (Welford), so that nearly equal scores do
    not cancel.

    Parameters
    ----------
    scores : array of shape (N,)
        The scores v.
    rho : float
        Largest allowed chi-square distance :math:`N |q|^2 - 1` of q from the uniform distribution.
        If rho is at most 0, or if all scores are equal, q is uniform. If rho is at least N/m - 1
        and m candidates have the maximum score, q is uniform over these candidates.

    Notes
    -----
    The problem is (4) of Sinha and Duchi (2016) with f(t) = t^2 - 1. Their algorithm 1 uses
    bisection instead.
    """
    v = _checked(scores, rho)
    n = len(v)
    order = np.argsort(-v, kind="stable")
    span = v[order[0]] - v[order[-1]]
    q = np.zeros(n)
    if rho <= 0 or span == 0:
        q[:] = 1.0 / n
        return q
    ranked = (v[order] - v[order[0]]) / span
    tied = int(np.sum(ranked == 0))
    if rho >= n / tied - 1:
        q[order[:tied]] = 1.0 / tied
        return q
    count = np.arange(1, n + 1)
    mean = np.cumsum(ranked) / count
    deviations = np.zeros(n)
    deviations[1:] = count[:-1] / count[1:] * (ranked[1:] - mean[:-1]) ** 2
    squares = np.cumsum(deviations)
    room = (1.0 + rho) / n - 1.0 / count
    usable = (room > 0) & (squares > 0)
    slope = np.sqrt(np.divide(room, squares, out=np.zeros(n), where=usable))
    last = usable & (1.0 / count + slope * (ranked - mean) >= 0)
    following = np.full(n, -np.inf)
    following[:-1] = 1.0 / count[:-1] + slope[:-1] * (ranked[1:] - mean[:-1])
    valid = np.flatnonzero(last & (following <= 0))
    k = int(valid[0] if len(valid) else np.flatnonzero(last)[-1]) + 1
    kept = np.maximum(1.0 / k + slope[k - 1] * (ranked[:k] - mean[k - 1]), 0.0)
    q[order[:k]] = kept / kept.sum()
    return q


def compute_penalized_weights(scores: Array, penalty: float) -> Array:
    r"""Return the distribution q that maximizes the mean score q'v minus a penalty.

    The penalty is large if q is far from the uniform distribution:

    .. math:: \max_q q^\top v - \lambda (N |q|^2 - 1)
              \quad\text{subject to}\quad q \ge 0,\; 1^\top q = 1

    Here v are the N scores divided by their maximum. The solution is the projection of :math:`1/N +
    v / (2 \lambda N)` on the simplex, the set of all probability distributions.

    Parameters
    ----------
    scores : array of shape (N,)
        The scores v, non-negative.
    penalty : float
        Penalty lambda, above 0. For large values q is uniform. For small values q is uniform over
        the candidates with the maximum score.

    Notes
    -----
    The objective is problem (8) of Sinha and Duchi (2016), where the solution lacks the factor 2.
    The division by the maximum is our choice.
    """
    v = _checked(scores, penalty)
    n = len(v)
    if v.max() <= 0:
        return np.full(n, 1.0 / n)
    point = -(1.0 - v / v.max()) / (2.0 * penalty * n)
    # Project `point` onto the probability simplex, the set of non-negative vectors with sum 1, by
    # sorting (Held, Wolfe and Crowder 1974).
    ranked = np.sort(point)[::-1]
    threshold = (np.cumsum(ranked) - 1.0) / np.arange(1, len(point) + 1)
    k = int(np.flatnonzero(ranked > threshold)[-1])
    kept = np.maximum(point - threshold[k], 0.0)
    return np.asarray(kept / kept.sum())


def _checked(scores: Array, number: float) -> Array:
    v = np.asarray(scores, dtype=np.float64)
    if v.ndim != 1 or len(v) == 0 or not np.isfinite(v).all() or np.isnan(number):
        raise MethodError(
            "The scores, the radius or the penalty are not valid.",
            f"{v.size} scores, {int(np.sum(~np.isfinite(v)))} of them NaN or infinite, "
            f"radius or penalty {number}.",
        )
    return v
