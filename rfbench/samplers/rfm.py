"""Random Fourier features of the metric in which the target varies."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from scipy import linalg

from rfbench.arrays import Array, Rows
from rfbench.compute.gram import accumulate, solve_ridge
from rfbench.kernels import Gaussian
from rfbench.memory import check_fits
from rfbench.parameters import number, one_of, parameter, whole
from rfbench.samplers.base import Streams
from rfbench.samplers.declaration import GAUSSIAN, Form, sampler
from rfbench.samplers.feature_map import FeatureMap
from rfbench.samplers.pool import ScoredFeatures

FULL, DIAGONAL = "full", "diagonal"
FLOOR = 1e-6


@sampler(
    "rfm-rff",
    position=27,
    kernels=GAUSSIAN,
    about="random Fourier features of a metric that is learnt from the gradients of a few fits",
    verified="""
        brute force: gradient outer product by finite differences of a ridge fit of scikit-learn
          tolerance: relative 1e-7
          tests/samplers/test_rfm.py::test_outer_product_is_that_of_finite_differences
        brute force: metric and features after three rounds of the recursion written out
          tolerance: relative 1e-9
          tests/samplers/test_rfm.py::test_rounds_are_the_explicit_recursion
        """,
    contract={"float32_tolerance": 1e-3},
    forms=(
        Form({"rounds": 2}),
        Form({"metric": "diagonal", "score_rows": 40}),
    ),
)
class RFMFeatures(ScoredFeatures):
    r"""Random Fourier features of a Mahalanobis kernel whose metric is learnt from gradients.

    With frequencies :math:`w = L w_0`, :math:`L L^\top = A`, at first :math:`A = I`, and
    :math:`w_0` drawn once from the spectral measure, every round fits a ridge regression f on the
    features and replaces A by the average gradient outer product (AGOP)

    .. math:: G = \frac1n \sum_i \nabla f(x_i) \nabla f(x_i)^\top
                = V^\top \big((\theta \theta^\top) \circ (S^\top S / n)\big) V,

    scaled to trace d, plus 1e-6 I; S are the derivatives of the columns by their phases and V the
    frequencies of the columns. The outer products of several target columns are added up.
    This is the recursive feature machine on random features, and a method of rfbench: that of the
    paper solves kernel regression on all rows. Costs two Gram matrices per round.

    Parameters
    ----------
    rounds : int
        Number of fits before the features are ready.
    alpha : float
        Penalty of those fits, in the convention n alpha; the intercept is free.
    metric : {'full', 'diagonal'}
        Whether A has only the diagonal of G.
    score_rows : int or float
        Number, or fraction, of training rows that the metric is learnt from.

    Attributes
    ----------
    metric_ : array of shape (d, d)
        A.

    References
    ----------
    Radhakrishnan, Beaglehole, Pandit and Belkin, Mechanism for feature learning in neural networks
    and backpropagation-free machine learning models, Science 2024.

    Examples
    --------
    >>> import numpy as np
    >>> from rfbench.samplers import RFMFeatures
    >>> X = np.random.default_rng(0).standard_normal((300, 3))
    >>> sampler = RFMFeatures(50, bandwidth=2.0, random_state=0).fit(X, np.sin(X[:, 0]))
    >>> bool(sampler.metric_[0, 0] > 2.5)
    True
    """

    needs_target: ClassVar[bool] = True
    approximates_kernel: ClassVar[bool] = False
    kernels_served: ClassVar[Any] = Gaussian

    rounds: int = parameter(5, whole(1))
    alpha: float = parameter(1e-3, number(above=0))
    metric: str = parameter(FULL, one_of(FULL, DIAGONAL))

    def scratch_bytes(self, n: int, d: int, k: int = 1, row_bytes: float = 0.0) -> float:
        """Return the bytes of the scoring rows, and of a fit or of the metrics."""
        rows, fit = self.fit_bytes(n, d, k, row_bytes)
        return rows + max(fit, 48.0 * d**2)

    def _draw(self, X: Rows, targets: Array | None, random: Streams) -> FeatureMap:
        assert targets is not None
        d, m = X.shape[1], self.n_components
        check_fits(24.0 * d**2, f"A metric of {d} columns", "Take another method.")
        rows, y = self.scoring_rows(X, targets, random)
        drawn = found = self.draw_unit_map(random, d, m).times(m**-0.5)
        self.metric_ = np.eye(d)
        for _ in range(self.rounds):
            outer = gradient_outer_product(found, rows, y, self.alpha)
            if self.metric == DIAGONAL:
                outer = np.diag(np.diag(outer))
            if not np.trace(outer) > 0:
                self.notes_.append("the target does not vary, and the metric is the first")
                break
            self.metric_ = outer * (d / np.trace(outer)) + FLOOR * np.eye(d)
            root = linalg.cholesky(self.metric_, lower=True)
            found = replace(drawn, frequencies=root @ drawn.frequencies)
        return found


def gradient_outer_product(features: FeatureMap, rows: Rows, targets: Array, alpha: float) -> Array:
    """Return the average outer product of the gradients of a ridge regression, shape (d, d).

    Parameters
    ----------
    features : FeatureMap
        Waves.
    rows : array or CSR matrix of shape (n, d)
    targets : array of shape (n, k)
        The outer products of the k regressions are added up.
    alpha : float
        The penalty is n alpha; the intercept is free.
    """
    n, apart = rows.shape[0], features.columns_apart()
    nothing = np.empty((n, 0))
    equations = accumulate(apart.transform_into, rows, targets, apart.n_columns)
    theta = solve_ridge(equations, n * alpha, intercept=True).coef[0]
    slopes = accumulate(apart.slopes().transform_into, rows, nothing, apart.n_columns).gram / n
    V = apart.frequencies
    return np.asarray(V @ ((theta @ theta.T) * slopes) @ V.T, np.float64)
