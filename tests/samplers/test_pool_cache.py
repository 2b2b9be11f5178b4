import numpy as np
import pytest

from rfbench.clock import Clock
from rfbench.samplers import EERF, LKRF, Greedy, UniformPool
from rfbench.samplers import pool as pools
from rfbench.samplers.pool_cache import cached_pools

X = np.random.default_rng(0).standard_normal((80, 4))
Y = np.random.default_rng(1).standard_normal(80)


@pytest.fixture
def projections(monkeypatch):
    """Count how often a pool is projected."""
    calls = []
    real = pools.target_moments

    def counted(*words):
        calls.append(words)
        return real(*words)

    monkeypatch.setattr(pools, "target_moments", counted)
    return calls


@pytest.fixture
def draws(monkeypatch):
    """Count how often a pool is drawn."""
    calls = []
    real = pools.PooledFeatures.draw_pool

    def counted(self, random, d):
        calls.append(self)
        return real(self, random, d)

    monkeypatch.setattr(pools.PooledFeatures, "draw_pool", counted)
    return calls


def eerf(**own):
    return EERF(**{"n_components": 5, "pool_size": 30, "score_rows": 0.5, "random_state": 3, **own})


def lkrf(**own):
    return LKRF(**{"n_components": 5, "pool_size": 30, "score_rows": 0.5, "random_state": 3, **own})


def test_samplers_of_a_trial_project_their_pool_once(projections):
    alone = [each.fit(X, Y).transform(X) for each in (eerf(), eerf(center_target=True), lkrf())]
    assert len(projections) == 3
    with cached_pools():
        together = [
            each.fit(X, Y).transform(X) for each in (eerf(), eerf(center_target=True), lkrf())
        ]
    assert len(projections) == 4
    for one, other in zip(alone, together, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    "own",
    [
        {"random_state": 4},
        {"pool_size": 31},
        {"score_rows": 0.6},
        {"bandwidth": 0.7},
        {"feature_map": "paired"},
        {"kernel": "laplacian"},
        {"random_state": None},
    ],
)
def test_another_pool_is_not_shared(projections, own):
    with cached_pools():
        eerf().fit(X, Y)
        eerf(**own).fit(X, Y)
    assert len(projections) == 2


def greedy(**own):
    return Greedy(
        **{"n_components": 5, "pool_size": 30, "score_rows": 0.5, "random_state": 3, **own}
    )


def uniform(**own):
    return UniformPool(**{"n_components": 5, "pool_size": 30, "random_state": 3, **own})


@pytest.mark.parametrize("feature_map", ["offset", "paired"])
@pytest.mark.parametrize("kernel", ["gaussian", "linear"])
def test_samplers_of_a_trial_draw_their_pool_once(draws, feature_map, kernel):
    makers = (uniform, greedy, eerf, lkrf, greedy, uniform)
    words = {"feature_map": feature_map, "kernel": kernel, "pool_size": 6}
    if kernel == "linear":
        words |= {"n_components": 3}
    alone = [make(**words).fit(X, Y).transform(X) for make in makers]
    assert len(draws) == 6
    with cached_pools():
        together = [make(**words).fit(X, Y).transform(X) for make in makers]
    assert len(draws) == 7
    for one, other in zip(alone, together, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    "own", [{"random_state": 4}, {"pool_size": 31}, {"bandwidth": 0.7}, {"feature_map": "paired"}]
)
def test_another_pool_is_drawn_anew(draws, own):
    with cached_pools():
        greedy(bandwidth=1.0).fit(X, Y)
        uniform(**{"bandwidth": 1.0, **own}).fit(X, Y)
        uniform(bandwidth=1.0).fit(X[:, :3], Y)
    assert len(draws) == 3


def test_only_the_last_pools_are_kept(draws):
    with cached_pools():
        for size in (30, 31, 32, 31, 30):
            uniform(bandwidth=1.0, pool_size=size).fit(X)
    assert [each.pool_size for each in draws] == [30, 31, 32, 30]


def test_other_rows_or_another_target_are_not_shared(projections):
    with cached_pools():
        eerf(bandwidth=1.0).fit(X, Y)
        eerf(bandwidth=1.0).fit(X.copy(), Y)
        eerf(bandwidth=1.0).fit(X, Y + 1)
    assert len(projections) == 3


@pytest.mark.parametrize("make", [eerf, uniform, greedy])
def test_each_sampler_is_charged_in_full(make):
    with cached_pools() as memory:
        charged = []
        for _ in range(3):
            make(bandwidth=1.0).fit(X, Y)
            clock = Clock()
            memory.settle(clock)
            charged.append(clock.wall["pp"])
    assert charged[0] > 0
    assert len(set(charged)) == 1


def test_scores_cost_more_than_the_pool_that_they_are_made_from():
    with cached_pools() as memory:
        charged = []
        for make in (uniform, eerf):
            make(bandwidth=1.0).fit(X, Y)
            clock = Clock()
            memory.settle(clock)
            charged.append(clock.wall["pp"])
    assert charged[0] < charged[1]


def test_nothing_is_remembered_outside(projections):
    with cached_pools():
        eerf().fit(X, Y)
    eerf().fit(X, Y)
    assert len(projections) == 2
