import numpy as np
import pytest

from rfbench.clock import Clock
from rfbench.samplers import EERF, LKRF, Greedy, UniformPool
from rfbench.samplers import pool as pools
from rfbench.samplers.pool_cache import PoolScores, cached_pools

X = np.random.default_rng(0).standard_normal((80, 4))
Y = np.random.default_rng(1).standard_normal(80)
ANOTHER_POOL = (
    {"random_state": 4},
    {"pool_size": 31},
    {"bandwidth": 0.7},
    {"feature_map": "paired"},
    {"kernel": "laplacian"},
)


def counted(monkeypatch, owner, name):
    """Return the list of a function's calls."""
    calls, real = [], getattr(owner, name)
    monkeypatch.setattr(owner, name, lambda *words: calls.append(words) or real(*words))
    return calls


@pytest.fixture
def projections(monkeypatch):
    return counted(monkeypatch, pools, "target_moments")


@pytest.fixture
def draws(monkeypatch):
    return counted(monkeypatch, pools.PooledFeatures, "draw_pool")


def fit(cls, X=X, Y=Y, **own):
    words = {"n_components": 5, "pool_size": 30, "bandwidth": 1.0, "random_state": 3}
    if cls is not UniformPool:
        words["score_rows"] = 0.5
    return cls(**words | own).fit(X, Y).transform(X)


def test_samplers_of_a_trial_project_their_pool_once(projections):
    def each():
        return fit(EERF), fit(EERF, center_target=True), fit(LKRF)

    alone = each()
    with cached_pools():
        together = each()
    assert len(projections) == 3 + 1
    np.testing.assert_array_equal(alone, together)
    fit(EERF)
    assert len(projections) == 3 + 1 + 1


@pytest.mark.parametrize("feature_map", ["offset", "paired"])
@pytest.mark.parametrize("kernel", ["gaussian", "linear"])
def test_samplers_of_a_trial_draw_their_pool_once(draws, feature_map, kernel):
    words = {"feature_map": feature_map, "kernel": kernel, "pool_size": 6, "n_components": 3}

    def each():
        return [fit(cls, **words) for cls in (UniformPool, Greedy, EERF, LKRF, Greedy, UniformPool)]

    alone = each()
    with cached_pools():
        together = each()
    assert len(draws) == 6 + 1
    for one, other in zip(alone, together, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("own", [*ANOTHER_POOL, {"score_rows": 0.6}, {"random_state": None}])
def test_another_projection_is_not_shared(projections, own):
    with cached_pools():
        fit(EERF)
        fit(EERF, **own)
    assert len(projections) == 2


@pytest.mark.parametrize("own", ANOTHER_POOL)
def test_another_pool_is_drawn_anew(draws, own):
    with cached_pools():
        fit(Greedy)
        fit(UniformPool, **own)
        fit(UniformPool, X[:, :3])
    assert len(draws) == 3


def test_other_rows_or_another_target_are_not_shared(projections):
    with cached_pools():
        fit(EERF)
        fit(EERF, X.copy())
        fit(EERF, Y=Y + 1)
    assert len(projections) == 3


def test_only_the_last_pools_are_kept(draws):
    with cached_pools():
        for size in (30, 31, 32, 31, 30):
            fit(UniformPool, pool_size=size)
    assert [sampler.pool_size for sampler, *_ in draws] == [30, 31, 32, 30]


def test_each_sampler_is_charged_in_full_also_for_what_another_did():
    def charged(cls):
        fit(cls)
        clock = Clock()
        memory.settle(clock)
        return clock.wall["pp"]

    with cached_pools() as memory:
        first, *others = [charged(cls) for cls in (UniformPool, UniformPool, Greedy)]
        assert others == [first, first]
        assert 0 < first < charged(EERF) == charged(EERF)


def test_a_search_is_charged_once_for_what_its_fits_share():
    def charged():
        clock = Clock()
        memory.settle(clock)
        return clock.wall["pp"]

    with cached_pools() as memory:
        fit(UniformPool)
        first = charged()
        for _ in range(2):  # the second search is another trial's, and pays again
            with memory.charged_once(set()):
                fit(UniformPool), fit(UniformPool)
                assert charged() == first
                fit(UniformPool)
                assert charged() == 0
        with memory.charged_once(set()):
            fit(UniformPool, bandwidth=2.0), fit(UniformPool, bandwidth=3.0)
            assert charged() > 0
            fit(UniformPool, bandwidth=2.0), fit(UniformPool, bandwidth=3.0)
            assert charged() == 0
            fit(UniformPool), charged()
            fit(UniformPool, bandwidth=2.0)  # gone from the cache: it is made again
            assert charged() > 0
        fit(UniformPool)
        first = charged()
        fit(UniformPool)
        assert charged() == first


def test_scores_less_a_part_are_those_of_the_other_rows():
    """The target is not centred alike on both parts, and the features are not either."""
    draws = np.random.default_rng(5)
    Z, target = draws.standard_normal((30, 7)) + 1.0, draws.standard_normal((30, 2))
    target[:, 0] += 3.0
    target[:10] += 5.0

    def scores(rows):
        z, y = Z[rows], target[rows]
        return PoolScores(None, z.T @ y, z.sum(axis=0), y.mean(axis=0), len(y), np.zeros(2))

    left = scores(slice(None)).less(scores(slice(10)))
    other = scores(slice(10, None))
    assert left.n == other.n == 20
    for name in ("moments", "sums", "target_means"):
        np.testing.assert_allclose(getattr(left, name), getattr(other, name), atol=1e-12)
    y = target[10:]
    np.testing.assert_allclose(
        left.target_moments(centred=True), Z[10:].T @ (y - y.mean(axis=0)), atol=1e-12
    )
