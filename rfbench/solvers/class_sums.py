"""A classifier that predicts the class with the largest sum of kernel values, without a fit."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.utils import gen_batches

from rfbench.arrays import Array

# Number of rows whose kernel values are in memory at the same time. Measured by `python -m
# scripts.bench.doubled`: half the value needs .94 times the CPU time, and twice the value 1.24
# times.
BATCH_ROWS = 1000


class ClassSums(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Classifier that predicts the class with the largest sum of kernel values.

    For a row x, the sum of a class is the sum of k(x, x_i) over all training rows x_i of the class.
    The method is described in section 4.3 of Reid, Choromanski, Likhosherstov and Weller, Simplex
    Random Features, ICML 2023.

    Parameters
    ----------
    bandwidth : float, optional
        Bandwidth of the exact Gaussian kernel. By default, k(x, x_i) is the inner product of x and
        x_i. For rows of random features, the inner product estimates the kernel.
    """

    def __init__(self, bandwidth: float | None = None) -> None:
        self.bandwidth = bandwidth

    def fit(self, X: Any, y: Any) -> Self:
        """Compute the sum of the rows X of each class. For the exact kernel, store the rows."""
        self.classes_, codes = np.unique(y, return_inverse=True)
        one_hot = np.eye(len(self.classes_))[codes]
        if self.bandwidth is None:
            self.sums_ = np.asarray(X).T @ one_hot
        else:
            self.rows_, self.sums_ = np.asarray(X), one_hot
        return self

    def decision_function(self, X: Any) -> Array:
        """Return the sum of kernel values between each row of X and each class.

        The result has shape (n, classes).
        """
        X = np.asarray(X)
        if self.bandwidth is None:
            return np.asarray(X @ self.sums_)
        gamma = 0.5 / self.bandwidth**2
        blocks = gen_batches(len(X), BATCH_ROWS)
        return np.vstack([rbf_kernel(X[each], self.rows_, gamma) @ self.sums_ for each in blocks])

    def predict(self, X: Any) -> Any:
        """Return the predicted class of each row of X, shape (n,)."""
        return self.classes_[self.decision_function(X).argmax(axis=1)]
