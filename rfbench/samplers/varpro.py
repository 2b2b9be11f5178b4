"""Random Fourier features whose frequencies are trained with L-BFGS."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from scipy import optimize

from rfbench.arrays import Array, Rows
from rfbench.compute.gram import accumulate_normal_equations
from rfbench.compute.products import matmul
from rfbench.compute.ridge import solve_ridge
from rfbench.kernels import to_float64
from rfbench.parameters import number, parameter, whole
from rfbench.rows import select_rows
from rfbench.samplers.base import RandomStreams
from rfbench.samplers.declaration import WAVES, CheckCase, sampler
from rfbench.samplers.feature_map import PAIRED, FeatureMap
from rfbench.samplers.pool import ScoredFeatures
from rfbench.samplers.projected import iterate_row_blocks


@sampler(
    "varpro",
    kernels=WAVES,
    about=(
        "random Fourier features with frequencies trained by gradients and coefficients eliminated"
    ),
    contract={"float32_tolerance": 1e-3},
    forms=(CheckCase({"iterations": 3}),),
)
class VariableProjection(ScoredFeatures):
    r"""Random Fourier features whose frequencies are trained to predict the target.

    The training minimizes the loss of a ridge regression of the target Y on the features Z:

    .. math:: \min_{\theta, c}\; \frac{1}{2n} |Y - Z(W, b) \theta - c|^2
              + \frac{\alpha}{2} |\theta|^2.

    The frequencies W and the offsets b are changed by the optimizer L-BFGS, starting with random
    values. For all values of W and b, the optimal coefficients :math:`\theta` and the intercept c
    are computed exactly (variable projection). Among all evaluated frequencies, the set with the
    smallest squared loss on a held-out tenth of the rows is kept. An evaluation costs a ridge fit
    and O(n M (d + k)) for n rows with d columns and k target columns.

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
    score_rows : int or float, default=1.0
        Number or fraction of the training rows on which the frequencies are trained.
    iterations : int, default=50
        Maximum number of iterations of L-BFGS.
    patience : int, default=5
        Number of iterations without a smaller held-out loss after which training stops.
    alpha : float, default=0.001
        Penalty during training, which is multiplied by n.

    Attributes
    ----------
    losses_ : array of shape (evaluations,)
        Mean squared loss on the held-out rows after each evaluation. The first loss is for the
        random frequencies before training. If there are fewer than 10 rows, all rows are used for
        training and for this loss.

    Notes
    -----
    The gradient of the minimum over the coefficients is the gradient at fixed optimal coefficients.
    With respect to the frequencies it is :math:`-X^\top (R \theta^\top \circ S) / n`. R are the
    residuals, and S are the derivatives of the columns with respect to their phases. All of the
    training counts as the time of drawing features.

    References
    ----------
    Golub and Pereyra, The differentiation of pseudo-inverses and nonlinear least squares problems
    whose variables separate, SIAM J. Numer. Anal. 1973. Byrd, Lu, Nocedal and Zhu, A limited
    memory algorithm for bound constrained optimization, 1995 (scipy's L-BFGS-B).

    Examples
    --------
    >>> import numpy as np
    >>> from rfbench.samplers import VariableProjection
    >>> X = np.random.default_rng(0).standard_normal((300, 3))
    >>> y = np.sin(3 * X[:, 0])
    >>> sampler = VariableProjection(5, bandwidth=2.0, random_state=0).fit(X, y)
    >>> bool(sampler.losses_.min() < 0.1 * sampler.losses_[0])
    True
    """

    needs_target: ClassVar[bool] = True
    approximates_kernel: ClassVar[bool] = False
    features_served: ClassVar[tuple[str, ...]] = ("wave",)

    iterations: int = parameter(50, whole(1))
    patience: int = parameter(5, whole(1))
    alpha: float = parameter(1e-3, number(above=0))

    def _draw(self, X: Rows, targets: Array | None, random: RandomStreams) -> FeatureMap:
        assert targets is not None
        d, m = X.shape[1], self.n_components
        rows, y = self.draw_scoring_rows(X, targets, random)
        known, unknown = _hold_out(rows, y, random)
        first = best = self.draw_unit_map(random, d, m).times(m**-0.5)
        losses: list[float] = []
        ends: list[int] = []

        def map_of(point: Array) -> FeatureMap:
            W = point[: d * m].reshape(d, m) / self.bandwidth_
            return replace(first, frequencies=W, offsets=point[d * m :] if len(shifts) else None)

        def objective(point: Array) -> tuple[float, Array]:
            nonlocal best
            tried = map_of(point)
            coef, intercept = fit_ridge(tried, *known, self.alpha)
            losses.append(compute_held_out_loss(tried, *unknown, coef, intercept))
            if losses[-1] <= min(losses):
                best = tried
            loss, by_W, by_b = compute_reduced_loss(tried, *known, self.alpha, coef, intercept)
            return loss, np.append(by_W.ravel() / self.bandwidth_, by_b if len(shifts) else [])

        def stop_when_worse(_: Array) -> None:
            ends.append(len(losses))
            before = ends[-self.patience - 1] if len(ends) > self.patience else len(losses)
            if min(losses[before:], default=-np.inf) > min(losses[:before]):
                raise StopIteration

        shifts = np.empty(0) if first.offsets is None else first.offsets
        start = np.append(first.frequencies.ravel() * self.bandwidth_, shifts)
        minimize: Any = optimize.minimize
        minimize(
            objective,
            start,
            jac=True,
            method="L-BFGS-B",
            callback=stop_when_worse,
            options={"maxiter": self.iterations},
        )
        self.losses_ = np.array(losses)
        return best


def _hold_out(
    rows: Rows, targets: Array, random: RandomStreams
) -> tuple[tuple[Rows, Array], tuple[Rows, Array]]:
    """Split rows and their targets at random into training rows and a held-out tenth.

    If there are fewer than 10 rows, both parts contain all rows.
    """
    order = random.selection.permutation(len(targets))
    held = np.sort(order[: len(targets) // 10])
    training = np.sort(order[len(held) :])
    judged = held if len(held) else training
    return (select_rows(rows, training), targets[training]), (
        select_rows(rows, judged),
        targets[judged],
    )


def fit_ridge(
    features: FeatureMap, rows: Rows, targets: Array, alpha: float
) -> tuple[Array, Array]:
    """Fit ridge regression of k targets on the features of the rows.

    The results are the coefficients, shape (n_columns, k), and the intercepts, shape (k,).
    """
    equations = accumulate_normal_equations(
        features.transform_into, rows, targets, features.n_columns
    )
    path = solve_ridge(equations, rows.shape[0] * alpha, intercept=True)
    return path.coef[0], path.intercept[0]


def compute_held_out_loss(
    features: FeatureMap, rows: Rows, targets: Array, coef: Array, intercept: Array
) -> float:
    """Return the mean squared error of a linear model of the features on the given rows."""
    total = 0.0
    for block in iterate_row_blocks(len(targets), features.n_columns):
        fitted = matmul(features.transform(to_float64(rows[block])), coef) + intercept
        total += float(np.sum((targets[block] - fitted) ** 2))
    return total / len(targets)


def compute_reduced_loss(
    features: FeatureMap, rows: Rows, targets: Array, alpha: float, coef: Array, intercept: Array
) -> tuple[float, Array, Array]:
    """Return the penalized squared loss of a ridge fit, and gradients to train the features.

    `coef` and `intercept` are the ridge fit for the penalty `alpha`. The gradients are with respect
    to the frequencies, shape (d, M), and the offsets, shape (M,). The gradient with respect to the
    offsets is meaningful only for features with random offsets.
    """
    n, apart = len(targets), features.to_offset()
    by_W, by_b, squares = np.zeros(apart.frequencies.shape), np.zeros(apart.n_columns), 0.0
    for block in iterate_row_blocks(n, apart.n_columns):
        X = to_float64(rows[block])
        columns, moved = apart.compute_columns_and_slopes(X)
        residual = targets[block] - matmul(columns, coef) - intercept
        moved *= matmul(residual, coef.T)
        by_W -= matmul(X.T, moved) / n
        by_b -= moved.sum(axis=0) / n
        squares += float(np.sum(residual**2))
    if features.layout == PAIRED:
        by_W, by_b = (
            part[..., : len(by_b) // 2] + part[..., len(by_b) // 2 :] for part in (by_W, by_b)
        )
    return 0.5 * (squares / n + alpha * float(np.sum(coef**2))), by_W, by_b
