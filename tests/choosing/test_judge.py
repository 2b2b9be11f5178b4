"""Averages of what trials said, and the last fit."""

from dataclasses import replace
from time import monotonic

import numpy as np
import pytest
from scipy import optimize
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression

from rfbench.choosing import choice
from rfbench.choosing.choice import (
    add_average_of_members,
    choose_final_candidate,
    fit_average_weights,
    fit_on_all_rows,
    measure_held_out_rows,
)
from rfbench.choosing.rounds import BLEND, BOOSTING, CONSTANT, FEATURES, LINEAR, Candidate
from tests.choosing.conftest import FOREVER, rounds_of
from tests.support.nightly import at_night


def test_average_weights_are_optimal_and_sum_to_one():
    """A model that hardly varies takes no weight away, whatever weight alone would be best."""
    random = np.random.default_rng(0)
    truth = random.standard_normal(3000)
    noise = random.standard_normal((2, len(truth)))
    scores = np.stack([truth + 0.4 * noise[0], truth + 0.5 * noise[1], 1e-3 * truth], axis=1)

    def error(weights):
        return np.sqrt(np.mean((scores @ weights - truth) ** 2))

    best = optimize.minimize(
        error,
        np.full(3, 1 / 3),
        bounds=[(0, 1)] * 3,
        constraints={"type": "eq", "fun": lambda w: w.sum() - 1},
    )
    weights = fit_average_weights(scores[:, None], truth[:, None])
    assert weights.sum() == pytest.approx(1)
    assert error(weights) == pytest.approx(best.fun, rel=1e-3)
    assert fit_average_weights(1e6 * scores[:, None], 1e6 * truth[:, None]) == pytest.approx(
        weights
    )


@pytest.mark.parametrize("tables", [40, *at_night(150)])
def test_average_is_evaluated_on_rows_not_used_for_its_weights(tables):
    """Six models of noise: what the average says of itself is not better than on new rows."""
    random = np.random.default_rng(0)
    gaps = []
    for _ in range(tables):
        by = rounds_of(random.standard_normal(60))
        n = len(by.held)
        members = [
            by.add(Candidate("", FEATURES), random.standard_normal((n, 1))) for _ in range(6)
        ]
        add_average_of_members(by, members, members, BLEND, "blend of")
        for average in (c for c in by.candidates if c.members):
            weights = list(average.members.values())
            new = random.standard_normal((5000, len(weights))) @ weights
            gaps.append(np.sqrt(np.mean((new - random.standard_normal(5000)) ** 2)))
            gaps[-1] -= average.loss.value
    assert len(gaps) > tables / 2
    assert np.mean(gaps) < 3 * np.std(gaps, ddof=1) / np.sqrt(len(gaps))


def test_no_average_is_made_of_identical_models_or_on_a_single_row():
    by = rounds_of(np.zeros(60))
    for scores in (np.zeros(60), np.ones(60)):
        members = [by.add(Candidate("", FEATURES), scores[:, None]) for _ in "ab"]
        add_average_of_members(by, members, members, BLEND, "blend of")
    assert all(np.isfinite(c.loss.value) for c in by.candidates)
    late = np.r_[np.zeros(6), 1.0]
    one = rounds_of(np.r_[[0] * 5, 1, 1], classes=[0, 1], time=late)
    assert len(one.held) == 1
    members = [one.add(Candidate("", FEATURES), np.array([[0.4, 0.6]])) for _ in "ab"]
    add_average_of_members(one, members, members, BLEND, "blend of")
    assert not [c for c in one.candidates if c.members]


def decided(y, metric, classes=(), **scores):
    """Return what is decided by what models say of the rows held out, and of those that chose."""
    rounds = rounds_of(y, classes, metric)
    every = {}
    for family, said in scores.items():
        candidate = rounds.add(Candidate(family, family), said[rounds.held])
        value = rounds.compute_loss(metric, said, np.arange(len(y)))
        every[family] = replace(candidate, scores=said, loss=value)
    taken, overturned = choose_final_candidate(rounds, every)
    return taken.family, overturned


def test_better_model_is_selected_despite_heavy_tailed_errors():
    """y = exp(3 x): a few rows outweigh all others, and the better model is the better one."""
    random = np.random.default_rng(0)
    y = np.exp(3 * random.standard_normal(500))
    good = (y * np.exp(0.1 * random.standard_normal(500)))[:, None]
    said = {CONSTANT: np.full((500, 1), y.mean()), LINEAR: good}
    assert decided(y, "rmse", **said) == (LINEAR, False)


