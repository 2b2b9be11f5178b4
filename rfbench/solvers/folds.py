"""Folds for the selection of a penalty, and fits of features without the held-out rows."""

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

# How features that use the target are fitted in cross-validation. 'nested': for each fold, without
# its held-out rows. 'once': on all training rows.
NESTED, ONCE = "nested", "once"
FEATURES_IN_FOLDS = (NESTED, ONCE)

# Type of a function that fits features on the rows outside a fold and their targets. The function
# adds the time of this fit to the clock.
FoldFit = Callable[[Rows, NDArray[Any], Clock], Any]


def make_fold_fit(asked: str | FoldFit, features: Any) -> FoldFit | None:
    """Return a function that fits the features for a fold, or None if all folds share the features.

    `asked` is 'nested', 'once', or a function that is returned unchanged. For 'nested', the
    returned function fits a copy of the features on the rows outside the fold, if the features use
    the target. Raise MethodError for all other values.
    """
    if callable(asked):
        return asked
    if asked not in FEATURES_IN_FOLDS:
        raise MethodError(
            f"features_in_folds is {asked!r}.", "", f"Choose {' or '.join(FEATURES_IN_FOLDS)}."
        )
    if asked != NESTED or features is None or not uses_target(features):
        return None

    def fit_fold(rows: Rows, targets: NDArray[Any], clock: Clock) -> Any:
        copy = clone(features)
        with clock.time_part("pp"):
            copy.fit(rows, targets)
        return copy

    return fit_fold


def assign_group_folds(
    groups: NDArray[Any], codes: NDArray[Any] | None, count: int, seed: int
) -> NDArray[np.intp]:
    """Return the fold index of each row, shape (n,), so that all rows of a group are in one fold.

    Parameters
    ----------
    groups : array of shape (n,)
        The group (subject, patient) of each row.
    codes : array of shape (n,) or None
        Class codes. Every fold gets about the same share of each class. None for a regression:
        folds get about the same number of rows.
    count : int
        Number of folds. If there are fewer groups, each group is a fold.
    seed : int
        Random seed of the assignment.

    Raises
    ------
    MethodError
        If all rows are in one group.
    """
    from sklearn.model_selection import GroupKFold, StratifiedGroupKFold

    numbers = np.unique(groups, return_inverse=True)[1]
    count = min(count, int(numbers.max(initial=0)) + 1)
    if count < 2:
        raise MethodError(
            "The training set has only one group, but a fold has to consist of complete groups.",
            "No rows would remain to fit the model.",
            "Fix the penalty (selection: fixed), use a different split, or remove `groups`.",
        )
    by_class = codes is not None and bool(np.bincount(codes).max() >= count)
    kind = StratifiedGroupKFold if by_class else GroupKFold
    splitter = kind(count, shuffle=True, random_state=seed)
    folds = np.empty(len(numbers), dtype=np.intp)
    with warnings.catch_warnings():
        # Ignore scikit-learn's warning that a class has fewer rows than there are folds.
        warnings.simplefilter("ignore", UserWarning)
        split = splitter.split(numbers[:, None], codes if by_class else numbers, numbers)
        for fold, (_, held) in enumerate(split):
            folds[held] = fold
    return folds
