"""The best mean of a place, and what cannot be told apart from it."""

import math

import numpy as np
import pytest
from scipy import stats

from rfbench.analysis.best import TIE_LEVEL, is_best_or_tied
from rfbench.analysis.frame import build_collection
from rfbench.analysis.statistics import paired_t_test
from rfbench.analysis.summary import summarize, summarize_collection
from tests.support.frames import results


def tied(errors: dict[str, list[float]], metric: str = "error") -> set[str]:
    """Return the methods that are best or tied, from their values by trial; NaN failed."""
    rows = [
        {"sampler": name, "trial": t, "error": "", metric: "" if math.isnan(value) else value}
        for name, values in errors.items()
        for t, value in enumerate(values)
    ]
    read = results(rows, metric=metric)
    collection = build_collection([read])
    table = summarize_collection(collection, read)
    return set(table.loc[is_best_or_tied(collection, table), "method"])


def test_interval_equals_student_t_interval() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 7))
    reference = stats.ttest_rel(a, b).confidence_interval(TIE_LEVEL)
    assert paired_t_test(a, b).compute_confidence_interval(TIE_LEVEL) == pytest.approx(
        (reference.low, reference.high)
    )
    assert all(map(math.isnan, paired_t_test(a[:1], b[:1]).compute_confidence_interval(TIE_LEVEL)))


def test_paired_test_detects_differences_smaller_than_the_spread() -> None:
    shared = [10.0, 20.0, 30.0, 40.0]
    worse = [value + 1 + 0.1 * (t % 2) for t, value in enumerate(shared)]
    assert tied({"rks": shared, "orf": worse}) == {"rks"}
    assert tied({"rks": shared, "orf": list(shared)}) == {"rks", "orf"}


def test_method_with_the_largest_accuracy_is_best() -> None:
    values = {"rks": [80.0, 81.0, 82.0], "orf": [90.0, 91.0, 92.5]}
    assert tied(values, "accuracy") == {"orf"}


def test_single_method_or_single_trial_is_never_best() -> None:
    assert tied({"rks": [1.0, 2.0]}) == set()
    assert tied({"rks": [1.0], "orf": [2.0]}) == set()
    assert tied({"rks": [1.0, 2.0], "orf": [math.nan, math.nan]}) == set()


def test_summary_of_a_collection_has_the_columns_of_a_results_summary() -> None:
    read = results([{"sampler": s, "trial": t} for s in ("rks", "orf") for t in (0, 1)])
    assert list(summarize_collection(build_collection([read]), read).drop(columns="group")) == list(
        summarize(read)
    )
