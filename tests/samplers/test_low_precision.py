from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from rfbench import kernels
from rfbench.checking.samplers import CHECK_ROWS, MAPS, NEW_ROWS
from rfbench.samplers import RKS, LowPrecision

from .unbiased import estimates, points, z_scores


@pytest.mark.parametrize("bits", [1, 2, 4, 8])
@pytest.mark.parametrize("feature_map", MAPS)
def test_stochastic_rounding_of_a_row_does_not_depend_on_its_block(
    bits: int, feature_map: str
) -> None:
    """Exactly, in any block and order."""
    words: dict[str, Any] = {"bandwidth": 2.0, "feature_map": feature_map, "random_state": 4}
    sampler = LowPrecision(9, bits=bits, **words).fit(CHECK_ROWS)
    whole = sampler.transform(NEW_ROWS)
    for part in (slice(0, 1), slice(3, 11), np.arange(20)[::-1]):
        assert_array_equal(sampler.transform(np.ascontiguousarray(NEW_ROWS[part])), whole[part])
    limit = np.sqrt((2 if feature_map == "offset" else 1) / 9)
    step = 2 * limit / (2**bits - 1)
    levels = (whole + limit) / step
    assert_allclose(levels, levels.round(), atol=1e-9)
    exact = RKS(9, **words).fit(CHECK_ROWS).transform(NEW_ROWS)
    assert 0.2 * step < np.abs(whole - exact).max() < step
    assert len(np.unique(levels.round())) <= 2**bits


@pytest.mark.parametrize(("bits", "sizes"), [(1, (2, 3)), (2, (3, 5)), (4, (5, 9)), (8, (9, 18))])
def test_bytes_per_row_equal_the_packed_bits_of_its_features(
    bits: int, sizes: tuple[int, int]
) -> None:
    for feature_map, size in zip(MAPS, sizes, strict=True):
        sampler = LowPrecision(9, bits=bits, feature_map=feature_map, bandwidth=2.0).fit(CHECK_ROWS)
        assert sampler.feature_map_.bytes_per_row(8) == size
        assert len(np.packbits(np.zeros(bits * sampler.feature_map_.n_columns, bool))) == size


@pytest.mark.parametrize("feature_map", MAPS)
def test_stochastic_rounding_is_unbiased_except_on_the_diagonal(feature_map: str) -> None:
    """To 5 standard errors of 400 seeds; the gain is in (0, 2/(2^b - 1)^2]."""
    rows, bits = points(5), 2

    def make(seed: int) -> Any:
        words: dict[str, Any] = {"bandwidth": 2.0, "feature_map": feature_map}
        return LowPrecision(40, bits=bits, random_state=seed, **words)

    sample = estimates(make, rows, seeds=400)
    exact = kernels.make("gaussian", 2.0)(rows, rows)
    gain = sample.mean(axis=0).diagonal() - 1.0
    assert (gain > 0.05).all()
    assert (gain < 2 / (2**bits - 1) ** 2).all()
    sample[:, np.arange(5), np.arange(5)] -= gain
    assert np.abs(z_scores(sample, exact)).max() < 5
