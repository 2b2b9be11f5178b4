import numpy as np
import pytest

from rfbench import config, plugins, samplers, solvers
from rfbench.errors import ConfigError, MethodError
from rfbench.experiment.plan import jobs, plan
from rfbench.experiment.trial import run_job

TEXT = """\
dataset: {sphere: {d: 3, n_train: 200, n_test: 100}}
scaling: none
bandwidth: 1.0
M: [6]
samplers: [rks]
solver: SOLVER
trials: 1
"""


class Point:
    """Stands in for an entry point of an installed package."""

    def __init__(self, name, value):
        self.name, self.value = name, value

    def load(self):
        return plugins.load_class(self.value)


@pytest.fixture
def installed(monkeypatch):
    """Let packages offer scikit-learn's classes as methods."""
    points = {
        "rfbench.samplers": [Point("sk-rbf", "sklearn.kernel_approximation.RBFSampler")],
        "rfbench.solvers": [Point("sk-knn", "sklearn.neighbors.KNeighborsClassifier")],
    }
    monkeypatch.setattr(plugins.metadata, "entry_points", lambda group: points[group])


def rows_of(tmp_path, text, **keywords):
    path = tmp_path / "try.yaml"
    path.write_text(text)
    return [row for job in jobs(plan(config.read(path, **keywords))) for row in run_job(job)]


def test_any_estimator_is_a_solver(tmp_path):
    text = TEXT.replace("SOLVER", "{class: sklearn.neighbors.KNeighborsClassifier, n_neighbors: 3}")
    (row,) = rows_of(tmp_path, text)
    assert row["status"] == "ok", row
    from sklearn.neighbors import KNeighborsClassifier

    from rfbench.experiment import material
    from rfbench.experiment.seeds import integer_for

    trial = plan(config.read(tmp_path / "try.yaml"))[0]
    rows = material.prepared(trial)
    features = samplers.RKS(6, bandwidth=1.0, random_state=integer_for(0, "features", 0))
    Z = features.fit(rows.X_train)
    model = KNeighborsClassifier(3).fit(Z.transform(rows.X_train), rows.labels_train)
    predicted = model.predict(Z.transform(rows.X_test))
    assert row["error"] == pytest.approx(100 * np.mean(predicted != rows.labels_test))
    assert "rmse" not in row


def test_entry_points_are_found_by_name(tmp_path, installed):
    text = TEXT.replace("SOLVER", "sk-knn").replace("[rks]", "[rks, {sk-rbf: {gamma: 0.5}}]")
    rows = rows_of(tmp_path, text)
    assert [row["status"] for row in rows] == ["ok", "ok"]
    assert rows[1]["columns"] == 6
    with pytest.raises(MethodError, match="no sampler 'sk-rb'"):
        samplers.make("sk-rb")
    with pytest.raises(MethodError, match="no solver 'sk-kn'"):
        solvers.make("sk-kn")


def test_what_may_be_imported():
    plugins.check_allowed("sklearn.svm.SVC", [], False)
    plugins.check_allowed("other.Thing", ["other"], False)
    plugins.check_allowed("file.py:Thing", [], True)
    for path in ("other.Thing", "file.py:Thing", "sklearn.py:Thing"):
        with pytest.raises(MethodError, match="--allow-imports"):
            plugins.check_allowed(path, [], False)


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("sklearn.svm.SVX", "AttributeError"),
        ("sklearn.nothing.SVC", "ModuleNotFoundError"),
        ("word", "cannot be imported"),
        ("missing.py:Thing", "FileNotFoundError"),
        ("os.path.join", "is not a class"),
    ],
)
def test_a_class_that_cannot_be_had(path, sentence):
    with pytest.raises(MethodError, match=sentence):
        plugins.load_class(path)


def test_a_solver_that_is_none(tmp_path):
    text = TEXT.replace("SOLVER", "{class: sklearn.preprocessing.StandardScaler}")
    with pytest.raises(ConfigError, match=r"line 6: .*is not an estimator"):
        rows_of(tmp_path, text)
    text = TEXT.replace("SOLVER", "{class: sklearn.svm.SVC, c: 1}")
    with pytest.raises(ConfigError, match=r"no parameter 'c'. Did you mean|no parameter 'c'"):
        rows_of(tmp_path, text)


def test_a_changed_file_is_another_method(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text("class A:\n    pass\n")
    before = plugins.identity(f"{file}:A")
    file.write_text("class A:\n    x = 1\n")
    assert plugins.identity(f"{file}:A") != before
    assert plugins.identity("sklearn.svm.SVC").startswith("scikit-learn ")
