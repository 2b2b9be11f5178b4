import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import hadamard

from rfbench.checking.samplers import CHECK_ROWS, NEW_ROWS
from rfbench.samplers import Fastfood, structured


@pytest.mark.parametrize(
    "dense_columns", [dict.fromkeys(structured.DENSE_COLUMNS, 0), structured.DENSE_COLUMNS]
)
@pytest.mark.parametrize("d", [1, 3, 5, 8])
def test_fastfood_features_equal_the_product_of_their_matrices(d, dense_columns, monkeypatch):
    """Against the explicit product (Hadamard matrix of scipy), to 1e-12."""
    monkeypatch.setattr(structured, "DENSE_COLUMNS", dense_columns)
    rows = CHECK_ROWS[:, np.arange(d) % 5]
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
