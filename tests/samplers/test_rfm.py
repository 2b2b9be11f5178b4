import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from rfbench.checking.samplers import CHECK_ROWS, MAPS, NEW_ROWS
from rfbench.samplers import RKS, RFMFeatures
from rfbench.samplers.base import Shared, make_streams
from rfbench.samplers.metric import LearnedMetric, apply_metric

from .candidates import drawn

X = np.random.default_rng(0).standard_normal((150, 5))
Y = np.column_stack([np.sin(2 * X[:, 0]), X[:, 0] * X[:, 1]])


@pytest.mark.parametrize("feature_map", MAPS)
@pytest.mark.parametrize("metric", ["full", "diagonal"])
def test_rfm_features_equal_rks_features_of_metric_transformed_rows(feature_map, metric):
    """To 1e-10."""
    words = {"bandwidth": 2.0, "random_state": 0, "feature_map": feature_map}
    sampler = RFMFeatures(20, rounds=2, metric=metric, **words).fit(X, Y)
    learned = LearnedMetric(kind=metric, rounds=2, random_state=make_streams(0).selection).fit(X, Y)
    assert sampler.round_ == learned.round_ > 0
    assert_allclose(sampler.metric_, learned.metric_)
    assert_allclose(sampler.losses_, learned.losses_)
    plain = RKS(20, **words).fit(apply_metric(learned.root_, X))
    expected = plain.transform(apply_metric(learned.root_, NEW_ROWS))
    assert_allclose(sampler.transform(NEW_ROWS), expected, atol=1e-10)


@pytest.mark.parametrize("value", [0.0, 3.7, -1e9])
def test_constant_target_gives_features_without_a_learned_metric(value):
    """Its fit and its gradients are rounding, which is no variation."""
    sampler = RFMFeatures(12, bandwidth=2.0, random_state=0).fit(CHECK_ROWS, np.full(60, value))
    assert_allclose(
        sampler.transform(NEW_ROWS), drawn("offset", 12).transform(NEW_ROWS), atol=1e-12
    )
    reason = "because the target or the rows are constant"
    assert f"no metric was learned, {reason}" in sampler.notes_[0]


def test_bandwidth_search_learns_the_metric_of_the_same_rows_once(monkeypatch):
    """It does not depend on the bandwidth; folds are copied anew, and are known by content."""
    draws = np.random.default_rng(4)
    X, y = draws.standard_normal((60, 3)), draws.standard_normal(60)
    learn, calls = LearnedMetric.fit, []
    monkeypatch.setattr(LearnedMetric, "fit", lambda *args: calls.append(args) or learn(*args))

    def features(X, y, bandwidth=1.0, known=None, **own):
        sampler = RFMFeatures(4, bandwidth=bandwidth, **{"random_state": 1} | own)
        sampler._fit(X, y, Shared(known))
        return sampler.transform(X), sampler.losses_

    plain = [features(X, y, bandwidth) for bandwidth in (1.0, 2.0)]
    assert len(calls) == 2
    known = {}
    together = [features(X.copy(), y, bandwidth, known) for bandwidth in (1.0, 2.0)]
    assert len(calls) == 3
    for rows, target, own in (
        (X, -y, {}), (X[1:], y[1:], {}), (X, y, {"random_state": 2}),
        (sparse.csr_array(X), y, {}), (X, y, {"rounds": 1}), (X, y, {"score_rows": 30}),
        (X, y, {"metric": "full"}), (X, y, {"kernel": "gaussian-unhalved"}),
    ):  # fmt: skip
        features(rows, target, known=known, **own)
    assert len(calls) == 11
    for _ in range(2):
        features(X, y, known=known, random_state=None)
    assert len(calls) == 13
    monkeypatch.setattr("rfbench.samplers.metric.METRIC_BYTES", 0)
    for _ in range(2):
        features(X[2:], y[2:], known=known)  # where there is no room for more
    assert len(calls) == 15
    features(X, y)
    assert len(calls) == 16
    features(X, y, 3.0, known)
    assert len(calls) == 16
    for one, other in zip(plain, together, strict=True):
        np.testing.assert_array_equal(one[0], other[0])
        np.testing.assert_array_equal(one[1], other[1])