def test_clearly_better_model_on_held_out_rows_replaces_the_choice():
    y, every = np.random.default_rng(0).standard_normal(400), {}
    rounds, sign = rounds_of(y), (-1.0) ** np.arange(400)[:, None]
    errors = {CONSTANT: (2.0, 2.0), LINEAR: (0.1, 0.5), BOOSTING: (0.3, 0.4), FEATURES: (0.2, 0.2)}
    for family, (before, after) in errors.items():
        candidate = rounds.add(Candidate(family, family), (y[:, None] + before * sign)[rounds.held])
        said = y[:, None] + after * sign
        every[family] = replace(
            candidate, scores=said, loss=rounds.compute_loss("rmse", said, rounds.test)
        )
    taken, overturned = choose_final_candidate(rounds, every)
    assert (taken.family, overturned) == (FEATURES, True)


def test_simplest_of_equally_good_models_is_chosen():
    random = np.random.default_rng(0)
    y = random.standard_normal(400)
    good = (y + 0.1 * random.standard_normal(400))[:, None]
    same = {BLEND: good, BOOSTING: good, FEATURES: good}
    assert decided(y, "rmse", **{CONSTANT: np.zeros((400, 1))}, **same)[0] == FEATURES


def test_log_loss_decides_between_nearly_equal_errors():
    """60 errors of 400, and 58 of a model that is far too sure of itself."""
    y = np.zeros(400, int)
    rounds = rounds_of(y, [0, 1])
    sure, n = {"sober": (0.8, 60), "sure": (0.9999, 58)}, len(rounds.held)
    for label, (p, wrong) in sure.items():
        right = np.where(np.arange(n) < wrong, 1 - p, p)
        rounds.add(Candidate(label, FEATURES), np.c_[right, 1 - right])
    assert rounds.find_simplest_good_candidate(rounds.candidates).label == "sober"


@pytest.mark.parametrize("tables", [8, *at_night(20, 200)])
@pytest.mark.parametrize(("K", "metric"), [(0, "rmse"), (2, "log-loss"), (200, "log-loss")])
def test_constant_model_is_selected_on_noise_in_95_percent_of_tables(tables, K, metric):
    """Models that hardly differ from the constant, and say nothing of the rows."""
    learnt = 0
    for seed in range(tables):
        random = np.random.default_rng(seed)
        if K:
            y, prior = random.integers(0, K, 800), np.full((800, K), 1 / K)
            said = {
                f: prior * np.exp(0.1 * random.standard_normal((800, K)))
                for f in (LINEAR, FEATURES, BOOSTING)
            }
            said = {f: s / s.sum(axis=1, keepdims=True) for f, s in said.items()}
        else:
            y, prior = np.exp(2 * random.standard_normal(800)), np.zeros((800, 1))
            said = {
                f: prior + 0.1 * random.standard_normal((800, 1))
                for f in (LINEAR, FEATURES, BOOSTING)
            }
            y -= y.mean()
        learnt += decided(y, metric, range(K), **{CONSTANT: prior}, **said)[0] != CONSTANT
    # 1 of 20 tables is expected at most. The bound for 200 adds three standard deviations.
    assert learnt <= {8: 1, 20: 2, 200: 18}[tables]


@pytest.mark.parametrize(
    ("seconds", "answered"),
    [
        (1.0, {CONSTANT, LINEAR, FEATURES, BOOSTING}),
        (6.0, {CONSTANT, BOOSTING}),  # the others end at 4.0
        (20.0, {CONSTANT, LINEAR}),
    ],
)
def test_best_model_is_evaluated_in_at_most_half_of_the_remaining_time(
    monkeypatch, seconds, answered
):
    """So that its last fit has the other half; else the linear model, which is bounded by itself.

    The constant is always measured.
    """
    monkeypatch.setattr(choice, "monotonic", lambda: 100.0)
    y = np.random.default_rng(0).standard_normal(3000)
    rounds = rounds_of(y)
    for family, error in ((CONSTANT, 3.0), (LINEAR, 2.0), (BOOSTING, 1.0), (FEATURES, 1.5)):
        scores = y[rounds.held] + error * (-1.0) ** np.arange(len(rounds.held))
        rounds.add(Candidate(family, family), scores[:, None])

    def measured(trials, deadline):
        said = {"scores": np.zeros((3000, 1)), "fit": 0.0, "said": 0.0}
        return [said if deadline is None or 100.0 + seconds <= deadline else None for _ in trials]

    rounds.measure = measured
    assert set(measure_held_out_rows(rounds, end=104.0, limit=115.0)) == answered


