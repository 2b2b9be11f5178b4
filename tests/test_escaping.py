"""Texts of others steer no terminal, are no markup, and run in no spreadsheet."""

import csv
import io
import json
import re
import warnings
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from rfbench import escaping
from rfbench.cli import main, terminal
from rfbench.escaping import (
    as_csv,
    escape_controls,
    escape_latex,
    escape_line,
    escape_markdown,
    escape_warnings,
)
from tests.support.payloads import PAYLOADS

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
def test_escaped_text_is_complete_and_has_no_control_characters(text: str) -> None:
    assert not NO_CONTROL.search(escape_controls(text))
    assert "\n" not in escape_line(text)
    if text.isprintable():
        assert escape_line(text) == escape_controls(text) == text


@given(texts)
def test_markdown_text_is_displayed_literally(text: str) -> None:
    html, targets = html_and_links(f"word {escape_markdown(text)} word")
    assert (html, targets) == ([], [])
    assert escape_markdown(escape_markdown(text)) == escape_markdown(text)


@given(texts)
def test_latex_text_contains_no_command_of_its_own(text: str) -> None:
    written = re.sub(r"\\(text\w+( |\{\})|[&%$#_{}])|\$\\\w+\$", "", escape_latex(text))
    assert not set(written) & set("\\&%$#_{}~^")


@pytest.mark.parametrize("payload", PAYLOADS)
def test_csv_contains_no_formula_and_each_number(payload: str) -> None:
    table = pd.DataFrame({"text": [payload, "-0.5", "+3e2", "a-b"], "number": [-1.5, 2, 3, 4]})
    rows = list(csv.reader(io.StringIO(as_csv(table))))
    assert rows[0] == ["text", "number"]
    assert not rows[1][0].startswith(("=", "+", "-", "@", "\t", "\r"))
    assert escape_line(payload) in rows[1][0]
    assert [row[0] for row in rows[2:]] == ["-0.5", "+3e2", "a-b"]
    assert [float(row[1]) for row in rows[1:]] == [-1.5, 2, 3, 4]


@pytest.mark.parametrize("payload", [p for p in PAYLOADS if not p.isprintable()])
def test_sampler_label_with_unprintable_characters_is_rejected(
    payload: str, tmp_path: Path
) -> None:
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


@pytest.mark.parametrize("payload", PAYLOADS)
def test_json_warnings_and_click_errors_contain_no_terminal_controls(
    payload: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    terminal.echo_json({"label": payload}, indent=None)
    said = capsys.readouterr().out
    assert not NO_CONTROL.search(said)
    assert json.loads(said) == {"label": payload}

    monkeypatch.setattr(warnings, "formatwarning", warnings.formatwarning)
    escape_warnings()
    guarded = warnings.formatwarning
    escape_warnings()
    assert warnings.formatwarning is guarded  # once
    text = warnings.formatwarning(UserWarning(payload), UserWarning, "a.py", 1, "")
    assert not NO_CONTROL.search(text)

    result = CliRunner().invoke(main, ["list", "samplers", "--format", payload.replace("\0", "")])
    assert result.exit_code == 2
    assert not NO_CONTROL.search(result.output)


def test_each_process_escapes_its_warnings() -> None:
    package = Path(escaping.__file__).parent
    calls = "    escape_warnings()\n"
    for file in ("cli/__init__.py", "experiment/worker.py"):
        assert calls in (package / file).read_text()
