"""Which rows train and which test."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rfbench.datasets.dataset import Dataset
from rfbench.errors import DataError

Index = NDArray[np.int64]


def split_rows(
    dataset: Dataset, rule: str | Mapping[str, Any], generator: np.random.Generator
) -> tuple[Index, Index]:
    """Return the training and the test rows, each in ascending order.

    Parameters
    ----------
    dataset : Dataset
    rule : 'given' or mapping
        'given' is the published split; ``{'train_size': s}`` is it with s of its training rows,
        drawn at random, or all if there are fewer. ``{'test_size': t, 'train_size': s}`` draws
        both sides at random, s the rest by default; t and s are fractions or numbers of rows.
        ``{'leave_groups': g}`` puts g whole groups (or a fraction of the groups) on the test side.
    generator : numpy.random.Generator
        Source of the draws.

    Returns
    -------
    train, test : ndarray of int64
        Disjoint row numbers; together all rows, unless `train_size` asks for fewer.

    Raises
    ------
    DataError
        If the rule is unknown, does not fit the data set, or leaves a side empty.
    """
    n = len(dataset.y)
    if rule == "given":
        train, test = _published(dataset)
    elif isinstance(rule, Mapping) and set(rule) == {"train_size"}:
        train, test = _published(dataset)
        size = min(len(train), _amount(rule["train_size"], len(train), "train_size"))
        train = np.sort(generator.choice(train, size, replace=False))
    elif isinstance(rule, Mapping) and set(rule) == {"leave_groups"}:
        train, test = _leave_groups(dataset, rule["leave_groups"], generator)
    elif isinstance(rule, Mapping) and {"test_size"} <= set(rule) <= {"test_size", "train_size"}:
        n_test = _amount(rule["test_size"], n, "test_size")
        rest = max(0, n - n_test)
        n_train = _amount(rule["train_size"], n, "train_size") if "train_size" in rule else rest
        if n_train + n_test > n:
            raise DataError(
                f"{n_train} training and {n_test} test rows are more than the {n} rows of "
                f"{dataset.name}.",
                "No row can be on both sides.",
                "Ask for fewer.",
            )
        order = generator.permutation(n)
        test, train = np.sort(order[:n_test]), np.sort(order[n_test : n_test + n_train])
    else:
        raise DataError(
            f"The split {rule!r} is unknown.",
            "",
            "Choose 'given', {test_size: ...} and {train_size: ...}, one or both, or "
            "{leave_groups: ...}.",
        )
    if not len(train) or not len(test):
        raise DataError(
            f"The split {rule!r} leaves {len(train)} training and {len(test)} test rows of "
            f"{dataset.name}.",
            "Both sides need rows.",
            "Change the sizes.",
        )
    return train.astype(np.int64), test.astype(np.int64)


def _published(dataset: Dataset) -> tuple[Index, Index]:
    if dataset.n_given_train is None:
        raise DataError(
            f"{dataset.name} has no published split.",
            "Its rows come in one piece.",
            "Use a split like {test_size: 0.5}.",
        )
    return np.arange(dataset.n_given_train), np.arange(dataset.n_given_train, len(dataset.y))


def planned_rows(n: int, n_given: int | None, rule: str | Mapping[str, Any]) -> tuple[int, int]:
    """Return how many training and test rows a split will give, of n.

    Of whole groups that are left out, their share of the rows; where only their number is known,
    all rows train.
    """
    published = n if n_given is None else n_given
    if isinstance(rule, str):
        return published, n - published
    if set(rule) == {"train_size"}:
        wanted = _amount(rule["train_size"], published, "train_size")
        return min(published, wanted), n - published
    if "leave_groups" in rule:
        left = rule["leave_groups"]
        n_test = round(left * n) if isinstance(left, float) else 0
        return n - n_test, n_test
    n_test = min(n, _amount(rule["test_size"], n, "test_size"))
    rest = n - n_test
    wanted = _amount(rule["train_size"], n, "train_size") if "train_size" in rule else rest
    return min(rest, wanted), n_test


def _leave_groups(
    dataset: Dataset, size: object, generator: np.random.Generator
) -> tuple[Index, Index]:
    if dataset.groups is None:
        raise DataError(
            f"{dataset.name} has no groups.",
            "Its rows do not say which subject they come from.",
            "Use a split like {test_size: 0.5}.",
        )
    groups = np.unique(dataset.groups)
    left = generator.permutation(groups)[: _amount(size, len(groups), "leave_groups")]
    in_test = np.isin(dataset.groups, left)
    return np.flatnonzero(~in_test), np.flatnonzero(in_test)


def _amount(size: object, n: int, key: str) -> int:
    if isinstance(size, int) and not isinstance(size, bool) and size > 0:
        return size
    if isinstance(size, float) and 0 < size < 1:
        return max(1, round(size * n))
    raise DataError(
        f"{key} is {size!r}.",
        "It has to be a fraction between 0 and 1, or a whole number above 0.",
        "Correct it in the split.",
    )


def subset_rows(
    train: Index, test: Index, rows: int, generator: np.random.Generator
) -> tuple[Index, Index]:
    """Return so many training rows, drawn at random, and test rows in proportion.

    Raises
    ------
    DataError
        If `rows` is not above 0.
    """
    if isinstance(rows, bool) or rows < 1:
        raise DataError(
            f"rows is {rows!r}.", "It has to be above 0.", "Correct it, or leave it out."
        )
    if rows >= len(train):
        return train, test
    n_test = max(1, round(len(test) * rows / len(train)))
    chosen = (
        generator.choice(side, size, replace=False)
        for side, size in ((train, rows), (test, n_test))
    )
    return tuple(np.sort(side) for side in chosen)  # type: ignore[return-value]
