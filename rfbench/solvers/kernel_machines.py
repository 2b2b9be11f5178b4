"""Exact kernel solvers: ridge regression and the support vector machine on a kernel matrix.

The solvers use the kernel matrix of the training set instead of features.
"""

from __future__ import annotations

from abc import abstractmethod
from itertools import combinations
from typing import ClassVar

import numpy as np
from sklearn.svm import SVC
from sklearn.utils.validation import check_is_fitted

from rfbench import bandwidths
from rfbench.arrays import Array, Rows
from rfbench.clock import Clock
from rfbench.compute.dual_ridge import KernelEigendecomposition, solve_dual
from rfbench.compute.ridge import RidgePath
from rfbench.errors import MethodError
from rfbench.memory import check_memory_fits
from rfbench.parameters import IMPORT_PATH, WITH_PARAMETERS, estimator, number, one_of, parameter
from rfbench.registry import KERNELS
from rfbench.samplers.base import make_streams
from rfbench.solvers.base import LOO, Solver
from rfbench.solvers.coding import ONE_VS_ONE, Targets
from rfbench.solvers.design import Design, check_finite
from rfbench.solvers.estimators import Classifier, Regressor
from rfbench.solvers.fits import Fits, Folds, KernelPath, RegularizationPath


@estimator
class KernelModel(Solver):
    """Base class of exact kernel solvers, which use the kernel matrix of the rows and no features.

    Parameters
    ----------
    alphas : float or sequence of float, default=1.0
        Penalties to select from (the grid). A single number is a grid with one value.
    alpha_convention : {'absolute', 'per-sample'}, default='absolute'
        'absolute': the penalty in the formula of the solver is alpha. 'per-sample': the penalty is
        n alpha for a fit on n rows. n is smaller in a fold and for a pair of classes.
    selection : {'fixed', 'test', 'validation', 'cv5', 'loo'}, default=None
        Method that selects one penalty of the grid.

        - 'fixed': no selection, because the grid has a single value.
        - 'test': smallest error on the evaluation rows that are passed to `fit`. This error is
          too small if these rows are the test set.
        - 'validation': smallest error on a random fifth of the training set.
        - 'cv5' (or 'cvK'): smallest error in five-fold (K-fold) cross-validation.
        - 'loo': smallest leave-one-out error in closed form (ridge and kernel ridge only).
        - None: 'fixed' for a single value, and 'cv5' otherwise.

        If several penalties have the same error, the largest is selected. After the selection, the
        model is fitted on all rows. Features that use the target are fitted again without the
        held-out rows (see `fit`).
    intercept : bool, default=True
        Fit an intercept.
    random_state : int, Generator, RandomState, SeedSequence or None, default=None
        Random seed or generator for the folds.
    kernel : str, default='gaussian'
        Name of a kernel in `rfbench.registry.KERNELS`.
    bandwidth : float or {'median', 'knn50', 'knn50-sample'}, default='median'
        Bandwidth of the kernel, or the rule that computes the bandwidth from the training set.

    Attributes
    ----------
    dual_coef_ : array of shape (n, t)
        Coefficients of the kernel functions of the n training rows, for each decision column.
    kernel_ : Kernel
        The kernel with its bandwidth.
    bandwidth_ : float
        The bandwidth, which may be computed from the training set.
    """

    uses_features: ClassVar[bool] = False
    matrices: ClassVar[float] = 3.0

    kernel: str = parameter("gaussian", one_of(*KERNELS) | WITH_PARAMETERS | IMPORT_PATH)
    bandwidth: float | str = parameter("median", bandwidths.ALLOWED)

    @abstractmethod
    def _path(self, K: Array, rows: Rows, targets: Targets) -> KernelPath:
        """Fit the model with every penalty of the grid to the kernel matrix `K` of the rows."""

    def _fits(self, design: Design, targets: Targets, folds: Folds, clock: Clock) -> Fits:
        n = design.n
        check_memory_fits(
            8.0 * self.matrices * n * n,
            f"The exact kernel method on {n} rows ({self.matrices:g} matrices of {n} x {n})",
            "Use fewer rows (the key rows), or random features.",
        )
        with clock.time_part("pp"):
            generator = make_streams(self.random_state).bandwidth
            self.kernel_ = bandwidths.make_kernel(design.X, self.kernel, self.bandwidth, generator)
            self.bandwidth_ = self.kernel_.bandwidth
        with clock.time_part("features"):
            K = np.asarray(self.kernel_(design.X, design.X), dtype=np.float64)
            check_finite(K, f"The values of the kernel {self.kernel}")
        with clock.time_part("train"):
            partial: list[RegularizationPath] = []
            for fold in range(0 if folds is None else int(folds.max()) + 1):
                mask = np.asarray(folds != fold)
                rest = np.flatnonzero(mask)
                block = K[np.ix_(rest, rest)]
                partial.append(self._path(block, design.X[rest], targets.select_rows(mask)))
            norm = float(np.trace(K) / design.n)
            path, loss = self._all_rows(K, design.X, targets)
            return Fits(path, norm, partial, loss)

    def _all_rows(self, K: Array, rows: Rows, targets: Targets) -> tuple[KernelPath, Array | None]:
        """Return the models that are fitted on all rows, and the leave-one-out losses.

        The losses are None, except for the selection 'loo'.
        """
        return self._path(K, rows, targets), None

    def _keep(self, path: RegularizationPath, best: int) -> None:
        assert isinstance(path, KernelPath)
        self.dual_coef_ = path.duals[best].copy()
        self.intercept_ = path.intercepts[best].copy()
        self.rows_ = path.rows

    def compute_decisions(self, X: Rows) -> Array:
        """Return the decision values of the n rows X in the t decision columns, shape (n, t)."""
        check_is_fitted(self, "dual_coef_")
        intercepts = self.intercept_[None]
        path = KernelPath(self.dual_coef_[None], self.rows_, self.kernel_, intercepts=intercepts)
        return np.asarray(path.compute_decisions(Design(self._rows(X)))[0])


