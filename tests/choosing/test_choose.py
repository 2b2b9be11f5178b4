"""The whole of `choose`, on digits with one size only."""

import io
import json
from contextlib import redirect_stdout

import numpy as np
import pytest
from scipy import sparse

from rfbench import choosing, datasets, results
from rfbench.choosing import LOGISTIC, Contender, choose_for, stages
from rfbench.errors import ConfigError, DataError
from rfbench.pages import summary_table
from rfbench.pages.templates import render
from tests.support.command_line import call


@pytest.fixture(scope="module")
def chosen(tmp_path_factory):
    """A choice, and the rows that the runner was told of."""
    told = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stages, "LARGEST_SIZE", 50)
        patch.setattr(stages, "METHODS", {n: stages.METHODS[n] for n in ("rks", "nystroem")})
        patch.setattr(choosing, "DRAWS", 2)
        folder = tmp_path_factory.mktemp("choose") / "digits"
        first = choose_for("digits", budget=900.0, n_jobs=1, out=folder)
        again = choose_for("digits", budget=900.0, n_jobs=1, out=folder, on_row=told.append)
    return first, again, told


def test_the_code_gives_the_error_that_is_in_the_rows(chosen):
    choice, _, _ = chosen
    with redirect_stdout(io.StringIO()) as printed:
        exec(choice.code, {})
    rows = results.read(choice.folder).rows
    one = rows[(rows["variant"] == "phase=check") & (rows["label"] == choice.features.label)]
    error = one.loc[one["trial"] == 0, "error"].iloc[0]
    assert float(printed.getvalue()) == pytest.approx(error)
    data = datasets.load("digits")
    test = np.load(choice.folder / "rows.npz")["test"]
    wrong = choice.pipeline.predict(data.X[test]) != data.y[test]
    assert 100 * np.mean(wrong) == pytest.approx(error)
    assert len(choice.code.strip().splitlines()) <= 10


def test_what_is_chosen_has_the_smallest_loss_and_is_measured_on_other_rows(chosen):
    choice, _, _ = chosen
    rows = results.read(choice.folder).rows
    searched = rows[(rows["variant"] == "phase=search") & rows["label"].isin(["rks", "nystroem"])]
    best = searched.loc[searched["selection_loss"].idxmin()]
    assert choice.features.label == best["label"]
    assert choice.alpha == pytest.approx(best["alpha"], rel=1e-3)
    assert choice.bandwidth == pytest.approx(best["bandwidth"], rel=1e-3)
    kept = np.load(choice.folder / "rows.npz")
    assert not set(kept["train"]) & set(kept["test"])
    assert len(kept["train"]) + len(kept["test"]) == choice.rows == 1797
    check = rows[(rows["variant"] == "phase=check") & (rows["label"] == best["label"])]
    assert choice.features.error == pytest.approx(check["error"].mean())
    assert choice.features.deviation == pytest.approx(np.std(check["error"], ddof=1))
    assert set(check["n_test"]) == {len(kept["test"])}
    assert set(check["selection"]) == {"fixed"}


def test_the_same_command_finds_everything_done(chosen):
    first, again, told = chosen
    assert told == []
    assert (again.features, again.code) == (first.features, first.code)
    manifest = json.loads((first.folder / "manifest.json").read_text())
    assert len(manifest["trials"]) == len(results.read(first.folder).rows)
    assert "nystroem" in summary_table.render(results.read(first.folder), "text")


def test_the_linear_model_is_that_of_scikit_learn_on_the_same_rows(chosen):
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    choice, _, _ = chosen
    rows = results.read(choice.folder).rows
    row = rows[rows["label"] == LOGISTIC].iloc[0]
    kept, data = np.load(choice.folder / "rows.npz"), datasets.load("digits")
    model = make_pipeline(
        StandardScaler(), LogisticRegression(C=1 / row["alpha"], tol=1e-8, max_iter=2000)
    ).fit(data.X[kept["train"]], data.y[kept["train"]])
    error = 100 * np.mean(model.predict(data.X[kept["test"]]) != data.y[kept["test"]])
    assert choice.linear.error == pytest.approx(error, abs=100 / len(kept["test"]) + 1e-9)


def test_the_page_says_who_wins_and_how_it_was_chosen(chosen):
    choice, _, _ = chosen
    text = said(choice)
    for fact in (choice.features.label, f"{choice.bandwidth:g}", "449", "1348", choice.code):
        assert fact in text
    assert "take that, not random features" in said(
        choice, against=lambda other: "worse" if other is choice.boosting else "better"
    )
    assert "SAMPLE" not in text
    assert "SAMPLE" in said(choice, sampled=True)
    absent = Contender(LOGISTIC, 0, np.nan, np.nan, 0, np.nan, np.nan, "no memory")
    assert "no memory" in said(choice, linear=absent)


def said(choice, **other):
    facts = {name: getattr(choice, name) for name in choice.__dataclass_fields__}
    facts |= {"against": choice.against, "sampled": choice.sampled}
    return render("choose.txt.j2", **(facts | other))


