"""Ridge regression by preconditioned conjugate gradients: no Gram matrix, rows in blocks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from scipy.linalg import lapack

from rfbench.arrays import Array, Rows
from rfbench.clock import Clock
from rfbench.kernels import doubles
from rfbench.memory import check_fits
from rfbench.parameters import number, parameter, whole
from rfbench.samplers.base import streams
from rfbench.samplers.landmarks import diagonal
from rfbench.samplers.nystroem import KernelColumns, NystroemMap
from rfbench.solvers.base import LinearModel, PenalisedSolver
from rfbench.solvers.box import LEAST_SHARE
from rfbench.solvers.coding import Targets
from rfbench.solvers.declaration import solver
from rfbench.solvers.design import Design
from rfbench.solvers.estimators import Classifier, Regressor
from rfbench.solvers.regularization_path import Fits, Groups, LinearPath, Path

BLOCK_BYTES = 2**24
# Of the trace of a matrix, added to its diagonal where it is factorised.
JITTER = 1e-13


@dataclass(frozen=True)
class Landmarks:
    """The columns k(x, S), standing where a fitted sampler stands."""

    feature_map_: KernelColumns


class Preconditioner:
    r"""P = (A T)^-1 with upper triangular factors; P P' is about the inverse of what is solved.

    Landmarks: :math:`T^\top T = K_{SS}` and :math:`A^\top A = T T^\top / m + \lambda I` (Rudi,
    Carratino and Rosasco, FALKON, NIPS 2017, equation 13), T centred with an intercept. Other
    features: T = I, and :math:`A^\top A` from the Gram matrix of 2m random rows.
    """

    def __init__(self, design: Design, intercept: bool, generator: np.random.Generator) -> None:
        m = design.n_columns
        if isinstance(design.features, Landmarks):
            columns = design.features.feature_map_
            K = columns.kernel(columns.landmarks, columns.landmarks)
            self.shift = JITTER * float(np.trace(K))
            K[np.diag_indices(m)] += self.shift
            self.root: Array | None = linalg.cholesky(K, overwrite_a=True)
            self.square, _ = lapack.dlauum(self.root, lower=0)
            self.square /= m
            means = self.root.mean(axis=1)
        else:
            self.root, chosen = None, generator.permutation(design.n)[: 2 * m]
            Z = design.take(chosen).matrix().astype(np.float64)
            self.square, means = Z.T @ Z / len(Z), Z.mean(axis=0)
        if intercept:
            self.square -= np.outer(means, means)

    def penalise(self, penalty: float) -> None:
        """Factorise for a penalty lambda."""
        shifted = self.square.copy()
        shifted[np.diag_indices_from(shifted)] += penalty + JITTER * np.trace(shifted)
        self.factor = linalg.cholesky(shifted, overwrite_a=True)

    def apply(self, V: Array) -> Array:
        """Return P V."""
        V = linalg.solve_triangular(self.factor, V)
        return V if self.root is None else np.asarray(linalg.solve_triangular(self.root, V))

    def adjoint(self, V: Array) -> Array:
        """Return P'V."""
        V = V if self.root is None else linalg.solve_triangular(self.root, V, trans="T")
        return np.asarray(linalg.solve_triangular(self.factor, V, trans="T"))

    def metric(self, V: Array) -> Array:
        """Return K_SS V, or V."""
        if self.root is None:
            return V
        return np.asarray(self.root.T @ (self.root @ V) - self.shift * V)