class Diverges(ClassifierMixin, BaseEstimator):
    """A classifier that is wrong everywhere if it is fitted on more than 80 rows."""

    def fit(self, X, y):
        self.inner_ = LogisticRegression().fit(X, y)
        self.classes_, self.rows_ = self.inner_.classes_, len(y)
        return self

    def predict_proba(self, X):
        return self.inner_.predict_proba(X)[:, :: -1 if self.rows_ > 80 else 1]

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


@pytest.mark.parametrize(
    ("n", "late", "again"), [(100, False, False), (80, False, True), (80, True, False)]
)
def test_model_of_the_training_rows_is_kept_if_the_final_fit_fails(n, late, again):
    """Of 100 or 80 rows, of which 3 in 4 train."""
    y = (np.random.default_rng(0).standard_normal((n, 2))[:, 0] > 0).astype(int)
    rounds = rounds_of(y, ["down", "up"])
    rounds = replace(rounds, splits=[*rounds.splits[:-1], *rounds.table.split(0.25)])
    test, right = rounds.test, np.eye(2)[y]
    own = Candidate("own", BOOSTING, f"{__name__}.Diverges")
    taken = replace(own, scores=right[test], loss=rounds.compute_loss("error", right[test], test))
    model, rows = fit_on_all_rows(rounds, taken, monotonic() + (-FOREVER if late else FOREVER))
    assert rows == (n if again else len(rounds.train))
    assert np.mean(model.predict(rounds.table.X) != rounds.table.labels) < 0.1
    assert list(model.classes_) == ["down", "up"]


def test_final_fit_that_would_exceed_the_deadline_is_not_started(monkeypatch):
    """An average is fitted member after member, which may need more time than its measurement."""
    rounds, fitted = rounds_of(np.random.default_rng(0).standard_normal(100)), []
    monkeypatch.setattr(
        choice, "fit_on_all_rows", lambda _, c, end: (fitted.append(c.family), "", 0)[1:]
    )
    score = np.zeros((len(rounds.held), 1))
    every = {
        family: replace(rounds.add(Candidate(family, family), score + loss), seconds=seconds)
        for loss, (family, seconds) in enumerate(
            [(BLEND, 60.0), (BOOSTING, 20.0), (LINEAR, 99.0), (CONSTANT, 0.0)]
        )
    }
    for left, family in ((70, BLEND), (60, BOOSTING), (20, LINEAR), (-9, LINEAR)):
        rounds.excluded.clear()
        limit = monotonic() + left
        taken, *_ = choice.fit_first_feasible(rounds, every[BLEND], every, limit, limit)
        assert (taken.family, fitted[-1]) == (family, family)
        assert rounds.excluded == {BLEND, BOOSTING} - {family, *[BOOSTING] * (left > 50)}


@pytest.mark.parametrize(
    ("family", "fitted", "seconds", "reason"),
    [
        (CONSTANT, 100, FOREVER, "the model uses no column"),
        (
            LINEAR,
            100,
            -1.0,
            "the time budget was spent before a fit on the training rows alone, which needs 3.3 s",
        ),
        (LINEAR, 100, FOREVER, ""),
        (LINEAR, 75, FOREVER, ""),
    ],
)
def test_importances_use_a_model_of_the_training_rows(family, fitted, seconds, reason):
    rounds = rounds_of(np.random.default_rng(0).standard_normal((100, 2))[:, 0])  # column a
    rounds = replace(rounds, splits=[*rounds.splits[:-1], *rounds.table.split(0.25)])
    own = Candidate("", family, "sklearn.linear_model.LinearRegression", seconds=3.0)
    taken, asked = replace(own, scores=np.zeros((len(rounds.test), 1))), []

    class Fits:
        def fit(self, X, y):
            asked.append(len(X))
            return self

        def predict(self, X):
            return X["a"].to_numpy()

    rounds.make_model = lambda _: Fits()
    facts = choice.explain_selected_model(rounds, taken, Fits(), fitted, monotonic() + seconds)
    assert facts["reason"] == reason
    assert asked == [75] * (fitted == 100 and not reason)
    assert [each["column"] for each in facts["importances"]][:1] == ["a"] * (not reason)
