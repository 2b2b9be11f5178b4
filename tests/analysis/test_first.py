"""What a run says first."""

from typing import Any

from rfbench.analysis.best import compare_best_methods
from rfbench.analysis.frame import build_collection
from rfbench.analysis.naming import format_dataset_name
from rfbench.analysis.summary import summarize
from rfbench.pages.summary_table import describe_best_methods
from rfbench.results import Results
from tests.support.frames import results


def run(values: dict[str, list[float]], **facts: Any) -> Results:
    """Return results at M = 50 and 200; the errors at 200 are half as large."""
    rows = [
        {"sampler": name, "M": M, "trial": t, "error": value / (1 + (M == 200)), **facts}
        for name, errors in values.items()
        for M in (50, 200)
        for t, value in enumerate(errors)
    ]
    return results(rows)


def said(read: Results) -> str:
    (text,) = describe_best_methods(build_collection([read]), read)
    return text


def test_best_method_is_compared_with_plain_features_at_each_size() -> None:
    """At M = 50 the difference is 20 and certain; at 200 it is half as large."""
    read = run({"rks": [40.0, 41.0, 42.5], "orf": [50.0] * 3, "nystroem": [20.0, 21.0, 22.0]})
    (answer,) = compare_best_methods(build_collection([read]), read)
    assert (answer.method, answer.other, answer.axis, answer.trials) == ("nystroem", "rks", "M", 3)
    assert [(point.x, point.verdict) for point in answer.points] == [
        (50, "better"),
        (200, "better"),
    ]
    assert answer.point_of_largest_difference.first[0] == 21.0
    assert said(read) == (
        "test error (%): nystroem against rks: significantly better at M = 50 to 200 "
        "(mean at M = 50: 21.00 ± 0.58 against 41.17 ± 0.73). 3 trials, paired 90 % intervals."
    )


def test_second_best_method_is_compared_if_plain_features_are_best() -> None:
    text = said(run({"rks": [20.0, 21.0, 22.0], "orf": [30.0, 31.0, 33.0]}))
    assert text.startswith(
        "test error (%): orf against rks: significantly worse at M = 50 to 200 (mean"
    )


def test_adjacent_feature_counts_with_equal_verdicts_form_a_range() -> None:
    """Better at 10 and 20, no difference at 30, better at 40."""
    rows = [
        {"sampler": name, "M": M, "trial": t, "error": 20.0 + t + shift * (name == "orf")}
        for M, shifts in (
            (10, (-5, -5, -5)),
            (20, (-4, -4, -5)),
            (30, (-9, 9, 0)),
            (40, (-2, -2, -3)),
        )
        for t, shift in enumerate(shifts)
        for name in ("rks", "orf")
    ]
    text = said(results(rows))
    assert "orf against rks: significantly better at M = 10 to 20, 40; no significant " in text
    assert " difference at M = 30 (mean at M = 10: 16.00 ± 0.58 against" in text


def test_larger_r2_is_better_in_the_comparison_sentence() -> None:
    rows = [
        {
            "sampler": name,
            "M": 50,
            "trial": t,
            "error": "",
            "r2": 0.5 + 0.01 * t + 0.2 * (name == "orf"),
        }
        for t in range(3)
        for name in ("rks", "orf")
    ]
    read = results(rows, metric="r2")
    (answer,) = compare_best_methods(build_collection([read]), read)
    assert (answer.method, answer.points[0].verdict) == ("orf", "better")


def test_method_without_significant_difference_is_not_called_best() -> None:
    text = said(run({"rks": [20.0, 30.0, 40.0], "orf": [30.0, 40.0, 19.0]}))
    assert "orf against rks: no significant difference at M = 50 to 200" in text


def test_single_or_failed_trials_give_no_significance_statement() -> None:
    single = run({"rks": [20.0], "orf": [30.0]})
    assert "orf against rks: one trial cannot be compared (mean at M = 200: " in said(single)
    alone = run({"rks": [20.0, 21.0]})
    (answer,) = compare_best_methods(build_collection([alone]), alone)
    assert answer.other == ""
    assert said(alone) == (
        "test error (%): rks has 20.50 ± 0.50 at M = 50, 10.25 ± 0.25 at M = 200. 2 trials."
    )
    failed = run({"rks": [20.0]}, status="memory", error="")
    assert compare_best_methods(build_collection([failed]), failed) == []


def test_smoke_run_gets_no_summary_sentence_over_data_sets() -> None:
    rows = [
        {"sampler": s, "dataset": d, "trial": t, "error": 10 + t + (s == "orf") * t * 3}
        for s in ("rks", "orf")
        for d in ("eeg", "digits")
        for t in (0, 1, 2)
    ]
    read = results(rows)
    assert [
        line.partition(":")[0] for line in describe_best_methods(build_collection([read]), read)
    ] == [
        "digits",
        "eeg",
    ]
    smoke = results(rows, smoke=True)
    assert describe_best_methods(build_collection([smoke]), smoke) == []


def test_number_of_rows_is_shown_only_for_subsets_of_a_data_set() -> None:
    facts = {"dataset": "wine[500 rows]"}
    for n_train, n_test, name in ((125, 53, "wine"), (350, 150, "wine[500 rows]")):
        read = results([facts | {"n_train": n_train, "n_test": n_test}])
        assert format_dataset_name(summarize(read)) == name
