import numpy as np
from numpy.testing import assert_allclose

from rfbench.samplers import EERF, UniformPool
from rfbench.testing.samplers import MAPS, NEW_ROWS, ROWS, TARGET


def test_whole_pool_is_the_pool_that_eerf_sees():
    for feature_map in MAPS:
        words = {"pool_size": 30, "bandwidth": 2.0, "feature_map": feature_map, "random_state": 3}
        uniform = UniformPool(30, **words).fit(ROWS).transform(NEW_ROWS)
        energetic = EERF(30, **words).fit(ROWS, TARGET).transform(NEW_ROWS)
        order = np.lexsort(uniform), np.lexsort(energetic)
        assert_allclose(uniform[:, order[0]], energetic[:, order[1]], atol=1e-14)
