"""Stein effect shrinkage: data-driven weights of random features."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from rfbench.arrays import Array, Rows
from rfbench.parameters import number, one_of, parameter, whole
from rfbench.samplers.base import RandomFeatures, Streams
from rfbench.samplers.declaration import ANY, Form, sampler
from rfbench.samplers.feature_map import FeatureMap
from rfbench.samplers.pair_equations import PairEquations, all_pairs, some_pairs

PENALTIES = tuple(float(10.0**e) for e in range(-6, 3))


@sampler(
    "ses",
    kernels=ANY,
    about="the features of rks, re-weighted to approximate the kernel on the data",
    forms=(
        Form(),
        Form({"equations": "exact", "weights": "clipped"}),
        Form({"equations": "exact", "penalty": 0.01}),
    ),
)
class SES(RandomFeatures):
    r"""The features of random kitchen sinks, re-weighted to approximate the kernel on the data.

    The weights minimise, without labels,

    .. math:: \sum_{ij} \Big(k(x_i, x_j) - \sum_m \beta_m u_m(x_i) u_m(x_j)\Big)^2
              + \lambda |\beta|^2

    and column m is :math:`\sqrt{\beta_m} u_m`, where :math:`u_m = \sqrt 2 \cos(w_m^\top x + b_m)`;
    in the paired map :math:`u_m(x) u_m(y)` is the product of the pairs. :math:`\beta_m = 1/M`
    would be random kitchen sinks.

    Parameters
    ----------
    n_components : int
        M.
    equations : {'sketched', 'exact'}
        ``sketched``: the sum runs over pairs of rows drawn uniformly; O(r M^2). ``exact``: over
        all n^2 pairs, streamed: with U the n x M features, A'A = (U'U) o (U'U) and
        A't = diag(U'KU); O(n^2 M).
    pairs_per_feature : int
        r / M, in ``sketched``.
    weights : {'nonnegative', 'clipped'}
        Non-negative least squares, or least squares whose negative weights are set to zero. Not
        settled by the text: a choice.
    penalty : float or 'validated'
        lambda, divided by the mean diagonal element of A'A so that it has no scale (a choice).
        ``validated``: of 1e-6, 1e-5, ..., 100 the one with the smallest error on held-out pairs (a
        fifth of the drawn ones; in ``exact``, 10 M pairs or a fifth of all); the weights are then
        fitted on all pairs.
    Other parameters: those of `RandomFeatures`.

    Attributes
    ----------
    beta_ : array of shape (n_components,)
    penalty_ : float

    References
    ----------
    Chang, Li, Yang and Poczos, Data-driven Random Fourier Features using Stein Effect, IJCAI 2017.

    Examples
    --------
    >>> import numpy as np
    >>> from rfbench.samplers import SES
    >>> X = np.random.default_rng(0).standard_normal((100, 3))
    >>> sampler = SES(20, bandwidth=2.0, random_state=0).fit(X)
    >>> sampler.transform(X).shape, bool(sampler.beta_.min() >= 0)
    ((100, 20), True)
    """

    unbiased: ClassVar[bool] = False

    equations: str = parameter("sketched", one_of("sketched", "exact"))
    pairs_per_feature: int = parameter(10, whole(1))
    weights: str = parameter("nonnegative", one_of("nonnegative", "clipped"))
    penalty: float | str = parameter("validated", number(least=0) | one_of("validated"))

    def _draw(self, X: Rows, targets: Array | None, random: Streams) -> FeatureMap:
        unit = self.draw_unit_map(random, X.shape[1], self.n_components)
        every, held_out = self._equations(unit, X, random.rows)
        if self.penalty == "validated":
            self.penalty_ = self._validated_penalty(every.less(held_out), held_out)
        else:
            self.penalty_ = float(self.penalty)
        self.beta_ = every.solver(self.weights)(self.penalty_)
        return unit.weighted_by(np.sqrt(self.beta_))

    def _equations(
        self, unit: FeatureMap, X: Rows, generator: np.random.Generator
    ) -> tuple[PairEquations, PairEquations]:
        """Return the equations of all pairs, and of those among them that are held out."""
        n, m = X.shape[0], self.n_components
        if self.equations == "sketched":
            pairs = generator.integers(0, n, size=(self.pairs_per_feature * m, 2))
            held = len(pairs) // 5
            held_out = some_pairs(unit, self.kernel_, X, pairs[:held])
            return held_out.plus(some_pairs(unit, self.kernel_, X, pairs[held:])), held_out
        every = all_pairs(unit, self.kernel_, X)
        pairs = np.unique(np.sort(generator.integers(0, n, size=(10 * m, 2)), axis=1), axis=0)
        pairs = generator.permutation(pairs[pairs[:, 0] < pairs[:, 1]])[: n * (n - 1) // 10]
        # Both (i, j) and (j, i) are among the n^2.
        return every, some_pairs(unit, self.kernel_, X, pairs).times(2.0)

    def _validated_penalty(self, training: PairEquations, held_out: PairEquations) -> float:
        solve = training.solver(self.weights)
        return min(PENALTIES, key=lambda penalty: held_out.error(solve(penalty)))
