"""Jinja templates, with the filters that write numbers."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from rfbench.pages import grids, words

if TYPE_CHECKING:
    from jinja2 import Environment

FILTERS = ("number", "signed", "p_value", "seconds", "count", "listing")


def render(template: str, **facts: Any) -> str:
    """Fill a template of `rfbench/pages/templates/` with facts; one that it lacks is an error.

    The text ends with one line feed; runs of empty lines are one.
    """
    return _tidy(environment().get_template(template).render(**facts))


def lines(template: str, macro: str, **facts: Any) -> list[str]:
    """Return what a macro of a template says, line by line, without the empty ones."""
    text = getattr(environment().get_template(template).module, macro)(**facts)
    return [line for line in map(str.strip, str(text).splitlines()) if line]


def _tidy(text: str) -> str:
    kept: list[str] = []
    for line in map(str.rstrip, text.splitlines()):
        if line or (kept and kept[-1]):
            kept.append(line)
    return "\n".join(kept).rstrip("\n") + "\n"


@cache
def environment() -> Environment:
    """Return the environment of the templates, with the filters of `rfbench.pages.words`."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    made = Environment(
        loader=PackageLoader("rfbench.pages"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # Markdown; the HTML report has an environment of its own
    )
    made.filters.update({name: getattr(words, name) for name in FILTERS})
    made.filters["table"] = grids.markdown
    made.filters["escaped"] = lambda text: str(text).translate(grids.MARKDOWN)
    made.globals.update(spread=words.spread, span=words.span, link=words.link)
    return made
