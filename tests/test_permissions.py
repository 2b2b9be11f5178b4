"""What a stranger's text may cause: nothing, before the person who runs it has permitted it."""

import importlib
import inspect
import json
import math
import re
from numbers import Integral
from pathlib import Path

import pytest
import yaml

from rfbench import config, permissions, shipped, yamlfile
from rfbench.config.build import make_sampler, make_solver
from rfbench.errors import MethodError
from rfbench.permissions import check_permission
from tests.support.command_line import call

REST = {"split": {"test_size": 0.3}, "M": 5, "trials": 1, "samplers": ["rks"]}
EVIL = "open('executed', 'w').write('')\ndef main(*words, **more): pass\nclass Main: pass\n"
CLUSTERS = {"class": "sklearn.cluster.FeatureAgglomeration", "n_clusters": 4}
TEXTS = {
    "a function that loads a file": {
        "dataset": {"load": "rfbench.plugins.load_object", "path": "evil.py:main"}
    },
    "a function that writes a file": {
        "dataset": {
            "load": "sklearn.datasets._base.urlretrieve",
            "url": "file:evil.py",
            "filename": "executed",
        }
    },
    "a file by a dotted name": {"samplers": [{"class": "sklearn.py.Main"}]},
    "a file behind what is permitted": {"dataset": ["digits", {"load": "evil.py:main"}]},
    "a folder to cache in": {"samplers": [{**CLUSTERS, "memory": "./executed"}]},
    "code in a parameter": {"samplers": [{**CLUSTERS, "pooling_func": {"class": "evil.py:Main"}}]},
    "a solver": {"solver": {"class": "sklearn.pipeline.Pipeline", "steps": []}},
    "a solver of a package": {"solver": {"class": "evil.Main"}},
    "another name of what is listed": {"solver": {"class": "sklearn.linear_model._ridge.Ridge"}},
    "a part of what is listed": {"samplers": [{"class": "sklearn.decomposition:PCA"}]},
    "a function of a generated problem": {"dataset": {"sphere": {"load": "evil.py:main"}}},
    "a function of two names": {"dataset": {"x": {"load": ["evil.py:main", "sklearn.py:main"]}}},
    "something else than a word": {"dataset": {"load": ["evil.py:main"]}},
    "nothing at all": {"dataset": {"load": None, "name": "x"}},
    "what would be false": {"dataset": {"name": "x", "parameters": {"load": 0.0}}},
    "a spec as a manifest has it": {
        "samplers": [{"name": "evil.py:Main", "imported": True, "label": "x", "parameters": {}}]
    },
}


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with code that says when it ran."""
    monkeypatch.chdir(tmp_path)
    for name in ("evil.py", "sklearn.py", "0.py"):
        (tmp_path / name).write_text(EVIL)
    return tmp_path


@pytest.mark.parametrize("what", TEXTS)
@pytest.mark.parametrize("words", [(), ("--dry-run",)])
def test_configuration_with_code_is_rejected_before_it_is_executed(here, what, words):
    (here / "x.yaml").write_text(yaml.safe_dump({"dataset": "digits", **REST, **TEXTS[what]}))
    assert "x.yaml" in call("run", "x.yaml", *words, code=2)
    assert not (here / "executed").exists()
    assert not (here / "results").exists()


@pytest.mark.parametrize("what", TEXTS)
def test_manifest_with_code_is_rejected_before_it_is_executed(here, what):
    folder = here / "results"
    folder.mkdir()
    published = shipped.find_configurations_folder().parent / "results" / "published" / "quickstart"
    (folder / "trials.csv").write_bytes((published / "trials.csv").read_bytes())
    manifest = json.loads((published / "manifest.json").read_text(encoding="utf-8"))
    manifest["variants"] = [{**manifest["config"], **TEXTS[what]}]
    (folder / "manifest.json").write_text(json.dumps(manifest))
    assert "manifest.json" in call("replay", "results", 1, code=2)
    assert not (here / "executed").exists()


PLAIN = re.compile(
    r"Interval|boolean|StrOptions|Options|array-like|random_state|verbose|cv_object|Real|Integral"
    r"|tuple|list"
)


def test_parameters_of_allowed_estimators_accept_no_paths_or_code():
    """What scikit-learn declares of each: none that may be set is a path, code or a mapping alone.

    The kernel of a Gaussian process is an object or nothing; a word is refused there.
    """
    estimators, parameters = permissions.list_allowed_estimators()
    declared = {}
    for path in estimators:
        module, _, name = path.rpartition(".")
        cls = getattr(importlib.import_module(module), name)
        assert hasattr(cls, "fit")
        assert hasattr(cls, "transform") or hasattr(cls, "predict"), path
        signature = inspect.signature(cls).parameters.values()
        assert all(each.default is not each.empty for each in signature), path
        kinds = {each.kind for each in signature}
        assert kinds <= {inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD}
        for word in {each.name for each in signature} & parameters:
            if path.startswith("rfbench."):  # ours: words, numbers, and kernels by name
                continue
            declared[f"{name}.{word}"] = str(cls._parameter_constraints[word])
    odd = {key for key, kinds in declared.items() if not PLAIN.search(kinds)}
    assert odd <= {
        "GaussianProcessClassifier.kernel", "GaussianProcessRegressor.kernel",
        "HistGradientBoostingClassifier.scoring", "HistGradientBoostingRegressor.scoring",
    }  # fmt: skip
    risky = (
        "memory func inverse_func kw_args estimator callback score_func steps dtype verbose_file"
    )
    assert not set(risky.split()) & parameters


@pytest.mark.parametrize(
    ("path", "parameters", "sentence"),
    [
        ("sklearn.linear_model._ridge.Ridge", {}, "Did you mean 'sklearn.linear_model.Ridge'"),
        ("sklearn.svm.SVC", {"c": 1}, "no parameter 'c'.*Did you mean 'C'"),
        ("sklearn.svm.SVC", {"C": {"a": 1}}, "C is {'a': 1}"),
        ("sklearn.svm.SVC", {"C": [[1]]}, "numbers, strings and lists of these"),
        ("sklearn.svm.SVC ", {}, "not imported"),
        ("sklearn.svm.svc", {}, "not imported"),
        ("sklearn.svm.ＳＶＣ", {}, "not imported"),  # noqa: RUF001
        ("sklearn.svm.SVC", None, "not imported"),  # a function that loads data
    ],
)
def test_class_that_is_not_allowed_is_named_with_advice(path, parameters, sentence):
    with pytest.raises(MethodError, match=f"(?s){sentence}.*--allow-imports"):
        check_permission(path, parameters)


@pytest.mark.parametrize(
    ("path", "parameters"),
    [
        ("sklearn.ensemble.RandomForestRegressor", {"n_jobs": 100_000}),
        ("sklearn.ensemble.RandomForestRegressor", {"n_jobs": -100_000}),
        ("sklearn.ensemble.RandomForestRegressor", {"n_estimators": 10**9}),
        ("sklearn.ensemble.RandomForestRegressor", {"n_estimators": 1e9}),
        ("sklearn.linear_model.RANSACRegressor", {"max_trials": math.inf}),
        ("sklearn.neural_network.MLPClassifier", {"hidden_layer_sizes": [5, 10**7]}),
        ("sklearn.linear_model.RidgeCV", {"alphas": [1.0] * 10**5}),
        ("sklearn.linear_model.ElasticNetCV", {"alphas": 10**5}),
        ("sklearn.kernel_approximation.Nystroem", {"n_components": "1e9 * M"}),
    ],
)
def test_unbounded_computation_needs_permission(path, parameters):
    with pytest.raises(MethodError, match="(?s)the maximum is .*--allow-imports"):
        check_permission(path, parameters)
    check_permission(path, parameters, anything=True)


# Whole numbers that make no fit longer.
FREE = re.compile(
    r"min_|random_state|verbose|evaluate_every|average|stop_n_inliers|n_targets|validation_fraction"
    r"|constant|encoded_missing_value|unknown_value|outlier_label|strategy"
)


def test_numbers_without_an_upper_bound_have_limits():
    estimators, parameters = permissions.list_allowed_estimators()
    unbounded = set()
    for path in (each for each in estimators if each.startswith("sklearn.")):
        module, _, name = path.rpartition(".")
        rules = getattr(importlib.import_module(module), name)._parameter_constraints
        unbounded |= {
            word
            for word in rules.keys() & parameters
            for rule in (rules[word] if isinstance(rules[word], list) else [])
            if rule in (Integral, "cv_object", "n_jobs")
            or (getattr(rule, "type", None) is Integral and getattr(rule, "right", 0) is None)
        }
    assert {
        word for word in unbounded if not FREE.match(word)
    } <= permissions.list_parameter_bounds().keys()
    assert permissions.list_parameter_bounds().keys() <= parameters


def methods_of(value):
    """Yield the parameters of every method in a configuration or a manifest."""
    if isinstance(value, dict):
        yield value
    for each in value.values() if isinstance(value, dict) else value:
        if isinstance(each, dict | list):
            yield from methods_of(each)


def test_parameter_bounds_admit_all_published_settings():
    documents = [
        yaml.safe_load(path.read_text(encoding="utf-8")) for path in shipped.list_configurations()
    ]
    results = shipped.find_configurations_folder().parent / "results" / "published"
    documents += [json.loads(path.read_text()) for path in results.rglob("manifest.json")]
    seen = set()
    for parameters in methods_of(documents):
        for name in parameters.keys() & permissions.list_parameter_bounds().keys():
            seen.add(name)
            if permissions._is_plain(parameters[name]):
                assert not permissions._exceeded(name, parameters[name]), parameters
    assert {"max_iter", "n_iter", "cv"} <= seen


@pytest.mark.parametrize("written", [None, 8, -1])
def test_trial_sets_n_jobs_to_its_number_of_threads(written):
    """Their number, and not the one that is written, which the identity has."""
    forest = {"class": "sklearn.ensemble.RandomForestClassifier", "n_jobs": written}
    trees = {"class": "sklearn.ensemble.RandomTreesEmbedding", "n_jobs": written}
    content = {"dataset": "digits", **REST, "samplers": [trees], "solver": forest, "threads": 2}
    experiment = config.build_experiment(yamlfile.Document(content, "x.yaml"), "x")
    built = make_solver(experiment, task="classification", random_state=0).estimator
    sampler = make_sampler(
        experiment, experiment.samplers[0], M=5, d=3, n=9, random_state=0
    ).make_unfitted()
    assert built.n_jobs == sampler.n_jobs == (written and 2)
    assert experiment.solver.parameters["n_jobs"] == written


def test_only_the_config_package_validates_experiments():
    """Where `Experiment.model_validate` stands, permission is asked for next."""
    package = Path(permissions.__file__).parent
    callers = {
        file.relative_to(package).as_posix()
        for file in package.rglob("*.py")
        if "Experiment.model_validate" in file.read_text(encoding="utf-8")
    }
    assert callers == {"config/__init__.py"}
