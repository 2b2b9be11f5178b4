"""What rows say of how they are to be held out, and which columns determine the target."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from rfbench.datasets.split import Index
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

    by: str  # ``time``: later rows are held out; ``groups``: whole ones
    values: Any  # the times or the groups of the rows
    sentence: str  # with the option that says otherwise
    column: str = ""  # that says it; nothing where it is all of them


def of_rows(X: pd.DataFrame, y: pd.Series[Any], copies: Index) -> HeldOut | None:
    """Return how rows are to be held out; None: at random.

    By time if they are sorted by a date, else by a column that names whose they are and repeats,
    else exact duplicates together: `copies` are their numbers.
    """
    kinds = {str(name): kind_of(str(name), column) for name, column in X.items()}
    for name in [name for name, kind in kinds.items() if kind == DATE]:
        time = moments(name, X[name])
        step = np.diff(time)
        if len(np.unique(time)) >= LEAST and ((step >= 0).all() or (step <= 0).all()):
            sentence = (
                f"The rows are sorted by {name}: the last ones are held out, as if later rows are "
                "to be predicted. --time none draws rows at random."
            )
            return HeldOut("time", time, sentence, name)
    owners = {name: _owners(name, X[name], kind) for name, kind in kinds.items()}
    found = [name for name, different in owners.items() if different]
    if found:
        named = max(found, key=lambda name: (_names_owners(name), owners[name]))
        sentence = (
            f"Column {named} has {owners[named]:,} different values in {len(X):,} rows: all rows "
            "of one are held out together. --groups none draws rows at random."
        )
        return HeldOut("groups", X[named], sentence, named)
    once = ~pd.Series(copies).duplicated().to_numpy()
    again = int((~once).sum())
    different = max(X[once].nunique().max(), y[once].nunique())
    # Of a few words each, equal rows are no copies: some column has to tell most rows apart.
    if again >= max(2, COPIES * len(X)) and 2 * different > once.sum() >= LEAST:
        sentence = (
            f"{again:,} rows repeat another one exactly: such rows are held out together. "
            "--groups none draws each by itself."
        )
        return HeldOut("groups", copies, sentence)
    return None


def _names_owners(name: str) -> bool:
    return may_name_rows(name) or bool(_OWNERS.fullmatch(name))


def _owners(name: str, column: pd.Series[Any], kind: str) -> int:
    """Return how many somebodies or somethings a column names, each in several rows; else 0."""
    named = _names_owners(name)
    whole = named and is_number(column) and (column.dropna() % 1 == 0).all()
    if column.dtype == bool or not (kind == WORDS or whole):
        return 0
    counts = column.value_counts()
    if len(counts) < LEAST_NAMES or 2 * counts[counts > 1].sum() < len(column):
        return 0
    return len(counts) if named or ROWS_PER_NAME * len(counts) > len(column) else 0


def tells(X: pd.DataFrame, target: NDArray[Any]) -> list[str]:
    """Name the columns that determine the target: it follows from them, or has their order.

    Of rows that belong together, one is to be given: their values agree without any such rule.
    """
    some = np.linspace(0, len(X) - 1, min(len(X), MOST_ROWS)).astype(np.int64)
    return [
        f"Column {name} determines the target: if it is known only when the target is, "
        f"leave it out with --drop {name}."
        for name, column in X.items()
        if _tells(str(name), column.iloc[some], target[some])
    ]


def _tells(name: str, column: pd.Series[Any], y: NDArray[Any]) -> bool:
    kind, values = kind_of(name, column), text_of(column)
    ordered = is_number(column) or kind in (DATE, NUMBER)
    if is_number(column) or kind == DATE:
        values = pd.Series(moments(name, column))
    elif kind == NUMBER:
        values = pd.Series(as_numbers(values, comma=has_decimal_comma(values)))
    there = values.notna().to_numpy()
    if 20 * there.sum() < 19 * len(y) or there.sum() < LEAST:
        return False
    y = y[there]
    same = pd.Series(y).groupby(pd.factorize(values[there], sort=True)[0])  # rows of one value
    low, high = same.min().to_numpy(), same.max().to_numpy()
    again = same.transform("size").to_numpy() > 1
    ends, counts = np.unique(y, return_counts=True)
    rarer = int((y[again] != ends[counts.argmax()]).sum())  # rows that no constant explains
    pure = bool((low == high).all())
    if pure and 2 * again.sum() > len(y) and rarer >= LEAST / 2:
        return True
    if not ordered or len(low) < LEAST / 2:
        return False
    if y.dtype.kind == "f":  # a larger value never has a smaller target, or never a larger one
        monotone = (low[1:] >= high[:-1]).all() or (high[1:] <= low[:-1]).all()
        return bool(len(ends) >= LEAST / 2 and monotone)
    return pure and (np.diff(low) != 0).sum() == len(ends) - 1 and counts.min() >= LEAST / 4
