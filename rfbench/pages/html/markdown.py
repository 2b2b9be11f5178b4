"""Markdown as HTML: the pages of `rfbench report` for the site, with nothing live in them.

No markup of a text survives, links lead where the site says, and pictures are the site's own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup

from rfbench.pages.scoreboard import anchor

LONG = 30  # characters: a longer cell of a table may break over lines


def to_html(text: str, resolve: Callable[[str], str], pictures: Mapping[str, Markup]) -> Markup:
    """Return a Markdown page as HTML, whose headings have the anchors that Markdown gives them.

    Parameters
    ----------
    resolve : callable
        Where a link leads, by what stands in the text; nothing is linked where it returns ``""``.
    pictures : mapping
        HTML by the address of a picture; of others there is their text alone.
    """
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens, anchors, tables = parser.parse(text), list[str](), 0
    for token, after in pairwise([*tokens, Token("", "", 0)]):
        token.attrs.pop("style", None)  # the policy of the page forbids it
        if token.type == "heading_open":
            name = anchor("".join(child.content for child in after.children or ()))
            anchors.append(name if name not in anchors else f"{name}-{len(anchors)}")
            token.attrs["id"] = anchors[-1]
        elif token.type == "table_open":
            tables += 1
            token.meta["number"] = tables
        elif token.type == "td_open" and len(after.content) > LONG:
            token.attrs["class"] = "text"
        elif token.type == "inline":
            token.children = _inline(token.children or [], resolve, pictures)
    parser.add_render_rule("table_open", _table)
    parser.add_render_rule("table_close", lambda *_: "</table></div>\n")
    return Markup(parser.renderer.render(tokens, parser.options, {}))


def _table(_: object, tokens: list[Token], index: int, *__: object) -> str:
    label = f"Table {tokens[index].meta['number']}"
    return f'<div class="scroll" tabindex="0" role="region" aria-label="{label}"><table>\n'


def _inline(
    children: list[Token], resolve: Callable[[str], str], pictures: Mapping[str, Markup]
) -> list[Token]:
    result: list[Token] = []
    links: list[bool] = []  # whether each link that is open leads anywhere
    for token in children:
        if token.type == "link_open":
            target = resolve(str(token.attrs["href"]))
            links.append(bool(target))
            token.attrs = {"href": target}
        if token.type == "image":
            picture = pictures.get(str(token.attrs["src"]))
            kind = "text" if picture is None else "html_inline"
            token = Token(kind, "", 0, content=token.content if picture is None else picture)
        if not (token.type.startswith("link_") and not links[-1]):
            result.append(token)
        if token.type == "link_close":
            links.pop()
    return result
