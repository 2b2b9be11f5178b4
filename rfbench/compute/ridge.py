"""The ridge path: every penalty from one set of normal equations."""

from __future__ import annotations

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
    One Cholesky factorisation per penalty, in one p x p work array. Where it fails, or its
    smallest squared pivot is below the rounding error (see `rounding`) of its largest, or of the
    largest entry of the Gram matrix before it is centred, the eigendecomposition of the Gram matrix
    serves, without the directions where eigenvalue + alpha is as small.
    """
    penalties = _penalties(equations, alphas)
    p, t = equations.moment.shape
    coef = np.empty((penalties.size, p, t))
    fallback: list[str | None] = [None] * penalties.size
    work = np.empty((p, p), order="F")
    noise = rounding(equations)
    largest = float(np.diag(equations.gram).max(initial=0.0))
    moment = equations.moment
    if intercept:
        moment = moment - np.outer(equations.column_sums / equations.n, equations.target_sums)
    spectrum: tuple[Array, Array] | None = None
    for i, alpha in enumerate(penalties):
        solved = None
        if spectrum is None or alpha > 0:
            _load(work, equations, intercept)
            work.reshape(-1, order="A")[:: p + 1] += alpha
            solved = _cholesky(work, moment, noise, largest)
        if solved is None:
            if spectrum is None:
                _load(work, equations, intercept)
                spectrum = linalg.eigh(work, lower=True, check_finite=False, driver="evd")
            solved, kept = _spectral(*spectrum, moment, alpha, noise, largest)
            fallback[i] = f"eigendecomposition, {kept} of {p} directions kept"
        coef[i] = solved
    offset = equations.intercepts(coef) if intercept else np.zeros((penalties.size, t))
    return RidgePath(coef, offset, fallback)


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


def _penalties(equations: NormalEquations, alphas: npt.ArrayLike) -> Array:
    penalties = np.atleast_1d(np.asarray(alphas, np.float64))
    if penalties.ndim != 1 or not (np.isfinite(penalties).all() and (penalties >= 0).all()):
        raise ValueError(f"the penalties {alphas!r} are not finite numbers of at least 0")
    parts = (np.diag(equations.gram), equations.moment, equations.column_sums)
    if not all(np.isfinite(part).all() for part in parts):
        raise MethodError(
            "The normal equations are not finite.",
            "The features or the targets contain NaN or infinity, or overflow when squared.",
            "Look for missing values, and scale the data.",
        )
    if not equations.n > 0:
        raise ValueError("no rows to fit: the weights sum to zero")
    return penalties


def _load(work: Array, equations: NormalEquations, centre: bool) -> None:
    """Put the Gram matrix into `work`; its lower triangle centred where that is asked for."""
    gram = equations.gram
    np.copyto(work, gram if gram.flags.f_contiguous else gram.T)
    if centre and work.size:
        blas.dsyr(-1 / equations.n, equations.column_sums, lower=1, a=work, overwrite_a=1)


def _cholesky(work: Array, moment: Array, noise: float, largest: float) -> Array | None:
    p = work.shape[0]
    if p == 0:
        return np.empty(moment.shape)
    factor, info = lapack.dpotrf(work, lower=1, clean=0, overwrite_a=1)
    pivots = np.diag(factor) ** 2
    if info != 0 or pivots.min() <= noise * max(pivots.max(), largest):
        return None
    solved: Array = lapack.dpotrs(factor, moment, lower=1)[0]
    return solved


def _spectral(
    eigenvalues: Array, vectors: Array, moment: Array, alpha: float, noise: float, largest: float
) -> tuple[Array, int]:
    shifted = np.maximum(eigenvalues, 0.0) + alpha
    keep = shifted > noise * max(shifted.max(), largest)
    basis = vectors[:, keep]
    return basis @ ((basis.T @ moment) / shifted[keep, None]), int(keep.sum())
