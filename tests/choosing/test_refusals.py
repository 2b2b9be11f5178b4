"""`choose` ends with a model, or with exit code 2 and a sentence of a complete list."""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from rfbench.choosing import choice as choosing
from rfbench.choosing.rounds import BOOSTING, CONSTANT, FEATURES, Rounds
from tests.support.command_line import call
from tests.support.generated_tables import KINDS, generated, near_constant, rows_20
from tests.support.nightly import at_night

REFUSED = {
    "a target with one value": pd.DataFrame({"a": range(40), "y": [1.5] * 40}),
    "a target with one class": pd.DataFrame({"a": range(40), "y": ["x"] * 40}),
    "a class that cannot be held out": pd.DataFrame({"a": range(40), "y": ["x"] * 39 + ["z"]}),
    "no usable column": pd.DataFrame({"a": [7] * 40, "y": np.arange(40) / 7}),
    "no column": pd.DataFrame({"y": np.arange(40) / 7}),
}


def test_two_columns_of_one_name_are_refused_with_their_positions(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("a,y,a\n" + "".join(f"{i},{i / 7},{i}\n" for i in range(40)))
    output = call("choose", "t.csv", "--target", "y", "--budget", "5s", code=2)
    assert "columns 1 and 3" in output


@pytest.mark.parametrize("what", REFUSED)
def test_a_table_without_a_model_is_refused_in_one_sentence(what, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    REFUSED[what].to_csv("t.csv", index=False)
    output = call("choose", "t.csv", "--target", "y", "--budget", "5s", "--jobs", 1, code=2)
    assert output.splitlines()[-1].strip()
    assert "error:" in output
    assert not Path("results").exists() or not list(Path("results").rglob("model.json"))


@pytest.mark.parametrize(
    "kind",
    [near_constant, rows_20, *at_night(*(KINDS[i] for i in (0, 1, 4, 5)))],
    ids=lambda kind: kind.__name__,
)
def test_a_table_of_each_kind_gets_a_model(kind, short, tmp_path, monkeypatch):
    """Six of the generated tables through the command, from the file to the predictions."""
    monkeypatch.chdir(tmp_path)
    X, y = generated(kind, 3 + KINDS.index(kind) % 2 * 2)
    X.assign(target=y).to_csv("t.csv", index=False)
    call("choose", "t.csv", "--target", "target", "--budget", "20s", "--jobs", 1, "--out", "o")
    card = json.loads(Path("o/model.json").read_text())
    assert card["take"]["label"]
    # A kernel has no bandwidth by a rule if most rows coincide, which the card names.
    assert all("most rows coincide" in text for text in card["failed"].values())
    call("predict", "o/model.joblib", "t.csv", "--out", "p.csv", "--allow-imports")
    assert len(pd.read_csv("p.csv")) == len(X)


@pytest.mark.parametrize(
    ("words", "n_classes", "line"),
    [
        ((), 4, "Target y: 4 different whole numbers, taken as classes (--task regression for a"),
        (("--task", "regression"), 0, "0 s: the mean"),
        (("--task", "classification"), 4, "0 s: the majority class"),
    ],
)
def test_whole_numbers_are_taken_as_classes_and_the_first_line_says_so(
    words, n_classes, line, short, tmp_path, monkeypatch
):
    """The page and the card have the sentence, too."""
    monkeypatch.chdir(tmp_path)
    a = np.random.default_rng(0).standard_normal(120)
    pd.DataFrame({"a": a, "y": np.digitize(a, [-1, 0, 1])}).to_csv("t.csv", index=False)
    output = call(
        "choose", "t.csv", "--target", "y", "--budget", "0.01s", "--jobs", 1, "--out", "o", *words
    )
    card = json.loads(Path("o/model.json").read_text())
    assert len(card["classes"]) == n_classes
    first = re.sub(r"^\d+ s:", "0 s:", output)
    assert first.startswith(line)
    assert bool(card["assumed"]) == (not words)
    assert " ".join(output.split()).count("taken as classes") == 2 * (not words)


def table(n=150):
    random = np.random.default_rng(0)
    X = random.standard_normal((n, 3))
    return X, X[:, 0] + 0.1 * random.standard_normal(n)


def test_a_failing_candidate_is_named_and_the_others_go_on(short, tmp_path, monkeypatch):
    real = Rounds._candidate

    def broken(self, setting, parts, rows):
        if setting.family == BOOSTING:
            raise ValueError("boosting is broken\nhere")
        return real(self, setting, parts, rows)

    monkeypatch.setattr(Rounds, "_candidate", broken)
    found = choosing.choose(*table(), budget=60.0, out=tmp_path / "o", n_jobs=1)
    assert found.card["failed"] == {"boosting": "boosting is broken\\nhere"}
    assert {c["family"] for c in found.card["contenders"]} >= {CONSTANT, FEATURES}


def test_the_next_contender_is_written_if_the_last_fit_fails(short, tmp_path, monkeypatch):
    real, broken = choosing.fit_last, []

    def last_fit(rounds, taken, end):
        if not broken:
            broken.append(taken.label)
            raise ValueError("no memory for it")
        return real(rounds, taken, end)

    monkeypatch.setattr(choosing, "fit_last", last_fit)
    found = choosing.choose(*table(), budget=60.0, out=tmp_path / "o", n_jobs=1)
    assert found.card["failed"] == {broken[0]: "no memory for it"}
    assert found.card["take"]["label"] != broken[0]
    assert (tmp_path / "o" / "model.joblib").exists()


def test_a_budget_that_cuts_candidates_off_is_named_first(short, tmp_path, monkeypatch):
    """Nobody knows if something can be learnt: the other models had no time."""
    random = np.random.default_rng(0)
    noise = random.standard_normal((60, 2)), random.standard_normal(60)
    real = Rounds.run

    def run(self):
        real(self)
        self.stopped = True

    monkeypatch.setattr(Rounds, "run", run)
    found = choosing.choose(*noise, budget=60.0, out=tmp_path / "o", n_jobs=1)
    assert found.card["take"]["family"] == CONSTANT
    assert (found.card["no_time"], found.card["nothing_learnt"]) == (True, False)
    from rfbench.pages.templates import render

    text = render("choosing/choose.txt.j2", choice=found.card, folder=found.folder)
    assert text.startswith("THERE WAS NO TIME: ")
    assert "NOTHING WAS LEARNT" not in text
