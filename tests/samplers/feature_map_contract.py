"""What every fitted feature map promises: classes of tests that the tests of each map inherit."""

import pickle
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from rfbench.samplers.feature_map import FittedMap
from rfbench.testing.samplers import NEW_ROWS

EXACT = 1e-12


class FittedMapContract:
    """Inherit, write `make`, and the tests below run."""

    def make(self) -> FittedMap:
        """Return the map of a sampler that was fitted on rows of 5 columns, in float64."""
        raise NotImplementedError

    @pytest.fixture
    def fitted(self) -> Any:
        return self.make()

    def test_it_writes_its_columns_and_nothing_else(self, fitted: Any) -> None:
        expected, width = fitted.transform(NEW_ROWS), fitted.n_columns
        assert expected.shape == (20, width)
        rows, room = NEW_ROWS.copy(), np.full((22, width), 7.0)
        rows.flags.writeable = False
        fitted.transform_into(rows, room[1:21])
        assert_array_equal(room[1:21], expected)
        assert set(np.concatenate([room[0], room[21]])) == {7.0}

    def test_it_is_a_function_of_each_row(self, fitted: Any) -> None:
        together = fitted.transform(NEW_ROWS)
        for part in (slice(0, 1), slice(3, 11), np.arange(20)[::-1]):
            found = fitted.transform(np.ascontiguousarray(NEW_ROWS[part]))
            assert_allclose(found, together[part], atol=EXACT)
        assert fitted.transform(NEW_ROWS[:0]).shape == (0, fitted.n_columns)

    def test_sparse_rows_give_the_features_of_dense_ones(self, fitted: Any) -> None:
        rows = np.where(np.abs(NEW_ROWS) > 0.8, NEW_ROWS, 0.0)
        found = fitted.transform(sparse.csr_array(rows))
        assert isinstance(found, np.ndarray)
        assert_allclose(found, fitted.transform(rows), atol=EXACT)

    def test_in_float32_it_is_another_map_of_the_same_features(self, fitted: Any) -> None:
        expected = fitted.transform(NEW_ROWS)
        narrow = fitted.astype(np.float32)
        found = narrow.transform(NEW_ROWS.astype(np.float32))
        assert (found.dtype, narrow.n_columns) == (np.float32, fitted.n_columns)
        assert_allclose(found, expected, atol=1e-4 * np.abs(expected).max())
        assert_array_equal(fitted.transform(NEW_ROWS), expected)

    def test_it_can_be_stored(self, fitted: Any) -> None:
        stored = pickle.loads(pickle.dumps(fitted))
        assert_array_equal(stored.transform(NEW_ROWS), fitted.transform(NEW_ROWS))


class FeatureMapContract(FittedMapContract):
    """For maps that can be taken apart into their frequencies."""

    def test_the_map_of_some_frequencies_has_their_columns(self, fitted: Any) -> None:
        whole = fitted.transform(NEW_ROWS)
        for chosen in ([5, 1, 1, 3], [0], []):
            numbers = np.array(chosen, dtype=np.intp)
            taken = fitted.take(numbers)
            assert taken.n_frequencies == len(chosen)
            expected = whole[:, fitted.columns_of(numbers)]
            assert_allclose(taken.transform(NEW_ROWS), expected, atol=EXACT)

    def test_its_pieces_are_consecutive_frequencies(self, fitted: Any) -> None:
        whole, total = fitted.transform(NEW_ROWS), fitted.n_frequencies
        pieces = list(fitted.pieces(4))
        assert [piece.n_frequencies for piece in pieces] == [4] * (total // 4) + [total % 4]
        for start, piece in zip(range(0, total, 4), pieces, strict=True):
            own = fitted.columns_of(np.arange(start, start + piece.n_frequencies))
            assert_allclose(piece.transform(NEW_ROWS), whole[:, own], atol=EXACT)

    def test_factors_multiply_the_columns(self, fitted: Any) -> None:
        whole, weights = fitted.transform(NEW_ROWS), 1.0 + np.arange(fitted.n_frequencies)
        each = np.tile(weights, fitted.n_columns // fitted.n_frequencies)
        changed = fitted.times(3.0).weighted_by(weights).weighted_by(weights)
        assert_allclose(changed.transform(NEW_ROWS), 3.0 * whole * each**2, rtol=1e-12)
