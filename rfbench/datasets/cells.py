"""Conversion of the values of a table: numbers in text columns, units and missing values.

The main function is `normalize_text_columns`, which is used for all file formats.
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
    find_columns_by_dtype,
    format_names,
    has_decimal_comma,
    has_nested_values,
    infer_column_kind,
    is_mostly_numbers,
    is_numeric_column,
    is_only_dashes,
    list_units,
    parse_numbers,
    parse_numbers_with_units,
    split_numbers_and_units,
    to_text,
)

# Properties of text columns: the names of the columns with a decimal comma, and a mapping from the
# names of columns of numbers with a unit to the unit.
Found = tuple[list[str], dict[str, str]]


def is_string_dtype(dtype: Any) -> bool:
    """Return True if a dtype can hold strings: a pandas string dtype or object."""
    return isinstance(dtype, pd.StringDtype) or pd.api.types.is_object_dtype(dtype)


def replace_missing_markers(column: pd.Series[Any], missing: Collection[str]) -> pd.Series[Any]:
    """Return a column in which the values in `missing` are replaced by missing values.

    In a numeric column, the strings in `missing` are compared with the values as numbers.
    """
    if not len(missing):
        return column
    if is_numeric_column(column):
        return column.where(~column.isin(_numbers(missing)))
    return column.where(~to_text(column).isin(list(missing)))


def _numbers(words: Collection[str]) -> list[float]:
    numbers = pd.to_numeric(pd.Series(list(words), dtype=object), errors="coerce")
    return [float(number) for number in numbers.dropna()]


def normalize_text_columns(
    table: pd.DataFrame,
    *,
    decimal: str | None,
    commas: Collection[str],
    units: Mapping[str, str] | None,
    missing: Collection[str],
    apart: str | None,
) -> tuple[pd.DataFrame, Found, list[str]]:
    """Strip the strings of a table, and convert the numbers in text columns to plain notation.

    Parameters
    ----------
    table : DataFrame
        The columns as read.
    decimal : str or None
        The decimal sign of the file, or None if it is unknown.
    commas : collection of str
        Names of the columns that are known to have a decimal comma.
    units : mapping of str to str, or None
        Unit of each column, if the units are known. If `units` is None, the units are detected.
    missing : collection of str
        Strings that the user declared to mean a missing value.
    apart : str or None
        Name of the target column, which is not converted here but by `to_target_strings`.

    Returns
    -------
    table : DataFrame
        The same columns. Numbers in text columns have a decimal point and no separators.
    found : tuple
        The names of the columns with a decimal comma, and the unit of each column that has one.
        Both are needed to convert a later table in the same way.
    notes : list of str
        Sentences that describe the conversion.
    """
    found, notes = ([*commas], dict(units or {})), _Notes()
    names, dtypes = [str(name).strip() for name in table.columns], list(table.dtypes)
    places = (
        range(len(names))
        if missing
        else find_columns_by_dtype(table, lambda t: not is_numeric_column(t))
    )
    for at in sorted({*places, *(names.index(name) for name in units or () if name in names)}):
        name, dtype, column = names[at], dtypes[at], table.iloc[:, at]
        if name == apart:
            continue
        if len(missing):
            column = replace_missing_markers(column, missing)
            table.isetitem(at, column.array)
        if pd.api.types.is_timedelta64_dtype(dtype):
            notes.add_note("Time differences are converted to seconds: {}.", name)
        if units and name in units and is_numeric_column(column):
            notes.add_note(
                "Numbers without a unit are assumed to have the unit of the training set: {}.", name
            )
        if not is_string_dtype(column.dtype) or has_nested_values(column):
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
    """Sentences about the conversion of columns, each with the names of the converted columns."""

    def __init__(self) -> None:
        self._columns: dict[str, list[str]] = {}

    def add_note(self, sentence: str, column: str) -> None:
        self._columns.setdefault(sentence, []).append(column)

    def sentences(self) -> list[str]:
        return [text.format(format_names(columns)) for text, columns in self._columns.items()]


def _plain(
    name: str, text: pd.Series[Any], comma: bool, units: Mapping[str, str] | None, notes: _Notes
) -> tuple[pd.Series[Any], str]:
    """Return a text column with its numbers in plain notation, and their common unit.

    The unit is an empty string if the numbers do not have a common unit.
    """
    there = text.notna()
    known = (units or {}).get(name)
    numbers, unit = np.full(len(text), np.nan), ""
    if known or units is None:
        numbers, unit = parse_numbers_with_units(text, comma=comma, unit=known)
    if unit:
        _note_unit(name, text, numbers, unit, bool(known), notes)
        written = pd.Series(numbers, index=text.index, dtype=object).map(repr)
        return written.where(np.isfinite(numbers), None), unit
    numbers = parse_numbers(text, comma=comma)
    # `is_mostly_numbers` does not accept a column in which all numbers have accounting notation,
    # such as (1.5). In a short new table (`units` is not None), all numbers of a column may have
    # this notation. Therefore this check is omitted for new tables.
    if 2 * np.isfinite(numbers).sum() > there.sum() and (
        units is not None or is_mostly_numbers(text[there], numbers[there])
    ):
        plain = pd.Series(numbers, index=text.index, dtype=object).map(repr)
        text = text.where(~is_only_dashes(text), None)
        return text.where(~np.isfinite(numbers), plain), ""
    if units is None and len(several := list_units(text[there])) > 1:
        what = "are left out" if infer_column_kind(name, text) == SEVERAL_UNITS else "stay text"
        notes.add_note(f"Numbers with several units ({format_names(several)}) {what}: {{}}.", name)
    return text, ""


def _note_unit(
    name: str, text: pd.Series[Any], numbers: Any, unit: str, known: bool, notes: _Notes
) -> None:
    if set(unit.split(", ")) <= set(FACTORS):
        notes.add_note(f"In these columns {unit} are factors of the numbers: {{}}.", name)
    elif not known:
        notes.add_note("Units were removed from numbers: {}.", f"{name} ({unit})")
    odd = text[text.notna() & ~np.isfinite(numbers)]
    if not len(odd):
        return
    if known:
        others = (
            split_numbers_and_units(odd)["unit"]
            .fillna("no number")
            .replace("", "no unit")
            .value_counts()
        )
        counted = format_names([f"{other} ({n:,})" for other, n in others.items()])
        notes.add_note(
            f"In the training set the unit was {unit}. Values with a different unit count as "
            "missing: {}.",
            f"{name}: {counted}",
        )
    else:
        notes.add_note("Values that are not numbers count as missing: {}.", f"{name} ({len(odd)})")


def to_target_strings(
    text: pd.Series[Any], missing: Collection[str], comma: bool
) -> pd.Series[Any]:
    """Return a target column as stripped strings, with None for missing values.

    The strings in `missing` are missing values. If `missing` is empty, the result depends on the
    column. In a column of numbers, dashes and the usual markers such as ``NA`` are missing values.
    In any other column, only empty cells are missing values.
    """
    text = to_text(text).str.strip()
    if len(missing):
        numbers = parse_numbers(text, comma=comma)
        return text.where(~(text.isin(list(missing)) | np.isin(numbers, _numbers(missing))), None)
    some = text.where(~(text.isin(MISSING_MARKERS) | is_only_dashes(text)), None)
    there = some.notna()
    numbers, unit = parse_numbers_with_units(some, comma=comma)
    numbers = numbers if unit else parse_numbers(some, comma=comma)
    # Markers count as missing values only in a column of numbers. In a text column, a marker may be
    # a category.
    return some if is_mostly_numbers(some[there], numbers[there]) else text


def describe_missing_markers(text: Mapping[str, pd.Series[Any]]) -> str:
    """Return a sentence that lists the markers of missing values, such as ``NA``, in text columns.

    The result is an empty string if no column contains a marker.
    """
    counts = {}
    for name, column in text.items():
        words = column.str.strip()
        found = words[words.isin(MISSING_MARKERS)].value_counts()
        if len(found):
            counts[name] = " ".join(f"{word} {n:,}" for word, n in found.items())
    listed = format_names([f"{name} ({each})" for name, each in counts.items()])
    return f"These strings are treated as missing values: {listed}." if counts else ""
