r"""Minimising a convex function in a box, by a primal-dual interior-point method.

Every iterate comes with a proof of how far it is from the optimum: a convex f with the gradient g
has :math:`f(x) - f(y) \le g^\top (x - y)` for every y, and the largest value of the right side over
the box is a sum over the variables. Ill-conditioned problems take no more steps than others: the
bounds are never found one by one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
from scipy import linalg, optimize
from scipy.linalg import blas
from scipy.special import expit, log_expit

from rfbench.arrays import Array

Linear = Callable[[Array], Array]

TO_THE_BOUNDARY = 0.995
SHORTEST = 1e-10
SUFFICIENT_DECREASE = 1e-4
# Steps without a smaller gap after which rounding is all that is left. A gap near the objective
# itself tells nothing: far from the optimum both fall together.
PATIENCE, TELLING = 8, 0.1
POLISHES = 5


class BoxProblem(Protocol):
    """A convex function of x, shape (p,)."""

    is_quadratic: ClassVar[bool]

    def value(self, x: Array) -> float:
        """Return f(x)."""

    def gradient(self, x: Array) -> Array:
        """Return its gradient."""

    def factor(self, x: Array, diagonal: Array) -> Linear:
        """Return what solves a system with the Hessian at x plus a diagonal of at least 0."""

    def objective(self, x: Array) -> float:
        """Return what distances are relative to."""


@dataclass(frozen=True, eq=False)
class BoxFit:
    """Attributes: the point, its relative distance to the optimum at most, and the steps."""

    x: Array
    gap: float
    steps: int


def minimise_in_box(
    problem: BoxProblem,
    lower: Array,
    upper: Array,
    *,
    tol: float,
    max_iter: int,
    exact: bool = True,
) -> BoxFit:
    """Minimise until the relative gap is at most `tol`, in at most so many steps.

    Parameters
    ----------
    problem : BoxProblem
    lower, upper : arrays of shape (p,)
        The box, finite.
    tol : float
    max_iter : int
    exact : bool
        In the end put variables that lean on a bound onto it.

    References
    ----------
    Nocedal and Wright, Numerical Optimization, 2006, algorithm 16.4 and section 19.3.
    """
    x = (lower + upper) / 2
    gradient = problem.gradient(x)
    push = max(float(np.abs(gradient).mean()), 1e-300)
    over, under = np.maximum(gradient, 0.0) + push, np.maximum(-gradient, 0.0) + push
    best = BoxFit(x, relative_gap(problem, x, lower, upper), 0)
    # No slack is rounded to zero: the multipliers are divided by them.
    least, most, waited = np.nextafter(lower, np.inf), np.nextafter(upper, -np.inf), 0
    for step in range(1, max_iter + 1):
        if best.gap <= tol or waited > PATIENCE:
            break
        left, right = x - lower, upper - x
        try:
            solve = problem.factor(x, over / left + under / right)
        except linalg.LinAlgError:
            break
        mean = _mean(left, right, over, under)
        change = _Change.towards(solve, gradient, left, right, over, under, 0.0, 0.0)
        t = change.longest(left, right, over, under)
        after = _mean(
            left + t * change.x,
            right - t * change.x,
            over + t * change.over,
            under + t * change.under,
        )
        aim = mean * min(1.0, max(after, 0.0) / mean) ** 3 if mean > 0 else 0.0
        # What the product of the two changes adds is known beforehand, but for a curved function.
        bent = change.x * problem.is_quadratic
        aims = aim - bent * change.over, aim + bent * change.under
        change = _Change.towards(solve, gradient, left, right, over, under, *aims)
        t = min(1.0, TO_THE_BOUNDARY * change.longest(left, right, over, under))
        if not problem.is_quadratic:
            step_x = np.clip(x + t * change.x, least, most) - x
            t *= _shortened(problem, x, step_x, lower, upper, aim, gradient)
        if not np.isfinite(change.x).all() or t < SHORTEST:
            break
        x = np.clip(x + t * change.x, least, most)
        over, under = over + t * change.over, under + t * change.under
        gradient = problem.gradient(x)
        gap = relative_gap(problem, x, lower, upper)
        waited = 0 if gap < best.gap or best.gap > TELLING else waited + 1
        if gap < best.gap:
            best = BoxFit(x, gap, step)
    return _polished(problem, best, lower, upper) if exact else best


def relative_gap(problem: BoxProblem, x: Array, lower: Array, upper: Array) -> float:
    """Return the proven distance to the optimum over the objective."""
    gradient = problem.gradient(x)
    gap = float(np.maximum(gradient * (x - lower), -gradient * (upper - x)).sum())
    scale = problem.objective(x)
    return max(gap, 0.0) / scale if scale > 0 else float(gap > 0)


@dataclass(frozen=True, eq=False)
class _Change:
    """A step of x, and of the multipliers of x >= lower and of x <= upper."""

    x: Array
    over: Array
    under: Array

    @classmethod
    def towards(
        cls,
        solve: Linear,
        gradient: Array,
        left: Array,
        right: Array,
        over: Array,
        under: Array,
        aim_left: Array | float,
        aim_right: Array | float,
    ) -> _Change:
        """Return the Newton step towards products of slack and multiplier of these sizes."""
        x = solve(-gradient + aim_left / left - aim_right / right)
        return cls(x, (aim_left - over * x) / left - over, (aim_right + under * x) / right - under)

    def longest(self, left: Array, right: Array, over: Array, under: Array) -> float:
        """Return the longest step, at most 1, that keeps slacks and multipliers positive."""
        longest = 1.0
        for values, change in (
            (left, self.x),
            (right, -self.x),
            (over, self.over),
            (under, self.under),
        ):
            falling = (change < 0) & (values > 0)
            if falling.any():
                longest = min(longest, float((-values[falling] / change[falling]).min()))
        return longest


def _mean(left: Array, right: Array, over: Array, under: Array) -> float:
    return float(over @ left + under @ right) / (2 * len(left))


def _shortened(
    problem: BoxProblem,
    x: Array,
    step: Array,
    lower: Array,
    upper: Array,
    aim: float,
    gradient: Array,
) -> float:
    """Return the share of a step that lowers the function with its barrier enough."""

    def barrier(point: Array) -> float:
        slacks = np.concatenate([point - lower, upper - point])
        np.maximum(slacks, 1e-300, out=slacks)
        return problem.value(point) - aim * float(np.log(slacks).sum())

    slope = float(gradient @ step)
    slope += aim * float((step / (upper - x)).sum() - (step / (x - lower)).sum())
    now, share = barrier(x), 1.0
    while share > SHORTEST:
        reached = barrier(x + share * step)
        if reached <= now + SUFFICIENT_DECREASE * share * slope + 1e-13 * abs(now):
            return share
        share /= 2
    return 0.0


def _polished(problem: BoxProblem, fit: BoxFit, lower: Array, upper: Array) -> BoxFit:
    """Put the variables that lean on a bound onto it, and take Newton steps of the others."""
    for _ in range(POLISHES):
        x, gradient = fit.x, problem.gradient(fit.x)
        width = upper - lower
        scale = max(float(np.abs(gradient).max(initial=0.0)), 1e-300)
        low = (x - lower) / width < gradient / scale
        high = (upper - x) / width < -gradient / scale
        moved = np.where(low, lower, np.where(high, upper, x))
        held = low | high
        if not problem.is_quadratic or not held.all():
            # A held variable has an infinite weight: it stays, and its column counts no more.
            push = np.where(held, 1e30 * max(scale, 1.0), 0.0)
            try:
                step = problem.factor(moved, push)(-np.where(held, 0.0, problem.gradient(moved)))
            except linalg.LinAlgError:
                return fit
            moved = np.where(held, moved, np.clip(moved + step, lower, upper))
        gap = relative_gap(problem, moved, lower, upper)
        if not gap < fit.gap:
            return fit
        fit = BoxFit(moved, gap, fit.steps)
    return fit


@dataclass(frozen=True, eq=False)
class Quadratic:
    """f(x) = x'Gx / 2 - m'x; the objective is `constant` + 2 f, at least a rounding error of it."""

    is_quadratic: ClassVar[bool] = True

    square: Array
    moment: Array
    constant: float

    def value(self, x: Array) -> float:
        """Return f(x)."""
        return float(x @ (self.square @ x) / 2 - self.moment @ x)

    def gradient(self, x: Array) -> Array:
        """Return its gradient."""
        return np.asarray(self.square @ x - self.moment)

    def factor(self, x: Array, diagonal: Array) -> Linear:
        """Return what solves a system with G plus a diagonal."""
        return cholesky_of(self.square, diagonal)

    def objective(self, x: Array) -> float:
        """Return half the sum of squares that is left."""
        return max(self.constant / 2 + self.value(x), LEAST_SHARE * self.constant / 2)


# Of the sum of squares at zero: below it a sum from a Gram matrix is rounding.
LEAST_SHARE = 1e-12


class Logistic:
    r"""f(x) = the least sum of :math:`\log(1 + \exp(-s_i (z_i^\top x + b)))` over b, or for b = 0.

    Parameters
    ----------
    rows : array of shape (n, p)
    signs : array of shape (n,)
        -1 and +1, both there.
    intercept : bool
    """

    is_quadratic: ClassVar[bool] = False

    def __init__(self, rows: Array, signs: Array, *, intercept: bool) -> None:
        self.rows, self.signs, self.intercept = rows, signs, intercept

    def constant(self, x: Array) -> float:
        """Return the best b."""
        return self._best(self.rows @ x) if self.intercept else 0.0

    def value(self, x: Array) -> float:
        """Return f(x)."""
        return -float(log_expit(self._margins(x)).sum())

    def gradient(self, x: Array) -> Array:
        """Return its gradient."""
        return np.asarray(-(self.rows.T @ (self.signs * expit(-self._margins(x)))))

    def factor(self, x: Array, diagonal: Array) -> Linear:
        """Return what solves a system with the Hessian plus a diagonal."""
        margins = self._margins(x)
        weights = expit(margins) * expit(-margins)
        inside = self.rows * np.sqrt(weights)[:, None]
        square = blas.dsyrk(1.0, inside.T, lower=1)
        total = float(weights.sum())
        if self.intercept and total > 0:
            sums = self.rows.T @ weights
            square -= np.outer(sums, sums / total)
        return cholesky_of(square, diagonal)

    def objective(self, x: Array) -> float:
        """Return f(x)."""
        return self.value(x)

    def _margins(self, x: Array) -> Array:
        values = self.rows @ x
        return np.asarray(self.signs * (values + self._best(values) * self.intercept))

    def _best(self, values: Array) -> float:
        def slope(b: float) -> float:
            return -float((self.signs * expit(-self.signs * (values + b))).sum())

        # There one row outweighs all of the other class.
        reach = 2.0 + float(np.log(len(values)))
        low, high = -float(values.max()) - reach, -float(values.min()) + reach
        return float(optimize.brentq(slope, low, high, xtol=1e-13, rtol=1e-14))


class HingeDual:
    r"""f(a) = |A'a|^2 / (2 alpha) - 1'a, for 0 <= a <= 1, A = y_i z_i of shape (n, p).

    The dual of :math:`\sum_i \max(0, 1 - y_i z_i^\top\theta) + \alpha |\theta|^2 / 2`, with
    :math:`\theta = A^\top a / \alpha`; its gap is that between the two objectives.
    """

    is_quadratic: ClassVar[bool] = True

    def __init__(self, A: Array, alpha: float, products: Array | None) -> None:
        self.A, self.alpha, self.products = A, alpha, products

    def coefficients(self, a: Array) -> Array:
        """Return theta, shape (p,)."""
        return np.asarray(self.A.T @ a) / self.alpha

    def value(self, a: Array) -> float:
        """Return f(a)."""
        theta = self.coefficients(a)
        return self.alpha * float(theta @ theta) / 2 - float(a.sum())

    def gradient(self, a: Array) -> Array:
        """Return its gradient: the margins less 1."""
        return np.asarray(self.A @ self.coefficients(a) - 1.0)

    def factor(self, a: Array, diagonal: Array) -> Linear:
        """Return what solves a system with A A' / alpha plus a diagonal, on the smaller side."""
        if self.products is not None:
            return cholesky_of(self.products / self.alpha, diagonal)
        inside = self.A / np.sqrt(diagonal)[:, None]
        small = cholesky_of(
            blas.dsyrk(1.0, inside.T, lower=1), np.full(self.A.shape[1], self.alpha)
        )

        def once(v: Array) -> Array:
            return np.asarray((v - self.A @ small(self.A.T @ (v / diagonal))) / diagonal)

        def solve(v: Array) -> Array:
            result = once(v)
            left = v - self.A @ (self.A.T @ result) / self.alpha - diagonal * result
            return result + once(left)

        return solve

    def objective(self, a: Array) -> float:
        """Return the objective of the coefficients."""
        theta = self.coefficients(a)
        slack = np.maximum(0.0, 1.0 - self.A @ theta)
        return float(slack.sum()) + self.alpha * float(theta @ theta) / 2


def cholesky_of(square: Array, diagonal: Array) -> Linear:
    """Return what solves a system with a matrix (its lower triangle) plus a diagonal.

    The diagonal is lifted as little as needed where rounding left the matrix indefinite.
    """
    lift = 0.0
    largest = float((np.diag(square) + diagonal).max(initial=0.0))
    if not np.isfinite(largest):
        raise linalg.LinAlgError("the system is not finite")
    while True:
        system = np.array(square, order="F")
        system[np.diag_indices_from(system)] += diagonal + lift
        try:
            factor = linalg.cho_factor(system, lower=True, overwrite_a=True, check_finite=False)
        except linalg.LinAlgError:
            lift = max(10 * lift, 1e-15 * float(np.diag(square).max()), 1e-300)
            continue
        return lambda v: np.asarray(linalg.cho_solve(factor, v, check_finite=False))