class Equations:
    """The equations (Z'Z / n + lambda K_SS) B = Z'Y / n of several fits, a column per target.

    Fit 0 sees all rows, fit 1 + g all but those of group g; with an intercept, Z and Y are centred
    on the rows that a fit sees. The columns of fit f are f t to f t + t - 1.

    Attributes
    ----------
    n : array of shape (fits,)
        Rows that each sees.
    sides : array of shape (m, fits t)
    squares : array of shape (fits t,)
        Mean of y^2.
    squared_norm : float
        Mean of |z|^2.
    """

    def __init__(self, design: Design, targets: Array, groups: Groups, intercept: bool) -> None:
        self.design, self.groups = design, groups
        fits = 1 if groups is None else 2 + int(groups.max())
        self.t = targets.shape[1]
        self.left_out = np.arange(fits) - 1
        self.left_out[0] = -2
        seen = self._seen(slice(0, design.n)).astype(np.float64)
        self.n = seen.sum(axis=0)
        self.means = seen.T @ targets / self.n[:, None]
        self.means *= intercept
        Y = ((targets[:, None, :] - self.means) * seen[:, :, None]).reshape(design.n, -1)
        self.squares = (Y**2).sum(axis=0) / np.repeat(self.n, self.t)
        self.origin = np.zeros(design.n_columns)  # Z is seen from a point among its rows
        if intercept:
            self.origin = next(self._blocks())[1].mean(axis=0)
        both, squares = np.zeros((design.n_columns, Y.shape[1] + fits)), 0.0
        for rows, Z in self._blocks():
            both += Z.T @ np.column_stack([Y[rows], seen[rows]])
            squares += float(np.vdot(Z, Z))
        self.sides = both[:, : Y.shape[1]] / np.repeat(self.n, self.t)
        self.centres = intercept * both[:, Y.shape[1] :] / self.n
        mean = both[:, Y.shape[1]] / design.n
        self.squared_norm = squares / design.n + float(self.origin @ (2 * mean + self.origin))

    def _seen(self, rows: slice) -> NDArray[np.bool_]:
        """Return which rows each fit sees, shape (n, fits)."""
        if self.groups is None:
            return np.ones((rows.stop - rows.start, 1), dtype=bool)
        return np.asarray(self.groups[rows, None] != self.left_out)

    def _blocks(self) -> Iterator[tuple[slice, Array]]:
        """Yield slices of rows, and their features less the origin."""
        n, m = self.design.n, self.design.n_columns
        step = max(16, BLOCK_BYTES // (8 * m))
        buffer = np.empty((min(step, n), m))
        clock = self.design.clock
        assert clock is not None
        for start in range(0, n, step):
            rows = slice(start, min(start + step, n))
            Z = buffer[: rows.stop - start]
            with clock.part("features"):
                self.design.transform_into(doubles(self.design.X[rows]), Z)
            Z -= self.origin
            yield rows, Z

    def multiply(self, V: Array, columns: NDArray[np.intp]) -> Array:
        """Return Z'Z / n times V, shape (m, c), whose columns have these numbers."""
        of = columns // self.t
        total = np.zeros_like(V)
        for rows, Z in self._blocks():
            total += Z.T @ ((Z @ V) * self._seen(rows)[:, of])
        centres = self.centres[:, of]
        return np.asarray(total / self.n[of] - centres * np.einsum("ij,ij->j", centres, V))

    def path(self, coefficients: Array, gaps: Array) -> list[LinearPath]:
        """Return each fit for every value of the grid, from coefficients (a, m, c), gaps (a, c)."""
        solutions = []
        for f in range(len(self.n)):
            own = coefficients[:, :, f * self.t : (f + 1) * self.t]
            intercepts = self.means[f] - (self.centres[:, f] + self.origin) @ own
            worst = gaps[:, f * self.t : (f + 1) * self.t].max(axis=1)
            solutions.append(LinearPath(own, intercepts, [[] for _ in own], gaps=worst))
        return solutions


class _Falkon(LinearModel, PenalisedSolver):
    takes_landmarks: ClassVar[bool] = True
    held_matrices: ClassVar[int | None] = 3

    tol: float
    max_iter: int

    @property
    def streams(self) -> bool:
        """Whether the fit streams its rows: it does."""
        return True

    def fit(self, X: Rows, y: Any, *, features: Any = None, **kwargs: Any) -> Self:
        """Fit on rows seen through `features`, see `rfbench.solvers.base.Solver.fit`."""
        fitted = getattr(features, "feature_map_", None)
        if isinstance(fitted, NystroemMap):
            features = Landmarks(KernelColumns(fitted.kernel, fitted.landmarks))
        return super().fit(X, y, features=features, **kwargs)

    def _fits(self, design: Design, targets: Targets, groups: Groups, clock: Clock) -> Fits:
        m = design.n_columns
        check_fits(
            8.0 * (self.held_matrices or 0) * m**2,
            f"The preconditioner of {m} columns ({self.held_matrices} matrices of {m} x {m})",
            "Take fewer landmarks.",
        )
        with clock.part("train"):
            generator = streams(self.random_state).rows
            preconditioner = Preconditioner(design, self.intercept, generator)
            equations = Equations(design, targets.columns, groups, self.intercept)
            alphas, notes, reached = self._absolute(design.n), [], []
            coefficients = np.empty((len(alphas), m, equations.sides.shape[1]))
            gaps = np.empty((len(alphas), equations.sides.shape[1]))
            for i, alpha in enumerate(alphas):
                preconditioner.penalise(alpha / design.n)
                per_row = np.array([self._absolute(n)[i] / n for n in equations.n])
                penalties = np.repeat(per_row, equations.t)
                coefficients[i], gaps[i], residual, rounds = self._solve(
                    equations, preconditioner, penalties
                )
                notes.append([f"relative residual {residual:.1e} after {rounds} iterations"])
                reached.append(residual <= self.tol)
            total, *partial = equations.path(coefficients, gaps)
            path = replace(total, notes=notes, converged=np.array(reached))
            norm = equations.squared_norm
            if isinstance(design.features, Landmarks):
                kernel = design.features.feature_map_.kernel
                norm = float(diagonal(kernel, design.X).mean())
            rest: list[Path] = list(partial)
            return Fits(path, norm, rest)

    def _solve(
        self, equations: Equations, preconditioner: Preconditioner, penalties: Array
    ) -> tuple[Array, Array, float, int]:
        """Return the coefficients, shape (m, c), gaps (c,), largest relative residual, iterations.

        The residual is P'(side - left side) against P'side; it is computed anew at the end, so
        that rounding in the recurrence cannot hide what is left. The objective is strongly convex
        in the norm of K_SS, which bounds its distance to the optimum by the residual.
        """

        def left_side(V: Array, columns: NDArray[np.intp]) -> Array:
            return equations.multiply(V, columns) + penalties[columns] * preconditioner.metric(V)

        every = np.arange(len(penalties))
        sides = preconditioner.adjoint(equations.sides)
        scale = np.linalg.norm(sides, axis=0)
        solution, residual = np.zeros_like(sides), sides.copy()
        direction, left, rounds = sides.copy(), scale**2, 0
        while rounds < self.max_iter:
            live = np.flatnonzero(np.sqrt(left) > 0.5 * self.tol * scale)
            if len(live) == 0:
                break
            along = direction[:, live]
            moved = preconditioner.adjoint(left_side(preconditioner.apply(along), live))
            step = left[live] / np.einsum("ij,ij->j", along, moved)
            solution[:, live] += step * along
            residual[:, live] -= step * moved
            now = np.einsum("ij,ij->j", residual[:, live], residual[:, live])
            direction[:, live] = residual[:, live] + now / left[live] * along
            left[live] = now
            rounds += 1
        coefficients = preconditioner.apply(solution)
        rest = sides - preconditioner.adjoint(left_side(coefficients, every))
        missed = np.linalg.norm(rest, axis=0) / np.where(scale > 0, scale, 1.0)
        objective = equations.squares - np.einsum("ij,ij->j", equations.sides, coefficients)
        objective = np.maximum(objective, LEAST_SHARE * equations.squares)
        above = np.einsum("ij,ij->j", *[preconditioner.factor.T @ rest] * 2) / np.where(
            penalties > 0, penalties, np.nan
        )
        gaps = np.where(above > 0, above / np.where(objective > 0, objective, 1.0), 0.0)
        return coefficients, gaps, float(missed.max()), rounds


@solver("falkon", position=8)
class FalkonRegressor(Regressor, _Falkon):
    r"""Ridge regression on landmarks S by preconditioned conjugate gradients (FALKON).

    .. math:: |y - K_{nS}\beta - b|^2 + \alpha \beta^\top K_{SS} \beta,

    which is ridge regression on the features of the sampler nystroem, without its inverse root and
    without a Gram matrix: an iteration costs O(n m (d + t)) for t columns of targets, the
    preconditioner O(m^3) and 24 m^2 bytes; the columns :math:`K_{nS}` are made anew in every
    iteration, in blocks of rows. For m above some
    10,000. All folds and targets go through the rows together, one penalty after the other. Other
    features than landmarks: :math:`K_{SS} = I`, which is ridge regression.

    The smaller alpha / n is against 1/m, the more iterations it takes.

    Parameters
    ----------
    tol : float
        Relative residual, of the preconditioned equations, below which every fit has converged. It
        is about the relative error in the norm of the objective, and it is computed at the end.
    max_iter : int
        Iterations per penalty. What has not converged then says so in `converged_` and `notes_`.

    Attributes
    ----------
    coef_ : array of shape (t, m)
        beta, of the kernel at the landmarks.
    alpha_scale_free_ : float
        With landmarks, against the mean of k(x, x).

    References
    ----------
    Rudi, Carratino and Rosasco, FALKON: An Optimal Large Scale Kernel Method, NIPS 2017, section 3
    and algorithm 1. Meanti, Carratino, Rosasco and Rudi, Kernel methods through the roof, NeurIPS
    2020.

    Examples
    --------
    >>> import numpy as np
    >>> from rfbench.samplers import Nystroem
    >>> from rfbench.solvers import FalkonRegressor
    >>> X = np.linspace(0.0, 6.0, 500)[:, None]
    >>> landmarks = Nystroem(40, bandwidth=1.0, random_state=0).fit_landmarks(X)
    >>> solver = FalkonRegressor(1e-3).fit(X, np.sin(X[:, 0]), features=landmarks)
    >>> solver.converged_, bool(abs(solver.predict([[1.5]])[0] - np.sin(1.5)) < 1e-3)
    (True, True)
    """

    tol: float = parameter(1e-6, number(above=0))
    max_iter: int = parameter(100, whole(1))


@solver("falkon", position=8)
class FalkonClassifier(Classifier, _Falkon):
    r"""Ridge regression on landmarks by conjugate gradients (FALKON), labels coded -1 and +1.

    See `FalkonRegressor`. Two classes: the sign. More: one column per class, the largest wins.

    Parameters
    ----------
    tol : float
        Relative residual below which every fit has converged.
    max_iter : int
        Iterations per penalty.
    """

    fits_coded_labels: ClassVar[bool] = True

    tol: float = parameter(1e-6, number(above=0))
    max_iter: int = parameter(100, whole(1))
