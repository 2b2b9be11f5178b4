"""Parts of the search: which rows choose, averages, and metrics that go deeper."""

import numpy as np
import pandas as pd
import pytest
from scipy import optimize
from sklearn.base import clone

from rfbench.choosing import choose, menu, search
from rfbench.choosing.search import LearningProblem, Recipe, Search
from rfbench.errors import ConfigError, DataError
from tests.choosing.conftest import FOREVER
from tests.support.nightly import at_night, nightly


def problem(y, *, X=None, n_classes=0, time=None):
    rows = pd.DataFrame(np.arange(len(y))[:, None] if X is None else X)
    metric = "error" if n_classes else "rmse"
    return LearningProblem(rows, y, n_classes, None, metric, 0, time)


def searched_by(y, X=None, n_classes=0):
    return Search(problem(y, X=X, n_classes=n_classes), deadline=np.inf)


@pytest.mark.parametrize("folds", [1, 3])
def test_later_rows_are_predicted_by_all_earlier_ones(folds):
    random = np.random.default_rng(0)
    time = random.integers(0, 50, 400).astype(float)
    parts = problem(time, time=time).split(0.2, folds=folds)
    assert len(parts) == folds
    held = np.concatenate([part[1] for part in parts])
    assert len(np.unique(held)) == len(held)
    assert len(held) == pytest.approx(folds * 80, abs=20)  # ties stay together
    for fit, later in parts:
        np.testing.assert_array_equal(np.sort(fit), np.flatnonzero(time < time[later].min()))
    assert time[held].max() == time.max()


def test_rows_of_one_time_cannot_be_parted():
    with pytest.raises(ConfigError, match="cannot be parted"):
        problem(np.arange(20.0), time=np.zeros(20)).split(0.25)
    classes = np.repeat([0, 1], [16, 4])
    with pytest.raises(ConfigError, match="one class all come first"):
        problem(classes, n_classes=2, time=np.arange(20.0)).split(0.25)


def drifting(n=300):
    """A series that goes up: what was seen says little about what comes."""
    random = np.random.default_rng(0)
    table = pd.DataFrame({"when": pd.date_range("2023-01-01", periods=n).strftime("%d.%m.%Y")})
    table["a"] = random.standard_normal(n)
    table["y"] = table["a"] + 0.05 * np.arange(n) + 0.1 * random.standard_normal(n)
    return table.sample(frac=1, random_state=0)


def test_time_holds_out_what_comes_last(short, tmp_path):
    table = drifting()
    table.to_csv(tmp_path / "rows.csv", index=False)
    keys = {"target": "y", "budget": FOREVER, "n_jobs": 1}
    later = choose(tmp_path / "rows.csv", time="when", out=tmp_path / "later", **keys)
    drawn = choose(tmp_path / "rows.csv", out=tmp_path / "drawn", **keys)
    rows = np.load(tmp_path / "later" / "rows.npz")
    when = pd.to_datetime(table["when"], dayfirst=True).to_numpy()
    assert when[rows["train"]].max() < when[rows["test"]].min()
    features = [choice.contender(search.FEATURES).error for choice in (drawn, later)]
    assert features[1] > 2 * features[0]


@pytest.mark.parametrize(
    ("keys", "error", "message"),
    [
        ({"time": "town"}, DataError, "neither dates nor numbers"),
        ({"time": "wehn"}, DataError, "no column 'wehn'"),
        ({"time": "when", "groups": "town"}, ConfigError, "both given"),
    ],
)
def test_what_is_no_time_is_refused(tmp_path, keys, error, message):
    drifting(30).assign(town="Ulm").to_csv(tmp_path / "rows.csv", index=False)
    with pytest.raises(error, match=message):
        choose(tmp_path / "rows.csv", target="y", out=tmp_path / "out", **keys)


