"""Pages as HTML: nothing live in them, links that lead somewhere, figures inside."""

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from rfbench import figures
from rfbench.errors import ResultsError, WriteError
from rfbench.pages.html import Html, write_page, write_pages
from tests.support.command_line import call
from tests.support.papers import PAPER, eeg
from tests.support.results import write_folder

HOSTILE = "</title><script>bad()</script>[x](javascript:bad()) ![y](http://z/y.png) <b onclick=b()>"
SHORT = "<script>bad()</script>[x](javascript:b) <b onclick=b()>"  # a longer label has no figures
LIVE = {"script", "iframe", "object", "embed", "link", "form", "base", "b"}


class Page(HTMLParser):
    """What a browser would find in a page."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def of(self, name: str) -> list[str]:
        return [value for key, value in self.attributes if key == name]


def harmless(page: Page) -> bool:
    """Return whether a page runs nothing, fetches nothing, and links to pages and the web alone."""
    schemes = [re.match(r"([a-z]+):", address) for address in page.of("href")]
    return (
        not LIVE & set(page.tags)
        and not [key for key, _ in page.attributes if key.startswith("on") or key == "style"]
        and all(address.startswith("data:image/png;") for address in page.of("src"))
        and {scheme[1] for scheme in schemes if scheme} <= {"http", "https"}
        and "default-src 'none'; img-src data:; style-src 'sha256-" in page.of("content")[0]
    )


@pytest.fixture
def top(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rows = [
        {"sampler": "rks", "label": label, "M": M, "columns": M, "trial": t, "t_pp": len(label)}
        | {"error": 100 / M + t + (M == 50) * len(label)}
        for label in ("rks", SHORT)
        for M in (10, 20, 50)
        for t in range(3)
    ]
    failed = {"label": "broken", "M": 10, "status": "failed", "message": HOSTILE, "error": None}
    config = {"name": "mine", "title": HOSTILE, "description": HOSTILE}
    manifest = {"config": config, "machine": {"cpu": HOSTILE}}
    write_folder(tmp_path / "results/mine", [*rows, failed], manifest)
    methods = eeg(rks=68.5, qmc=69.2)
    write_folder(tmp_path / "results/paper", methods, {"config": {"name": "paper", **PAPER}})
    return tmp_path


def test_single_html_page_has_tables_and_figures_and_no_scripts(top: Path) -> None:
    assert call("report", "results/mine", "--html", "deep/page.html").split() == ["deep/page.html"]
    assert [path.name for path in Path("deep").iterdir()] == ["page.html"]
    page = Page(Path("deep/page.html"))
    assert harmless(page)
    assert len(page.of("src")) == 3  # error and time over M, error over time
    assert {"h1", "table", "style"} <= set(page.tags)
    assert ">11.00 ± 0.58</td>" in Path("deep/page.html").read_text(encoding="utf-8")
    assert Path("deep/page.html").stat().st_size < 2_000_000


def test_page_of_several_folders_links_to_each(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "FIGURES", ())
    (file,) = write_page(["results/mine", "results/paper"], Path("page.html"))
    page = Page(file)
    assert harmless(page)
    inside = [address[1:] for address in page.of("href") if address.startswith("#")]
    assert len(inside) == 2
    assert set(inside) <= set(page.of("id"))


def test_pages_of_a_report_link_to_each_other(top: Path) -> None:
    Path("elsewhere.md").touch()
    Path("results/README.md").symlink_to("../elsewhere.md")  # not read, not written
    call("report", "results", "--html", "site")
    files = {path.relative_to("site").as_posix() for path in Path("site").rglob("*.html")}
    assert {"index.html", "which_method.html", "papers/liu2020.html"} <= files
    assert "ledger.html" not in files, "JSON is no page"
    assert not Path("results/papers").exists()
    links = 0
    for name in files:
        page = Page(Path("site", name))
        assert harmless(page)
        for address in page.of("href"):
            path, _, place = address.partition("#")
            if not address.startswith("https:"):
                links += 1
                there = Path("site", name).parent / unquote(path) if path else Path("site", name)
                assert there.is_file(), address
                assert not place or place in Page(there).of("id")
    assert links > 10
    assert Path("elsewhere.md").read_bytes() == b""


def test_linked_page_outside_the_results_is_not_included(top: Path) -> None:
    for place in ("results/a", "results/b", "."):
        Path(place).mkdir(exist_ok=True)
        text = f"# Audit {place}\n\n[rows](trials.csv) <script>bad()</script>\n"
        Path(place, "audit.md").write_text(text, encoding="utf-8")
    links = "[a](a/audit.md) [b](b/audit.md) [none](../audit.md) [gone](c/audit.md)"
    pages: dict[Path, str | bytes] = {Path("results/README.md"): f"# All\n\n{links}\n"}
    write_pages(pages, Path("results"), ["results"], Path("site"))
    assert Page(Path("site/index.html")).of("href")[1:] == ["audits/a.html", "audits/b.html"]
    page = Page(Path("site/audits/b.html"))
    assert harmless(page)
    assert page.of("href") == ["../index.html"]


def test_html_report_replaces_its_earlier_pages_and_rejects_other_files(top: Path) -> None:
    def made(*names: str, out: str = "site") -> list[Path]:
        pages = {Path("results", name): "# A page\n" for name in ("README.md", *names)}
        return write_pages(pages, Path("results"), ["results"], Path(out))

    made("papers/liu2020.md")
    assert made() == [Path("site/index.html")]
    assert not Path("site/papers/liu2020.html").exists()
    Path("site/notes.html").write_text("<p>mine</p>")
    Path("file").touch()
    for name, out in (("notes.html", "site"), ("file", "file")):
        with pytest.raises(ResultsError, match=f"{name} would be replaced"):
            made(out=out)
    assert Path("site/index.html").exists()
    with pytest.raises(WriteError, match="--html"):
        write_page(["results/mine"], Path("file/page.html"))
    with pytest.raises(ResultsError):
        write_page(["nowhere"], Path("page.html"))


def test_markdown_is_converted_to_html() -> None:
    text = "# A *b*\n\n## A b\n\n[x](y.md) [z](no.md) ![p](p.png) ![q](q.png)\n\n"
    text += "| a | b |\n|:--|--:|\n| 1 | 2 |\n"
    html = Html(text, {"y.md": "y.html"}.get, {"p.png": b"abc"})  # type: ignore[arg-type]
    assert html.heads == [("h1", "a-b", "A b"), ("h2", "a-b-1", "A b")]
    assert '<a href="y.html">x</a> z ' in html.body
    assert '<img src="data:image/png;base64,YWJj" alt="p" /> q' in html.body
    assert '<td class="short number">2</td>' in html.body
