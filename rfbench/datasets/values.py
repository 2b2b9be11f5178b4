"""Interpretation of the values of a column as numbers, strings, dates or missing values."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import infer_dtype

from rfbench.arrays import Array
from rfbench.errors import DataError

NUMBER, DATE, WORDS = "number", "date", "words"
IDENTIFIER, INDEX = "identifier", "index"  # kinds of columns whose values identify rows
SEVERAL_UNITS = "several units"  # kind of a column whose strings are numbers with different units
# A text column with at most this number of different strings contains categories, even if no string
# is repeated. Longer lists of distinct strings identify rows. The value was chosen without a
# measurement. With twice this value, a column of 30 distinct names counts as categories.
LEAST_NAMES = 20
# Maximum number of column names in a message. With twice this value, the names do not fit on a
# line.
MOST_NAMED = 8
# Name of the type that pandas infers for a column that contains only strings.
_ONLY_WORDS = infer_dtype(["word"])
EPOCH = pd.Timestamp("2000-01-01")
_DATE = re.compile(r"\d{1,4}[-/.]\d{1,2}[-/.]\d{2,4}([ T]\d.*)?|\d{1,2}:\d{2}(:\d{2}.*)?", re.ASCII)
_TIME = re.compile(r"\d{1,2}:\d{2}.*", re.ASCII)
_IDENTIFIER = re.compile(r"(.*[^A-Za-z])?(?i:id|uuid|guid|index|rownames)|.*[a-z](Id|ID)")
# Matches the names that pandas gives to columns without a name, such as "Unnamed: 0" and "Unnamed:
# 0.1".
_UNLABELED = re.compile(r"(Unnamed: \d+(\.\d+)*)?")
# characters that may separate thousands, in addition to the point and the comma
_SPACES = r" '_\u00a0\u2009\u202f\u2019"
_UNIT = re.compile(r"(?<![^-+\s])[$€£¥]\s?|\s?[%$€£¥]\s*$")
_DASHES = (
    # characters that are read as a minus sign: hyphens, dashes and minus signs
    "-\u2010\u2011\u2012\u2013\u2014\u2212\ufe58\ufe63\uff0d"
)
_MINUS = rf"^[{_DASHES}](?=\s?[\d.,$€£¥])"
_ACCOUNTS = re.compile(
    rf"\(([^-+()]*\d[^-+()]*)\)|([^-+()]*\d[^-+()]*?)\s?[{_DASHES}]"
)  # negative numbers in accounting notation: (1.5), 1.5-
_FORTRAN = r"(?<=[\d.])[dD](?=[-+]\d+$)"  # exponents in Fortran notation: 1.0D+00
# Matches numbers with Indian thousands separators, such as 1,23,450.
_INDIAN = re.compile(r"([-+]?[1-9]\d?(?:,\d{2})+,\d{3})(\.\d+)?")
# Numbers that `to_plain_numbers` returns unchanged. The first expression is for columns with a
# decimal point, and the second expression is for columns with a decimal comma. Without this
# shortcut, a target with a million different numbers takes minutes (measured).
_PLAIN = (
    re.compile(r"[-+]?\d+(\.\d*)?([eE][-+]?\d+)?", re.ASCII),
    re.compile(r"[-+]?\d+([eE][-+]?\d+)?", re.ASCII),
)
# Strings that `pandas.read_csv` reads as missing values, and "?", which the UCI data sets use.
_MARKERS = (
    "? #N/A #NA -1.#IND -1.#QNAN -NaN -nan 1.#IND 1.#QNAN <NA> N/A NA NULL NaN None n/a nan null"
)
MISSING_MARKERS = frozenset([*_MARKERS.split(), "#N/A N/A"])
# Factors of the suffixes of numbers, such as 5K for 5,000, by definition.
FACTORS = {"": 1.0, "K": 1e3, "k": 1e3, "M": 1e6, "B": 1e9}
_MEASURE = re.compile(
    rf"(?P<number>\(?[-+{_DASHES}]?\s?[$€£¥]?\s?"
    rf"[\d.,](?:[\d.,{_SPACES}]*[\d.])?(?:[eE][-+]?\d+)?\)?)\s*"
    r"(?P<unit>(?:[^\W\d_]|[°µ‰Ω\u2032\u2033'\"])[^\s\d_]*"
    r"(?:[\d²³^/*·.-]+[^\W\d_]*)*(?: [^\W\d_]+)?)?"
)
# Units with a single character: SI units, lengths and angles. The letters K, M and B are not units,
# but factors such as a thousand.
_SHORT_UNITS = frozenset([*"mgshlLtWVAJN°‰Ω'\"\u2032\u2033"])


def format_names(names: list[str]) -> str:
    """Return up to eight names as a single string, followed by the number of further names."""
    more = f" and {len(names) - MOST_NAMED:,} more" if len(names) > MOST_NAMED else ""
    return ", ".join(map(str, names[:MOST_NAMED])) + more


def as_table(X: Any, what: str = "The table") -> pd.DataFrame:
    """Return the rows X as a table with stripped strings as column names.

    Raise DataError if two columns have the same name. `what` is the name of the table in the
    message.
    """
    table = X if isinstance(X, pd.DataFrame) else pd.DataFrame(np.asarray(X))
    table = table.reset_index(drop=True)
    table = table.set_axis([str(column).strip() for column in table.columns], axis=1)
    check_distinct_names(what, table.columns)
    return table


def check_distinct_names(what: str, names: Iterable[Any]) -> None:
    """Raise DataError if two column names are equal after blanks at their ends are removed.

    `what` is the name of the table in the error message.
    """
    first: dict[str, int] = {}
    for place, name in enumerate((str(name).strip() for name in names), 1):
        if (before := first.setdefault(name, place)) != place:
            raise DataError(
                f"{what} has two columns '{name}': columns {before} and {place}.",
                "A column name has to be unique.",
                "Rename one of the columns.",
            )


def is_numeric_column(column: pd.Series[Any] | Any) -> bool:
    """Return True if a column, or its dtype, is numeric. Booleans are not numeric."""
    dtype = getattr(column, "dtype", column)
    return pd.api.types.is_numeric_dtype(dtype) and not pd.api.types.is_bool_dtype(dtype)


def group_columns_by_dtype(table: pd.DataFrame) -> dict[Any, list[int]]:
    """Return a dictionary from each dtype to the positions of its columns in the table."""
    groups: dict[Any, list[int]] = {}
    for at, dtype in enumerate(table.dtypes):
        groups.setdefault(dtype, []).append(at)
    return groups


def find_columns_by_dtype(table: pd.DataFrame, has_type: Callable[[Any], bool]) -> list[int]:
    """Return the positions of the columns with a dtype for which `has_type` returns True."""
    groups = group_columns_by_dtype(table)
    return sorted(at for dtype, places in groups.items() if has_type(dtype) for at in places)


def list_non_numeric_columns(table: pd.DataFrame) -> list[str]:
    """Return the names of the non-numeric columns of a table."""
    return [
        str(table.columns[at])
        for at in find_columns_by_dtype(table, lambda t: not is_numeric_column(t))
    ]


def is_missing(column: pd.Series[Any]) -> pd.Series[Any]:
    """Return a mask of the missing values of a column. Infinite numbers are not missing."""
    if is_numeric_column(column):
        return column.isna()
    return to_text(column).isna()


def has_nested_values(column: pd.Series[Any]) -> bool:
    """Return True if some values of a column are lists, tuples, mappings, arrays or bytes."""
    parts = (bytes, bytearray, memoryview, list, tuple, dict, set, np.ndarray)
    return bool(column.dtype == object and any(isinstance(cell, parts) for cell in column))


def infer_column_kind(name: str, column: pd.Series[Any]) -> str:
    """Return the kind of a column: numbers, dates, categories, or a reason not to use it."""
    if is_numeric_column(column):
        return infer_row_identifier(name, column) or NUMBER
    if isinstance(column.dtype, pd.CategoricalDtype):
        return WORDS
    present = to_text(column).dropna()
    if not len(present):
        return NUMBER  # the column has no values
    if pd.api.types.is_datetime64_any_dtype(column.dtype):
        return DATE
    if is_mostly_numbers(present, parse_numbers(present, comma=has_decimal_comma(present))):
        return NUMBER
    if 2 * present.str.fullmatch(_DATE).sum() > len(present):
        dates = parse_dates(present)
        if 2 * dates.notna().sum() > len(present):
            return DATE
    different = present.nunique()
    if different <= LEAST_NAMES or 2 * different <= len(present):
        return WORDS
    return SEVERAL_UNITS if len(list_units(present)) > 1 else IDENTIFIER


def infer_row_identifier(name: str, column: pd.Series[Any]) -> str:
    """Return `INDEX` or `IDENTIFIER` for a numeric column that identifies rows, "" otherwise.

    A column identifies rows if it contains distinct whole numbers, and has no name or the name of
    an identifier.
    """
    if not is_row_identifier_name(name):
        return ""
    values = column.to_numpy(dtype=np.float64, na_value=np.nan)
    integral = np.isfinite(values).all() and (values == np.round(values)).all()
    if not integral or len(values) < 2 or len(np.unique(values)) < len(values):
        return ""
    return INDEX if _UNLABELED.fullmatch(name) else IDENTIFIER


def is_row_identifier_name(name: str) -> bool:
    """Return True if a column name is typical of row numbers or identifiers, such as id."""
    return bool(_UNLABELED.fullmatch(name) or _IDENTIFIER.fullmatch(name))


def to_text(column: pd.Series[Any]) -> pd.Series[Any]:
    """Return the values of a column as strings, with None for missing values and blank strings."""
    # Whole numbers with missing values are stored as floats. Format 3.0 as "3", without decimals.
    if is_numeric_column(column):
        numbers = column.to_numpy(dtype=np.float64, na_value=np.nan)
        texts = [None if np.isnan(value) else f"{value:.15g}" for value in numbers]
        return pd.Series(texts, index=column.index, dtype=object)
    if pd.api.types.is_timedelta64_dtype(column.dtype):  # durations are converted to seconds
        return to_text(column.dt.total_seconds())
    there, text = column.notna(), column
    if column.dtype != object or infer_dtype(column, skipna=True) != _ONLY_WORDS:
        text = column.astype(str).astype(object)  # astype creates a new string for each value
    return text.where(there & (text.str.strip() != ""), None)


def has_decimal_comma(text: pd.Series[Any]) -> bool:
    """Return True if the numbers in a column of strings have decimal commas, as in 12,5 or 1.234,5.

    A number like 1,234 is ignored, because its comma may separate thousands.
    """
    text = to_text(text).dropna().str.replace(_UNIT, "", regex=True)
    return bool(
        text.str.fullmatch(r"[-+]?[\d.]*\d,(\d{1,2}|\d{4,})").any()
        and not text.str.fullmatch(r"[-+]?[\d,]*\.(\d{1,2}|\d{4,})").any()
    )


def is_mostly_numbers(text: pd.Series[Any], numbers: Array) -> bool:
    """Return True if more than half of the strings are numbers.

    `numbers` contains the parsed strings, with NaN for a string that is not a number. The result is
    False if all numbers have the form (1) or 1-, in which accounting writes negative numbers.
    """
    there = np.isfinite(numbers)
    if 2 * there.sum() <= len(text):
        return False
    return not text[there].str.strip().str.fullmatch(_ACCOUNTS).all()


def is_only_dashes(text: pd.Series[Any]) -> pd.Series[Any]:
    """Return a mask of the strings that contain only dashes."""
    return text.str.fullmatch(rf"\s*[{_DASHES}]+\s*") == True  # noqa: E712 (None is not a dash)


def to_plain_numbers(text: pd.Series[Any], *, comma: bool) -> pd.Series[Any]:
    """Return strings with numbers in plain notation: a decimal point and an ASCII minus sign.

    Percent signs, currency signs and thousands separators are removed. `comma` is True if the input
    has decimal commas. Strings that are not numbers are not changed or become None.
    """
    codes, different = pd.factorize(text)
    words = pd.Series(different, dtype=object).str.strip()
    odd = ~words.str.fullmatch(_PLAIN[comma]).to_numpy(dtype=bool)
    plain = words.to_numpy(copy=True)
    plain[odd] = _rewrite(words[odd], comma=comma)  # None remains None in this array
    return pd.Series(plain, dtype=object).reindex(codes).set_axis(text.index)


def _rewrite(words: pd.Series[Any], *, comma: bool) -> pd.Series[Any]:
    """Return strings with their numbers in the plain notation of `to_plain_numbers`.

    `comma` is True if the input has decimal commas.
    """
    accounts = words.str.fullmatch(_ACCOUNTS).astype(bool)
    words = words.where(~accounts, words.str.replace(_ACCOUNTS, r"-\1\2", regex=True))
    words = words.str.replace(_MINUS, "-", regex=True).str.replace(_UNIT, "", regex=True)
    words = words.str.replace(_FORTRAN, "e", regex=True)
    point, mark = (",", ".") if comma else (r"\.", ",")
    grouped = rf"^\s*[-+]?[1-9]\d{{0,2}}(?:[{mark}{_SPACES}]\d{{3}})+(?={point}\d+\s*$|\s*$)"
    words = words.str.replace(grouped, lambda match: re.sub(r"[^-+\d]", "", match[0]), regex=True)
    if comma:
        words = words.where(~words.str.contains(".", regex=False), None)
        words = words.str.replace(",", ".", regex=False)
    else:
        indian = words.str.fullmatch(_INDIAN).astype(bool)
        words = words.where(~indian, words.str.replace(",", "", regex=False))
    return words


def parse_numbers(text: pd.Series[Any], *, comma: bool) -> Array:
    """Return strings as floats. A string that is not a finite number becomes NaN.

    Percent signs, currency signs and thousands separators are accepted. `comma` is True if the
    numbers have decimal commas.
    """
    codes, different = pd.factorize(text)
    words = to_plain_numbers(pd.Series(different, dtype=object), comma=comma)
    numbers = pd.to_numeric(words, errors="coerce").to_numpy(dtype=np.float64)
    return np.append(np.where(np.isfinite(numbers), numbers, np.nan), np.nan)[codes]


def split_numbers_and_units(text: pd.Series[Any]) -> pd.DataFrame:
    """Return a table with the columns `number` and `unit`: the two parts of each string.

    Both parts are strings. The unit may be empty. If a string is not a number with or without a
    unit, both parts are missing.
    """
    codes, different = pd.factorize(text)
    words = pd.Series(different, dtype=object).str.strip()
    parts = words.str.extract(rf"^{_MEASURE.pattern}$")
    parts = parts.assign(unit=parts["unit"].fillna("").where(parts["number"].notna()))
    return parts.reindex(codes).set_axis(text.index)


def list_units(text: pd.Series[Any]) -> list[str]:
    """Return the units in a text column, such as ``kg``, in sorted order.

    The list is empty unless most strings are numbers and at least one number has a unit. It is also
    empty if there are more than eight different units.
    """
    units = split_numbers_and_units(text)["unit"].value_counts()
    few = 2 * units.sum() > len(text) and units.drop("", errors="ignore").sum() > 0
    return sorted(map(str, units.index)) if few and len(units) <= MOST_NAMED else []


def parse_numbers_with_units(
    text: pd.Series[Any], *, comma: bool, unit: str | None = None
) -> tuple[Array, str]:
    """Return the numbers in strings such as "5 kg", and their common unit.

    If `unit` is given, strings with a different unit become NaN. Otherwise the unit is detected. If
    there is no common unit, all numbers are NaN, and the unit is an empty string. A detected unit
    has at least two letters or is a known sign, and at least 20 of the numbers have to be
    different.

    The letters K, M and B after numbers may be factors, such as a thousand, instead of units. They
    are factors if several of them occur, or if one of them and numbers without a letter occur. The
    unit is then for example ``K, M``. `comma` is True if the numbers have decimal commas.
    """
    parts = split_numbers_and_units(text)
    numbers, units = parse_numbers(parts["number"], comma=comma), parts["unit"].fillna("\0")
    nothing = np.full(len(text), np.nan), ""
    if unit is None:
        there = sorted(set(units[np.isfinite(numbers)]))
        if set(there) <= set(FACTORS) and len(there) > 1:
            unit = ", ".join(filter(None, there))
            complete = np.isfinite(numbers).sum() == text.notna().sum()
        else:
            unit = there[0] if len(there) == 1 else ""
            letters = sum(letter.isalpha() for letter in unit)
            signs = set(unit) & set("°µ‰Ω²³/")
            complete = letters > 1 or unit in _SHORT_UNITS or bool(letters and signs)
            complete &= bool(2 * np.isfinite(numbers).sum() > text.notna().sum())
        if not unit or not complete or len(np.unique(numbers[~np.isnan(numbers)])) < LEAST_NAMES:
            return nothing
    if set(unit.split(", ")) <= set(FACTORS):
        return numbers * units.map(FACTORS).to_numpy(dtype=np.float64), unit
    return np.where(units.isin([unit, ""]), numbers, np.nan), unit


def is_day_first(text: pd.Series[Any], before: bool | None = None) -> bool | None:
    """Return True if 1/2/2020 means February 1, and False if it means January 2.

    If the first or the second number of a date in the column is above 12, it is the day. If all
    numbers are at most 12, the result is `before`, the order in an earlier column. If `before` is
    None, the day is first in dates with points or hyphens. If there are no dates of this form, the
    result is `before`.
    """
    parts = text.dropna().astype(str).str.extract(r"^(\d{1,2})([-/.])(\d{1,2})[-/.]\d")
    if parts[1].isna().all():
        return before
    first, second = (pd.to_numeric(parts[at]).max() for at in (0, 2))
    if first > 12 or second > 12:
        return bool(first > 12)
    return bool((parts[1].dropna() != "/").any()) if before is None else before


def to_days(name: str, column: pd.Series[Any]) -> Array:
    """Return dates as days since `EPOCH`, as floats. Numbers are not changed.

    Missing values become NaN. Raise DataError if the column contains neither dates nor numbers.
    `name` is the name of the column.
    """
    if is_numeric_column(column):
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    if infer_column_kind(name, column) != DATE:
        raise DataError(
            (
                f"The column '{name}' contains neither dates nor numbers. One value is "
                f"{str(column.dropna().iloc[0])!r}."
            )
            if column.notna().any()
            else f"The column '{name}' does not have any value.",
            "The column does not determine the order of the rows in time.",
            "Name a column of dates or numbers.",
        )
    dates = parse_dates(column)
    return np.asarray((dates - EPOCH) / pd.Timedelta(days=1), dtype=np.float64)


def parse_dates(column: pd.Series[Any], before: bool | None = None) -> pd.Series[Any]:
    """Return the dates in a column, in UTC without a time zone. Other values become NaT.

    `before` is True if the day comes before the month in an earlier column, such as the training
    column. It decides ambiguous dates, see `is_day_first`.
    """
    if pd.api.types.is_datetime64_any_dtype(column.dtype):
        return pd.to_datetime(column, utc=True).dt.tz_localize(None)
    codes, different = pd.factorize(to_text(column))
    text = pd.Series(different, dtype=object)
    text = text.where(
        ~text.str.fullmatch(_TIME).astype(bool), EPOCH.date().isoformat() + " " + text
    )
    # Parse dates that start with the year separately. With `dayfirst=True`, pandas would swap their
    # month and day.
    year_first = text.str.match(r"\d{4}").astype(bool)
    dates = pd.concat(
        pd.to_datetime(part, format="mixed", dayfirst=day_first, errors="coerce", utc=True)
        for part, day_first in (
            (text[year_first], False),
            (text[~year_first], bool(is_day_first(text, before))),
        )
    ).sort_index()
    moments = dates.dt.tz_localize(None).reindex(codes)  # NaT is the value for the code -1
    return moments.set_axis(column.index)


def format_dates(days: pd.Series[Any], form: str) -> pd.Series[Any]:
    """Return days since `EPOCH` as date strings in the `strftime` format `form`.

    Infinite numbers become missing values.
    """
    finite = days.where(np.isfinite(days.to_numpy()))
    moments = EPOCH + pd.to_timedelta(finite, unit="D", errors="coerce")
    return moments.dt.round("s" if "%S" in form else "D").dt.strftime(form)
