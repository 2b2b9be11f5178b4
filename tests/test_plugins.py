import importlib
import sys

import numpy as np
import pytest

from rfbench import plugins, samplers
from rfbench.api import read_config
from rfbench.errors import ConfigError, MethodError
from rfbench.experiment.context import Context
from rfbench.experiment.plan import plan_trials
from tests.support.trials import measured

TEXT = """\
dataset: {sphere: {d: 3, n_train: 200, n_test: 100}}
scaling: none
bandwidth: 1.0
M: [6]
samplers: [rks]
solver: SOLVER
trials: 1
"""


def rows_of(tmp_path, text, **keywords):
    path = tmp_path / "try.yaml"
    path.write_text(text)
    return measured(read_config(path, **keywords))


def test_any_estimator_can_be_a_solver(tmp_path):
    text = TEXT.replace("SOLVER", "{class: sklearn.neighbors.KNeighborsClassifier, n_neighbors: 3}")
    (row,) = rows_of(tmp_path, text)
    assert row["status"] == "ok", row
    from sklearn.neighbors import KNeighborsClassifier

    from rfbench.experiment.plan import draw_integer_seed

    trial = plan_trials(read_config(tmp_path / "try.yaml"))[0]
    rows = Context().prepare(trial)
    features = samplers.RKS(6, bandwidth=1.0, random_state=draw_integer_seed(0, "features", 0))
    Z = features.fit(rows.X_train)
    model = KNeighborsClassifier(3).fit(Z.transform(rows.X_train), rows.y_train)
    predicted = model.predict(Z.transform(rows.X_test))
    assert row["error"] == pytest.approx(100 * np.mean(predicted != rows.y_test))
    assert "rmse" not in row


MINE = "from sklearn.kernel_approximation import RBFSampler as Mine\n"


def test_user_code_is_searched_first_in_the_configuration_folder(tmp_path, monkeypatch):
    beside, here = tmp_path / "beside", tmp_path / "here"
    for folder in (beside, here):
        folder.mkdir()
    monkeypatch.chdir(here)
    text = TEXT.replace("SOLVER", "ridge").replace("[rks]", "[{class: 'mine.py:Mine'}]")
    with pytest.raises(ConfigError, match=r"line 5: The file mine\.py .* does not exist"):
        rows_of(beside, text, allow_imports=True)
    (here / "mine.py").write_text(MINE)
    (first,) = rows_of(beside, text, allow_imports=True)
    (beside / "mine.py").write_text(MINE)
    (here / "mine.py").write_text("Mine = 3")
    (second,) = rows_of(beside, text, allow_imports=True)
    assert first["status"] == second["status"] == "ok"
    assert first["trial_id"] == second["trial_id"]


def test_failing_constructor_of_user_class_is_reported_with_its_line(tmp_path):
    (tmp_path / "mine.py").write_text(
        "class Needs:\n    fit = transform = 0\n"
        "    def __init__(self, depth, *more, **others): pass\n"
        "class Ends(Needs):\n    def __init__(self): raise SystemExit(0)\n"
    )
    text = TEXT.replace("SOLVER", "ridge")
    for name, sentence in (("Needs", "needs the parameter 'depth'"), ("Ends", "SystemExit")):
        with pytest.raises(ConfigError, match=f"line 5: .*{sentence}"):
            rows_of(
                tmp_path,
                text.replace("[rks]", f"[{{class: 'mine.py:{name}'}}]"),
                allow_imports=True,
            )


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("sklearn.svm.SVX", "AttributeError"),
        ("sklearn.nothing.SVC", "ModuleNotFoundError"),
        ("word", "cannot be imported"),
        ("missing.py:Thing", "does not exist"),
        ("os.path.join", "is not a class"),
    ],
)
def test_unavailable_class_raises_error(path, sentence):
    with pytest.raises(MethodError, match=sentence):
        plugins.load_class(path)


def test_class_that_is_not_a_solver_is_rejected(tmp_path):
    text = TEXT.replace("SOLVER", "{class: sklearn.preprocessing.StandardScaler}")
    with pytest.raises(ConfigError, match=r"line 6: .*is not an estimator"):
        rows_of(tmp_path, text)
    text = TEXT.replace("SOLVER", "{class: sklearn.svm.SVC, c: 1}")
    with pytest.raises(ConfigError, match=r"no parameter 'c'. Did you mean|no parameter 'c'"):
        rows_of(tmp_path, text)


def test_installed_class_is_identified_by_its_package_version():
    assert plugins.hash_class_code("sklearn.svm.SVC").startswith("scikit-learn ")


def broken(tmp_path, text):
    (tmp_path / "mine.py").write_text(text)
    with pytest.raises(MethodError) as raised:
        plugins.load_object("mine.py:Antithetic", tmp_path)
    return raised.value


def test_error_in_a_user_file_names_its_line_without_path_advice(tmp_path):
    for text, why in (
        ("import numpy\nimport nothing_here\n", "No module named 'nothing_here'"),
        ("import numpy as np\nx = np.zros(3)\n", "module 'numpy' has no attribute 'zros'"),
        ("import json\nx = json.loads('{')\n", "JSONDecodeError: Expecting property name"),
        ("import numpy\ndef f(:\n", "SyntaxError: invalid syntax"),
    ):
        error = broken(tmp_path, text)
        line = text.splitlines()[1]
        assert why in error.why
        assert f"({tmp_path / 'mine.py'}, line 2: {line})" in error.why
        assert "package.module.Name" not in str(error)


def test_wrong_class_name_or_path_gets_a_suggestion(tmp_path):
    error = broken(tmp_path, "class Antithetics:\n    pass\n")
    assert error.why == "AttributeError: mine.py has no 'Antithetic'. Did you mean 'Antithetics'?"
    for path in ("numpyy.random.Name", "word.Thing", "mine.p:Thing"):
        with pytest.raises(MethodError, match=r"Write package\.module\.Name"):
            plugins.load_object(path)


def test_object_passed_from_python_cannot_be_loaded_by_path():
    with pytest.raises(MethodError, match="was passed as a Python object"):
        plugins.load_object("python:Mine")


def test_loading_a_local_module_does_not_change_sys_path(tmp_path, monkeypatch):
    """A process that measures trials does not search the folder of the person's script."""
    (tmp_path / "local_methods.py").write_text(
        "class Map:\n    def __init__(self, a=1):\n        self.a = a\n\n"
        "def function(X, M, seed):\n    return X\n"
    )
    with monkeypatch.context() as patch:
        patch.syspath_prepend(tmp_path)
        module = importlib.import_module("local_methods")
        given = [plugins.GivenObject.from_object(each) for each in (module.Map(7), module.function)]
    monkeypatch.delitem(sys.modules, "local_methods")
    instance = given[0].load()
    assert (type(instance).__name__, instance.a) == ("Map", 7)
    assert given[1].load()("rows", 5, 0) == "rows"
    monkeypatch.delitem(sys.modules, "local_methods")
