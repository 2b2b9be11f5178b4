"""`choose` from a file to an answer, a model and its page, with a search that is over soon."""

import io
import pickle
import time
from contextlib import redirect_stdout
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.datasets import load_wine
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

import rfbench
from rfbench import choosing
from rfbench.choosing import choose, measured, menu, search
from rfbench.choosing.judging import Judged
from rfbench.choosing.losses import Difference
from rfbench.choosing.table import table_of
from rfbench.errors import ConfigError, DataError, MemoryLimit
from rfbench.pages.templates import render
from tests.choosing.conftest import FOREVER, shortened, towns
from tests.support.command_line import call
from tests.support.nightly import at_night


def text(choice):
    return render("choosing/choose.txt.j2", choice=choice)


@pytest.fixture(scope="module")
def chosen(tmp_path_factory):
    """What is chosen where a metric is learnt and frequencies are trained too."""
    folder = tmp_path_factory.mktemp("choose")
    towns(300).to_csv(folder / "towns.csv", index=False)
    whole = shortened(metrics=["diagonal"], trained=20)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(menu, "shipped", lambda: whole)
        return choose(
            folder / "towns.csv", target="price", budget=FOREVER, out=folder / "out", n_jobs=1
        )


def test_the_model_is_far_better_than_the_constant_and_said_so(chosen):
    assert not chosen.nothing_learnt
    assert chosen.taken.error < 0.4 < chosen.contender(search.CONSTANT).error
    assert chosen.taken.against_constant.verdict == "better"
    assert (chosen.n_train, chosen.n_test, chosen.rows) == (225, 75, 300)
    assert {c.family for c in chosen.contenders} >= {"constant", "linear", "boosting", "features"}


def test_what_is_taken_is_the_simplest_of_the_best_or_significantly_better(chosen):
    best = chosen.tried.groupby("family")["loss"].min()
    if chosen.overturned:
        others = [c for c in chosen.contenders if c is not chosen.taken]
        assert any(c.against_taken.verdict == "worse" for c in others)
    else:
        assert best[chosen.taken.family] <= 1.01 * best.min()


def test_the_model_predicts_tables_as_they_come(chosen):
    new = towns(50, seed=1)
    said = chosen.model.predict(new.drop(columns="price"))
    assert np.sqrt(np.mean((said - new["price"]) ** 2)) < 0.5
    changed = new.assign(town=["Rom", *new["town"][1:]])
    np.testing.assert_allclose(chosen.model.predict(changed)[1:], said[1:], rtol=0, atol=1e-9)
    assert chosen.model.differences(changed).unseen_words == {"town": {"Rom": 1}}


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
    ("n", "late", "fitted"), [(100, False, 75), (80, False, 80), (80, True, 60)]
)
def test_a_last_fit_that_goes_wrong_or_has_no_time_is_not_taken(n, late, fitted, monkeypatch):
    """The model that was measured is kept then, and fitted no more."""
    X = np.random.default_rng(0).standard_normal((n, 2))
    table = table_of(X, np.where(X[:, 0] > 0, "up", "down"))
    problem = search.LearningProblem(table.X, table.target, 2, None, "error", 0)
    ((train, test),) = problem.split(0.25)
    tried = search.Search(problem.take(train), time.monotonic() + FOREVER)
    taken = tried.fit("diverges", search.BOOSTING, Diverges())
    judged = Judged(tried, problem, train, test)
    tried.deadline -= 2 * FOREVER * late
    rows_of_fits, fit = [], Diverges.fit
    monkeypatch.setattr(Diverges, "fit", lambda *a: rows_of_fits.append(len(a[2])) or fit(*a))
    model, rows = judged.final(taken, table)
    assert rows == fitted
    assert rows_of_fits == ([] if late else [n])
    assert np.mean(model.predict(table.X) != table.y) < 0.1
    assert list(model.classes_) == ["down", "up"]


def as_measured(X, y, **keys):
    """Return a search's facts, and the models that were measured, kept for want of time."""
    table = table_of(X, y)
    n_classes = len(table.classes)
    problem = search.LearningProblem(table.X, table.target, n_classes, None, **keys)
    ((train, test),) = problem.split(0.25)
    tried = search.Search(problem.take(train), time.monotonic() + FOREVER, log=not n_classes)
    tried.simple()
    recipe = search.Recipe("robust", "gaussian", 1.0)
    members = [tried._added(tried.kernel(recipe, 20, 1000)), tried.candidates[1]]
    tried._average(members, search.BLEND, "blend of")
    judged = Judged(tried, problem, train, test)
    tried.deadline = 0.0
    kept = {family: judged.final(c, table) for family, c in judged.contenders.items()}
    assert {rows for _, rows in kept.values()} == {len(train)}
    return judged, table, test, {family: model for family, (model, _) in kept.items()}


