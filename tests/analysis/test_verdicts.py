"""The verdict on a published number: its thresholds and its interval."""

import math

import pytest
from scipy.stats import t

from rfbench.analysis.verdicts import HALF_A_DIGIT, interval, of_number

ERROR, TRIALS = 0.89 / 10**0.5, 10  # as printed: 68.45 ± 0.89 over 10 trials


@pytest.mark.parametrize(
    ("mean", "sd", "n", "verdict"),
    [
        (68.45, 0.9, 10, "agrees"),
        (68.90, 0.9, 10, "agrees"),
        (68.96, 0.9, 10, "close"),
        (69.45, 0.9, 10, "close"),
        (67.44, 0.9, 10, "differs"),
        (68.45, 9.0, 10, "close"),
        (68.45, 9.0, 3, "close"),
        (68.45, 0.0, 1, "close"),
        (99.00, 0.0, 1, "differs"),
    ],
)
def test_verdicts(mean: float, sd: float, n: int, verdict: str) -> None:
    half = interval(ERROR, TRIALS, sd / n**0.5 if n > 1 else math.nan, n)
    assert of_number(mean - 68.45, half) == verdict


def test_a_difference_of_less_than_half_a_point_may_be_significant() -> None:
    half = interval(0.01 / 10**0.5, TRIALS, 0.01, 10)
    assert of_number(0.30, half) == "close"
    assert of_number(0.01, half) == "agrees"


def test_without_a_published_spread_nothing_agrees() -> None:
    half = interval(None, None, 0.1, 10)
    assert of_number(0.0, half) == "close"
    assert of_number(2.0, half) == "differs"


def test_the_interval_is_welchs() -> None:
    variances = 0.89**2 / 10, 0.3**2
    freedom = sum(variances) ** 2 / sum(v**2 / 9 for v in variances)
    half = t.ppf(0.975, freedom) * sum(variances) ** 0.5 + HALF_A_DIGIT
    assert interval(ERROR, TRIALS, 0.3, 10) == pytest.approx(half)
    one_sided = t.ppf(0.975, 3) * (0.89**2 + 0.09) ** 0.5 + HALF_A_DIGIT
    assert interval(0.89, None, 0.3, 4) == pytest.approx(one_sided)
    assert interval(0.0, 10, 0.0, 10) == HALF_A_DIGIT
