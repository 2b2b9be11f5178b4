"""Escaping of untrusted text, with one function for each kind of output.

Labels, names of files and error messages of imported code can contain any characters.
`escape_controls` is for the output on a terminal. All other functions call it first.
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

# Characters that start markup within a line of Markdown. The underscore is not included, because an
# underscore between letters does not start markup. Code between backticks is not escaped.
MARKDOWN = str.maketrans({sign: f"\\{sign}" for sign in "\\|*<[]"} | {"\n": " "})
LATEX = str.maketrans(
    {c: f"\\{c}" for c in "&%$#_{}"}
    | {"\\": r"\textbackslash ", "~": r"\textasciitilde ", "^": r"\textasciicircum "}
    | {"±": r"$\pm$", "≤": r"$\le$", "≥": r"$\ge$", "•": r"$\bullet$", "\N{EN DASH}": "--"}
    | {"<": r"\textless{}", ">": r"\textgreater{}", "\n": " "}
)
FORMULAS = ("=", "+", "-", "@")


def escape_controls(text: object) -> str:
    r"""Escape all characters that a terminal does not print, except line feeds.

    The escapes are as in Python strings. Escaped characters are control characters, which can
    control a terminal, and invisible characters, such as marks that change the writing direction.

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


def escape_warnings() -> None:
    """Escape the text of the warnings that Python prints, because they may quote untrusted text."""
    written = warnings.formatwarning
    if getattr(written, "__module__", "") == __name__:
        return

    @functools.wraps(written, assigned=())
    def formatted(*words: Any, **more: Any) -> str:
        return escape_controls(written(*words, **more))

    warnings.formatwarning = formatted


def escape_line(text: object) -> str:
    r"""Escape text for a single line or a table cell.

    Characters are escaped as in `escape_controls`, and line feeds become ``\n``.
    """
    return escape_controls(text).replace("\n", "\\n")


class Markdown(str):
    """A string that is already Markdown, so that it is not escaped again.

    `escape_markdown` and the template engine Jinja return it unchanged.
    """

    def __html__(self) -> str:
        """Return the string unchanged.

        The template engine Jinja does not escape objects that have this method.
        """
        return self


def escape_markdown(text: object) -> Markdown:
    r"""Escape text for use within a line of Markdown; a `Markdown` object is returned unchanged.

    >>> print(escape_markdown(r"\<img onerror=x> [a](javascript:b)"))
    \\\<img onerror=x> \[a\](javascript:b)
    """
    live = hasattr(text, "__html__")  # the result of a Jinja macro also has the method __html__
    return Markdown(text if live else escape_controls(text).translate(MARKDOWN))


def escape_latex(text: object) -> str:
    """Escape text for use within a line of LaTeX."""
    return escape_controls(text).translate(LATEX)


def as_csv(table: pd.DataFrame, **options: Any) -> str:
    """Return a table as CSV in which a spreadsheet does not run any cell as a formula.

    A quote is put before each text that starts like a formula, such as ``=1+1``. A text that is a
    number is unchanged, because -1 is not a formula.
    """
    texts = table.select_dtypes(exclude=["number", "bool"]).map(_cell)
    escaped = table.assign(**{str(name): texts[name] for name in texts})
    written: str = escaped.rename(columns=_cell).to_csv(index=False, **options)
    return written


def _cell(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    text = escape_line(value)  # escape tabs and carriage returns at the start of a text here
    return f"'{text}" if text.startswith(FORMULAS) and not _is_number(text) else text


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def to_json_value(value: Any) -> Any:
    """Convert a value to a value that JSON can represent.

    NaN and infinity become None. Values of unknown types become strings.
    """
    # Convert numpy scalars and arrays to Python numbers and lists.
    value = value.tolist() if hasattr(value, "tolist") else value
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
