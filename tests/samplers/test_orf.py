import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import hadamard

from rfbench import kernels
from rfbench.checking.samplers import CHECK_ROWS, NEW_ROWS
from rfbench.samplers import ORF, ROM, SORF, ColumnORF, SimRF
from rfbench.samplers.base import make_streams
from rfbench.samplers.orf import draw_haar_rows
from tests.support.nightly import NIGHTLY

from .unbiased import assert_mean, estimates, points


def test_frequencies_are_orthogonal_within_blocks_and_independent_across():
    frequencies = ORF(12, bandwidth=2.0, random_state=1).fit(CHECK_ROWS).feature_map_.frequencies.T
    products = frequencies @ frequencies.T
    block = np.arange(12) // 5
    same = (block[:, None] == block) & ~np.eye(12, dtype=bool)
    assert np.abs(products[same]).max() < 1e-12
    assert np.abs(products[block[:, None] != block]).min() > 1e-6


def test_padded_orf_frequencies_are_truncated_orthogonal_vectors():
    """Of rows with five columns: the first five coordinates of orthogonal vectors of eight."""
    eight = np.hstack([CHECK_ROWS, np.zeros((len(CHECK_ROWS), 3))])
    seeds, draws = 2000 if NIGHTLY else 200, []
    for seed in range(seeds):
        sampler = ORF(8, bandwidth=1.0, padded=True, random_state=seed).fit(CHECK_ROWS)
        draws.append(sampler.feature_map_.frequencies.T)
    longer = ORF(8, bandwidth=1.0, random_state=seeds - 1).fit(eight).feature_map_.frequencies.T
    assert_allclose(draws[-1], longer[:, :5], atol=1e-12)
    W = np.array(draws)
    assert_allclose((W**2).sum(axis=2).mean(axis=0), 5.0, atol=4 * np.sqrt(10 / seeds))
    products = np.einsum("sij,sik->jk", W, W) / (8 * seeds)
    assert_allclose(products, np.eye(5), atol=4 / np.sqrt(4 * seeds))
    unpadded = (
        ORF(8, bandwidth=1.0, random_state=seeds - 1).fit(CHECK_ROWS).feature_map_.frequencies.T
    )
    assert np.abs(unpadded - draws[-1]).max() > 1e-3


def test_orthogonal_columns_have_gaussian_rows():
    """Divided by their lengths' chi, columns are orthonormal; rows are N(0, I) by themselves."""
    draws = [ColumnORF(8, bandwidth=0.5, random_state=seed).fit(CHECK_ROWS) for seed in range(500)]
    W = np.array([sampler.feature_map_.frequencies.T / 2 for sampler in draws])
    squares = (W**2).sum(axis=2)
    assert_allclose(squares.mean(axis=0), 5.0, atol=5 * np.sqrt(10 / 500))
    assert_allclose(squares.var(), 10.0, rtol=0.1)
    lengths = np.sqrt(make_streams(0).selection.chisquare(8, size=8))
    Q = W[0] / lengths[:, None]
    assert_allclose(Q.T @ Q, np.eye(5), atol=1e-12)
    few = ColumnORF(4, bandwidth=2.0, random_state=3).fit(CHECK_ROWS).feature_map_.frequencies
    assert_allclose(
        few, ORF(4, bandwidth=2.0, random_state=3).fit(CHECK_ROWS).feature_map_.frequencies
    )


def test_signs_are_fixed_so_that_the_matrix_is_haar_distributed():
    """Without the signs, LAPACK's Q has a diagonal of one sign and a mean that is not 0."""
    generator = np.random.default_rng(0)
    drawn = np.array([draw_haar_rows(generator, 4, 4) for _ in range(4000)])
    products = np.einsum("sij,skj->sik", drawn, drawn)
    assert_allclose(products, np.broadcast_to(np.eye(4), products.shape), atol=1e-12)
    assert np.abs(drawn.mean(axis=0)).max() * np.sqrt(4000 * 4) < 4.0
    fourth = (drawn**4).mean(axis=0)
    assert_allclose(fourth, 3 / (4 * 6), rtol=0.1)


@pytest.mark.parametrize("d", [1, 2, 5, 8])
@pytest.mark.parametrize("blocks", [1, 2, 3])
def test_sorf_and_rom_equal_the_products_of_their_matrices(d, blocks):
    """Against explicit Hadamard (of scipy) and sign matrices, to 1e-12."""
    rows = CHECK_ROWS[:, np.arange(d) % 5]
    words = {"bandwidth": 3.0, "random_state": 2, "feature_map": "paired"}
    cls = SORF if blocks == 3 else ROM
    sampler = cls(11, **words, **({"blocks": blocks} if blocks == 2 else {})).fit(rows)
    p = 1 << (d - 1).bit_length()
    walsh = hadamard(p) / np.sqrt(p)
    dense = []
    for block in sampler.feature_map_.projection.blocks:
        assert set(np.unique(block.diagonals)) <= {-1.0, 1.0}
        assert len(block.diagonals) == blocks
        product = np.sqrt(p) / 3.0 * np.eye(p)
        for signs in block.diagonals:
            product = walsh @ np.diag(signs) @ product
        dense.append(product)
    dense = np.concatenate(dense)[:11, :d]
    assert_allclose(sampler.frequencies_, dense, atol=1e-12)
    phases = NEW_ROWS[:, np.arange(d) % 5] @ dense.T
    features = np.hstack([np.cos(phases), np.sin(phases)]) / np.sqrt(11)
    assert_allclose(sampler.transform(NEW_ROWS[:, np.arange(d) % 5]), features, atol=1e-12)


@pytest.mark.parametrize("feature_map", ["offset", "paired"])
def test_bias_of_rom_with_one_block_equals_the_documented_value(feature_map):
    """A product of cosines, to 5 standard errors of 400 seeds; the kernel itself fails."""
    rows = points(5)

    def make(seed):
        return ROM(11, bandwidth=2.0, feature_map=feature_map, random_state=seed)

    sample = estimates(make, rows, seeds=400)
    mean = np.cos((rows[:, None] - rows[None]) / 2.0).prod(axis=2)
    assert_mean(sample, mean, [kernels.make("gaussian", 2.0)(rows, rows)], limit=5)


@pytest.mark.parametrize("d", [2, 3, 5])
def test_simplex_directions_have_equal_angles(d):
    """Products -1/(d - 1) and the sum 0, to 1e-12."""
    rows = np.random.default_rng(0).standard_normal((9, d))
    W = SimRF(2 * d + 1, bandwidth=2.0, random_state=1).fit(rows).feature_map_.frequencies.T
    V = W / np.linalg.norm(W, axis=1, keepdims=True)
    for block in (V[:d], V[d : 2 * d]):
        assert_allclose(block @ block.T, np.eye(d) * d / (d - 1) - 1 / (d - 1), atol=1e-12)
        assert_allclose(block.sum(axis=0), 0.0, atol=1e-12)
