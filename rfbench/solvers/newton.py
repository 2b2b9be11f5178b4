"""Newton's method for smooth losses with a penalty, with steps from conjugate gradients.

Conjugate gradients solve the linear system of a Newton step. The preconditioner is the Cholesky
factor of an earlier Hessian. With the factor of the current Hessian, the first iterate is the exact
Newton step (for two classes). Computing a Hessian costs as much as many products with the Hessian.
The factor of an older Hessian is therefore used as long as few products are needed, also
for other steps, penalties and folds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from scipy.special import expit, log_expit, logsumexp, softmax

from rfbench.arrays import Array, FloatArray
from rfbench.compute import gram
from rfbench.compute.products import matmul

Linear = Callable[[Array], Array]

# The Hessian is factorized again after PRODUCTS_PER_FACTORIZATION products with the Hessian.
# Measured by `python -m scripts.bench.doubled`: for two classes, 5,000 rows and 400 features, half
# the value needs .66 times the CPU time, and twice the value .95 times. For six classes, 3,000 rows
# and 200 features, half the value needs 1.3 times the CPU time. A Newton step ends after at most
# MOST_PRODUCTS products. Twice this limit doubles the time of a step that does not converge because
# of rounding errors.
PRODUCTS_PER_FACTORIZATION = 10
MOST_PRODUCTS = 1000
# The first Hessian is estimated from about this number of rows per feature if the tolerance is
# loose and there are more than twice as many rows. Measured with 20,000 rows and 1,000 features, as
# CPU seconds until the tolerance 1e-3: .38 s with 2 rows per feature, .40 s with 3, .36 s with 4,
# and .75 s with all rows.
SAMPLED = 4
# SUFFICIENT_DECREASE is the factor in Armijo's condition (Nocedal and Wright, Numerical
# Optimization, 2006, section 3.1). ROUNDING is the relative rounding error of an objective that is
# a sum over rows. Without ROUNDING, the last steps of a fit would be rejected. With either value
# doubled, a fit that converges does not change.
SUFFICIENT_DECREASE = 1e-4
ROUNDING = 1e-13
# A fit has converged only if the predicted decrease of its last step is at most this share of the
# objective. Newton's method converges quadratically, so the next decrease would be about the square
# of this share, 1e-14. With twice this value, the square is 4e-14, still below ROUNDING.
PROMISED = 1e-7
# Number of Newton steps for the intercepts. Each step squares the error, so further steps would
# change only rounding errors. With twice the value, the intercepts are the same.
CONSTANT_STEPS = 20
# Maximum number of times that `Newton._factor` increases the diagonal of a Hessian, by definition.
# With half this number, some Hessians that are not positive definite would be rejected.
MOST_LIFTS = 25


class Minimum(NamedTuple):
    """Result of the minimization of a penalized loss.

    Attributes
    ----------
    theta : array of shape (q, t)
        The coefficients. The last row contains the intercepts, if fitted.
    converged : bool
    gradient : float
        Largest entry of the gradient, relative to the largest entry at zero coefficients.
    gap : float
        Upper bound of the distance to the optimum, divided by the objective.
    """

    theta: Array
    converged: bool
    gradient: float
    gap: float


class Derivatives(NamedTuple):
    """First and second derivatives of a loss with respect to the decision values.

    Attributes
    ----------
    gradient : array of shape (n, t)
        The first derivative.
    curvature : callable
        Function that multiplies an array of shape (n, t) by the second derivative.
    weights : array of shape (n,)
        One number per row that approximates the second derivative of its loss. The number is exact
        if t is 1.
    """

    gradient: Array
    curvature: Linear
    weights: Array


class TwoClasses:
    r"""Logistic loss :math:`\log(1 + \exp(-y_i f_i))` for labels y of -1 and +1, shape (n, 1).

    f are the decision values.
    """

    def __init__(self, signs: Array) -> None:
        self.signs = signs

    def compute_value(self, decisions: Array) -> float:
        """Return the sum of the losses of all rows, given their decision values."""
        return -float(log_expit(self.signs * decisions).sum())

    def compute_derivatives(self, decisions: Array) -> Derivatives:
        """Return the derivatives of the loss with respect to the decision values."""
        wrong = expit(-self.signs * decisions)
        weights = wrong * expit(self.signs * decisions)
        return Derivatives(-self.signs * wrong, lambda v: weights * v, weights[:, 0])


class Multinomial:
    r"""Multinomial logistic loss :math:`\log \sum_c \exp f_{ic} - f_{i y_i}` of class codes y.

    f are the decision values, shape (n, K).
    """

    def __init__(self, codes: NDArray[np.intp]) -> None:
        self.rows, self.codes = np.arange(len(codes)), codes

    def compute_value(self, decisions: Array) -> float:
        """Return the sum of the losses of all rows, given their decision values."""
        own = decisions[self.rows, self.codes]
        return float((logsumexp(decisions, axis=1) - own).sum())

    def compute_derivatives(self, decisions: Array) -> Derivatives:
        """Return the derivatives of the loss with respect to the decision values.

        The weight of a row is the trace of its second derivative, divided by the number of classes
        minus 1.
        """
        chances = softmax(decisions, axis=1)
        gradient = chances.copy()
        gradient[self.rows, self.codes] -= 1.0

        def curvature(v: Array) -> Array:
            moved = chances * v
            return np.asarray(moved - chances * moved.sum(axis=1, keepdims=True))

        spread = (chances * (1.0 - chances)).sum(axis=1)
        return Derivatives(gradient, curvature, spread / (chances.shape[1] - 1))


class SquaredHinge:
    r"""Squared hinge loss :math:`\max(0, 1 - y_i f_i)^2` for labels y of -1 and +1, shape (n, 1).

    f are the decision values.
    """

    def __init__(self, signs: Array) -> None:
        self.signs = signs

    def compute_value(self, decisions: Array) -> float:
        """Return the sum of the losses of all rows, given their decision values."""
        return float((np.maximum(0.0, 1.0 - self.signs * decisions) ** 2).sum())

    def compute_derivatives(self, decisions: Array) -> Derivatives:
        """Return the derivatives of the loss with respect to the decision values.

        The second derivative of a row is 2 if its loss is above 0, and 0 otherwise.
        """
        slack = np.maximum(0.0, 1.0 - self.signs * decisions)
        bent = np.where(slack > 0, 2.0, 0.0)
        return Derivatives(-2.0 * self.signs * slack, lambda v: bent * v, bent[:, 0])


# Type of a loss: a function of the decision values, shape (n, t), summed over the n rows.
Loss = TwoClasses | Multinomial | SquaredHinge


class Newton:
    r"""Minimizer of :math:`L(Z\theta + b) + \alpha |\theta|^2 / 2` for several penalties alpha.

    Parameters
    ----------
    Z : array of shape (n, p)
        The features.
    loss : Loss
        The loss L, as a function of the decision values.
    intercept : bool
        Fit the intercepts b, which are not penalized.
    hessian : array of shape (q, q), optional
        Hessian of a similar problem, used for the first preconditioner.

    Attributes
    ----------
    hessian : array of shape (q, q) or None
        The latest Hessian, without the penalty. q is p, plus 1 if there is an intercept.
    """

    def __init__(
        self, Z: Array, loss: Loss, *, intercept: bool, hessian: Array | None = None
    ) -> None:
        self.Z, self.loss, self.intercept = Z, loss, intercept
        self.hessian = hessian
        # Number of products with a Hessian that was estimated from a sample of the rows. The number
        # is infinite if the Hessian was computed from all rows.
        self._spent = np.inf
        self._at_zero: Array | None = None
        # `_rows` is the feature matrix for products with the Hessian. `_single` is a copy of Z in
        # float32, which is made at the first use.
        self._rows: FloatArray = Z
        self._single: FloatArray | None = None

    def minimize(
        self,
        alpha: float,
        start: Array,
        *,
        tol: float,
        gap: float,
        max_iter: int,
        promise: float = PROMISED,
        sample: bool = False,
    ) -> Minimum:
        """Minimize the objective with the penalty `alpha`, starting at the coefficients `start`.

        `start` has shape (q, t). Its last row contains the intercepts, if fitted.

        A fit has converged if three conditions hold. Its gradient, relative to the gradient at
        zero, is at most `tol`. Its relative distance to the optimum is proven to be at most `gap`.
        The predicted decrease of its last step is at most `promise` times the objective.

        If `sample` is True, the Hessian is in float32, and the first Hessian is computed from a
        part of the rows. After PRODUCTS_PER_FACTORIZATION products, a Hessian of all rows replaces
        it. `tol` then has to be above the rounding error of float32.
        """
        theta = start.copy()
        self._rows = self._find_single() if sample else self.Z
        decisions = (
            self._decisions(start) if start.any() else np.zeros((len(self.Z), start.shape[1]))
        )
        current = self._value(decisions, theta, alpha)
        if self._at_zero is None:
            zero = self.loss.compute_derivatives(np.zeros_like(decisions)).gradient
            self._at_zero = self._back(zero, np.zeros_like(start), 0.0)
        scale = float(np.abs(self._at_zero).max()) or 1.0
        promised, size, slow = np.inf, np.inf, False
        precondition: Linear | None = None
        for steps in range(max_iter):
            slope = self.loss.compute_derivatives(decisions)
            begins = steps == 0 and not start.any()
            gradient = self._at_zero if begins else self._back(slope.gradient, theta, alpha)
            size = float(np.abs(gradient).max()) / scale
            if size <= tol and promised <= promise * current:
                if sample:  # the earlier steps have added rounding errors of float32
                    decisions = self._decisions(theta)
                certified = self.compute_relative_gap(alpha, theta, decisions)
                if certified <= gap:
                    return Minimum(theta, True, size, certified)
            if self.hessian is None and sample and len(self.Z) > 2 * SAMPLED * self.Z.shape[1]:
                step_of_rows = len(self.Z) // (SAMPLED * self.Z.shape[1])
                self.hessian = self._hessian(slope.weights, step_of_rows)
                self._spent = 0.0
            elif slow or self.hessian is None:
                self.hessian = self._hessian(slope.weights)
                self._spent, precondition = np.inf, None
            if precondition is None:
                precondition = self._factor(alpha)
            share = min(0.1, size**0.5)
            if sample:  # do not compute the step more accurately than the tolerance requires
                share = max(share, min(0.1, tol / (2 * size)))
            step, along, products = self._step(slope, gradient, alpha, precondition, share)
            self._spent += products
            sampled = np.isfinite(self._spent)
            slow = (self._spent if sampled else products) > PRODUCTS_PER_FACTORIZATION
            promised = -float(np.vdot(gradient, step)) / 2
            length = 1.0
            while True:
                reached = self._value(decisions + length * along, theta + length * step, alpha)
                decrease = 2 * SUFFICIENT_DECREASE * length * promised
                if reached <= current - decrease + ROUNDING * abs(current):
                    break
                length /= 2
                if length < ROUNDING:
                    return Minimum(
                        theta, False, size, self.compute_relative_gap(alpha, theta, decisions)
                    )
            theta, decisions = theta + length * step, decisions + length * along
            current = reached
        return Minimum(theta, False, size, self.compute_relative_gap(alpha, theta, decisions))

    def compute_relative_gap(self, alpha: float, theta: Array, here: Array) -> float:
        r"""Return an upper bound of the relative distance of `theta` to the optimum.

        The relative distance is the objective at theta minus its minimum, divided by the objective.
        `here` contains the decision values of theta. With optimal intercepts, the objective is
        strongly convex in the coefficients, and exceeds its minimum by at most :math:`|g|^2 / (2
        \alpha)`, where g is its gradient.
        """
        p = self.Z.shape[1]
        value = self._value(here, theta, alpha)
        slope, least = self.loss.compute_derivatives(here), value
        for _ in range(CONSTANT_STEPS * self.intercept):
            sums = slope.gradient.sum(axis=0)
            bent = [slope.curvature(np.broadcast_to(own, here.shape)) for own in np.eye(len(sums))]
            square = np.array([rows.sum(axis=0) for rows in bent])
            moved = here - np.linalg.lstsq(square, sums, rcond=None)[0]
            reached = self._value(moved, theta, alpha)
            if not reached <= least:
                break
            done = reached == least
            here, least, slope = moved, reached, self.loss.compute_derivatives(moved)
            if done:
                break
        gradient = matmul(slope.gradient.T, self.Z).T + alpha * theta[:p]
        above = value - least + float(np.vdot(gradient, gradient)) / (2 * alpha)
        return above / value if value > 0 else float(above > 0)

    def _find_single(self) -> FloatArray:
        """Return the feature matrix Z in float32, which is converted at the first call only."""
        if self._single is None:
            self._single = self.Z.astype(np.float32)
        return self._single

    def _decisions(self, theta: Array, rows: FloatArray | None = None) -> Array:
        # Compute the transposed product theta' Z' instead of Z theta. If theta has only a few
        # columns, the transposed product is up to twice as fast.
        Z, p = self.Z if rows is None else rows, self.Z.shape[1]
        product = matmul(theta[:p].T.astype(Z.dtype, copy=False), Z.T)
        return np.asarray(product.T + theta[p:].sum(axis=0))

    def _value(self, decisions: Array, theta: Array, alpha: float) -> float:
        penalized = theta[: self.Z.shape[1]]
        return self.loss.compute_value(decisions) + alpha * float(np.vdot(penalized, penalized)) / 2

    def _back(
        self, sides: Array, theta: Array, alpha: float, rows: FloatArray | None = None
    ) -> Array:
        """Return [Z 1]' sides + alpha theta, without the penalty alpha theta for the intercepts.

        Z is the matrix `rows`, or by default the feature matrix.
        """
        Z, p = self.Z if rows is None else rows, self.Z.shape[1]
        result = np.empty_like(theta)
        result[:p] = matmul(sides.T.astype(Z.dtype, copy=False), Z).T + alpha * theta[:p]
        result[p:] = sides.sum(axis=0)
        return result

    def _step(
        self, slope: Derivatives, gradient: Array, alpha: float, precondition: Linear, share: float
    ) -> tuple[Array, Array, int]:
        """Return the Newton step, its decision values, and the number of products with the Hessian.

        Conjugate gradients stop when the residual is at most `share` times the first residual, in
        the norm of the preconditioner, or after MOST_PRODUCTS products.
        """
        step, residual = np.zeros_like(gradient), -gradient
        along: Array = np.zeros((len(self.Z), gradient.shape[1]))
        direction = precondition(residual)
        first = left = float(np.vdot(residual, direction))
        for products in range(1, MOST_PRODUCTS + 1):
            moved = self._decisions(direction, self._rows)
            product = self._back(slope.curvature(moved), direction, alpha, self._rows)
            bent = float(np.vdot(direction, product))
            if bent <= 0:
                return step, along, products
            step += left / bent * direction
            along += left / bent * moved
            residual -= left / bent * product
            smoothed = precondition(residual)
            before, left = left, float(np.vdot(residual, smoothed))
            if left <= share**2 * first:
                return step, along, products
            direction = smoothed + left / before * direction
        return step, along, MOST_PRODUCTS

    def _hessian(self, weights: Array, every: int = 1) -> Array:
        """Return the Hessian of the loss, estimated from every k-th row if `every` is k.

        `weights` contains the second derivative of the loss of each row.
        """
        Z, p = self._rows[::every], self.Z.shape[1]
        none, weights = np.empty((len(Z), 0)), weights[::every] * (len(self.Z) / len(Z))
        sums = gram.accumulate_normal_equations(
            np.positive, Z, none, p, weights=weights, dtype=Z.dtype
        )
        if not self.intercept:
            return sums.gram
        return np.block([[sums.gram, sums.column_sums[:, None]], [sums.column_sums, sums.n]])

    def _factor(self, alpha: float) -> Linear:
        """Return a function that solves linear systems with the Hessian plus the penalty `alpha`.

        If this matrix has no Cholesky factor, its diagonal is increased until there is a factor.
        """
        assert self.hessian is not None
        lift = 0.0
        # A p x p matrix becomes positive definite if its diagonal is increased by more than p times
        # the largest entry. The first increase is 1e-14 times the largest diagonal entry, and each
        # further increase is ten times larger. The last increase is large enough for any p that
        # fits into memory.
        for _ in range(MOST_LIFTS):
            system = self.hessian.copy()
            diagonal = np.einsum("ii->i", system)
            largest = float(diagonal.max())
            diagonal[: self.Z.shape[1]] += alpha
            diagonal += lift
            try:
                factor = linalg.cho_factor(system, lower=True, overwrite_a=True, check_finite=False)
                return lambda v: np.asarray(linalg.cho_solve(factor, v, check_finite=False))
            except linalg.LinAlgError:
                lift = max(10 * lift, 1e-14 * largest, 1e-300)
        raise ValueError(
            "The Hessian of the loss is not finite. Rescale the features, or increase the penalty."
        )
