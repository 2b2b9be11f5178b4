"""Structured frequencies of few columns are written out, and give the same phases."""

import pickle

import numpy as np
import pytest
from scipy import sparse

from rfbench import samplers
from rfbench.samplers import structured

NAMES = ("sorf", "rom", "fastfood", "circulant")


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("d", [1, 7, 50, 200])
@pytest.mark.parametrize("name", NAMES)
def test_structured_projection_equals_product_with_dense_frequencies(name, d, dtype, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, d)).astype(dtype)
    features = samplers.make(name, n_components=70, bandwidth=3.0, random_state=0).fit(X)
    own = features.feature_map_.astype(dtype)
    few = own.select(np.array([3, 4, 5, 69, 0]))
    dense = [each.transform(X) for each in (own, few)]
    from_sparse = own.transform(sparse.csr_array(X))
    monkeypatch.setattr(structured, "DENSE_COLUMNS", dict.fromkeys(structured.DENSE_COLUMNS, 0))
    for found, each in zip(dense, (own, few), strict=True):
        np.testing.assert_allclose(found, each.transform(X), rtol=0, atol=20 * np.finfo(dtype).eps)
    np.testing.assert_allclose(from_sparse, dense[0], rtol=0, atol=20 * np.finfo(dtype).eps)
    assert dense[0].dtype == dtype


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", NAMES)
def test_factors_are_used_above_a_number_of_columns(name, dtype, monkeypatch):
    """The choice depends on the shape and the precision of the rows, not on a measured time."""
    most = structured.DENSE_COLUMNS[dtype]
    calls = []
    real = structured.Stacked._stack
    monkeypatch.setattr(
        structured.Stacked, "_stack", lambda self, *a: calls.append(len(a[1])) or real(self, *a)
    )
    for d in (most, most + 1):
        X = np.random.default_rng(0).standard_normal((9, d)).astype(dtype)
        own = samplers.make(name, n_components=30, bandwidth=9.0, random_state=0).fit(X)
        calls.clear()
        own.transform(X)
        own.transform(X)
        every = own.feature_map_.projection.length * len(own.feature_map_.projection.blocks)
        # All frequencies are written out once.
        assert calls == ([every] if d == most else [30, 30])


def test_saved_map_does_not_contain_the_frequencies():
    X = np.random.default_rng(0).standard_normal((9, 8))
    own = samplers.make("sorf", n_components=3000, bandwidth=9.0, random_state=0).fit(X)
    before = len(pickle.dumps(own.feature_map_))
    expected = own.transform(X)
    assert len(pickle.dumps(own.feature_map_)) == before
    again = pickle.loads(pickle.dumps(own.feature_map_))
    np.testing.assert_array_equal(again.transform(X), expected)
