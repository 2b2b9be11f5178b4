"""Coding of class labels as columns of -1 and +1, and decoding of decision values to labels."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rfbench.arrays import Array

Codes = NDArray[np.intp]
ONE_VS_REST, ONE_VS_ONE = "one-vs-rest", "one-vs-one"
MULTICLASS = (ONE_VS_REST, ONE_VS_ONE)


@dataclass(frozen=True)
class Coding:
    """Coding of class labels as decision columns, which contain -1 and +1.

    Two classes have one column, with +1 for the second class. With one-vs-rest, more than two
    classes have one column per class, with +1 for this class. With one-vs-one, there is a column
    for each pair of classes i < j, with +1 for j, -1 for i, and 0 for all other classes.

    Attributes
    ----------
    k : int
        Number of classes.
    scheme : {'one-vs-rest', 'one-vs-one'}
    """

    k: int
    scheme: str = ONE_VS_REST

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """The pairs of classes (i, j) with i < j, one for each decision column of one-vs-one."""
        return list(combinations(range(self.k), 2))

    @property
    def is_one_vs_one(self) -> bool:
        """True if more than two classes are coded with one decision column per pair of classes."""
        return self.k > 2 and self.scheme == ONE_VS_ONE

    def encode(self, codes: Codes) -> Array:
        """Convert class codes, shape (n,), to columns of -1 and +1, shape (n, t).

        In the column of a pair of classes, rows of all other classes have the value 0. For more
        than two classes, the columns have one byte per value to save memory.
        """
        if self.k == 2:
            return np.where(codes == 1, 1.0, -1.0)[:, None]
        signs = self._signs() if self.is_one_vs_one else 2 * np.eye(self.k) - 1
        return np.asarray(signs.astype(np.int8)[codes])

    def decode(self, decisions: Array) -> Codes:
        """Return the class codes that are predicted from decision values, shape (..., t).

        For one column, the second class is predicted if the value is positive. For one-vs-rest, the
        class with the largest value is predicted. For one-vs-one, each pair of classes i < j votes
        for j if its value is positive, and for i otherwise, and the class with most votes is
        predicted. A tie is decided by the largest sum of decision values in favor of a class, and a
        further tie by the order of the classes.
        """
        if self.k == 2:
            return np.asarray(decisions[..., 0] > 0, dtype=np.intp)
        return np.asarray(np.argmax(self.compute_scores(decisions), axis=-1), dtype=np.intp)

    def compute_scores(self, decisions: Array) -> Array:
        """Convert decision values, shape (..., t), to one score per class.

        For one-vs-one, the score of a class is its number of votes plus a number between -1/3 and
        1/3. This number increases with the sum of the decision values in favor of the class.
        Without one-vs-one, the decision values are returned unchanged.
        """
        if not self.is_one_vs_one:
            return decisions
        signs = self._signs().T
        votes = (np.where(decisions > 0, 1.0, -1.0) @ signs + self.k - 1) / 2
        margin_sum = decisions @ signs
        return np.asarray(votes + margin_sum / (3 * (np.abs(margin_sum) + 1)))

    def _signs(self) -> Array:
        """Return the code of each class (-1, +1 or 0) in the column of each pair, shape (k, t)."""
        first, second = np.array(self.pairs).T
        classes = np.arange(self.k)[:, None]
        return np.asarray((classes == second) * 1.0 - (classes == first) * 1.0)


@dataclass(frozen=True)
class Targets:
    """The targets of a fit: real values or coded class labels.

    Attributes
    ----------
    columns : array of shape (n, t)
        Real targets, or class labels coded as -1 and +1.
    codes : array of shape (n,) or None
        Class codes, or None for a regression.
    coding : Coding or None
        Coding of the class labels, or None for a regression.
    """

    columns: Array
    codes: Codes | None = None
    coding: Coding | None = None

    @property
    def truth(self) -> NDArray[Any]:
        """True targets that predictions are compared with: class codes, or real values."""
        return self.columns if self.codes is None else self.codes

    def select_rows(self, rows: NDArray[np.bool_]) -> Targets:
        """Return the targets of the rows for which the mask `rows` is True."""
        codes = None if self.codes is None else self.codes[rows]
        return Targets(self.columns[rows], codes, self.coding)
