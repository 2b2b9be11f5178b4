import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rfbench.solvers.coding import Coding


def test_multiclass_target_coding_equals_the_expected_columns():
    codes = np.array([0, 1, 2])
    assert Coding(2).encode(codes[:2]).tolist() == [[-1], [1]]
    assert Coding(3).encode(codes).tolist() == [[1, -1, -1], [-1, 1, -1], [-1, -1, 1]]
    pairs = Coding(3, "one-vs-one")
    assert pairs.pairs == [(0, 1), (0, 2), (1, 2)]
    assert pairs.encode(codes).tolist() == [[-1, -1, 0], [1, 0, -1], [0, 1, 1]]


@given(st.integers(3, 6), st.integers(0, 2**32 - 1))
def test_one_vs_one_votes_equal_an_explicit_count(k, seed):
    coding = Coding(k, "one-vs-one")
    decisions = np.random.default_rng(seed).integers(-2, 3, (7, len(coding.pairs))) * 0.5
    expected = []
    for row in decisions:
        votes, favour = [0] * k, [0.0] * k
        for value, (i, j) in zip(row, coding.pairs, strict=True):
            votes[j if value > 0 else i] += 1
            favour[j] += value
            favour[i] -= value
        expected.append(max(range(k), key=lambda c: (votes[c], favour[c], -c)))
    assert coding.decode(decisions).tolist() == expected
    assert coding.decode(np.stack([decisions, decisions]))[1].tolist() == expected
