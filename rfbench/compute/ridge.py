r"""Normal equations, which are sums over rows, and ridge solutions for all penalties.

With features Z (n x p), targets Y (n x t) and weights w,

    gram = Z'WZ,   moment = Z'WY,   column_sums = Z'w.

If an intercept is fitted, Z are the features minus one fixed row, their `shift`, near their means.
Centering then loses no digits even if the mean of a column is 1e8 times its standard deviation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.typing import NDArray
from scipy import linalg
from scipy.linalg import blas, lapack

from rfbench.arrays import Array, FloatArray
from rfbench.compute.products import matmul, multiply_row
from rfbench.compute.threads import one_thread
from rfbench.errors import MethodError

# Smallest number of penalties, and of columns per target, for which one decomposition for all
# penalties is faster. Measured by `python -m scripts.bench.doubled`, as relative CPU time: with
# twice the limit, 11 penalties take 2.28; with half of it, 5 penalties take 1.04. With twice
# COLUMNS_PER_SIDE, 450 equations take 1.48; with half of it, 200 equations take 1.19.
FEWEST_TOGETHER = 8
COLUMNS_PER_SIDE = 300
# Largest number of equations for which that decomposition is in float64, and the smallest number of
# equations per target (TRIDIAGONAL_PER_SIDE). Measured, CPU time in ms for 11 penalties in float64,
# in float32 and by Cholesky: .25, 1.0 and .57 with 100 equations, 4.6, 6.6 and 10 with 400, 54, 62
# and 131 with 1,000, but 198, 145 and 393 with 1,500. For ten targets, float64 takes 88 % of
# Cholesky's time with 30 equations and 70 % with 100.
MOST_TRIDIAGONAL = 1000
TRIDIAGONAL_PER_SIDE = 3

# ACCURACY is the relative accuracy of solutions. SINGLE is a limit for the ratio of the penalty and
# the norm of K; below it, float32 cannot be used as a preconditioner. MOST_STEPS is the maximum
# number of steps. Measured on RKS features (M = 1,000, penalties 1e-3 to 1e4): 14 of 15 penalties
# are solved with SINGLE or half of it, 13 with twice SINGLE. Twice or half the ACCURACY changes
# neither the time nor the error of 1e-11. All solutions need at most 8 of the MOST_STEPS.
ACCURACY = 1e-12
SINGLE = 1e-6
MOST_STEPS = 30

_SUMS = ("gram", "moment", "column_sums", "target_sums", "target_squares", "n")


@dataclass(frozen=True, eq=False)
class NormalEquations:
    """Sums over (weighted) rows of features and targets that are sufficient for least squares.

    Attributes
    ----------
    gram : ndarray, shape (p, p)
        Z'WZ, both triangles filled.
    moment : ndarray, shape (p, t)
        Z'WY.
    column_sums : ndarray, shape (p,)
        Z'w.
    target_sums : ndarray, shape (t,)
        Y'w.
    target_squares : ndarray, shape (t,)
        Sum of w y^2 for every target.
    n : float
        Number of rows, or the sum of their weights.
    shift : ndarray, shape (p,)
        The row that is subtracted from each row of features; zero if no intercept is fitted.
        Equations can be added only if they have the same shift.
    eps : float
        Relative rounding error of the features.
    """

    gram: Array
    moment: Array
    column_sums: Array
    target_sums: Array
    target_squares: Array
    n: float
    shift: Array
    eps: float

    def __add__(self, other: NormalEquations) -> NormalEquations:
        sums: dict[str, Any] = {n: getattr(self, n) + getattr(other, n) for n in _SUMS}
        return replace(self, **sums)

    def emptied(self) -> NormalEquations:
        """Return the equations of zero rows, for the same columns."""
        nothing: dict[str, Any] = {name: 0.0 * np.zeros_like(getattr(self, name)) for name in _SUMS}
        return replace(self, **nothing)

    def subset(
        self, columns: NDArray[np.intp], scale: float | NDArray[np.floating[Any]] = 1.0
    ) -> NormalEquations:
        """Return the equations of a subset of the columns, rescaled.

        Parameters
        ----------
        columns : integer array, shape (p',)
            The columns to keep, in the requested order.
        scale : float or ndarray, shape (p',)
            Factor of every kept column, for example sqrt(M / M') if features have the factor
            1/sqrt(M).
        """
        sums = self.column_sums[columns]
        factor = np.broadcast_to(np.asarray(scale, np.float64), sums.shape)
        return replace(
            self,
            gram=self.gram[np.ix_(columns, columns)] * np.outer(factor, factor),
            moment=self.moment[columns] * factor[:, None],
            column_sums=sums * factor,
            shift=self.shift[columns] * factor,
        )

    def intercepts(self, coef: Array) -> Array:
        """Return the optimal intercepts for coefficients, (..., p, t): mean residuals."""
        fitted, shifted = multiply_row(self.column_sums, coef), multiply_row(self.shift, coef)
        best: Array = (self.target_sums - fitted) / self.n - shifted
        return best

    def mean_squared_norm(self) -> float:
        """Return the mean squared norm of a row of features, including the shift."""
        shifted = self.gram.trace() + 2 * (self.shift @ self.column_sums)
        return float(shifted / self.n + self.shift @ self.shift)


@dataclass(frozen=True, eq=False)
class RidgePath:
    """Ridge solutions for all penalties; `a` is their number.

    Attributes
    ----------
    coef : ndarray, shape (a, p, t)
        For `row_side`, shape (a, n, t): the coefficients of n rows.
    intercept : ndarray, shape (a, t)
    notes : list of list of str
        For every penalty, a note on the method used if Cholesky failed.
    """

    coef: Array
    intercept: Array
    notes: list[list[str]]


def solve_ridge(equations: NormalEquations, alphas: npt.ArrayLike, *, intercept: bool) -> RidgePath:
    """Minimise sum_i w_i |y_i - z_i'theta - b|^2 + alpha |theta|^2 for every alpha.

    Parameters
    ----------
    equations : NormalEquations
        With p features and t targets.
    alphas : array, shape (a,)
        Absolute penalties; multiply by n for a penalty per sample. At zero, the solution of minimal
        norm is returned if it is not unique.
    intercept : bool
        Fit an unpenalized b (by centering), or fix it at 0.

    Returns
    -------
    RidgePath

    Raises
    ------
    MethodError
        If the features or the targets are not finite.

    Notes
    -----
    `solve_shifted` describes the solution for all penalties. Its rounding error is estimated by
    `estimate_rounding`, and its largest entry is the largest entry of the Gram matrix before
    centering.
    """
    penalties = np.atleast_1d(np.asarray(alphas, np.float64))
    assert equations.n > 0, "no rows to fit"
    check_equations(equations)
    t = equations.moment.shape[1]
    moment = equations.moment
    # Center with the sums of the rows: Z'Y - (Z'1)(1'Y) / n, and Z'Z - (Z'1)(Z'1)' / n below. The
    # constant is then not penalized and no longer occurs in the equations.
    if intercept:
        moment = moment - np.outer(equations.column_sums / equations.n, equations.target_sums)

    def load(work: Array) -> None:
        gram = equations.gram
        np.copyto(work, gram if gram.flags.f_contiguous else gram.T)
        if intercept and work.size:
            blas.dsyr(-1 / equations.n, equations.column_sums, lower=1, a=work, overwrite_a=1)

    largest = float(np.diag(equations.gram).max(initial=0.0))
    coef, notes = solve_shifted(load, moment, penalties, estimate_rounding(equations), largest)
    offset = equations.intercepts(coef) if intercept else np.zeros((penalties.size, t))
    return RidgePath(coef, offset, notes)


def check_equations(equations: NormalEquations) -> None:
    """Raise MethodError if normal equations are not finite."""
    parts = (equations.gram.diagonal(), equations.moment, equations.column_sums)
    if not all(np.isfinite(part).all() for part in parts):
        raise MethodError(
            "The normal equations are not finite.",
            "The features or the targets contain NaN or infinity, or overflow when squared.",
            "Look for missing values, and scale the data.",
        )


def solve_shifted(
    load: Callable[[Array], None], sides: Array, penalties: Array, noise: float, largest: float
) -> tuple[Array, list[list[str]]]:
    """Solve (K + alpha I) A = sides for every alpha: by Cholesky, or one decomposition for all.

    If there are many penalties, they share one tridiagonal form (see `_solve_tridiagonal`), for a
    large system in single precision (see `_solve_together`). Cholesky solves the remaining
    penalties. An eigendecomposition is used if Cholesky fails, or if its smallest squared pivot is
    at most `noise` times the largest pivot or `largest`. It leaves out directions in which
    eigenvalue + alpha is that small. Once it was used, Cholesky is tried only for larger
    penalties.

    Parameters
    ----------
    load : callable
        Writes K into an array of shape (p, p) in Fortran order; only the lower triangle is used.
    sides : ndarray, shape (p, t)
    penalties : ndarray, shape (a,)
    noise : float
        Relative rounding error of K.
    largest : float
        Largest entry of K before centering.

    Returns
    -------
    tuple of an ndarray, shape (a, p, t), and the notes of `RidgePath`
    """
    p, t = sides.shape
    solved = np.empty((penalties.size, p, t))
    notes: list[list[str]] = [[] for _ in penalties]
    # All penalties use one p x p array: K is loaded again for each penalty, and the factor
    # overwrites it.
    work = np.empty((p, p), order="F")
    left = np.ones(penalties.size if p else 0, dtype=bool)
    # With fewer penalties, or more sides, one Cholesky factor per penalty is faster.
    small = p <= MOST_TRIDIAGONAL
    if (
        left.size >= FEWEST_TOGETHER
        and p >= (TRIDIAGONAL_PER_SIDE if small else COLUMNS_PER_SIDE) * t
    ):
        load(work)
        # Cholesky would succeed for these penalties: its squared pivots are at least alpha.
        sure = np.flatnonzero(penalties > 4 * noise * (largest + penalties))
        # Householder's reduction consists of many short calls, between which two threads would
        # wait.
        with one_thread(True):
            if small:
                together = _solve_tridiagonal(work, sides, penalties[sure])
            else:
                together = _solve_together(work, sides, penalties[sure], max(ACCURACY, noise))
        done = np.isfinite(together).all(axis=(1, 2))
        if done.all() and len(sure) == penalties.size:
            return together, notes
        solved[sure] = together
        left[sure[done]] = False
    spectrum: tuple[Array, Array] | None = None
    failed = -1.0
    for i in np.flatnonzero(left):
        alpha = penalties[i]
        if alpha > failed:
            load(work)
            work.reshape(-1, order="A")[:: p + 1] += alpha
            factor, info = lapack.dpotrf(work, lower=1, clean=0, overwrite_a=1)
            # A squared pivot is the part of a diagonal entry that earlier columns do not explain.
            # If it is as small as the rounding of K, the solution in that direction is noise.
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
        # K is positive semidefinite, so negative eigenvalues are rounding errors. Directions in
        # which eigenvalue + alpha is at rounding level are omitted, too, which gives the solution
        # of minimal norm.
        shifted = np.maximum(values, 0.0) + alpha
        kept = shifted > noise * max(shifted.max(), largest)
        basis = vectors[:, kept]
        solved[i] = matmul(basis, matmul(basis.T, sides) / shifted[kept, None])
        notes[i].append(f"eigendecomposition, {int(kept.sum())} of {p} directions kept")
    return solved, notes


def _solve_tridiagonal(K: Array, sides: Array, penalties: Array) -> Array:
    """Solve (K + alpha I) A = sides for every alpha by one tridiagonal form, in float64.

    K = Q T Q' (Householder), and each T + alpha I is solved in O(p): p^3 operations once, and not
    per penalty. As accurate as a Cholesky factor each. K is overwritten.

    Returns
    -------
    ndarray, shape (a, p, t)
        NaN for penalties with which T is not positive definite.
    """
    p, t = sides.shape
    form, diagonal, beside, tau, _ = lapack.dsytrd(K, lower=1, lwork=64 * p, overwrite_a=1)
    reflectors = np.asfortranarray(form[1:, :-1])
    turned = np.array(sides, order="F")
    turned[1:] = lapack.dormqr("L", "T", reflectors, tau, turned[1:], 64 * p)[0]
    solved = np.full((p, penalties.size * t), np.nan, order="F")
    for i, alpha in enumerate(penalties):
        *factor, info = lapack.dpttrf(diagonal + alpha, beside)
        if info == 0:
            solved[:, i * t : (i + 1) * t] = lapack.dpttrs(*factor, turned)[0]
    solved[1:] = lapack.dormqr("L", "N", reflectors, tau, solved[1:], 64 * p)[0]
    return np.asarray(solved.reshape(p, -1, t).transpose(1, 0, 2))


def _solve_together(K: Array, sides: Array, penalties: Array, accuracy: float) -> Array:
    """Solve (K + alpha I) A = sides for every alpha at once, in float64, if that is fast.

    The method is conjugate gradients, preconditioned with Q (T + alpha I)^-1 Q'. Here K = Q T Q' is
    tridiagonal up to the rounding of float32: one decomposition, in single precision, for all
    penalties. Each step estimates the error of the solution; a side is finished when the relative
    estimate is at most `accuracy`.

    Returns
    -------
    ndarray, shape (a, p, t)
        NaN for penalties below the rounding of float32, and for sides that need too many steps.
    """
    # Scale K to entries of about 1 and the sides to norm 1: float32 has no numbers below 1e-38 or
    # above 3e38, and products of features may exceed that range. The end of the function reverts
    # it.
    p, t = sides.shape
    scale, units = float(K.diagonal().max()), np.linalg.norm(sides, axis=0)
    units[units == 0] = 1.0
    scale = scale if scale > 0 else 1.0
    penalties = (
        penalties / scale
    )  # relative to K / scale, in which numbers and squares neither overflow nor vanish
    # K = Q T Q' in float32 (Householder), T tridiagonal. T + alpha I is then factorized in O(p) for
    # each penalty; a Cholesky factorization of K + alpha I needs p^3 / 3 operations.
    rough = np.empty((p, p), np.float32, order="F")
    np.divide(K, scale, out=rough, casting="same_kind")
    rough, diagonal, beside, tau, _ = lapack.ssytrd(rough, lower=1, lwork=64 * p, overwrite_a=1)
    reflectors = np.asfortranarray(rough[1:, :-1])
    diagonal, beside = diagonal.astype(np.float64), beside.astype(np.float64)
    factors = [lapack.dpttrf(diagonal + alpha, beside) for alpha in penalties]
    # |K| <= |diagonal| + 2 |beside| (Gershgorin). A pivot within float32's rounding of this bound
    # has no correct digit: the preconditioner would not be definite, and the iterations would
    # diverge.
    norm = 2 * float(np.abs(beside).max(initial=0.0)) + float(np.abs(diagonal).max())
    serves = np.array([info == 0 and d.min() > SINGLE * norm for d, _, info in factors], dtype=bool)

    # Multiply a block by Q or by Q', in float32. Each column is scaled to 1, because late residuals
    # are below the range of float32.
    def turn(block: Array, way: str) -> Array:
        size = np.abs(block).max(axis=0)
        size[size == 0] = 1.0
        single: FloatArray = np.asfortranarray(block / size, dtype=np.float32)
        single[1:] = lapack.sormqr("L", way, reflectors, tau, single[1:], 64 * p)[0]
        return np.asfortranarray(single * size)

    # z = Q (T + alpha I)^-1 Q' r, an inverse of K + alpha I up to the rounding of float32.
    def precondition(block: Array, which: NDArray[np.intp]) -> Array:
        turned = turn(block, "T")
        for i in np.unique(which):
            own = which == i
            turned[:, own] = lapack.dpttrs(*factors[i][:2], turned[:, own])[0]
        return turn(turned, "N")

    solved = np.full((p, penalties.size * t), np.nan)
    # One column per penalty and side that is not solved yet. Columns are removed when they
    # converge, so that the product with K has as few columns as possible.
    live = np.flatnonzero(np.repeat(serves, t))
    which = live // t
    residual = np.asfortranarray(np.tile(sides / units, penalties.size)[:, live])
    x = np.zeros_like(residual)
    # Conjugate gradients from x = 0 in float64, separately for each column: residual r, z = M r,
    # slope r'z. The residual uses the exact K, so that the rounding of M costs steps but no digits.
    direction = z = precondition(residual, which)
    slope = np.einsum("ij,ij->j", residual, z)
    for _ in range(MOST_STEPS):
        # z = M r estimates the error of x, since M is nearly (K + alpha I)^-1. The residual itself
        # would be small if K is nearly singular, even for a large error.
        ended = np.linalg.norm(z, axis=0) <= accuracy * np.linalg.norm(x, axis=0)
        if ended.any():
            solved[:, live[ended]] = x[:, ended]
            goes = ~ended
            live, which, slope = live[goes], which[goes], slope[goes]
            x, residual = x[:, goes], residual[:, goes]
            direction, z = direction[:, goes], z[:, goes]
        if not live.size:
            break
        product = blas.dsymm(1 / scale, K, direction, lower=1) + penalties[which] * direction
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            # length = r'z / d'(K + alpha I)d minimizes along the direction. The next direction is
            # conjugate to the earlier ones: z + (new r'z / old r'z) d. A division by 0 gives NaN,
            # which never meets the accuracy; Cholesky then solves all columns of that penalty.
            length = slope / np.einsum("ij,ij->j", direction, product)
            x = x + length * direction
            residual = residual - length * product
            z = precondition(residual, which)
            before, slope = slope, np.einsum("ij,ij->j", residual, z)
            direction = z + slope / before * direction
    return np.asarray((solved.reshape(p, -1, t) * (units / scale)).transpose(1, 0, 2))


def estimate_rounding(equations: NormalEquations) -> float:
    """Return the relative error of the Gram matrix in its spectral norm.

    It is p eps of float64, in which the matrix is factorized, but at least 4 eps of the features'
    type. For features in float32 the error is 1 to 2 eps for any p, because they are rounded up and
    down.
    """
    return max(len(equations.gram) * float(np.finfo(np.float64).eps), 4 * equations.eps)


def residual_sum_of_squares(equations: NormalEquations, coef: Array, intercept: Array) -> Array:
    """Return sum_i w_i (y_i - z_i'theta - b)^2 from the normal equations of those rows.

    Parameters
    ----------
    equations : NormalEquations
        Equations of the rows to score, for example a fold.
    coef : ndarray, shape (a, p, t)
    intercept : ndarray, shape (a, t)

    Returns
    -------
    ndarray, shape (a, t)
        The result is exact to about ten times `estimate_rounding` of the sum of squared targets;
        smaller sums are replaced by that value. It is infinite if the sum is more negative than
        that, because such coefficients are too large for the precision of the equations.
    """
    a, p, t = coef.shape
    flat = coef.transpose(1, 0, 2).reshape(p, a * t)
    product = matmul(equations.gram, flat).reshape(p, a, t).transpose(1, 0, 2)
    quadratic = np.einsum("apt,apt->at", coef, product - 2 * equations.moment)
    fitted = multiply_row(equations.column_sums, coef)
    offset = intercept + multiply_row(equations.shift, coef)
    cross = offset * (2 * (fitted - equations.target_sums) + equations.n * offset)
    total = equations.target_squares + quadratic + cross
    least = 10 * estimate_rounding(equations) * equations.target_squares
    usable: Array = np.where(total >= -least, np.maximum(total, least), np.inf)
    return usable
