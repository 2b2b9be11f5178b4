"""Minimising a convex function of coefficients in a box: by projected Newton steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from rfbench.arrays import Array

SUFFICIENT_DECREASE = 1e-4
ROUNDING = 1e-13


class Derivatives(NamedTuple):
    """Gradient, shape (p,), and a function that returns the Hessian's block of some variables."""

    gradient: Array
    hessian: Callable[[NDArray[np.bool_]], Array]


def minimise_in_box(
    value: Callable[[Array], float],
    derivatives: Callable[[Array], Derivatives],
    bounds: Array,
    start: Array,
    *,
    tol: float,
    max_iter: int,
) -> tuple[Array, bool]:
    """Minimise a convex function subject to |x_j| <= bounds_j (infinite where x_j is free).

    Variables at a bound that the gradient pushes outwards are held; the others take the Newton
    step, projected onto the box and halved until the value decreases (Bertsekas 1982).

    Parameters
    ----------
    value, derivatives : callable
    bounds : array of shape (p,)
    start : array of shape (p,)
        Inside the box.
    tol : float
        Stop when the gradient of the variables that are not held is below this fraction of the
        largest entry of the gradient at zero.
    max_iter : int

    Returns
    -------
    tuple of array and bool
        The solution, and whether `tol` was reached.
    """
    x = start.copy()
    scale = max(float(np.abs(derivatives(np.zeros_like(x)).gradient).max()), 1e-300)
    current = value(x)
    for _ in range(max_iter):
        found = derivatives(x)
        gradient = found.gradient
        held = ((x >= bounds) & (gradient < 0)) | ((x <= -bounds) & (gradient > 0))
        if np.abs(gradient[~held]).max(initial=0.0) <= tol * scale:
            return x, True
        step = np.zeros_like(x)
        step[~held] = -newton_step(found.hessian(~held), gradient[~held])
        length = 1.0
        while True:
            candidate = np.clip(x + length * step, -bounds, bounds)
            reached = value(candidate)
            decrease = SUFFICIENT_DECREASE * float(gradient @ (candidate - x))
            if reached <= current + decrease + ROUNDING * abs(current):
                break
            length /= 2
            if length < ROUNDING:
                return x, False
        x, current = candidate, reached
    return x, False


def newton_step(hessian: Array, gradient: Array) -> Array:
    """Solve a positive semidefinite system; its diagonal is lifted a little, as far as needed."""
    p = len(hessian)
    lift = 1e-13 * (float(np.diag(hessian).max(initial=0.0)) or 1.0)
    while True:
        try:
            factor = linalg.cho_factor(hessian + lift * np.eye(p), lower=True, check_finite=False)
            return np.asarray(linalg.cho_solve(factor, gradient, check_finite=False))
        except linalg.LinAlgError:
            lift *= 10
