"""A table with its target, and how its rows are parted: held out, choosing, training."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from rfbench.arrays import Array
from rfbench.datasets.dialect import Reading
from rfbench.datasets.split import in_time
from rfbench.errors import ConfigError
from rfbench.solvers.folds import whole_groups

Index = NDArray[np.int64]
Sides = tuple[Index, Index]

HELD_OUT, VALIDATION, FOLDS = 0.25, 0.2, 3
MOST_HELD_OUT = 10_000
FEW = 4  # rows of a class that are kept where rows are sampled
FOLDED_ROWS = 2_000  # up to so many training rows there are folds
# Training rows for each second of the budget, and bounds of them.
ROWS_PER_SECOND, LEAST_SAMPLE, MOST_ROWS = 700, 2_000, 50_000


@dataclass(frozen=True)
class LabelledTable:
    """Rows with a target, as they were read, and how they are parted."""

    X: pd.DataFrame  # of shape (n, columns): numbers, words, dates and gaps
    y: NDArray[Any]  # numbers (float64) or class codes 0 .. K-1 (int64)
    classes: NDArray[Any]  # the labels in sorted order; none of a regression
    groups: Index | None = None  # numbers of the groups
    time: Array | None = None  # when the rows are: the last ones are held out
    metric: str = ""
    seed: int = 0
    name: str = "the rows"
    sha256: str = ""  # of the file's content, or of the rows
    notes: tuple[str, ...] = ()  # what was found out of the target, in sentences
    how: Reading | None = None  # of a file: by it new files are read

    @property
    def n_classes(self) -> int:
        """0 of a regression."""
        return len(self.classes)

    @property
    def labels(self) -> NDArray[Any]:
        """The target as it was read: numbers or labels."""
        return self.classes[self.y] if self.n_classes else self.y

    def split(self, share: float, *, most: int | None = None, folds: int = 1) -> list[Sides]:
        """Return numbers of rows to fit and to predict: one split, or so many folds.

        Whole groups stay together, and each class has its share of either side. Rows with times are
        predicted by earlier ones. ConfigError if there are none.
        """
        n = len(self.y)
        size = max(1, min(round(share * n), n if most is None else most))
        if self.time is not None:
            return self._split_in_time(size, folds)
        codes = self.y if self.n_classes else None
        if self.groups is None and folds == 1:
            held = drawn(n, size, codes, self.seed)
            return [(np.setdiff1d(np.arange(n), held), held)]
        groups = np.arange(n) if self.groups is None else self.groups
        count = folds if folds > 1 else max(2, round(n / size))
        numbers = whole_groups(groups, codes, count, self.seed)
        wanted = range(int(numbers.max()) + 1) if folds > 1 else [0]
        return [(np.flatnonzero(numbers != f), np.flatnonzero(numbers == f)) for f in wanted]

    def _split_in_time(self, size: int, folds: int) -> list[Sides]:
        """Return the last rows, or the last folds, each with all rows before it."""
        parts = [
            (fit, held)
            for fit, held in in_time(np.asarray(self.time), size, folds)
            if len(held) and len(np.unique(self.y[fit])) >= min(2, self.n_classes or 1)
        ]
        if not parts:
            raise ConfigError(
                "The rows cannot be parted by time.",
                "Too many have the same time, or those of one class all come first.",
                "Name another column of times, or none.",
            )
        return parts

    def held_out(self, budget: float) -> Sides:
        """Return the validation rows and train, and those held out; of many rows, a sample."""
        ((train, test),) = self.split(HELD_OUT, most=MOST_HELD_OUT)
        most = min(max(int(ROWS_PER_SECOND * budget), LEAST_SAMPLE), MOST_ROWS)
        return self.some(train, most), self.some(test, MOST_HELD_OUT)

    def some(self, rows: Index, size: int) -> Index:
        """Return so many of the rows, of each class its share and a few at least."""
        if len(rows) <= size:
            return rows
        codes = self.y[rows] if self.n_classes else None
        return rows[drawn(len(rows), size, codes, self.seed, least=FEW, rest=0)]

    def validation(self) -> list[Sides]:
        """Return the splits by which models are chosen: one, or of few rows several folds."""
        return self.split(VALIDATION, folds=FOLDS if len(self.y) <= FOLDED_ROWS else 1)

    def take(self, rows: Index) -> LabelledTable:
        """Return some of the rows."""
        groups = None if self.groups is None else self.groups[rows]
        time = None if self.time is None else self.time[rows]
        return replace(self, X=self.X.iloc[rows], y=self.y[rows], groups=groups, time=time)

    def keeping(self, codes: Index) -> LabelledTable:
        """Return the rows of some classes, which get new codes."""
        some = self.take(np.flatnonzero(np.isin(self.y, codes)))
        return replace(some, y=np.searchsorted(codes, some.y), classes=self.classes[codes])

    def absent_classes(self, budget: float) -> list[int]:
        """Return the classes that a side of some split lacks: these cannot be learnt and checked.

        Every fold has all of them where it is fitted; where it is judged, the folds together do.
        """
        train, test = self.held_out(budget)
        inner = self.take(train)
        splits = inner.validation()
        judged = np.concatenate([held for _, held in splits])
        sides = [self.y[test], *(inner.y[fit] for fit, _ in splits), inner.y[judged]]
        every = set(range(self.n_classes))
        return sorted(set().union(*(every - set(side.tolist()) for side in sides)))


def drawn(n: int, size: int, codes: Any, seed: int, *, least: int = 1, rest: int = 1) -> Index:
    """Return `size` of n rows in ascending order, of each class its share.

    Of each class these are `least` rows at least, if it has more than the `rest` that is left.
    """
    generator = np.random.default_rng(seed)
    if codes is None:
        return np.sort(generator.choice(n, size, replace=False))
    parts = []
    for code in np.unique(codes):
        rows = np.flatnonzero(codes == code)
        share = round(size * len(rows) / n)
        count = min(max(least, share), max(1, len(rows) - rest))
        parts.append(generator.choice(rows, count, replace=False))
    return np.sort(np.concatenate(parts))
