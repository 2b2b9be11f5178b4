"""Models as ONNX predict the same; what has no form there is refused by name."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.ensemble import HistGradientBoostingRegressor, VotingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rfbench.choosing.export import write_onnx
from rfbench.choosing.model import Model, half_widths, save
from rfbench.choosing.parts import FeatureClassifier, FeatureRegressor
from rfbench.datasets.preparation import Preparation
from rfbench.datasets.scaling import RankScaler, SmoothClipScaler
from rfbench.errors import DataError
from rfbench.samplers import ORF, RKS, SORF, Nystroem
from rfbench.samplers.metric import LearnedMetric
from tests.choosing.conftest import towns
from tests.support.command_line import call


@pytest.fixture(autouse=True)
def installed():
    pytest.importorskip("onnx")


RANDOM = np.random.default_rng(0)
TABLE = pd.DataFrame(RANDOM.standard_normal((150, 3)) * [1, 5, 0.1], columns=["a", "b", "c"])
NEW = pd.DataFrame(RANDOM.standard_normal((40, 3)) * [2, 9, 0.3], columns=["a", "b", "c"])
NUMBERS = np.sin(TABLE["a"].to_numpy()) + TABLE["b"].to_numpy()


def model_of(*parts, table=TABLE, y=NUMBERS):
    model = Model([("prepare", Preparation()), ("predict", make_pipeline(*parts))])
    return model.fit(table, y)


def ran(path, rows):
    onnxruntime = pytest.importorskip("onnxruntime")
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    (made,) = session.run(None, {"rows": rows.to_numpy(dtype=np.float64)})
    return made, session.get_modelmeta().custom_metadata_map


@pytest.mark.parametrize(
    "features",
    [
        RKS(20, bandwidth=2.0, random_state=0),
        RKS(20, bandwidth=2.0, feature_map="paired", random_state=0),
        SORF(20, bandwidth=2.0, random_state=0),
        ORF(20, bandwidth=2.0, random_state=0),
        RKS(20, kernel="laplacian-l2", bandwidth=2.0, random_state=0),
    ],
    ids=["offset", "paired", "structured", "orthogonal", "laplacian-l2"],
)
def test_regressions_predict_the_same(features, tmp_path):
    model = model_of(StandardScaler(), FeatureRegressor(features, alpha=1e-3))
    path = tmp_path / "deep" / "model.onnx"
    assert write_onnx(model, path) == ["a", "b", "c"]
    made, facts = ran(path, NEW)
    assert_allclose(made, model.predict(NEW), rtol=1e-6, atol=1e-9)
    assert facts["columns"] == "a\nb\nc"


def test_a_vote_of_one_frozen_model_is_that_model(tmp_path):
    """So is written what was measured and not fitted again."""
    prepared = Preparation().fit(TABLE)
    X, y = prepared.transform(TABLE), np.where(NUMBERS > 0, "up", "down")
    features = RKS(20, bandwidth=2.0, random_state=0)
    codes = (y == "up").astype(int)
    inner = make_pipeline(StandardScaler(), FeatureClassifier(features)).fit(X, codes)
    vote = VotingClassifier([("m0", FrozenEstimator(inner))], voting="soft").fit(X, y)
    model = Model([("prepare", prepared), ("predict", vote)])
    write_onnx(model, tmp_path / "model.onnx")
    made, facts = ran(tmp_path / "model.onnx", NEW)
    assert_allclose(made, model.predict_proba(NEW), rtol=1e-6, atol=1e-9)
    assert facts["classes"] == "down\nup"


def test_the_graph_is_the_one_that_is_promised(tmp_path):
    import onnx

    features = RKS(20, bandwidth=2.0, random_state=0)
    write_onnx(model_of(StandardScaler(), FeatureRegressor(features)), tmp_path / "m.onnx")
    operators = [node.op_type for node in onnx.load(str(tmp_path / "m.onnx")).graph.node]
    assert operators == ["Sub", "Div", "MatMul", "Add", "Cos", "MatMul", "Add", "Clip"]


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("link", [(4.0, 2.0), (100.0, 0.5)])
def test_classes_have_the_same_probabilities(classes, link, tmp_path):
    y = np.digitize(NUMBERS, [0.0, 3.0][: classes - 1])
    features = RKS(30, bandwidth=2.0, random_state=0)
    model = model_of(SmoothClipScaler(), FeatureClassifier(features, link=link), y=y)
    write_onnx(model, tmp_path / "m.onnx")
    made, facts = ran(tmp_path / "m.onnx", NEW)
    assert_allclose(made, model.predict_proba(NEW), rtol=1e-6, atol=1e-9)
    assert facts["classes"].split("\n") == [str(k) for k in range(classes)]


def test_linear_models_and_a_learned_metric(tmp_path):
    linear = model_of(StandardScaler(), RidgeCV())
    write_onnx(linear, tmp_path / "m.onnx")
    assert_allclose(ran(tmp_path / "m.onnx", NEW)[0], linear.predict(NEW), rtol=1e-6)
    metric = LearnedMetric(kind="full", kernel="gaussian", random_state=0)
    features = FeatureRegressor(RKS(20, bandwidth=2.0, random_state=0))
    model = model_of(SmoothClipScaler(), metric, features)
    write_onnx(model, tmp_path / "m.onnx")
    assert_allclose(ran(tmp_path / "m.onnx", NEW)[0], model.predict(NEW), rtol=1e-6)


def test_constant_columns_are_left_out(tmp_path):
    model = model_of(StandardScaler(), RidgeCV(), table=TABLE.assign(b=1.0))
    assert write_onnx(model, tmp_path / "m.onnx") == ["a", "c"]
    made, _ = ran(tmp_path / "m.onnx", NEW[["a", "c"]])
    assert_allclose(made, model.predict(NEW), rtol=1e-6)


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ((StandardScaler(), FeatureRegressor(Nystroem(9, bandwidth=2.0))), "NystroemMap"),
        ((RankScaler(), FeatureRegressor(RKS(9, bandwidth=2.0))), "RankScaler"),
        ((HistGradientBoostingRegressor(max_iter=2),), "HistGradientBoostingRegressor"),
    ],
)
def test_what_has_no_form_is_refused_by_name(parts, message, tmp_path):
    with pytest.raises(DataError, match=message):
        write_onnx(model_of(*parts), tmp_path / "m.onnx")
    assert not (tmp_path / "m.onnx").exists()


def test_words_and_gaps_are_refused_by_column(tmp_path):
    table = towns(150)
    for drop, message in ((["b", "day"], "'town'"), (["town", "day"], "'b'")):
        X = table.drop(columns=["price", *drop])
        model = model_of(StandardScaler(), RidgeCV(), table=X, y=table["price"])
        with pytest.raises(DataError, match=message):
            write_onnx(model, tmp_path / "m.onnx")


def test_the_command_writes_the_file(tmp_path, monkeypatch):
    monkeypatch.setenv("RFBENCH_CACHE", str(tmp_path / "cache"))
    model = model_of(StandardScaler(), FeatureRegressor(RKS(9, bandwidth=2.0, random_state=0)))
    model.half_widths_, model.log_target_ = half_widths(np.arange(150.0)), False
    save(
        model, tmp_path / "m", data="a.csv", data_sha256="0" * 64, task="regression", classes=[],
        columns=["a", "b", "c"], label="waves", metric="rmse", error=0.5, standard_error=0.01,
        rows=150, held_out=50, holds_rows=False,
    )  # fmt: skip
    out = tmp_path / "model.onnx"
    said = call("export", tmp_path / "m" / "model.joblib", "--out", out)
    assert "3 columns, in this order: a, b, c" in said
    assert_allclose(ran(out, NEW)[0], model.predict(NEW), rtol=1e-6)
