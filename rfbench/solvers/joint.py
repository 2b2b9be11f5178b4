"""Joint optimization of a kernel and a support vector machine by an interior-point method."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from scipy import linalg
from scipy.linalg import blas

from rfbench.arrays import Array
from rfbench.clock import Clock
from rfbench.compute.products import matmul, sum_squares
from rfbench.parameters import estimator, number, parameter, whole
from rfbench.samplers.lkrf import compute_chi_square_weights
from rfbench.solvers.base import LinearModel
from rfbench.solvers.coding import Targets
from rfbench.solvers.design import Design
from rfbench.solvers.estimators import Classifier
from rfbench.solvers.fits import Fits, Folds, LinearPath, RegularizationPath, fit_from_matrix

# Each step is this share of the longest feasible step. Measured on 300 rows in four columns with C
# from .1 to 1,000: a fit with 200 features needs 17 to 30 steps, and a fit with 600 features 19 to
# 46 steps. Half the share needs 42 to 76 and 33 to 69 steps. The share .99 needs 17 to 29 and 21 to
# 47 steps.
TO_THE_BOUNDARY = 0.95
# Names of the attributes of `_Point` that have to stay positive in every step.
POSITIVE = ("q", "a", "z", "over", "under", "mu")
# Number of steps of iterative refinement of a linear system. The system is solved with the smaller
# p x p matrix of the features, which loses digits to cancellation. Measured with 300 rows, 200
# features and C = 1,000: the smallest relative gap is 5e-5 with this value, 2e-4 with half the
# steps, 5e-5 with twice the steps, and 9e-3 without refinement.
REFINEMENTS = 2


@dataclass(frozen=True, eq=False)
class Saddle:
    """Approximate solution of the problem of `JointClassifier`, with bounds of the optimal value.

    Attributes
    ----------
    q : array of shape (N,)
        The distribution over the features.
    a : array of shape (n,)
        The dual variables for which the bound `lower` was computed.
    weights : array of shape (N,)
        Coefficients q_m g_m of the features. The bound `upper` was computed for q, these
        coefficients and b.
    b : float
        The intercept.
    upper, lower : float
        Bounds of the optimal value. `upper` is the primal objective of the SVM at (q, weights, b).
        `lower` is the dual objective at a, minimized over q in closed form.
    iterations : int
        Number of iterations.
    """

    q: Array
    a: Array
    weights: Array
    b: float
    upper: float
    lower: float
    iterations: int

    @property
    def _relative_gap(self) -> float:
        """Difference of the upper and the lower bound, divided by the upper bound."""
        return (self.upper - self.lower) / abs(self.upper) if self.upper else 0.0


def compute_lower_bound(A: Array, a: Array, rho: float) -> float:
    """Return a lower bound of the optimal value of the problem of `JointClassifier`.

    For dual variables `a`, the bound is 1'a - max_q q'g^2 / 2 with g = A'a. The maximum is over all
    distributions q over the features with chi-square radius `rho`.
    """
    # The dual variables a are fixed. The feature weights q that maximize q'v have a closed form,
    # where v is the elementwise square of A'a. Only this maximum gives a lower bound of the optimal
    # value.
    v = matmul(A.T, a) ** 2
    return float(a.sum() - (compute_chi_square_weights(v, rho) * v).sum() / 2)


def find_best_intercept(values: Array, y: Array, near: float) -> float:
    """Return the intercept b with the smallest sum of hinge losses max(0, 1 - y_i (values_i + b)).

    If several intercepts have the smallest sum, the intercept nearest to `near` is returned.
    """
    # The hinge loss is piecewise linear in b, with a kink at each y_i - values_i. Its slope
    # increases by 1 at each kink, starting from -P, where P is the number of positive rows. The
    # loss is therefore smallest between the P-th and the (P + 1)-th kink.
    breaks = np.sort(y - values)
    positive = int(np.sum(y > 0))
    low = breaks[positive - 1] if positive else -np.inf
    high = breaks[positive] if positive < len(y) else np.inf
    return float(np.clip(near, low, high))


def solve_saddle(
    A: Array, y: Array, C: float, rho: float, *, intercept: bool, tol: float, max_iter: int
) -> Saddle:
    """Solve the min-max problem of `JointClassifier` by an interior-point method.

    The problem is a minimum over the feature weights q and a maximum over the dual variables a.
    Every step solves one linear system with an n x n matrix, and reduces the products of slacks and
    multipliers.

    Parameters
    ----------
    A : array of shape (n, N)
        Matrix of the features, with each row multiplied by its label.
    y : array of shape (n,)
        Labels -1 and +1. Both have to occur.
    C : float
        Upper bound of the dual variables.
    rho : float
        Radius of the chi-square ball that contains q, above 0.
    intercept : bool
        True: fit an intercept b, with the constraint y'a = 0. False: b is 0, and the constraint
        y'a = 0 is omitted.
    tol : float
        Relative duality gap at which the iterations stop.
    max_iter : int
        Maximum number of iterations.
    """
    point = _Point(A, y, C, rho, intercept)
    best: Saddle | None = None
    for iteration in range(max_iter + 1):
        best = _better(best, point, iteration)
        if best._relative_gap <= tol or iteration == max_iter:
            break
        try:
            moved = point.advance()
        except linalg.LinAlgError:
            break
        if not moved:
            break
    assert best is not None
    return best


def _better(best: Saddle | None, point: _Point, iteration: int) -> Saddle:
    """Return a `Saddle` with the smallest upper bound and the largest lower bound so far.

    `best` contains the best bounds of the earlier iterations, or is None. `point` is the current
    iterate, for which the bounds are computed.
    """
    # Upper bound: the primal objective of the SVM at q with the coefficients w_m = q_m * g_m, so
    # that the sum of w_m^2 / (2 * q_m) is q'g^2 / 2. The intercept b is optimized for these
    # coefficients.
    weights = point.q * point.g
    values = point.y * point.margins
    b = find_best_intercept(values, point.y, point.b) if point.intercept else 0.0
    hinge = np.maximum(0.0, 1.0 - point.margins - point.y * b).sum()
    upper = float((point.g * weights).sum() / 2 + point.C * hinge)
    # Lower bound: the dual objective at variables a that satisfy y'a = 0 exactly. For other
    # variables, the dual objective is not a lower bound.
    a = point.feasible()
    lower = compute_lower_bound(point.A, a, point.rho)
    # Keep the smallest upper bound and the largest lower bound of all steps, because a later step
    # may have worse bounds.
    q = point.q
    if best is not None and best.upper < upper:
        q, weights, b, upper = best.q, best.weights, best.b, best.upper
    if best is not None and best.lower > lower:
        a, lower = best.a, best.lower
    return Saddle(q, a, weights, b, upper, lower, iteration)


# A Newton step: maps the name of each attribute of `_Point` to its change.
Step = dict[str, Any]


class _System:
    """Linear systems with the matrix B B' + D, for a matrix B and a positive diagonal D.

    If B has fewer columns than rows, the matrix is inverted with the Woodbury identity, which is
    faster. The identity loses digits if the entries of D differ by many orders of magnitude.
    Iterative refinement restores these digits.
    """

    def __init__(self, B: Array, D: Array) -> None:
        # For B of shape (n, N), the inverse is D^-1 - D^-1 B (I + B' D^-1 B)^-1 B' D^-1 (Woodbury).
        # It needs n N^2 instead of n^2 N operations.
        self.B, self.D = B, D[:, None]
        self.by_rows = B.shape[0] <= B.shape[1]
        if self.by_rows:
            matrix, diagonal = blas.dsyrk(1.0, B.T, lower=1, trans=1), D
        else:
            matrix = blas.dsyrk(1.0, (B / np.sqrt(self.D)).T, lower=1)
            diagonal = np.ones(B.shape[1])
        matrix[np.diag_indices(len(matrix))] += diagonal
        self.factor = linalg.cholesky(matrix, lower=True, overwrite_a=True, check_finite=False)

    def solve(self, rhs: Array) -> Array:
        """Return the solution of the linear system for every column of `rhs`, as columns."""
        if self.by_rows:
            return self._inner(rhs)
        solved = self._woodbury(rhs)
        for _ in range(REFINEMENTS):
            image = self.D * solved + matmul(self.B, matmul(self.B.T, solved))
            solved = solved + self._woodbury(rhs - image)
        return solved

    def _woodbury(self, rhs: Array) -> Array:
        scaled = rhs / self.D
        lifted: Array = matmul(self.B, self._inner(matmul(self.B.T, scaled)))
        return scaled - lifted / self.D

    def _inner(self, rhs: Array) -> Array:
        solved: Array = linalg.cho_solve((self.factor, True), rhs, check_finite=False)
        return solved


class _Point:
    """Iterate of the interior-point method: the variables q and a, and the multipliers.

    The multipliers `z`, `mu` and `tau` belong to the constraints q >= 0, N |q|^2 <= 1 + rho and 1'q
    = 1. The multipliers `over`, `under` and `b` belong to the constraints a <= C, a >= 0 and y'a =
    0.
    """

    def __init__(self, A: Array, y: Array, C: float, rho: float, intercept: bool) -> None:
        n, N = A.shape
        self.A, self.y, self.C, self.rho, self.intercept = A, y, C, rho, intercept
        self.q, self.a = np.full(N, 1.0 / N), np.full(n, C / 2)
        self.over, self.under = np.ones(n), np.ones(n)
        self.b = self.tau = 0.0
        self._products()
        scale = max(float(np.mean(self.g**2)) / 2, 1e-12)
        self.z, self.mu = np.full(N, scale), scale / 2

    def _products(self) -> None:
        self.g = matmul(self.A.T, self.a)
        self.margins = matmul(self.A, self.q * self.g)
        self.room = 1.0 + self.rho - len(self.q) * sum_squares(self.q)

    def feasible(self) -> Array:
        """Return dual variables that satisfy the constraint y'a = 0.

        The dual variables of the class with the larger sum are scaled down. Without an intercept,
        there is no such constraint, and a is returned unchanged.
        """
        if not self.intercept:
            return self.a
        positive = self.y > 0
        sides = float(self.a[positive].sum()), float(self.a[~positive].sum())
        least = min(sides)
        return self.a * np.where(positive, least / sides[0], least / sides[1])

    def _complementarity(self, step: Step, t: float) -> float:
        """Return the mean product of slacks and multipliers after a fraction `t` of the step."""
        q, a, z, over, under, mu = (getattr(self, name) + t * step[name] for name in POSITIVE)
        room = 1.0 + self.rho - len(q) * sum_squares(q)
        total = float((z * q).sum() + (over * (self.C - a) + under * a).sum()) + mu * room
        return float(total / (len(q) + 2 * len(a) + 1))

    def advance(self) -> bool:
        """Make one predictor-corrector step of the interior-point method.

        Return False if the step is too short to be useful.
        """
        # Optimality conditions: the gradients in q and a are 0, and multiplier * slack is `aim` for
        # each constraint.
        # Gradient in q: g_m^2 / 2 - tau - 2 * N * mu * q_m + z_m = 0.
        # Gradient in a: 1 - y_i * f_i - y_i * b - over_i + under_i = 0.
        # Newton's equations are reduced to one system with the matrix A W A' + D. Eliminating z
        # gives the curvature in q. Eliminating over and under gives the diagonal matrix D.
        # Eliminating q gives W = q + g^2 / curvature.
        curvature = 2 * len(self.q) * self.mu + self.z / self.q  # curvature of the equations in q
        scaled = self.A * np.sqrt(self.q + self.g**2 / curvature)
        diagonal = self.over / (self.C - self.a) + self.under / self.a
        factor = curvature, _System(scaled, diagonal)
        # Predictor step of Mehrotra (1992): a Newton step toward products multiplier * slack = 0.
        # The mean product is `now` before the predictor and `after` afterwards. The second step has
        # the target (after / now)^3 * now. With the target 0, the iterates would stay near the
        # boundary.
        predictor = self._direction(factor, 0.0)
        now = self._complementarity(predictor, 0.0)
        after = self._complementarity(predictor, self._longest(predictor))
        step = self._direction(factor, (max(after, 0.0) / now) ** 3 * now)
        # Stop before the boundary. On the boundary, a slack or a multiplier is 0, and the next
        # linear system would be singular.
        t = min(1.0, TO_THE_BOUNDARY * self._longest(step))
        for name, change in step.items():
            setattr(self, name, getattr(self, name) + t * change)
        self._products()
        return bool(np.isfinite(t) and t > 1e-10)

    def _direction(self, factor: tuple[Array, _System], aim: float) -> Step:
        """Return the Newton step after which each product of slack and multiplier would be `aim`.

        `factor` contains the curvature in q and the factorized linear system.
        """
        curvature, system = factor
        A, y, q, a, g, N = self.A, self.y, self.q, self.a, self.g, len(self.q)
        upper_slack = self.C - a
        # For each multiplier, the target `aim` minus the product of the multiplier with its slack.
        of_z, of_over = aim - self.z * q, aim - self.over * upper_slack
        of_under, of_mu = aim - self.under * a, aim - self.mu * self.room
        # Right-hand sides: the gradients with respect to q and a, after z, over and under are
        # eliminated with the complementarity conditions.
        side_q = g * g / 2 - 2 * N * self.mu * q - self.tau + self.z + of_z / q
        gradient = 1.0 - self.margins - y * self.b
        side_a = gradient - self.over + self.under - of_over / upper_slack + of_under / a
        balance = y if self.intercept else np.zeros_like(y)
        # Solve the equation of q for its change dq. The solution is dq = along_0 + along_1 * dmu +
        # along_2 * dtau + g * (A'da) / curvature, where da, dmu and dtau are the changes of a, mu
        # and tau.
        along = np.column_stack([side_q, -2 * N * q, -np.ones(N)]) / curvature[:, None]
        pulled = matmul(A, g[:, None] * along)
        # Insert dq into the equation of a, which gives a linear system for da with the matrix A W
        # A' + D. It has four right-hand sides: a constant, and one for each of the unknowns db, dmu
        # and dtau.
        sides = np.column_stack([side_a - pulled[:, 0], balance, pulled[:, 1], pulled[:, 2]])
        solved = system.solve(sides)
        images = g[:, None] * matmul(A.T, solved) / curvature[:, None]
        # The changes da and dq are linear in (db, dmu, dtau): a constant part, and one column per
        # unknown.
        base_a, by_a = solved[:, 0], -solved[:, 1:]
        base_q, by_q = along[:, 0] + images[:, 0], -images[:, 1:]
        by_q[:, 1:] += along[:, 1:]
        # Three equations determine db, dmu and dtau: the constraint y'(a + da) = 0, the product of
        # mu with the slack of the ball, and the sum of q + dq, which is 1.
        small = np.stack(
            [matmul(by_a.T, balance), -2 * N * self.mu * matmul(by_q.T, q), by_q.sum(axis=0)]
        )
        small[1, 1] += self.room
        right = np.array(
            [
                -(balance * (a + base_a)).sum(),
                of_mu + 2 * N * self.mu * (q * base_q).sum(),
                1.0 - q.sum() - base_q.sum(),
            ]
        )
        if not self.intercept:  # without an intercept, the equation y'a = 0 is replaced by db = 0
            small[0, 0] = 1.0
        b, mu, tau = np.linalg.solve(small, right)
        unknown = np.array([b, mu, tau])
        da, dq = base_a + matmul(by_a, unknown), base_q + matmul(by_q, unknown)
        return {
            "q": dq,
            "a": da,
            "z": (of_z - self.z * dq) / q,
            "over": (of_over + self.over * da) / upper_slack,
            "under": (of_under - self.under * da) / a,
            "b": float(b),
            "mu": float(mu),
            "tau": float(tau),
        }

    def _longest(self, step: Step) -> float:
        """Return the largest step length t <= 1 for which slacks and multipliers stay positive."""
        longest = 1.0
        for values, change in (
            *((np.atleast_1d(getattr(self, name)), np.atleast_1d(step[name])) for name in POSITIVE),
            (self.C - self.a, -step["a"]),
        ):
            falling = change < 0
            if falling.any():
                longest = min(longest, float((-values[falling] / change[falling]).min()))
        # The constraint of the ball, N * |q + t * dq|^2 <= 1 + rho, is a quadratic inequality in
        # the step length t: square * t^2 + linear * t - room <= 0. The largest feasible t is the
        # positive root.
        N = len(self.q)
        square, linear = N * sum_squares(step["q"]), 2 * N * float((self.q * step["q"]).sum())
        if square > 0:
            root = np.sqrt(linear**2 + 4 * square * self.room)
            longest = min(longest, float((root - linear) / (2 * square)))
        return longest


@estimator
class JointClassifier(Classifier, LinearModel):
    r"""Joint optimization of an SVM and of a distribution over its random features.

    The solver solves problem (9) of Sinha and Duchi (2016) for dual variables a,

    .. math:: \min_q \max_{0 \le a \le C,\; y^\top a = 0} 1^\top a - \tfrac12 \sum_m q_m g_m^2,
              \qquad g_m = \sum_i a_i y_i \phi_{im},

    over the distributions q with :math:`N |q|^2 - 1 \le \rho`. C is 1/alpha, :math:`\phi_{im}` is
    feature m of row i, and y_i = -1 or +1 is the label of row i. For a given q, the model is an SVM
    with coefficients w and intercept b, whose objective is
    :math:`\sum_i \max(0, 1 - y_i (\phi_i^\top w + b)) + \alpha \sum_m w_m^2 / (2 q_m)`. The
    decision value of a row x is :math:`\sum_m q_m g_m \phi_m(x) + b`. Only binary targets are
    supported.

    The N features are all features of the pool, without weights (for example of the sampler rks
    with M = N). Samplers return features z with a factor 1/sqrt(N), so that
    :math:`\phi = \sqrt N z`. With the uniform q, the model is the SVM on the unweighted features.

    An interior-point method runs until the relative duality gap is below `tol`. A note reports the
    final gap, which is proven by a primal and a dual feasible point. With m the smaller of n and N,
    a step needs m n N + m^3/3 operations and 8 * 2 m^2 bytes in addition to the features. 20 to 60
    steps are usual. 110 steps are needed if the norms of rows differ by a factor of a thousand.

    Parameters
    ----------
    alphas : float or sequence of float, default=1.0
        Penalties to select from (the grid). A single number is a grid with one value.
    alpha_convention : {'absolute', 'per-sample'}, default='absolute'
        C is 1/alpha ('absolute') or 1/(n alpha) ('per-sample') for the n rows of the fit. n is
        smaller in a fold and for a pair of classes.
    selection : {'fixed', 'test', 'validation', 'cv5', 'loo'}, default=None
        Method that selects one penalty of the grid.

        - 'fixed': no selection, because the grid has a single value.
        - 'test': smallest error on the evaluation rows that are passed to `fit`. This error is
          too small if these rows are the test set.
        - 'validation': smallest error on a random fifth of the training set.
        - 'cv5' (or 'cvK'): smallest error in five-fold (K-fold) cross-validation.
        - 'loo': smallest leave-one-out error in closed form (ridge and kernel ridge only).
        - None: 'fixed' for a single value, and 'cv5' otherwise.

        If several penalties have the same error, the largest is selected. After the selection, the
        model is fitted on all rows. Features that use the target are fitted again without the
        held-out rows (see `fit`).
    intercept : bool, default=True
        Fit an intercept.
    random_state : int, Generator, RandomState, SeedSequence or None, default=None
        Random seed or generator for the folds.
    rho : float, default=10.0
        Radius of the chi-square ball, above 0.
    tol : float, default=0.0001
        Relative duality gap at which the steps stop.
    max_iter : int, default=200
        Maximum number of steps per penalty.

    Attributes
    ----------
    kernel_weights_ : array of shape (N,)
        The distribution q.

    References
    ----------
    Sinha and Duchi, Learning Kernels with Random Features, NIPS 2016, section 3.3.

    Examples
    --------
    >>> import numpy as np
    >>> from rfbench.samplers import RKS
    >>> from rfbench.solvers import JointClassifier
    >>> X = np.random.default_rng(0).standard_normal((200, 2))
    >>> y = np.linalg.norm(X, axis=1) > 1.2
    >>> pool = RKS(150, bandwidth=1.0, random_state=0).fit(X)
    >>> solver = JointClassifier(1.0, rho=20.0).fit(X, y, features=pool)
    >>> bool(150 * np.sum(solver.kernel_weights_**2) - 1 <= 20 + 1e-9)
    True
    """

    multi_class: ClassVar[bool] = False
    positive_alphas: ClassVar[bool] = True

    rho: float = parameter(10.0, number(above=0))
    tol: float = parameter(1e-4, number(above=0))
    max_iter: int = parameter(200, whole(1))

    def _fits(self, design: Design, targets: Targets, folds: Folds, clock: Clock) -> Fits:
        return fit_from_matrix(design, targets, folds, clock, self._path, matrices=6.0)

    def _path(self, Z: Array, targets: Targets) -> LinearPath:
        y, alphas, N = targets.columns[:, 0], self._absolute(len(Z)), Z.shape[1]
        weights = np.full((len(alphas), N), 1.0 / N)
        path = replace(LinearPath.make_zero_path(len(alphas), N, 1), kernel_weights=weights)
        if len(np.unique(y)) == 1:
            path.intercepts[:] = y[0]
            return path
        factor = float(np.sqrt(N))
        A = Z * (factor * y[:, None])
        for i, alpha in enumerate(alphas):
            saddle = solve_saddle(
                A,
                y,
                1.0 / alpha,
                self.rho,
                intercept=self.intercept,
                tol=self.tol,
                max_iter=self.max_iter,
            )
            path.coefficients[i, :, 0] = factor * saddle.weights
            path.intercepts[i, 0], weights[i] = saddle.b, saddle.q
            gap = f"relative duality gap {max(saddle._relative_gap, 0.0):.1e}"
            path.notes[i].append(f"{gap} after {saddle.iterations} iterations")
            path.record_gap(i, max(saddle._relative_gap, 0.0))
            if not saddle._relative_gap <= self.tol:
                path.mark_unconverged(i, path.notes[i][0])
        return path

    def _keep(self, path: RegularizationPath, best: int) -> None:
        super()._keep(path, best)
        assert isinstance(path, LinearPath)
        assert path.kernel_weights is not None
        self.kernel_weights_ = path.kernel_weights[best].copy()
