"""Models that are fitted with all penalties, on all rows and without each held-out fold."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from rfbench.arrays import Array, Rows
from rfbench.clock import Clock
from rfbench.compute.products import matmul
from rfbench.compute.ridge import NormalEquations, compute_residual_sum_of_squares
from rfbench.kernels import Kernel
from rfbench.memory import check_memory_fits
from rfbench.solvers.coding import Coding, Targets
from rfbench.solvers.design import Design, check_finite

Folds = NDArray[np.intp] | None

# Number of kernel values that are computed together (8 MiB). Measured by `python -m
# scripts.bench.doubled`: predictions with 2,000 training rows need 1.07 times the CPU time with
# half the value, 1.07 times with twice the value, and 1.9 times with four times the value.
BLOCK_VALUES = 2**20
# Largest relative gap of a converged fit. The relative gap is the proven bound of the objective
# minus its minimum, divided by the objective. The value was chosen without a measurement. With the
# value halved, more fits would be recorded as not converged, but no coefficient would change.
CERTAIN = 1e-4


@dataclass(frozen=True, eq=False, kw_only=True)
class RegularizationPath(ABC):
    """Models that are fitted on one training set with each penalty of a grid.

    Attributes
    ----------
    intercepts : array of shape (a, t)
        Intercepts for each of the a penalties and t decision columns.
    notes : list of list of str
        For every penalty, notes for readers of the results (fall-backs, missing convergence).
    converged : array of bool, shape (a,), or None
        For every penalty, True if its fit reached the tolerance. None for closed-form solutions.
    gaps : array of shape (a,) or None
        For every penalty, a proven upper bound of the objective minus its minimum, divided by the
        objective. With several decision columns, the largest of their bounds. None for closed-form
        solutions.
    """

    intercepts: Array
    notes: list[list[str]] = field(default_factory=list)
    converged: NDArray[np.bool_] | None = None
    gaps: Array | None = None

    @property
    def has_converged(self) -> NDArray[np.bool_]:
        """Array that is True for each penalty whose fit has converged with a small gap.

        The gap is a proven upper bound of the relative distance to the optimum.
        """
        near = np.ones(len(self.notes), bool) if self.gaps is None else self.gaps <= CERTAIN
        return near if self.converged is None else near & self.converged

    def record_gap(self, i: int, gap: float) -> None:
        """Record `gap` as the proven relative distance to the optimum for the penalty number `i`.

        If a gap was already recorded for this penalty, the larger gap is kept.
        """
        assert self.gaps is not None
        self.gaps[i] = max(self.gaps[i], gap) if np.isfinite(gap) else np.inf

    def mark_unconverged(self, i: int, text: str) -> None:
        """Record that the fit with penalty index `i` did not reach its tolerance.

        The explanation `text` is added to the notes of this penalty.
        """
        assert self.converged is not None
        self.converged[i] = False
        if text not in self.notes[i]:
            self.notes[i].append(text)

    @property
    @abstractmethod
    def n_columns(self) -> int:
        """Number of coefficients per decision column."""

    @abstractmethod
    def compute_decisions(self, design: Design) -> Array:
        """Return the decision values of the n rows for each of the a penalties, shape (a, n, t).

        t is the number of decision columns.
        """


@dataclass(frozen=True, eq=False)
class LinearPath(RegularizationPath):
    """Models whose decision values are linear in the features, one model for each penalty.

    Attributes
    ----------
    coefficients : array of shape (a, p, t)
        Coefficients for each of the a penalties, p features and t decision columns. t is 1 for a
        binary or a real target. Otherwise there is one column per class or per pair of classes.
    kernel_weights : array of shape (a, p) or None
        The learned weights of the features, if the solver learns a distribution over features.
    """

    coefficients: Array
    kernel_weights: Array | None = None

    @classmethod
    def make_zero_path(cls, a: int, p: int, t: int) -> LinearPath:
        """Return models with zero coefficients, which a solver then fills in.

        `a`, `p` and `t` are the numbers of penalties, features and decision columns.
        """
        return cls(
            np.zeros((a, p, t)),
            intercepts=np.zeros((a, t)),
            notes=[[] for _ in range(a)],
            converged=np.ones(a, dtype=bool),
            gaps=np.zeros(a),
        )

    @property
    def n_columns(self) -> int:
        """Number of features p, each of which has one coefficient."""
        return int(self.coefficients.shape[1])

    def compute_decisions(self, design: Design) -> Array:
        """Return the decision values of the n rows for each of the a penalties, shape (a, n, t).

        t is the number of decision columns.
        """
        a, p, t = self.coefficients.shape
        flat = self.coefficients.transpose(1, 0, 2).reshape(p, a * t)
        values = design.multiply(flat).reshape(design.n, a, t)
        values += self.intercepts
        return values.transpose(1, 0, 2)


@dataclass(frozen=True, eq=False)
class KernelPath(RegularizationPath):
    """Models that are linear combinations of kernel functions, one model for each penalty.

    There is one kernel function per training row.

    Attributes
    ----------
    duals : array of shape (a, n_train, t)
        Coefficients of the kernel functions, for each penalty, training row and decision column.
    rows : array or CSR matrix of shape (n_train, d)
        The training rows.
    kernel : Kernel
        The kernel with its bandwidth.
    """

    duals: Array
    rows: Rows
    kernel: Kernel

    @property
    def n_columns(self) -> int:
        """Number of training rows, each of which has one coefficient."""
        return int(self.duals.shape[1])

    def compute_decisions(self, design: Design) -> Array:
        """Return the decision values of the n rows for each of the a penalties, shape (a, n, t).

        t is the number of decision columns.
        """
        a, n_train, t = self.duals.shape
        flat = self.duals.transpose(1, 0, 2).reshape(n_train, a * t)
        values = np.empty((design.n, a * t))
        step = max(1, BLOCK_VALUES // n_train)
        for start in range(0, design.n, step):
            block = design.X[start : start + step]
            values[start : start + step] = matmul(self.kernel(block, self.rows), flat)
            check_finite(values[start : start + step], "The decision values")
        shaped = values.reshape(design.n, a, t)
        shaped += self.intercepts
        return shaped.transpose(1, 0, 2)


@dataclass(frozen=True, eq=False)
class Fits:
    """Models that are fitted on all rows and on all rows except each held-out fold.

    Attributes
    ----------
    path : RegularizationPath
        Models fitted on all rows, one for each of the a penalties.
    row_norm : float
        Mean squared norm of the feature rows (for a kernel, the mean of k(x, x)).
    partial : list of RegularizationPath
        For each of the K folds, models fitted on all rows outside the fold.
    held_loss : array of shape (K, a) or None
        Sum of the losses on each held-out fold for each penalty, if already computed. For
        leave-one-out, K is 1, and the sum is over all rows.
    """

    path: RegularizationPath
    row_norm: float
    partial: list[RegularizationPath] = field(default_factory=list)
    held_loss: Array | None = None


Solve = Callable[[NormalEquations], LinearPath]


def fit_from_gram(
    design: Design, targets: Targets, folds: Folds, clock: Clock, solve: Solve, center: bool
) -> Fits:
    """Fit a linear model from normal equations, which are accumulated in one pass over the rows.

    `solve` returns the models with all penalties for given normal equations. The equations of all
    rows except a fold are the sum over the other folds. For a regression, the squared error of a
    fold is computed from the equations of the fold. `center` is True if the model has an intercept.

    With one-vs-one coding, the model of each pair of classes is fitted from the equations of its
    two classes. A pair without rows has the decision value 0.
    """
    coding = targets.coding if targets.coding is not None and targets.coding.is_one_vs_one else None
    k = 1 if coding is None else coding.k
    first = 0 if folds is None else int(folds.min())
    n_folds = 1 if folds is None else int(folds.max()) - first + 1
    codes = np.zeros(design.n, dtype=np.intp) if folds is None else (folds - first) * k
    columns, means = targets.columns, np.zeros(targets.columns.shape[1])
    if coding is not None:
        assert targets.codes is not None
        codes, columns = codes + targets.codes, np.ones((design.n, 1))
    # Center the targets, except the int8 label codes of more than two classes. These codes have
    # small means, and a centered copy in float64 would need much memory.
    elif center and columns.dtype == np.float64:
        means = columns.mean(axis=0)
        columns = columns - means
    parts = design.accumulate_equations(columns, codes, clock, center)

    def fit(by_class: list[NormalEquations]) -> LinearPath:
        return solve(by_class[0]) if coding is None else _pairs_path(by_class, coding, solve)

    with clock.time_part("train"):
        parts += [parts[0].make_zero_equations()] * (n_folds * k - len(parts))
        total = [_sum(parts[c::k]) for c in range(k)]
        n = sum(equations.n for equations in total)
        held = range(-first, n_folds) if folds is not None else range(0)
        # The equations without fold g are the sum over all other folds. Subtracting fold g from the
        # total would lose digits if fold g has one very large row. The sum has no name, so that its
        # memory is freed before the next sum is computed.
        partial: list[LinearPath] = [
            fit([_sum([parts[h * k + c] for h in range(n_folds) if h != g]) for c in range(k)])
            for g in held
        ]
        loss = None
        if folds is not None and targets.codes is None:
            squares = [
                compute_residual_sum_of_squares(parts[g], fitted.coefficients, fitted.intercepts)
                for g, fitted in zip(held, partial, strict=True)
            ]
            loss = np.mean(squares, axis=2)
        path = fit(total)
        for fitted in (path, *partial) if coding is None else ():
            np.add(fitted.intercepts, means, out=fitted.intercepts)
        norm = sum(own.n * own.compute_mean_squared_norm() for own in total if own.n) / n
        return Fits(path, norm, list(partial), loss)


def _pairs_path(by_class: list[NormalEquations], coding: Coding, solve: Solve) -> LinearPath:
    # The equations of the pair (i, j), with +1 for j, are the sum of the equations of j and of the
    # equations of i with the opposite sign of the moments.
    negative = [replace(own, moment=-own.moment, target_sums=-own.target_sums) for own in by_class]
    paths: list[LinearPath | None] = []
    for i, j in coding.pairs:
        pair = negative[i] + by_class[j]
        paths.append(solve(pair) if pair.n > 0 else None)
    return join_paths(paths)


def join_paths(paths: Sequence[LinearPath | None]) -> LinearPath:
    """Join models with one decision column each into models with several decision columns.

    None is replaced by a column with the decision value 0.
    """
    first = next(path for path in paths if path is not None)
    a, p, _ = first.coefficients.shape
    coefficients, intercepts = np.zeros((a, p, len(paths))), np.zeros((a, len(paths)))
    notes: list[dict[str, None]] = [{} for _ in range(a)]
    for column, path in enumerate(paths):
        if path is not None:
            coefficients[:, :, column] = path.coefficients[:, :, 0]
            intercepts[:, column] = path.intercepts[:, 0]
            for seen, new in zip(notes, path.notes, strict=True):
                seen.update(dict.fromkeys(new))
    reached = [path.converged for path in paths if path is not None and path.converged is not None]
    converged = np.logical_and.reduce(reached) if reached else None
    certified = [path.gaps for path in paths if path is not None and path.gaps is not None]
    gaps = np.maximum.reduce(certified) if certified else None
    texts = [list(seen) for seen in notes]
    return LinearPath(
        coefficients, intercepts=intercepts, notes=texts, converged=converged, gaps=gaps
    )


def fit_from_matrix(
    design: Design,
    targets: Targets,
    folds: Folds,
    clock: Clock,
    fit: Callable[[Array, Targets], LinearPath],
    matrices: float,
) -> Fits:
    """Call the function `fit` with the complete feature matrix Z, shape (n, p).

    `fit` is called for all rows, and for all rows except each held-out fold. The function gets Z in
    float64 and must not change it. `matrices` is the number of matrices of the size of Z that are
    in memory at the same time.

    Raises
    ------
    MethodError
        If the matrix and its copies do not fit into memory.
    """
    n, p = design.n, design.n_columns
    check_memory_fits(
        8.0 * matrices * n * p,
        f"The matrix of {p} features of {n} rows, with its copies,",
        "Use the solver ridge, which processes rows in blocks, or fewer rows or features.",
    )
    with clock.time_part("features"):
        Z = design.compute_matrix(copy=False).astype(np.float64, copy=False)
    with clock.time_part("train"):
        path = fit(Z, targets)
        partial: list[RegularizationPath] = []
        for g in range(0 if folds is None else int(folds.max()) + 1):
            rest = folds != g
            partial.append(fit(Z[rest], targets.select_rows(np.asarray(rest))))
        return Fits(path, float(np.einsum("ij,ij->", Z, Z) / n), partial)


def _sum(parts: list[NormalEquations]) -> NormalEquations:
    return sum(parts[1:], start=parts[0])
