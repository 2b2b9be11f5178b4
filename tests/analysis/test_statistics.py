import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from rfbench.analysis import statistics as stats
from rfbench.errors import ResultsError

RNG = np.random.default_rng(0)
SCORES = pd.DataFrame(
    RNG.normal([10.0, 10.5, 11.0, 13.0], 1.0, (12, 4)), columns=["a", "b", "c", "d"]
)


def test_paired_t_test_equals_scipy() -> None:
    a, b = RNG.normal(0.4, 1, 10), RNG.normal(0, 1, 10)
    test = stats.paired_t_test(a, b)
    expected = scipy_stats.ttest_rel(a, b)
    assert test.statistic == pytest.approx(expected.statistic)
    assert test.p == pytest.approx(expected.pvalue)
    assert (test.n, test.effect) == (10, pytest.approx(float(np.mean(a - b))))


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([], "0 trials"),
        ([1.0], "1 trials"),
        ([2.0, 2.0, 2.0], "all differences are equal"),
        ([0, 0], "all differences are equal"),
    ],
)
def test_paired_t_test_without_enough_trials_reports_the_reason(
    values: list[float], words: str
) -> None:
    test = stats.paired_t_test(values)
    assert math.isnan(test.p)
    assert words in test.note


def test_missing_trials_are_left_out_and_unequal_shapes_are_rejected() -> None:
    assert stats.paired_t_test([1.0, math.nan, 3.0], [0.0, 1.0, 0.0]).n == 2
    with pytest.raises(ResultsError, match="paired"):
        stats.paired_t_test([1.0, 2.0], [1.0])


def test_holm_correction_equals_manual_computation() -> None:
    assert stats.holm_correction([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert stats.holm_correction([0.5, 0.9]) == pytest.approx([1.0, 1.0])
    adjusted = stats.holm_correction([math.nan, 0.02])
    assert math.isnan(adjusted[0])
    assert adjusted[1] == 0.02


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_correction_is_monotone_and_never_decreases_p(p: list[float]) -> None:
    adjusted = stats.holm_correction(p)
    assert (adjusted >= np.array(p)).all()
    assert (adjusted <= 1).all()
    order = np.argsort(p, kind="stable")
    assert (np.diff(adjusted[order]) >= 0).all()
