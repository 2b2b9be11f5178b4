"""The Nystroem method: features from the kernel values between rows and a few landmarks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self, get_args

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from rfbench.arrays import Array, FloatArray, Rows
from rfbench.compute.products import matmul
from rfbench.kernels import Feature, Kernel
from rfbench.parameters import one_of, parameter
from rfbench.samplers.base import NOTHING_SHARED, RandomFeatures, RandomStreams, Shared
from rfbench.samplers.declaration import ANY, DOT_PRODUCTS, CheckCase, sampler
from rfbench.samplers.feature_map import FittedMap
from rfbench.samplers.landmarks import (
    choose_pivots,
    compute_centroids,
    count_pivot_rows,
    draw_by_recursive_leverage,
)
from rfbench.samplers.projected import iterate_row_blocks

UNIFORM, RECURSIVE_RLS = "uniform", "recursive-rls"
KMEANS, RPCHOLESKY = "kmeans", "rpcholesky"
# Eigenvalues of the landmark kernel matrix K_SS below this value, divided by the largest
# eigenvalue, are not used. Such eigenvalues are rounding errors (about 1e-16 times the number of
# landmarks), and the inverse of their root would multiply noise by a million. The value was chosen
# without a measurement. With twice the value, an eigenvector is sometimes left out and published
# results change.
FLOOR = 1e-12


@dataclass(frozen=True)
class KernelColumns(FittedMap):
    """Feature map whose columns are the kernel values between a row and each landmark.

    Attributes
    ----------
    kernel : Kernel
        The kernel.
    landmarks : array or CSR matrix of shape (m, d)
        The m landmarks, which are rows of the training set or centroids of rows.
    """

    kernel: Kernel
    landmarks: Rows

    @property
    def n_columns(self) -> int:
        """Number of columns, which is the number m of landmarks."""
        return int(self.landmarks.shape[0])

    def astype(self, dtype: Any) -> Self:
        """Return the feature map with landmarks of the floating-point type `dtype`."""
        if self.landmarks.dtype == dtype:
            return self
        return replace(self, landmarks=self.landmarks.astype(dtype))

    def transform_into(self, rows: Rows, out: FloatArray) -> None:
        """Compute the features of the n rows, and write them into `out`, shape (n, m)."""
        for block in iterate_row_blocks(rows.shape[0], self.n_columns):
            out[block] = self._columns(rows[block])

    def _columns(self, rows: Rows) -> Array:
        return self.kernel(rows, self.landmarks)


@dataclass(frozen=True)
class NystroemMap(KernelColumns):
    """Feature map of the Nystroem method: kernel values multiplied by K_SS^(-1/2).

    The kernel values are between a row and each landmark of a set S. K_SS is the kernel matrix of
    the landmarks.
    """

    @cached_property
    def matrix(self) -> Array:
        """Inverse square root of the kernel matrix K_SS of the m landmarks, shape (m, m)."""
        eigenvalues, vectors = linalg.eigh(self.kernel(self.landmarks, self.landmarks))
        kept = eigenvalues > FLOOR * eigenvalues[-1]
        basis = vectors[:, kept]
        return np.asarray((basis / np.sqrt(eigenvalues[kept])) @ basis.T)

    def unproject(self, coefficients: FloatArray) -> tuple[FittedMap, FloatArray]:
        """Return a feature map and coefficients that give the same predictions at a lower cost.

        The columns of the returned map are the kernel values, without the factor K_SS^(-1/2). The
        returned coefficients are the product of this factor and `coefficients`.
        """
        return KernelColumns(self.kernel, self.landmarks), self.matrix @ coefficients

    def _columns(self, rows: Rows) -> Array:
        return np.asarray(matmul(super()._columns(rows), self.matrix))


@sampler(
    "nystroem",
    kernels=(*ANY, *DOT_PRODUCTS),
    about="kernel values at M landmarks among the training rows, drawn uniformly",
    labels={
        "nystroem-kmeans": "as nystroem, with the centers of k-means as landmarks",
        "nystroem-rpcholesky": "as nystroem, with random pivots of a Cholesky factor as landmarks",
        "nystroem-recursive-rls": "as nystroem, with landmarks drawn by recursive leverage scores",
    },
    forms=(
        CheckCase(),
        CheckCase({"landmarks": "kmeans"}),
        CheckCase({"landmarks": "rpcholesky"}),
        CheckCase({"landmarks": "recursive-rls"}),
    ),
)
class Nystroem(RandomFeatures):
    r"""Features of the Nystroem method, from the kernel values between a row and m landmarks.

    The landmarks S are training rows or centroids of training rows. The features of a row x are
    :math:`k(x, x_S) K_{SS}^{-1/2}`. :math:`k(x, x_S)` are the kernel values between x and the
    landmarks, and :math:`K_{SS}` is the kernel matrix of the landmarks. The inverse root ignores
    eigenvalues of :math:`K_{SS}` below 1e-12 times the largest eigenvalue.

    Parameters
    ----------
    n_components : int, default=100
        Number m of landmarks and of columns. If there are fewer different landmarks, landmarks are
        repeated, which adds columns but does not change inner products.
    kernel : str, default='gaussian'
        Name of a kernel in `rfbench.registry.KERNELS`.
    bandwidth : float or {'median', 'knn50', 'knn50-sample'}, default='median'
        Bandwidth (length scale) of the kernel, or the rule that computes the bandwidth from the
        training set.
    feature_map : {'offset', 'paired'}, default='offset'
        Ignored, because the features have no frequencies.
    random_state : int, Generator, RandomState, SeedSequence or None, default=None
        Random seed or generator. None uses a new seed in every fit.
    landmarks : {'uniform', 'recursive-rls', 'rpcholesky', 'kmeans'}, default='uniform'
        'uniform' draws rows without replacement. 'recursive-rls' draws rows with probabilities
        proportional to approximate ridge leverage scores
        (`rfbench.samplers.landmarks.draw_by_recursive_leverage`), for a cost of O(n m^2).
        'rpcholesky' draws rows one at a time, with probabilities proportional to their residual
        given the rows drawn before (`rfbench.samplers.landmarks.choose_pivots`), for a cost of O(n
        m^2) and 8 n m bytes. If these bytes exceed 2 GiB, the rows are first reduced to a uniform
        sample of at least 2m rows. 'kmeans' computes centroids of k-means on at most max(m, 20,000)
        rows (Zhang, Tsang and Kwok, section 4), for a cost of at most 20 times O(n m d). Centroids
        are dense, and for every kernel they are means of the original rows.

    Attributes
    ----------
    landmark_rows_ : array of shape (n_components,) or None
        Row indices of the landmarks in the training set, or None for centroids.
    scores_ : array of shape (n,)
        The approximate ridge leverage scores of 'recursive-rls'.

    References
    ----------
    Williams and Seeger, Using the Nystroem Method to Speed Up Kernel Machines, NIPS 2001. Musco
    and Musco, Recursive Sampling for the Nystroem Method, NIPS 2017. Chen, Epperly, Tropp and
    Webber, Randomly pivoted Cholesky, CPAM 2025. Zhang, Tsang and Kwok, Improved Nystroem low-rank
    approximation and error analysis, ICML 2008.

    Examples
    --------
    >>> import numpy as np
    >>> from rfbench.samplers import Nystroem
    >>> X = np.random.default_rng(0).standard_normal((200, 3))
    >>> Nystroem(10, bandwidth=2.0, random_state=0).fit(X).transform(X).shape
    (200, 10)
    """

    unbiased: ClassVar[bool] = False
    features_served: ClassVar[tuple[str, ...]] = get_args(Feature)

    landmarks: str = parameter(UNIFORM, one_of(UNIFORM, RECURSIVE_RLS, RPCHOLESKY, KMEANS))

    def fit_landmarks(self, X: Rows, y: Any = None) -> Nystroem:
        """Choose the landmarks, but do not compute the inverse root of their kernel matrix yet.

        The inverse root, which costs O(m^3), is computed when rows are first transformed. A solver
        that uses only the kernel values between rows and landmarks does not need it.
        """
        self._fit(X, y, Shared(delays_root=True))
        return self

    def _draw(self, X: Rows, targets: Array | None, random: RandomStreams) -> NystroemMap:
        return self._draw_sharing(X, None, targets, random, NOTHING_SHARED)

    def _draw_sharing(
        self, X: Rows, y: Any, targets: Array | None, random: RandomStreams, shared: Shared
    ) -> NystroemMap:
        self.landmark_rows_ = None
        if X.shape[0] < self.n_components:
            self.notes_.append(
                f"{X.shape[0]} rows give {X.shape[0]} landmarks, and the other columns repeat them"
            )
        if self.landmarks == KMEANS:
            points, seen = compute_centroids(X, self.n_components, random.rows, random.selection)
            self._note(points.shape[0], seen, X.shape[0])
            points = points[np.resize(np.arange(len(points)), self.n_components)].astype(X.dtype)
        else:
            self.landmark_rows_ = np.resize(self._rows(X, random), self.n_components)
            points = X[self.landmark_rows_]
        fitted = NystroemMap(self.kernel_, points)
        if not shared.delays_root:
            fitted.matrix  # noqa: B018 - computed now, so that its time counts as time of the fit
        return fitted

    def _rows(self, X: Rows, random: RandomStreams) -> NDArray[np.intp]:
        """Choose at most m different rows of X as landmarks, and return their indices."""
        n = X.shape[0]
        m = min(self.n_components, n)
        if self.landmarks == RPCHOLESKY:
            return self._pivots(X, random)
        if self.landmarks == RECURSIVE_RLS and m < n:
            chosen, self.scores_ = draw_by_recursive_leverage(self.kernel_, X, m, random.selection)
            return chosen
        return np.asarray(random.selection.choice(n, size=m, replace=False))

    def _pivots(self, X: Rows, random: RandomStreams) -> NDArray[np.intp]:
        n, m = X.shape[0], self.n_components
        sample = np.arange(n)
        if n > count_pivot_rows(m):
            sample = np.sort(random.rows.choice(n, count_pivot_rows(m), replace=False))
        rows = X[:] if len(sample) == n else X[sample]
        m = min(m, len(sample))
        found = choose_pivots(
            self.kernel_, rows, m, max(10, self.n_components // 10), random.selection
        )
        self._note(len(found), len(sample), n)
        return np.asarray(sample[found])

    def _note(self, different: int, seen: int, n: int) -> None:
        if different < min(self.n_components, n):
            self.notes_.append(f"{different} different landmarks are enough to represent all rows")
        if seen < n:
            self.notes_.append(f"landmarks are selected from {seen} of {n} rows")
