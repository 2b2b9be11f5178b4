"""Parts that are added up in a tree."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rfbench.compute import gram
from rfbench.compute.partitions import Partitions, in_tree


def levels(values, add):
    """Add up neighbours, level by level."""
    while len(values) > 1:
        pairs = [values[i : i + 2] for i in range(0, len(values), 2)]
        values = [add(*pair) if len(pair) == 2 else pair[0] for pair in pairs]
    return values[0]


@given(st.integers(1, 70))
def test_the_tree_is_that_of_neighbours_level_by_level(count):
    leaves = [str(k) for k in range(count)]
    assert in_tree(iter(leaves), "({} {})".format) == levels(leaves, "({} {})".format)


@given(st.integers(1, 40), st.integers(1, 60))
def test_the_parts_are_all_rows_once_and_equal(count, n):
    bounds = Partitions(count).bounds(n)
    sizes = [end - begin for begin, end in bounds]
    assert len(bounds) == min(count, n)
    assert [row for begin, end in bounds for row in range(begin, end)] == list(range(n))
    assert 1 <= min(sizes) <= max(sizes) <= min(sizes) + 1


@pytest.mark.parametrize(("dtype", "close"), [(np.float64, 1e-13), (np.float32, 1e-5)])
def test_parts_with_a_given_shift_have_the_sum_of_the_whole(dtype, close):
    """Some parts have none of the rows of the last group."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 4)).astype(dtype) + 5, rng.standard_normal(60)
    groups, shift = np.repeat([0, 1, 2], 20), X.mean(axis=0)

    def sums(rows):
        return gram.accumulate_groups(
            np.positive, X[rows], y[rows], 4, groups[rows], dtype=dtype, centre=shift, n_groups=3
        )

    whole = sums(slice(None))
    parts = [sums(slice(*rows)) for rows in Partitions(7).bounds(60)]
    for g in range(3):
        total = in_tree([part[g] for part in parts], lambda a, b: a + b)
        Z = X[groups == g].astype(np.float64) - shift
        assert total.n == whole[g].n == 20
        for found in (total, whole[g]):
            np.testing.assert_allclose(found.gram, Z.T @ Z, rtol=close, atol=20 * close)
            np.testing.assert_allclose(found.moment[:, 0], Z.T @ y[groups == g], atol=20 * close)
