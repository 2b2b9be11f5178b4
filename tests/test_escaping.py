"""Texts of others steer no terminal, are no markup, and run in no spreadsheet."""

import csv
import io
import re
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from rfbench.cli import main
from rfbench.cli.progress import cell
from rfbench.escaping import as_csv, in_latex, in_markdown, one_line, printable
from tests.support.nightly import at_night
from tests.support.payloads import PAYLOADS
from tests.support.results import write_folder

NO_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b\u2028\u2029\u202a-\u202e]")
texts = st.text(st.characters(codec="utf-8") | st.sampled_from("\\<>[]()*|`!&\x1b\n"), max_size=30)


def html_and_links(page: str) -> tuple[list[str], list[str]]:
    """Return what a browser would get of a page beside its text: markup, and where links lead."""
    tokens = MarkdownIt("commonmark", {"html": True}).enable("table").parse(page)
    every = [t for token in tokens for t in (token, *(token.children or ()))]
    html = [t.content for t in every if t.type.startswith("html") and "<!--" not in t.content]
    targets = [str(t.attrs[name]) for t in every for name in ("href", "src") if name in t.attrs]
    return html, targets


@given(texts)
def test_what_is_printed_steers_nothing_and_loses_nothing(text: str) -> None:
    assert not NO_CONTROL.search(printable(text))
    assert "\n" not in one_line(text)
    if text.isprintable():
        assert one_line(text) == printable(text) == text


@given(texts)
def test_a_text_in_markdown_is_shown_as_it_is(text: str) -> None:
    html, targets = html_and_links(f"word {in_markdown(text)} word")
    assert (html, targets) == ([], [])
    assert in_markdown(in_markdown(text)) == in_markdown(text)


@given(texts)
def test_a_text_in_latex_has_no_command_of_its_own(text: str) -> None:
    written = re.sub(r"\\(text\w+( |\{\})|[&%$#_{}])|\$\\\w+\$", "", in_latex(text))
    assert not set(written) & set("\\&%$#_{}~^")


@pytest.mark.parametrize("payload", PAYLOADS)
def test_a_csv_has_no_formula_and_every_number(payload: str) -> None:
    table = pd.DataFrame({"text": [payload, "-0.5", "+3e2", "a-b"], "number": [-1.5, 2, 3, 4]})
    rows = list(csv.reader(io.StringIO(as_csv(table))))
    assert rows[0] == ["text", "number"]
    assert not rows[1][0].startswith(("=", "+", "-", "@", "\t", "\r"))
    assert one_line(payload) in rows[1][0]
    assert [row[0] for row in rows[2:]] == ["-0.5", "+3e2", "a-b"]
    assert [float(row[1]) for row in rows[1:]] == [-1.5, 2, 3, 4]


def hostile(folder: Path, payload: str) -> Path:
    """Write results in which every text of others is the payload."""
    rows = [
        {"label": f"{payload} {name}", "dataset": payload, "M": M, "message": payload,
         "error": error, "status": status, "protocol": payload, "kernel": payload}
        for name in ("rks", "b")
        for M in (10, 50)
        for error, status in ((12.5, "ok"), ("", "failed"))
    ]  # fmt: skip
    rows = [row | {"trial": number} for number, row in enumerate(rows)]
    config = {"name": "quickstart", "title": payload, "description": payload, "paper": payload}
    machine = {"cpu": payload, "system": payload, "blas": [{"library": payload, "version": "1"}]}
    manifest = {"config": config, "machine": machine, "versions": {"python": payload}}
    return write_folder(folder / "results" / "quickstart", rows, manifest)


COMMANDS = [
    ["table", "results"],
    *(["table", "results", "--format", form] for form in ("markdown", "latex", "csv")),
    *(["verify", "results", "--format", form] for form in ("text", "csv")),
    ["plot", "results", "--format", "gif\x1b]0;a\x07"],
    ["replay", "results/quickstart", "1"],
    ["merge", "results/quickstart"],
    ["report", "results", "--out", "pages"],
    ["run", "hostile.yaml", "--dry-run"],
    ["run", "hostile.yaml", "--set", "M=\x1b[2J"],
    ["run", "\x1b]0;a\x07.yaml"],
    ["table", "\x1b]0;a\x07", "--\x1b[2J"],
    ["list", "samplers", "\x1b]0;a\x07"],
    ["data", "verify", "\x1b]0;a\x07"],
    ["choose", "\x1b]0;a\x07"],
    ["test", "\x1b]0;a\x07.py:A"],
]


@pytest.mark.parametrize(
    "payload",
    [" ".join(PAYLOADS), *at_night("".join(PAYLOADS[:7]), "\n".join(PAYLOADS[15:]))],
)
def test_no_command_prints_what_steers_a_terminal(
    payload: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    hostile(tmp_path, payload)
    quoted = "".join(rf"\U{ord(c):08x}" for c in payload)
    Path("hostile.yaml").write_text(
        f'title: "{quoted}"\ndataset: digits\nM: [5]\ntrials: 1\nsolver: {{alphas: 0.1}}\n'
        f'samplers: [rks, {{eerf: {{label: "{quoted}"}}}}]\n'
    )
    for words in COMMANDS:
        result = CliRunner().invoke(main, words)
        assert isinstance(result.exception, SystemExit | None), (words, result.exception)
        assert not NO_CONTROL.search(result.output), words
    for page in Path("pages").rglob("*.md"):
        html, targets = html_and_links(page.read_text())
        assert html == [], page
        assert all(re.match(r"[\w.%/-]+(#[\w.-]+)?$", target) for target in targets), page
    text = CliRunner().invoke(main, ["table", "results", "--format", "markdown"]).output
    assert html_and_links(text) == ([], [])


@pytest.mark.parametrize("payload", PAYLOADS)
def test_the_progress_of_a_run_steers_nothing(payload: str) -> None:
    line = cell({"dataset": payload, "label": payload, "M": 5, "trial": 0})
    assert not NO_CONTROL.search(line)
    assert "\n" not in line


@pytest.mark.parametrize("payload", [p for p in PAYLOADS if not p.isprintable()])
def test_a_label_has_printable_characters(payload: str, tmp_path: Path) -> None:
    quoted = "".join(rf"\U{ord(c):08x}" for c in payload)
    file = tmp_path / "a.yaml"
    file.write_text(
        f'dataset: digits\nM: [5]\nsamplers:\n  - rks\n  - {{eerf: {{label: "{quoted}"}}}}\n'
    )
    result = CliRunner().invoke(main, ["run", str(file), "--dry-run"])
    assert result.exit_code == 2
    assert "printable" in result.output
    assert "line 5" in result.output
    assert not NO_CONTROL.search(result.output)
