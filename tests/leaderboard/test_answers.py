"""Questions of public threads: their numbers by brute force, their sentences with every verdict."""

import re
from pathlib import Path

import numpy as np
import pytest

from rfbench.analysis.frame import build_collection
from rfbench.leaderboard import answers
from rfbench.leaderboard.answers import QUESTIONS, Answer, AnswerComparison, adjust_p_values
from rfbench.leaderboard.facts import Ratio
from rfbench.leaderboard.rows import summarize_error_ratios
from rfbench.leaderboard.rule import compute_wilcoxon_p_value
from tests.leaderboard.comparisons import rows
from tests.support.frames import results

PUBLISHED = Path(__file__).parents[2] / "results" / "answers.md"


def folder(parts, name, M=400, n=5, **changes):
    """Rows of methods that have so many times the error of a data set's own, in one trial."""
    errors = {(f"d{i}", method, M): (10.0 + i) * p for method, p in parts.items() for i in range(n)}
    return results(rows(errors, 1, **{"scaling": "standard", **changes}), name)


def found(*folders):
    return answers.gather_answers(build_collection(folders))


def test_errors_are_compared_in_the_same_trials_over_data_sets():
    own = folder({"rks": 1.0, "orf": 0.8}, "leaderboard_x")
    assert list(found(own)) == ["orthogonal"]
    each = found(own)["orthogonal"].best.ratio
    assert (each.median, each.mean) == (pytest.approx(0.8), pytest.approx(0.8))
    assert (each.better, each.datasets) == (5, 5)


def test_paired_and_offset_features_are_compared_at_equal_columns():
    """200 pairs beside 400 offsets; those of other folders and of the wrong size are none."""
    offsets = folder({"rks": 1.0}, "leaderboard_x")
    wrong = folder({"rks": 9.0}, "leaderboard_x2", M=200)
    pairs = folder({"rks-pair": 1.5}, "answers_pair", M=200)
    it = found(offsets, wrong, pairs)["pair"]
    assert (it.name, it.best.ratio.median) == ("RKS, pair, M = 200 / RKS", pytest.approx(1.5))
    elsewhere = folder({"rks-pair": 1.5}, "others_pair", M=200)
    assert "pair" not in found(offsets, elsewhere)


def test_scalings_are_compared_with_standard_scaling_of_the_same_method():
    standard = folder({"rks": 1.0, "swim": 2.0}, "leaderboard_x")
    robust = folder({"rks": 0.5, "swim": 3.0}, "leaderboard_robust", scaling="robust")
    compared = found(standard, robust)["scaling"].compared
    by_name = {name: each.ratio.median for name, each in compared.items()}
    assert by_name == pytest.approx({"RKS, robust / RKS": 0.5, "SWIM, robust / SWIM": 1.5})


def test_all_comparisons_of_a_question_use_the_same_data_sets():
    own = folder({"rks": 1.0, "orf": 0.8}, "leaderboard_x")
    more = folder({"rks": 1.0, "qmc": 0.9}, "leaderboard_y", n=3)
    every = found(own, more)["orthogonal"].compared.values()
    assert [each.ratio.datasets for each in every] == [3, 3]


def test_answers_page_is_not_written_without_rows():
    assert found() == {}
    assert answers.render_answers_files(build_collection([])) == {
        answers.PAGE: None,
        answers.FIGURE: None,
    }
    assert found(folder({"rks": 1.0, "orf": 0.8}, "leaderboard_held_out_x")) == {}


def test_kernel_error_is_shown_with_the_prediction_error():
    errors = {("usps", name, M): 1.0 for name in ("rks", "orf") for M in (10, 20)}
    made = rows(errors, 2, kernel="gaussian")
    for row in made:
        row |= {"protocol": "printed", "solver": "none"}
        row["kernel_error_frobenius"] = 0.1 * row["M"] * (0.4 if row["sampler"] == "orf" else 1.0)
    kernel = results(made, "quadrature2018_figure2_usps-gaussian.printed", paper="quadrature2018")
    own = folder({"rks": 1.0, "orf": 1.0}, "leaderboard_x")
    every = found(own, kernel)
    assert every["orthogonal"].best.ratio.median == pytest.approx(1.0)
    assert every["kernel"].best.ratio.median == pytest.approx(0.4)
    for row in made:  # the same data set by another paper, with other rows
        row |= {"dataset": "usps[500 rows]", "kernel_error_frobenius": row["M"] * 1.0}
    again = results(made, "orf2016_figure4_usps.printed", paper="orf2016")
    twice = found(own, kernel, again)["kernel"].best
    assert twice.ratio.median == pytest.approx(0.4**0.5)
    assert (twice.ratio.datasets, twice.verdict) == (1, "not shown")
    audit = results([row | {"variant": "scaling=none"} for row in made], "gaps_x", paper="orf2016")
    assert found(own, kernel, audit)["kernel"].best.ratio.median == pytest.approx(0.4)


