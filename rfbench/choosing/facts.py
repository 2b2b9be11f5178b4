"""What rows say of how they are to be held out, and which columns determine the target."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from rfbench.arrays import Array
from rfbench.datasets.values import (
    DATE,
    LEAST_NAMES,
    NUMBER,
    WORDS,
    as_numbers,
    has_decimal_comma,
    is_number,
    kind_of,
    may_name_rows,
    moments,
    text_of,
)

LEAST = 20  # rows, or different values, of which no order and no agreement is chance
ROWS_PER_NAME = 10  # words with fewer rows each are names of somebody or something
COPIES = 0.01  # share of rows from which on exact duplicates count
MOST_ROWS = 20_000  # that say whether a column tells the target
_OWNERS = re.compile(
    r"(?i)(.*[^a-z])?(patient|subject|person|people|participant|customer|client|user|shop|store|"
    r"household|family|donor|device|animal|student|employee|company|session)s?([^a-z].*)?"
)


class HeldOut(NamedTuple):
    """How rows are to be held out, as they say it themselves."""

    sentence: str  # with the option that says otherwise
    column: str  # that says it; nothing where it is all of them
    in_time: bool  # later rows are held out, else whole groups
    values: Any  # the times or the groups of the rows


def values_of(name: str, column: pd.Series[Any]) -> Array | pd.Series[Any]:
    """Return a column as numbers (of dates the days), or as words, with gaps."""
    kind = kind_of(name, column)
    if is_number(column):
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    if kind == DATE:
        return moments(name, column)
    text = text_of(column)
    return as_numbers(text, comma=has_decimal_comma(text)) if kind == NUMBER else text


def copies(X: pd.DataFrame, y: pd.Series[Any]) -> NDArray[np.int64]:
    """Return the numbers of rows, the same one for rows that are equal in all columns."""
    table = X.assign(**{"\0target": y}).astype(str)
    return pd.factorize(pd.util.hash_pandas_object(table, index=False))[0].astype(np.int64)


def first_of(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the first row of each number, in their order."""
    return np.sort(np.unique(numbers, return_index=True)[1])


def of_rows(X: pd.DataFrame, y: pd.Series[Any], numbers: NDArray[np.int64]) -> HeldOut | None:
    """Return how rows are to be held out; None: at random.

    By time if they are sorted by a date, else by a column that names whose they are and repeats,
    else exact duplicates together, see `copies` for their numbers.
    """
    for name, column in X.items():
        if not is_number(column) and kind_of(str(name), column) == DATE:
            time = moments(str(name), column)
            step = np.diff(time)
            if len(np.unique(time)) >= LEAST and ((step >= 0).all() or (step <= 0).all()):
                sentence = (
                    f"The rows are sorted by {name}: the last ones are held out, as if later rows "
                    "are to be predicted. --time none draws rows at random."
                )
                return HeldOut(sentence, str(name), True, time)
    owners = {str(name): _owners(str(name), column) for name, column in X.items()}
    found = {name: different for name, different in owners.items() if different}
    for name in sorted(found, key=lambda name: (not _names_owners(name), -found[name]))[:1]:
        sentence = (
            f"Column {name} has {found[name]:,} different values in {len(X):,} rows: all rows of "
            "one are held out together. --groups none draws rows at random."
        )
        return HeldOut(sentence, name, False, X[name])
    first = first_of(numbers)
    different = max(X.iloc[first].nunique().max(), y.iloc[first].nunique())
    again = len(X) - len(first)
    # Of a few words each, equal rows are no copies: some column has to tell most rows apart.
    if again >= max(2, COPIES * len(X)) and 2 * different > len(first) >= LEAST:
        sentence = (
            f"{again:,} rows repeat another one exactly: such rows are held out together. "
            "--groups none draws each by itself."
        )
        return HeldOut(sentence, "", False, numbers)
    return None


def _names_owners(name: str) -> bool:
    return may_name_rows(name) or bool(_OWNERS.fullmatch(name))


def _owners(name: str, column: pd.Series[Any]) -> int:
    """Return how many somebodies or somethings a column names, each in several rows; else 0."""
    named = _names_owners(name)
    if is_number(column):
        if not named or not (column.dropna() % 1 == 0).all():
            return 0
    elif column.dtype == bool or kind_of(name, column) != WORDS:
        return 0
    counts = column.value_counts()
    if len(counts) < LEAST_NAMES or 2 * counts[counts > 1].sum() < len(column):
        return 0
    return len(counts) if named or ROWS_PER_NAME * len(counts) > len(column) else 0


def tells(X: pd.DataFrame, target: NDArray[Any], *, regression: bool) -> list[str]:
    """Name the columns that determine the target: it follows from them, or has their order.

    Of rows that belong together, one is to be given: their values agree without any such rule.
    """
    some = np.linspace(0, len(X) - 1, min(len(X), MOST_ROWS)).astype(np.int64)
    return [
        f"Column {name} determines the target: if it is known only when the target is, "
        f"leave it out with --drop {name}."
        for name, column in X.items()
        if _tells(values_of(str(name), column.iloc[some]), target[some], regression=regression)
    ]


def _tells(values: Any, y: NDArray[Any], *, regression: bool) -> bool:
    there = np.asarray(pd.notna(values))
    if 20 * there.sum() < 19 * len(y) or there.sum() < LEAST:
        return False
    y = y[there]
    codes, different = pd.factorize(values[there], sort=True)
    rising, falling = (y[np.lexsort((sign * y, codes))] for sign in (1, -1))
    pure = bool((rising == falling).all())  # rows of one value have one target
    again = np.bincount(codes)[codes] > 1
    ends, counts = np.unique(y, return_counts=True)
    rarer = int((y[again] != ends[counts.argmax()]).sum())  # rows that no constant explains
    if pure and 2 * again.sum() > len(y) and rarer >= LEAST / 2:
        return True
    if not isinstance(values, np.ndarray) or len(different) < LEAST / 2:
        return False
    if regression:  # a larger value never has a smaller target, or never a larger one
        ordered = (np.diff(rising) >= 0).all() or (np.diff(falling) <= 0).all()
        return bool(len(ends) >= LEAST / 2 and ordered)
    changes = int((np.diff(rising) != 0).sum())
    return bool(pure and changes == len(ends) - 1 and counts.min() >= LEAST / 4)