def test_what_is_kept_says_what_was_measured():
    families, X = set(), np.random.default_rng(0).standard_normal((400, 3))
    signal = 3 * X[:, 0] + 2 * np.sin(3 * X[:, 1])
    noisy = signal + 3 * np.random.default_rng(1).standard_normal(400)
    words = np.array(["a", "b", "c"])[np.digitize(noisy, [-1, 1])]
    for y, metric in (
        (words, "error"),
        (words, "balanced-error"),
        (np.where(words == "c", "a", words), "balanced-error"),
        (np.exp(signal), "rmse"),
    ):
        judged, table, test, kept = as_measured(X, y, metric=metric, seed=1)
        families |= {(table.regression, family) for family in kept}
        for family, model in kept.items():
            said = model.predict(table.X.iloc[test])
            expected = judged.predicted[family].values
            if table.regression:
                np.testing.assert_allclose(said, expected, rtol=1e-12)
            else:
                assert list(said) == [table.classes[code] for code in expected]
                np.testing.assert_allclose(
                    model.predict_proba(table.X.iloc[test]),
                    judged.predicted[family].probabilities,
                    rtol=1e-12,
                )
            loaded = pickle.loads(pickle.dumps(model))
            assert list(loaded.predict(table.X.iloc[test])) == list(said)
    assert len(families) == 8


def test_the_page_says_which_rows_the_model_was_fitted_on(chosen):
    assert "The model file was fitted again on all 300 rows." in text(chosen)
    dropped = replace(chosen, card=chosen.card.model_copy(update={"rows": chosen.n_train}))
    written = " ".join(text(dropped).split())
    assert "the one that was measured, of 225 rows." in written
    assert "on all 300 rows" not in written


def test_the_code_prints_the_error_of_the_page(chosen):
    # Trained frequencies depend on the number of threads, from the ninth digit on.
    with redirect_stdout(io.StringIO()) as printed, threadpool_limits(1):
        exec(chosen.code, {})
    assert float(printed.getvalue()) == pytest.approx(chosen.taken.error, rel=1e-9)
    assert f"{chosen.taken.error:.4g}" in text(chosen)


