"""Greedy selection against a search that measures each average with the losses of `choose`."""

import numpy as np
import pytest

from rfbench.choosing import choice
from rfbench.choosing.choice import add_average_of_members
from rfbench.choosing.greedy import STEPS, compute_model_losses, select_weights_greedily
from rfbench.choosing.losses import compute_loss
from rfbench.choosing.rounds import BLEND, FEATURES, Candidate
from tests.choosing.conftest import rounds_of

METRICS = ("log-loss", "error", "rmse", "mae")


def models(metric, n=200, m=5, seed=0):
    """Return the scores of models of different quality, shape (n, k, m), and the truth."""
    random = np.random.default_rng(seed)
    if metric in ("rmse", "mae"):
        truth = random.standard_normal(n)
        return truth[:, None, None] + random.standard_normal((n, 1, m)), truth
    truth = random.integers(0, 3, n)
    logits = 1.0 * np.eye(3)[truth][:, :, None] + random.standard_normal((n, 3, m))
    return np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True), truth


def measured(scores, truth, metric):
    """Return the loss, and the log-loss that decides between equal errors."""
    said = scores if scores.shape[1] > 1 else scores[:, 0]
    second = compute_loss("log-loss", truth, said).value if metric == "error" else 0.0
    return compute_loss(metric, truth, said).value, second


@pytest.mark.parametrize("metric", METRICS)
def test_greedy_averaging_adds_the_model_that_minimizes_the_loss(metric):
    scores, truth = models(metric)
    bag, best = [], None
    for _ in range(STEPS):
        every = [measured(scores[:, :, [*bag, j]].mean(axis=2), truth, metric) for j in range(5)]
        bag.append(min(range(5), key=lambda j: every[j]))
        if best is None or min(every) < best:
            best, weights = min(every), np.bincount(bag, minlength=5) / len(bag)
    made = select_weights_greedily(scores, truth, metric, np.zeros(5), 0.0, 5)
    np.testing.assert_allclose(made, weights)
    assert 1 < (made > 0).sum()
    assert compute_model_losses(scores, truth, metric) == pytest.approx(
        [measured(scores[:, :, j], truth, metric)[0] for j in range(5)], rel=0, abs=1 / len(truth)
    )


def test_models_beyond_the_time_and_size_limits_are_not_added():
    scores, truth = models("rmse")
    seconds = np.array([3.0, 1.0, 2.0, 5.0, 1.0])
    best = int(compute_model_losses(scores, truth, "rmse").argmin())
    alone = np.eye(5)[best]
    np.testing.assert_array_equal(
        select_weights_greedily(scores, truth, "rmse", seconds, 0.0, 5), alone
    )
    made = select_weights_greedily(scores, truth, "rmse", seconds, seconds[best] + 2.0, 5)
    assert 1 < (made > 0).sum()
    assert seconds[made > 0].sum() <= seconds[best] + 2.0
    assert (select_weights_greedily(scores, truth, "rmse", seconds, 99.0, 2) > 0).sum() == 2


def test_worst_models_are_left_out_of_the_average_if_memory_is_limited(monkeypatch):
    y, seen = np.random.default_rng(0).standard_normal(60), []
    by = rounds_of(y)
    n = len(by.held)
    members = [
        by.add(Candidate(str(i), FEATURES), y[by.held, None] + i * (-1.0) ** np.arange(n)[:, None])
        for i in (3, 1, 4, 2)
    ]

    def select(scores, truth, *_):
        seen.append(np.abs(scores[:, 0] - truth[:, None]).mean(axis=0).round().tolist())
        return np.eye(scores.shape[2])[0]

    monkeypatch.setattr(choice, "select_weights_greedily", select)
    monkeypatch.setattr(choice, "MOST_SCORES", 3 * n)
    add_average_of_members(by, members, members, BLEND, "average of")
    assert seen == 3 * [[1, 2, 3]]


@pytest.mark.parametrize("metric", ["error", "mae"])
def test_average_weights_minimize_the_requested_metric(metric):
    """A few rows outweigh all others in squares and logarithms, and count as one in the metric."""
    random = np.random.default_rng(0)
    n, K = 4_000, 2 * (metric == "error")
    y = random.integers(0, 2, n) if K else random.standard_normal(n)
    rare = random.random(n) < 0.03
    if K:
        noise = [1.2 * random.standard_normal(n) for _ in "abc"]
        logits = [3.0 * (2 * y - 1) * np.where(rare, -4, 0.4) + each for each in noise[:2]]
        p = [1 / (1 + np.exp(-each)) for each in (*logits, 0.3 * noise[2])]
        said = [np.c_[1 - each, each] for each in p]
    else:
        noise = random.standard_normal((2, n, 1))
        said = [y[:, None] + 0.5 * noise[0] + 8 * rare[:, None], y[:, None] + noise[1]]
    losses = {}
    for asked in (metric, "log-loss" if K else "rmse"):
        by = rounds_of(y, range(K), asked)
        members = [
            by.add(Candidate(str(i), FEATURES), each[by.held]) for i, each in enumerate(said)
        ]
        add_average_of_members(by, members, members, BLEND, "average of")
        (average,) = [c for c in by.candidates if c.members]
        mixed = sum(w * said[int(c.label)] for c, w in average.members.items())
        losses[asked] = compute_loss(metric, y, mixed if K else mixed[:, 0]).value
    first, second = losses.values()
    assert first < 0.97 * second


def test_averaging_rule_with_the_smaller_loss_on_unseen_rows_is_used(monkeypatch):
    """Of two rules, of which one gives all the weight to a model of noise."""
    y = np.random.default_rng(0).standard_normal(400)
    for bad in ("fit_average_weights", "select_weights_greedily"):
        by = rounds_of(y)
        sign = (-1.0) ** np.arange(len(by.held))
        truth = y[by.held]
        said = [truth + sign, truth - sign, 5 * sign]
        members = [
            by.add(Candidate(str(i), FEATURES), each[:, None]) for i, each in enumerate(said)
        ]
        with monkeypatch.context() as patch:
            patch.setattr(choice, bad, lambda *_: np.array([0.0, 0.5, 0.5]))
            add_average_of_members(by, members, members, BLEND, "average of")
        (average,) = [c for c in by.candidates if c.members]
        assert {c.label for c in average.members} == {"0", "1"}
