from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from rfbench.checking.samplers import CHECK_ROWS, CHECK_TARGET
from rfbench.samplers import RKS, Greedy

SMOOTH = np.sin(CHECK_ROWS[:, 0]) + 0.5 * CHECK_ROWS[:, 1] * CHECK_ROWS[:, 2]


def pool(size: int, feature_map: str) -> Any:
    sampler = RKS(size, bandwidth=2.0, feature_map=feature_map, random_state=0)
    return sampler.fit(CHECK_ROWS).transform(CHECK_ROWS)


def pursuit(Z: Any, Y: Any, steps: int, groups: int) -> list[int]:
    """Return what matching pursuit takes when every step solves its least squares anew."""
    taken: list[int] = []
    residual = Y
    columns = np.arange(Z.shape[1]).reshape(-1, groups)
    for _ in range(steps):
        correlation = Z.T @ residual
        energy = (correlation**2).sum(axis=1)[columns].sum(axis=0)
        energy[taken] = -1.0
        taken.append(int(energy.argmax()))
        chosen = Z[:, columns[:, taken].ravel()]
        residual = Y - chosen @ np.linalg.lstsq(chosen, Y, rcond=None)[0]
    return taken


@pytest.mark.parametrize("feature_map", ["offset", "paired"])
@pytest.mark.parametrize("target", ["smooth", "binary", "classes"])
def test_selection_equals_brute_force(feature_map: str, target: str) -> None:
    """Against a least-squares fit made anew in every step."""
    y = {"smooth": SMOOTH, "binary": CHECK_TARGET, "classes": np.arange(len(CHECK_ROWS)) % 3}[
        target
    ]
    Y = np.eye(3)[y] if target == "classes" else y[:, None]
    sampler = Greedy(
        18,
        pool_size=80,
        bandwidth=2.0,
        feature_map=feature_map,
        random_state=0,
    ).fit(CHECK_ROWS, y)
    expected = pursuit(pool(80, feature_map), Y, 18, 80)
    assert_array_equal(sampler.chosen_, expected)
    kept = pool(80, feature_map)
    columns = sampler.feature_map_.find_columns(np.arange(18)) if feature_map == "paired" else None
    picked = (
        sampler.chosen_ if columns is None else np.append(sampler.chosen_, sampler.chosen_ + 80)
    )
    assert_allclose(sampler.transform(CHECK_ROWS), kept[:, picked] * np.sqrt(80 / 18), atol=1e-12)


def test_candidates_are_distinct_if_features_outnumber_rows() -> None:
    sampler = Greedy(50, pool_size=60, bandwidth=2.0, feature_map="paired", random_state=0)
    sampler.fit(CHECK_ROWS[:20], SMOOTH[:20])
    assert len(set(sampler.chosen_)) == 50
    features = sampler.transform(CHECK_ROWS[:20])
    fitted = features @ np.linalg.lstsq(features, SMOOTH[:20], rcond=None)[0]
    assert_allclose(fitted, SMOOTH[:20], atol=1e-8)


def test_first_of_nearly_equal_candidates_is_selected() -> None:
    """Columns with the same entries in another order: their sums are the same but for rounding."""
    for seed in range(20):
        random = np.random.default_rng(seed)
        column = random.standard_normal(200)
        rows = np.column_stack([random.permutation(column) for _ in range(8)])
        sampler = Greedy(1, pool_size=8, kernel="linear")
        assert sampler.fit(rows, np.ones(200)).chosen_[0] == 0
