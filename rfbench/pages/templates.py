"""Rendering of Jinja templates, with filters that format numbers."""

from __future__ import annotations

import re
import textwrap
from functools import cache
from typing import TYPE_CHECKING, Any

from rfbench.escaping import Markdown, escape_line, escape_markdown
from rfbench.pages import formatting, grids
from rfbench.registry import find_displayed_name

if TYPE_CHECKING:
    from jinja2 import Environment

FILTERS = (
    "format_number",
    "format_signed",
    "format_significant",
    "format_p_value",
    "format_seconds",
    "count",
    "join_names",
)


def render_template(template: str, form: str = "markdown", width: int = 0, **facts: Any) -> str:
    """Fill a template of `rfbench/pages/templates/` with values; a missing value is an error.

    For a template of an optional component, the name includes the folder, such as
    ``audit/audits.md.j2``. The values in templates ``.md.j2`` are escaped as Markdown if `form` is
    ``markdown``. If `width` is not 0, lines are wrapped at this width. The text ends with one line
    feed, and several empty lines are reduced to one.
    """
    escaped = template.endswith(".md.j2") and form == "markdown"
    text = make_jinja_environment(escaped).get_template(template).render(**facts)
    return _tidy("\n".join(wrap_line(line, width) for line in text.splitlines()) if width else text)


def wrap_line(line: str, width: int) -> str:
    """Wrap a line that is too wide; continuation lines are aligned with the text of the first."""
    if len(line) <= width:
        return line
    indent = " " * (len(line) - len(line.lstrip("- ")))
    return textwrap.fill(line, width, subsequent_indent=indent, break_on_hyphens=False)


def render_macro_lines(template: str, macro: str, **facts: Any) -> list[str]:
    """Return the non-empty lines that a macro of a template writes."""
    text = getattr(make_jinja_environment().get_template(template).module, macro)(**facts)
    return [line for line in map(str.strip, str(text).splitlines()) if line]


def _tidy(text: str) -> str:
    lines = "\n".join(map(str.rstrip, text.splitlines()))
    return re.sub(r"\n{3,}", "\n\n", lines).strip("\n") + "\n"


@cache
def make_jinja_environment(escaped: bool = False) -> Environment:
    """Return the Jinja environment for templates, with filters of `rfbench.pages.formatting`.

    With `escaped`, every value in a template is escaped as Markdown, unless it is an instance of
    `rfbench.escaping.Markdown`, such as a link, a table, or the result of a macro.
    """
    # Disable the escaping of Jinja for Markdown, because Jinja can escape only HTML.
    finalize = _escaped if escaped else None
    made = make_plain_jinja_environment(
        keep_trailing_newline=True, autoescape=escaped, finalize=finalize
    )
    made.filters["table"] = grids.render_markdown
    # In a Markdown code block, no character is markup. Therefore the filter `code` does not escape
    # Markdown.
    made.filters["code"] = lambda text: Markdown(escape_line(text))
    made.globals.update(
        format_spread=formatting.format_spread,
        format_span=formatting.format_span,
        link=formatting.link,
        printed=find_displayed_name,
    )
    return made


def make_plain_jinja_environment(**kwargs: Any) -> Environment:
    """Return a Jinja environment with the filters of `rfbench.pages.formatting`.

    The keyword arguments are passed to Jinja.
    """
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    made = Environment(
        loader=ChoiceLoader([PackageLoader("rfbench.pages"), PackageLoader("rfbench", "")]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        **kwargs,
    )
    made.filters.update(
        {name: getattr(formatting, name) for name in FILTERS}, printed=find_displayed_name
    )
    return made


def _escaped(value: Any) -> Any:
    return escape_markdown(value) if isinstance(value, str) else value