class _KernelRidge(KernelModel):
    leaves_one_out: ClassVar[bool] = True
    matrices: ClassVar[float] = 4.0

    def _path(self, K: Array, rows: Rows, targets: Targets) -> KernelPath:
        alphas, Y = self._absolute(len(K)), targets.columns
        solved = solve_dual(K, Y, alphas, intercept=self.intercept, noise=_noise(K))
        return self._of_rows(solved, rows)

    def _all_rows(self, K: Array, rows: Rows, targets: Targets) -> tuple[KernelPath, Array | None]:
        if self.resolve_selection() != LOO:
            return super()._all_rows(K, rows, targets)
        spectrum = KernelEigendecomposition(
            K, targets.columns, intercept=self.intercept, noise=_noise(K)
        )
        decisions = spectrum.predict_leave_one_out(self._absolute(len(K) - 1))
        path = self._of_rows(spectrum.compute_path(self._absolute(len(K))), rows)
        return path, self._summed_losses(decisions, targets.truth)[None]

    def _of_rows(self, solved: RidgePath, rows: Rows) -> KernelPath:
        return KernelPath(
            solved.coef, rows, self.kernel_, intercepts=solved.intercept, notes=solved.notes
        )


def _noise(K: Array) -> float:
    """Return the relative rounding error of the kernel matrix K, which is in float64."""
    return len(K) * float(np.finfo(np.float64).eps)


