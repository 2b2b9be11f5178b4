import logging

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from scipy.stats import qmc as stats_qmc

from rfbench.checking.samplers import CHECK_ROWS
from rfbench.errors import MethodError
from rfbench.samplers import QMC
from rfbench.samplers.declaration import PRODUCT
from rfbench.samplers.qmc import _generalized_halton


def frequencies(rows=CHECK_ROWS, **words):
    sampler = QMC(bandwidth=2.0, random_state=0, **words).fit(rows)
    return sampler.feature_map_.frequencies.T


def test_unscrambled_sobol_and_halton_points_equal_published_values():
    """The first Sobol and Halton points through the normal quantiles, to 1e-12."""
    sobol = [[0.5, 0.5], [0.75, 0.25], [0.25, 0.75], [0.375, 0.375], [0.875, 0.875]]
    halton = [[1 / 2, 1 / 3], [1 / 4, 2 / 3], [3 / 4, 1 / 9], [1 / 8, 4 / 9], [5 / 8, 7 / 9]]
    for sequence, points in (("sobol", sobol), ("halton", halton)):
        found = frequencies(CHECK_ROWS[:, :2], n_components=5, sequence=sequence, scramble=False)
        assert_allclose(found, stats.norm.ppf(points) / 2.0, atol=1e-12)


@pytest.mark.parametrize("sequence", ["sobol", "halton"])
@pytest.mark.parametrize("scramble", [True, False])
@pytest.mark.parametrize("kernel", PRODUCT)
def test_frequencies_are_finite(sequence, scramble, kernel):
    for size in (1, 127, 128, 300):
        words = {"sequence": sequence, "scramble": scramble, "kernel": kernel}
        assert np.isfinite(frequencies(n_components=size, **words)).all()


@pytest.mark.parametrize("sequence", ["halton", "generalized-halton"])
def test_unscrambled_halton_warns_in_many_dimensions(caplog, sequence):
    wide = np.tile(CHECK_ROWS, (1, 9))
    with caplog.at_level(logging.WARNING):
        frequencies(wide, n_components=4, sequence=sequence)
        frequencies(CHECK_ROWS, n_components=4, sequence=sequence, scramble=False)
        assert not caplog.records
        frequencies(wide, n_components=4, sequence=sequence, scramble=False)
    assert "45 dimensions" in caplog.text


def test_sobol_sequence_in_more_than_21201_dimensions_is_rejected():
    with pytest.raises(MethodError, match="halton"):
        QMC(2, bandwidth=1.0).fit(np.zeros((2, 21202)))


def test_generalized_halton_points_equal_their_definition():
    """Unscrambled: Halton's. One permutation per base moves each digit alike and leaves 0."""
    plain = _generalized_halton(6, 50, False, np.random.default_rng(0))
    assert_allclose(plain, stats_qmc.Halton(6, scramble=False).random(51)[1:], atol=1e-12)
    points = _generalized_halton(6, 13**2, True, np.random.default_rng(0))
    for j, base in enumerate([2, 3, 5, 7, 11, 13]):
        digits = (points[:, j] * base).round(9) // 1
        index = np.arange(1, 13**2 + 1)
        mapped = digits[: base - 1].astype(int)  # of the indices 1 to base - 1
        assert sorted(mapped) == list(range(1, base))
        assert_array_equal(digits, np.concatenate([[0], mapped])[index % base])
        second = (points[:, j] * base**2).round(9) // 1 % base
        assert_array_equal(second, np.concatenate([[0], mapped])[index // base % base])
