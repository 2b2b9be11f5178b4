import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from rfbench import kernels
from rfbench.samplers import RandomBinning
from rfbench.testing.samplers import NEW_ROWS, ROWS

from .unbiased import assert_unbiased, estimates, points


def test_without_collisions_it_is_the_share_of_common_bins():
    rows = ROWS[:12, :2]
    sampler = RandomBinning(2**20, grids=8, bandwidth=0.5, random_state=3).fit(rows)
    found = sampler.feature_map_
    share = np.zeros((12, 12))
    for pitch, shift in zip(found.pitches, found.shifts, strict=True):
        bins = [tuple(np.floor((row - shift) / pitch)) for row in rows]
        share += [[one == other for other in bins] for one in bins]
    Z = sampler.transform(rows)
    assert 0 < np.mean(share == 0) < 1
    assert_allclose(Z @ Z.T, share / 8, atol=1e-12)


def make(seed, size=15, grids=None):
    words = {"kernel": "laplacian", "bandwidth": 2.0, "random_state": seed}
    return RandomBinning(size, grids=grids, **words)


def test_hashed_bins_are_unbiased():
    wrong = [kernels.make("laplacian", 2.0 * factor) for factor in (2**0.5, 0.5**0.5)]
    # Near the origin many grids have a row in the bin of number 0.
    for grids, scale in ((1, 1.0), (15, 0.2), (40, 1.0)):
        kernel = kernels.make("laplacian", 2.0)
        rows = scale * points(3)

        def made(seed, grids=grids):
            return make(seed, grids=grids)

        assert_unbiased(made, kernel, rows, seeds=400, wrong=wrong if grids == 40 else ())


def test_variance_is_the_stated_one():
    rows = points(3)
    K = kernels.make("laplacian", 2.0)(rows, rows)
    for size, grids in ((8, 8), (40, 10)):
        sample = estimates(lambda seed, s=size, g=grids: make(seed, s, g), rows, seeds=2000)
        off = ~np.eye(5, dtype=bool)
        expected = K * (1 - K) / grids + (1 - K / grids) / size
        assert_allclose(sample.var(axis=0)[off].mean(), expected[off].mean(), rtol=0.15)


def test_bins_do_not_depend_on_the_block_that_a_row_comes_in():
    sampler = make(0).fit(ROWS)
    many = np.tile(NEW_ROWS, (60, 1))
    assert_array_equal(sampler.transform(many)[-20:], sampler.transform(NEW_ROWS))
