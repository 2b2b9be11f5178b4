"""The page on methods: its answers as facts, and the template on some rows and on none."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from rfbench import shipped, yamlfile
from rfbench.analysis.choice import Answers, SizeTest, answers, cost, regret, size_tests
from rfbench.analysis.ranking import Comparison
from rfbench.pages import which_method
from rfbench.registry import SAMPLERS
from tests.support.comparisons import ERRORS, gathered, rows
from tests.support.frames import results

DATASETS = [f"data-{i}" for i in range(12)]


def made(gap: float, datasets: list[str] = DATASETS, sizes: tuple[int, ...] = (100, 200)) -> Any:
    """Rows of rks and of two methods whose errors are smaller and larger by this share.

    By so much on the geometric mean: tied quotients would cost Wilcoxon's test seconds.
    """
    factors = {"rks": 1.0, "orf": 1 - gap, "ses": 1 + gap}
    steps = 1 + 1e-3 * (np.arange(len(datasets)) - (len(datasets) - 1) / 2)
    errors = {
        (dataset, method, M): (10 + i) * factor ** steps[i] * (100 / M)
        for i, dataset in enumerate(datasets)
        for method, factor in factors.items()
        for M in sizes
    }
    return rows(errors)


def page(comparison: Comparison | None, out: Path = Path()) -> str:
    tests = size_tests(comparison) if comparison else []
    plain = which_method.page(comparison, tests, out)
    assert "stale" not in plain
    assert comparison is None or "are stale" in which_method.page(
        comparison, tests, out, [comparison.folders[0].name]
    )
    return plain


def answered(comparison: Comparison) -> tuple[list[SizeTest], Answers | None]:
    tests = size_tests(comparison)
    return tests, answers(comparison, tests)


def test_the_answers_are_those_of_the_tests() -> None:
    comparison = gathered(results(made(0.2)))
    tests, found = answered(comparison)
    assert found is not None
    assert (found.best, found.leaders) == ("orf", {"orf": 1.0, "rks": 2.0, "ses": 3.0})
    assert found.apart
    assert (found.always, found.worse, found.never) == (("orf",), {"ses": 2}, ())
    assert found.falls == pytest.approx({"orf": 0.5, "rks": 0.5})
    assert (found.small, found.needs) == (100, {200: 12})
    assert tests[0].against.loc["orf", "ratio"] == pytest.approx(0.8)
    assert tests[0].p == pytest.approx(math.exp(-12))  # chi-squared of 24 on 2 degrees
    ratio = cost(comparison, "orf")
    assert ratio is not None
    assert ratio["ratio"] == pytest.approx(1)


def test_equal_methods_are_told_from_nothing() -> None:
    rng = np.random.default_rng(0)
    same = [row | {"error": row["error"] * rng.uniform(0.99, 1.01)} for row in made(0.0)]
    _, found = answered(gathered(results(same)))
    assert found is not None
    assert not found.apart
    assert (found.always, found.worse) == ((), {})
    assert set(found.never) == {"orf", "ses"}


def test_holm_is_over_all_methods_and_sizes() -> None:
    """Six tests, each with the smallest p of twelve data sets: 2 / 2^12."""
    tests, _ = answered(gathered(results(made(0.2, sizes=(50, 100, 200)))))
    for test in tests:
        assert list(test.against["p"]) == pytest.approx([6 * 2 / 2**12] * 2)
        assert test.floor == pytest.approx(6 * 2 / 2**12)


def test_the_advice_is_made_without_the_data_set_that_it_is_held_against() -> None:
    """orf leads on three of four data sets; on the fourth it has twice the smallest error."""
    errors = {
        (d, m, 100): e for d in "abc" for m, e in {"rks": 4.0, "orf": 2.0, "ses": 3.0}.items()
    }
    errors |= {("d", "rks", 100): 6.0, ("d", "orf", 100): 4.0, ("d", "ses", 100): 2.0}
    found = regret(gathered(results(rows(errors))), 100)
    assert list(found["advised"]) == ["orf"] * 4
    assert dict(found["times"]) == pytest.approx({"a": 1, "b": 1, "c": 1, "d": 2})
    assert dict(found["baseline"]) == pytest.approx({"a": 2, "b": 2, "c": 2, "d": 3})


def test_a_baseline_that_failed_at_the_largest_size_leaves_a_page() -> None:
    failed = [
        row
        | ({"status": "memory", "error": ""} if (row["M"], row["sampler"]) == (200, "rks") else {})
        for row in made(0.2)
    ]
    comparison = gathered(results(failed))
    assert regret(comparison, 200).empty
    assert "which_method_M100.svg" in page(comparison, Path())


def test_few_data_sets_can_show_nothing() -> None:
    (test,), found = answered(gathered(results(made(0.5, DATASETS[:4], (100,)))))
    assert test.floor == pytest.approx(2 * 2.0**-3)
    assert found is not None
    assert (found.always, found.falls, found.needs) == ((), {}, {})
    assert "0.25" in page(gathered(results(made(0.5, DATASETS[:4], (100,)))), Path())


def test_one_data_set_is_not_ranked() -> None:
    comparison = gathered(results(made(0.2, DATASETS[:1])))
    tests, found = answered(comparison)
    assert found is None
    assert all(math.isnan(test.p) and test.ranks.empty for test in tests)
    assert "which_method_M" not in page(comparison, Path())


def test_the_baseline_needs_more_than_was_run() -> None:
    """orf beats rks everywhere; on eeg even the largest rks does not reach its smaller size."""
    better = {key: (5.0 if key[1] == "orf" else error) for key, error in ERRORS.items()}
    better["digits", "orf", 100] = 10.0
    slower = [row | {"cpu_pp": 1.0 if row["sampler"] == "orf" else 0.5, "cpu_features": 0.25,
                     "cpu_train": 0.25} for row in rows(better)]  # fmt: skip
    comparison = gathered(results(slower))
    _, found = answered(comparison)
    assert found is not None
    assert found.needs == {200: 1, None: 1}
    assert found.falls["rks"] == pytest.approx(1 - math.sqrt(10 / 20 * 28 / 30))
    assert found.open_at == (100, 200)
    ratio = cost(comparison, "orf")
    assert ratio is not None
    assert ratio["ratio"] == pytest.approx(1.5)


def test_who_wins_in_the_same_time() -> None:
    """At equal times orf is better on both data sets at M = 100, on eeg alone at M = 200."""
    timed = [
        row | {"cpu_pp": row["M"], "cpu_features": 0, "cpu_train": 0}
        for row in rows(ERRORS | {("digits", "orf", 100): 19.0})
    ]
    _, found = answered(gathered(results(timed)))
    assert found is not None
    assert found.in_the_same_time == {100: [("orf", 2, 2)], 200: []}
    assert found.open_at == ()


def test_the_page_has_the_numbers_of_its_facts(tmp_path: Path) -> None:
    text = page(gathered(results(made(0.2), folder=tmp_path / "results" / "mine")), tmp_path)
    tables = [line for line in text.splitlines() if line.startswith("| orf ")]
    assert r"0.80\* (0.80" in tables[0]
    assert "1.0 " in tables[1]
    assert "[mine](results/mine)" in text
    assert text.count("which_method_M100.svg") == 1
    assert "\n\n\n" not in text


def test_what_is_left_out_is_named() -> None:
    broken = made(0.2)
    broken[0] |= {"status": "failed", "error": ""}
    gone = [row for row in broken if (row["dataset"], row["sampler"]) != ("data-1", "orf")]
    comparison = gathered(results(gone))
    text = page(comparison, Path())
    for name, dataset in (("gaps", "data-1"), ("few", "data-0")):
        assert dataset in getattr(comparison.complete(100), name)
        assert any(dataset in line for line in text.splitlines() if line.startswith("- At M"))


@pytest.mark.parametrize("shared", [[], ["rks"], ["orf"], ["rks", "orf", "ses"]])
def test_shared_times_are_bounds(shared: list[str]) -> None:
    timed = [
        row | {"timing": "shared" if row["sampler"] in shared else "isolated"}
        for row in made(0.2, DATASETS[:3])
    ]
    text = page(gathered(results(timed)), Path())
    assert ("| ≥ 1" in " ".join(text.split())) == (shared == ["rks"])
    assert ("| ≤ 1" in " ".join(text.split())) == (shared == ["orf"])


def test_nothing_run_is_said() -> None:
    text = page(None, Path())
    assert "|" not in text
    assert len(text.splitlines()) == 3


def test_every_sampler_that_is_compared_is_explained() -> None:
    compared = {
        name
        for config in ("benchmark", "tuned_all")
        for spec in yamlfile.load(shipped.locate(config)).value["samplers"]
        for name in ([spec] if isinstance(spec, str) else spec)
    }
    assert len(compared) > 20
    every = SAMPLERS.entries.items()
    about = {name for name, entry in every if entry.about}
    assert compared <= about.union(*(entry.labels for _, entry in every))


def test_errors_of_zero_are_no_quotients() -> None:
    zero = [row | {"error": 0.0} for row in made(0.2)]
    comparison = gathered(results(zero))
    assert isinstance(size_tests(comparison)[0].against, pd.DataFrame)
    assert "errors are zero" in page(comparison, Path())


def test_a_data_set_takes_no_part_in_the_advice_that_is_held_against_it() -> None:
    """With b orf has the best average rank; without it ses, which is the worst on b."""
    by_rank = {"a": ("orf", "ses", "rks"), "b": ("orf", "rks", "ses"), "c": ("ses", "rks", "orf")}
    errors = {
        (dataset, method, 100): 2.0 + place
        for dataset, methods in by_rank.items()
        for place, method in enumerate(methods)
    }
    lines = regret(gathered(results(rows(errors))), 100)
    assert lines.loc["b", "advised"] == "ses"
    assert lines.loc["b", "times"] == pytest.approx(2.0)
    assert lines.loc["c", "advised"] == "orf"
