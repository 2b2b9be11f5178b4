"""The page and verdicts.json, without a browser."""

import json
import re

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rfbench.analysis.frame import collect
from rfbench.analysis.verification import verify
from rfbench.errors import ResultsError, WriteError
from rfbench.pages.html import page, runs, verdicts
from tests.pages.html.conftest import HOSTILE
from tests.support import frames
from tests.support.command_line import call


@given(st.text())
def test_json_in_the_page_is_no_markup(text):
    written = page.as_json({text: [text]})
    assert not set("<>&") & set(written)
    assert json.loads(written) == {text: [text]}


def test_the_policy_admits_what_is_inline_and_nothing_else(file):
    text = file.read_text(encoding="utf-8")
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', text)[1]
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy
    assert "http" not in policy
    markup = text[: text.index('<script type="application/json"')]
    assert re.findall(r"<script|<link|<iframe|<[^>]*\s(?:src|on\w+)=|url\(", markup) == []
    assert len(re.findall(r"^<script", text, re.M)) == 3
    assert HOSTILE not in text


def test_the_same_results_give_the_same_bytes(folders, file, tmp_path):
    again = page.write([folders], tmp_path / "again.html")
    assert again.read_bytes() == file.read_bytes()


def test_the_command_line_writes_the_page_and_nothing_else(folders, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    call("report", folders / "mine", "--html", "deep/page.html")
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["page.html"]


def test_wrong_uses_are_told(tmp_path, folders):
    (tmp_path / "empty").mkdir()
    with pytest.raises(ResultsError):
        page.write([tmp_path / "empty"], tmp_path / "page.html")
    (tmp_path / "file").touch()
    with pytest.raises(WriteError):
        page.write([folders / "mine"], tmp_path / "file" / "page.html")


def test_single_trials_are_thinned_and_means_are_not(folders, monkeypatch):
    collection = collect([folders / "mine"])
    whole = runs.facts(collection)
    assert sum(map(len, whole["points"])) == 24
    assert whole["thinned"] == 0
    monkeypatch.setattr(runs, "POINTS", 12)
    thin = runs.facts(collection)
    assert thin["thinned"] == 24
    assert [len(values) for values in thin["points"]] == [2, 2, 2, 2, 2, 2, 0]
    assert thin["metrics"] == whole["metrics"]
    for few, many in zip(thin["points"], whole["points"], strict=True):
        assert set(few) <= set(many)


def test_numbers_have_six_digits_and_gaps_are_none():
    values = [1 / 3, 2.0, float("nan"), float("inf"), 1e-12]
    assert runs.rounded(values) == [0.333333, 2, None, None, 1e-12]


def test_verdicts_keep_their_schema(folders):
    found = verify([folders])
    files = verdicts.files(verdicts.gather(found))
    read = verdicts.Verdicts.model_validate_json(files[verdicts.FILE])
    assert len(read.numbers) == len(found.numbers)
    assert {one.id for one in read.claims} == {one.claim.id for one in found.outcomes}
    lines = found.numbers.to_dict("records")
    for one, line in zip(read.numbers, lines, strict=True):
        assert (one.verdict, one.published) == (line["verdict"], line["published"])
        assert one.measured == pytest.approx(line["measured"], nan_ok=True) or pd.isna(
            line["measured"]
        )
    schema = json.loads(files[verdicts.SCHEMA_FILE])
    for model in ("NumberVerdict", "ClaimVerdict"):
        assert set(schema["$defs"][model]["required"]) == set(schema["$defs"][model]["properties"])
    with pytest.raises(ValueError, match="extra"):
        verdicts.Verdicts.model_validate(json.loads(files[verdicts.FILE]) | {"more": 1})


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("quickstart", "rfbench run quickstart"),
        ("eerf2018_table3_adult.matched", "rfbench run eerf2018_table3 --run adult.matched"),
        ("mine", ""),
    ],
)
def test_a_shipped_experiment_has_its_command(name, command):
    assert verdicts.command(name) == command


def test_the_command_of_an_experiment_is_one_that_runs():
    known = {"bytes": "bytes", "tuned_apart_har": "tuned_apart --run har"}
    for name, words in known.items():
        assert verdicts.command(name) == f"rfbench run {words}"
    assert [verdicts.command(name) for name in ("quickstart_mine", "mine")] == ["", ""]


def test_a_method_that_a_sweep_does_not_concern_stands_at_each_of_its_values():
    rows = [{"sampler": "rks", "trial": t, "error": 10 + t} for t in (0, 1)]
    rows += [
        {"sampler": "eerf", "variant": f"samplers.eerf.pool_size={n}", "trial": t, "error": n + t}
        | {"parameters": f'{{"pool_size": {n}}}', "setting": str(n)}
        for n in (20, 40)
        for t in (0, 1)
    ]
    found = runs.facts(frames.selection(frames.results(rows)).collection)
    lines = found["lines"]
    methods = [lines["method"]["texts"][code] for code in lines["method"]["codes"]]
    every = zip(methods, lines["x"], found["metrics"]["error"], found["points"], strict=True)
    assert sorted(every) == [
        ("eerf", 20, 20.5, [20, 21]),
        ("eerf", 40, 40.5, [40, 41]),
        ("rks", 20, 10.5, [10, 11]),
        ("rks", 40, 10.5, [10, 11]),
    ]
