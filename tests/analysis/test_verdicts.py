"""The verdict on a published number: its bounds, its interval, its error rates."""

import math

import numpy as np
import pytest
from scipy.stats import t

from rfbench.analysis.verdicts import (
    COMPARED,
    HALF_A_DIGIT,
    compute_interval_half_widths,
    is_too_noisy_to_compare,
    judge_published_numbers,
)

ERROR, TRIALS = 0.89 / 10**0.5, 10  # as printed: 68.45 ± 0.89 over 10 trials


@pytest.mark.parametrize(
    ("distance", "half", "verdict"),
    [
        (0.2, 0.29, "agrees"),
        (-0.2, 0.31, "close"),
        (0.75, 0.2, "close"),
        (0.75, 0.3, "undecided"),
        (-1.2, 0.3, "undecided"),
        (-1.2, 0.19, "differs"),
        (9.0, 8.5, "undecided"),
        (0.0, 1.1, "undecided"),
        (99.0, math.nan, "undecided"),
    ],
)
def test_difference_and_interval_width_determine_the_verdict(
    distance: float, half: float, verdict: str
) -> None:
    assert judge_published_numbers(distance, half) == verdict


def test_interval_half_width_equals_welch_interval() -> None:
    variances = 0.89**2 / 10, 0.3**2
    freedom = sum(variances) ** 2 / sum(v**2 / 9 for v in variances)
    half = t.ppf(0.95, freedom) * sum(variances) ** 0.5 + HALF_A_DIGIT
    assert compute_interval_half_widths(ERROR, TRIALS, 0.3, 10) == pytest.approx(half)
    ours_alone = t.ppf(0.95, 3) * (0.89**2 + 0.09) ** 0.5 + HALF_A_DIGIT
    assert compute_interval_half_widths(0.89, math.nan, 0.3, 4) == pytest.approx(ours_alone)
    assert compute_interval_half_widths(0.89, 1, 0.3, 4) == pytest.approx(ours_alone)
    both = t.ppf(0.95, 1) * 5**0.5 + HALF_A_DIGIT
    assert compute_interval_half_widths(2.0, math.nan, 1.0, 2) == pytest.approx(both)
    assert compute_interval_half_widths(0.0, 10, 0.0, 10) == HALF_A_DIGIT
    assert math.isnan(compute_interval_half_widths(ERROR, TRIALS, math.nan, 1))


def test_published_number_without_spread_counts_as_one_trial() -> None:
    half = t.ppf(0.95, 9) * 0.6 * (1 + 1 / 10) ** 0.5 + HALF_A_DIGIT
    assert compute_interval_half_widths(math.nan, math.nan, 0.6 / 10**0.5, 10) == pytest.approx(
        half
    )


@pytest.mark.parametrize("distance", [0.0, 0.3, 0.45, 0.7, 1.4])
def test_additional_trials_do_not_reverse_a_verdict(distance: float) -> None:
    """Each may only leave "undecided", or go from "close" to "agrees"."""
    trials = 2 ** np.arange(1, 14)
    said = judge_published_numbers(
        distance, compute_interval_half_widths(0.0, math.nan, 0.9 / np.sqrt(trials), trials)
    )
    order = ["undecided", "close", "agrees"] if distance < 1 else ["undecided", "differs"]
    places = list(map(order.index, said))
    assert places == sorted(places)
    assert said[0] == "undecided"
    assert said[-1] == {0.7: "close", 1.4: "differs"}.get(distance, "agrees")


def test_number_without_unit_is_judged_by_its_ratio() -> None:
    """Half a digit, the error of both means and the bounds are relative to the numbers."""
    half = compute_interval_half_widths(0.02 / 0.5, 20, 0.01 / 0.52, 10, 0.005 / 0.5)
    errors, freedoms = np.array([0.04, 0.01 / 0.52]), np.array([19, 9])
    freedom = (errors**2).sum() ** 2 / (errors**4 / freedoms).sum()
    assert half == pytest.approx(t.ppf(0.95, freedom) * np.hypot(*errors) + 0.01)
    quotients = [1.04, 1 / 1.04, 1.09, 1 / 1.09, 1.12, 1 / 1.12, 1.101]
    expected = ["agrees"] * 2 + ["close"] * 2 + ["differs"] * 2 + ["undecided"]
    assert list(judge_published_numbers(np.log(quotients), 0.005, relative=True)) == expected


