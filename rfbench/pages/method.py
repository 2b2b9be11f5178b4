"""A method on one screen: what it is, its parameters, its source."""

from __future__ import annotations

import inspect
import textwrap
from dataclasses import MISSING, fields, is_dataclass
from typing import Any

from rfbench.docstrings import entries, readable, sections
from rfbench.escaping import one_line

LINES, WIDTH = 40, 100


def text(cls: type[Any], width: int = WIDTH) -> str:
    """Return summary, parameters with their defaults, source and comparisons of a class.

    At most `LINES` lines: of what does not fit, the end of the summary goes first.
    """
    parts = sections(cls.__doc__ or "")
    parameters = _parameters(cls, parts, width)
    source = _wrapped(readable(parts.get("References", "")), width, "Source: ")
    declared = getattr(cls, "declaration", None)
    against = [line for line in declared.verified.splitlines() if line and line[0] != " "] \
        if declared else []  # fmt: skip
    verified = _wrapped("; ".join(dict.fromkeys(against)), width, "Verified against: ")
    more = [f"All of it, in Python: help(rfbench.samplers.{cls.__name__})"]
    rest = [
        part for part in (parameters, source[:6], verified[:4], more if declared else []) if part
    ]
    room = LINES - sum(map(len, rest)) - len(rest) - 1
    paragraphs = readable(f"{cls.__name__}: {parts['']}").split("\n\n")
    about = [line for each in paragraphs for line in [*_wrapped(each, width), ""]][:-1]
    if len(about) > room:
        about = [*about[: max(room - 1, 1)], "  ..."]
    return "\n\n".join("\n".join(part) for part in (about, *rest)) + "\n"


def _parameters(cls: type[Any], parts: dict[str, str], width: int) -> list[str]:
    """Return a line per parameter: name, default, and the first sentence about it."""
    if not is_dataclass(cls):
        return []
    meanings = entries(parts.get("Parameters", ""))
    lines = ["Parameters"]
    for declared in fields(cls):
        if not declared.init:
            continue
        default = "" if declared.default is MISSING else f" = {declared.default!r}"
        kind, meaning = meanings.get(declared.name, ("", ""))
        first = readable(" ".join(meaning.split())).split(". ")[0].rstrip(".")
        choices = kind.partition("}")[0] + "}" if kind.startswith("{") else ""
        about = "; ".join(filter(None, [choices, first]))
        line = f"{declared.name}{default}" + (f": {about}" if about else "")
        lines.append(textwrap.shorten(one_line(line), width - 2, placeholder=" ..."))
    return [lines[0], *(f"  {line}" for line in lines[1:])]


def _wrapped(text: str, width: int, head: str = "") -> list[str]:
    if not text.strip():
        return []
    kept = inspect.cleandoc(text)
    if kept.startswith("    "):
        return kept.splitlines()  # a formula
    return textwrap.wrap(
        head + " ".join(kept.split()), width, subsequent_indent="  " if head else ""
    )
