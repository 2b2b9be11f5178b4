"""Losses and paired comparisons: closed forms, scikit-learn, scipy, and repeated sampling."""

import numpy as np
import pytest
from scipy import stats
from sklearn import metrics

from rfbench.choosing.losses import CLASS_METRICS, NUMBER_METRICS, compare_losses, compute_loss
from tests.support.nightly import at_night, nightly

METRICS = (*CLASS_METRICS, *NUMBER_METRICS)
RANDOM = np.random.default_rng(0)
N = 400
NUMBERS = RANDOM.gamma(2.0, size=N)
CODES = RANDOM.choice(3, N, p=[0.6, 0.3, 0.1])


def numbers(scale, seed=1):
    return NUMBERS + scale * np.random.default_rng(seed).laplace(size=N)


def classes(noise, seed=1):
    scores = np.eye(3)[CODES] + noise * np.random.default_rng(seed).random((N, 3))
    return scores / scores.sum(axis=1, keepdims=True)


def decided(codes):
    """Return probabilities of two classes that say so."""
    return np.eye(2)[codes]


def case(metric, noise, seed=1):
    if metric in NUMBER_METRICS:
        return NUMBERS, numbers(noise, seed)
    return CODES, classes(3 * noise, seed)


@pytest.mark.parametrize("metric", METRICS)
def test_losses_equal_scikit_learn(metric):
    truth, said = case(metric, 0.6)
    expected = {
        "error": lambda: 100 * metrics.zero_one_loss(truth, said.argmax(axis=1)),
        "log-loss": lambda: metrics.log_loss(truth, said),
        "rmse": lambda: metrics.root_mean_squared_error(truth, said),
        "mae": lambda: metrics.mean_absolute_error(truth, said),
    }
    made = compute_loss(metric, truth, said)
    assert made.value == pytest.approx(expected[metric](), rel=1e-9)
    mean = made.rows.mean()  # what tests compare adds up to the value
    assert (np.sqrt(mean) if metric == "rmse" else mean) == pytest.approx(made.value)


@pytest.mark.parametrize("metric", METRICS)
def test_standard_errors_equal_bootstrap_standard_errors(metric):
    truth, first = case(metric, 0.6)
    _, second = case(metric, 0.8, seed=2)
    draws = np.random.default_rng(3).integers(N, size=(800, N))
    values = np.array(
        [
            [compute_loss(metric, truth[rows], p[rows]).value for p in (first, second)]
            for rows in draws
        ]
    )
    losses = [compute_loss(metric, truth, p) for p in (first, second)]
    for column, each in zip(values.T, losses, strict=True):
        assert each.standard_error == pytest.approx(column.std(), rel=0.15)
    apart = compare_losses(*losses, metric)
    if metric == "error":
        spread = (values[:, 0] - values[:, 1]).std()
        assert (apart.high - apart.low) / 2 == pytest.approx(1.966 * spread, rel=0.15)
    assert apart.value == pytest.approx(losses[0].value - losses[1].value)


def compute_walsh_interval(differences):
    """Return the interval of Hodges and Lehmann from all means of two values (Hollander, 3.3)."""
    n = len(differences)
    pairs = np.triu_indices(n)
    means = np.sort((differences[pairs[0]] + differences[pairs[1]]) / 2)
    counts = np.zeros(len(means) + 1)  # of sums of ranks
    counts[0] = 1
    for rank in range(1, n + 1):
        counts[rank:] += counts[:-rank].copy()
    tail = np.cumsum(counts) / 2.0**n
    left = int(np.searchsorted(tail, 0.025, side="right"))
    return means[left - 1], means[-left]


@pytest.mark.parametrize("n", [12, 20, 31])
def test_signed_rank_interval_equals_sorted_pairwise_means(n):
    random = np.random.default_rng(n)
    truth = random.standard_normal(n)
    said = [truth + random.standard_t(2, n) for _ in range(2)]
    apart = compare_losses(*(compute_loss("mae", truth, p) for p in said), "mae")
    rows = np.abs(said[0] - truth) - np.abs(said[1] - truth)
    assert apart.p == pytest.approx(stats.wilcoxon(rows).pvalue)
    assert (apart.low, apart.high) == pytest.approx(compute_walsh_interval(rows), abs=1e-9)
    middle = [stats.wilcoxon(rows - end).pvalue for end in (apart.low, apart.center, apart.high)]
    assert middle[1] > 0.9 > 0.1 > max(middle[::2])


def test_rmse_differences_have_the_unit_of_rmse():
    """The rows' differences are scaled so that their mean is the difference of the two roots."""
    truth, first = np.zeros(300), np.full(300, 3.0)
    second = np.full(300, 2.0) + 1e-3 * np.random.default_rng(0).standard_normal(300)
    apart = compare_losses(*(compute_loss("rmse", truth, p) for p in (first, second)), "rmse")
    assert apart.center == pytest.approx(1.0, abs=1e-3)
    assert apart.low < 1.0 < apart.high < 1.001


