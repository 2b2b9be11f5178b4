"""The site: its links, what is live in it, and what it overwrites."""

import os
import posixpath
import re
import shutil
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import unquote

import pytest

from rfbench import papers
from rfbench.datasets import catalog
from rfbench.errors import ResultsError, WriteError
from rfbench.pages.html import site
from rfbench.pages.html.markdown import to_html
from rfbench.registry import SAMPLERS, SOLVERS
from tests.support.command_line import call
from tests.support.papers import PAPER, eeg, trials
from tests.support.payloads import PAYLOADS
from tests.support.results import write_folder
from tests.support.runs import MOST_SECONDS

LIVE = ("script", "iframe", "object", "embed", "form", "input", "link", "base", "audio", "video")


class Page(HTMLParser):
    """What a browser gets of a page beside its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.names: set[str] = set()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.sources: list[str] = []
        self.policy = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.tags.add(tag)
        self.names |= set(values)
        self.ids += [values["id"]] if "id" in values else []
        self.links += [values["href"]] if "href" in values else []
        self.sources += [values["src"]] if "src" in values else []
        if values.get("http-equiv") == "Content-Security-Policy":
            self.policy = values["content"]


@pytest.fixture(scope="module")
def made(tmp_path_factory, folders):
    """A site of a paper's numbers, of a comparison, and of texts that are payloads."""
    top = tmp_path_factory.mktemp("site")
    for number, payload in enumerate(PAYLOADS):
        config = {"name": payload, "title": payload, "description": payload, "paper": payload}
        row = {"label": payload, "dataset": payload, "protocol": payload, "message": payload}
        rows = [{**row, "M": 10, "error": 12.5}, {**row, "M": 50, "error": 12.5, "trial": 1}]
        manifest = {"config": config, "machine": {"cpu": payload, "system": payload}}
        write_folder(top / "results" / str(number), rows, manifest)
    shutil.copytree(folders, top / "results" / "more")
    hostile = top / "results" / "audits" / "audit_eerf2018_table3_adult"
    hostile.mkdir(parents=True)
    catalogue = {name: entry.model_dump() for name, entry in catalog.entries().items()}
    written = site.publish([top / "results"], top / "site", None, catalogue)
    pages = {
        file.relative_to(top / "site").as_posix(): Page(file.read_text(encoding="utf-8"))
        for file in written
        if file.suffix == ".html"
    }
    return SimpleNamespace(top=top, out=top / "site", written=written, pages=pages)


def test_every_link_leads_somewhere_and_only_those_to_papers_lead_out(made):
    of_papers = {papers.paper(name).link for name in papers.papers()} - {""}
    outside = set()
    reached = {"index.html"}
    for name, page in made.pages.items():
        assert len(page.ids) == len(set(page.ids)), name
        for link in page.links:
            if link.startswith("https:"):
                outside.add(link)
                continue
            path, _, place = link.partition("#")
            target = posixpath.normpath(posixpath.join(posixpath.dirname(name), unquote(path)))
            target = target if path else name
            assert target in made.pages, (name, link)
            assert not place or place in made.pages[target].ids, (name, link)
            reached.add(target)
    assert outside == of_papers
    assert reached == set(made.pages)


def test_no_text_of_others_is_live_and_nothing_is_fetched(made):
    for name, page in made.pages.items():
        assert not page.tags & set(LIVE), name
        assert not [each for each in page.names if each.startswith("on") or each == "style"], name
        assert all(source.startswith("data:image/png;base64,") for source in page.sources), name
        assert page.policy.startswith("default-src 'none'; style-src 'sha256-"), name
        assert not re.search("script-src|unsafe", page.policy), name
    text = "".join(file.read_text(encoding="utf-8") for file in made.written)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u202a-\u202e]", text)
    for payload in ("alert(1)", "/etc/passwd", "calc"):
        assert payload in text


def test_each_paper_method_data_set_and_folder_has_its_page(made):
    names = set(made.pages)
    assert {f"papers/{name}.html" for name in papers.papers()} <= names
    assert {f"methods/{name}.html" for name in [*SAMPLERS.entries, *SOLVERS.entries]} <= names
    assert {"datasets/eeg.html", "datasets/digits.html"} <= names
    assert sum(name.startswith("runs/") for name in names) == len(PAYLOADS) + 3
    assert len({name.lower() for name in names}) == len(names)
    text = (made.out / "papers" / "liu2020.html").read_text(encoding="utf-8")
    number = next(n for n in papers.published() if n.paper == "liu2020" and n.dataset == "EEG")
    for fact in (number.cell, f"{number.row}, {number.column}", "An answer of its authors"):
        assert fact in text
    assert "SORF" in (made.out / "methods" / "sorf.html").read_text(encoding="utf-8")
    reference = (made.out / "reference.html").read_text(encoding="utf-8")
    assert all(f'id="rfbench{name.lower()}"' in reference for name in ("run", "choose", "compare"))