def step_down(p):
    """Holm by its definition: the smallest p times how many there are, then the next, and so on."""
    left, adjusted_p, largest = dict(enumerate(p)), {}, 0.0
    while left:
        first = min(left, key=left.get)
        largest = max(largest, min(1.0, len(left) * left.pop(first)))
        adjusted_p[first] = largest
    return [adjusted_p[i] for i in range(len(p))]


def test_p_values_are_adjusted_over_options_and_questions():
    """An option is shown if its question is, and it is at the question's level.

    The p-values themselves are counted over all signs in `test_board`.
    """
    generator = np.random.default_rng(5)
    shifts = {"a": [0.9, 0.1, -0.8], "b": [0.7], "c": [0.0, 1.5], "d": [0.3, 0.4, 0.5, 0.6]}
    logs = {key: [generator.normal(s, 0.6, 11) for s in each] for key, each in shifts.items()}
    made = {
        key: {
            str(i): AnswerComparison(summarize_error_ratios(x), compute_wilcoxon_p_value(x))
            for i, x in enumerate(each)
        }
        for key, each in logs.items()
    }
    within = {
        key: step_down(list(map(compute_wilcoxon_p_value, each))) for key, each in logs.items()
    }
    for alpha in (0.01, 0.05, 0.1, 0.2):
        shown, left = set(), dict(within)
        while left:  # the question with the smallest p, as long as one is rejected
            key = min(left, key=lambda one: min(left[one]))
            level = alpha / len(left)
            rejected = {(key, str(i)) for i, p in enumerate(left.pop(key)) if p <= level}
            if not rejected:
                break
            shown |= rejected
        found = {
            (key, name)
            for key, each in adjust_p_values(made).items()
            for name, one in each.items()
            if one.p <= alpha
        }
        assert found == shown
    assert shown


def test_answers_are_reversed_if_all_signs_are_reversed():
    logs = np.random.default_rng(0).normal(0.5, 0.3, 30)
    for sign, verdict in ((1, "higher"), (-1, "lower"), (0, "not shown")):
        it = Answer(
            {
                "a": AnswerComparison(
                    summarize_error_ratios(sign * logs), compute_wilcoxon_p_value(sign * logs)
                )
            }
        )
        assert it.verdict == verdict


def test_worse_verdict_requires_that_all_options_are_worse():
    def one(median, p):
        return AnswerComparison(Ratio(median, 0.5, 2.0, 1, 40, median, median), p)

    worse, better, nearer = one(1.2, 0.01), one(0.9, 0.01), one(0.8, 0.2)
    assert (Answer({"a": worse, "b": one(1.1, 0.01)}).verdict) == "higher"
    assert (Answer({"a": worse, "b": one(1.1, 0.06)}).verdict) == "not shown"
    it = Answer({"a": worse, "b": better, "c": nearer})
    assert (it.verdict, it.name) == ("lower", "b")


@pytest.mark.parametrize(
    ("median", "p", "words"),
    [
        (0.85, 0.01, r"15\.0 % lower error in the median \(90 % interval 10\.0 to 20\.0 %\)"),
        (1.0, 0.9, r"0\.0 % higher error in the median \(90 % interval -5\.0 to 5\.0 %\)"),
        (1.15, 0.01, r"15\.0 % higher error in the median \(90 % interval 10\.0 to 20\.0 %\)"),
    ],
)
def test_each_question_gets_a_sentence_for_any_result(median, p, words):
    """With its number, the number of data sets, a thread and a command, each once."""
    ratio = Ratio(median, median - 0.05, median + 0.05, 12, 40, median, median)
    made = {
        key: Answer({f"{a} / {b}": AnswerComparison(ratio, p) for a, b in pairs})
        for key, pairs in QUESTIONS.items()
    }
    text = answers.render_answers_page(made)
    parts = text.split("\n## ")[1:]
    assert len(parts) == len(QUESTIONS)
    for part in parts:
        title, asked, said = part.split("\n\n")[:3]
        assert title.endswith("?")
        assert re.search(r"\]\(https://github\.com/[^)]+/(issues|pull)/\d+\)", asked)
        assert said.startswith("**No difference shown**" if p > 0.05 else "**")
        assert ("No difference shown" in said) == (p > 0.05)
        assert re.search(r"`rfbench run [^`]+` measures the rows of this comparison\.$", said)
        assert "12 of 40 data sets" in said
        assert re.search(words, said)


def test_published_page_answers_at_least_ten_questions():
    text = PUBLISHED.read_text(encoding="utf-8")
    assert text.count("\n## ") == len(QUESTIONS) >= 10


def test_answers_figure_is_reproducible():
    own = folder({"rks": 1.0, "orf": 0.8}, "leaderboard_x")
    made = answers.render_answers_files(build_collection([own]))
    assert made[answers.FIGURE].startswith(b"\x89PNG")
    assert made == answers.render_answers_files(build_collection([own]))
