"""The cells of a file as a table: which words are numbers, which are missing, and what is said.

Every format passes through `settle_columns`, whichever command reads it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
import pandas as pd

from rfbench.datasets.values import (
    FACTORS,
    MISSING_MARKERS,
    SEVERAL_UNITS,
    as_numbers,
    find_columns,
    format_names,
    has_decimal_comma,
    has_parts,
    holds_numbers,
    infer_kind,
    is_dash,
    is_number,
    list_units,
    parse_measures,
    split_measures,
    to_text,
)

# What was found out of the columns with words: those with a decimal comma, and the units of others.
Found = tuple[list[str], dict[str, str]]


def is_words(dtype: Any) -> bool:
    """Tell whether a type is one of words, which may stand for something else."""
    return isinstance(dtype, pd.StringDtype) or pd.api.types.is_object_dtype(dtype)


def without(column: pd.Series[Any], missing: Collection[str]) -> pd.Series[Any]:
    """Return a column without the values that mean that nothing is there, numbers by value."""
    if not len(missing):
        return column
    if is_number(column):
        return column.where(~column.isin(_numbers(missing)))
    return column.where(~to_text(column).isin(list(missing)))


def _numbers(words: Collection[str]) -> list[float]:
    numbers = pd.to_numeric(pd.Series(list(words), dtype=object), errors="coerce")
    return [float(number) for number in numbers.dropna()]


def settle_columns(
    table: pd.DataFrame,
    *,
    decimal: str | None,
    commas: Collection[str],
    units: Mapping[str, str] | None,
    missing: Collection[str],
    apart: str | None,
) -> tuple[pd.DataFrame, Found, list[str]]:
    """Return the columns with numbers among words written in one way, and words without blanks.

    Parameters
    ----------
    table : DataFrame
        The columns as they were read.
    decimal : str or None
        The decimal sign of the file, if it has one.
    commas : collection of str
        The columns that are known to have a decimal comma.
    units : mapping of str to str, or None
        The units of the columns, where they are known; None: they are found out.
    missing : collection of str
        Words that mean that nothing is there, beside the usual ones.
    apart : str or None
        The target, which `to_target_words` reads.

    Returns
    -------
    table : DataFrame
        The same columns. A number among words has a decimal point and no marks.
    found : tuple
        The columns with a decimal comma, and the units, as the next file needs them.
    notes : list of str
        What was done, in sentences.
    """
    found, notes = ([*commas], dict(units or {})), _Notes()
    names, dtypes = [str(name).strip() for name in table.columns], list(table.dtypes)
    places = range(len(names)) if missing else find_columns(table, lambda t: not is_number(t))
    for at in sorted({*places, *(names.index(name) for name in units or () if name in names)}):
        name, dtype, column = names[at], dtypes[at], table.iloc[:, at]
        if name == apart:
            continue
        if len(missing):
            column = without(column, missing)
            table.isetitem(at, column.array)
        if pd.api.types.is_timedelta64_dtype(dtype):
            notes.add("Time differences are in seconds: {}.", name)
        if units and name in units and is_number(column):
            notes.add("Numbers without a unit are taken to have that of training: {}.", name)
        if not is_words(column.dtype) or has_parts(column):
            continue
        text = to_text(column).str.strip()
        known = decimal == "," or name in commas
        comma = known or (units is None and has_decimal_comma(text))
        text, unit = _plain(name, text, comma, units, notes)
        found[0].extend([name] if comma and not known else [])
        found[1].update({name: unit} if unit else {})
        table.isetitem(at, text.to_numpy())
    return table, found, notes.sentences()


class _Notes:
    """Sentences with the columns that each is about."""

    def __init__(self) -> None:
        self._columns: dict[str, list[str]] = {}

    def add(self, sentence: str, column: str) -> None:
        self._columns.setdefault(sentence, []).append(column)

    def sentences(self) -> list[str]:
        return [text.format(format_names(columns)) for text, columns in self._columns.items()]


def _plain(
    name: str, text: pd.Series[Any], comma: bool, units: Mapping[str, str] | None, notes: _Notes
) -> tuple[pd.Series[Any], str]:
    """Return the words of a column, its numbers written in one way, and their unit."""
    there = text.notna()
    known = (units or {}).get(name)
    numbers, unit = np.full(len(text), np.nan), ""
    if known or units is None:
        numbers, unit = parse_measures(text, comma=comma, unit=known)
    if unit:
        _note_unit(name, text, numbers, unit, bool(known), notes)
        written = pd.Series(numbers, index=text.index, dtype=object).map(repr)
        return written.where(np.isfinite(numbers), None), unit
    numbers = as_numbers(text, comma=comma)
    # In new files of few rows, too: what is written as an account may be alone there.
    if 2 * np.isfinite(numbers).sum() > there.sum() and (
        units is not None or holds_numbers(text[there], numbers[there])
    ):
        plain = pd.Series(numbers, index=text.index, dtype=object).map(repr)
        text = text.where(~is_dash(text), None)
        return text.where(~np.isfinite(numbers), plain), ""
    if units is None and len(several := list_units(text[there])) > 1:
        what = "are left out" if infer_kind(name, text) == SEVERAL_UNITS else "stay words"
        notes.add(f"Numbers with several units ({format_names(several)}) {what}: {{}}.", name)
    return text, ""


def _note_unit(
    name: str, text: pd.Series[Any], numbers: Any, unit: str, known: bool, notes: _Notes
) -> None:
    if set(unit.split(", ")) <= set(FACTORS):
        notes.add(f"In these columns {unit} are factors of the numbers: {{}}.", name)
    elif not known:
        notes.add("Numbers with a unit, which is left out: {}.", f"{name} ({unit})")
    odd = text[text.notna() & ~np.isfinite(numbers)]
    if not len(odd):
        return
    if known:
        others = (
            split_measures(odd)["unit"].fillna("no number").replace("", "no unit").value_counts()
        )
        counted = format_names([f"{other} ({n:,})" for other, n in others.items()])
        notes.add(f"In training it was in {unit}, and what is not counts as a gap, {{}}.",
                  f"{name}: {counted}")  # fmt: skip
    else:
        notes.add("What has no number beside its unit counts as a gap: {}.", f"{name} ({len(odd)})")


def to_target_words(text: pd.Series[Any], missing: Collection[str], comma: bool) -> pd.Series[Any]:
    """Return a target of words as they are written, None where nothing is there.

    Where all other cells are numbers, the usual markers and dashes are gaps; else only empty cells
    are. `missing` takes the place of both rules.
    """
    text = to_text(text).str.strip()
    if len(missing):
        numbers = as_numbers(text, comma=comma)
        return text.where(~(text.isin(list(missing)) | np.isin(numbers, _numbers(missing))), None)
    some = text.where(~(text.isin(MISSING_MARKERS) | is_dash(text)), None)
    there = some.notna()
    numbers, unit = parse_measures(some, comma=comma)
    numbers = numbers if unit else as_numbers(some, comma=comma)
    # Of numbers with a few words, `rfbench.datasets.columns.Table` takes these.
    return some if holds_numbers(some[there], numbers[there]) else text


def describe_markers(text: Mapping[str, pd.Series[Any]]) -> str:
    """Return in a sentence which markers columns of words had, and how often; else nothing."""
    counts = {}
    for name, column in text.items():
        words = column.str.strip()
        found = words[words.isin(MISSING_MARKERS)].value_counts()
        if len(found):
            counts[name] = " ".join(f"{word} {n:,}" for word, n in found.items())
    listed = format_names([f"{name} ({each})" for name, each in counts.items()])
    return f"These words count as missing: {listed}." if counts else ""
