"""How class labels become columns of -1 and +1, and decision values become labels again."""

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
    """The decision columns of a classification.

    Two classes take one column, +1 for the second. More take one column per class (one-vs-rest), or
    one per pair i < j of classes in the order (0, 1), (0, 2), ..., +1 for j (one-vs-one).

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
        """The pairs of classes, in the order of their columns."""
        return list(combinations(range(self.k), 2))

    @property
    def by_pairs(self) -> bool:
        """Whether the columns are pairs of several classes."""
        return self.k > 2 and self.scheme == ONE_VS_ONE

    def columns(self, codes: Codes) -> Array:
        """Return class codes, shape (n,), as -1 and +1, shape (n, t); 0 for rows not in a pair.

        Of more than two classes in one byte each: of a hundred they are more than the rows.
        """
        if self.k == 2:
            return np.where(codes == 1, 1.0, -1.0)[:, None]
        signs = self._signs() if self.by_pairs else 2 * np.eye(self.k) - 1
        return np.asarray(signs.astype(np.int8)[codes])

    def decode(self, decisions: Array) -> Codes:
        """Return the class codes of decision values, shape (..., t).

        One column: the second class where the value is positive. One-vs-rest: the largest value.
        One-vs-one: each pair votes (for j where its value is positive, else for i), the class with
        most votes wins; among those, the one with the largest sum of the values in its favour;
        among those, the first.
        """
        if self.k == 2:
            return np.asarray(decisions[..., 0] > 0, dtype=np.intp)
        return np.asarray(np.argmax(self.scores(decisions), axis=-1), dtype=np.intp)

    def scores(self, decisions: Array) -> Array:
        """Return decision values, with one value per class in place of one per pair.

        The number of votes, plus the sum of the values in its favour mapped into (-1/3, 1/3).
        """
        if not self.by_pairs:
            return decisions
        signs = self._signs().T
        votes = (np.where(decisions > 0, 1.0, -1.0) @ signs + self.k - 1) / 2
        favour = decisions @ signs
        return np.asarray(votes + favour / (3 * (np.abs(favour) + 1)))

    def _signs(self) -> Array:
        """Return what each class is in each pair, shape (k, t): -1, +1, or 0."""
        first, second = np.array(self.pairs).T
        classes = np.arange(self.k)[:, None]
        return np.asarray((classes == second) * 1.0 - (classes == first) * 1.0)


@dataclass(frozen=True)
class Targets:
    """What is fitted.

    Attributes
    ----------
    columns : array of shape (n, t)
        Real targets, or coded labels.
    codes : array of shape (n,) or None
        Class codes; None for a regression.
    coding : Coding or None
    """

    columns: Array
    codes: Codes | None = None
    coding: Coding | None = None

    @property
    def truth(self) -> NDArray[Any]:
        """What decision values are compared with: the class codes, or the real targets."""
        return self.columns if self.codes is None else self.codes

    def take(self, rows: NDArray[np.bool_]) -> Targets:
        """Return the targets of some of the rows."""
        codes = None if self.codes is None else self.codes[rows]
        return Targets(self.columns[rows], codes, self.coding)