@estimator
class KernelRidgeRegressor(Regressor, _KernelRidge):
    r"""Kernel ridge regression: :math:`|y - f - b|^2 + \alpha |f|_k^2` over f in the RKHS.

    y is the target, f is a function with the norm :math:`|f|_k` in the RKHS of the kernel, and b is
    an intercept. Ridge regression on random features approximates this model. All penalties are
    solved by `rfbench.compute.ridge.solve_shifted_systems`, or from a single eigendecomposition for
    the selection 'loo'. The fit needs 8 * 4 n^2 bytes of memory.

    Parameters
    ----------
    alphas : float or sequence of float, default=1.0
        Penalties to select from (the grid). A single number is a grid with one value.
    alpha_convention : {'absolute', 'per-sample'}, default='absolute'
        'absolute': the penalty in the formula of the solver is alpha. 'per-sample': the penalty is
        n alpha for a fit on n rows. n is smaller in a fold and for a pair of classes.
    selection : {'fixed', 'test', 'validation', 'cv5', 'loo'}, default=None
        Method that selects one penalty of the grid.

        - 'fixed': no selection, because the grid has a single value.
        - 'test': smallest error on the evaluation rows that are passed to `fit`. This error is
          too small if these rows are the test set.
        - 'validation': smallest error on a random fifth of the training set.
        - 'cv5' (or 'cvK'): smallest error in five-fold (K-fold) cross-validation.
        - 'loo': smallest leave-one-out error in closed form (ridge and kernel ridge only).
        - None: 'fixed' for a single value, and 'cv5' otherwise.

        If several penalties have the same error, the largest is selected. After the selection, the
        model is fitted on all rows. Features that use the target are fitted again without the
        held-out rows (see `fit`).
    intercept : bool, default=True
        Fit an intercept.
    random_state : int, Generator, RandomState, SeedSequence or None, default=None
        Random seed or generator for the folds.
    kernel : str, default='gaussian'
        Name of a kernel in `rfbench.registry.KERNELS`.
    bandwidth : float or {'median', 'knn50', 'knn50-sample'}, default='median'
        Bandwidth of the kernel, or the rule that computes the bandwidth from the training set.

    Examples
    --------
    >>> import numpy as np
    >>> from rfbench.solvers import KernelRidgeRegressor
    >>> X = np.linspace(0.0, 6.0, 100)[:, None]
    >>> solver = KernelRidgeRegressor(1e-3, bandwidth=1.0).fit(X, np.sin(X[:, 0]))
    >>> abs(solver.predict([[1.5]])[0] - np.sin(1.5)) < 1e-3
    np.True_
    """


@estimator
class KernelRidgeClassifier(Classifier, _KernelRidge):
    r"""Kernel ridge regression on labels coded -1 and +1: :math:`|y - f - b|^2 + \alpha |f|_k^2`.

    y are the coded labels, f is a function with the norm :math:`|f|_k` in the RKHS of the kernel,
    and b is an intercept. For two classes there is one decision column, and its sign is predicted.
    For more classes there is one column per class, and the class with the largest value is
    predicted.

    Parameters
    ----------
    alphas : float or sequence of float, default=1.0
        Penalties to select from (the grid). A single number is a grid with one value.
    alpha_convention : {'absolute', 'per-sample'}, default='absolute'
        'absolute': the penalty in the formula of the solver is alpha. 'per-sample': the penalty is
        n alpha for a fit on n rows. n is smaller in a fold and for a pair of classes.
    selection : {'fixed', 'test', 'validation', 'cv5', 'loo'}, default=None
        Method that selects one penalty of the grid.

        - 'fixed': no selection, because the grid has a single value.
        - 'test': smallest error on the evaluation rows that are passed to `fit`. This error is
          too small if these rows are the test set.
        - 'validation': smallest error on a random fifth of the training set.
        - 'cv5' (or 'cvK'): smallest error in five-fold (K-fold) cross-validation.
        - 'loo': smallest leave-one-out error in closed form (ridge and kernel ridge only).
        - None: 'fixed' for a single value, and 'cv5' otherwise.

        If several penalties have the same error, the largest is selected. After the selection, the
        model is fitted on all rows. Features that use the target are fitted again without the
        held-out rows (see `fit`).
    intercept : bool, default=True
        Fit an intercept.
    random_state : int, Generator, RandomState, SeedSequence or None, default=None
        Random seed or generator for the folds.
    kernel : str, default='gaussian'
        Name of a kernel in `rfbench.registry.KERNELS`.
    bandwidth : float or {'median', 'knn50', 'knn50-sample'}, default='median'
        Bandwidth of the kernel, or the rule that computes the bandwidth from the training set.
    """

    fits_coded_labels: ClassVar[bool] = True


