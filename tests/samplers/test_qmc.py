import logging

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from rfbench.errors import MethodError
from rfbench.samplers import QMC
from rfbench.samplers.declaration import PRODUCT
from rfbench.testing.samplers import ROWS


def frequencies(rows=ROWS, **words):
    sampler = QMC(bandwidth=2.0, random_state=0, **words).fit(rows)
    return sampler.feature_map_.frequencies.T


def test_unscrambled_sequences_are_the_published_ones():
    sobol = [[0.5, 0.5], [0.75, 0.25], [0.25, 0.75], [0.375, 0.375], [0.875, 0.875]]
    halton = [[1 / 2, 1 / 3], [1 / 4, 2 / 3], [3 / 4, 1 / 9], [1 / 8, 4 / 9], [5 / 8, 7 / 9]]
    for sequence, points in (("sobol", sobol), ("halton", halton)):
        found = frequencies(ROWS[:, :2], n_components=5, sequence=sequence, scramble=False)
        assert_allclose(found, stats.norm.ppf(points) / 2.0, atol=1e-12)


@pytest.mark.parametrize("sequence", ["sobol", "halton"])
@pytest.mark.parametrize("scramble", [True, False])
@pytest.mark.parametrize("kernel", PRODUCT)
def test_no_frequency_is_infinite(sequence, scramble, kernel):
    for size in (1, 127, 128, 300):
        words = {"sequence": sequence, "scramble": scramble, "kernel": kernel}
        assert np.isfinite(frequencies(n_components=size, **words)).all()


@pytest.mark.parametrize("sequence", ["sobol", "halton"])
def test_every_coordinate_is_spread_evenly(sequence):
    """The largest distance to the distribution function is near 1/M, not 1/sqrt(M)."""
    found = frequencies(n_components=1024, sequence=sequence)
    for column in found.T:
        assert stats.kstest(column * 2.0, "norm").statistic < 0.012


def test_unscrambled_halton_warns_in_many_dimensions(caplog):
    wide = np.tile(ROWS, (1, 9))
    with caplog.at_level(logging.WARNING):
        frequencies(wide, n_components=4, sequence="halton")
        frequencies(ROWS, n_components=4, sequence="halton", scramble=False)
        assert not caplog.records
        frequencies(wide, n_components=4, sequence="halton", scramble=False)
    assert "45 dimensions" in caplog.text


def test_sobol_points_end_at_21201_dimensions():
    with pytest.raises(MethodError, match="halton"):
        QMC(2, bandwidth=1.0).fit(np.zeros((2, 21202)))
