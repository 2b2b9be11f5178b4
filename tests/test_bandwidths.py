import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from rfbench import bandwidths
from rfbench.errors import MethodError


def test_bandwidth_rules_equal_brute_force():
    rows = np.random.default_rng(0).standard_normal((120, 3))
    distances = np.sqrt(((rows[:, None] - rows) ** 2).sum(axis=2))
    generator = np.random.default_rng(0)
    median = np.median(distances[np.triu_indices(120, 1)])
    assert_allclose(bandwidths.compute_bandwidth_by_rule("median", rows, generator), median)
    fiftieth = np.sort(distances, axis=1)[:, 50].mean()
    assert_allclose(bandwidths.compute_bandwidth_by_rule("knn50", rows, generator), fiftieth)
    assert_allclose(
        bandwidths.compute_bandwidth_by_rule("knn50", sparse.csr_array(rows), generator), fiftieth
    )
    few = np.sort(distances[:20, :20], axis=1)[:, -1].mean()
    assert_allclose(bandwidths.compute_bandwidth_by_rule("knn50", rows[:20], generator), few)
    assert_allclose(bandwidths.compute_bandwidth_by_rule("knn50-sample", rows, generator), fiftieth)
    assert bandwidths.compute_bandwidth_by_rule(0.7, rows, generator) == 0.7
    for rule in bandwidths.RULES:
        assert bandwidths.compute_bandwidth_by_rule(rule, rows[:1], generator) == 1.0


@pytest.mark.parametrize(
    "rule", ["median", "knn50", "knn50-sample", 0.0, -1.0, float("nan"), "mean"]
)
def test_bandwidth_that_is_zero_nan_or_unknown_is_rejected(rule):
    with pytest.raises(MethodError, match=f"{rule}"):
        bandwidths.compute_bandwidth_by_rule(rule, np.ones((60, 2)), np.random.default_rng(0))


@pytest.mark.parametrize("of", [np.asarray, sparse.csr_array])
def test_fiftieth_neighbor_distance_is_larger_within_a_sample(of, monkeypatch):
    monkeypatch.setattr(bandwidths, "SAMPLE", 100)
    rows = np.random.default_rng(0).standard_normal((400, 3))
    own = np.sort(np.random.default_rng(7).choice(400, size=100, replace=False))
    distances = np.sqrt(((rows[own][:, None] - rows[own]) ** 2).sum(axis=2))
    fiftieth = np.sort(distances, axis=1)[:, 50].mean()
    given = bandwidths.compute_bandwidth_by_rule("knn50-sample", of(rows), np.random.default_rng(7))
    assert_allclose(given, fiftieth)
    assert given > bandwidths.compute_bandwidth_by_rule("knn50", rows, np.random.default_rng(7))