def relative_rates(quotient: float, theirs: int, ours: int, spread: float = 0.4) -> dict:
    """Return how often each verdict is said of two means of gamma variables."""
    rng, times, shape = np.random.default_rng(0), 4_000, spread**-2
    sides = [
        scale * rng.gamma(shape, 1 / shape, (times, n))
        for scale, n in ((1, theirs), (quotient, ours))
    ]
    (printed, theirs_error), (measured, ours_error) = (
        (x.mean(axis=1), x.std(axis=1, ddof=1) / x.mean(axis=1) / x.shape[1] ** 0.5) for x in sides
    )
    half = compute_interval_half_widths(theirs_error, theirs, ours_error, ours, 0)
    said = judge_published_numbers(np.log(measured / printed), half, relative=True)
    return {verdict: float((said == verdict).mean()) for verdict in COMPARED}


@pytest.mark.parametrize("trials", [(500, 100), (100, 100)])
def test_verdicts_on_ratios_have_error_rates_below_5_percent(trials: tuple) -> None:
    """At a bound, of errors with a spread of 40 % of the mean."""
    most = 0.05 + 4 * (0.05 * 0.95 / 4_000) ** 0.5
    for bound, wrong in ((1.05, ["agrees"]), (1.1, ["agrees", "close"])):
        for quotient in (bound, 1 / bound):
            seen = relative_rates(quotient, *trials)
            assert sum(seen[verdict] for verdict in wrong) <= most
            assert seen["differs"] <= most
    assert relative_rates(1.1, *trials)["differs"] > 0.02
    assert relative_rates(1.3, *trials)["differs"] > 0.8


def rates(truth: float, theirs: float, trials: int, ours: float, n: int, known: str) -> dict:
    """Return how often each verdict is said, of a paper of `trials` and our `n` trials."""
    rng, times = np.random.default_rng(0), 20_000
    printed = theirs * rng.standard_normal((times, trials))
    measured = truth + ours * rng.standard_normal((times, n))
    means = np.round(50 + printed.mean(axis=1), 2), 50 + measured.mean(axis=1)
    errors = printed.std(axis=1, ddof=min(1, trials - 1)) / trials**0.5
    half = compute_interval_half_widths(
        math.nan if known == "nothing" else errors,
        trials if known == "all" else math.nan,
        measured.std(axis=1, ddof=1) / n**0.5,
        n,
    )
    said = judge_published_numbers(means[1] - means[0], half)
    return {verdict: float((said == verdict).mean()) for verdict in COMPARED}


SIDES = [
    (0.3, 10, 0.3, 10, "all"),
    (0.1, 10, 0.8, 20, "all"),
    (0.5, 50, 0.2, 10, "spread"),
    (0.2, 1, 0.2, 10, "nothing"),
    (0.2, 20, 0.2, 10, "nothing"),
]


@pytest.mark.parametrize("sides", SIDES)
def test_verdict_at_its_bound_is_wrong_in_5_percent(sides: tuple) -> None:
    most = 0.05 + 4 * (0.05 * 0.95 / 20_000) ** 0.5
    assert rates(0.5, *sides)["agrees"] <= most
    assert rates(-0.5, *sides)["agrees"] <= most
    at_one_point = rates(1.0, *sides)
    assert at_one_point["differs"] <= most
    assert at_one_point["agrees"] + at_one_point["close"] <= most
    assert rates(0.0, *sides)["differs"] == 0


@pytest.mark.parametrize(("theirs", "noisy"), [(0.40, False), (0.60, True)])
def test_number_is_too_noisy_if_more_trials_rarely_help(theirs: float, noisy: bool) -> None:
    """Of 10 trials of the paper, against 100,000 of ours with the same true mean."""
    agreed = rates(0.0, theirs, 10, 0.3 / 100, 10, "all")["agrees"]
    assert (agreed < 0.8) == noisy
    assert is_too_noisy_to_compare(theirs / 10**0.5, 10) == noisy
    assert not is_too_noisy_to_compare(math.nan, math.nan)
    quotients = [is_too_noisy_to_compare(error, 500, 0, relative=True) for error in (0.015, 0.018)]
    assert quotients == [False, True]


def test_verdicts_on_published_numbers_have_power() -> None:
    """The rates at the bounds are near 5 %, not 0, and what is true is said."""
    sides = SIDES[0]
    assert rates(0.5, *sides)["agrees"] > 0.03
    assert rates(1.0, *sides)["differs"] > 0.03
    assert rates(0.0, *sides)["agrees"] > 0.9
    assert rates(0.75, *sides)["close"] > 0.4
    assert rates(1.5, *sides)["differs"] > 0.9
