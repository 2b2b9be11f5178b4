"""Splitting the rows of a data set into a training set and a test set."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rfbench.errors import DataError, suggest_nearest_name

if TYPE_CHECKING:
    from rfbench.datasets.dataset import Dataset

Index = NDArray[np.int64]
Sides = tuple[Index, Index]
Rule = str | Mapping[str, Any]

# Smallest allowed value of each setting that is a whole number, by definition of the setting.
MIN_WHOLE_SIZES = {"folds": 2, "blocks": 2, "first_permuted": 1, "seed": 0}
SPLIT_EXAMPLES = (
    "`given`, `{train_size: 5000}` (of the given training rows), `{test_size: 0.5}` (with "
    "train_size if you like), `{stratified: 0.3}`, `{held_out: 0.3}`, `{leave_groups: 0.3}`, "
    "`{last: 0.3}`, `{blocks: 10, test_size: 0.3}`, `{folds: 5, seed: 42}` (with first_permuted if "
    "you like) or `{column: part}`"
)


def _find_split_kind(rule: object) -> str | None:
    """Return the kind of a split rule, such as "random" or "folds", or None for an unknown rule.

    The kinds are the keys of `_WAYS`.
    """
    if not isinstance(rule, Mapping) or not rule:
        return "given" if rule == "given" else None
    keys = frozenset(rule)
    if keys & {"test_size", "held_out"} and "blocks" not in keys:
        keys = keys - {"train_size"}
    if "folds" in keys:
        keys = keys - {"first_permuted"}
    return next((way for way, (wanted, _) in _WAYS.items() if keys == set(wanted)), None)


def check_split_rule(rule: object) -> None:
    """Raise DataError if a split rule is unknown, or if a size in the rule is impossible."""
    if _find_split_kind(rule) is None:
        what = f"The split {rule!r} is unknown.{suggest_nearest_name(str(rule), ['given'])}"
        raise DataError(what, "", f"Choose {SPLIT_EXAMPLES}.")
    sizes = rule if isinstance(rule, Mapping) else {}
    for key, size in sizes.items():
        if key == "column":
            continue
        whole = isinstance(size, int) and not isinstance(size, bool)
        if key in MIN_WHOLE_SIZES:
            fits = whole and MIN_WHOLE_SIZES[key] <= size < 2**32
            words = f"a whole number of at least {MIN_WHOLE_SIZES[key]} and below 2^32"
        else:
            fits = size > 0 if whole else isinstance(size, float) and 0 < size < 1
            words = "a fraction between 0 and 1, or a whole number above 0"
        if not fits:
            raise DataError(f"{key} is {size!r}.", f"The value has to be {words}.")


def is_given_split(rule: Rule) -> bool:
    """Return True if the data define the test set, by a published split or by a column."""
    return _find_split_kind(rule) in ("given", "published", "column")


def is_fixed_split(rule: Rule) -> bool:
    """Return True if a split rule gives the same training and test set in every repetition."""
    return _find_split_kind(rule) in ("given", "column", "last", "held out")


def split_rows(
    dataset: Dataset, rule: Rule, generator: np.random.Generator, trial: int = 0
) -> tuple[Index, Index]:
    """Return the row indices of the training set and of the test set, each in ascending order.

    Parameters
    ----------
    dataset : Dataset
        The data set.
    rule : 'given' or mapping
        Rule for the split. A size is a number of rows or a fraction of all rows.

        - 'given' is the published split.
        - ``{'column': c}`` is the split that column c of the user's data defines.
        - ``{'train_size': s}`` is the published split, but with only s training samples, drawn at
          random. If there are fewer than s, all are used.
        - ``{'test_size': t, 'train_size': s}`` draws both sets at random. By default the training
          set is the rest. For a data set with groups of equal rows, complete groups with about t
          rows are drawn.
        - ``{'held_out': t, 'train_size': s}`` draws both sets once for all trials. The test set
          gets about t of the rows of each class. If possible, the training set gets at least one
          row of each class. For data with groups, complete groups with about t rows are drawn.
        - ``{'stratified': t}`` is like ``held_out``, with a new draw for each trial.
        - ``{'leave_groups': g}`` draws g complete groups for the test set.
        - ``{'last': t}`` uses the last t rows as the test set.
        - ``{'blocks': b, 'test_size': t}`` divides the rows into b blocks of consecutive rows,
          of equal size up to one row, and draws t of the blocks for the test set.
        - ``{'folds': k, 'seed': s, 'first_permuted': n}`` uses one of the k folds of
          scikit-learn's KFold(k, shuffle=True, random_state=s) over all rows as the test set. With
          `first_permuted` the folds are over the first n entries of
          numpy.random.RandomState(s).permutation, or all entries.
    generator : numpy.random.Generator
        Random generator for the draws.
    trial : int
        Number of the repetition of the split, from 0. With folds, trial i uses fold i modulo k.

    Returns
    -------
    train, test : ndarray of int64
        Disjoint row indices. Together they are all rows, unless the rule reduces the training set.

    Raises
    ------
    DataError
        If the rule is unknown, cannot be used for the data set, or leaves a set empty.
    """
    check_split_rule(rule)
    mapping = {**rule, "trial": trial} if isinstance(rule, Mapping) else {}
    draw = _WAYS[str(_find_split_kind(rule))][1]
    sides = draw(dataset, mapping, generator)
    train, test = (np.sort(side).astype(np.int64) for side in sides)
    if not len(train) or not len(test):
        raise DataError(
            f"The split {rule!r} leaves {len(train)} training and {len(test)} test rows of "
            f"{dataset.name}.",
            todo="Change the sizes of the split.",
        )
    return train, test


# Each of the functions below returns the positions of the training rows and the positions of the
# test rows. The positions need not be sorted.


def _published(dataset: Dataset, rule: Mapping[str, Any], generator: np.random.Generator) -> Sides:
    if dataset.n_given_train is None:
        what = f"{dataset.name} has no published split."
        raise DataError(what, todo="Use a split such as {test_size: 0.5}.")
    train, test = np.split(np.arange(len(dataset.y)), [dataset.n_given_train])
    if "train_size" in rule:
        size = min(len(train), _resolve_size(rule["train_size"], len(train)))
        train = generator.choice(train, size, replace=False)
    return train, test


def _random(dataset: Dataset, rule: Mapping[str, Any], generator: np.random.Generator) -> Sides:
    n = len(dataset.y)
    n_test = _resolve_size(rule["test_size"], n)
    rest = max(0, n - n_test)
    n_train = _resolve_size(rule["train_size"], n) if "train_size" in rule else rest
    if n_train + n_test > n:
        raise DataError(
            f"{n_train} training and {n_test} test rows are more than the {n} rows of "
            f"{dataset.name}.",
            todo="Use fewer.",
        )
    order = generator.permutation(n)
    if dataset.equal_rows_together:
        test = _whole_groups(dataset, n_test, generator)
        return order[~np.isin(order, test)][:n_train], test
    return order[n_test : n_test + n_train], order[:n_test]


def _held_out(dataset: Dataset, rule: Mapping[str, Any], generator: np.random.Generator) -> Sides:
    n = len(dataset.y)
    classes = np.zeros(n) if dataset.task == "regression" else np.asarray(dataset.y)
    order = generator.permutation(n)
    key = "held_out" if "held_out" in rule else "stratified"
    n_test = min(n, _resolve_size(rule[key], n))
    if dataset.groups is None:
        test = order[_order_evenly(classes[order], 0.5)[:n_test]]
    else:
        test = _whole_groups(dataset, n_test, generator)
    rest = order[~np.isin(order, test)]
    wanted = _resolve_size(rule["train_size"], n) if "train_size" in rule else n
    return rest[_order_evenly(classes[rest], 0.0)[:wanted]], test


def _whole_groups(dataset: Dataset, n_test: int, generator: np.random.Generator) -> Index:
    """Draw complete groups of rows until they contain at least `n_test` rows.

    Return the positions of the drawn rows, which are the test set.
    """
    assert dataset.groups is not None
    groups, sizes = np.unique(dataset.groups, return_counts=True)
    drawn = generator.permutation(len(groups))
    left = 1 + np.count_nonzero(np.cumsum(sizes[drawn])[:-1] < n_test)
    return np.flatnonzero(np.isin(dataset.groups, groups[drawn[:left]]))


def _order_evenly(classes: NDArray[Any], offset: float) -> Index:
    """Return an order of the rows in which the rows of each class are spread evenly.

    `classes` contains the class of each row. Row i of a class with m rows, counted from 0, is
    sorted by (i + offset) / m.
    """
    position = np.empty(len(classes))
    for label in np.unique(classes):
        members = np.flatnonzero(classes == label)
        position[members] = (np.arange(len(members)) + offset) / len(members)
    return np.argsort(position, kind="stable")


def _last(dataset: Dataset, rule: Mapping[str, Any], generator: np.random.Generator) -> Sides:
    n = len(dataset.y)
    ((train, test),) = split_by_time(np.arange(n), _resolve_size(rule["last"], n))
    return train, test


def split_by_time(times: NDArray[Any], size: int, folds: int = 1) -> list[Sides]:
    """Return the training rows and the test rows of each of `folds` consecutive folds in time.

    `times` is the time of each row, shape (n,). The test rows of the last fold are the `size`
    latest rows, and each earlier fold tests the `size` rows before. The training rows of a fold are
    all rows before its test rows. Rows with the same time are never split, so that a set may be
    larger than `size`, or empty.
    """
    ordered, n = np.sort(times), len(times)
    starts = [max(0, n - fold * size) for fold in range(folds, 0, -1)]
    ends = [*(times < ordered[start] for start in starts), np.ones(n, dtype=bool)]
    return [
        (np.flatnonzero(before), np.flatnonzero(until & ~before))
        for before, until in itertools.pairwise(ends)
    ]


def _groups(dataset: Dataset, rule: Mapping[str, Any], generator: np.random.Generator) -> Sides:
    if dataset.groups is None or dataset.equal_rows_together:
        raise DataError(
            f"{dataset.name} has no groups.",
            todo="Use a split such as {test_size: 0.5}, or name the column: `groups: COLUMN`.",
        )
    return _some_of(dataset.groups, rule["leave_groups"], generator)


def _blocks(dataset: Dataset, rule: Mapping[str, Any], generator: np.random.Generator) -> Sides:
    n, count = len(dataset.y), rule["blocks"]
    if count > n:
        raise DataError(
            f"The split needs {count} rows, one for each of its blocks.",
            f"{dataset.name} has only {n} rows.",
        )
    return _some_of(np.arange(n) * count // n, rule["test_size"], generator)


def _folds(dataset: Dataset, rule: Mapping[str, Any], generator: np.random.Generator) -> Sides:
    from sklearn.model_selection import KFold

    n, seed, most = len(dataset.y), rule["seed"], rule.get("first_permuted")
    rows = np.arange(n)
    if most is not None:  # use the legacy generator, because numpy never changes its random numbers
        rows = np.random.RandomState(seed).permutation(n)[:most]
    if rule["folds"] > len(rows):
        raise DataError(
            f"The split needs {rule['folds']} rows, one for each of its folds.",
            f"{dataset.name} has only {len(rows)} rows.",
        )
    folds = list(KFold(rule["folds"], shuffle=True, random_state=seed).split(rows))
    train, test = folds[rule["trial"] % len(folds)]
    return rows[train], rows[test]


def _some_of(numbers: Index, size: float, generator: np.random.Generator) -> Sides:
    """Draw groups for the test set, and return the positions of the training rows and test rows.

    `numbers` contains the group of each row. `size` is the number or the share of groups to draw.
    """
    groups = np.unique(numbers)
    in_test = np.isin(numbers, generator.permutation(groups)[: _resolve_size(size, len(groups))])
    return np.flatnonzero(~in_test), np.flatnonzero(in_test)


Draw = Callable[["Dataset", Mapping[str, Any], np.random.Generator], Sides]
_WAYS: dict[str, tuple[tuple[str, ...], Draw]] = {
    "given": ((), _published),
    "random": (("test_size",), _random),
    "published": (("train_size",), _published),
    "stratified": (("stratified",), _held_out),
    "held out": (("held_out",), _held_out),
    "groups": (("leave_groups",), _groups),
    "last": (("last",), _last),
    "blocks": (("blocks", "test_size"), _blocks),
    "column": (("column",), _published),
    "folds": (("folds", "seed"), _folds),
}


def count_training_rows(n: int, n_given: int | None, rule: Rule) -> int:
    """Return the number of training rows that a split rule gives for n rows.

    `n_given` is the number of rows of the published training set. For groups and blocks, the result
    is an estimate. If `rule` has a number of groups instead of a share, the result is n.
    """
    sizes = rule if isinstance(rule, Mapping) else {}
    if "folds" in sizes:
        n = min(n, int(sizes.get("first_permuted", n)))
        return n - n // int(sizes["folds"])
    if is_given_split(rule):
        n = rest = n if n_given is None else n_given
    else:
        keys = ("test_size", "stratified", "held_out", "leave_groups", "last")
        key = next(key for key in keys if key in sizes)
        size = sizes[key]
        if key == "leave_groups" and not isinstance(size, float):
            return n
        if "blocks" in sizes and not isinstance(size, float):
            size *= n // int(sizes["blocks"])
        rest = n - min(n, _resolve_size(size, n))
    if "train_size" in sizes:
        rest = min(rest, _resolve_size(sizes["train_size"], n))
    return rest


def _resolve_size(size: float, n: int) -> int:
    """Return `size` as a whole number. A fraction is a share of `n` and becomes at least 1."""
    return size if isinstance(size, int) else max(1, round(size * n))


def draw_subset(
    train: Index,
    test: Index,
    rows: int,
    generator: np.random.Generator,
    test_rows: int | None = None,
) -> tuple[Index, Index]:
    """Draw `rows` training samples at random, and a proportional number of test samples.

    If `test_rows` is given, at most `test_rows` test samples are drawn instead. Return the indices
    of the training samples and of the test samples.
    """
    n_test = len(test)
    if rows < len(train):
        n_test = max(1, round(len(test) * rows / len(train)))
        train = np.sort(generator.choice(train, rows, replace=False))
    if test_rows is not None:
        n_test = min(len(test), test_rows)
    if n_test < len(test):
        test = np.sort(generator.choice(test, n_test, replace=False))
    return train, test
