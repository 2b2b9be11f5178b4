"""Functions that render Jinja templates, with filters that format numbers."""

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
    """Return the text of the Jinja template `template`, filled with the values `facts`.

    `template` is a file in ``rfbench/pages/templates/``, or a path in ``rfbench/`` such as
    ``audit/audits.md.j2``. A missing value is an error. If `form` is ``markdown`` and the name of
    the file ends in ``.md.j2``, values are escaped as Markdown. If `width` is not 0, lines are
    wrapped at this width. Several empty lines are reduced to one.
    """
    escaped = template.endswith(".md.j2") and form == "markdown"
    text = make_jinja_environment(escaped).get_template(template).render(**facts)
    return _tidy("\n".join(wrap_line(line, width) for line in text.splitlines()) if width else text)


def wrap_line(line: str, width: int) -> str:
    """Break a line into several lines of at most `width` characters.

    The new lines have the same indentation as the text of the first line.
    """
    if len(line) <= width:
        return line
    indent = " " * (len(line) - len(line.lstrip("- ")))
    return textwrap.fill(line, width, subsequent_indent=indent, break_on_hyphens=False)


def render_macro_lines(template: str, macro: str, **facts: Any) -> list[str]:
    """Return the non-empty lines of a macro in a Jinja template, called with the values `facts`."""
    text = getattr(make_jinja_environment().get_template(template).module, macro)(**facts)
    return [line for line in map(str.strip, str(text).splitlines()) if line]


def _tidy(text: str) -> str:
    lines = "\n".join(map(str.rstrip, text.splitlines()))
    return re.sub(r"\n{3,}", "\n\n", lines).strip("\n") + "\n"


@cache
def make_jinja_environment(escaped: bool = False) -> Environment:
    """Return the Jinja environment for templates, with filters of `rfbench.pages.formatting`.

    If `escaped` is True, every value in a template is escaped as Markdown. Instances of
    `rfbench.escaping.Markdown`, such as links and tables, are not escaped.
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