@estimator
class KernelSVMClassifier(Classifier, KernelModel):
    r"""Kernel SVM: minimizes :math:`\sum_i \max(0, 1 - y_i (f(x_i) + b)) + \alpha |f|_k^2 / 2`.

    f is a function with the norm :math:`|f|_k` in the RKHS of the kernel. The intercept b is not
    penalized. The solver is scikit-learn's SVC on the precomputed kernel matrix, with C = 1/alpha.
    For more than two classes there is one decision column per pair of classes, and the columns vote
    (one-vs-one, see `rfbench.solvers.coding.Coding`). The fit needs 8 * 3 n^2 bytes of memory.

    Parameters
    ----------
    alphas : float or sequence of float, default=1.0
        Penalties to select from (the grid). A single number is a grid with one value.
    alpha_convention : {'absolute', 'per-sample'}, default='absolute'
        'absolute': the penalty in the formula of the solver is alpha. 'per-sample': the penalty is
        n alpha, and n counts the rows of all classes, also for a pair of classes.
    selection : {'fixed', 'test', 'validation', 'cv5', 'loo'}, default=None
        Method that selects one penalty of the grid.

        - 'fixed': no selection, because the grid has a single value.
        - 'test': smallest error on the evaluation rows that are passed to `fit`. This error is
          too small if these rows are the test set.
        - 'validation': smallest error on a random fifth of the training set.
        - 'cv5' (or 'cvK'): smallest error in five-fold (K-fold) cross-validation.
        - 'loo': smallest leave-one-out error in closed form (ridge and kernel ridge only).
        - None: 'fixed' for a single value, and 'cv5' otherwise.

        If several penalties have the same error, the largest is selected. After the selection, the
        model is fitted on all rows. Features that use the target are fitted again without the
        held-out rows (see `fit`).
    intercept : bool, default=True
        Has to be True, because libsvm always fits an intercept.
    random_state : int, Generator, RandomState, SeedSequence or None, default=None
        Random seed or generator for the folds.
    kernel : str, default='gaussian'
        Name of a kernel in `rfbench.registry.KERNELS`.
    bandwidth : float or {'median', 'knn50', 'knn50-sample'}, default='median'
        Bandwidth of the kernel, or the rule that computes the bandwidth from the training set.
    tol : float, default=1e-06
        Tolerance of libsvm for the margin of a row.

    References
    ----------
    Chang and Lin, LIBSVM: A Library for Support Vector Machines, 2011.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from rfbench.solvers import KernelSVMClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> round(KernelSVMClassifier(1.0, random_state=0).fit(X, y).score(X, y), 2)
    0.97
    """

    revision: ClassVar[int] = 2
    positive_alphas: ClassVar[bool] = True
    multiclass: ClassVar[str] = ONE_VS_ONE

    tol: float = parameter(1e-6, number(above=0))

    def check_parameters(self) -> None:
        """Raise MethodError if a parameter is not allowed, or if `intercept` is False."""
        super().check_parameters()
        if not self.intercept:
            raise MethodError(
                "kernel-svm cannot be fitted without an intercept.",
                "libsvm always fits an intercept.",
                "Write intercept: true, or use the solver svm on features.",
            )

    def _path(self, K: Array, rows: Rows, targets: Targets) -> KernelPath:
        codes, coding = targets.codes, targets.coding
        assert codes is not None
        assert coding is not None
        alphas, t = self._absolute(len(K)), targets.columns.shape[1]
        duals, constants = np.zeros((len(alphas), len(K), t)), np.zeros((len(alphas), t))
        path = KernelPath(
            duals,
            rows,
            self.kernel_,
            intercepts=constants,
            notes=[[] for _ in alphas],
            converged=np.ones(len(alphas), dtype=bool),
        )
        # The rows outside a fold may contain only one of the two classes of a pair. The decision
        # value of this pair is then constant, and predicts the class that is present.
        constants[:] = np.sign(targets.columns.max(axis=0) + targets.columns.min(axis=0))
        present = np.unique(codes)
        if len(present) < 2:
            return path
        # In libsvm, a positive decision value of a pair of classes means the first class. If there
        # are only two classes, a positive decision value means the second class.
        sign = 1.0 if len(present) == 2 else -1.0
        columns = {pair: column for column, pair in enumerate(coding.pairs)}
        for i, alpha in enumerate(alphas):
            model = SVC(C=1.0 / alpha, kernel="precomputed", tol=self.tol).fit(K, codes)
            own = codes[model.support_]
            for pair, (a, b) in enumerate(combinations(range(len(present)), 2)):
                first, second = present[a], present[b]
                column = columns[first, second]
                constants[i, column] = sign * model.intercept_[pair]
                # libsvm stores one dual coefficient of a support vector for each class except the
                # vector's own class, in the order of the classes.
                for code, place in ((first, b - 1), (second, a)):
                    chosen = own == code
                    own_duals = model.dual_coef_[place, chosen]
                    duals[i, model.support_[chosen], column] = sign * own_duals
        return path
