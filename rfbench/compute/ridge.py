"""The ridge path: every penalty from one set of normal equations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import linalg
from scipy.linalg import blas, lapack

from rfbench.arrays import Array
from rfbench.compute.equations import NormalEquations
from rfbench.errors import MethodError


@dataclass(frozen=True, eq=False)
class RidgePath:
    """Ridge solutions for a penalties.

    Attributes
    ----------
    coef : ndarray, shape (a, p, t)
    intercept : ndarray, shape (a, t)
    fallback : list of str or None
        For every penalty, what was done where Cholesky could not serve.
    """

    coef: Array
    intercept: Array
    fallback: list[str | None]


def solve_ridge(equations: NormalEquations, alphas: npt.ArrayLike, *, intercept: bool) -> RidgePath:
    """Minimise sum_i w_i |y_i - z_i'theta - b|^2 + alpha |theta|^2 for every alpha.

    Parameters
    ----------
    equations : NormalEquations
        With p features and t targets.
    alphas : array, shape (a,)
        Penalties, absolute: multiply by n for a penalty a sample. Zero asks for the solution of
        least norm where it is not unique.
    intercept : bool
        Fit an unpenalised b (by centring), or hold it at 0.

    Returns
    -------
    RidgePath

    Raises
    ------
    MethodError
        The features or the targets are not finite.
    ValueError
        A penalty is negative or not finite, or there are no rows.

    Notes
    -----
    One Cholesky factorisation per penalty, in one p x p work array, see `solve_shifted`; the
    rounding error is that of `rounding`, and the largest entry that of the Gram matrix before it is
    centred.
    """
    penalties = checked_penalties(equations, alphas)
    t = equations.moment.shape[1]
    moment = equations.moment
    if intercept:
        moment = moment - np.outer(equations.column_sums / equations.n, equations.target_sums)

    def load(work: Array) -> None:
        gram = equations.gram
        np.copyto(work, gram if gram.flags.f_contiguous else gram.T)
        if intercept and work.size:
            blas.dsyr(-1 / equations.n, equations.column_sums, lower=1, a=work, overwrite_a=1)

    largest = float(np.diag(equations.gram).max(initial=0.0))
    coef, fallback = solve_shifted(load, moment, penalties, rounding(equations), largest)
    offset = equations.intercepts(coef) if intercept else np.zeros((penalties.size, t))
    return RidgePath(coef, offset, fallback)


def solve_shifted(
    load: Callable[[Array], None], sides: Array, penalties: Array, noise: float, largest: float
) -> tuple[Array, list[str | None]]:
    """Solve (K + alpha I) A = sides for every alpha: by Cholesky, or one eigendecomposition.

    The eigendecomposition serves where Cholesky fails, or its smallest squared pivot is at most
    `noise` times the largest or `largest`; without the directions where eigenvalue + alpha is as
    small. Where it served once, Cholesky is tried for larger penalties only.

    Parameters
    ----------
    load : callable
        Writes K into an array of shape (p, p) in Fortran order; the lower triangle counts.
    sides : ndarray, shape (p, t)
    penalties : ndarray, shape (a,)
    noise : float
        Relative rounding error of K.
    largest : float
        Largest entry of what K was made from.

    Returns
    -------
    tuple of an ndarray, shape (a, p, t), and the fall-backs, see `RidgePath`
    """
    p = len(sides)
    solved = np.empty((penalties.size, *sides.shape))
    fallback: list[str | None] = [None] * penalties.size
    work = np.empty((p, p), order="F")
    spectrum: tuple[Array, Array] | None = None
    failed = -1.0
    for i, alpha in enumerate(penalties if p else ()):
        if alpha > failed:
            load(work)
            work.reshape(-1, order="A")[:: p + 1] += alpha
            factor, info = lapack.dpotrf(work, lower=1, clean=0, overwrite_a=1)
            pivots = np.diag(factor) ** 2
            if info == 0 and pivots.min() > noise * max(pivots.max(), largest):
                solved[i] = lapack.dpotrs(factor, sides, lower=1)[0]
                continue
            failed = alpha
        if spectrum is None:
            load(work)
            spectrum = linalg.eigh(work, overwrite_a=True, check_finite=False, driver="evd")
            work = np.empty((p, p), order="F")
        values, vectors = spectrum
        shifted = np.maximum(values, 0.0) + alpha
        kept = shifted > noise * max(shifted.max(), largest)
        basis = vectors[:, kept]
        solved[i] = basis @ ((basis.T @ sides) / shifted[kept, None])
        fallback[i] = f"eigendecomposition, {int(kept.sum())} of {p} directions kept"
    return solved, fallback


def rounding(equations: NormalEquations) -> float:
    """Return the relative error of the Gram matrix in its spectral norm.

    p eps of float64, in which it is factorised, but at least 4 eps of the features' type: that of
    features in float32 is 1 to 2 eps, however many they are, as they round to either side.
    """
    return max(len(equations.gram) * float(np.finfo(np.float64).eps), 4 * equations.eps)


def residual_sum_of_squares(equations: NormalEquations, coef: Array, intercept: Array) -> Array:
    """Return sum_i w_i (y_i - z_i'theta - b)^2 from the normal equations of those rows.

    Parameters
    ----------
    equations : NormalEquations
        Of the rows to score: those of a fold, say.
    coef : ndarray, shape (a, p, t)
    intercept : ndarray, shape (a, t)

    Returns
    -------
    ndarray, shape (a, t)
        Exact to about ten times the `rounding` of the sum of squared targets: smaller sums are
        given as that much. Infinite where the sum is negative beyond it: such coefficients are too
        large for the precision of the equations.
    """
    a, p, t = coef.shape
    flat = coef.transpose(1, 0, 2).reshape(p, a * t)
    product = (equations.gram @ flat).reshape(p, a, t).transpose(1, 0, 2)
    quadratic = np.einsum("apt,apt->at", coef, product - 2 * equations.moment)
    fitted = equations.column_sums @ coef
    offset = intercept + equations.shift @ coef
    cross = offset * (2 * (fitted - equations.target_sums) + equations.n * offset)
    total = equations.target_squares + quadratic + cross
    least = 10 * rounding(equations) * equations.target_squares
    usable: Array = np.where(total >= -least, np.maximum(total, least), np.inf)
    return usable


def checked_penalties(equations: NormalEquations, alphas: npt.ArrayLike) -> Array:
    """Return the penalties, shape (a,); see `solve_ridge` for what is raised."""
    penalties = np.atleast_1d(np.asarray(alphas, np.float64))
    if penalties.ndim != 1 or not (np.isfinite(penalties).all() and (penalties >= 0).all()):
        raise ValueError(f"the penalties {alphas!r} are not finite numbers of at least 0")
    parts = (equations.gram.diagonal(), equations.moment, equations.column_sums)
    if not all(np.isfinite(part).all() for part in parts):
        raise MethodError(
            "The normal equations are not finite.",
            "The features or the targets contain NaN or infinity, or overflow when squared.",
            "Look for missing values, and scale the data.",
        )
    if not equations.n > 0:
        raise ValueError("no rows to fit: the weights sum to zero")
    return penalties
