"""`choose` from a file to an answer, a model and its page, with a search that is over soon."""

import json

import numpy as np
import pandas as pd
import pytest

import rfbench
from rfbench.choosing import choice as choosing
from rfbench.choosing import rounds
from rfbench.choosing.choice import choose
from rfbench.choosing.table import make_labeled_table
from rfbench.errors import ConfigError, DataError
from rfbench.pages.templates import render_template
from tests.choosing.conftest import FOREVER, shortened, towns
from tests.support.command_line import call
from tests.support.nightly import at_night


def text(choice):
    return render_template("choosing/choose.txt.j2", choice=choice.card, folder=choice.folder)


def best(choice, family):
    return next(c for c in choice.card["contenders"] if c["family"] == family)


def changed(choice, **facts):
    return choice._replace(card={**choice.card, **facts})


@pytest.fixture(scope="module")
def chosen(tmp_path_factory):
    """What is chosen where a metric is learnt too."""
    folder = tmp_path_factory.mktemp("choose")
    towns(160).to_csv(folder / "towns.csv", index=False)
    whole = shortened(metrics=["diagonal"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rounds, "CONTENDERS", whole)
        return choose(
            folder / "towns.csv", target="price", budget=FOREVER, out=folder / "out", n_jobs=1
        )


def test_selected_model_is_significantly_better_than_the_constant(chosen):
    assert not chosen.card["nothing_learnt"]
    assert chosen.card["take"]["error"] < 0.4 < best(chosen, rounds.CONSTANT)["error"]
    assert best(chosen, rounds.CONSTANT)["against_taken"]["verdict"] == "worse"
    assert [chosen.card[n] for n in ("n_train", "n_test", "rows")] == [120, 40, 160]
    assert {c["family"] for c in chosen.card["contenders"]} >= {
        "constant",
        "linear",
        "boosting",
        "features",
    }


def test_returned_choice_has_the_fields_of_the_written_model_card(chosen):
    written = json.loads((chosen.folder / "model.json").read_text())
    assert chosen.card.keys() == written.keys() >= {"model_sha256", "half_widths", "reading"}


def test_model_predicts_raw_tables(chosen):
    new = towns(50, seed=1)
    said = chosen.model.predict(new.drop(columns="price"))
    assert np.sqrt(np.mean((said - new["price"]) ** 2)) < 0.5
    other = new.assign(town=["Rom", *new["town"][1:]])
    np.testing.assert_allclose(chosen.model.predict(other)[1:], said[1:], rtol=0, atol=1e-9)
    assert chosen.model[0].find_schema_changes(other).unseen_words == {"town": {"Rom": 1}}


def test_output_reports_number_of_fitted_rows_and_cpu_share(chosen):
    assert "The model file was fitted again on all 160 rows." in text(chosen)
    assert 0 < chosen.card["cpu_share"] < 2
    assert ". Each had 25 % of a core." in text(changed(chosen, cpu_share=0.25))
    dropped = changed(chosen, n_fitted=chosen.card["n_train"])
    written = " ".join(text(dropped).split())
    assert "has the model that was measured, which was fitted on 120 rows." in written
    assert "on all 160 rows" not in written


def test_command_line_chooses_a_model_and_predicts(short, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RFBENCH_CACHE", str(tmp_path / "cache"))
    towns(120).to_csv("towns.csv", index=False)
    options = "--target price --budget 15m --jobs 1 --seed 1 --metric mae --drop b --no-rows"
    said = call("choose", "towns.csv", *options.split())
    assert "SELECTED" in said
    assert "it contains no training rows" in said
    folder = tmp_path / "results" / "choose-towns.csv"
    new = towns(20, seed=1).drop(columns="price").assign(town="Rom")
    new.to_csv("new.csv", index=False)
    said = call("predict", folder / "model.joblib", "new.csv", "--out", "p.csv", "--level", "0.8")
    assert "Rom (20 rows)" in said
    table = pd.read_csv("p.csv")
    assert (table["low"] <= table["prediction"]).all()
    assert (table["prediction"] <= table["high"]).all()


def test_choose_gives_the_same_model_for_a_file_and_arrays(short, tmp_path):
    """Of a file and of rows in memory."""
    table = towns(120)
    table.to_csv(tmp_path / "towns.csv", index=False)
    keys = {"budget": FOREVER, "out": tmp_path, "n_jobs": 1}
    seen = [], []
    once = choose(
        tmp_path / "towns.csv", target="price", on_candidate=lambda c: seen[0].append(c.loss.value),
        **keys,
    )  # fmt: skip
    y = table.pop("price").to_numpy()
    again = rfbench.choose(table, y, on_candidate=lambda c: seen[1].append(c.loss.value), **keys)
    assert again.card["take"]["label"] == once.card["take"]["label"]
    assert again.card["take"]["error"] == pytest.approx(once.card["take"]["error"], rel=1e-6)
    assert seen[1] == pytest.approx(seen[0], rel=1e-6)


def test_first_output_line_names_the_selected_model(chosen):
    first = text(chosen).splitlines()[0]
    assert first.startswith("SELECTED: ")
    assert chosen.card["take"]["label"] in first
    note = "On the validation rows another model was better"
    assert (note in text(chosen)) == chosen.card["overturned"]
    assert note in text(changed(chosen, overturned=True))
    nothing = changed(chosen, nothing_learnt=True, take=best(chosen, rounds.CONSTANT))
    assert text(nothing).startswith("NOTHING WAS LEARNED")


def test_output_shows_each_difference_with_its_confidence_interval(chosen):
    against = {"value": -0.73, "p": 0.5, "low": -1.84, "high": 0.381, "center": -0.71}

    def said(**changes):
        new = {**against, "verdict": "near", **changes}
        every = [{**c, "against_taken": new} for c in chosen.card["contenders"]]
        return " ".join(text(changed(chosen, contenders=every)).split())

    of_mean = "no significant difference (difference -0.73; 95 % interval -1.84 to 0.381, p = 0.5)"
    assert of_mean in said(center=-0.73)
    assert "-0.73; of a typical row -0.71, 95 % interval -1.84 to 0.381, p = 0.5)" in said()
    opposite = said(center=0.1, low=0.02, high=0.381, p=0.01)
    assert "p = 0.01; a few rows determine the sign of the difference)" in opposite


def test_output_states_whether_all_planned_models_were_measured(chosen):
    words = "a larger budget does not change this answer"
    assert not chosen.card["stopped"]
    assert words in text(chosen)
    for fact in ("stopped", "interrupted"):
        assert words not in text(changed(chosen, **{fact: True}))
    assert words not in text(changed(chosen, rows=1000))


def test_output_names_the_majority_class(chosen):
    constant = {**best(chosen, rounds.CONSTANT), "label": "the majority class"}
    rare = changed(
        chosen, nothing_learnt=True, take=constant, classes=["no", "yes"], shares=[0.98, 0.02],
        metric="error",
    )  # fmt: skip
    assert "better than the majority class (no)" in text(rare)


@pytest.mark.parametrize("case", [(1, 0), *at_night((1, 2), (20, 0), (20, 2))], ids=str)
def test_constant_model_is_selected_for_pure_noise(short, tmp_path, case):
    """At most in one of twenty tables, but for luck: so many tables, of so many classes."""
    (tables, classes), learnt = case, 0
    for seed in range(tables):
        random = np.random.default_rng(seed)
        X = random.standard_normal((120, 3))
        y = random.integers(0, classes, 120) if classes else random.standard_normal(120)
        choice = choose(X, y, budget=FOREVER, out=tmp_path / str(seed), seed=seed, n_jobs=1)
        learnt += not choice.card["nothing_learnt"]
        if choice.card["nothing_learnt"]:
            assert choice.card["take"]["family"] == rounds.CONSTANT
    assert learnt <= (3 if tables > 1 else 0)


def test_rare_class_is_learned_if_its_auc_is_high(short, tmp_path):
    """Of 5 % positives the error hardly shows a model whose AUC is .9."""
    random = np.random.default_rng(0)
    X = random.standard_normal((400, 2))
    y = np.where(random.random(400) < 1 / (1 + np.exp(4.5 - 2 * X[:, 0])), "yes", "no")
    choice = choose(X, y, budget=FOREVER, out=tmp_path, n_jobs=1)
    assert min(choice.card["shares"]) < 0.1
    assert not choice.card["nothing_learnt"]
    assert choice.card["take"]["others"]["1 - AUC"] < 0.25
    assert best(choice, rounds.CONSTANT)["others"]["1 - AUC"] == 0.5


def test_text_classes_with_groups_are_learned(short, tmp_path):
    random = np.random.default_rng(0)
    group = np.repeat(np.arange(80), 3)
    X = random.standard_normal((240, 2)) + 0.3 * random.standard_normal((80, 2))[group]
    y = np.where(X[:, 0] + 0.1 * random.standard_normal(240) > 0, "up", "down")
    choice = choose(X, y, groups=group, budget=FOREVER, out=tmp_path, n_jobs=1)
    assert choice.card["grouped"]
    assert choice.card["classes"] == ["down", "up"]
    rows = np.load(tmp_path / "rows.npz")
    assert not set(group[rows["train"]]) & set(group[rows["test"]])
    assert choice.card["take"]["error"] < 20
    shares = choice.model.predict_proba(make_labeled_table(X, y).X)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert np.mean(choice.model.predict(make_labeled_table(X, y).X) != y) < 0.15


def drifting(n=120):
    """A series that goes up: what was seen says little about what comes."""
    random = np.random.default_rng(0)
    table = pd.DataFrame({"when": pd.date_range("2023-01-01", periods=n).strftime("%d.%m.%Y")})
    table["a"] = random.standard_normal(n)
    table["y"] = table["a"] + 0.05 * np.arange(n) + 0.1 * random.standard_normal(n)
    return table.sample(frac=1, random_state=0)


def test_latest_rows_of_the_time_column_are_held_out(short, tmp_path):
    table = drifting()
    table.to_csv(tmp_path / "rows.csv", index=False)
    keys = {"target": "y", "budget": FOREVER, "n_jobs": 1}
    later = choose(tmp_path / "rows.csv", time="when", out=tmp_path / "later", **keys)
    drawn = choose(tmp_path / "rows.csv", out=tmp_path / "drawn", **keys)
    rows = np.load(tmp_path / "later" / "rows.npz")
    when = pd.to_datetime(table["when"], dayfirst=True).to_numpy()
    assert when[rows["train"]].max() < when[rows["test"]].min()
    assert (later.card["in_time"], drawn.card["in_time"]) == (True, False)
    features = [best(choice, rounds.FEATURES)["error"] for choice in (drawn, later)]
    assert features[1] > 2 * features[0]


def line(n=90):
    """Rows of two columns whose target is one of them and noise: learnt in a second."""
    random = np.random.default_rng(0)
    X = random.standard_normal((n, 2))
    return X, X[:, 0] + 0.1 * random.standard_normal(n)


@pytest.mark.parametrize(
    ("keys", "error", "message"),
    [
        ({"time": "town"}, DataError, "neither dates nor numbers"),
        ({"time": "wehn"}, DataError, "no column 'wehn'"),
        ({"time": "when", "groups": "town"}, ConfigError, "were given"),
    ],
)
def test_invalid_time_column_is_rejected(tmp_path, keys, error, message):
    drifting(30).assign(town="Ulm").to_csv(tmp_path / "rows.csv", index=False)
    with pytest.raises(error, match=message):
        choose(tmp_path / "rows.csv", target="y", out=tmp_path / "out", **keys)


@pytest.mark.parametrize("step", ["fit_on_all_rows", *at_night("choose_final_candidate")])
def test_interrupt_during_the_final_fit_leaves_no_stored_rows(short, tmp_path, monkeypatch, step):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(choosing, step, interrupted)
    X, y = line()
    with pytest.raises(KeyboardInterrupt):
        choose(X, y, budget=FOREVER, out=tmp_path, allow_rows=False, n_jobs=1)
    assert not {*tmp_path.rglob("*.npy"), *tmp_path.rglob("*.npz"), *tmp_path.rglob("trials.csv")}


def test_tiny_time_budget_still_gives_a_model(short, tmp_path):
    X, y = line()
    choice = choose(X, y, budget=0.001, out=tmp_path, n_jobs=1)
    assert {c["family"] for c in choice.card["contenders"]} >= {"constant", "linear"}
    assert choice.card["stopped"]
    assert "excluded some contenders" in text(choice)


@pytest.mark.parametrize(
    ("y", "word"),
    [
        (["a"] * 30, "constant"),
        (["a"] * 20 + ["b"], "fewer than two classes"),
    ],
)
def test_constant_or_invalid_target_is_rejected(tmp_path, y, word):
    with pytest.raises(DataError, match=word):
        choose(np.random.default_rng(0).random((len(y), 2)), np.array(y), out=tmp_path)


def test_regression_metric_is_rejected_for_classes(tmp_path):
    with pytest.raises(ConfigError, match="metric of classes 'rmse'"):
        choose(np.random.default_rng(0).random((40, 2)), ["a", "b"] * 20, metric="rmse")


@pytest.mark.parametrize(
    "args",
    [
        ["towns.csv", "--target", "price", "--budget", "soon"],
        ["mine.csv"],
        ["towns.csv", "--target", "price", "--metric", "luck"],
        ["towns.csv", "--target", "town", "--groups", "town"],
        ["towns.csv", "--target", "price", "--time", "price"],
        ["towns.csv", "--target", "price", "--groups", "sex"],
    ],
)
def test_wrong_arguments_exit_with_code_2(args, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    towns(60).assign(sex=["f", "m"] * 30).to_csv("towns.csv", index=False)
    call("choose", *args, code=2)
