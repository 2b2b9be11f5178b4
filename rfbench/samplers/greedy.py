"""Greedy selection of random features by orthogonal matching pursuit."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from rfbench.arrays import Array, Rows
from rfbench.parameters import BOOLEAN, one_of, parameter
from rfbench.samplers.base import RandomStreams
from rfbench.samplers.declaration import ANY, CheckCase, sampler
from rfbench.samplers.feature_map import FeatureMap
from rfbench.samplers.pool import PooledFeatures, sum_cosine_and_sine_columns


@sampler(
    "greedy",
    kernels=ANY,
    about=(
        "the M features of a random pool that orthogonal matching pursuit selects, one at a time"
    ),
    forms=(CheckCase({"pool_size": 40}), CheckCase({"pool_size": 40, "center_target": True})),
)
class Greedy(PooledFeatures):
    r"""M features that orthogonal matching pursuit selects from a random pool, one at a time.

    Each step computes the residual R of the least-squares fit of the target on the features that
    are selected so far. The next feature is the candidate with the largest :math:`|z_m^\top R|`,
    where :math:`z_m` contains the values of candidate m on the training rows. The M features are
    the first features of every larger selection with the same seed. The cost is O(n M0^2 + M0 M^2)
    for n rows and M0 candidates.

    Parameters
    ----------
    n_components : int, default=100
        M, the number of frequencies. A frequency has one column, or two in the paired map.
    kernel : str, default='gaussian'
        Name of a kernel in `rfbench.registry.KERNELS`.
    bandwidth : float or {'median', 'knn50', 'knn50-sample'}, default='median'
        Bandwidth (length scale) of the kernel, or the rule that computes the bandwidth from the
        training set.
    feature_map : {'offset', 'paired'}, default='offset'
        Type of the features. In the paired map, a frequency is selected with its cos and its sin
        column. The squares of :math:`z_m^\top R` of both columns are then added. For several target
        columns, the squares are summed over the target columns. These rules are our choices.
    random_state : int, Generator, RandomState, SeedSequence or None, default=None
        Random seed or generator. None uses a new seed in every fit.
    score_rows : int or float, default=1.0
        Number or fraction of the training rows from which the scores are computed.
    pool_size : int, default=1000
        M0, the number of candidates.
    normalize : {False}, default=False
        If False, :math:`z_m^\top R` is not divided by :math:`|z_m|`. This is our choice.
    center_target : bool, default=False
        If True, the mean of the target is subtracted from the target. The default is our choice,
        because the paper does not state it.

    Attributes
    ----------
    chosen_ : array of shape (n_components,)
        Indices of the selected candidates in the pool, in the order of selection.

    Notes
    -----
    A column in the span of the selected columns (up to a relative squared distance of 1e-10) does
    not improve the fit, and its correlation with R is 0. It is selected only if there are no other
    candidates.

    References
    ----------
    Shahrampour and Tarokh, Learning Bounds for Greedy Approximation with Explicit Feature Maps
    from Multiple Kernels, NeurIPS 2018, with one kernel.

    Examples
    --------
    >>> import numpy as np
    >>> from rfbench.samplers import Greedy
    >>> X = np.random.default_rng(0).standard_normal((200, 3))
    >>> sampler = Greedy(10, pool_size=100, bandwidth=2.0, random_state=0)
    >>> sampler.fit(X, X[:, 0]).transform(X).shape
    (200, 10)
    """

    needs_target: ClassVar[bool] = True
    approximates_kernel: ClassVar[bool] = False

    normalize: bool = parameter(False, one_of(False))
    center_target: bool = parameter(False, BOOLEAN)

    def _draw(self, X: Rows, targets: Array | None, random: RandomStreams) -> FeatureMap:
        assert targets is not None
        pool = self.draw_pool(random, X.shape[1])
        rows, y = self.draw_scoring_rows(X, targets, random)
        if self.center_target:
            y = y - y.mean(axis=0)
        equations = pool.accumulate_equations(rows, y)
        most = self.n_components * pool.n_columns // pool.n_frequencies
        pursuit = Pursuit(equations.gram, equations.moment, most)
        self.chosen_ = np.empty(self.n_components, dtype=np.intp)
        free = np.ones(pool.n_frequencies, dtype=bool)
        # `rounding` is a bound of the rounding error of a correlation, which is a sum over n rows.
        # Two correlations count as equal if they differ by less than twice this bound.
        rounding = 4 * float(np.finfo(rows.dtype).eps * np.linalg.norm(y))
        rounding *= float(np.diag(equations.gram).max()) ** 0.5
        for step in range(self.n_components):
            energy = sum_cosine_and_sine_columns(pool, pursuit._compute_energies())
            sizes = np.where(free, np.sqrt(energy), -np.inf)
            taken = int(np.flatnonzero(sizes >= sizes.max() - 2 * rounding)[0])
            for column in pool.find_columns(np.array([taken])):
                pursuit.add_column(int(column))
            free[taken] = False
            self.chosen_[step] = taken
        return pool.select(self.chosen_).times(self.n_components**-0.5)


class Pursuit:
    r"""State of orthogonal matching pursuit, which selects columns of a matrix Z one at a time.

    The state contains the products :math:`Z^\top R`. R is the residual of the least-squares fit of
    the target Y on the selected columns. The products are updated whenever a column is added. With
    the selected columns q_1, q_2, ... after orthonormalization, :math:`Z^\top R = Z^\top Y - \sum_k
    w_k q_k^\top Y`, where :math:`w_k = Z^\top q_k`.

    Parameters
    ----------
    gram : array of shape (p, p)
        The Gram matrix Z'Z of the p columns.
    moment : array of shape (p, t)
        The products Z'Y for t target columns.
    most : int
        Maximum number of columns that are selected.
    """

    # A column counts as a linear combination of earlier columns if its squared distance from their
    # span, divided by its squared norm, is at most this value. The rounding error of this ratio is
    # about 1e-16 times the number of columns. The value was chosen without a measurement. Twice or
    # half the value would matter only for columns whose angle to the span is about 1e-5.
    SPANNED = 1e-10

    def __init__(self, gram: Array, moment: Array, most: int) -> None:
        self._gram = gram
        self._squares = np.diag(gram).copy()
        self._correlations = moment.copy()
        self._basis = np.empty((most, len(gram)))
        self._size = 0

    def _compute_energies(self) -> Array:
        """Return |z_m'R|^2 for every column z_m, shape (p,), with the current residual R."""
        return np.asarray((self._correlations**2).sum(axis=1))

    def add_column(self, column: int) -> None:
        """Add a column to the selected columns, and update the products Z'R with the residual R."""
        basis = self._basis[: self._size]
        projected = self._gram[column] - basis[:, column] @ basis
        square = projected[column]
        if square <= self.SPANNED * self._squares[column]:
            return
        projected /= np.sqrt(square)
        fitted = self._correlations[column] / np.sqrt(square)
        self._correlations -= np.outer(projected, fitted)
        self._basis[self._size] = projected
        self._size += 1