def test_from_a_file_to_predictions_on_the_command_line(short, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RFBENCH_CACHE", str(tmp_path / "cache"))
    towns(120).to_csv("towns.csv", index=False)
    options = "--target price --budget 15m --jobs 1 --seed 1 --metric mae --drop b --no-rows"
    said = call("choose", "towns.csv", *options.split(), "--largest-model", "2MB")
    assert "TAKE" in said
    assert "it holds no training rows" in said
    folder = tmp_path / "results" / "choose-towns.csv"
    new = towns(20, seed=1).drop(columns="price").assign(town="Rom")
    new.to_csv("new.csv", index=False)
    said = call("predict", folder / "model.joblib", "new.csv", "--out", "p.csv", "--level", "0.8")
    assert "Rom (20 rows)" in said
    table = pd.read_csv("p.csv")
    assert (table["low"] <= table["prediction"]).all()
    assert (table["prediction"] <= table["high"]).all()


def test_the_same_fits_and_seed_give_the_same_answer(short, tmp_path):
    """Of a file and of rows in memory."""
    table = towns(120)
    table.to_csv(tmp_path / "towns.csv", index=False)
    keys = {"budget": FOREVER, "out": tmp_path, "n_jobs": 1}
    once = choose(tmp_path / "towns.csv", target="price", **keys)
    y = table.pop("price").to_numpy()
    again = rfbench.choose(table, y, **keys)
    assert again.taken.label == once.taken.label
    assert again.taken.error == pytest.approx(once.taken.error, rel=1e-6)
    assert again.tried["loss"].tolist() == pytest.approx(once.tried["loss"].tolist(), rel=1e-6)


def test_the_first_line_says_what_to_take(chosen):
    first = text(chosen).splitlines()[0]
    assert first.startswith("TAKE ")
    assert chosen.taken.label in first
    nothing = replace(chosen, nothing_learnt=True, taken=chosen.contender(search.CONSTANT))
    assert text(nothing).startswith("NOTHING WAS LEARNT")


def test_a_difference_has_the_sign_of_its_interval(chosen):
    def said(value, low, high):
        against = Difference(value, low, high, 0.03 if low * high > 0 else 0.5)
        taken, *others = sorted(chosen.contenders, key=lambda c: c.family != chosen.taken.family)
        others = [replace(c, against_taken=against) for c in others]
        return " ".join(text(replace(chosen, contenders=(taken, *others))).split())

    near = said(-0.73, -1.84, 0.381)
    assert "cannot be told apart (difference -0.73, 95 % interval -1.84 to 0.381" in near
    assert "better on these rows (difference 0.73, 95 % interval 0.2 to 1" in said(-0.73, -1, -0.2)


def test_a_model_that_says_one_class_for_all_rows_is_named(short, tmp_path):
    random = np.random.default_rng(0)
    X = random.standard_normal((600, 2))
    y = np.where(random.random(600) < 1 / (1 + np.exp(4.5 - 2 * X[:, 0])), "yes", "no")
    choice = choose(X, y, budget=FOREVER, out=tmp_path, n_jobs=1)
    rows = np.load(tmp_path / "rows.npz")
    model = choice.others[choice.taken.family].fit(X[rows["train"]], y[rows["train"]])
    said = set(model.predict(X[rows["test"]]))
    assert choice.only_class == ("no" if said == {"no"} else "")
    line = "saying no for every one of them"
    assert line in text(replace(choice, only_class="no"))
    assert line not in text(replace(choice, only_class=""))


def test_the_largest_class_is_named(chosen):
    constant = replace(chosen.contender(search.CONSTANT), label="the largest class")
    rare = replace(
        chosen, nothing_learnt=True, taken=constant, classes=("no", "yes"), shares=(0.98, 0.02),
        metric="error", rare=True, learnt_by=("auc",),
    )  # fmt: skip
    assert "always saying no, the largest class" in text(rare)
    assert "--metric auc" in text(rare)
    assert "less than a tenth" in text(rare)


def test_features_that_are_smaller_are_named(chosen):
    features = replace(chosen.contender("features"), n_bytes=10, predict_seconds=1.0)
    boosting = replace(chosen.contender("boosting"), n_bytes=50, predict_seconds=1.0)
    worse = replace(features, against_taken=Difference(1.0, 0.5, 1.5, 0.001))
    constant = chosen.contender("constant")
    said = text(replace(chosen, taken=boosting, contenders=(constant, boosting, worse)))
    assert "5 times smaller" in said
    assert "significantly worse" in said


@pytest.mark.parametrize("classes", [0, 2])
@pytest.mark.parametrize("tables", [1, *at_night(20)])
def test_of_pure_noise_nothing_is_learnt(short, tmp_path, tables, classes):
    """At most in one of twenty tables, but for luck."""
    learnt = 0
    for seed in range(tables):
        random = np.random.default_rng(seed)
        X = random.standard_normal((120, 3))
        y = random.integers(0, classes, 120) if classes else random.standard_normal(120)
        choice = choose(X, y, budget=FOREVER, out=tmp_path / str(seed), seed=seed, n_jobs=1)
        learnt += not choice.nothing_learnt
        if choice.nothing_learnt:
            assert choice.taken.family == search.CONSTANT
    assert learnt <= (3 if tables > 1 else 0)


def test_a_rare_class_is_learnt_where_the_order_of_the_rows_shows_it(short, tmp_path):
    """Of 5 % positives the error hardly shows a model whose AUC is .9."""
    random = np.random.default_rng(0)
    X = random.standard_normal((600, 2))
    y = np.where(random.random(600) < 1 / (1 + np.exp(4.5 - 2 * X[:, 0])), "yes", "no")
    choice = choose(X, y, budget=FOREVER, out=tmp_path, n_jobs=1)
    assert choice.rare
    assert not choice.nothing_learnt
    assert choice.taken.others["auc"] < 0.25
    assert choice.contender(search.CONSTANT).others["auc"] == 0.5


def test_classes_in_words_by_groups(short, tmp_path):
    random = np.random.default_rng(0)
    group = np.repeat(np.arange(80), 3)
    X = random.standard_normal((240, 2)) + 0.3 * random.standard_normal((80, 2))[group]
    y = np.where(X[:, 0] + 0.1 * random.standard_normal(240) > 0, "up", "down")
    choice = choose(X, y, groups=group, budget=FOREVER, out=tmp_path, n_jobs=1)
    assert choice.grouped
    assert choice.classes == ("down", "up")
    rows = np.load(tmp_path / "rows.npz")
    assert not set(group[rows["train"]]) & set(group[rows["test"]])
    assert choice.taken.error < 20
    shares = choice.model.predict_proba(choosing.table_of(X, y).X)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert measured("error", choice.model, choosing.table_of(X, y).X, y) < 15


def test_a_target_over_decades_is_learnt_as_its_logarithm(short, tmp_path):
    random = np.random.default_rng(0)
    X = random.standard_normal((200, 2))
    y = np.exp(4 * X[:, 0] + 0.1 * random.standard_normal(200))
    choice = choose(X, y, metric="rmsle", budget=FOREVER, out=tmp_path, n_jobs=1)
    assert choice.log_tried
    assert choice.log_target
    rows = choosing.table_of(X, y).X
    bounds = choice.model.predict_interval(rows, 0.9)
    np.testing.assert_allclose(np.sqrt(bounds.prod(axis=1)), choice.model.predict(rows))
    assert np.ptp(bounds[:, 1] / bounds[:, 0]) == pytest.approx(0, abs=1e-9)


def test_no_rows_and_small_models(short, tmp_path):
    X, y = load_wine(return_X_y=True)
    free = choose(X, y, budget=FOREVER, out=tmp_path / "free", allow_rows=False, n_jobs=1)
    assert not any(c.holds_rows for c in free.contenders)
    assert not free.card.holds_rows
    small = choose(X, y, budget=FOREVER, out=tmp_path / "small", largest_model=30_000, n_jobs=1)
    assert all(c.n_bytes <= 30_000 for c in small.contenders)
    assert len(pickle.dumps(small.model)) <= 30_000
    assert all(n > 30_000 for n in small.too_large.values())
    assert "boosting" in small.too_large
    said = " ".join(text(small).split()).partition("Left out, as larger than 30 kB: ")[2]
    assert "boosting (" in said.partition(").")[0] + "("
    assert "Left out" not in text(free)
    assert "Models that hold training rows were not tried." in text(free)


class Grows(RegressorMixin, BaseEstimator):
    """The mean, and 1,000 bytes per row that it was fitted on."""

    def fit(self, X, y):
        self.mean_, self.rows_, self.ballast_ = y.mean(), len(y), bytes(1000 * len(y))
        return self

    def predict(self, X):
        return np.full(len(X), self.mean_)


@pytest.mark.parametrize(("largest", "fitted"), [(110e3, 100), (90e3, 75), (70e3, None)])
def test_the_largest_model_bounds_the_one_that_is_written(largest, fitted):
    """Fits on folds have 50 kB, on the rows that chose 75 kB, on all rows 100 kB."""
    X = np.random.default_rng(0).standard_normal((100, 2))
    table = table_of(X, X[:, 0])
    problem = search.LearningProblem(table.X, table.target, 0, None, "rmse", 0)
    ((train, test),) = problem.split(0.25)
    tried = search.Search(problem.take(train), time.monotonic() + FOREVER, largest=largest)
    taken = tried.fit("grows", search.BOOSTING, Grows())
    judged = Judged(tried, problem, train, test)
    if fitted is None:
        assert not judged.contenders
        assert 75e3 < judged.too_large["grows"] < 80e3
        return
    assert not judged.too_large
    model, rows = judged.final(taken, table)
    assert rows == model[-1].rows_ == fitted


def test_without_time_there_is_an_answer(tmp_path):
    X, y = load_wine(return_X_y=True)
    choice = choose(X, y, budget=0.001, out=tmp_path, n_jobs=1)
    assert {c.family for c in choice.contenders} >= {"constant", "linear"}
    assert choice.stopped == "boosting"
    assert "budget cut off" in text(choice)


@pytest.mark.parametrize(
    ("y", "word"),
    [
        (["a", "b"] * 4, "8 in the rows"),
        (["a"] * 30, "constant"),
        (["a"] * 20 + ["b"], "fewer than two classes"),
    ],
)
def test_what_cannot_be_learnt_from_is_refused(y, word):
    with pytest.raises(DataError, match=word):
        choosing.table_of(np.random.default_rng(0).random((len(y), 2)), np.array(y))


def test_a_table_beyond_the_memory_is_refused_before_the_search(tmp_path):
    towns(300).to_csv(tmp_path / "towns.csv", index=False)
    with pytest.raises(MemoryLimit, match=r"300 rows of 4 columns") as error:
        choose(tmp_path / "towns.csv", target="price", memory=1e6, out=tmp_path / "out")
    assert "Free now are 0 GiB" in str(error.value)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("classes", [False, True])
def test_a_model_smaller_than_a_constant_is_refused(tmp_path, classes):
    table = towns(40)
    y = table.pop("price").to_numpy()
    with pytest.raises(ConfigError, match="as small as 9 bytes"):
        choose(table, y > 0 if classes else y, largest_model=9, out=tmp_path)


def test_a_metric_of_the_other_kind_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="metric of classes 'rmse'"):
        choose(np.random.default_rng(0).random((40, 2)), ["a", "b"] * 20, metric="rmse")


@pytest.mark.parametrize(
    "args",
    [
        ["digits", "--budget", "soon"],
        ["mine.csv"],
        ["digit"],
        ["digits", "--drop", "a"],
        ["digits", "--largest-model", "big"],
        ["digits", "--memory", "much"],
        ["digits", "--metric", "luck"],
        ["towns.csv", "--target", "town", "--groups", "town"],
        ["towns.csv", "--target", "price", "--time", "price"],
        ["towns.csv", "--target", "price", "--groups", "sex"],
    ],
)
def test_wrong_arguments_are_exit_code_2(args, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    towns(60).assign(sex=["f", "m"] * 30).to_csv("towns.csv", index=False)
    call("choose", *args, code=2)
