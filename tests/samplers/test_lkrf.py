import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import Ridge

from rfbench.checking.samplers import CHECK_ROWS, CHECK_TARGET, MAPS, NEW_ROWS
from rfbench.errors import MethodError
from rfbench.samplers import EERF, LKRF, RKS
from rfbench.samplers.base import make_streams
from rfbench.samplers.lkrf import compute_chi_square_weights, compute_penalized_weights

from .candidates import LABELS, candidates, frequencies


def alignment(feature_map, columns):
    """Return v_m, summed over cos, sin and the target's columns."""
    return (np.einsum("kim,ic->kmc", candidates(40, feature_map), columns) ** 2).sum(axis=(0, 2))


def make(**words):
    return LKRF(**{"pool_size": 40, "bandwidth": 2.0, "random_state": 0, **words})


@pytest.mark.parametrize("feature_map", MAPS)
def test_candidate_weights_are_optimal_for_the_alignments(feature_map):
    v = alignment(feature_map, CHECK_TARGET[:, None])
    cases = [
        ({"rho": 3.0}, compute_chi_square_weights(v, 3.0)),
        ({"penalty": 0.2}, compute_penalized_weights(v, 0.2)),
    ]
    for words, q in cases:
        sampler = make(n_components=5, feature_map=feature_map, **words).fit(
            CHECK_ROWS, CHECK_TARGET
        )
        assert_allclose(sampler.pool_weights_, q, atol=1e-10)
        assert sampler.kept_ == np.count_nonzero(q)


@pytest.mark.parametrize("feature_map", MAPS)
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("estimator", ["top", "all"])
def test_estimators_top_and_all_select_candidates_by_weight(feature_map, weighted, estimator):
    """Against the pool written out, to 1e-12."""
    words = {"rho": 3.0, "feature_map": feature_map, "weighted": weighted, "estimator": estimator}
    sampler = make(n_components=5, **words).fit(CHECK_ROWS, CHECK_TARGET)
    q = sampler.pool_weights_
    count = 5 if estimator == "top" else sampler.kept_
    chosen = np.argsort(-q)[:count]
    factors = np.sqrt(q[chosen]) if weighted else np.full(count, count**-0.5)
    expected = np.concatenate(
        candidates(40, feature_map, rows=NEW_ROWS)[:, :, chosen] * factors, axis=1
    )
    assert_allclose(sampler.transform(NEW_ROWS), expected, atol=1e-12)


@pytest.mark.parametrize("words", [{"rho": 0.0}, {"rho": 9.0}, {"penalty": 0.01}])
def test_estimator_top_breaks_ties_of_weights_by_the_score(words):
    scores = np.einsum("n,knm->km", CHECK_TARGET, candidates(40))[0] ** 2
    sampler = make(n_components=30, weighted=False, **words).fit(CHECK_ROWS, CHECK_TARGET)
    order = np.argsort(-scores)[:30]
    assert_array_equal(sampler.feature_map_.frequencies.T, frequencies(40)[order])


@pytest.mark.parametrize("words", [{"rho": 3.0}, *({"penalty": 10.0**k} for k in range(-5, 6))])
@pytest.mark.parametrize("target", [CHECK_TARGET, LABELS])
@pytest.mark.parametrize("centred", [False, True])
def test_unweighted_estimator_top_selects_the_features_of_eerf(words, target, centred):
    """q grows with the score: without weights, `top` is EERF at every radius and penalty."""
    shared = {"center_target": centred, "score_rows": 0.7}
    sampler = make(n_components=12, weighted=False, **words, **shared).fit(CHECK_ROWS, target)
    other = EERF(12, pool_size=40, bandwidth=2.0, random_state=0, multiclass="norm", **shared)
    assert_allclose(sampler.transform(NEW_ROWS), other.fit(CHECK_ROWS, target).transform(NEW_ROWS))


def test_drawn_features_follow_the_candidate_weights():
    sampler = make(n_components=20_000, rho=3.0, estimator="draw").fit(CHECK_ROWS, CHECK_TARGET)
    first = candidates(40, rows=CHECK_ROWS[:1])[0, 0] / np.sqrt(20_000)
    drawn = sampler.transform(CHECK_ROWS[:1])[0]
    member = np.abs(drawn[:, None] - first).argmin(axis=1)
    share = np.bincount(member, minlength=40) / 20_000
    q = sampler.pool_weights_
    assert np.count_nonzero(share[q == 0]) == 0
    assert (np.abs(share - q) <= 4.5 * np.sqrt(q * (1 - q) / 20_000)).all()


def test_estimator_paper_draws_only_if_m_is_below_the_nonzero_weights():
    words = {"rho": 3.0, "random_state": 0}
    kept = make(n_components=1, **words).fit(CHECK_ROWS, CHECK_TARGET).kept_
    for size, same in ((kept - 1, "draw"), (kept, "all"), (kept + 5, "all")):
        found = make(n_components=size, estimator="paper", **words).fit(CHECK_ROWS, CHECK_TARGET)
        expected = make(n_components=size, estimator=same, **words).fit(CHECK_ROWS, CHECK_TARGET)
        assert_array_equal(found.transform(NEW_ROWS), expected.transform(NEW_ROWS))


SPHERE = np.random.default_rng(5).standard_normal((300, 5))


