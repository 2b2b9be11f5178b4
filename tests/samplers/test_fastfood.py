import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from scipy.linalg import hadamard

from rfbench.checking.samplers import NEW_ROWS, ROWS
from rfbench.samplers import Fastfood


@pytest.mark.parametrize("d", [1, 3, 5, 8])
def test_is_the_product_of_its_matrices(d):
    """Against the explicit product (Hadamard matrix of scipy), to 1e-12."""
    rows = ROWS[:, np.arange(d) % 5]
    sampler = Fastfood(19, bandwidth=3.0, random_state=2).fit(rows)
    p = 1 << (d - 1).bit_length()
    walsh = hadamard(p)
    dense = []
    for block in sampler.feature_map_.projection.blocks:
        signs, gaussian = (np.diag(diagonal) for diagonal in block.diagonals)
        permutation = np.eye(p)[block.shuffle]
        outer = np.diag(block.lengths)
        dense.append(outer @ walsh @ gaussian @ permutation @ walsh @ signs)
    dense = np.concatenate(dense)[:19, :d]
    assert_allclose(sampler.frequencies_, dense, atol=1e-12)
    new = NEW_ROWS[:, np.arange(d) % 5]
    phases = new @ dense.T + sampler.feature_map_.offsets
    assert_allclose(sampler.transform(new), np.sqrt(2 / 19) * np.cos(phases), atol=1e-12)


@pytest.mark.parametrize(
    ("kernel", "spread"), [("gaussian", 1 / 3), ("gaussian-unhalved", np.sqrt(2) / 3)]
)
def test_every_frequency_is_a_gaussian_vector(kernel, spread):
    """Entries and lengths by Kolmogorov-Smirnov over 400 seeds, p above 1e-3."""
    rows = np.eye(8)
    draws = np.array(
        [
            Fastfood(8, kernel=kernel, bandwidth=3.0, random_state=seed).fit(rows).frequencies_
            for seed in range(400)
        ]
    )
    for member in (0, 5):
        for column in (0, 3):
            assert stats.kstest(draws[:, member, column] / spread, "norm").pvalue > 1e-3
        lengths = (draws[:, member] ** 2).sum(axis=1) / spread**2
        assert stats.kstest(lengths, "chi2", args=(8,)).pvalue > 1e-3
