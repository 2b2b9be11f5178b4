import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from rfbench import bandwidths
from rfbench.errors import MethodError


def test_bandwidth_rules_against_brute_force():
    rows = np.random.default_rng(0).standard_normal((120, 3))
    distances = np.sqrt(((rows[:, None] - rows) ** 2).sum(axis=2))
    generator = np.random.default_rng(0)
    median = np.median(distances[np.triu_indices(120, 1)])
    assert_allclose(bandwidths.resolve("median", rows, generator), median)
    fiftieth = np.sort(distances, axis=1)[:, 50].mean()
    assert_allclose(bandwidths.resolve("knn50", rows, generator), fiftieth)
    assert_allclose(bandwidths.resolve("knn50", sparse.csr_array(rows), generator), fiftieth)
    few = np.sort(distances[:20, :20], axis=1)[:, -1].mean()
    assert_allclose(bandwidths.resolve("knn50", rows[:20], generator), few)
    assert_allclose(bandwidths.resolve("knn50-sample", rows, generator), fiftieth)
    assert bandwidths.resolve(0.7, rows, generator) == 0.7
    for rule in bandwidths.RULES:
        assert bandwidths.resolve(rule, rows[:1], generator) == 1.0


@pytest.mark.parametrize(
    "rule", ["median", "knn50", "knn50-sample", 0.0, -1.0, float("nan"), "mean"]
)
def test_unusable_bandwidth_is_refused(rule):
    with pytest.raises(MethodError, match=f"{rule}"):
        bandwidths.resolve(rule, np.ones((60, 2)), np.random.default_rng(0))


@pytest.mark.parametrize("of", [np.asarray, sparse.csr_array])
def test_within_a_sample_the_fiftieth_neighbour_is_farther_off(of):
    rows = np.random.default_rng(0).standard_normal((400, 3))
    own = np.sort(np.random.default_rng(7).choice(400, size=100, replace=False))
    distances = np.sqrt(((rows[own][:, None] - rows[own]) ** 2).sum(axis=2))
    fiftieth = np.sort(distances, axis=1)[:, 50].mean()
    given = bandwidths.resolve("knn50-sample", of(rows), np.random.default_rng(7), queries=100)
    assert_allclose(given, fiftieth)
    assert given > bandwidths.resolve("knn50", rows, np.random.default_rng(7), queries=100)


@pytest.mark.parametrize("of", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("seed", range(5))
def test_rows_that_coincide_have_no_distance_in_spite_of_rounding(of, seed):
    rows = np.random.default_rng(seed).uniform(-1, 1, (900, 3))
    rows[:720] = rows[0]
    with pytest.raises(MethodError, match="gave 0"):
        bandwidths.resolve("median", of(rows), np.random.default_rng(0))
    distances = np.sqrt(((rows[:, None] - rows) ** 2).sum(axis=2))
    fiftieth = np.sort(distances, axis=1)[:, 50].mean()
    for rule in ("knn50", "knn50-sample"):
        found = bandwidths.resolve(rule, of(rows), np.random.default_rng(0))
        assert_allclose(found, fiftieth, rtol=1e-12)


@pytest.mark.parametrize("rule", bandwidths.RULES)
def test_the_origin_does_not_matter(rule):
    rows = np.random.default_rng(0).standard_normal((300, 3))
    near, far = (bandwidths.resolve(rule, rows + o, np.random.default_rng(0)) for o in (0, 1e8))
    assert_allclose(far, near, rtol=1e-6)


def test_single_precision_is_as_good_as_its_rows():
    rows = np.random.default_rng(0).standard_normal((300, 3)).astype(np.float32)
    for rule in bandwidths.RULES:
        single, double = (
            bandwidths.resolve(rule, rows.astype(t), np.random.default_rng(0)) for t in "fd"
        )
        assert_allclose(single, double, rtol=1e-12)


def test_multiples_of_a_rule_see_one_sample():
    rows = np.random.default_rng(0).standard_normal((300, 3))
    median = bandwidths.resolve("median", rows, np.random.default_rng(1), queries=1000)
    found = bandwidths.candidates(
        ["0.5*median", "median", 3.0, "2 * median", "1*median"], rows, np.random.default_rng(1)
    )
    assert_allclose(found, sorted([0.5 * median, median, 3.0, 2 * median], reverse=True))
    assert bandwidths.resolve("0.5*median", rows, np.random.default_rng(1)) == found[-1]


@pytest.mark.parametrize("rule", ["0*median", "-1*median", "2*mean", "2*", "1e999*median"])
def test_a_multiple_of_nothing_is_refused(rule):
    assert not bandwidths.ALLOWED.holds(rule)
    with pytest.raises(MethodError):
        bandwidths.candidates([rule], np.eye(9), np.random.default_rng(0))
