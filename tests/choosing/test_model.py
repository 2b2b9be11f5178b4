"""The model file, its card and `rfbench predict`; intervals that hold what they promise."""

import csv
import tempfile
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsClassifier

from rfbench import home
from rfbench.choosing import table
from rfbench.choosing.model import (
    LEVELS,
    Model,
    compute_interval_half_widths,
    load_model,
    save_model,
)
from rfbench.datasets.preparation import Preparation
from rfbench.errors import DataError
from tests.choosing.conftest import towns
from tests.support.command_line import call


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.setenv("RFBENCH_CACHE", str(tmp_path / "cache"))
    rows = towns(200)
    model = Model([("prepare", Preparation()), ("predict", Ridge())])
    model.fit(rows.drop(columns="price"), rows["price"])
    model.half_widths_, model.reading_ = compute_interval_half_widths(np.arange(150.0)), None
    save_model(
        model, tmp_path / "m", data="towns.csv", data_sha256="0" * 64,
        classes=[], columns=["a", "b", "town", "day"], label="ridge", metric="rmse", error=0.5,
        standard_error=0.01, rows=200, held_out=50, holds_rows=False,
    )  # fmt: skip
    return tmp_path / "m" / "model.joblib"


def test_loaded_model_predicts_with_intervals(path):
    table = towns(30, seed=1)
    made = load_model(path).compute_predictions(table)
    assert list(made) == ["prediction", "low", "high"]
    assert (made["high"] - made["low"]).to_numpy() == pytest.approx(2 * 135)


def test_model_of_another_user_needs_permission_to_load(path, monkeypatch, tmp_path):
    monkeypatch.setenv("RFBENCH_CACHE", str(tmp_path / "another"))
    monkeypatch.setattr(joblib, "load", lambda file: pytest.fail("it was loaded"))
    with pytest.raises(DataError, match="not written by you on this machine"):
        load_model(path)


def test_loading_a_model_without_a_home_folder_requires_permission(path, monkeypatch):
    monkeypatch.setattr(home, "is_temporary_folder", lambda: True)
    load_model(path)  # of this process
    monkeypatch.setenv("RFBENCH_CACHE", str(path.parent / "another"))
    with pytest.raises(DataError, match="Without a home folder.*--allow-imports"):
        load_model(path)


def test_model_file_that_does_not_match_its_card_is_not_loaded(path, monkeypatch):
    path.write_bytes(path.read_bytes() + b"0")
    monkeypatch.setattr(joblib, "load", lambda file: pytest.fail("it was loaded"))
    with pytest.raises(DataError, match="does not belong to its card"):
        load_model(path)


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"model_sha256": "0"'])
def test_invalid_model_card_is_rejected(path, content):
    path.with_suffix(".json").write_text(content)
    with pytest.raises(DataError, match="no valid file model.json"):
        load_model(path)


def test_predict_writes_one_line_per_row_and_reports_new_columns(path, tmp_path):
    table = towns(40, seed=2)
    table.loc[0, "town"] = "Rom"
    table.drop(columns=["b", "price"]).assign(more=1).to_csv(tmp_path / "new.csv", index=False)
    out = tmp_path / "p.csv"
    result = call("predict", str(path), str(tmp_path / "new.csv"), "--out", str(out))
    for fact in ("missing, and count as gaps: b", "not used: more", "Rom (1 row)"):
        assert fact in result
    assert len(pd.read_csv(out)) == 40


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (towns(3).head(0), "has no rows"),
        (pd.DataFrame({"x": [1], "y": [2]}), "no column of the model"),
    ],
)
def test_rows_without_the_columns_of_the_model_are_rejected(path, tmp_path, rows, message):
    rows.to_csv(tmp_path / "new.csv", index=False)
    said = call("predict", str(path), str(tmp_path / "new.csv"), "--out", "p.csv", code=2)
    assert message in said


def test_prediction_intervals_are_infinite_if_there_are_too_few_rows():
    widths = compute_interval_half_widths(
        np.arange(1.0, 20.0)
    )  # 19 rows: 95 % is the largest, 99 % none
    assert widths == {0.5: 10.0, 0.8: 16.0, 0.9: 18.0, 0.95: 19.0, 0.99: np.inf}
    assert set(widths) == set(LEVELS)


@pytest.mark.parametrize("law", ["normal", "laplace", "uniform", "exponential", "skewed"])
def test_prediction_intervals_cover_90_percent(law):
    """Over 20 splits: the mean coverage is 90 to 90.5 %, with a standard error of .4 %."""
    random = np.random.default_rng(7)
    draw = {
        "normal": lambda n: random.standard_normal(n),
        "laplace": lambda n: random.laplace(size=n),
        "uniform": lambda n: random.random(n),
        "exponential": lambda n: random.exponential(size=n),
        "skewed": lambda n: np.exp(random.standard_normal(n)),
    }[law]
    covered = []
    for _ in range(20):
        X = random.standard_normal((1000, 3))
        y = X[:, 0] + draw(1000)
        fitted = Ridge().fit(X[:300], y[:300])
        residuals = y - fitted.predict(X)
        covered.append(
            np.mean(
                np.abs(residuals[600:]) <= compute_interval_half_widths(residuals[300:600])[0.9]
            )
        )
    assert 0.885 < np.mean(covered) < 0.92


def test_intervals_for_unknown_levels_or_classifiers_are_rejected(path):
    model = load_model(path)
    with pytest.raises(DataError, match=r"0\.42"):
        model.predict_interval(towns(5), 0.42)


labels = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=5)


@settings(max_examples=15)
@example({"+", "-", "=x", "@home", "'a"})
@example({"\t=1", "\r=1", "a\nb", 'q"', ","})
@given(st.sets(labels, min_size=2, max_size=6))
def test_predicted_labels_equal_training_labels_for_any_text(every):
    X = pd.DataFrame({"x": np.arange(float(2 * len(every)))})
    y = np.repeat(np.array(sorted(every), dtype=object), 2)
    model = Model([("prepare", Preparation()), ("predict", KNeighborsClassifier(1))]).fit(X, y)
    model.half_widths_, model.reading_ = {}, None
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        top = Path(folder)
        patch.setenv("RFBENCH_CACHE", str(top / "cache"))
        save_model(model, top, columns=["x"])
        X.to_csv(top / "new.csv", index=False)
        words = ("predict", top / "model.joblib", top / "new.csv", "--out", top / "p.csv")
        patch.setattr(table, "read_new_rows", lambda *_, **__: (X, []))
        call(*words)
        assert predicted(top / "p.csv") == y.tolist()
        call(*words, "--spreadsheet")
        assert not any(each.startswith(("=", "@")) for each in predicted(top / "p.csv"))


def predicted(file):
    with file.open(newline="", encoding="utf-8") as stream:
        return [row["prediction"] for row in csv.DictReader(stream)]
