"""The fits of a training set for every value of a grid."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from rfbench.arrays import Array, Rows
from rfbench.kernels import Kernel
from rfbench.solvers.design import Design, check_finite

Groups = NDArray[np.intp] | None

BLOCK_VALUES = 2**22
# A fit that may be further from its optimum, relative to its objective, did not converge.
CERTAIN = 1e-4


@dataclass(frozen=True, eq=False, kw_only=True)
class Path(ABC):
    """The fits of one training set, one a value of the grid.

    Attributes
    ----------
    intercepts : array of shape (a, t)
    notes : list of list of str
        For every value, what a reader should know of its fit (fall-backs, no convergence).
    converged : array of bool, shape (a,), or None
        For every value, whether its fit reached the tolerance; None of a closed form.
    gaps : array of shape (a,) or None
        For every value, how far its fit is from the optimum at most, relative to the objective, of
        the worst column; None of a closed form.
    """

    intercepts: Array
    notes: list[list[str]] = field(default_factory=list)
    converged: NDArray[np.bool_] | None = None
    gaps: Array | None = None

    @property
    def reached(self) -> NDArray[np.bool_]:
        """For every value, whether its fit converged, and is proven to be near its optimum."""
        near = np.ones(len(self.notes), bool) if self.gaps is None else self.gaps <= CERTAIN
        return near if self.converged is None else near & self.converged

    def certify(self, i: int, gap: float) -> None:
        """Record a proven distance to the optimum of the fit of value i; the largest counts."""
        assert self.gaps is not None
        self.gaps[i] = max(self.gaps[i], gap) if np.isfinite(gap) else np.inf

    def stopped(self, i: int, text: str) -> None:
        """Note that the fit of value i did not reach its tolerance."""
        assert self.converged is not None
        self.converged[i] = False
        if text not in self.notes[i]:
            self.notes[i].append(text)

    @abstractmethod
    def decisions(self, design: Design) -> Array:
        """Return the decision values of the rows, shape (a, n, t)."""


@dataclass(frozen=True, eq=False)
class LinearPath(Path):
    """Fits that are linear in the features.

    Attributes
    ----------
    coefficients : array of shape (a, p, t)
        t decision columns: 1 for a binary or real target, else one per class or pair of classes.
    kernel_weights : array of shape (a, p) or None
        The learned distribution over the features, where there is one.
    """

    coefficients: Array
    kernel_weights: Array | None = None

    @classmethod
    def blank(cls, a: int, p: int, t: int) -> LinearPath:
        """Return fits of coefficients zero, to be filled in."""
        return cls(
            np.zeros((a, p, t)),
            intercepts=np.zeros((a, t)),
            notes=[[] for _ in range(a)],
            converged=np.ones(a, dtype=bool),
            gaps=np.zeros(a),
        )

    def decisions(self, design: Design) -> Array:
        """Return the decision values of the rows, shape (a, n, t)."""
        a, p, t = self.coefficients.shape
        flat = self.coefficients.transpose(1, 0, 2).reshape(p, a * t)
        values = design.multiply(flat).reshape(design.n, a, t)
        values += self.intercepts
        return values.transpose(1, 0, 2)


@dataclass(frozen=True, eq=False)
class KernelPath(Path):
    """Fits that are combinations of the kernel at the training rows.

    Attributes
    ----------
    duals : array of shape (a, n_train, t)
    rows : array or CSR matrix of shape (n_train, d)
    kernel : Kernel
    """

    duals: Array
    rows: Rows
    kernel: Kernel

    def decisions(self, design: Design) -> Array:
        """Return the decision values of the rows, shape (a, n, t); the kernel block by block."""
        a, n_train, t = self.duals.shape
        flat = self.duals.transpose(1, 0, 2).reshape(n_train, a * t)
        values = np.empty((design.n, a * t))
        step = max(1, BLOCK_VALUES // n_train)
        for start in range(0, design.n, step):
            block = design.X[start : start + step]
            values[start : start + step] = self.kernel(block, self.rows) @ flat
            check_finite(values[start : start + step], "The decision values")
        shaped = values.reshape(design.n, a, t)
        shaped += self.intercepts
        return shaped.transpose(1, 0, 2)


@dataclass(frozen=True, eq=False)
class Fits:
    """What a solver returns to the selection.

    Attributes
    ----------
    path : Path
        Of all rows.
    row_norm : float
        Mean squared norm of a row of features (of k(x, x), for a kernel).
    partial : list of Path
        Of all rows but those of group g, for every g.
    held_loss : array of shape (K, a) or None
        The loss of the held-out rows, summed over those of a group, or over all of them, each left
        out by itself (K = 1), where it is known already.
    """

    path: Path
    row_norm: float
    partial: list[Path] = field(default_factory=list)
    held_loss: Array | None = None
