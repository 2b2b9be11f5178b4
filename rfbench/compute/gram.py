r"""Normal equations streamed over blocks of rows, and the ridge path that they give.

With features Z (n x p, never held whole), targets Y (n x t) and weights w,

    gram = Z'WZ,   moment = Z'WY,   column_sums = Z'w,

and everything that least squares needs follows: folds by differences, fewer features by a
sub-block, any penalty by one factorisation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, Literal, Protocol, overload

import numpy as np
import numpy.typing as npt
from scipy import linalg, sparse
from scipy.linalg import blas, lapack

from rfbench.compute import compiled
from rfbench.errors import MethodError

Array = npt.NDArray[np.float64]
FloatArray = npt.NDArray[np.floating[Any]]
Rows = Any
Transform = Callable[[Rows, FloatArray], object]
Precision = type[np.float64] | type[np.float32] | Literal["float64", "float32"] | np.dtype[Any]

_L2_BYTES = 2**20
_L3_BYTES = 2**24


class Clock(Protocol):
    """Books the time of features and of training apart."""

    def features(self) -> AbstractContextManager[Any]:
        """Return the context around the reading of rows and the computing of features."""

    def train(self) -> AbstractContextManager[Any]:
        """Return the context around the accumulation of sums."""


class _NoClock:
    def features(self) -> AbstractContextManager[Any]:
        return _NOTHING

    def train(self) -> AbstractContextManager[Any]:
        return _NOTHING


_NOTHING = nullcontext()


@dataclass(frozen=True, eq=False)
class NormalEquations:
    """All that least squares needs to know of (weighted) rows of features and targets.

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
    """

    gram: Array
    moment: Array
    column_sums: Array
    target_sums: Array
    target_squares: Array
    n: float

    def __add__(self, other: NormalEquations) -> NormalEquations:
        return NormalEquations(
            self.gram + other.gram,
            self.moment + other.moment,
            self.column_sums + other.column_sums,
            self.target_sums + other.target_sums,
            self.target_squares + other.target_squares,
            self.n + other.n,
        )

    def __sub__(self, other: NormalEquations) -> NormalEquations:
        return NormalEquations(
            self.gram - other.gram,
            self.moment - other.moment,
            self.column_sums - other.column_sums,
            self.target_sums - other.target_sums,
            self.target_squares - other.target_squares,
            self.n - other.n,
        )

    def subset(
        self, columns: slice | npt.NDArray[np.integer[Any]], scale: float | FloatArray = 1.0
    ) -> NormalEquations:
        """Return the equations of some of the columns, rescaled.

        Parameters
        ----------
        columns : slice or integer array, shape (p',)
            The columns to keep, in the order wanted.
        scale : float or ndarray, shape (p',)
            Factor of every kept column, for instance sqrt(M / M') when features carry 1/sqrt(M).

        Returns
        -------
        NormalEquations
            D P'gramP D and so on, P the selection and D the scale; a copy of that block alone.
        """
        picked = columns if isinstance(columns, slice) else np.asarray(columns)
        block = (picked, picked) if isinstance(picked, slice) else np.ix_(picked, picked)
        sums = self.column_sums[picked]
        factor = np.broadcast_to(np.asarray(scale, np.float64), sums.shape)
        gram = self.gram[block] * factor
        gram *= factor[:, None]
        return NormalEquations(
            gram,
            self.moment[picked] * factor[:, None],
            sums * factor,
            self.target_sums,
            self.target_squares,
            self.n,
        )

    def centred(self) -> tuple[Array, Array]:
        """Return gram and moment of features and targets less their (weighted) means."""
        means = self.column_sums / self.n
        return (
            self.gram - np.outer(means, self.column_sums),
            self.moment - np.outer(means, self.target_sums),
        )


@overload
def accumulate(
    transform: Transform,
    X: Rows,
    Y: npt.ArrayLike,
    n_columns: int,
    *,
    weights: npt.ArrayLike | None = None,
    groups: None = None,
    block_rows: int | None = None,
    dtype: Precision = np.float64,
    clock: Clock | None = None,
) -> NormalEquations: ...


@overload
def accumulate(
    transform: Transform,
    X: Rows,
    Y: npt.ArrayLike,
    n_columns: int,
    *,
    weights: npt.ArrayLike | None = None,
    groups: npt.ArrayLike,
    block_rows: int | None = None,
    dtype: Precision = np.float64,
    clock: Clock | None = None,
) -> list[NormalEquations]: ...


def accumulate(
    transform: Transform,
    X: Rows,
    Y: npt.ArrayLike,
    n_columns: int,
    *,
    weights: npt.ArrayLike | None = None,
    groups: npt.ArrayLike | None = None,
    block_rows: int | None = None,
    dtype: Precision = np.float64,
    clock: Clock | None = None,
) -> NormalEquations | list[NormalEquations]:
    """Sum the normal equations over blocks of rows.

    Parameters
    ----------
    transform : callable
        ``transform(rows, out)`` writes the features of ``rows`` (b, d) into ``out``, a
        C-contiguous array (b, p) of type `dtype`. It may keep neither.
    X : ndarray, memory map or scipy CSR matrix, shape (n, d)
        Read block by block. Dense rows reach the transform C-contiguous and of type `dtype`,
        sparse rows as CSR of their own type.
    Y : array, shape (n,) or (n, t)
        Targets.
    n_columns : int
        p, the number of features.
    weights : array, shape (n,), optional
        Non-negative weights of the rows.
    groups : integer array, shape (n,), optional
        Codes 0..G-1 (folds, classes): asks for one result a group. Cheapest where the rows of a
        group lie together.
    block_rows : int, optional
        Rows a block; by default chosen by `default_block_rows`.
    dtype : numpy.float64 or numpy.float32
        Precision of the features. Sums are float64: in float32 every block is multiplied out in
        float32 and added to a float64 total.
    clock : Clock, optional
        Books the two parts of the work.

    Returns
    -------
    NormalEquations, or a list of them
        One of all rows, or one a group.

    Raises
    ------
    MethodError
        Rows, targets, weights and groups do not fit each other.
    """
    n = X.shape[0]
    kind = np.dtype(dtype)
    targets = _targets(Y, n)
    roots = None if weights is None else _roots(weights, n)
    codes = None if groups is None else _codes(groups, n)
    ticking: Clock = clock or _NoClock()
    rows = block_rows or default_block_rows(n_columns, kind.itemsize)
    buffer = np.empty((min(rows, max(n, 1)), n_columns), kind)
    n_groups = 1 if codes is None else int(codes.max(initial=-1)) + 1
    sums = [_Sums(n_columns, targets.shape[1]) for _ in range(n_groups)]
    scratch = np.zeros((n_columns, n_columns) if kind == np.float32 else (0, 0), kind, order="F")
    for group, picked in _blocks(n, codes, rows):
        with ticking.features():
            block = read_rows(X, picked, kind)
            features = buffer[: block.shape[0]]
            transform(block, features)
        with ticking.train():
            sums[group].add(
                features, targets[picked], None if roots is None else roots[picked], scratch
            )
    with ticking.train():
        equations = [total.finish() for total in sums]
    return equations[0] if codes is None else equations


def default_block_rows(n_columns: int, itemsize: int = 8) -> int:
    """Choose the rows of a block: features in the L2 cache, but enough rows to pay for the Gram.

    Parameters
    ----------
    n_columns : int
        p, the number of features.
    itemsize : int
        Bytes a feature.

    Returns
    -------
    int
        As many rows as 1 MiB holds, at least 128; at least 1024 where the Gram matrix itself
        leaves the L3 cache and has to be paid for in memory traffic.
    """
    fit = _L2_BYTES // (itemsize * max(n_columns, 1))
    floor = 1024 if 8 * n_columns**2 > _L3_BYTES else 128
    return max(fit, floor)


def read_rows(X: Rows, picked: slice | npt.NDArray[np.integer[Any]], dtype: np.dtype[Any]) -> Rows:
    """Return some rows of a matrix: CSR as CSR, all else as a C-contiguous array of `dtype`."""
    if sparse.issparse(X):
        return X[picked]
    return np.ascontiguousarray(np.asarray(X)[picked], dtype)


class _Sums:
    """Running totals of one group; the Gram's upper triangle only, in Fortran order."""

    def __init__(self, p: int, t: int) -> None:
        self.gram = np.zeros((p, p), order="F")
        self.moments = np.zeros((t + 1, p))
        self.inner = np.zeros((t + 1, t + 1))

    def add(
        self, features: FloatArray, targets: Array, roots: Array | None, scratch: FloatArray
    ) -> None:
        rows, p = features.shape
        if p == 0 or rows == 0:
            return
        sides = np.empty((rows, targets.shape[1] + 1))
        sides[:, :-1] = targets
        sides[:, -1] = 1.0
        if roots is not None:
            sides *= roots[:, None]
            features *= roots.astype(features.dtype)[:, None]
        self.inner += sides.T @ sides
        moments = np.zeros(self.moments.shape, features.dtype)
        _moments(features, sides.astype(features.dtype, copy=False), moments)
        self.moments += moments
        if features.dtype == np.float64:
            blas.dsyrk(1.0, features.T, 1.0, self.gram, overwrite_c=1)
        else:
            blas.ssyrk(1.0, features.T, 0.0, scratch, overwrite_c=1)
            for j in range(0, p, 256):
                self.gram[: j + 256, j : j + 256] += scratch[: j + 256, j : j + 256]

    def finish(self) -> NormalEquations:
        _mirror(self.gram)
        return NormalEquations(
            self.gram,
            self.moments[:-1].T,
            self.moments[-1],
            self.inner[-1, :-1],
            np.diag(self.inner)[:-1],
            float(self.inner[-1, -1]),
        )


@compiled
def _moments(features: Any, sides: Any, out: Any) -> None:
    """Add sides'features to out, four rows at a time: BLAS is slow at so few columns."""
    rows = features.shape[0]
    whole = rows - rows % 4
    for i in range(0, whole, 4):
        z0, z1, z2, z3 = features[i], features[i + 1], features[i + 2], features[i + 3]
        for c in range(sides.shape[1]):
            y0, y1, y2, y3 = sides[i, c], sides[i + 1, c], sides[i + 2, c], sides[i + 3, c]
            total = out[c]
            for j in range(total.size):
                total[j] += (z0[j] * y0 + z1[j] * y1) + (z2[j] * y2 + z3[j] * y3)
    for i in range(whole, rows):
        row = features[i]
        for c in range(sides.shape[1]):
            y, total = sides[i, c], out[c]
            for j in range(total.size):
                total[j] += row[j] * y


def _mirror(square: Array, step: int = 256) -> None:
    """Copy the upper triangle onto the lower one, by tiles."""
    for j in range(0, square.shape[0], step):
        end = j + step
        square[end:, j:end] = square[j:end, end:].T
        tile = square[j:end, j:end]
        tile[:] = np.triu(tile) + np.triu(tile, 1).T


def _blocks(
    n: int, codes: npt.NDArray[np.intp] | None, rows: int
) -> Iterator[tuple[int, slice | npt.NDArray[np.intp]]]:
    if codes is None:
        for start in range(0, n, rows):
            yield 0, slice(start, min(start + rows, n))
        return
    order = np.argsort(codes, kind="stable")
    ends = np.cumsum(np.bincount(codes))
    for group, end in enumerate(ends):
        begin = ends[group - 1] if group else 0
        for start in range(begin, end, rows):
            picked = order[start : min(start + rows, end)]
            first, last = int(picked[0]), int(picked[-1]) + 1
            yield group, slice(first, last) if last - first == picked.size else picked


def _targets(Y: npt.ArrayLike, n: int) -> Array:
    targets = np.asarray(Y, np.float64)
    if targets.ndim not in (1, 2) or targets.shape[0] != n:
        raise MethodError(
            f"Targets of shape {targets.shape} cannot be used with {n} rows.",
            "Every row takes one target, or one a column.",
            f"Pass targets of shape ({n},) or ({n}, t).",
        )
    return targets[:, None] if targets.ndim == 1 else targets


def _roots(weights: npt.ArrayLike, n: int) -> Array:
    values = np.asarray(weights, np.float64)
    if values.shape != (n,) or not (values >= 0).all() or not np.isfinite(values).all():
        raise MethodError(
            f"These weights cannot be used with {n} rows.",
            "Every row takes one finite weight that is not negative.",
            f"Pass {n} such weights.",
        )
    return np.sqrt(values)


def _codes(groups: npt.ArrayLike, n: int) -> npt.NDArray[np.intp]:
    codes = np.asarray(groups)
    if codes.shape != (n,) or codes.dtype.kind not in "iu" or codes.min(initial=0) < 0:
        raise MethodError(
            f"These groups cannot be used with {n} rows.",
            "Every row takes one integer code from 0 on.",
            "Encode them with numpy.unique(groups, return_inverse=True)[1].",
        )
    return codes.astype(np.intp, copy=False)


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
        A penalty is negative or not finite, the equations are not finite, or have no rows.

    Notes
    -----
    One Cholesky factorisation a penalty, in one p x p work array. Where it fails, or the squared
    ratio of its extreme pivots is below p eps, the eigendecomposition of the Gram matrix serves,
    without the directions where eigenvalue + alpha <= p eps (largest eigenvalue + alpha).
    """
    penalties = _penalties(equations, alphas)
    p, t = equations.moment.shape
    coef = np.empty((penalties.size, p, t))
    fallback: list[str | None] = [None] * penalties.size
    work = np.empty((p, p), order="F")
    moment = equations.moment
    if intercept:
        moment = moment - np.outer(equations.column_sums / equations.n, equations.target_sums)
    spectrum: tuple[Array, Array] | None = None
    for i, alpha in enumerate(penalties):
        solved = None
        if spectrum is None or alpha > 0:
            _load(work, equations, intercept)
            work.reshape(-1, order="A")[:: p + 1] += alpha
            solved = _cholesky(work, moment)
        if solved is None:
            if spectrum is None:
                _load(work, equations, intercept)
                spectrum = linalg.eigh(work, lower=True, check_finite=False, driver="evd")
            solved, kept = _spectral(*spectrum, moment, alpha)
            fallback[i] = f"eigendecomposition, {kept} of {p} directions kept"
        coef[i] = solved
    offset = np.zeros((penalties.size, t))
    if intercept:
        offset = (equations.target_sums - equations.column_sums @ coef) / equations.n
    return RidgePath(coef, offset, fallback)


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
        Exact to about 1e-15 of the sum of squared targets, so not for residuals below that.
    """
    a, p, t = coef.shape
    flat = coef.transpose(1, 0, 2).reshape(p, a * t)
    product = (equations.gram @ flat).reshape(p, a, t).transpose(1, 0, 2)
    quadratic = np.einsum("apt,apt->at", coef, product - 2 * equations.moment)
    fitted = equations.column_sums @ coef
    cross = intercept * (2 * (fitted - equations.target_sums) + equations.n * intercept)
    total: Array = np.maximum(equations.target_squares + quadratic + cross, 0.0)
    return total


def _penalties(equations: NormalEquations, alphas: npt.ArrayLike) -> Array:
    penalties = np.atleast_1d(np.asarray(alphas, np.float64))
    if penalties.ndim != 1 or not (np.isfinite(penalties).all() and (penalties >= 0).all()):
        raise MethodError(
            f"The penalties {alphas!r} cannot be used.",
            "A ridge penalty is a finite number that is not negative.",
            "Pass a list of such numbers.",
        )
    parts = (np.diag(equations.gram), equations.moment, equations.column_sums)
    if not all(np.isfinite(part).all() for part in parts):
        raise MethodError(
            "The normal equations are not finite.",
            "The features or the targets contain NaN or infinity, or overflow when squared.",
            "Look for missing values, and scale the data.",
        )
    if not equations.n > 0:
        raise MethodError(
            "There are no rows to fit.", "The weights sum to zero.", "Pass at least one row."
        )
    return penalties


def _load(work: Array, equations: NormalEquations, centre: bool) -> None:
    """Put the Gram matrix into `work`; its lower triangle centred where that is asked for."""
    gram = equations.gram
    np.copyto(work, gram if gram.flags.f_contiguous else gram.T)
    if centre and work.size:
        blas.dsyr(-1 / equations.n, equations.column_sums, lower=1, a=work, overwrite_a=1)


def _cholesky(work: Array, moment: Array) -> Array | None:
    p = work.shape[0]
    if p == 0:
        return np.empty(moment.shape)
    factor, info = lapack.dpotrf(work, lower=1, clean=0, overwrite_a=1)
    pivots = np.diag(factor)
    if info != 0 or pivots.min() ** 2 <= p * np.finfo(float).eps * pivots.max() ** 2:
        return None
    solved: Array = lapack.dpotrs(factor, moment, lower=1)[0]
    return solved


def _spectral(eigenvalues: Array, vectors: Array, moment: Array, alpha: float) -> tuple[Array, int]:
    shifted = np.maximum(eigenvalues, 0.0) + alpha
    keep = shifted > eigenvalues.size * np.finfo(float).eps * shifted.max()
    basis = vectors[:, keep]
    return basis @ ((basis.T @ moment) / shifted[keep, None]), int(keep.sum())
