"""Transformers that do what none should, for the tests of what they cost the others."""

import sys

import numpy as np

from tests.support.faulty import Faulty as Project


class ChangesRows(Project):
    """Centres its rows in place."""

    def fit(self, X, y=None):
        values = X.data if hasattr(X, "indptr") else X
        values -= values.mean()
        return super().fit(X, y)


class ForcesRows(Project):
    """Changes its rows although they are read-only, in one size."""

    def fit(self, X, y=None):
        if self.n_components == 4:
            X.setflags(write=True)
            X[:, 0] += 10.0
        return super().fit(X, y)


class ChangesTarget(Project):
    """Turns every target into the first one."""

    needs_target = True

    def fit(self, X, y=None):
        y[:] = y[0]
        return super().fit(X, y)


class ChangesTestRows(Project):
    """Scales what it transforms in place."""

    def transform(self, X):
        X *= 1e-3
        return super().transform(X)


class KernelOfItsOwn(Project):
    """Changes the rows that kernel matrices are compared on."""

    approximates_kernel = True

    def fit(self, X, y=None):
        from rfbench import kernels

        self.kernel_ = kernels.make("gaussian", 1.0)
        return super().fit(X, y)

    def transform(self, X):
        if X.shape[0] == 17:
            X *= 0
        return super().transform(X)


class ColumnsFollowRows(Project):
    """Returns at most as many columns as there are rows."""

    def transform(self, X):
        return super().transform(X)[:, : max(1, X.shape[0] // 2)]


class MoreColumnsForTestRows(Project):
    """Returns one column more for other rows than those that it was fitted on."""

    def fit(self, X, y=None):
        self.first, self.many = X[0].copy(), X.shape[0]
        self.known = {row.tobytes() for row in X}
        return super().fit(X, y)

    def transform(self, X):
        Z = super().transform(X)
        known = all(row.tobytes() in self.known for row in X)
        return Z if known else np.column_stack([Z, Z[:, 0]])


class KeepsState(Project):
    """Scales its features by the number of its fits in this process."""

    def fit(self, X, y=None):
        super().fit(X, y)
        sys.n_fits = getattr(sys, "n_fits", 0) + 1
        self.scale_ = 10.0**-sys.n_fits
        return self

    def transform(self, X):
        return super().transform(X) * self.scale_
