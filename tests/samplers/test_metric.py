"""The learned metric: finite differences, the recursion written out, noise and invariances."""

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import linalg, sparse
from sklearn.linear_model import Ridge
from sklearn.metrics.pairwise import euclidean_distances

from rfbench import kernels
from rfbench.errors import MemoryLimitError
from rfbench.memory import limit_temporarily
from rfbench.samplers import metric
from rfbench.samplers.base import make_streams
from rfbench.samplers.metric import (
    ALPHAS,
    LEARNED_KERNELS,
    PEAKED_BANDWIDTHS,
    SMOOTH_BANDWIDTHS,
    LearnedMetric,
    apply_metric,
    compute_gradient_outer_product,
    compute_metric,
)

KINDS = ("diagonal", "full")
XRFM = Path(__file__).with_name("xrfm.json")
X = np.random.default_rng(0).standard_normal((200, 4))
Y = np.column_stack([np.sin(2 * X[:, 0]), X[:, 0] * X[:, 1]])
SMALL = {"rounds": 2, "n_landmarks": 25, "random_state": 0}


def by_differences(predict, rows):
    """Return the average outer product of the gradients, shape (d, d), of predict's columns."""
    gradients = np.empty((*rows.shape, 2))
    for j in range(rows.shape[1]):
        step = 1e-6 * np.eye(rows.shape[1])[j]
        gradients[:, j] = (predict(rows + step) - predict(rows - step)) / 2e-6
    return np.einsum("ijk,ilk->jl", gradients, gradients) / len(rows)


@pytest.mark.parametrize("name", LEARNED_KERNELS)
def test_gradient_outer_product_equals_finite_differences(name):
    """Of kernel regressions, to 1e-5 relative."""
    kernel, coef = kernels.make(name, 1.5), np.random.default_rng(1).standard_normal((9, 2))
    for root in (linalg.sqrtm(np.cov(X.T) + 0.3), np.diag([2.0, 1.0, 0.5, 0.0])):
        landmarks, rows = X[:9] @ root, X[20:]
        expected = by_differences(lambda x, S=landmarks, L=root: kernel(x @ L, S) @ coef, rows)
        inside = kernel, rows @ root, landmarks, coef
        G = compute_gradient_outer_product(*inside, root, diagonal=False)
        assert_allclose(G, expected, rtol=1e-5, atol=1e-7)
    weights = compute_gradient_outer_product(*inside, np.diag(root), diagonal=True)
    assert_allclose(weights, np.diag(expected), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["gaussian", "laplacian-l2"])
def test_gradient_outer_products_equal_those_of_xrfm(name, kind):
    """Stored values of xrfm 0.4.5 (MIT), to 1e-6 relative.

    Its LaplaceKernel with exponents 1 and 2, the power 1/4 of a full
    outer product and 1/2 of a diagonal one as the next root, kernel ridge with a penalty of 0.1.

    Its roots are scaled so that the largest entry of the outer product is 1, ours so that distances
    stay what they are: the bandwidth makes up for it.
    """
    expected = json.loads(XRFM.read_text())[f"{name}, {kind}"]
    rows, targets, root, bandwidth = X[:60], Y[:60], np.ones(4), 1.5
    for outer in map(np.array, expected):
        kernel, inside = kernels.make(name, bandwidth), apply_metric(root, rows)
        coef = np.linalg.solve(kernel(inside, inside) + 0.1 * np.eye(60), targets)
        G = compute_gradient_outer_product(
            kernel, inside, inside, coef, root, diagonal=kind == "diagonal"
        )
        assert_allclose(G, outer, rtol=1e-6, atol=1e-6)
        _, root = compute_metric(G, rows)
        power = 0.25 if kind == "full" else 0.5
        theirs = linalg.fractional_matrix_power(np.diag(G) if G.ndim == 1 else G, power)
        ours = root if kind == "full" else np.diag(root)
        bandwidth = 1.5 * np.trace(ours) / (np.trace(theirs) / G.max() ** power)