def brute_force_errors(rows, target, words, generator, scoring):
    """Return, by penalty, the least squared error on the fifth of the scoring rows held out."""
    order = scoring[generator.permutation(len(scoring))]
    held, used = order[: len(order) // 5], order[len(order) // 5 :]
    state = generator.bit_generator.state
    scored = target[used] - target[used].mean() * words.get("center_target", False)
    columns = candidates(40, rows=rows)[0]
    v = (columns[used].T @ scored) ** 2
    errors = {}
    for power in range(-5, 6):
        q = compute_penalized_weights(v, 10.0**power)
        generator.bit_generator.state = state
        if words["estimator"] == "draw":
            chosen = generator.choice(40, size=12, p=q)
            Z = columns[:, chosen] / np.sqrt(12)
        else:
            Z = (columns * np.sqrt(q))[
                :, np.argsort(-q)[: 12 if words["estimator"] == "top" else 40]
            ]
        sums = []
        for exponent in range(-6, 1):
            fit = Ridge(alpha=len(used) * 10.0**exponent).fit(Z[used], target[used])
            sums.append(np.sum((fit.predict(Z[held]) - target[held]) ** 2))
        errors[10.0**power] = min(sums)
    return errors


@pytest.mark.parametrize(
    "words",
    [
        {"estimator": "draw"},
        {"estimator": "draw", "center_target": True, "score_rows": 200},
        {"estimator": "top"},
        {"estimator": "all"},
    ],
)
@pytest.mark.parametrize("shape", ["ball", "wave"])
def test_penalty_by_validation_equals_a_loop_over_the_grid(words, shape):
    target = np.where(np.linalg.norm(SPHERE, axis=1) > 2.1, 1.0, -1.0)
    if shape == "wave":  # one candidate, which small penalties find
        target = candidates(40, rows=SPHERE)[0, :, 17] + 0.1 * SPHERE[:, 0]
    random = make_streams(0)
    n, count = len(SPHERE), words.get("score_rows", 300)
    rows = np.arange(n) if count == n else np.sort(random.rows.choice(n, count, replace=False))
    generator = random.selection.spawn(1)[0]
    errors = brute_force_errors(SPHERE, target, words, generator, rows)
    sampler = make(n_components=12, penalty="validation", **words).fit(SPHERE, target)
    least = min(errors.values())
    best = max(penalty for penalty in errors if np.isclose(errors[penalty], least, rtol=1e-9))
    assert_allclose(sampler.penalty_, best)
    assert len(set(errors.values())) > 3
    assert sampler.notes_[0] == f"penalty {best:g} selected by validation"
    if shape == "wave":
        assert best <= 1


def test_several_classes_are_centred_one_hot_columns():
    one_hot = (LABELS[:, None] == np.arange(4)).astype(float)
    centred = one_hot - one_hot.mean(axis=0)
    for columns, words in (
        (centred, {}),
        (centred, {"center_target": True}),
        (one_hot, {"center_target": False}),
    ):
        q = compute_chi_square_weights(alignment("offset", columns), 3.0)
        sampler = make(n_components=4, rho=3.0, **words).fit(CHECK_ROWS, LABELS)
        assert_allclose(sampler.pool_weights_, q, atol=1e-10)


def test_linear_kernel_weights_each_coordinate_once():
    target = CHECK_ROWS @ np.array([0.1, 3.0, 0.0, -2.0, 1.0])
    words = {"kernel": "linear", "rho": 0.5}
    sampler = make(estimator="all", **words).fit(CHECK_ROWS, target)
    q = compute_chi_square_weights((CHECK_ROWS.T @ target) ** 2, 0.5)
    assert_allclose(sampler.pool_weights_, q)
    order = np.argsort(-q)[: np.count_nonzero(q)]
    assert_allclose(sampler.transform(NEW_ROWS), NEW_ROWS[:, order] * np.sqrt(q[order]))
    with pytest.raises(MethodError, match=r"M = 6 .* pool of 5\..*Decrease M"):
        make(n_components=6, **words).fit(CHECK_ROWS, target)
    assert make(pool_size=3, estimator="all", **words).fit(
        CHECK_ROWS, target
    ).pool_weights_.shape == (3,)


def test_errors_of_the_authors_example_are_reproduced():
    """d = 10, ridge 0.05 on sqrt(2/D) cos features: they print .355 random, .143 optimised."""
    rows = np.random.default_rng(0).standard_normal((11_000, 10)).astype(np.float32)
    target = np.where(np.linalg.norm(rows, axis=1) > np.sqrt(10), 1.0, -1.0)
    train, test = slice(10_000), slice(10_000, None)
    words = {"bandwidth": 1.0, "random_state": 0}
    optimised = LKRF(pool_size=20_000, rho=100.0, estimator="all", weighted=False, **words)
    optimised.fit(rows[train], target[train])
    assert 20_000 / 101 <= optimised.kept_ < 400
    random = RKS(optimised.kept_, **words).fit(rows[train])
    errors = []
    for sampler in (optimised, random):
        Z = sampler.transform(rows[train]).astype(np.float64)
        theta = np.linalg.solve(Z.T @ Z + 0.05 * np.eye(Z.shape[1]), Z.T @ target[train])
        predicted = sampler.transform(rows[test]) @ theta > 0
        errors.append(np.mean(predicted != (target[test] > 0)))
    assert 0.10 < errors[0] < 0.17
    assert 0.28 < errors[1] < 0.38
