import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from rfbench.checking.samplers import CHECK_ROWS, CHECK_TARGET, MAPS, NEW_ROWS
from rfbench.errors import MethodError
from rfbench.samplers import EERF
from rfbench.samplers.base import make_streams

from .candidates import LABELS, candidates, frequencies

REAL = CHECK_TARGET + 0.1 * CHECK_ROWS[:, 0]


def fitted(target, size=9, **words):
    usual = {"pool_size": 30, "score_rows": 1.0, "bandwidth": 2.0, "random_state": 0}
    return EERF(size, **usual | words).fit(CHECK_ROWS, target)


def energies(kinds, target):
    """Return S(w)^2, shape (pool,), from features of shape (kinds, n, pool)."""
    return (np.einsum("kim,i->km", kinds, target) ** 2).sum(axis=0) / len(target) ** 2


@pytest.mark.parametrize("feature_map", MAPS)
@pytest.mark.parametrize("kernel", ["gaussian", "cauchy", "arc-cosine-0", "arc-cosine-2"])
@pytest.mark.parametrize("center", [True, False])
def test_features_with_the_largest_scores_are_selected_in_order(feature_map, kernel, center):
    """Against scores of the pool by brute force: 1e-9 relative, features to 1e-12."""
    words = {"feature_map": feature_map, "kernel": kernel}
    energy = energies(candidates(30, **words), REAL - REAL.mean() if center else REAL)
    order = np.argsort(-energy)[:9]
    sampler = fitted(REAL, center_target=center, **words)
    assert_allclose(sampler.feature_map_.frequencies.T, frequencies(30, kernel)[order])
    assert_allclose(sampler.scores_, np.sqrt(energy[order]), rtol=1e-9)
    features = np.hstack(candidates(30, rows=NEW_ROWS, **words)[:, :, order]) / 3.0
    assert_allclose(sampler.transform(NEW_ROWS), features, atol=1e-12)


@pytest.mark.parametrize("multiclass", ["norm", "max", "per-class"])
def test_scores_of_several_classes_are_combined(multiclass):
    """Against brute force, joined in three ways, to 1e-9 relative."""
    kinds = candidates(30, "paired")
    energy = np.stack([energies(kinds, LABELS == label) for label in range(4)], axis=1)
    joined = energy.sum(axis=1) if multiclass == "norm" else energy.max(axis=1)
    order = np.argsort(-joined)
    if multiclass == "per-class":
        in_turn = np.argsort(-energy, axis=0).ravel()
        order = in_turn[np.sort(np.unique(in_turn, return_index=True)[1])]
    sampler = fitted(LABELS, feature_map="paired", multiclass=multiclass, center_target=False)
    assert_allclose(sampler.feature_map_.frequencies.T, frequencies(30)[order[:9]])
    if multiclass != "per-class":
        assert_allclose(sampler.scores_, np.sqrt(joined[order[:9]]), rtol=1e-9)


def test_target_is_centred_by_default_for_several_classes():
    for target, center in ((LABELS, True), (LABELS > 0, False), (REAL, False)):
        chosen = {c: fitted(target, center_target=c).scores_ for c in (True, False)}
        assert_array_equal(fitted(target).scores_, chosen[center])
        assert not np.array_equal(chosen[True], chosen[False])


def test_scores_are_computed_from_a_random_subset_of_rows():
    part = make_streams(0).rows.choice(60, size=12, replace=False)
    scores = np.abs(CHECK_TARGET[part] @ candidates(30)[0][part] / 12)
    for asked in (12, 0.2):
        sampler = fitted(CHECK_TARGET, 30, score_rows=asked)
        assert_allclose(sampler.scores_, np.sort(scores)[::-1], rtol=1e-9)
    assert_array_equal(fitted(CHECK_TARGET, score_rows=1000).scores_, fitted(CHECK_TARGET).scores_)


def test_linear_kernel_ranks_each_coordinate_once():
    target = CHECK_ROWS @ np.array([0.1, 3.0, 0.0, -2.0, 1.0])
    order = np.argsort(-np.abs(CHECK_ROWS.T @ target))
    sampler = fitted(target, 3, kernel="linear")
    assert_allclose(sampler.transform(NEW_ROWS), NEW_ROWS[:, order[:3]] / np.sqrt(3.0))
    with pytest.raises(MethodError, match=r"M = 6 .* pool of 5\."):
        fitted(target, 6, kernel="linear")