def test_a_difference_within_its_error_is_too_near_to_call(chosen):
    from dataclasses import replace

    choice, _, _ = chosen
    mine = Contender("nystroem", 50, 5.0, 0.5, 5, 1.0, 1.0)
    real = replace(choice, metric="rmse", features=mine, rows_error=0.0)
    error = 0.5 / np.sqrt(5)
    for other, found in ((2.1, "better"), (1.9, "near"), (-1.9, "near"), (-2.1, "worse")):
        one = Contender(LOGISTIC, 3, 5.0 + other * error, np.nan, 1, 1.0, 1.0)
        assert real.against(one) == found
    # One standard error of both, from the rows: 0.3 and 0.36 make 0.47.
    rows = replace(real, features=replace(mine, deviation=0.0), rows_error=0.3)
    for other, found in ((5.9, "near"), (6.0, "better")):
        assert rows.against(Contender(LOGISTIC, 3, other, np.nan, 1, 1.0, 1.0)) == found
    labels = replace(choice, metric="error", features=replace(mine, deviation=0.0), n_test=400)
    # Of 400 rows 20 are wrong, and 40: at most 60 differ, so the difference is 20 with an error of
    # the root of 60 at most; with 38 it is 18 with one of the root of 58.
    assert labels.against(Contender(LOGISTIC, 3, 10.0, np.nan, 1, 1.0, 1.0)) == "better"
    assert labels.against(Contender(LOGISTIC, 3, 8.0, np.nan, 1, 1.0, 1.0)) == "near"
    gone = Contender(LOGISTIC, 0, np.nan, np.nan, 0, np.nan, np.nan, "no memory")
    assert real.against(gone) == "near"


@pytest.mark.parametrize(
    ("n", "budget", "expected"),
    [
        (20, 60, (15, 5)),
        (1797, 60, (1348, 449)),
        (300_000, 60, (18_000, 10_000)),
        (300_000, 1, (2_000, 10_000)),
        (300_000, 3600, (50_000, 10_000)),
    ],
)
def test_how_many_rows_a_budget_allows(n, budget, expected):
    assert choosing.sizes(n, budget) == expected


def made(y, task):
    y = np.asarray(y)
    classes = () if task == "regression" else tuple(f"c{code}" for code in np.unique(y))
    return datasets.Dataset("own", np.ones((len(y), 2)), y, task, classes, None, None, "0")


@pytest.mark.parametrize(
    ("y", "task", "word"),
    [
        ([0, 1] * 4, "binary", "8 rows"),
        ([2.0] * 30, "regression", "constant"),
        ([0] * 30, "binary", "constant"),
        ([0] * 20 + [1] * 20 + [2], "multiclass", "c2"),
    ],
)
def test_what_cannot_be_chosen_from_is_refused(y, task, word):
    with pytest.raises(DataError, match=word):
        choosing.check(made(y, task))


def test_twenty_rows_are_enough():
    choosing.check(made([0, 1] * 10, "binary"))


def test_a_budget_for_not_one_fit_is_refused_and_says_what_would_do(tmp_path):
    with pytest.raises(ConfigError, match="not one fit") as caught:
        choose_for("digits", budget=1e-3, n_jobs=1, out=tmp_path / "digits")
    assert "--budget" in caught.value.todo


def test_the_error_of_the_rows_is_that_of_drawing_them_again():
    generator = np.random.default_rng(0)
    truth = generator.standard_normal(400)
    predicted = truth + generator.laplace(size=400) * np.where(truth > 0, 2.0, 0.5)
    wrong = (predicted > 0) != (truth > 0)
    draws = generator.integers(400, size=(2000, 400))
    root = np.sqrt(np.mean((predicted - truth)[draws] ** 2, axis=1))
    error, mean = choosing._errors(predicted, truth, "rmse")
    assert error == pytest.approx(root.std(), rel=0.1)
    assert mean == pytest.approx(np.sqrt(np.mean((predicted - truth) ** 2)))
    error, mean = choosing._errors(predicted > 0, truth > 0, "error")
    assert error == pytest.approx(100 * wrong[draws].mean(axis=1).std(), rel=0.1)
    assert mean == pytest.approx(100 * wrong.mean())


@pytest.mark.parametrize(
    "words", [["digits", "--budget", "soon"], ["mine.csv"], ["digit"], ["digits", "--drop", "a"]]
)
def test_wrong_words_are_exit_code_2(words):
    call("choose", *words, code=2)


def test_sparse_rows_in_memory_come_through(tmp_path, monkeypatch):
    monkeypatch.setattr(choosing, "choose_for", lambda spec, **words: spec)
    X = sparse.random(30, 6, 0.5, format="csr", random_state=0)
    spec = choosing.choose(X, np.repeat(["no", "yes", "so"], 10), out=tmp_path)
    data = datasets.load("rows", parameters=spec)
    np.testing.assert_allclose(sparse.csr_array(data.X).toarray(), X.toarray())
    assert data.task == "multiclass"
    assert len(set(data.y[:10])) == len(set(data.y[10:20])) == 1


def test_the_command_line_says_how_a_file_is_read(monkeypatch, tmp_path):
    seen = []

    def stop(spec, **words):
        seen.append(spec)
        raise ConfigError("stop", "", "")

    monkeypatch.setattr(choosing, "choose_for", stop)
    options = "--drop id --drop 3 --groups who --missing mean --task regression"
    words = ["choose", "a.csv", "--target", "pay", *options.split(), "--out", str(tmp_path / "o")]
    call(*words, code=2)
    (spec,) = seen
    assert spec == {
        "file": "a.csv", "target": "pay", "drop": ["id", 3], "groups": "who",
        "missing": "mean", "task": "regression",
    }  # fmt: skip
