import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.neural_network import MLPRegressor

from rfbench.checking.samplers import CHECK_ROWS, NEW_ROWS
from rfbench.samplers import ELM
from rfbench.samplers.swim import draw_torch_uniform


def test_elm_weights_and_offsets_follow_their_documented_distribution() -> None:
    """Mean 0 and variance scale^2 / (3 d), to 4 standard errors of 40,000 draws."""
    n, d, scale = 40_000, 2, 1.5
    drawn = ELM(n, scale=scale, random_state=0).fit(CHECK_ROWS[:, :d]).feature_map_
    values = np.vstack([drawn.frequencies, drawn.offsets])
    assert drawn.frequencies.shape == (d, n)
    variance = scale**2 / (3 * d)
    fourth = 9 / 5 * variance**2
    assert (abs(values.mean(axis=1)) < 4 * (variance / n) ** 0.5).all()
    assert (
        abs((values**2).mean(axis=1) - variance) < 4 * ((fourth - variance**2) / n) ** 0.5
    ).all()
    assert abs(values).max() <= scale / d**0.5
    assert (abs(np.corrcoef(values) - np.eye(d + 1)) < 4 * n**-0.5).all()


def test_features_equal_the_hidden_layer_of_a_scikit_learn_network() -> None:
    """Against an MLPRegressor with the same weights, to 1e-12 relative."""
    sampler = ELM(6, scale=2.0, random_state=0).fit(CHECK_ROWS)
    network = MLPRegressor(hidden_layer_sizes=(6,), activation="tanh", max_iter=1, random_state=0)
    with pytest.warns(UserWarning, match="optimization"):
        network.fit(CHECK_ROWS, CHECK_ROWS[:, 0])
    network.coefs_[0] = sampler.feature_map_.frequencies
    network.intercepts_[0] = sampler.feature_map_.offsets
    network.coefs_[1], network.intercepts_[1] = np.ones((6, 1)), np.zeros(1)
    expected = network.predict(NEW_ROWS)
    assert_allclose(sampler.transform(NEW_ROWS).sum(axis=1) * 6**0.5, expected, rtol=1e-12)


def test_elm_weights_equal_those_of_torch() -> None:
    """Against ``torch.rand`` as torch prints it after manual_seed(42) and manual_seed(0)."""
    printed = {42: [0.8823, 0.9150, 0.3829, 0.9593, 0.3904], 0: [0.4963, 0.7682, 0.0885, 0.1320]}
    for seed, numbers in printed.items():
        drawn = (draw_torch_uniform(seed, len(numbers)) + 1) / 2
        assert_allclose(drawn, numbers, atol=6e-5)
    # nn.Linear: the weights of the first unit, those of the second, then all offsets.
    sampler = ELM(2, scale=3.0, torch_seed=42, random_state=5).fit(CHECK_ROWS[:, :2])
    drawn = 3.0 / 2**0.5 * draw_torch_uniform(42, 6)
    assert_allclose(sampler.feature_map_.frequencies.T.ravel(), drawn[:4])
    assert_allclose(sampler.feature_map_.offsets, drawn[4:])