@pytest.mark.parametrize("of", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("seed", range(5))
def test_identical_rows_have_zero_distance_despite_rounding(of, seed):
    rows = np.random.default_rng(seed).uniform(-1, 1, (900, 3))
    rows[:720] = rows[0]
    with pytest.raises(MethodError, match="gave 0"):
        bandwidths.compute_bandwidth_by_rule("median", of(rows), np.random.default_rng(0))
    distances = np.sqrt(((rows[:, None] - rows) ** 2).sum(axis=2))
    fiftieth = np.sort(distances, axis=1)[:, 50].mean()
    for rule in ("knn50", "knn50-sample"):
        found = bandwidths.compute_bandwidth_by_rule(rule, of(rows), np.random.default_rng(0))
        assert_allclose(found, fiftieth, rtol=1e-12)


def test_multiples_of_the_median_rule_use_the_same_sample_of_rows():
    rows = np.random.default_rng(0).standard_normal((300, 3))
    median = bandwidths.compute_bandwidth_by_rule("median", rows, np.random.default_rng(1))
    found = bandwidths.list_candidate_bandwidths(
        ["0.5*median", "median", 3.0, "2 * median", "1*median"], rows, np.random.default_rng(1)
    )
    assert_allclose(found.values, sorted([0.5 * median, median, 3.0, 2 * median], reverse=True))
    assert (
        bandwidths.compute_bandwidth_by_rule("0.5*median", rows, np.random.default_rng(1))
        == found.values[-1]
    )
    assert found.rule == median


def test_reference_bandwidth_of_a_list_is_its_geometric_mean():
    found = bandwidths.list_candidate_bandwidths([1.0, 8.0], np.eye(3), np.random.default_rng(0))
    assert found.rule == pytest.approx(8**0.5)


@pytest.mark.parametrize(
    ("loss", "best", "tried"),
    [
        (lambda s: (np.log2(s) - 3) ** 2, 8.0, 16.0),  # beyond the grid
        (lambda s: (np.log2(s) + 2) ** 2, 0.25, 0.125),
        (lambda s: -s, 32.0, 32.0),  # ever larger: to 32 times the rule
        (lambda s: s, 0.125, 0.125),  # ever smaller: to an eighth
        (lambda s: np.log2(s) ** 2, 1.0, 2.0),  # inside: nothing is added
    ],
)
@pytest.mark.parametrize("rule", [1.0, 0.3])
def test_bandwidth_grid_is_widened_while_the_best_value_is_at_an_edge(loss, best, tried, rule):
    """Against a search over every power of two from 1/8 to 32 times the rule."""
    grid = bandwidths.Candidates((2 * rule, rule, 0.5 * rule), rule)
    while True:
        least = min(grid.values, key=lambda s: loss(s / rule))
        if (further := grid.widen(least)) is None:
            break
        assert further not in grid.values
        grid = grid.with_bandwidth(further)
    every = [rule * 2.0**power for power in range(-3, 6)]
    assert least == pytest.approx(min(every, key=lambda s: loss(s / rule)))
    assert least == pytest.approx(best * rule)
    assert any(value == pytest.approx(tried * rule) for value in grid.values)


def test_bandwidths_within_one_standard_error_of_the_best_count_as_equal():
    """Of ten folds with a deviation of 1, that is 1 / sqrt(10): .31 is within it, .32 is not."""
    steps = np.linspace(-1, 1, 10) / np.std(np.linspace(-1, 1, 10), ddof=1)
    for excess, taken in ((0.31, 1.0), (0.32, 8.0)):
        losses = {8.0: np.zeros(10) + 5, 1.0: 5 + excess + steps}
        assert bandwidths.choose_bandwidth_nearest_to_rule(losses, rule=1.0) == taken


def test_flat_losses_select_the_bandwidth_nearest_to_the_rule():
    noise = np.array([0.1, -0.1, 0.2, -0.2, 0.0])
    steady = np.ones(5)
    losses = {8.0: steady, 4.0: steady + 0.01 + noise, 2.0: steady + 0.01, 1.0: steady + 1 + noise}
    # 4 differs by less than the standard error of the difference, 0.07; 2 by more than its 0.
    assert bandwidths.choose_bandwidth_nearest_to_rule(losses, rule=1.0) == 4.0
    assert bandwidths.choose_bandwidth_nearest_to_rule(losses, rule=32.0) == 8.0
    alone = {value: loss[:1] for value, loss in losses.items()}
    assert bandwidths.choose_bandwidth_nearest_to_rule(alone, rule=1.0) == 8.0
    same = dict.fromkeys([0.5, 1.0, 2.0, 4.0], steady)
    assert bandwidths.choose_bandwidth_nearest_to_rule(same, rule=1.5) == 2.0
    assert bandwidths.choose_bandwidth_nearest_to_rule(same, rule=2.0**0.5) == 2.0


@pytest.mark.parametrize("rule", ["0*median", "-1*median", "2*mean", "2*", "1e999*median"])
def test_invalid_multiple_of_a_bandwidth_rule_is_rejected(rule):
    assert not bandwidths.ALLOWED.holds(rule)
    with pytest.raises(MethodError):
        bandwidths.list_candidate_bandwidths([rule], np.eye(9), np.random.default_rng(0))