def reference(kind, name, rows, targets, rounds, m):
    """Return the metrics and losses of all rounds: the recursion in plain numpy."""
    order = make_streams(0).selection.permutation(len(rows))
    held, training = np.split(order, [len(rows) // 5])
    metrics, losses = [np.eye(rows.shape[1])], []
    for _ in range(rounds + 1):
        root = np.real(linalg.sqrtm(metrics[-1]))
        S = rows[training[:m]] @ root
        distances = euclidean_distances(S)[np.triu_indices(m, 1)]
        best = (np.inf,)
        multiples = SMOOTH_BANDWIDTHS if name == "gaussian" else PEAKED_BANDWIDTHS
        for bandwidth in np.median(distances) * np.array(multiples):
            kernel = kernels.make(name, bandwidth)
            half = np.real(linalg.inv(linalg.sqrtm(kernel(S, S))))
            for alpha in ALPHAS:
                ridge = Ridge(alpha * len(training), solver="svd").fit(
                    kernel(rows[training] @ root, S) @ half, targets[training]
                )

                def predict(x, root=root, kernel=kernel, half=half, ridge=ridge, S=S):
                    return ridge.predict(kernel(x @ root, S) @ half)

                loss = np.mean(np.sum((targets[held] - predict(rows[held])) ** 2, axis=1))
                if loss < best[0]:
                    best = loss, predict
        losses.append(best[0])
        G = by_differences(best[1], rows[training])
        A = np.diag(np.diag(G)) if kind == "diagonal" else np.real(linalg.sqrtm(G))
        covariance = np.cov(rows[training].T, bias=True)
        metrics.append(A * np.trace(covariance) / np.trace(A @ covariance))
    return metrics[:-1], losses


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["gaussian", "laplacian-l2"])
def test_metric_learning_rounds_equal_an_explicit_recursion(kind, name):
    """Against the recursion with fits of scikit-learn, to 1e-4 relative."""
    metric = LearnedMetric(kind=kind, kernel=name, **SMALL).fit(X, Y)
    metrics, losses = reference(kind, name, X, Y, 2, 25)
    assert_allclose(metric.losses_, losses, rtol=1e-4)
    assert metric.round_ == np.argmin(losses) > 0
    A = np.diag(metric.metric_) if kind == "diagonal" else metric.metric_
    # The reference takes differences; the last digits of the distances move it by 2e-5.
    assert_allclose(A, metrics[metric.round_], rtol=1e-4, atol=4e-5)
    assert_allclose(
        apply_metric(metric.root_, X), X @ np.real(linalg.sqrtm(A)), rtol=1e-6, atol=1e-7
    )


@pytest.mark.parametrize("kind", KINDS)
def test_learned_metric_weights_the_relevant_column_and_keeps_scale(kind):
    scaled = X * [1.0, 3.0, 0.2, 1.0]
    metric = LearnedMetric(kind=kind, **SMALL).fit(scaled, np.sin(2 * X[:, 0]))
    A = np.diag(metric.metric_) if kind == "diagonal" else metric.metric_
    assert metric.round_ > 0
    assert A[0, 0] > (10 if kind == "diagonal" else 2) * np.diag(A)[1:].max()
    training = make_streams(0).selection.permutation(200)[40:]
    before, after = scaled[training], apply_metric(metric.root_, scaled)[training]
    assert_allclose(after.var(axis=0).sum(), before.var(axis=0).sum(), rtol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_column_order_and_target_units_do_not_matter(kind):
    first = LearnedMetric(kind=kind, **SMALL).fit(X, Y)
    order = [2, 0, 3, 1]
    second = LearnedMetric(kind=kind, **SMALL).fit(X[:, order] + 5.0, 7.0 * Y)
    expected = first.metric_[order] if kind == "diagonal" else first.metric_[np.ix_(order, order)]
    assert first.round_ == second.round_
    assert_allclose(second.metric_, expected, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("target", [np.full(200, 3.7), np.zeros(200), np.full(200, "a")])
def test_constant_target_leaves_the_rows_unchanged(target):
    metric = LearnedMetric(random_state=0).fit(X, target)
    assert metric.round_ == 0
    reason = "because the target or the rows are constant"
    assert f"no metric was learned, {reason}" in metric.notes_[0]
    assert_array_equal(apply_metric(metric.root_, X), X)


def test_metric_matrix_too_large_for_memory_is_rejected():
    wide = sparse.random_array((40, 200_000), density=1e-4, format="csr", rng=0)
    with (
        limit_temporarily(2**29),
        pytest.raises(MemoryLimitError, match="full metric of 200,000 columns"),
    ):
        LearnedMetric(kind="full").fit(wide, np.arange(40.0))
    with limit_temporarily(2**30):
        assert LearnedMetric(rounds=1).fit(wide, np.arange(40.0)).root_.shape == (200_000,)


@pytest.mark.parametrize(
    ("losses", "rounds"),
    [
        ([1.0, 1.1, 1.01, 0.1], 2),  # two rounds gain nothing
        ([1.0, 1.1, 0.5, 0.4], 3),  # one does not count
        ([0.99, 0.985, 0.98, 0.96, 0.2, 0.195, 0.1], 5),  # what gains little at first goes on
        ([1.0, 0.5, 0.45, 0.44, 0.3], 3),
    ],
)
def test_metric_learning_stops_early(monkeypatch, losses, rounds):
    random = np.random.default_rng(0)
    X = random.standard_normal((200, 4))
    made, left = metric.fit_best_kernel_ridge, iter(losses)
    monkeypatch.setattr(
        metric,
        "fit_best_kernel_ridge",
        lambda *args: (lambda fit: (next(left), *fit[1:]))(made(*args)),
    )
    keys = {"n_landmarks": 25, "random_state": 0, "rounds": len(losses) - 1}
    fitted = LearnedMetric(**keys, early_stopping=True).fit(X, np.sin(2 * X[:, 0]))
    assert fitted.losses_.tolist() == losses[: rounds + 1]
    assert fitted.round_ == int(np.argmin(losses[: rounds + 1]))
