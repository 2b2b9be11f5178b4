"""Texts of others, made harmless: one function per output, each used at the door of that output.

A label, a title, the name of a data set, a machine or a file, a message of somebody else's code:
each may hold anything. `escape_controls` is for a terminal, and the others begin with it.
"""

from __future__ import annotations

import functools
import math
import unicodedata
import warnings
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

# What begins markup within a line. `_` within words begins none, `&` writes a character, and what
# stands between backticks is not live.
MARKDOWN = str.maketrans({sign: f"\\{sign}" for sign in "\\|*<[]"} | {"\n": " "})
LATEX = str.maketrans(
    {c: f"\\{c}" for c in "&%$#_{}"}
    | {"\\": r"\textbackslash ", "~": r"\textasciitilde ", "^": r"\textasciicircum "}
    | {"±": r"$\pm$", "≤": r"$\le$", "≥": r"$\ge$", "•": r"$\bullet$", "\N{EN DASH}": "--"}
    | {"<": r"\textless{}", ">": r"\textgreater{}", "\n": " "}
)
FORMULAS = ("=", "+", "-", "@")


def escape_controls(text: object) -> str:
    r"""Write what no terminal shows as it is, line feeds apart, as Python does.

    That is control characters, with which a terminal is steered, and characters without a shape,
    such as those that turn the direction of writing.

    >>> escape_controls("a\x1b]0;title\x07 b")
    'a\\x1b]0;title\\x07 b'
    """
    text = str(text)
    if all(line.isprintable() for line in text.split("\n")):
        return text
    return "".join(
        c if c == "\n" or c.isprintable() or unicodedata.category(c) == "Zs" else ascii(c)[1:-1]
        for c in text
    )


def guard_warnings() -> None:
    """Pass warnings of Python, which quote texts of others, through `escape_controls`."""
    written = warnings.formatwarning
    if getattr(written, "__module__", "") == __name__:
        return

    @functools.wraps(written, assigned=())
    def formatted(*words: Any, **more: Any) -> str:
        return escape_controls(written(*words, **more))

    warnings.formatwarning = formatted


def escape_line(text: object) -> str:
    r"""Write a text for a line or a cell: as `escape_controls`, and line feeds as ``\n``."""
    return escape_controls(text).replace("\n", "\\n")


class Markdown(str):
    """A text that is Markdown already: `escape_markdown` and Jinja leave it as it is."""

    def __html__(self) -> str:
        """Return the text; that there is this method tells Jinja that nothing is to be escaped."""
        return self


def escape_markdown(text: object) -> Markdown:
    r"""Write a text within a line of Markdown; what is Markdown already stays as it is.

    >>> print(escape_markdown(r"\<img onerror=x> [a](javascript:b)"))
    \\\<img onerror=x> \[a\](javascript:b)
    """
    live = hasattr(text, "__html__")  # what a macro of Jinja made has it too
    return Markdown(text if live else escape_controls(text).translate(MARKDOWN))


def escape_latex(text: object) -> str:
    """Write a text within a line of LaTeX."""
    return escape_controls(text).translate(LATEX)


def as_csv(table: pd.DataFrame, **options: Any) -> str:
    """Write a table as CSV; no text in it begins like a formula, which a spreadsheet would run.

    A number that is written as text stays as it is: -1 is no formula.
    """
    texts = table.select_dtypes(exclude=["number", "bool"]).map(_cell)
    escaped = table.assign(**{str(name): texts[name] for name in texts})
    written: str = escaped.rename(columns=_cell).to_csv(index=False, **options)
    return written


def _cell(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    text = escape_line(value)  # a tab or a carriage return in front is written out here
    return f"'{text}" if text.startswith(FORMULAS) and not _is_number(text) else text


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def to_json_value(value: Any) -> Any:
    """Return what JSON has of a value: other things as texts, and None for what is not finite."""
    value = value.tolist() if hasattr(value, "tolist") else value  # of numpy
    if isinstance(value, Mapping):
        return {str(key): to_json_value(each) for key, each in value.items()}
    if isinstance(value, str | bool | int) or value is None:
        return value
    if isinstance(value, Iterable):
        return [to_json_value(each) for each in value]
    try:
        number = float(value)
    except (TypeError, ValueError):
        return "" if str(value) in ("<NA>", "NaT") else str(value)
    return number if math.isfinite(number) else None
