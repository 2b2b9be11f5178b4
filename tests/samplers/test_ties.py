"""Exact ties are decided by the index, whatever rounding makes of the scores."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from rfbench.samplers import EERF
from rfbench.samplers.pool import argsort_descending

from .candidates import frequencies

DATA = np.random.default_rng(0)
X = DATA.standard_normal((300, 4))


@given(st.lists(st.tuples(st.integers(-4, 4), st.floats(-1, 1)), min_size=1, max_size=30))
def test_rounding_noise_below_the_error_bound_does_not_affect_ranking(pairs):
    whole, noise = (np.array(part, dtype=float) for part in zip(*pairs, strict=True))
    expected = sorted(range(len(whole)), key=lambda i: (-whole[i], i))
    assert_array_equal(argsort_descending(whole + 4e-10 * noise, 1e-9), expected)


def test_without_an_error_bound_only_equal_scores_are_tied():
    scores = np.array([1.0, 2.0, np.nextafter(2.0, 3.0), 2.0, 0.0, 0.0])
    assert_array_equal(argsort_descending(scores, 0.0), [2, 1, 3, 0, 4, 5])


def test_chain_of_close_scores_is_not_treated_as_one_tie():
    scores = np.random.default_rng(1).permutation(np.arange(1000.0))
    ranked = scores[argsort_descending(scores, 2.5)]
    assert (ranked[:-1] - ranked[1:]).min() >= -2.5
    assert abs(ranked - np.arange(1000.0)[::-1]).max() <= 2.5


@pytest.mark.parametrize(
    ("dtype", "center"), [(np.float64, True), (np.float64, False), (np.float32, False)]
)
@pytest.mark.parametrize("classes", [2, 3])
def test_scores_are_ranked_as_in_exact_arithmetic(dtype, center, classes):
    rows = X[:60].astype(dtype)
    labels = np.arange(60) * 7 % 11 % classes
    target = np.where(labels == 1, 1, -1)[:, None]
    if classes > 2:
        target = (labels[:, None] == np.arange(classes)).astype(int)
    pool = frequencies(400, "arc-cosine-0", d=4)
    on = (rows.astype(float) @ pool.T > 0).astype(int)
    moments, sums, means = on.T @ target, on.sum(axis=0), target.sum(axis=0)
    energies = [
        sum(
            (Fraction(int(m)) - center * Fraction(int(s)) * Fraction(int(t), 60)) ** 2
            for m, t in zip(row, means, strict=True)
        )
        for row, s in zip(moments, sums, strict=True)
    ]
    order = sorted(range(400), key=lambda i: (-energies[i], i))
    assert len(set(energies)) < 300  # there are ties
    words = {"pool_size": 400, "score_rows": 1.0, "kernel": "arc-cosine-0", "random_state": 0}
    sampler = EERF(400, center_target=center, **words).fit(rows, labels)
    assert_array_equal(sampler.feature_map_.frequencies.T, pool[order].astype(dtype))
