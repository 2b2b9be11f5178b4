import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from rfbench.checking.samplers import CHECK_ROWS, NEW_ROWS
from rfbench.samplers import ORF, RKS, PositiveFeatures, SimRF
from rfbench.samplers.declaration import GAUSSIAN

BASES = {"rks": RKS, "orf": ORF, "simrf": SimRF}


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("kernel", GAUSSIAN)
def test_positive_random_features_equal_their_formula(kernel, base):
    """To 1e-12 relative."""
    words = {"kernel": kernel, "bandwidth": 2.0, "random_state": 0}
    fitted = PositiveFeatures(7, base=base, **words).fit(CHECK_ROWS)
    W = BASES[base](7, feature_map="paired", **words).fit(CHECK_ROWS).feature_map_.frequencies
    s = 2.0 if kernel == "gaussian" else 2.0**0.5  # where the kernel is exp(-|x - y|^2 / 2 s^2)
    rows = NEW_ROWS - CHECK_ROWS.mean(axis=0)
    squares = np.sum(rows**2, axis=1, keepdims=True)
    expected = np.exp(rows @ W - squares / s**2)
    assert_allclose(fitted.transform(NEW_ROWS), expected / 7**0.5, rtol=1e-12)


def test_translation_of_the_rows_does_not_change_positive_features():
    """Ten bandwidths from it, columns without centring are constant: all 0."""
    here, there = (
        PositiveFeatures(30, bandwidth=2.0, random_state=0)
        .fit(CHECK_ROWS + shift)
        .transform(NEW_ROWS + shift)
        for shift in (0.0, 20.0)
    )
    assert_allclose(there, here, rtol=1e-9)
    assert np.std(there, axis=0).min() > 1e-3 * np.abs(there).max()
    sparse_rows, sparse_new = sparse.csr_array(CHECK_ROWS + 20.0), sparse.csr_array(NEW_ROWS + 20.0)
    found = (
        PositiveFeatures(30, bandwidth=2.0, random_state=0).fit(sparse_rows).transform(sparse_new)
    )
    assert_allclose(found, there, rtol=1e-9)