@pytest.mark.parametrize("seeds", [range(1, 24, 3), *at_night(range(24))], ids=str)
@pytest.mark.parametrize("kind", ["any", "rounded", "some equal", "classes", "groups"])
def test_interval_contains_zero_exactly_if_test_is_not_significant(kind, seeds):
    found = []
    for seed in seeds:
        random = np.random.default_rng(seed)
        n, scale = int(random.choice([14, 40])), random.uniform(0.5, 1.5)
        truth = random.standard_normal(n)
        first = truth + random.standard_t(2, n)
        second = truth + scale * random.standard_t(2, n)
        metric, groups = ("mae", "rmse")[seed % 2], None
        if kind == "rounded":
            truth, first, second = (np.round(each, 1) for each in (truth, first, second))
        elif kind == "some equal":
            second = np.where(random.random(n) < 0.2, first, second)
        elif kind == "groups":
            groups = np.repeat(np.arange(n), 2)[:n]
        elif kind == "classes":
            metric, truth = "error", np.zeros(n, int)
            first, second = (
                decided((abs(p) > c).astype(int)) for p, c in ((first, 1), (second, 2))
            )
        losses = (compute_loss(metric, truth, p, groups) for p in (first, second))
        apart = compare_losses(*losses, metric)
        assert (apart.p >= 0.05) == (apart.low <= 0 <= apart.high)
        assert apart.low <= apart.center <= apart.high
        found.append(apart.p < 0.05)
    assert 0 < sum(found) < len(found)


def test_difference_is_undecided_if_median_and_mean_have_opposite_signs():
    """Most rows are a little better, and a few are worse by so much that the mean is worse."""
    truth, second = np.zeros(200), np.full(200, 1.0)
    first = np.r_[np.full(190, 0.9), np.full(10, 9.0)]
    apart = compare_losses(*(compute_loss("rmse", truth, p) for p in (first, second)), "rmse")
    assert apart.value > 0 > apart.center
    assert apart.p < 0.05
    assert apart.high < 0
    assert apart.verdict == "near"


def test_errors_are_compared_with_mcnemar_test():
    truth = np.zeros(100, dtype=int)
    first, second = np.zeros(100, dtype=int), np.zeros(100, dtype=int)
    first[:12] = 1  # 12 errors, 10 of which the second does not make
    second[10:15] = 1  # 5, 3 of which the first does not make
    apart = compare_losses(
        *(compute_loss("error", truth, decided(p)) for p in (first, second)), "error"
    )
    assert apart.p == pytest.approx(2 * stats.binom.cdf(3, 13, 0.5))
    assert apart.value == pytest.approx(7.0)


def test_rows_of_a_group_count_as_one_observation():
    groups = np.repeat(np.arange(20), 20)
    own = np.random.default_rng(5).standard_normal(20)[groups]
    losses = [compute_loss("mae", NUMBERS, p, groups) for p in (NUMBERS + own, NUMBERS + 0.9)]
    together = compare_losses(*losses, "mae")
    means = np.array([np.abs(own[groups == g]).mean() - 0.9 for g in range(20)])
    assert together.p == pytest.approx(stats.wilcoxon(means).pvalue)
    ends = (together.low, together.high)
    assert ends == pytest.approx(compute_walsh_interval(means), abs=1e-9)


def test_group_errors_are_weighted_by_number_of_rows():
    """Better on 40 groups of 5 rows by 20 points, worse on 4 of 100 by 10: equal together."""
    groups = np.repeat(np.arange(44), [5] * 40 + [100] * 4)
    large, random, verdicts = groups >= 40, np.random.default_rng(2), []
    for _ in range(60):
        rates = np.where(large, 0.3, 0.2), np.where(large, 0.2, 0.4)
        said = [decided((random.random(600) < rate).astype(int)) for rate in rates]
        losses = (compute_loss("error", np.zeros(600, int), each, groups) for each in said)
        verdicts.append(compare_losses(*losses, "error").verdict)
    assert sum(verdict != "near" for verdict in verdicts) <= 7


@pytest.mark.parametrize("metric", ["error", "rmse", "log-loss"])
def test_large_difference_is_significant_with_four_groups(metric):
    groups, random = np.repeat(np.arange(4), 50), np.random.default_rng(3)
    truth = random.integers(0, 2, 200)
    right = np.c_[1 - truth, truth]
    good, bad = 0.96 * right + 0.02, np.full((200, 2), 0.5) + 0.01 * random.random((200, 2))
    said = [p[:, 1] if metric == "rmse" else p / p.sum(axis=1, keepdims=True) for p in (good, bad)]
    apart = compare_losses(*(compute_loss(metric, truth, each, groups) for each in said), metric)
    assert apart.value < 0
    assert apart.p < 0.0125


def test_identical_predictions_give_no_difference():
    for metric in METRICS:
        truth, said = case(metric, 0.6)
        apart = compare_losses(
            compute_loss(metric, truth, said), compute_loss(metric, truth, said), metric
        )
        assert (apart.value, apart.p, apart.verdict) == (0.0, 1.0, "near")


@pytest.mark.parametrize(
    ("seeds", "expected"), [(60, range(1, 8)), pytest.param(200, range(2, 20), marks=nightly)]
)
def test_equally_good_models_differ_significantly_in_about_5_percent(seeds, expected):
    verdicts = []
    for seed in range(seeds):
        random = np.random.default_rng(seed)
        truth = random.standard_normal(60)
        said = (truth + random.standard_normal(60) for _ in range(2))
        verdicts.append(
            compare_losses(*(compute_loss("rmse", truth, p) for p in said), "rmse").verdict
        )
    wrong = sum(verdict != "near" for verdict in verdicts)
    assert wrong in expected  # 5 % of the seeds, and about 3 standard deviations
