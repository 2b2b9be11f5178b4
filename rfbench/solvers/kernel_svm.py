"""The exact kernel support vector machine over a grid of penalties."""

from __future__ import annotations

import warnings
from typing import ClassVar

import numpy as np
from scipy import linalg
from sklearn.svm import SVC

from rfbench.arrays import Array, Rows
from rfbench.errors import MethodError
from rfbench.parameters import number, one_of, parameter, whole
from rfbench.solvers.coding import MULTICLASS, ONE_VS_ONE, Targets
from rfbench.solvers.declaration import solver
from rfbench.solvers.estimators import Classifier
from rfbench.solvers.external import converges
from rfbench.solvers.kernel import KernelModel
from rfbench.solvers.regularization_path import CERTAIN, KernelPath

LEAST_TOL = 1e-12


@solver("kernel-svm", position=6)
class KernelSVMClassifier(Classifier, KernelModel):
    r"""Kernel SVM: minimises :math:`\sum_i \max(0, 1 - y_i (f(x_i) + b)) + \alpha |f|_k^2 / 2`.

    f is in the RKHS, b is not penalised. Fitted by libsvm through scikit-learn's SVC, whose C is
    1/alpha, on the precomputed kernel matrix; memory 8 * 3 n^2 bytes.

    Parameters
    ----------
    multiclass : {'one-vs-rest', 'one-vs-one'}
        See `rfbench.solvers.coding.Coding`. A column of which only one side has rows (in a fold)
        decides for that side.
    cache_mb : float
        libsvm's cache.
    max_iter : int
        Iterations of libsvm a penalty, -1 for no limit; a fit that stops there is noted.
    tol : float
        libsvm's tolerance; it is lowered where the duality gap is still above 1e-4.
    intercept : bool
        True: libsvm always fits the constant.

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

    multiclass: str = parameter(ONE_VS_ONE, one_of(*MULTICLASS))
    cache_mb: float = parameter(200.0, number(above=0))
    max_iter: int = parameter(-1, whole(1) | one_of(-1))
    tol: float = parameter(1e-3, number(above=0))

    def check_parameters(self) -> None:
        """Check that a constant is asked for as well."""
        super().check_parameters()
        if not self.intercept:
            raise MethodError(
                "kernel-svm cannot leave the constant out.",
                "libsvm always fits it.",
                "Write intercept: true, or take the solver svm on features.",
            )

    def _path(self, K: Array, rows: Rows, targets: Targets) -> KernelPath:
        t, a = targets.columns.shape[1], len(self.grid())
        notes: list[list[str]] = [[] for _ in range(a)]
        duals, converged = np.zeros((a, len(K), t)), np.ones(a, dtype=bool)
        path = KernelPath(
            duals, np.zeros((a, t)), rows, self.kernel_, notes, converged, np.zeros(a)
        )
        for column, signs in enumerate(targets.columns.T):
            inside = np.flatnonzero(signs)
            sides = np.unique(signs[inside])
            if len(sides) < 2:
                path.intercepts[:, column] = sides.sum()
                continue
            block = K if len(inside) == len(K) else K[np.ix_(inside, inside)]
            for i, alpha in enumerate(self._absolute(len(inside))):
                dual, constant, gap, reached = self._fit(block, signs[inside], alpha)
                path.certify(i, gap)
                if not reached:
                    path.stopped(i, f"no convergence in {self.max_iter} iterations")
                path.duals[i, inside, column] = dual
                path.intercepts[i, column] = constant
        return path

    def _fit(self, K: Array, signs: Array, alpha: float) -> tuple[Array, float, float, bool]:
        """Return dual coefficients, constant, relative duality gap, and whether libsvm converged.

        libsvm's tolerance is that of a row's margin; it is lowered until the gap is small. It reads
        the kernel in float32: what that leaves is taken away by a solution in float64, with the
        same rows at their bounds.
        """
        tol, C = self.tol, 1.0 / alpha
        while True:
            model = SVC(
                C=C,
                kernel="precomputed",
                cache_size=self.cache_mb,
                max_iter=self.max_iter,
                tol=tol,
            )
            reached = converges(model, K, signs)
            dual = np.zeros(len(K))
            dual[model.support_] = model.dual_coef_[0]
            constant = float(model.intercept_[0])
            gap = _relative_gap(K, signs, alpha, dual, constant)
            if reached and gap > CERTAIN:
                solved = _solved(K, signs, C, dual)
                again = _relative_gap(K, signs, alpha, *solved)
                if again < gap:
                    (dual, constant), gap = solved, again
            if not reached or gap <= CERTAIN or tol <= LEAST_TOL:
                return dual, constant, gap, reached
            tol = max(tol * min(0.1, max(CERTAIN / gap / 2, 1e-3)), LEAST_TOL)


def _relative_gap(K: Array, signs: Array, alpha: float, dual: Array, constant: float) -> float:
    """Return the duality gap over the objective; `dual` is feasible."""
    values = K @ dual
    norm = alpha * float(dual @ values)
    hinge = float(np.maximum(0.0, 1.0 - signs * (values + constant)).sum())
    gap, objective = hinge + norm - alpha * float(np.abs(dual).sum()), hinge + norm / 2
    return max(gap, 0.0) / objective if objective > 0 else float(gap > 0)


def _solved(K: Array, signs: Array, C: float, dual: Array) -> tuple[Array, float]:
    """Return the solution whose rows at the bounds 0 and C are those of `dual`; or `dual`, 0."""
    size = np.abs(dual)
    free = np.flatnonzero((size > 0) & (size < C))
    held = np.where(size >= C, dual, 0.0)
    k = len(free)
    system = np.ones((k + 1, k + 1))
    system[:k, :k], system[k, k] = K[np.ix_(free, free)], 0.0
    sides = np.append(signs[free] - K[free] @ held, -held.sum())
    try:
        with warnings.catch_warnings():
            # An ill-conditioned system is no fault: the gap says whether its solution is better.
            warnings.simplefilter("ignore", linalg.LinAlgWarning)
            solved = linalg.solve(system, sides, assume_a="sym", check_finite=False)
    except linalg.LinAlgError:
        return dual, 0.0
    held[free] = solved[:k]
    inside = (signs * held >= 0).all() and (np.abs(held) <= C).all()
    return (held, float(solved[k])) if inside else (dual, 0.0)