def test_weights_of_an_average_are_the_best_that_add_up_to_one():
    """A model that hardly varies takes no weight away, whatever weight alone would be best."""
    random = np.random.default_rng(0)
    y = random.standard_normal(3000)
    by = searched_by(y)
    truth = by.truth
    noise = random.standard_normal((2, len(truth)))
    scores = [truth + 0.4 * noise[0], truth + 0.5 * noise[1], 1e-3 * truth]
    members = [by.add("", search.FEATURES, each[:, None], estimator=None) for each in scores]
    by._average(members, search.BLEND, "blend of")
    (average,) = (c for c in by.candidates if c.members)

    def error(weights):
        return np.sqrt(np.mean((np.stack(scores, axis=1) @ weights - truth) ** 2))

    best = optimize.minimize(
        error,
        np.full(3, 1 / 3),
        bounds=[(0, 1)] * 3,
        constraints={"type": "eq", "fun": lambda w: w.sum() - 1},
    )
    weights = [dict(average.members).get(member, 0.0) for member in members]
    assert error(weights) == pytest.approx(best.fun, rel=1e-3)
    assert best.fun < average.loss.value < 1.02 * best.fun
    assert average.loss.value < min(member.loss.value for member in members)


@pytest.mark.parametrize("tables", [40, *at_night(150)])
def test_an_average_is_judged_on_rows_that_its_weights_were_not_fitted_on(tables):
    """Six models of noise: what the average says of itself is not better than on new rows."""
    random = np.random.default_rng(0)
    gaps = []
    for _ in range(tables):
        by = searched_by(random.standard_normal(60))
        n = len(by.truth)
        members = [
            by.add("", search.FEATURES, random.standard_normal((n, 1)), estimator=None)
            for _ in range(6)
        ]
        by._average(members, search.BLEND, "blend of")
        for average in (c for c in by.candidates if c.members):
            weights = [weight for _, weight in average.members]
            new = random.standard_normal((5000, len(weights))) @ weights
            gaps.append(np.sqrt(np.mean((new - random.standard_normal(5000)) ** 2)))
            gaps[-1] -= average.loss.value
    assert len(gaps) > tables / 2
    assert np.mean(gaps) < 3 * np.std(gaps, ddof=1) / np.sqrt(len(gaps))


@pytest.mark.parametrize(("M", "losses"), [(10, (3.1 / 3, 0.95)), (160, (0.9, 0.95))])
def test_no_lucky_draw_decides_between_close_candidates(M, losses):
    """The best of the first draws is the worse one of three; of all rows there is one draw."""
    by = searched_by(np.random.default_rng(0).standard_normal(200))
    truth, recipes = by.truth, [Recipe(scaling, "gaussian", 1.0) for scaling in ("rank", "robust")]
    errors = dict(zip(recipes, [(0.9, 1.1, 1.1), (0.95, 0.95, 0.95)], strict=True))

    def kernel(recipe, M, rows, draw=0):
        scores = truth + errors[recipe][draw] * (-1.0) ** np.arange(len(truth))
        return by._judged(recipe.scaling, search.FEATURES, scores[:, None], estimator=None, M=M)

    by.kernel = kernel
    by._draw_again({recipe: by._added(kernel(recipe, M, 160)) for recipe in recipes})
    assert [c.loss.value for c in by.candidates] == pytest.approx(losses)
    best = by.best_of_families()[search.FEATURES]
    assert best.label == ("robust" if M == 10 else "rank")


def test_members_that_say_the_same_and_single_rows_make_no_average():
    by = searched_by(np.zeros(60))
    for scores in (by.truth, np.ones(60)):
        members = [by.add("", search.FEATURES, scores[:, None], estimator=None) for _ in "ab"]
        by._average(members, search.BLEND, "blend of")
    assert all(np.isfinite(c.loss.value) for c in by.candidates)
    late = np.r_[np.zeros(6), 1.0]
    one = Search(problem(np.r_[[0] * 5, 1, 1], n_classes=2, time=late), deadline=np.inf)
    assert len(one.truth) == 1
    scores = np.array([[0.4, 0.6]])
    members = [one.add("", search.FEATURES, scores, estimator=None) for _ in "ab"]
    one._average(members, search.BLEND, "blend of")
    assert not [c for c in one.candidates if c.members]


