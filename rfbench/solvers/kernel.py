"""What the exact kernel solvers share: no features, the kernel matrix of the training rows."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from rfbench import bandwidths
from rfbench.arrays import Array, Rows
from rfbench.clock import Clock
from rfbench.memory import check_fits
from rfbench.parameters import IMPORT_PATH, estimator, one_of, parameter
from rfbench.registry import KERNELS
from rfbench.samplers.base import streams
from rfbench.solvers.base import LOO, PenalisedSolver
from rfbench.solvers.coding import Targets
from rfbench.solvers.design import Design, check_finite
from rfbench.solvers.regularization_path import Fits, Groups, KernelPath, Path


@estimator
class KernelModel(PenalisedSolver):
    """Base of the exact kernel solvers; they see the rows themselves and ignore `features`.

    Parameters
    ----------
    kernel : str
        Name of the kernel, see `rfbench.registry.KERNELS`.
    bandwidth : float or {'median', 'knn50', 'knn50-sample'}
        Length scale of the kernel, or the rule that finds it on the rows of `fit`.
    Other parameters: those of `PenalisedSolver`.

    Attributes
    ----------
    dual_coef_ : array of shape (n, t)
    kernel_ : Kernel
    bandwidth_ : float
    """

    uses_features: ClassVar[bool] = False
    matrices: ClassVar[float] = 3.0

    kernel: str = parameter("gaussian", one_of(*KERNELS) | IMPORT_PATH)
    bandwidth: float | str = parameter("median", bandwidths.ALLOWED)

    @abstractmethod
    def _path(self, K: Array, rows: Rows, targets: Targets) -> KernelPath:
        """Fit from the kernel matrix of the rows for every value of the grid."""

    def _fits(self, design: Design, targets: Targets, groups: Groups, clock: Clock) -> Fits:
        n = design.n
        check_fits(
            8.0 * self.matrices * n * n,
            f"The exact kernel method on {n} rows ({self.matrices:g} matrices of {n} x {n})",
            "Take fewer rows (the key rows), or random features.",
        )
        with clock.part("pp"):
            generator = streams(self.random_state).bandwidth
            self.kernel_ = bandwidths.kernel_on(design.X, self.kernel, self.bandwidth, generator)
            self.bandwidth_ = self.kernel_.bandwidth
        with clock.part("features"):
            K = np.asarray(self.kernel_(design.X, design.X), dtype=np.float64)
            check_finite(K, f"The values of the kernel {self.kernel}")
        with clock.part("train"):
            partial: list[Path] = []
            for g in range(0 if groups is None else int(groups.max()) + 1):
                rest = np.flatnonzero(groups != g)
                mask = np.asarray(groups != g)
                block = K[np.ix_(rest, rest)]
                partial.append(self._path(block, design.X[rest], targets.take(mask)))
            norm = float(np.trace(K) / design.n)
            if self.chosen_selection() == LOO:
                path, loss = self._left_out(K, design.X, targets)
                return Fits(path, norm, partial, loss[None])
            return Fits(self._path(K, design.X, targets), norm, partial)

    def _left_out(self, K: Array, rows: Rows, targets: Targets) -> tuple[KernelPath, Array]:
        """Return the fits of all rows, and the summed losses of each by the fit without it."""
        raise NotImplementedError

    def _keep(self, path: Path, best: int) -> None:
        assert isinstance(path, KernelPath)
        self.dual_coef_ = path.duals[best].copy()
        self.intercept_ = path.intercepts[best].copy()
        self.rows_ = path.rows
        self.n_columns_ = int(self.dual_coef_.shape[0])

    def decisions(self, X: Rows) -> Array:
        """Return the decision values of the rows, shape (n, t)."""
        check_is_fitted(self, "dual_coef_")
        path = KernelPath(self.dual_coef_[None], self.intercept_[None], self.rows_, self.kernel_)
        return np.asarray(path.decisions(Design(self._rows(X)))[0])
