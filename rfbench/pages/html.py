"""Conversion of Markdown pages to HTML without scripts or external content.

HTML tags in the Markdown text are escaped. Links lead to pages that are written in the same call,
or to the web. Figures are embedded in the page.
"""

from __future__ import annotations

import base64
import hashlib
import os
import posixpath
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib import resources as package
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from markdown_it import MarkdownIt
from markdown_it.token import Token

from rfbench import figures, files, results, slices
from rfbench.analysis.frame import build_collection
from rfbench.errors import ResultsError, WriteError
from rfbench.figures.style import apply_style
from rfbench.pages import summary_table
from rfbench.pages.index_page import format_machine
from rfbench.pages.scoreboard import make_heading_anchor
from rfbench.pages.templates import make_plain_jinja_environment, render_template
from rfbench.results import Results

FRONT, INDEX = "README.md", "index.html"
# Cells of a table with more than this number of characters may be broken into several lines. The
# value was chosen by eye. With twice this value, tables need a wider browser window.
LONG = 30


def write_page(folders: Sequence[str | Path], file: Path) -> list[Path]:
    """Write one HTML page with the tables and figures of all results folders in `folders`.

    Parameters
    ----------
    folders : sequence of str or path
        Results folders, or folders that contain results folders.
    file : path
        Name of the HTML file.

    Returns
    -------
    list of Path
        Path of the written file.

    Raises
    ------
    ResultsError
        If there are no results, or if results cannot be read.
    WriteError
        If the file cannot be written.
    """
    # An optional component can render a folder itself (hook `render_section` in `rfbench.slices`).
    pictures: dict[str, bytes] = {}
    others, texts = list(folders), []
    for place, folder in enumerate(folders):
        for made in filter(None, slices.call_hooks("render_section", Path(folder), f"{place}-")):
            others.remove(folder)
            texts.append(made[0])
            pictures |= made[1]
    if others or not texts:
        sections = [
            _section(results.read_results_folder(folder), pictures)
            for folder in results.find_results_folders(others)
        ]
        texts.append(render_template("results.md.j2", sections=sections))
    text = "\n".join(texts)
    html = Html(text, lambda href: href if _elsewhere(href) else "", pictures)
    page = _page(html, [(f"#{name}", text, False) for tag, name, text in html.heads if tag == "h2"])
    try:
        files.make_folder(file.parent)
    except OSError as error:
        raise WriteError(
            f"The page cannot be written to {file}: {error.strerror}.",
            todo="Use another file with --html.",
        ) from error
    files.write_user_file(file, page)
    return [file]


def _section(read: Results, pictures: dict[str, bytes]) -> dict[str, Any]:
    """Return the title, table and figures of a results folder, as values for a template.

    The function adds the PNG content of the figures to `pictures`.
    """
    drawn = []
    with apply_style():
        for name, figure in figures.iterate_figures(read):
            address = f"{len(pictures)}.png"
            pictures[address] = figures.render_figure(figure, "png")
            drawn.append((name.replace("_", " "), address))
    title, _, table = summary_table.render_summary_tables(read, "markdown").partition("\n\n")
    return {
        "title": title.strip("*"),
        "table": table,
        "figures": drawn,
        "answers": summary_table.describe_best_methods(build_collection([read]), read),
        "machine": format_machine(read),
        "results": read,
    }


def write_pages(
    pages: Mapping[Path, str | bytes | None], top: Path, folders: Sequence[str | Path], out: Path
) -> list[Path]:
    """Write the pages of `rfbench report` as HTML files.

    Parameters
    ----------
    pages : mapping
        Maps a path to Markdown text or to the content of a picture, from
        `rfbench.pages.report.render_all_pages`.
    top : Path
        Folder that contains the paths in `pages`.
    folders : sequence of path
        Results folders. A Markdown page in these folders is converted if one of `pages` links to
        this page.
    out : Path
        Folder for the HTML files. HTML files of an earlier call are replaced or removed.

    Returns
    -------
    list of Path
        Paths of the written files.

    Raises
    ------
    ResultsError
        If the folder `out` contains other files.
    WriteError
        If a file cannot be written.
    """
    earlier = _earlier(out)
    places = [Path(folder).resolve() for folder in folders]
    every = {top.resolve() / file.relative_to(top): content for file, content in pages.items()}
    top = top.resolve()
    texts = {
        file: text for file, text in every.items() if isinstance(text, str) and file.suffix == ".md"
    }
    names = {file: file.relative_to(top).with_suffix(".html").as_posix() for file in texts}
    names[top / FRONT] = INDEX
    bar = sorted(names, key=lambda file: (len(file.parts), file != top / FRONT))

    def resolve(href: str, page: Path) -> str:
        if _elsewhere(href):
            return href
        path, _, place = href.partition("#")
        file = Path(os.path.normpath(page.parent / unquote(path)))
        above = next((place for place in places if file.is_relative_to(place)), None)
        if file not in names and file.suffix == ".md" and above and file.is_file():
            texts[file] = files.read(file, above).decode(errors="replace")
            same = sum(path.parent.name == file.parent.name for path in texts) - 1
            names[file] = f"audits/{file.parent.name}{f'-{same + 1}' if same else ''}.html"
        if file not in names:
            return ""
        target = posixpath.relpath(names[file], posixpath.dirname(names[page]) or ".")
        return quote(target) + (f"#{place}" if place else "")

    written: dict[Path, bytes] = {}
    while waiting := [file for file in texts if out / names[file] not in written]:
        for page in waiting:
            pictures = {
                posixpath.relpath(file, page.parent): content
                for file, content in every.items()
                if isinstance(content, bytes) and file.suffix == ".png"
            }
            html = Html(texts[page], partial(resolve, page=page), pictures)
            links = [(resolve(str(file), page), file.stem, file == page) for file in bar]
            written[out / names[page]] = _page(html, links)
    for file in earlier - set(written):
        files.remove(file, out)
    for file, content in written.items():
        files.replace(file, content, out)
    return list(written)


