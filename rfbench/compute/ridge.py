r"""Normal equations of least squares, and their solutions by ridge regression for many penalties.

The normal equations are sums over rows. With features Z (n x p), targets Y (n x t) and weights w of
the rows, W = diag(w),

    gram = Z'WZ,   moment = Z'WY,   column_sums = Z'w.

If an intercept is fitted, one fixed row near the mean, the `shift`, is subtracted from all rows of
Z. Centering then loses no digits even if the mean of a column is 1e8 times its standard
deviation.
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
from rfbench.compute.products import matmul, multiply_row_without_blas
from rfbench.compute.threads import limit_to_one_thread
from rfbench.errors import MethodError

# One matrix decomposition is used for all penalties if there are at least FEWEST_TOGETHER penalties
# and at least COLUMNS_PER_SIDE equations per target. Otherwise one Cholesky factor per penalty is
# faster. Measured CPU time of the float32 decomposition, as a multiple of the time with these
# values: 2.28 for 11 penalties with twice FEWEST_TOGETHER, 1.04 for 5 penalties with half of
# FEWEST_TOGETHER, 1.48 for 450 equations with twice COLUMNS_PER_SIDE, and 1.19 for 200 equations
# with half of COLUMNS_PER_SIDE.
FEWEST_TOGETHER = 8
COLUMNS_PER_SIDE = 300
# With at most MOST_TRIDIAGONAL equations, the decomposition for all penalties is computed in
# float64, and with more equations in float32. The float64 decomposition needs only
# TRIDIAGONAL_PER_SIDE equations per target, in place of COLUMNS_PER_SIDE. Measured CPU time of 11
# penalties in ms, in the order float64, float32, Cholesky factors. With 100 equations: 0.25, 1.0,
# 0.57. With 400 equations: 4.6, 6.6, 10. With 1,000 equations: 54, 62, 131. With 1,500 equations:
# 198, 145, 393. With ten targets, float64 needs 88 % of the time of Cholesky factors for 30
# equations, and 70 % for 100 equations.
MOST_TRIDIAGONAL = 1000
TRIDIAGONAL_PER_SIDE = 3

# Constants of the conjugate gradient iterations, whose preconditioner is a float32 decomposition of
# the matrix K. ACCURACY is the relative accuracy at which the iterations stop. The preconditioner
# is used only if each pivot is above SINGLE times the norm of K. MOST_STEPS is the maximum number
# of steps. Measured with RKS features (M = 1,000, 15 penalties from 1e-3 to 1e4): the iterations
# solve 14 penalties with this value of SINGLE or half of it, and 13 penalties with twice the value.
# Twice or half the ACCURACY changes neither the time nor the error of 1e-11. No solution needs more
# than 8 steps.
ACCURACY = 1e-12
SINGLE = 1e-6
MOST_STEPS = 30

_SUMS = ("gram", "moment", "column_sums", "target_sums", "target_squares", "n")


@dataclass(frozen=True, eq=False)
class NormalEquations:
    """Normal equations of a least-squares regression, which are sums over rows of data.

    Z is the matrix of the p features, Y contains the t targets, w are the weights of the rows, and
    W = diag(w).

    Attributes
    ----------
    gram : ndarray, shape (p, p)
        The Gram matrix Z'WZ, with both triangles.
    moment : ndarray, shape (p, t)
        The products Z'WY.
    column_sums : ndarray, shape (p,)
        The weighted sums Z'w of the features.
    target_sums : ndarray, shape (t,)
        The weighted sums Y'w of the targets.
    target_squares : ndarray, shape (t,)
        The sum of w y^2 for every target y.
    n : float
        Number of rows, or the sum of their weights.
    shift : ndarray, shape (p,)
        The row that is subtracted from each row of features, or zeros if no intercept is fitted.
        Only equations with the same shift can be added.
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

    def make_zero_equations(self) -> NormalEquations:
        """Return normal equations of the same shape for no rows, so that all sums are 0."""
        nothing: dict[str, Any] = {name: 0.0 * np.zeros_like(getattr(self, name)) for name in _SUMS}
        return replace(self, **nothing)

    def select_columns(
        self, columns: NDArray[np.intp], scale: float | NDArray[np.floating[Any]] = 1.0
    ) -> NormalEquations:
        """Return the normal equations for a subset of the features.

        The features can be multiplied by factors.

        Parameters
        ----------
        columns : integer array, shape (p',)
            Indices of the features to keep, in the order of the result.
        scale : float or ndarray, shape (p',)
            Factor of every kept feature. For example, M features with the factor 1/sqrt(M) need the
            factor sqrt(M / M') if M' of the features are kept.
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

    def compute_intercepts(self, coef: Array) -> Array:
        """Return the intercepts that minimize the squared error for given coefficients.

        The coefficients have the shape (..., p, t) for p features and t targets.
        """
        fitted, shifted = (
            multiply_row_without_blas(self.column_sums, coef),
            multiply_row_without_blas(self.shift, coef),
        )
        best: Array = (self.target_sums - fitted) / self.n - shifted
        return best

    def compute_mean_squared_norm(self) -> float:
        """Return the mean squared norm of a row of features, before the shift is subtracted."""
        shifted = self.gram.trace() + 2 * (self.shift @ self.column_sums)
        return float(shifted / self.n + self.shift @ self.shift)


@dataclass(frozen=True, eq=False)
class RidgePath:
    """Solutions of a ridge regression for each of several penalties.

    Attributes
    ----------
    coef : ndarray, shape (a, p, t)
        Coefficients of p features for `a` penalties and t targets. For a dual solution
        (`rfbench.compute.dual_ridge`), the coefficients of n rows, shape (a, n, t).
    intercept : ndarray, shape (a, t)
        Intercepts.
    notes : list of list of str
        For every penalty, remarks on the method that was used if the Cholesky factorization failed.
    """

    coef: Array
    intercept: Array
    notes: list[list[str]]


def solve_ridge(equations: NormalEquations, alphas: npt.ArrayLike, *, intercept: bool) -> RidgePath:
    """Solve a ridge regression, given by its normal equations, for each penalty.

    For each penalty alpha, the coefficients theta and the intercept b minimize
    sum_i w_i |y_i - z_i'theta - b|^2 + alpha |theta|^2, with the weight w_i, the target y_i and the
    features z_i of row i.

    Parameters
    ----------
    equations : NormalEquations
        Normal equations of p features and t targets.
    alphas : array, shape (a,)
        Penalties. A penalty per row has to be multiplied by the number of rows. If the solution for
        a penalty of zero is not unique, the solution of minimal norm is returned.
    intercept : bool
        Fit an unpenalized intercept b (by centering). If False, b is 0.

    Returns
    -------
    RidgePath
        The coefficients and intercepts for each penalty.

    Raises
    ------
    MethodError
        If the features or the targets are not finite.

    Notes
    -----
    The equations for all penalties are solved by `solve_shifted_systems`. Its argument `noise` is
    from `estimate_gram_rounding_error`, and its argument `largest` is the largest diagonal entry of
    the Gram matrix before centering.
    """
    penalties = np.atleast_1d(np.asarray(alphas, np.float64))
    assert equations.n > 0, "the training set has no rows"
    check_finite_equations(equations)
    t = equations.moment.shape[1]
    moment = equations.moment
    # Centering removes the intercept from the equations, so that the intercept is not penalized.
    # With the column sums Z'1, Z'Y becomes Z'Y - (Z'1)(1'Y) / n, and Z'Z becomes Z'Z - (Z'1)(Z'1)'
    # / n.
    if intercept:
        moment = moment - np.outer(equations.column_sums / equations.n, equations.target_sums)

    def copy_matrix(work: Array) -> None:
        gram = equations.gram
        np.copyto(work, gram if gram.flags.f_contiguous else gram.T)
        if intercept and work.size:
            blas.dsyr(-1 / equations.n, equations.column_sums, lower=1, a=work, overwrite_a=1)

    largest = float(np.diag(equations.gram).max(initial=0.0))
    coef, notes = solve_shifted_systems(
        copy_matrix, moment, penalties, estimate_gram_rounding_error(equations), largest
    )
    offset = equations.compute_intercepts(coef) if intercept else np.zeros((penalties.size, t))
    return RidgePath(coef, offset, notes)


def check_finite_equations(equations: NormalEquations) -> None:
    """Raise MethodError if the normal equations contain NaN or infinity."""
    parts = (equations.gram.diagonal(), equations.moment, equations.column_sums)
    if not all(np.isfinite(part).all() for part in parts):
        raise MethodError(
            "The normal equations are not finite.",
            "The features or the targets contain NaN or infinity, or their squares overflow.",
            "Check the data for missing values, and scale the columns.",
        )


def solve_shifted_systems(
    copy_matrix: Callable[[Array], None], rhs: Array, penalties: Array, noise: float, largest: float
) -> tuple[Array, list[list[str]]]:
    """Solve the linear system (K + alpha I) A = rhs for each of several penalties alpha.

    K is a symmetric, positive semi-definite matrix. For many penalties, one tridiagonal
    decomposition of K is used for all of them. Otherwise each system is solved by its Cholesky
    factorization. If the factorization fails or is inaccurate, an eigendecomposition of K is used,
    and directions are omitted if eigenvalue + alpha is as small as the rounding error.

    Parameters
    ----------
    copy_matrix : callable
        Function that writes K into an array of shape (p, p) in Fortran order. Only the lower
        triangle is used.
    rhs : ndarray, shape (p, t)
        Right-hand sides.
    penalties : ndarray, shape (a,)
        The penalties alpha.
    noise : float
        Relative rounding error of K. A Cholesky factorization is inaccurate if its smallest squared
        pivot is at most `noise` times the larger of `largest` and the largest squared pivot.
    largest : float
        Largest diagonal entry of K before centering.

    Returns
    -------
    tuple of an ndarray, shape (a, p, t), and the notes as in `RidgePath`
        The solutions A for each penalty, and remarks on the method that was used.
    """
    p, t = rhs.shape
    solved = np.empty((penalties.size, p, t))
    notes: list[list[str]] = [[] for _ in penalties]
    # The array `work` of shape (p, p) is used for all penalties. K is copied into `work` for each
    # penalty, because the Cholesky factorization overwrites K.
    work = np.empty((p, p), order="F")
    left = np.ones(penalties.size if p else 0, dtype=bool)
    # With many penalties and few targets, one decomposition for all penalties is used. Otherwise
    # one Cholesky factor per penalty is faster.
    small = p <= MOST_TRIDIAGONAL
    if (
        left.size >= FEWEST_TOGETHER
        and p >= (TRIDIAGONAL_PER_SIDE if small else COLUMNS_PER_SIDE) * t
    ):
        copy_matrix(work)
        # Select the penalties that are larger than the rounding error of K. For these penalties,
        # the matrix K + alpha * I is positive definite in spite of rounding errors.
        sure = np.flatnonzero(penalties > 4 * noise * (largest + penalties))
        # The reduction of K to tridiagonal form consists of many short BLAS calls. With two
        # threads, each call would wait for the other thread.
        with limit_to_one_thread(True):
            if small:
                together = _solve_tridiagonal(work, rhs, penalties[sure])
            else:
                together = _solve_together(work, rhs, penalties[sure], max(ACCURACY, noise))
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
            copy_matrix(work)
            work.reshape(-1, order="A")[:: p + 1] += alpha
            factor, info = lapack.dpotrf(work, lower=1, clean=0, overwrite_a=1)
            # A squared pivot is the part of a diagonal entry of K that is not explained by earlier
            # columns. If a squared pivot is as small as the rounding error of K, the Cholesky
            # solution would be noise. An eigenvalue decomposition is then used instead.
            pivots = np.diag(factor) ** 2
            if info == 0 and pivots.min() > noise * max(pivots.max(), largest):
                solved[i] = lapack.dpotrs(factor, rhs, lower=1)[0]
                continue
            failed = alpha
        if spectrum is None:
            copy_matrix(work)
            spectrum = linalg.eigh(work, overwrite_a=True, check_finite=False, driver="evd")
            work = np.empty((p, p), order="F")
        values, vectors = spectrum
        # K is positive semidefinite, so negative eigenvalues are rounding errors and are replaced
        # by 0. Eigenvectors for which eigenvalue + alpha is only a rounding error are left out. The
        # result is the solution of minimal norm.
        shifted = np.maximum(values, 0.0) + alpha
        kept = shifted > noise * max(shifted.max(), largest)
        basis = vectors[:, kept]
        solved[i] = matmul(basis, matmul(basis.T, rhs) / shifted[kept, None])
        notes[i].append(describe_directions(int(kept.sum()), p))
    return solved, notes


def describe_directions(kept: int, p: int) -> str:
    """Return a remark for users that only `kept` of `p` eigenvectors were used for a solution."""
    return f"solved by eigendecomposition, in {kept} of {p} directions"


def _solve_tridiagonal(K: Array, rhs: Array, penalties: Array) -> Array:
    """Solve the linear system (K + alpha I) A = rhs for each penalty alpha.

    One decomposition K = Q T Q' with an orthogonal Q and a tridiagonal T is computed for all
    penalties. Then each system with T + alpha I is solved in O(p). The solutions are as accurate as
    with one Cholesky factorization per penalty. K is overwritten.

    Returns
    -------
    ndarray, shape (a, p, t)
        The solutions A. They are NaN for penalties for which T + alpha I is not positive definite.
    """
    p, t = rhs.shape
    form, diagonal, beside, tau, _ = lapack.dsytrd(K, lower=1, lwork=64 * p, overwrite_a=1)
    reflectors = np.asfortranarray(form[1:, :-1])
    turned = np.array(rhs, order="F")
    turned[1:] = lapack.dormqr("L", "T", reflectors, tau, turned[1:], 64 * p)[0]
    solved = np.full((p, penalties.size * t), np.nan, order="F")
    for i, alpha in enumerate(penalties):
        *factor, info = lapack.dpttrf(diagonal + alpha, beside)
        if info == 0:
            solved[:, i * t : (i + 1) * t] = lapack.dpttrs(*factor, turned)[0]
    solved[1:] = lapack.dormqr("L", "N", reflectors, tau, solved[1:], 64 * p)[0]
    return np.asarray(solved.reshape(p, -1, t).transpose(1, 0, 2))


def _solve_together(K: Array, rhs: Array, penalties: Array, accuracy: float) -> Array:
    """Solve the linear system (K + alpha I) A = rhs for all penalties alpha by iterations.

    The method is conjugate gradients with the preconditioner Q (T + alpha I)^-1 Q'. Here K = Q T Q'
    is a decomposition in float32 with a tridiagonal T, computed once for all penalties. The
    iterations stop for a column of `rhs` when the estimated relative error of its solution is at
    most `accuracy`.

    Returns
    -------
    ndarray, shape (a, p, t)
        The solutions A. They are NaN for penalties below the rounding error of float32, and for
        columns of `rhs` that need too many steps.
    """
    # K is divided by its largest diagonal entry, and each column of `rhs` is divided by its norm.
    # Without this scaling, products of features could be outside the range of float32, which is
    # 1e-38 to 3e38. The last line of the function removes the scaling from the solutions.
    p, t = rhs.shape
    scale, units = float(K.diagonal().max()), np.linalg.norm(rhs, axis=0)
    units[units == 0] = 1.0
    scale = scale if scale > 0 else 1.0
    # K is divided by `scale` below, so the penalties are divided by `scale`, too.
    penalties = penalties / scale
    # Compute K = Q T Q' in float32, with an orthogonal Q and a tridiagonal T. For each penalty
    # alpha, the factorization of T + alpha * I then needs O(p) operations. A Cholesky factorization
    # of K + alpha * I would need p^3 / 3 operations.
    rough = np.empty((p, p), np.float32, order="F")
    np.divide(K, scale, out=rough, casting="same_kind")
    rough, diagonal, beside, tau, _ = lapack.ssytrd(rough, lower=1, lwork=64 * p, overwrite_a=1)
    reflectors = np.asfortranarray(rough[1:, :-1])
    diagonal, beside = diagonal.astype(np.float64), beside.astype(np.float64)
    factors = [lapack.dpttrf(diagonal + alpha, beside) for alpha in penalties]
    # `norm` is an upper bound of the norm of T (Gershgorin). A pivot that is smaller than this
    # bound times the rounding error of float32 has no correct digit. The preconditioner might then
    # not be positive definite, and the iterations would diverge.
    norm = 2 * float(np.abs(beside).max(initial=0.0)) + float(np.abs(diagonal).max())
    serves = np.array([info == 0 and d.min() > SINGLE * norm for d, _, info in factors], dtype=bool)

    # Multiply a block of columns by Q or by Q' in float32. Each column is first divided by its
    # largest absolute value, because residuals may be smaller than the smallest float32 number.
    def turn(block: Array, way: str) -> Array:
        size = np.abs(block).max(axis=0)
        size[size == 0] = 1.0
        single: FloatArray = np.asfortranarray(block / size, dtype=np.float32)
        single[1:] = lapack.sormqr("L", way, reflectors, tau, single[1:], 64 * p)[0]
        return np.asfortranarray(single * size)

    # Return z = Q (T + alpha * I)^-1 Q' r for a block of residuals r. Except for float32 rounding
    # errors, z is the solution of (K + alpha * I) z = r.
    def precondition(block: Array, which: NDArray[np.intp]) -> Array:
        turned = turn(block, "T")
        for i in np.unique(which):
            own = which == i
            turned[:, own] = lapack.dpttrs(*factors[i][:2], turned[:, own])[0]
        return turn(turned, "N")

    solved = np.full((p, penalties.size * t), np.nan)
    # The arrays below have one column for each penalty and target that is not solved yet. Columns
    # that have converged are removed, so that the product with K needs less time.
    live = np.flatnonzero(np.repeat(serves, t))
    which = live // t
    residual = np.asfortranarray(np.tile(rhs / units, penalties.size)[:, live])
    x = np.zeros_like(residual)
    # Conjugate gradients in float64 start at x = 0, separately for each column. r denotes the
    # residual and z = M r the preconditioned residual. The residual is computed with the exact K,
    # so rounding errors of the preconditioner M do not reduce the accuracy, but may increase the
    # number of steps.
    direction = z = precondition(residual, which)
    slope = np.einsum("ij,ij->j", residual, z)
    for _ in range(MOST_STEPS):
        # The iterations of a column stop if z = M r is small. M is nearly (K + alpha * I)^-1, so z
        # is an estimate of the error of x. The residual r is not a good estimate: if K is nearly
        # singular, r is small even if x has a large error.
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
            # The step length r'z / d'(K + alpha * I)d minimizes the objective along the direction
            # d. The next direction is z + (new r'z / old r'z) * d, which is conjugate to all
            # earlier directions. A division by 0 gives NaN. The column then never converges, and
            # its penalty is solved by Cholesky.
            length = slope / np.einsum("ij,ij->j", direction, product)
            x = x + length * direction
            residual = residual - length * product
            z = precondition(residual, which)
            before, slope = slope, np.einsum("ij,ij->j", residual, z)
            direction = z + slope / before * direction
    return np.asarray((solved.reshape(p, -1, t) * (units / scale)).transpose(1, 0, 2))


def estimate_gram_rounding_error(equations: NormalEquations) -> float:
    """Return an estimate of the relative rounding error of the Gram matrix, in the spectral norm.

    The estimate is p eps for p features and the machine epsilon eps of float64, but at least 4
    times the machine epsilon of the type of the features.
    """
    # For float32 features, the measured error is 1 to 2 eps for any p, because rounding errors
    # partly cancel.
    return max(len(equations.gram) * float(np.finfo(np.float64).eps), 4 * equations.eps)


def compute_residual_sum_of_squares(
    equations: NormalEquations, coef: Array, intercept: Array
) -> Array:
    """Return the sum of squared errors of ridge solutions on rows, given their normal equations.

    Parameters
    ----------
    equations : NormalEquations
        Normal equations of the rows for which errors are computed, for example of a fold.
    coef : ndarray, shape (a, p, t)
        Coefficients of p features for `a` penalties and t targets.
    intercept : ndarray, shape (a, t)
        Intercepts.

    Returns
    -------
    ndarray, shape (a, t)
        For every penalty and target, sum_i w_i (y_i - z_i'theta - b)^2. The rounding error of a sum
        is about the sum of squared targets, multiplied by ten times the result of
        `estimate_gram_rounding_error`. Smaller sums are replaced by this bound. A negative sum with
        an absolute value above the bound is replaced by infinity, because the coefficients are too
        large for the precision of the equations.
    """
    a, p, t = coef.shape
    flat = coef.transpose(1, 0, 2).reshape(p, a * t)
    product = matmul(equations.gram, flat).reshape(p, a, t).transpose(1, 0, 2)
    quadratic = np.einsum("apt,apt->at", coef, product - 2 * equations.moment)
    fitted = multiply_row_without_blas(equations.column_sums, coef)
    offset = intercept + multiply_row_without_blas(equations.shift, coef)
    cross = offset * (2 * (fitted - equations.target_sums) + equations.n * offset)
    total = equations.target_squares + quadratic + cross
    least = 10 * estimate_gram_rounding_error(equations) * equations.target_squares
    usable: Array = np.where(total >= -least, np.maximum(total, least), np.inf)
    return usable
