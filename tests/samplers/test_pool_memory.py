import numpy as np
import pytest

from rfbench.clock import Clock
from rfbench.samplers import EERF, LKRF
from rfbench.samplers import pool as pools
from rfbench.samplers.pool_memory import remembered_pools

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


def eerf(**own):
    return EERF(5, **{"pool_size": 30, "score_rows": 0.5, "random_state": 3, **own})


def lkrf(**own):
    return LKRF(5, **{"pool_size": 30, "score_rows": 0.5, "random_state": 3, **own})


def test_samplers_of_a_trial_project_their_pool_once(projections):
    alone = [each.fit(X, Y).transform(X) for each in (eerf(), eerf(center_target=True), lkrf())]
    assert len(projections) == 3
    with remembered_pools():
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
    with remembered_pools():
        eerf().fit(X, Y)
        eerf(**own).fit(X, Y)
    assert len(projections) == 2


def test_other_rows_or_another_target_are_not_shared(projections):
    with remembered_pools():
        eerf(bandwidth=1.0).fit(X, Y)
        eerf(bandwidth=1.0).fit(X.copy(), Y)
        eerf(bandwidth=1.0).fit(X, Y + 1)
    assert len(projections) == 3


def test_each_sampler_is_charged_in_full():
    with remembered_pools() as memory:
        charged = []
        for _ in range(3):
            eerf(bandwidth=1.0).fit(X, Y)
            clock = Clock()
            memory.settle(clock)
            charged.append(clock.wall["pp"])
    assert charged[0] > 0
    assert len(set(charged)) == 1


def test_nothing_is_remembered_outside(projections):
    with remembered_pools():
        eerf().fit(X, Y)
    eerf().fit(X, Y)
    assert len(projections) == 2
