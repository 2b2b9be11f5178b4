from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from rfbench.checking.samplers import CHECK_ROWS, CHECK_TARGET
from rfbench.samplers import SWIM, DataPairs
from rfbench.samplers.swim import compute_pair_weights

# swimnetworks 0.0.2 (MIT): Dense(layer_width=4, parameter_sampler="tanh", activation="tanh",
# is_classifier=True, random_seed=5) on X with the classes 0, 1, 2, 0, 1, 2; and its
# weight_probabilities of the real targets Y and the pairs PAIRS.
X = np.array(
    [
        [2.04, -2.56, 0.42],
        [-0.57, -0.45, -0.22],
        [-2.02, -0.23, -0.87],
        [3.32, 0.23, -0.35],
        [-0.28, -0.67, -1.06],
        [-0.39, 0.48, -0.24],
    ]
)
THEIR_PAIRS = np.array([[0, 5], [4, 2], [3, 5]])
THEIR_WEIGHTS = [
    [-0.1713265773845314, -0.5868619354319561, -0.2945256123016386],
    [0.21433448364155364, 0.14840186872991995, 0.019846739373425782],
    [-0.04653314447481099, 0.06408262513337454, 0.008732565324307343],
]
THEIR_OFFSETS = [0.3684402723321871, -0.5462706515645791, 0.42701053631500485]
Y = np.array(
    [[-0.65, -0.17], [1.66, 0.66], [-1.64, -0.01], [-0.62, 0.15], [-1.61, 0.24], [0.24, 1.58]]
)
PAIRS = np.array([[0, 1], [0, 2], [1, 4], [3, 5], [5, 2]])
THEIR_PROBABILITIES = [
    *(0.1159084749420367, 0.034954568312465996, 0.6123633191703753),
    *(0.06590186819173248, 0.1708717693833897),
]


def test_swim_weights_and_probabilities_equal_those_of_swimnetworks() -> None:
    """Stored values of swimnetworks 0.0.2 (MIT, tanh), to 1e-12 relative."""
    weights, offsets = compute_pair_weights(X, THEIR_PAIRS)
    assert_allclose(weights, THEIR_WEIGHTS, rtol=1e-12)
    assert_allclose(offsets, THEIR_OFFSETS, rtol=1e-12)
    distances = np.linalg.norm(X[PAIRS[:, 1]] - X[PAIRS[:, 0]], axis=1)
    assert_allclose(SWIM()._probabilities(PAIRS, distances, Y), THEIR_PROBABILITIES, rtol=1e-12)


@pytest.mark.parametrize("cls", [SWIM, DataPairs])
def test_swim_features_are_minus_half_and_half_at_the_rows_of_their_pair(cls: Any) -> None:
    """To 1e-12; constant across the line through them."""
    sampler = cls(9, random_state=0).fit(CHECK_ROWS, CHECK_TARGET)
    features = 3.0 * sampler.transform(CHECK_ROWS)
    first, second = sampler.pairs_.T
    assert_allclose(features[first, range(9)], -0.5, atol=1e-12)
    assert_allclose(features[second, range(9)], 0.5, atol=1e-12)
    # Constant across the line through the two rows, steepest half-way.
    across = np.random.default_rng(0).standard_normal(5)
    step = CHECK_ROWS[second[0]] - CHECK_ROWS[first[0]]
    across -= (across @ step) / (step @ step) * step
    middle = (CHECK_ROWS[first[0]] + CHECK_ROWS[second[0]]) / 2
    assert_allclose(sampler.transform((middle + across)[None])[0, 0], 0.0, atol=1e-12)


FIVE_BY_TWO = np.array([[0.0, 1.0], [3.0, 4.0], [1.0, -1.0], [0.0, 1.0], [2.0, 5.0]])


@pytest.mark.parametrize("norm", ["max", "l2", None])
@pytest.mark.parametrize("target", [np.arange(5) % 2, np.arange(5) % 3, FIVE_BY_TWO])
def test_pair_sampling_distribution_equals_the_enumeration_of_all_pairs(
    norm: str | None, target: Any
) -> None:
    """From a large pool, a drawn pair follows the law over all 20 ordered pairs of 5 rows."""
    words: dict[str, Any] = {"n_components": 20_000, "pairs_per_row": 20_000, "random_state": 0}
    sampler = DataPairs(**words) if norm is None else SWIM(target_norm=norm, **words)
    drawn, counts = np.unique(
        sampler.fit(CHECK_ROWS[:5], target).pairs_, axis=0, return_counts=True
    )
    T = target if target.ndim == 2 else np.eye(3)[target]
    every = np.array([pair for pair in product(range(5), repeat=2) if pair[0] != pair[1]])
    apart = np.linalg.norm(CHECK_ROWS[every[:, 1]] - CHECK_ROWS[every[:, 0]], axis=1)
    change = np.linalg.norm(
        T[every[:, 1]] - T[every[:, 0]], ord=np.inf if norm == "max" else 2, axis=1
    )
    law = np.ones(20) if norm is None else change / apart
    assert_array_equal(drawn, every[law > 0])

    def p_value(law: Any) -> Any:
        # The pool itself is random, a fifth of the variance of the draws.
        expected = 20_000 * law[law > 0] / law.sum()
        return stats.chi2.sf(np.sum((counts - expected) ** 2 / expected) / 1.2, len(counts) - 1)

    assert p_value(law) > 1e-3
    if norm is not None:
        assert p_value(law * apart) < 1e-9


def test_pairs_of_duplicate_rows_are_counted_and_not_drawn() -> None:
    """Each row twice, with different classes: steepest of all would be what cannot be parted."""
    rows, labels = np.repeat(CHECK_ROWS[:10], 2, axis=0), np.arange(20) % 2
    sampler = SWIM(200, pairs_per_row=40, random_state=0).fit(rows, labels)
    assert sampler.coinciding_ + len(sampler.pool_) == 800
    assert sampler.coinciding_ == pytest.approx(800 / 19, abs=4 * np.sqrt(800 / 19))
    assert sampler.notes_[0].startswith(f"{sampler.coinciding_} of 800 ")
    assert (rows[sampler.pairs_[:, 0]] != rows[sampler.pairs_[:, 1]]).any(axis=1).all()
    assert np.abs(sampler.feature_map_.frequencies).max() < 10.0
    assert SWIM(5, random_state=0).fit(CHECK_ROWS, CHECK_TARGET).notes_ == []


def test_constant_target_gives_uniform_pairs() -> None:
    words: dict[str, Any] = {"n_components": 30, "random_state": 0}
    flat = SWIM(**words).fit(CHECK_ROWS, np.zeros(60))
    assert_array_equal(flat.pairs_, DataPairs(**words).fit(CHECK_ROWS).pairs_)
