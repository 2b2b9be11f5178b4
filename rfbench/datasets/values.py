"""What the values of a column say: numbers, words, dates or nothing."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd

from rfbench.arrays import Array
from rfbench.errors import DataError

NUMBER, DATE, WORDS = "number", "date", "words"
IDENTIFIER, INDEX = "identifier", "index"  # of columns that name the rows
LEAST_NAMES = 20  # of fewer words it means nothing that all are different
MOST_NAMED = 8
EPOCH = pd.Timestamp("2000-01-01")
_DATE = re.compile(r"\d{1,4}[-/.]\d{1,2}[-/.]\d{2,4}([ T]\d.*)?|\d{1,2}:\d{2}(:\d{2}.*)?", re.ASCII)
_TIME = re.compile(r"\d{1,2}:\d{2}.*", re.ASCII)
_IDENTIFIER = re.compile(r"(.*[^A-Za-z])?(?i:id|uuid|guid|index|rownames)|.*[a-z](Id|ID)")
_UNLABELLED = re.compile(r"(Unnamed: \d+)?")
_SPACES = r" '\u00a0\u2009\u202f\u2019"  # between thousands
_UNIT = re.compile(r"(?<![^-+\s])[$€£¥]\s?|\s?[%$€£¥]\s*$")
EXACT_WHOLE = 2.0**53  # above it two whole numbers may be one double


def named(names: list[str]) -> str:
    """Return the first of these names in words, and how many more there are."""
    more = f" and {len(names) - MOST_NAMED:,} more" if len(names) > MOST_NAMED else ""
    return ", ".join(map(str, names[:MOST_NAMED])) + more


def as_table(X: Any, what: str = "The table") -> pd.DataFrame:
    """Return rows as a table whose columns are named by words.

    DataError if a name is there twice, or the rows have no columns.
    """
    table = X if isinstance(X, pd.DataFrame) else pd.DataFrame(np.asarray(X))
    table = table.reset_index(drop=True)
    table = table.set_axis([str(column).strip() for column in table.columns], axis=1)
    for name in table.columns[table.columns.duplicated()][:1]:
        raise DataError(f"{what} has two columns '{name}'.", "", "Rename one of them.")
    return table


def is_number(column: pd.Series[Any] | Any) -> bool:
    """Tell whether a column, or its type, is one of numbers; truth values are words."""
    dtype = getattr(column, "dtype", column)
    return pd.api.types.is_numeric_dtype(dtype) and not pd.api.types.is_bool_dtype(dtype)


def is_gap(column: pd.Series[Any]) -> pd.Series[Any]:
    """Tell where a column has nothing; an infinite number is no gap yet."""
    if is_number(column):
        return column.isna()
    return text_of(column).isna()


def kind_of(name: str, column: pd.Series[Any]) -> str:
    """Return what a column of the training rows is."""
    if is_number(column):
        return row_names(name, column) or NUMBER
    if isinstance(column.dtype, pd.CategoricalDtype):
        return WORDS
    present = text_of(column).dropna()
    if not len(present):
        return NUMBER  # without any value
    if pd.api.types.is_datetime64_any_dtype(column.dtype):
        return DATE
    if 2 * np.isfinite(as_numbers(present, comma=has_decimal_comma(present))).sum() > len(present):
        return NUMBER
    if 2 * present.str.fullmatch(_DATE).sum() > len(present):
        dates = as_dates(present)
        if 2 * dates.notna().sum() > len(present):
            return DATE
    different = present.nunique()
    return IDENTIFIER if different > LEAST_NAMES and 2 * different > len(present) else WORDS


def row_names(name: str, column: pd.Series[Any]) -> str:
    """Return `INDEX` or `IDENTIFIER` of a column of numbers that names the rows, else nothing.

    It is called so, or not at all, and holds whole numbers, each a different one.
    """
    if not may_name_rows(name):
        return ""
    values = column.to_numpy(dtype=np.float64, na_value=np.nan)
    integral = np.isfinite(values).all() and (values == np.round(values)).all()
    if not integral or len(values) < 2 or len(np.unique(values)) < len(values):
        return ""
    return INDEX if _UNLABELLED.fullmatch(name) else IDENTIFIER


def may_name_rows(name: str) -> bool:
    """Tell whether a column is called like the numbers of rows: id, index, or nothing."""
    return bool(_UNLABELLED.fullmatch(name) or _IDENTIFIER.fullmatch(name))


def text_of(column: pd.Series[Any]) -> pd.Series[Any]:
    """Return a column as words, None where nothing is there."""
    if is_number(column):  # 3.0 is the word 3: gaps make floats of whole numbers
        numbers = column.to_numpy(dtype=np.float64, na_value=np.nan)
        texts = [None if np.isnan(value) else f"{value:.15g}" for value in numbers]
        return pd.Series(texts, index=column.index, dtype=object)
    there = column.notna()
    text = column.astype(str).astype(object)
    return text.where(there & (text.str.strip() != ""), None)


def has_decimal_comma(text: pd.Series[Any]) -> bool:
    """Tell whether numbers have a decimal comma: 12,5 or 1.234,5, and not 1,234."""
    text = text_of(text).dropna().str.replace(_UNIT, "", regex=True)
    return bool(
        text.str.fullmatch(r"[-+]?[\d.]*\d,(\d{1,2}|\d{4,})").any()
        and not text.str.fullmatch(r"[-+]?[\d,]*\.(\d{1,2}|\d{4,})").any()
    )


def as_numbers(text: pd.Series[Any], *, comma: bool) -> Array:
    """Return the numbers that words stand for, NaN where they stand for none or an infinite one.

    Percent and currency signs are left out, and so are marks between thousands: spaces, apostrophes
    and of comma and point the one that is not the decimal sign.
    """
    codes, different = pd.factorize(text)
    words = pd.Series(different, dtype=object).str.replace(_UNIT, "", regex=True)
    point, mark = (",", ".") if comma else (r"\.", ",")
    grouped = rf"^\s*[-+]?[1-9]\d{{0,2}}(?:[{mark}{_SPACES}]\d{{3}})+(?={point}\d+\s*$|\s*$)"
    words = words.str.replace(grouped, lambda match: re.sub(r"[^-+\d]", "", match[0]), regex=True)
    if comma:
        words = words.where(~words.str.contains(".", regex=False), None)
        words = words.str.replace(",", ".", regex=False)
    numbers = pd.to_numeric(words, errors="coerce").to_numpy(dtype=np.float64)
    return np.append(np.where(np.isfinite(numbers), numbers, np.nan), np.nan)[codes]


def is_day_first(text: pd.Series[Any], before: bool | None = None) -> bool | None:
    """Tell whether 1/2/2020 is in February; None where no date is written like that.

    The first number that is above 12 says it. Without one it is as `before`, in training, say; or
    else dates with points or hyphens have the day first.
    """
    parts = text.dropna().astype(str).str.extract(r"^(\d{1,2})([-/.])(\d{1,2})[-/.]\d")
    if parts[1].isna().all():
        return before
    first, second = (pd.to_numeric(parts[at]).max() for at in (0, 2))
    if first > 12 or second > 12:
        return bool(first > 12)
    return bool((parts[1].dropna() != "/").any()) if before is None else before


def moments(name: str, column: pd.Series[Any]) -> Array:
    """Return when the rows of a column are: its dates in days, or its numbers; NaN of gaps.

    DataError where it holds neither.
    """
    if is_number(column):
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    if kind_of(name, column) != DATE:
        raise DataError(
            f"'{name}' holds neither dates nor numbers, such as {str(column.dropna().iloc[0])!r}."
            if column.notna().any()
            else f"'{name}' is empty.",
            "It cannot say which rows come later.",
            "Name a column of dates or numbers.",
        )
    dates = as_dates(column)
    return np.asarray((dates - EPOCH) / pd.Timedelta(days=1), dtype=np.float64)


def as_dates(column: pd.Series[Any], before: bool | None = None) -> pd.Series[Any]:
    """Return the moments that a column says, in UTC without a zone; NaT where it says none.

    `before` is whether days came first in training, see `is_day_first`.
    """
    if pd.api.types.is_datetime64_any_dtype(column.dtype):
        return pd.to_datetime(column, utc=True).dt.tz_localize(None)
    codes, different = pd.factorize(text_of(column))
    text = pd.Series(different, dtype=object)
    text = text.where(
        ~text.str.fullmatch(_TIME).astype(bool), EPOCH.date().isoformat() + " " + text
    )
    year_first = text.str.match(r"\d{4}").astype(bool)  # pandas turns these around as well
    dates = pd.concat(
        pd.to_datetime(part, format="mixed", dayfirst=day_first, errors="coerce", utc=True)
        for part, day_first in (
            (text[year_first], False),
            (text[~year_first], bool(is_day_first(text, before))),
        )
    ).sort_index()
    moments = dates.dt.tz_localize(None).reindex(codes)  # -1 is no row of them: NaT
    return moments.set_axis(column.index)