def test_the_second_time_gives_the_same_bytes_and_removes_what_is_gone(tmp_path):
    for name in ("a", "b"):
        write_folder(
            tmp_path / "results" / name, eeg(rks=68.5), {"config": {"name": name, **PAPER}}
        )
    out = tmp_path / "site"
    before = {file: file.read_bytes() for file in site.publish([tmp_path / "results"], out)}
    again = {file: file.read_bytes() for file in site.publish([tmp_path / "results"], out)}
    assert again == before
    shutil.rmtree(tmp_path / "results" / "b")
    written = site.publish([tmp_path / "results"], out)
    assert written[0].name == site.LIST  # what is cut short can be done again
    assert (out / "runs" / "a.html").is_file()
    assert not (out / "runs" / "b.html").exists()


def test_a_data_set_says_whether_it_is_the_papers_own(tmp_path):
    every = {
        "own": trials(68.6), "part": trials(68.6, n_test=9),
        "other": trials(68.6, dataset="cod-rna-train"),
    }  # fmt: skip
    for name, rows in every.items():
        write_folder(tmp_path / "results" / name, rows, {"config": {"name": name, **PAPER}})
    site.publish([tmp_path / "results"], tmp_path / "site")
    eeg, rna = (
        (tmp_path / "site" / "datasets" / f"{name}.html").read_text(encoding="utf-8")
        for name in ("eeg", "cod-rna-train")
    )
    assert "it is EEG, the data set itself; where fewer or other rows were taken" in eeg
    assert "it is a stand-in for cod-RNA" in rna


def refused(out: Path, results: Path) -> str:
    return call("site", results, "--out", out, code=2)


def test_what_others_wrote_stays(tmp_path):
    write_folder(tmp_path / "results", eeg(rks=68.5), {})
    out = tmp_path / "site"
    out.mkdir()
    (out / "index.html").write_text("mine")
    assert "holds other files: index.html" in refused(out, tmp_path / "results")
    (out / "files.txt").write_text("index.html\n../results/trials.csv\n")
    (out / "deep").symlink_to(tmp_path / "results")
    assert "holds other files: deep" in refused(out, tmp_path / "results")
    assert (out / "index.html").read_text() == "mine"
    assert (tmp_path / "results" / "trials.csv").exists()


def test_no_results_a_file_and_a_folder_without_permission_are_sentences(tmp_path):
    empty = tmp_path / "empty"
    empty.mkdir()
    assert "no results" in refused(tmp_path / "site", empty).lower()
    assert not (tmp_path / "site").exists()
    write_folder(tmp_path / "results", eeg(rks=68.5), {})
    (tmp_path / "file").write_text("")
    assert "is a file" in refused(tmp_path / "file", tmp_path / "results")
    assert (tmp_path / "file").read_text() == ""
    with pytest.raises(WriteError, match="cannot be written"):
        site.publish([tmp_path / "results"], tmp_path / "file" / "site")
    with pytest.raises(ResultsError, match="There is no"):
        site.publish([tmp_path / "nothing"], tmp_path / "site")


def test_markdown_of_others_becomes_no_markup():
    text = "# A <b>x</b>\n\n[a](javascript:b) [c](d.md) ![e](http://f) <img src=x>\n\n<script>\n"
    body = to_html(text, lambda target: "g.html" if target == "d.md" else "", {})
    page = Page(body)
    assert page.tags == {"h1", "p", "a"}
    assert (page.links, page.sources, page.ids) == (["g.html"], [], ["a-bxb"])
    assert "&lt;script&gt;" in body


@pytest.mark.parametrize("width", [360, 1400])
def test_pages_fit_the_screen_and_complain_of_nothing(made, chromium, width):
    context = chromium.new_context(offline=True, viewport={"width": width, "height": 900})
    context.set_default_timeout(1000 * MOST_SECONDS)
    opened, wrong = context.new_page(), []
    opened.on("request", lambda request: wrong.append(request.url))
    opened.on("console", lambda message: wrong.append(message.text))
    axe = os.environ.get("RFBENCH_AXE")
    names = ["index", "findings", "leaderboard", "papers/liu2020", "methods/eerf", "reference"]
    for name in names:
        opened.goto((made.out / f"{name}.html").as_uri())
        size = "[document.documentElement.scrollWidth, document.documentElement.clientWidth]"
        wide, screen = opened.evaluate(size)
        assert wide <= screen, name
        if axe:
            opened.evaluate(Path(axe).read_text(encoding="utf-8"))
            found = opened.evaluate("axe.run()")["violations"]
            assert [(name, each["id"], each["nodes"][0]["html"]) for each in found] == []
    context.close()
    assert [each for each in wrong if not each.startswith(made.out.as_uri())] == []
