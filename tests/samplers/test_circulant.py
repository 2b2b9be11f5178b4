import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import linalg

from rfbench.checking.samplers import CHECK_ROWS, NEW_ROWS
from rfbench.samplers import Circulant, structured


@pytest.mark.parametrize(
    "dense_columns", [dict.fromkeys(structured.DENSE_COLUMNS, 0), structured.DENSE_COLUMNS]
)
@pytest.mark.parametrize("d", [1, 3, 5, 8])
def test_circulant_features_equal_the_product_of_their_matrices(d, dense_columns, monkeypatch):
    """Against explicit circulant matrices (of scipy) and signs, to 1e-12."""
    monkeypatch.setattr(structured, "DENSE_COLUMNS", dense_columns)
    rows, new = (part[:, np.arange(d) % 5] for part in (CHECK_ROWS, NEW_ROWS))
    sampler = Circulant(19, bandwidth=3.0, random_state=2).fit(rows)
    blocks = sampler.feature_map_.projection.blocks
    dense = np.concatenate([linalg.circulant(w) @ np.diag(s) for w, s in blocks])[:19]
    assert_allclose(sampler.frequencies_, dense, atol=1e-12)
    phases = new @ dense.T + sampler.feature_map_.offsets
    assert_allclose(sampler.transform(new), np.sqrt(2 / 19) * np.cos(phases), atol=1e-12)
