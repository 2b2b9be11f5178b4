"""Which rows choose, and what is fitted without them."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from rfbench.arrays import Rows
from rfbench.clock import Clock
from rfbench.errors import MethodError
from rfbench.samplers.base import uses_target

# Features that look at the target are fitted without the rows of the fold that then chooses, or
# once, on all rows.
NESTED, ONCE = "nested", "once"
FEATURES_IN_FOLDS = (NESTED, ONCE)

# From the rows outside a fold and their targets to features fitted on them; the clock is charged.
Refit = Callable[[Rows, NDArray[Any], Clock], Any]


def make_refit(asked: str | Refit, features: Any) -> Refit | None:
    """Return how features are fitted in folds; None: they are the same in all of them.

    Nested, a copy of theirs, with their own parameters, is fitted on the rest of the rows.
    MethodError where `asked` is none of `FEATURES_IN_FOLDS`, nor a function.
    """
    if callable(asked):
        return asked
    if asked not in FEATURES_IN_FOLDS:
        raise MethodError(
            f"features_in_folds is {asked!r}.", "", f"Choose {' or '.join(FEATURES_IN_FOLDS)}."
        )
    if asked != NESTED or features is None or not uses_target(features):
        return None

    def refit(rows: Rows, targets: NDArray[Any], clock: Clock) -> Any:
        copy = clone(features)
        with clock.part("pp"):
            copy.fit(rows, targets)
        return copy

    return refit


def assign_group_folds(
    groups: NDArray[Any], codes: NDArray[Any] | None, count: int, seed: int
) -> NDArray[np.intp]:
    """Return the number of the fold of each row, shape (n,); a group is in one fold.

    Parameters
    ----------
    groups : array of shape (n,)
        Which group (subject, patient) each row is of.
    codes : array of shape (n,) or None
        Class codes: every fold gets about its share of each class. None: of a regression, whose
        folds get about as many rows.
    count : int
        Number of folds; of fewer groups, as many as these.

    Raises
    ------
    MethodError
        All rows are of one group.
    """
    from sklearn.model_selection import GroupKFold, StratifiedGroupKFold

    numbers = np.unique(groups, return_inverse=True)[1]
    count = min(count, int(numbers.max(initial=0)) + 1)
    if count < 2:
        raise MethodError(
            "All training rows are of one group, and a fold is made of whole groups.",
            "Nothing would be left to fit.",
            "Fix the penalty (selection: fixed), split otherwise, or leave out `groups`.",
        )
    by_class = codes is not None and bool(np.bincount(codes).max() >= count)
    kind = StratifiedGroupKFold if by_class else GroupKFold
    splitter = kind(count, shuffle=True, random_state=seed)
    folds = np.empty(len(numbers), dtype=np.intp)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of classes with fewer rows than folds
        split = splitter.split(numbers[:, None], codes if by_class else numbers, numbers)
        for fold, (_, held) in enumerate(split):
            folds[held] = fold
    return folds
