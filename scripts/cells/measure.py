"""Measurement of the relative kernel errors of cells, one data set and kernel at a time.

The trials of `rfbench.experiment` are not used: they compute a spectral norm and a fit, and the
exact kernel matrix once per trial. Here all cells of a data set, kernel and split share the matrix,
which is most of the time for thousands of cells.
"""

from __future__ import annotations

import functools
import time
import zlib
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.preprocessing import normalize

from rfbench import kernels, samplers
from rfbench.arrays import Array, FloatArray
from rfbench.datasets import dataset
from rfbench.results.cells import Cell
from rfbench.samplers.sketches import ALLOCATION_ROWS, Way, allocate_features

# Names of the data sets in the catalog.
SOURCES = {"Boston": "housing", "Concrete": "concrete", "Energy": "energy", "Yacht": "yacht"}
SOURCES |= {"kin8nm": "kin8nm", "Powerplant": "powerplant", "EEG": "eeg", "Letter": "letter"}
SOURCES |= {"Magic": "magic04", "MNIST": "mnist"}
STANDARDIZED = "standardized"
# Protocol of the authors: the largest number of test rows, and the part of the rows for training.
TEST_ROWS, TRAINING_PART = 5000, 0.9
# Number of test rows for the slow cells of MNIST, which reduces their time to a half or a quarter.
# `compute_relative_error` gives the diagonal the weight that it has with TEST_ROWS rows.
FEWER_ROWS, MOST_FEATURES = 2500, 1024
# Number of training rows for the median distance. The authors use 5,000; the median of 2,000 rows
# has a relative standard error below 1 %.
MEDIAN_ROWS = 2000
# Number of training rows of MNIST for which the numbers of features per degree are optimized, as in
# the authors' protocol. The other data sets have few columns. For these, ALLOCATION_ROWS rows give
# the authors' numbers in most cells, measured by `python -m scripts.cells degrees`.
PROTOCOL_ROWS = 5000
# From this number of test rows on, float32 is used. Its rounding errors are below 1e-4 of the
# errors of the kernels.
FLOAT32_ROWS = 300
# Number of rows of a block of products, 5 MB in float32.
BLOCK_ROWS = 256


@functools.lru_cache(maxsize=1)
def _load(source: str) -> tuple[Array, int | None]:
    loaded = dataset.load(source)
    return np.asarray(loaded.X, np.float64), loaded.n_given_train


class Rows(NamedTuple):
    """Scaled rows of one trial.

    Numbers of features per degree are optimized for the rows `allocation`. If it is None, some of
    the training rows are used.
    """

    training: Array
    test: Array
    allocation: Array | None = None


def choose_seeds(cell: Cell, trials: int) -> list[int]:
    """Return the authors' seed that each trial stands for.

    The pool of rows grows with the authors' seed, so the trials are spread over their seeds.
    """
    return [int((trial + 0.5) * cell.n_seeds / trials) for trial in range(trials)]


def is_slow(cell: Cell) -> bool:
    """Return True for cells that are measured with fewer test rows."""
    return cell.dataset == "MNIST" and (cell.D > MOST_FEATURES or cell.expanded > 0)


def draw_rows(
    name: str, scaling: str, unit_length: bool, seed: int, n_test: int = TEST_ROWS
) -> Rows:
    """Return the scaled training and test rows of one of the authors' seeds.

    For data without a given test set, their pool contains the first test part once more for each
    earlier seed.
    """
    X, n_given_train = _load(SOURCES[name])
    generator = np.random.default_rng([zlib.crc32(name.encode()), seed])
    allocation = None
    if name == "MNIST":
        training, test = X[:n_given_train], X[n_given_train:]
        # Means and scales are those of all training rows; the other steps use some of them.
        scaled = _scale(training, test, scaling)
        chosen = generator.choice(len(training), ALLOCATION_ROWS + MEDIAN_ROWS, replace=False)
        others = np.random.default_rng([zlib.crc32(name.encode()), seed, 2])
        allocation = scaled[0][others.choice(len(training), PROTOCOL_ROWS, replace=False)]
        training, test = scaled[0][chosen], scaled[1]
    else:
        first = np.random.default_rng(zlib.crc32(name.encode())).permutation(len(X))
        first = first[round(TRAINING_PART * len(X)) :]
        pool = np.concatenate([np.arange(len(X)), *[first] * seed])
        pool = generator.permutation(pool)
        training, test = np.split(X[pool], [round(TRAINING_PART * len(pool))])
        training, test = _scale(training, test, scaling)
    if len(test) > n_test:
        test = test[generator.choice(len(test), n_test, replace=False)]
    if unit_length:
        training, test = normalize(training), normalize(test)
        allocation = None if allocation is None else normalize(allocation)
    return Rows(training, test, allocation)


