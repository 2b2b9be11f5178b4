"""Rules that compute the bandwidth of a kernel from the training rows."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from rfbench.arrays import Array, Rows
from rfbench.errors import MethodError, suggest_nearest_name
from rfbench.kernels import Kernel, compute_squared_distances, shift_by_mean
from rfbench.parameters import Rule, number, one_of
from rfbench.registry import KERNELS

RULES = ("median", "knn50", "knn50-sample")
# Smallest and largest allowed bandwidth. Kernels divide by the square of the bandwidth. Between
# these limits, the square is finite and above 0, by definition of float64. With the exponent
# doubled, the square of 1e-300 would be 0.
SMALLEST, LARGEST = 1e-150, 1e150
_MULTIPLE = re.compile(rf"(?:([0-9]*\.?[0-9]+(?:e[+-]?[0-9]+)?) *\* *)?({'|'.join(RULES)})")


def _parts(rule: Any) -> tuple[float, str] | None:
    """Return the factor and the name of a bandwidth rule: ``0.5*median`` gives ``(0.5, 'median')``.

    The result is None if `rule` is not a valid rule.
    """
    match = _MULTIPLE.fullmatch(rule) if isinstance(rule, str) else None
    factor = float(match[1] or 1) if match else 0.0
    return (factor, match[2]) if match and SMALLEST <= factor <= LARGEST else None


ALLOWED = (
    number(least=SMALLEST, most=LARGEST)
    | one_of(*RULES)
    | Rule("a multiple of a rule (0.5*median)", lambda rule: _parts(rule) is not None)
)
# Candidates of the setting `bandwidth: cv`: the median distance times powers of two.
BANDWIDTH_GRID = ("0.25*median", "0.5*median", "median", "2*median", "4*median")
# WIDEST has the ends of a widened grid of bandwidths, as multiples of the bandwidth of the rule.
# The widened grid has one more step at the lower end and three more steps at the upper end, because
# large bandwidths make features nearly linear. ROUNDING is 1 plus a tolerance for comparing two
# bandwidths. The values were chosen without a measurement. With an end doubled or halved, a search
# may have one more step.
WIDEST, ROUNDING = (1 / 8, 32.0), 1 + 1e-9
# NEIGHBOR is the k of the rule `knn50`, the distance to the k-th nearest neighbor, from Yu et al.
# 2016 and Shahrampour et al. 2018 (section 5). SAMPLE is the number of rows from which a bandwidth
# is computed. With 1,000 rows, the median distance has a relative standard error of about 1 %. With
# twice SAMPLE, the rule needs four times the time.
NEIGHBOR, SAMPLE = 50, 1000


def compute_bandwidth_by_rule(rule: float | str, X: Rows, generator: np.random.Generator) -> float:
    """Return the kernel bandwidth that a rule gives for the rows X.

    Parameters
    ----------
    rule : float or {'median', 'knn50', 'knn50-sample'}, or a multiple: '0.5*median'
        A number is returned unchanged. ``median`` is the median distance between distinct rows of a
        random sample. ``knn50`` is the mean distance from a row of a random sample to its 50th
        nearest neighbor among all rows (as in EERF, after Yu et al. 2016). ``knn50-sample``
        searches the neighbor only in the sample, where it is farther away.
    X : array or sparse matrix of shape (n, d)
        Training rows.
    generator : numpy.random.Generator
        Generator that draws the sample.

    Returns
    -------
    float
        The bandwidth.

    Raises
    ------
    MethodError
        If the rule is unknown, the number is not positive, or all sampled rows coincide.
    """
    if parts := _parts(rule):
        value = parts[0] * _from_rows(parts[1], X, generator)
    elif isinstance(rule, str):
        raise MethodError(
            f"Unknown bandwidth rule '{rule}'.{suggest_nearest_name(rule, list(RULES))}",
            f"A bandwidth is a positive number or one of the rules {', '.join(RULES)}.",
        )
    else:
        value = float(rule)
    if not SMALLEST <= value <= LARGEST:
        raise MethodError(
            f"The bandwidth rule '{rule}' gave {value:g}.",
            f"A bandwidth has to be from {SMALLEST:g} to {LARGEST:g}. A rule gives "
            "0 if most rows are equal.",
            "Set the bandwidth to a number.",
        )
    return value


def make_kernel(X: Rows, name: str, rule: float | str, generator: np.random.Generator) -> Kernel:
    """Return the kernel `name`, with the bandwidth that a rule gives for the rows X."""
    cls: type[Kernel] = KERNELS.find(name)
    return cls(compute_bandwidth_by_rule(rule, X, generator)) if cls.has_bandwidth else cls()


@dataclass(frozen=True)
class Candidates:
    """A grid of candidate bandwidths, from which a single bandwidth is selected."""

    values: tuple[float, ...]  # bandwidths in decreasing order
    rule: float  # value of the bandwidth rule; for a grid of numbers, their geometric mean

    def widen(self, best: float) -> float | None:
        """Return one more bandwidth to try if the best one is at an edge of the grid, else None.

        The new bandwidth is twice or half the bandwidth `best`. The result is also None if the new
        bandwidth is outside the limits `WIDEST`.
        """
        lowest, highest = (factor * self.rule for factor in WIDEST)
        if best == max(self.values) and 2 * best <= highest * ROUNDING:
            return 2 * best
        if best == min(self.values) and best / 2 >= lowest / ROUNDING:
            return best / 2
        return None

    def with_bandwidth(self, value: float) -> Candidates:
        """Return a grid with the additional bandwidth `value`."""
        return Candidates(tuple(sorted({*self.values, value}, reverse=True)), self.rule)


def list_candidate_bandwidths(
    rules: Iterable[float | str], X: Rows, generator: np.random.Generator
) -> Candidates:
    """Return a grid of the bandwidths that several rules give for the rows X.

    All bandwidths are computed from the same random sample of the rows.
    """
    bases: dict[float | str, float] = {}
    values, middle = set(), None
    for rule in rules:
        factor, base = _parts(rule) or (1.0, rule)
        if base not in bases:
            bases[base] = compute_bandwidth_by_rule(base, X, copy.deepcopy(generator))
        if isinstance(base, str) and middle is None:
            middle = bases[base]
        values.add(factor * bases[base])
    if middle is None:
        middle = float(np.exp(np.mean(np.log(list(values)))))
    return Candidates(tuple(sorted(values, reverse=True)), middle)


def choose_bandwidth_nearest_to_rule(losses: Mapping[float, Array], rule: float) -> float:
    """Return the bandwidth nearest to `rule` among the bandwidths with nearly the smallest loss.

    Parameters
    ----------
    losses : mapping of float to array of shape (K,)
        Losses on the K folds for each bandwidth. The folds are the same for all bandwidths.
    rule : float
        Preferred bandwidth. The distance to it is measured by the ratio of the two bandwidths. If
        two bandwidths are equally near, the larger is returned.

    Returns
    -------
    float
        The bandwidth.

    Notes
    -----
    A loss is nearly the smallest if it exceeds the smallest loss by at most one standard error of
    the difference over the K folds. With a single fold, there is no standard error, and the losses
    have to be equal. The standard error of the loss itself would be several times as large, because
    all bandwidths have large errors on the same difficult rows.
    """
    means = {value: float(np.mean(loss)) for value, loss in losses.items()}
    best = min(means, key=lambda value: (means[value], -value))

    def is_tied_with_best(value: float) -> bool:
        difference = losses[value] - losses[best]
        error = (
            float(np.std(difference, ddof=1) / np.sqrt(len(difference)))
            if len(difference) > 1
            else 0.0
        )
        return means[value] - means[best] <= max(error, 1e-12 * abs(means[best]))

    return min(
        filter(is_tied_with_best, means), key=lambda value: (abs(np.log(value / rule)), -value)
    )


def _from_rows(rule: str, X: Rows, generator: np.random.Generator) -> float:
    n = X.shape[0]
    sample = np.sort(generator.choice(n, size=min(SAMPLE, n), replace=False))
    rows = X[sample]
    if len(sample) < 2:
        return 1.0
    if rule == "median":
        distances = compute_squared_distances(*shift_by_mean(rows, rows))
        return float(np.sqrt(np.median(distances[np.triu_indices(len(sample), k=1)])))
    if rule == "knn50":
        return _mean_distance(*shift_by_mean(rows, X), sample)
    return _mean_distance(*shift_by_mean(rows, rows), np.arange(len(sample)))


def _mean_distance(queries: Rows, rows: Rows, own: np.ndarray) -> float:
    """Return the mean distance from each row in `queries` to its 50th nearest neighbor in `rows`.

    `own` contains the position of each query in `rows`. A row is not its own neighbor.
    """
    neighbor = min(NEIGHBOR, rows.shape[0] - 1)
    kth = np.empty(len(own))
    for start in range(0, len(own), 100):
        block = compute_squared_distances(queries[start : start + 100], rows)
        block[np.arange(len(block)), own[start : start + 100]] = -1.0
        kth[start : start + 100] = np.partition(block, neighbor, axis=1)[:, neighbor]
    return float(np.mean(np.sqrt(np.maximum(kth, 0.0))))
