"""New files are read as the one that the model was fitted on, or refused."""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from sklearn.linear_model import Ridge

from rfbench.choosing.model import Model, compute_interval_half_widths, load_model, save_model
from rfbench.choosing.table import make_labeled_table
from rfbench.cli import main
from rfbench.datasets import user_data
from rfbench.datasets.preparation import Preparation
from rfbench.errors import DataError
from tests.support.command_line import call
from tests.support.nightly import at_night
from tests.support.strange_files import WAYS, numbers


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("RFBENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)


def fitted(file, target="y", **reading):
    """Fit a model on a file, and write it as `choose` does."""
    table = make_labeled_table(file, target=target, **reading)
    assert not table.n_classes
    model = Model([("prepare", Preparation()), ("predict", Ridge(1e-6))]).fit(table.X, table.y)
    model.half_widths_, model.reading_ = compute_interval_half_widths(np.zeros(150)), table.how
    save_model(
        model, table_folder := file.parent / f"model-{file.name}", data=file.name,
        data_sha256=table.sha256, classes=[], columns=list(table.X.columns),
        label="ridge", metric="rmse", error=0.5, standard_error=0.01, rows=100, held_out=10,
        holds_rows=False,
    )  # fmt: skip
    return table_folder / "model.joblib"


def predicted(model, file, *options):
    """Return what is predicted and said; no predictions where the file is refused."""
    out = model.parent / "p.csv"
    words = ["predict", model, file, "--out", out, *options]
    result = CliRunner().invoke(main, [str(word) for word in words])
    assert result.exit_code in (0, 2), result
    said = " ".join(result.output.split())
    return (pd.read_csv(out)["prediction"].to_numpy() if result.exit_code == 0 else None), said


@pytest.mark.parametrize("count", [12, *at_night(200)])
def test_tables_with_other_separators_predict_equally_or_are_rejected(tmp_path, count):
    random, table, new = np.random.default_rng(count), numbers(), numbers(9, 1)
    truth = Model([("p", Preparation()), ("r", Ridge(1e-6))]).fit(
        table.drop(columns="y"), table["y"]
    )
    expected = truth.predict(new.drop(columns="y"))
    pairs = [(a, b) for a in WAYS for b in WAYS]
    same = [(way, way) for way in WAYS]
    drawn = [pairs[at] for at in random.choice(len(pairs), count, replace=False)]
    models, equal = {}, 0
    for a, b in [*(same if count > 100 else same[random.integers(2) :: 4]), *drawn]:
        write, target, reading = WAYS[a]
        if a not in models:
            folder = tmp_path / f"{len(models)}"
            folder.mkdir()
            models[a] = fitted(write(table, folder / "then"), target, **reading)
        with_target = bool(random.integers(2))
        rows = new if with_target else new.drop(columns="y")
        made, said = predicted(models[a], WAYS[b][0](rows, tmp_path / "now"))
        assert made is not None or a != b, (a, said)
        if made is not None:
            equal += 1
            assert len(made) == len(expected), (a, b, with_target)
            np.testing.assert_allclose(
                made, expected, rtol=1e-6, err_msg=f"{a}, {b}, {with_target}"
            )
    assert equal >= 6


def put(path, content):
    path.write_text(content)
    return path


def test_few_rows_with_ambiguous_notation_are_read_as_in_training(tmp_path):
    rows = [f"{1000 + 7 * i:,}".replace(",", ".") + f",25;{i % 5};{3 * i}" for i in range(60)]
    model = fitted(put(tmp_path / "a.csv", "a;b;y\n" + "\n".join(rows)))
    assert json.loads((model.parent / "model.json").read_text())["reading"]["decimal"] == ","
    made, said = predicted(model, put(tmp_path / "n.csv", "a;b\n1.024;2\n1.059,5;1\n"))
    np.testing.assert_allclose(
        made, [3 * (1024 - 1000.25) / 7, 3 * (1059.5 - 1000.25) / 7], atol=0.01
    )
    assert "outside the range" not in said


def test_value_in_training_range_only_with_another_decimal_is_rejected(tmp_path):
    rows = [f"{i / 7:.2f};{i}" for i in range(1, 60)]
    model = fitted(put(tmp_path / "a.csv", "a;y\n" + "\n".join(rows)))
    made, said = predicted(model, put(tmp_path / "n.csv", "a\n1,5\n2,5\n"))
    assert made is None
    assert "--decimal ','" in said
    made, _ = predicted(model, tmp_path / "n.csv", "--decimal", ",")
    np.testing.assert_allclose(made, [10.5, 17.5], atol=0.1)
    made, said = predicted(model, put(tmp_path / "n.csv", "a\n9.5\n"))  # beyond, in any reading
    np.testing.assert_allclose(made, [66.5], atol=0.2)
    assert "Column a has 1 value outside the range of the training rows" in said


@pytest.mark.parametrize("content", ["a;y\n950;1\n1,024;2\n", "a;y\n950;1\n1.024;2\n"])
def test_ambiguous_separators_are_guessed_by_choose_but_not_by_run(tmp_path, content):
    """With 950 beside it, 1,024 is a thousand; a decimal sign that is given tells."""
    head, *rows = content.split()
    path = put(tmp_path / "a.csv", head + "\n" + "\n".join(rows * 15) + "\n")
    made = [
        make_labeled_table(path, target="y", **how)
        for how in ({}, {"decimal": "."}, {"decimal": ","})
    ]
    read = [Preparation().fit_transform(table.X)[1, 0] for table in made]
    assert read == [1024, *([1024, 1.024] if "," in content else [1.024, 1024])]
    assert made[0].assumed.startswith("Numbers like 1")
    assert made[1].assumed == ""
    with pytest.raises(DataError, match="`rfbench run` does not.*`decimal`"):
        user_data.read_user_data("d", {"file": "a.csv", "target": "y"}, tmp_path)
    far = put(path, path.read_text() + "7;3\n" * 120 + "0.5;3\n")  # beyond the first lines
    clear = make_labeled_table(far, target="y", task="regression")
    assert clear.assumed == ""
    assert Preparation().fit_transform(clear.X)[-1, 0] == 0.5


def test_columns_with_different_decimal_separators_keep_them_in_new_files(tmp_path):
    rows = [f"{i / 4};{str(i / 8).replace('.', ',')};{i}" for i in range(60)]
    model = fitted(put(tmp_path / "a.csv", "a;b;y\n" + "\n".join(rows)))
    made, _ = predicted(model, put(tmp_path / "n.csv", "a;b\n2.5;1,125\n2.5;1,25\n"))
    both = np.array([[2.5, 1.125], [2.5, 1.25]]) - [7.375, 3.6875]
    weights = np.array([0.25, 0.125]) / (0.25**2 + 0.125**2)
    np.testing.assert_allclose(made, both @ weights + 29.5, rtol=1e-4)


def test_new_file_with_a_single_column_is_predicted(tmp_path):
    model = fitted(put(tmp_path / "a.csv", "a,y\n" + "\n".join(f"{i},{2 * i}" for i in range(40))))
    np.testing.assert_allclose(
        predicted(model, put(tmp_path / "n.csv", "a\n3\n4\n"))[0], [6, 8], atol=1e-3
    )


def test_header_is_rejected_if_the_training_file_had_none(tmp_path):
    rows = "\n".join(f"{2 * i},{i}" for i in range(40))
    model = fitted(put(tmp_path / "a.csv", rows), 0, header=False)
    made, said = predicted(model, put(tmp_path / "n.csv", "a\n3\n4\n"))
    assert made is None
    assert "--header" in said


def test_edited_model_card_is_rejected(tmp_path):
    model = fitted(put(tmp_path / "a.csv", "a,y\n" + "\n".join(f"{i},{2 * i}" for i in range(40))))
    beside = model.with_suffix(".json")
    card = json.loads(beside.read_text())
    beside.write_text(json.dumps(card, indent=7))  # the same facts
    load_model(model)
    for change in ({"classes": ["b", "a"]}, {"columns": ["b"]}, {"reading": None}, {"error": 0.1}):
        beside.write_text(json.dumps({**card, **change}))
        with pytest.raises(DataError, match="card model.json that was changed"):
            load_model(model)


def test_labels_like_formulas_are_escaped_only_for_spreadsheets(tmp_path):
    from sklearn.linear_model import LogisticRegression

    table = pd.DataFrame({"a": np.arange(40.0), "y": ["=cmd()", "+1 up"] * 20})
    table.to_csv(tmp_path / "a.csv", index=False)
    read = make_labeled_table(tmp_path / "a.csv", target="y")
    model = Model([("prepare", Preparation()), ("predict", LogisticRegression())])
    model.fit(read.X, read.labels)
    model.half_widths_, model.reading_ = {}, read.how
    save_model(
        model, tmp_path / "m", data="a.csv", data_sha256=read.sha256, classes=list(read.classes),
        columns=["a"], label="x", metric="error", error=0.5, standard_error=0.01, rows=40,
        held_out=10, holds_rows=False,
    )  # fmt: skip
    words = ("predict", tmp_path / "m" / "model.joblib", tmp_path / "a.csv", "--out", "p.csv")
    for option, starts in (((), ("=cmd()", "+1 up")), (("--spreadsheet",), ("'=cmd()", "'+1 up"))):
        call(*words, *option)
        lines = (tmp_path / "p.csv").read_text().splitlines()[1:]
        assert all(line.startswith(starts) for line in lines)