def _earlier(out: Path) -> set[Path]:
    """Return the HTML pages that an earlier call wrote to the folder `out`.

    Raises ResultsError if the folder contains any other file.
    """
    start = (package.files(__package__) / "templates" / "page.html.j2").read_bytes().splitlines()[0]
    there = {file for file in out.rglob("*") if file.is_symlink() or not file.is_dir()}
    there |= {out} if out.exists() and not out.is_dir() else set()
    for file in sorted(there):
        if file == out or file.suffix != ".html" or not files.read(file, out).startswith(start):
            raise ResultsError(
                f"{file} would be replaced.",
                "Only pages of an earlier `rfbench report --html` are replaced.",
                "Use a new folder with --html.",
            )
    return there


def _elsewhere(href: str) -> bool:
    return href.startswith(("https://", "http://", "#"))


def _page(html: Html, links: Sequence[tuple[str, str, bool]]) -> bytes:
    """Return a complete HTML page with a navigation bar.

    `links` are the entries of the navigation bar. Each entry has an address, a name, and a boolean
    that is True for the current page.
    """
    style = (package.files(__package__) / "templates" / "page.css").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    facts = {"title": html.heads[0][2] if html.heads else "", "body": html.body}
    template = make_plain_jinja_environment(
        autoescape=True, keep_trailing_newline=True
    ).get_template("page.html.j2")
    return str(template.render(style=style, digest=digest, links=links, **facts)).encode()


class Html:
    """HTML that is converted from Markdown.

    Parameters
    ----------
    text : str
        Markdown text.
    resolve : callable
        Function that accepts the address of a link in the Markdown text and returns the address in
        the HTML page. If the function returns ``""``, the link is removed.
    pictures : mapping
        Maps the address of a picture to its PNG content. A picture that is not in the mapping is
        replaced by its alternative text.

    Attributes
    ----------
    body : str
        HTML code of the text, without the tags ``html`` and ``body``.
    heads : list of (str, str, str)
        Tag, anchor and text of each heading.
    """

    def __init__(
        self, text: str, resolve: Callable[[str], str], pictures: Mapping[str, bytes]
    ) -> None:
        self.heads: list[tuple[str, str, str]] = []
        parser = MarkdownIt("commonmark", {"html": False}).enable("table")
        tokens = parser.parse(text)
        for token, after in pairwise([*tokens, Token("", "", 0)]):
            # Remove the attribute `style`, because the content security policy of the page forbids
            # inline styles.
            right = "right" in str(token.attrs.pop("style", ""))
            if token.type == "heading_open":
                token.attrs["id"] = self._add(token.tag, after)
            elif token.type in ("td_open", "th_open"):
                length = "long" if len(after.content) > LONG else "short"
                token.attrs["class"] = f"{length} number" if right else length
            elif token.type == "inline":
                token.children = _inline(token.children or [], resolve, pictures)
        parser.add_render_rule("table_open", lambda *_: '<div class="scroll"><table>\n')
        parser.add_render_rule("table_close", lambda *_: "</table></div>\n")
        self.body = str(parser.renderer.render(tokens, parser.options, {}))

    def _add(self, tag: str, inline: Token) -> str:
        heading = "".join(child.content for child in inline.children or ())
        name, others = make_heading_anchor(heading), {name for _, name, _ in self.heads}
        name = f"{name}-{len(others)}" if name in others else name
        self.heads.append((tag, name, heading))
        return name


def _inline(
    children: list[Token], resolve: Callable[[str], str], pictures: Mapping[str, bytes]
) -> list[Token]:
    """Return the Markdown tokens of a line, with HTML addresses of links and embedded pictures.

    `resolve` and `pictures` are parameters of `Html`.
    """
    result: list[Token] = []
    links: list[bool] = []  # One entry per open link, True if the link has a target.
    for token in children:
        if token.type == "link_open":
            target = resolve(str(token.attrs["href"]))
            links.append(bool(target))
            token.attrs = {"href": target}
        elif token.type == "image":
            picture = pictures.get(str(token.attrs["src"]))
            if picture is None:
                token = Token("text", "", 0, content=token.content)
            else:
                data = base64.b64encode(picture).decode()
                token.attrs["src"] = f"data:image/png;base64,{data}"
        if not (token.type.startswith("link_") and not links[-1]):
            result.append(token)
        if token.type == "link_close":
            links.pop()
    return result