def _scale(training: Array, test: Array, scaling: str) -> tuple[Array, Array]:
    if scaling == "none":
        return training, test
    if scaling == "minimum":
        least = training.min(axis=0)
        return training - least, test - least
    mean, sd = training.mean(axis=0), training.std(axis=0, ddof=1)
    sd[sd == 0] = 1.0
    return (training - mean) / sd, (test - mean) / sd


def compute_median_distance(rows: Array, generator: np.random.Generator) -> float:
    """Return the lower median of all entries of the distance matrix, with its diagonal."""
    some = rows[generator.choice(len(rows), min(MEDIAN_ROWS, len(rows)), replace=False)]
    squares = kernels.compute_squared_distances(some, some).ravel()
    middle = (len(squares) - 1) // 2
    return float(np.sqrt(np.partition(squares, middle)[middle]))


def compute_relative_error(
    Z: FloatArray, K: FloatArray, modulus: bool = False, n_rows: int | None = None
) -> float:
    """Return |ZZ^H - K| / |K| in the Frobenius norm.

    Parameters
    ----------
    Z : array of shape (n, D)
        Real features. Complex ones are their real parts, followed by their imaginary parts.
    K : array of shape (n, n)
        Exact kernel matrix.
    modulus : bool
        The imaginary part of ZZ^H counts as an error.
    n_rows : int, optional
        Number of all rows. The n rows are a random part of them, and the error of all rows is
        estimated.
        The squares of the diagonal count n_rows / n times, and the squares of the pairs of
        different rows n_rows (n_rows - 1) / (n (n - 1)) times.

    Returns
    -------
    float
        The relative error.
    """
    n, half = len(Z), Z.shape[1] // 2
    # Weight of a pair of different rows, if an element of the diagonal has the weight 1.
    pairs = 1.0 if n_rows is None else (n_rows - 1) / (n - 1)
    turned = np.concatenate([-Z[:, half:], Z[:, :half]], axis=1) if modulus else Z[:, :0]
    error = total = 0.0
    for start in range(0, n, BLOCK_ROWS):
        part, rest = slice(start, start + BLOCK_ROWS), slice(start, None)
        own = len(Z[part])
        difference = Z[part] @ Z[rest].T
        difference -= K[part, rest]
        error += _sum_squares(difference, own, pairs)
        total += _sum_squares(K[part, rest], own, pairs)
        if modulus:
            error += _sum_squares(turned[part] @ Z[rest].T, own, pairs)
    return float(np.sqrt(error / total))


def _sum_squares(block: FloatArray, own: int, pairs: float) -> float:
    """Return the sum of squares; pairs of rows of different blocks count twice."""
    every = 2.0 * float(np.vdot(block, block)) - float(np.vdot(block[:, :own], block[:, :own]))
    diagonal = block.diagonal()
    alone = float(np.vdot(diagonal, diagonal))
    return alone + pairs * (every - alone)


