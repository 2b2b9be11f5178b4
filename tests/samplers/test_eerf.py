import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from rfbench import kernels
from rfbench.errors import MethodError
from rfbench.samplers import EERF
from rfbench.samplers.base import streams

from .contract import MAPS, NEW_ROWS, ROWS, TARGET, SamplerContract

REAL = TARGET + 0.1 * ROWS[:, 0]
LABELS = np.digitize(ROWS[:, 0] + 0.3 * ROWS[:, 1], [-0.7, 0.2, 0.9])


class TestEERF(SamplerContract):
    sampler = EERF
    options = {"pool_size": 40, "score_rows": 1.0}


class TestCentred(SamplerContract):
    sampler = EERF
    options = {"pool_size": 40, "score_rows": 0.5, "center_target": True, "multiclass": "max"}


class TestPerClass(SamplerContract):
    sampler = EERF
    options = {"pool_size": 40, "score_rows": 30, "multiclass": "per-class"}


def candidates(size, feature_map, kernel="gaussian", rows=ROWS, seed=0):
    """Return the pool's features without a factor, one array of shape (n, pool) a column kind."""
    random = streams(seed)
    frequencies = kernels.make(kernel, 2.0).frequencies(random.frequencies, 5, size)
    if kernel.startswith("arc-cosine"):
        phase, order = rows @ frequencies.T, int(kernel[-1])
        return [np.where(phase > 0, phase**order, 0.0)], frequencies
    if feature_map == "paired":
        return [np.cos(rows @ frequencies.T), np.sin(rows @ frequencies.T)], frequencies
    offsets = random.offsets.uniform(0, 2 * np.pi, size)
    return [np.cos(rows @ frequencies.T + offsets)], frequencies


def energies(kinds, target):
    """Return S(w)^2, the square of the sum written out, shape (pool,)."""
    total = np.zeros(kinds[0].shape[1])
    for features in kinds:
        for m in range(len(total)):
            total[m] += (sum(target[i] * features[i, m] for i in range(len(target))) / 60) ** 2
    return total


@pytest.mark.parametrize("feature_map", MAPS)
@pytest.mark.parametrize("kernel", ["gaussian", "cauchy", "arc-cosine-0", "arc-cosine-2"])
@pytest.mark.parametrize("center", [True, False])
def test_keeps_the_largest_scores_in_their_order(feature_map, kernel, center):
    kinds, frequencies = candidates(30, feature_map, kernel)
    energy = energies(kinds, REAL - REAL.mean() if center else REAL)
    order = np.argsort(-energy)[:9]
    words = {"kernel": kernel, "feature_map": feature_map, "center_target": center}
    sampler = EERF(9, pool_size=30, score_rows=1.0, bandwidth=2.0, random_state=0, **words).fit(
        ROWS, REAL
    )
    assert_allclose(sampler.feature_map_.frequencies.T, frequencies[order])
    unit = 1.0 if feature_map == "paired" and kernel in ("gaussian", "cauchy") else np.sqrt(2.0)
    assert_allclose(sampler.scores_, unit * np.sqrt(energy[order]), rtol=1e-9)
    new, _ = candidates(30, feature_map, kernel, NEW_ROWS)
    features = np.hstack([kind[:, order] for kind in new]) * unit / 3.0
    assert_allclose(sampler.transform(NEW_ROWS), features, atol=1e-12)


@pytest.mark.parametrize("multiclass", ["norm", "max", "per-class"])
def test_scores_of_several_classes_are_joined(multiclass):
    kinds, frequencies = candidates(30, "paired")
    columns = [energies(kinds, (LABELS == label).astype(float)) for label in range(4)]
    energy = np.stack(columns, axis=1)
    if multiclass == "per-class":
        order = []
        for rank in range(30):
            for label in range(4):
                best = np.argsort(-energy[:, label])[rank]
                if best not in order:
                    order.append(best)
    else:
        joined = energy.sum(axis=1) if multiclass == "norm" else energy.max(axis=1)
        order = np.argsort(-joined)
        scores = np.sqrt(joined[order[:9]])
    words = {"feature_map": "paired", "multiclass": multiclass, "score_rows": 1.0}
    words["center_target"] = False
    sampler = EERF(9, pool_size=30, bandwidth=2.0, random_state=0, **words).fit(ROWS, LABELS)
    assert_allclose(sampler.feature_map_.frequencies.T, frequencies[order[:9]])
    if multiclass != "per-class":
        assert_allclose(sampler.scores_, scores, rtol=1e-9)


def test_by_default_the_target_is_centred_where_there_are_several_classes():
    words = {"pool_size": 30, "score_rows": 1.0, "bandwidth": 2.0, "random_state": 0}
    for target, center in ((LABELS, True), (LABELS > 0, False), (REAL, False)):
        default = EERF(9, **words).fit(ROWS, target)
        chosen = {c: EERF(9, center_target=c, **words).fit(ROWS, target) for c in (True, False)}
        assert_array_equal(default.scores_, chosen[center].scores_)
        assert not np.array_equal(chosen[True].scores_, chosen[False].scores_)


def test_scores_are_made_from_a_random_part_of_the_rows():
    words = {"pool_size": 30, "bandwidth": 2.0, "random_state": 0}
    part = streams(0).rows.choice(60, size=12, replace=False)
    kinds, _ = candidates(30, "offset")
    scores = np.abs(TARGET[part] @ kinds[0][part] / 12) * np.sqrt(2.0)
    for asked in (12, 0.2):
        sampler = EERF(30, score_rows=asked, **words).fit(ROWS, TARGET)
        assert_allclose(sampler.scores_, np.sort(scores)[::-1], rtol=1e-9)
    assert_array_equal(
        EERF(30, score_rows=1000, **words).fit(ROWS, TARGET).scores_,
        EERF(30, score_rows=1.0, **words).fit(ROWS, TARGET).scores_,
    )


def test_two_labels_of_any_kind_are_the_same_target():
    words = {"pool_size": 30, "bandwidth": 2.0, "random_state": 0}
    expected = EERF(5, **words).fit(ROWS, TARGET).transform(NEW_ROWS)
    for labels in ((TARGET > 0).astype(int), np.where(TARGET > 0, "yes", "no"), TARGET > 0):
        assert_array_equal(EERF(5, **words).fit(ROWS, labels).transform(NEW_ROWS), expected)


def test_linear_kernel_ranks_each_coordinate_once():
    target = ROWS @ np.array([0.1, 3.0, 0.0, -2.0, 1.0])
    order = np.argsort(-np.abs(ROWS.T @ target))
    sampler = EERF(3, pool_size=40, score_rows=1.0, kernel="linear").fit(ROWS, target)
    assert_allclose(sampler.transform(NEW_ROWS), NEW_ROWS[:, order[:3]] / np.sqrt(3.0))
    with pytest.raises(MethodError, match=r"M = 6 .* pool of 5\..*Lower M"):
        EERF(6, pool_size=40, kernel="linear").fit(ROWS, target)


@pytest.mark.parametrize(
    "wrong",
    [
        {"pool_size": 7},
        {"pool_size": 0},
        {"score_rows": 0},
        {"score_rows": 1.5},
        {"score_rows": True},
        {"center_target": "yes"},
        {"multiclass": "mean"},
    ],
)
def test_wrong_parameters_are_named(wrong):
    ((name, _),) = wrong.items()
    with pytest.raises(MethodError, match=name):
        EERF(8, **wrong).check_parameters()
