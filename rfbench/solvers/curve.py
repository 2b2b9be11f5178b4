"""Every M of a curve for the price of the largest.

The first M features of a sampler with the prefix property are those of a sampler with that M, up
to a common factor. So one pass over the rows, at the largest M, gives the normal equations of all
of them, and the features themselves, where they fit into memory, are formed once.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rfbench.arrays import Array, FloatArray, Rows
from rfbench.clock import Clock
from rfbench.compute.gram import NormalEquations
from rfbench.compute.partitions import Partitions
from rfbench.memory import may_hold
from rfbench.rows import some
from rfbench.samplers.feature_map import FeatureMap
from rfbench.solvers.design import Design
from rfbench.solvers.folds import Fold, Index, Refit

GATHERED_ROWS = 4096


@dataclass
class Curve:
    """The work that the sizes of one fitted sampler share.

    Attributes
    ----------
    sampler : fitted sampler with the prefix property
        At the largest M.
    clock : Clock
        What the shared work took; every size is charged it in full.
    train : array or CSR matrix of shape (n, d)
        The training rows: their features are booked to t_features, those of others to t_test.
    """

    sampler: Any
    clock: Clock
    train: Rows
    # What the sizes share in a fold that chooses, by its rows, where its features are its own.
    _folds: dict[bytes, Fold] = field(default_factory=dict)
    _matrices: list[tuple[Rows, FloatArray]] = field(default_factory=list)
    _equations: dict[tuple[Any, ...], tuple[Rows, FeatureMap, list[NormalEquations]]] = field(
        default_factory=dict
    )

    @property
    def full(self) -> FeatureMap:
        """The map of all features."""
        feature_map = self.sampler.feature_map_
        assert isinstance(feature_map, FeatureMap)
        return feature_map

    def prefix(self, M: int) -> Prefix:
        """Return the first M features."""
        return Prefix(self, M)

    def refit(self, M: int, refit: Refit) -> Refit:
        """Return what gives the first M features of a fold, whose largest size is fitted once."""

        def prefix(rest: Index, held: Index, clock: Clock) -> Fold:
            key = rest.tobytes()
            if key not in self._folds:
                spent = Clock()
                fold = refit(rest, held, spent)
                self._folds[key] = replace(fold, features=Curve(fold.features, spent, fold.rest))
            fold = self._folds[key]
            return replace(fold, features=fold.features.prefix(M))

        return prefix

    @property
    def folds_clock(self) -> Clock:
        """What the work took that the sizes share in folds."""
        total = Clock()
        for fold in self._folds.values():
            total.charge(fold.features.clock)
        return total

    def matrix(self, X: Rows) -> FloatArray | None:
        """Return all features of the rows, formed once, or None if they are too large."""
        for rows, features in self._matrices:
            if rows is X:
                return features
        if not may_hold(X.shape[0] * self.full.n_columns * X.dtype.itemsize):
            return None
        with self.clock.part("features" if X is self.train else "test"):
            features = Design(X, self.sampler).matrix()
        self._matrices.append((X, features))
        return features

    def equations(
        self,
        M: int,
        X: Rows,
        targets: Array,
        groups: NDArray[np.intp],
        matrices: int,
        centre: bool,
        partitions: Partitions | None,
    ) -> list[NormalEquations]:
        """Return the normal equations of the first M features, one a group.

        Those of the largest M that asks are accumulated, once; a solver that solves the system of
        the rows never asks for as many features as rows. They stay beside the `matrices` of the
        fit.
        """
        key = (targets.tobytes(), groups.tobytes(), centre)
        rows, part, shared = self._equations.get(key, (None, self.full.take(np.arange(0)), []))
        if rows is not X or part.n_frequencies < M:
            held = matrices + int(groups.max(initial=0)) + 1
            part = self.full if self.full.n_frequencies == M else self.full.take(np.arange(M))
            design = Design(X, SimpleNamespace(feature_map_=part))
            design.partitions = partitions
            shared = design.equations(targets, groups, self.clock, held, centre)
            self._equations[key] = (X, part, shared)
        factor = float(np.sqrt(self.full.n_frequencies / M))
        return [own.subset(part.columns_of(np.arange(M)), factor) for own in shared]


class Prefix:
    """The first M features of a curve; stands where a fitted sampler stands.

    Parameters
    ----------
    curve : Curve
    M : int
    """

    def __init__(self, curve: Curve, M: int) -> None:
        self.curve, self.M = curve, M
        full = curve.full
        self.factor = float(np.sqrt(full.n_frequencies / M))
        first = np.arange(M)
        self.columns = full.columns_of(first)
        self.feature_map_ = full.take(first).times(self.factor)
        self.kernel_ = curve.sampler.kernel_
        self.approximates_kernel = curve.sampler.approximates_kernel
        self.needs_target = curve.sampler.needs_target

    def transform(self, X: Rows) -> FloatArray:
        """Return the features of the rows, shape (n, n_columns)."""
        return self.feature_map_.transform(X)

    def design(self, X: Rows) -> Design:
        """Return the rows as a solver sees them."""
        return PrefixDesign(X, self)


class PrefixDesign(Design):
    """A design whose equations and features come from the shared work of its curve.

    Parameters
    ----------
    X : array or CSR matrix of shape (n, d)
    features : Prefix
    source : array or CSR matrix, optional
        The rows of the curve that `chosen` picks X from.
    chosen : array of int, optional
    """

    def __init__(
        self, X: Rows, features: Prefix, source: Rows = None, chosen: NDArray[np.intp] | None = None
    ) -> None:
        super().__init__(X, features)
        self._prefix, self._source, self._chosen = features, source, chosen

    def equations(
        self, targets: Array, groups: NDArray[np.intp], clock: Clock, matrices: int, centre: bool
    ) -> list[NormalEquations]:
        """Return the normal equations of the first M features, one per group."""
        curve, M = self._prefix.curve, self._prefix.M
        with clock.part("train"):
            return curve.equations(M, self.X, targets, groups, matrices, centre, self.partitions)

    def take(self, chosen: NDArray[np.intp]) -> Design:
        """Return the design of some of the rows."""
        return PrefixDesign(some(self.X, chosen), self._prefix, self.X, chosen)

    def matrix(self) -> FloatArray:
        """Return the first M features of all rows."""
        matrix = self._all_features()
        if matrix is None:
            return super().matrix()
        rows = matrix if self._chosen is None else matrix[self._chosen]
        return np.ascontiguousarray(rows[:, self._prefix.columns]) * self._prefix.factor

    def multiply(self, coefficients: FloatArray) -> Array:
        """Return Z @ coefficients."""
        matrix = self._all_features()
        if matrix is None:
            return super().multiply(coefficients)
        M, full = self._prefix.M, self._prefix.curve.full
        scaled = np.ascontiguousarray((coefficients * self._prefix.factor).T, dtype=matrix.dtype)
        result = np.empty((self.n, coefficients.shape[1]))
        for start in range(0, self.n, GATHERED_ROWS):
            stop = min(start + GATHERED_ROWS, self.n)
            picked = slice(start, stop) if self._chosen is None else self._chosen[start:stop]
            block = scaled[:, :M] @ matrix[picked, :M].T
            if full.n_columns > full.n_frequencies:
                half = full.n_frequencies
                block += scaled[:, M:] @ matrix[picked, half : half + M].T
            result[start:stop] = block.T
        return result

    def _all_features(self) -> FloatArray | None:
        return self._prefix.curve.matrix(self.X if self._chosen is None else self._source)
