"""Base classes of samplers that select features from a random pool of candidates."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rfbench.arrays import Array, FloatArray, Rows
from rfbench.compute.products import matmul
from rfbench.errors import MethodError
from rfbench.parameters import Rule, estimator, one_of, parameter, whole
from rfbench.samplers.base import RandomFeatures, RandomStreams
from rfbench.samplers.declaration import ANY, CheckCase, sampler
from rfbench.samplers.feature_map import PAIRED, FeatureMap, FittedMap

# Number of rows and number of frequencies in a block of 1 MiB. Measured CPU time (`python -m
# scripts.bench.doubled`), as a multiple of the time with these values: 1.06 with half of
# BLOCK_ROWS, 0.99 with twice BLOCK_ROWS, 1.01 with half of BLOCK_FREQUENCIES, and 1.04 with twice
# BLOCK_FREQUENCIES.
BLOCK_ROWS = 512
BLOCK_FREQUENCIES = 256
CENTERING = one_of("auto", True, False)


def compute_target_moments(
    unit: FeatureMap,
    X: Rows,
    targets: Array,
    formed: FloatArray | None = None,
    squares: Array | None = None,
) -> Array:
    """Return the product Z'Y of the features Z and the targets Y of the rows X.

    Z, shape (n, n_columns), contains the features that the feature map `unit` computes for the n
    rows. Y contains k target columns, so that the result has the shape (n_columns, k). If `formed`
    is given, Z is written into it. If `squares` is given, the squared norms of the columns of Z are
    added to it.
    """
    total = np.zeros((unit.n_columns, targets.shape[1]))
    coded = targets.astype(X.dtype)
    pieces = [piece.astype(X.dtype) for piece in unit.split(BLOCK_FREQUENCIES)]
    buffers: dict[tuple[int, int], FloatArray] = {}
    for start in range(0, X.shape[0], BLOCK_ROWS):
        picked = slice(start, min(start + BLOCK_ROWS, X.shape[0]))
        rows, first = X[picked], 0
        for piece in pieces:
            shape = (rows.shape[0], piece.n_columns)
            features = buffers.setdefault(shape, np.empty(shape, dtype=X.dtype))
            piece.transform_into(rows, features)
            count = piece.n_frequencies
            columns = unit.find_columns(np.arange(first, first + count))
            first += count
            total[columns] += matmul(features.T, coded[picked])
            if squares is not None:
                squares[columns] += np.einsum("ij,ij->j", features, features)
            if formed is not None:
                # Columns are copied as slices, because numpy copies a slice faster than an indexed
                # selection of columns.
                for at in range(0, len(columns), count):
                    own = slice(columns[at], columns[at] + count)
                    formed[picked, own] = features[:, at : at + count]
    return total


def sum_cosine_and_sine_columns(unit: FeatureMap, columns: Array) -> Array:
    """Return one value per frequency, the sum of the values of its cosine and its sine column.

    `columns` contains a value for each column of the feature map `unit`. If each frequency has only
    one column, the values are returned unchanged.
    """
    if unit.layout == PAIRED:
        return columns[: unit.n_frequencies] + columns[unit.n_frequencies :]
    return columns


def is_target_centered(choice: bool | str, targets: Array) -> bool:
    """Return True if the mean of the target should be subtracted.

    `choice` is True, False, or 'auto' for True if there are several target columns.
    """
    return targets.shape[1] > 1 if choice == "auto" else bool(choice)


def argsort_descending(scores: Array, error: float) -> NDArray[np.intp]:
    """Return the indices that sort the scores in decreasing order.

    Scores that differ only by rounding errors count as equal, and are ordered by their indices.

    Parameters
    ----------
    scores : array of shape (m,)
    error : float
        Rounding error of a score. The sorted scores are first split into groups at every gap that
        is larger than this error. A group is then split into intervals of the length of this error,
        starting at its largest score. Scores in the same interval count as equal.

    Returns
    -------
    array of shape (m,)
    """
    order = np.argsort(-scores, kind="stable")
    ranked = scores[order]
    wide = ranked[:-1] - ranked[1:] > error
    group = np.concatenate([[0], np.cumsum(wide)])
    below = ranked[np.searchsorted(group, group)] - ranked
    tied = np.floor(below / max(error, np.finfo(float).tiny))
    return order[np.lexsort((order, tied, group))]


def iterate_ridge_fits(
    features: FittedMap, training: tuple[Rows, Array], held: tuple[Rows, Array], alphas: Array
) -> Iterator[tuple[float, Array]]:
    """Fit ridge regression for each penalty, and yield the held-out loss and the coefficients.

    The regressions are fitted on the rows and targets in `training`. The loss is the mean squared
    error on the rows and targets in `held`, summed over the target columns. `alphas` are the
    penalties per row, and the intercept is not penalized. Penalties whose coefficients are too
    large for the floating-point precision are skipped.
    """
    from rfbench.compute.gram import accumulate_normal_equations
    from rfbench.compute.ridge import compute_residual_sum_of_squares, solve_ridge

    unit = features.astype(training[0].dtype)
    fitted, judged = (
        accumulate_normal_equations(unit.transform_into, rows, y, unit.n_columns, dtype=rows.dtype)
        for rows, y in (training, held)
    )
    path = solve_ridge(fitted, len(training[1]) * alphas, intercept=True)
    losses = compute_residual_sum_of_squares(judged, path.coef, path.intercept).sum(axis=1)
    for loss, coef in zip(losses / len(held[1]), path.coef, strict=True):
        if np.isfinite(loss):
            yield float(loss), coef


def _is_share(value: Any) -> bool:
    return isinstance(value, float) and 0 < value <= 1


# Allowed values of the number of rows from which scores are computed: by definition a fraction of
# the training rows in (0, 1], or a whole number of rows.
SCORE_ROWS = Rule("a fraction of the training rows in (0, 1]", _is_share) | whole(1)


@dataclass(frozen=True, eq=False)
class PoolScores:
    """Pool of candidate features, with sums from which the scores of the candidates are computed.

    The sums are over the rows of the training set that are used for the scores. Z is the matrix of
    the candidate features of these rows, and Y contains the k target columns.

    Attributes
    ----------
    pool : FeatureMap
        The candidate features.
    moments : array of shape (n_columns, k)
        The products Z'Y.
    sums : array of shape (n_columns,)
        The sums of the columns of Z.
    target_means : array of shape (k,)
        The means of the target columns.
    n : int
        Number of rows that are used for the scores.
    rounding : array of shape (k,)
        Approximate rounding error of the moments of each target column.
    """

    pool: FeatureMap
    moments: Array
    sums: Array
    target_means: Array
    n: int
    rounding: Array

    @classmethod
    def from_rows(cls, pool: FeatureMap, rows: Rows, y: Array) -> PoolScores:
        """Compute the sums of the features of a pool over the given rows.

        `y` contains the k target columns of the n rows, shape (n, k).
        """
        sums = compute_target_moments(pool, rows, np.column_stack([y, np.ones(len(y))]))
        means = y.mean(axis=0)
        # Products of one block are added in the dtype of the rows. The rounding error of such a sum
        # grows with the square root of the number of rows in the block. The sums of different
        # blocks are added in float64, and the rounding error of this addition is negligible.
        walk = 4 * float(np.finfo(rows.dtype).eps) * np.sqrt(min(len(y), BLOCK_ROWS))
        errors = walk * np.abs(sums).max(axis=0)
        rounding = errors[:-1] + errors[-1] * np.abs(means)
        return cls(pool, sums[:, :-1], sums[:, -1], means, len(y), rounding)

    def compute_target_moments(self, *, centered: bool) -> Array:
        """Return the products Z'Y of the candidate features Z and the target Y.

        If `centered` is True, the mean of the target is first subtracted from Y.
        """
        if not centered:
            return self.moments
        return self.moments - np.outer(self.sums, self.target_means)

    def subtract(self, part: PoolScores) -> PoolScores:
        """Return the sums over the rows of this object that are not rows of `part`.

        `part` contains the sums over a part of the rows.
        """
        n = self.n - part.n
        means = (self.n * self.target_means - part.n * part.target_means) / n
        moments, sums = self.moments - part.moments, self.sums - part.sums
        return PoolScores(self.pool, moments, sums, means, n, self.rounding)


@estimator
class ScoredFeatures(RandomFeatures):
    """Base class of the samplers that compute scores of features from the training rows.

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
        'offset': the columns are sqrt(2/M) cos(w'x + b) for frequencies w and random offsets b.
        'paired': the columns are the pairs sqrt(1/M) [cos w'x, sin w'x]. Ignored for arc-cosine and
        linear kernels.
    random_state : int, Generator, RandomState, SeedSequence or None, default=None
        Random seed or generator. None uses a new seed in every fit.
    score_rows : int or float, default=1.0
        Number or fraction of the training rows from which the scores are computed.
    """

    score_rows: int | float = parameter(1.0, SCORE_ROWS)

    def count_scoring_rows(self, n: int) -> int:
        """Return the number of training rows from which the scores are computed.

        The parameter `score_rows` sets this number, or a fraction of the `n` training rows.
        """
        asked: Any = self.score_rows
        return min(n, int(asked) if not isinstance(asked, float) else max(1, round(asked * n)))

    def draw_scoring_rows(
        self, X: Rows, targets: Array, random: RandomStreams
    ) -> tuple[Rows, Array]:
        """Draw the training rows from which scores are computed. Return the rows and targets."""
        n = X.shape[0]
        count = self.count_scoring_rows(n)
        if count == n:
            return X, targets
        chosen = np.sort(random.rows.choice(n, size=count, replace=False))
        rows = X[chosen]
        return (rows if sparse.issparse(rows) else np.ascontiguousarray(rows)), targets[chosen]


@estimator
class PooledFeatures(ScoredFeatures):
    """Base class of the samplers that select features from a random pool of candidates.

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
        'offset': the columns are sqrt(2/M) cos(w'x + b) for frequencies w and random offsets b.
        'paired': the columns are the pairs sqrt(1/M) [cos w'x, sin w'x]. Ignored for arc-cosine and
        linear kernels.
    random_state : int, Generator, RandomState, SeedSequence or None, default=None
        Random seed or generator. None uses a new seed in every fit.
    score_rows : int or float, default=1.0
        Number or fraction of the training rows from which the scores are computed.
    pool_size : int, default=1000
        Number of candidate frequencies.
    """

    pool_size: int = parameter(1000, whole(1))

    @property
    def has_selection(self) -> bool:
        """True if M different frequencies are selected from the pool, which needs at least M."""
        return True

    def check_parameters(self) -> None:
        """Raise MethodError if a parameter is not valid, or if the pool has too few candidates."""
        super().check_parameters()
        self._check_pool_holds_components(self.pool_size)

    def _check_pool_holds_components(self, size: int) -> None:
        if self.has_selection and self.n_components > size:
            raise MethodError(
                f"M = {self.n_components} features cannot be selected from a pool of {size}.",
                f"{type(self).__name__} keeps M of the candidates, and a linear kernel "
                "does not have more candidates than coordinates.",
                "Decrease M, or increase pool_size.",
            )

    def draw_pool(self, random: RandomStreams, d: int) -> FeatureMap:
        """Draw the pool of candidates: independent random features for rows with d columns.

        The linear kernel has only d different features, the coordinates of a row. If the parameter
        `pool_size` is at least d, the pool contains each coordinate once.
        """
        if self.kernel_.feature == "coordinate" and self.pool_size >= d:
            self._check_pool_holds_components(d)
            return self.unit_map(np.arange(d)[:, None], random)
        return self.draw_unit_map(random, d, self.pool_size)


@sampler(
    "uniform-pool",
    kernels=ANY,
    about="M features drawn uniformly from a random pool: the control for methods with a pool",
    contract={"kernel_sizes": (4, 40)},
    forms=(CheckCase({"pool_size": 40}),),
)
class UniformPool(PooledFeatures):
    r"""M features drawn uniformly from a random pool of candidates, without scores.

    The sampler is a control for `EERF` and `LKRF`, which select features by their scores. With the
    same seed, the three samplers draw the same pool and differ only in the selection. The features
    have the same distribution as random kitchen sinks. Only for the linear kernel they differ,
    because its coordinates are drawn without replacement.

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
        'offset': the columns are sqrt(2/M) cos(w'x + b) for frequencies w and random offsets b.
        'paired': the columns are the pairs sqrt(1/M) [cos w'x, sin w'x]. Ignored for arc-cosine and
        linear kernels.
    random_state : int, Generator, RandomState, SeedSequence or None, default=None
        Random seed or generator. None uses a new seed in every fit.
    score_rows : int or float, default=1.0
        Ignored. The parameter exists so that the sampler accepts the same parameters as samplers
        with scores.
    pool_size : int, default=1000
        Number of candidate frequencies.

    Examples
    --------
    >>> import numpy as np
    >>> from rfbench.samplers import UniformPool
    >>> X = np.random.default_rng(0).standard_normal((20, 3))
    >>> UniformPool(10, pool_size=100, random_state=0).fit(X).transform(X).shape
    (20, 10)
    """

    def _draw(self, X: Rows, targets: Array | None, random: RandomStreams) -> FeatureMap:
        pool = self.draw_pool(random, X.shape[1])
        chosen = random.selection.permutation(pool.n_frequencies)[: self.n_components]
        return pool.select(chosen).times(self.n_components**-0.5)