def make_sampler(cell: Cell, kernel: kernels.Kernel, counts: Any, seed: Any) -> Any:
    """Return the unfitted sampler of a cell; `counts` has the features per degree, if needed."""
    columns = 2 * cell.D if cell.features == "complex" else cell.D
    words: dict[str, Any] = {"kernel": kernel.name, "bandwidth": kernel.bandwidth}
    words["random_state"] = np.random.default_rng(seed)
    if cell.method == "rff":
        name = {"gaussian": "rks", "srht": "sorf"}[cell.projection]
        return samplers.make(name, n_components=columns // 2, feature_map="paired", **words)
    words |= {"projection": cell.projection, "is_complex": cell.features != "real"}
    words["n_components"] = columns
    if cell.method == "poly_sketch":
        words |= {"full_cov": bool(cell.full_cov), "tree": bool(cell.tree)}
        name = "power-sketch" if cell.kernel == "gaussian" else "polynomial-sketch"
        return samplers.make(name, expanded=cell.expanded or None, **words)
    return samplers.make("maclaurin", degrees=counts or "random", **words)


def make_kernel(cell: Cell, training: Array, generator: np.random.Generator) -> kernels.Kernel:
    """Return the kernel of a cell.

    The polynomial kernel (x'y / s^2 + b)^p of rows of length 1 has s^2 = 1 / (1 - b).
    """
    if cell.kernel == "gaussian":
        return kernels.make("gaussian", compute_median_distance(training, generator))
    name = f"polynomial[degree={cell.degree}, bias={cell.bias:g}]"
    return kernels.make(name, (1.0 - cell.bias) ** -0.5)


def prepare(
    cells: Sequence[Cell], trial: int, trials: int, n_test: int
) -> tuple[Rows, kernels.Kernel, dict[str, list[int]]]:
    """Return the rows, the kernel, and the numbers of features per degree of a trial.

    The numbers are a list for the identifier of each cell with optimized Maclaurin features.
    """
    one, seed = cells[0], choose_seeds(cells[0], trials)[trial]
    rows = draw_rows(one.dataset, one.scaling, one.kernel != "gaussian", seed, n_test)
    generator = np.random.default_rng([zlib.crc32(one.dataset.encode()), seed, 1])
    kernel = make_kernel(one, rows.training, generator)
    return rows, kernel, _allocate_all(cells, kernel, rows, generator)


def measure(cells: Sequence[Cell], trial: int, trials: int) -> Iterator[tuple[Cell, float, float]]:
    """Yield the relative error and the CPU time of each cell, for one trial.

    All cells have the same data set, scaling, kernel and number of the authors' seeds.
    """
    one = cells[0]
    slow = is_slow(one)
    assert all(is_slow(cell) == slow for cell in cells), "slow cells are measured apart"
    rows, kernel, counts = prepare(cells, trial, trials, FEWER_ROWS if slow else TEST_ROWS)
    dtype: Any = np.float32 if len(rows.test) >= FLOAT32_ROWS else np.float64
    K = kernel(rows.test, rows.test).astype(dtype)
    test = np.ascontiguousarray(rows.test, dtype)
    for cell in cells:
        start = time.process_time()
        sampler = make_sampler(cell, kernel, counts.get(cell.id), [int(cell.id, 16), trial])
        Z = sampler.fit(test[:2]).transform(test)
        n_rows = TEST_ROWS if slow else None
        error = compute_relative_error(Z, K, cell.norm == "modulus", n_rows)
        yield cell, error, time.process_time() - start


def _allocate_all(
    cells: Sequence[Cell], kernel: Any, rows: Rows, generator: np.random.Generator
) -> dict[str, list[int]]:
    """Return the numbers of features per degree of the optimized Maclaurin cells, by cell."""
    found: dict[str, list[int]] = {}
    groups: dict[tuple[Way, int], list[Cell]] = {}
    for cell in cells:
        if cell.method == "maclaurin":
            way = Way(cell.projection, cell.features == "complex")
            groups.setdefault((way, cell.least_degree), []).append(cell)
    sample = rows.training if rows.allocation is None else rows.allocation
    if groups and rows.allocation is None:
        count = min(ALLOCATION_ROWS, len(sample))
        sample = sample[generator.choice(len(sample), count, replace=False)]
    for (way, least), members in groups.items():
        given = allocate_features(sample, kernel, [cell.D - 1 for cell in members], way, least)
        found |= {cell.id: given[cell.D - 1] for cell in members}
    return found
