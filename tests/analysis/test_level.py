"""How often the paired t over trials errs: ridge on random features, simulated to the end.

Every pair of methods is fitted anew on made-up data, trial by trial. Two draws of one method are
equal by construction; two bandwidths are made equal by taking off their mean difference.
"""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from rfbench.analysis.claim_tests import compute_one_sided_p_values
from rfbench.analysis.statistics import paired_t_test
from tests.support.nightly import NIGHTLY, nightly

N, D, TRIALS = 200, 4, 10  # rows, columns, trials per pair
Values = NDArray[np.float64]


def problem(rng: np.random.Generator) -> tuple[Values, Values]:
    X = rng.standard_normal((N, D))
    signal = np.sin(X[:, 0]) + 0.5 * X[:, 1] * X[:, 2]
    return X, np.sign(signal + 0.5 * rng.standard_normal(N))


def errors(
    rng: np.random.Generator, X: Values, y: Values, rows: NDArray[np.intp], M: int, bandwidth: float
) -> Values:
    """Return the test errors in percent of paired random features with ridge, one per trial.

    `rows` is a permutation per trial, the first half of which trains.
    """
    frequencies = rng.standard_normal((len(rows), M, D)) / bandwidth
    angles = X @ frequencies.transpose(0, 2, 1)
    Z = np.concatenate([np.cos(angles), np.sin(angles)], axis=2) / M**0.5
    Z, targets = np.take_along_axis(Z, rows[:, :, None], axis=1), y[rows]
    half = N // 2
    train, test = Z[:, :half], Z[:, half:]
    mean = targets[:, :half].mean(axis=1, keepdims=True)
    gram = train.transpose(0, 2, 1) @ train + 0.1 * np.eye(2 * M)
    moments = train.transpose(0, 2, 1) @ (targets[:, :half] - mean)[:, :, None]
    predicted = (test @ np.linalg.solve(gram, moments))[:, :, 0] + mean
    return 100 * np.mean(np.sign(predicted) != targets[:, half:], axis=1)


def differences(
    pairs: int, M: int, bandwidths: tuple[float, float], new_splits: bool, problems: int = 0
) -> Values:
    """Return paired differences, shape (pairs, trials), on a data set each or on so many."""
    rng = np.random.default_rng(0)
    made = np.empty((pairs, TRIALS))
    for pair in range(pairs):
        if not problems or pair % (pairs // problems) == 0:
            X, y = problem(rng)
            split = rng.permutation(N)
        rows = np.array([rng.permutation(N) if new_splits else split for _ in range(TRIALS)])
        first, second = (errors(rng, X, y, rows, M, bandwidth) for bandwidth in bandwidths)
        made[pair] = first - second
    return made


def level(made: Values) -> float:
    """Return how often the two-sided test rejects at a nominal 5 %."""
    return float(np.mean([paired_t_test(values).p <= 0.05 for values in made]))


@pytest.mark.parametrize(("M", "new_splits"), [(3, True), pytest.param(8, False, marks=nightly)])
def test_equal_methods_differ_significantly_in_about_5_percent(M: int, new_splits: bool) -> None:
    pairs, off = (1200, 0.02) if NIGHTLY else (300, 0.04)
    assert 0.05 - off < level(differences(pairs, M, (2.0, 2.0), new_splits)) < 0.05 + off


@nightly
def test_random_split_test_rejects_equal_settings_in_at_most_10_percent() -> None:
    """Two bandwidths that are equal over data sets, though one may suit a single data set more."""
    made = differences(1000, 8, (1.5, 3.0), new_splits=True)
    assert abs(made.mean()) > 0.5, "without this they would not be two settings"
    assert 0.03 < level(made - made.mean()) < 0.10


@nightly
def test_paired_test_on_a_fixed_split_covers_only_variation_of_features() -> None:
    """Equal on the split at hand: the level holds. Equal over data sets: it need not."""
    made = differences(1000, 8, (1.5, 3.0), new_splits=False, problems=10)
    by_split = made.reshape(10, -1, TRIALS)
    at_hand = by_split - by_split.mean(axis=(1, 2), keepdims=True)
    assert 0.03 < level(at_hand.reshape(-1, TRIALS)) < 0.07
    assert level(made - made.mean()) > 0.10


def test_power_of_one_sided_tests_equals_the_documented_value() -> None:
    """A mean .85 of the spread off its bound is seen in four of five cases with ten trials."""
    rng = np.random.default_rng(0)
    for gap, trials in ((0.85, 10), (0.46, 31)):
        made = gap + rng.standard_normal((1000, trials))
        seen = np.mean([compute_one_sided_p_values(values)[0] <= 0.05 for values in made])
        exact = stats.nct.sf(stats.t.isf(0.05, trials - 1), trials - 1, gap * trials**0.5)
        assert exact == pytest.approx(0.8, abs=0.02)
        assert seen == pytest.approx(exact, abs=4 * (0.16 / 1000) ** 0.5)
