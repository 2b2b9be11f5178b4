"""Questions of public threads: their numbers by brute force, their sentences with every verdict."""

import math
import re
from pathlib import Path

import pytest

from rfbench.analysis.frame import of
from rfbench.leaderboard import answers
from rfbench.leaderboard.answers import QUESTIONS
from rfbench.leaderboard.facts import Interval
from tests.leaderboard.comparisons import rows
from tests.support.frames import results

PUBLISHED = Path(__file__).parents[2] / "results" / "answers.md"


def folder(parts, name, M=400, n=5, **changes):
    """Rows of methods that have so many times the error of a data set's own, in one trial."""
    errors = {(f"d{i}", method, M): (10.0 + i) * p for method, p in parts.items() for i in range(n)}
    return results(rows(errors, 1, **{"scaling": "standard", **changes}), name)


def found(*folders):
    return answers.gather(of(folders))


def test_errors_are_compared_in_the_same_trials_over_tables():
    own = folder({"rks": 1.0, "orf": 0.8}, "leaderboard_x")
    assert list(found(own)) == ["orthogonal"]
    (each,) = found(own)["orthogonal"].values()
    assert (each.ratio, each.datasets) == (pytest.approx(0.8), 5)


def test_pairs_are_held_against_offsets_with_as_many_columns():
    """200 pairs beside 400 offsets; those of other folders and of the wrong size are none."""
    offsets = folder({"rks": 1.0}, "leaderboard_x")
    wrong = folder({"rks": 9.0}, "leaderboard_x2", M=200)
    pairs = folder({"rks-pair": 1.5}, "answers_pair", M=200)
    ((name, each),) = found(offsets, wrong, pairs)["pair"].items()
    assert (name, each.ratio) == ("RKS, pair, M = 200 / RKS", pytest.approx(1.5))
    elsewhere = folder({"rks-pair": 1.5}, "others_pair", M=200)
    assert "pair" not in found(offsets, elsewhere)


def test_a_preparation_is_held_against_z_scores_of_the_same_method():
    standard = folder({"rks": 1.0, "swim": 2.0}, "leaderboard_x")
    robust = folder({"rks": 0.5, "swim": 3.0}, "leaderboard_robust", scaling="robust")
    by_name = {name: each.ratio for name, each in found(standard, robust)["scaling"].items()}
    assert by_name == pytest.approx({"RKS, robust / RKS": 0.5, "SWIM, robust / SWIM": 1.5})


def test_all_comparisons_of_a_question_are_over_the_same_tables():
    own = folder({"rks": 1.0, "orf": 0.8}, "leaderboard_x")
    more = folder({"rks": 1.0, "qmc": 0.9}, "leaderboard_y", n=3)
    every = found(own, more)["orthogonal"].values()
    assert [each.datasets for each in every] == [3, 3]


def test_without_rows_there_is_no_page():
    assert found() == {}
    assert answers.files(of([])) == {answers.PAGE: None, answers.FIGURE: None}
    assert found(folder({"rks": 1.0, "orf": 0.8}, "leaderboard_held_out_x")) == {}


def test_the_error_of_the_kernel_stands_beside_that_of_prediction():
    errors = {("usps", name, M): 1.0 for name in ("rks", "orf") for M in (10, 20)}
    made = rows(errors, 2, kernel="gaussian")
    for row in made:
        row |= {"protocol": "printed", "solver": "none"}
        row["kernel_error_frobenius"] = 0.1 * row["M"] * (0.4 if row["sampler"] == "orf" else 1.0)
    kernel = results(made, "quadrature2018_figure2_usps-gaussian.printed", paper="quadrature2018")
    own = folder({"rks": 1.0, "orf": 1.0}, "leaderboard_x")
    every = found(own, kernel)
    assert [each.ratio for each in every["orthogonal"].values()] == [pytest.approx(1.0)]
    assert [each.ratio for each in every["kernel"].values()] == [pytest.approx(0.4)]


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (0.8, 0.9, r"15(\.1)? % lower error \(10(\.0)? to 20(\.0)? %\)"),
        (0.9, 1.1, r"[01](\.0|\.5)? % lower error \(-10(\.0)? to 10(\.0)? %\)|0\.5 % lower"),
        (1.1, 1.2, r"1[45](\.9)? % higher error \(10(\.0)? to 20(\.0)? %\)"),
    ],
)
def test_every_question_has_its_sentence_whatever_the_rows_say(low, high, words):
    """With its number, the number of tables, a thread and a command, each once."""
    interval = Interval(math.sqrt(low * high), low, high, 40)
    made = {key: {f"{a} / {b}": interval for a, b in pairs} for key, pairs in QUESTIONS.items()}
    text = answers.page(made)
    parts = text.split("\n## ")[1:]
    assert len(parts) == len(QUESTIONS)
    for part in parts:
        title, asked, said = part.split("\n\n")[:3]
        assert title.endswith("?")
        assert re.search(r"\]\(https://github\.com/[^)]+/(issues|pull)/\d+\)", asked)
        assert said.startswith("**")
        assert re.search(r"`rfbench run [^`]+`$", said)
        assert "40 tables" in said
        assert re.search(words, said)


def test_the_published_page_answers_ten_questions_at_least():
    text = PUBLISHED.read_text(encoding="utf-8")
    assert text.count("\n## ") == len(QUESTIONS) >= 10


def test_the_same_rows_give_the_same_figure():
    own = folder({"rks": 1.0, "orf": 0.8}, "leaderboard_x")
    made = answers.files(of([own]))
    assert made[answers.FIGURE].startswith(b"\x89PNG")
    assert made == answers.files(of([own]))