def test_the_auc_ranks_rows_of_one_fold():
    """A constant differs from fold to fold, and orders no rows of any of them."""
    groups = np.repeat(np.arange(12), 25)
    y = (np.random.default_rng(0).random(300) < groups / 12).astype(np.int64)
    rows = pd.DataFrame(np.random.default_rng(1).standard_normal((300, 2)))
    by = Search(LearningProblem(rows, y, 2, groups, "auc", 0), deadline=np.inf)
    by.simple()
    constant = by.candidates[0]
    assert len(by.splits) == 3
    assert len(np.unique(constant.scores[:, 1])) == 3
    assert constant.loss.value == 0.5


@pytest.mark.parametrize(
    ("losses", "with_metric"),
    [
        ({"laplacian": (1.0, 0.9), "gaussian": (1.05, 0.8), "laplacian-l2": (1.2, 0.1)},
         ["laplacian", "gaussian"]),
        ({"laplacian": (1.05, 0.8), "gaussian": (1.0, 0.999), "laplacian-l2": (1.01, 0.1)},
         ["gaussian"]),
    ],
    ids=["near ones", "while it gains"],
)  # fmt: skip
def test_metrics_are_learnt_for_kernels_near_the_best_while_they_gain(losses, with_metric):
    kernels = {"kernels": dict.fromkeys(losses, (0.5, 1.0, 0.25)), "scalings": ["rank", "robust"]}
    own = menu.shipped().model_copy(update=kernels | {"metrics": ["diagonal", "full"]})
    y = np.random.default_rng(0).standard_normal(200)
    by = Search(problem(y), deadline=np.inf, menu=own)

    def kernel(recipe, M, rows, draw=0):
        error = losses[recipe.kernel][recipe.metric is not None] + (recipe.scaling == "rank")
        scores = by.truth + error * (-1.0) ** np.arange(len(by.truth))
        return by._judged("", search.FEATURES, scores[:, None], estimator=None, M=M)

    by.kernel = kernel
    results = by._compare_small()
    by._compare_metrics(results)
    tried = [recipe for recipe in results if recipe.metric is not None]
    assert list(dict.fromkeys(recipe.kernel for recipe in tried)) == with_metric
    assert {recipe.metric for recipe in tried} == set(by.menu.metrics)
    assert not by.stopped


@pytest.mark.parametrize(("n", "columns"), [(500, 8), pytest.param(4500, 30, marks=nightly)])
def test_a_metric_is_learnt_in_as_many_rounds_as_gain(n, columns):
    """Two of many columns count, which the first rounds hardly see; of noise they end early."""
    random = np.random.default_rng(0)
    X = random.standard_normal((n, columns))
    y = np.sin(2 * X[:, 0]) * X[:, 1]
    own = menu.shipped().model_copy(
        update={
            "kernels": {"gaussian": (0.5, 1.0, 0.25)},
            "scalings": ["robust"],
            "metrics": ["diagonal"],
        }
    )
    by = Search(problem(y, X=X), deadline=np.inf, menu=own)
    results = by._compare_small()
    plain = min(c.loss.value for c in results.values())
    by._compare_metrics(results)
    by._finer(results)
    best = min(results.values(), key=lambda c: c.loss.value)
    assert best.loss.value < 0.4 * plain
    metric = clone(best.estimator[1])
    assert {recipe.metric_landmarks for recipe in results} == set(search.METRIC_LANDMARKS)
    assert len(metric.fit(X, y).losses_) > 3
    assert len(metric.fit(X, random.standard_normal(n)).losses_) < 7
