"""A method in any form gets the same search: the numbers are those of the class with `_draw`."""

import json

import joblib
import numpy as np
import pytest

from rfbench import api
from rfbench.clock import Clock
from rfbench.errors import ConfigError
from rfbench.experiment import bandwidth_search, trial
from rfbench.experiment.plan import plan_trials
from rfbench.kernels import Gaussian
from rfbench.samplers import elsewhere
from rfbench.samplers.elsewhere import (
    ForeignMap,
    Formula,
    Method,
    has_scale_dependent_features,
    measure_bandwidth_exponent,
)
from rfbench.solvers import Solver
from tests.support import kinds
from tests.support.trials import measured

KINDS = ("Drawn", "Transformer", "function", "module")
GRID = "bandwidth={cv: [0.5*median, median, 2*median], widen: true}"
CLASSES = """\
dataset: digits
rows: 150
test_rows: 80
split: {test_size: 0.3}
solver: {name: ridge, alphas: "log:1e-8:1e4:13", selection: cv5}
M: [20, 40]
trials: 2
samplers: [rks]
"""
NUMBERS = CLASSES.replace("dataset: digits", "dataset: {sklearn: diabetes}")
CHOSEN = ("bandwidth", "at_edge", "alpha", "selection", "columns", "M", "n_train", "n_test")
MEASURED = ("selection_loss", "error", "mse", "rmse", "r2")
IDENTITY = ("trial_id", "setting")


def by_path(name, **parameters):
    return {"class": f"{kinds.__file__}:{name}", "label": name, **parameters}


def rows_by_label(experiment_of, text, samplers, *overrides):
    listed = json.dumps(["rks", *samplers])
    experiment = experiment_of(text, f"samplers={listed}", *overrides, allow_imports=True)
    found = {}
    for row in measured(experiment):
        assert row["status"] == "ok", row["message"]
        found.setdefault(row["label"], {})[row["M"], row["trial"]] = row
    return found


def assert_alike(row, other, but=()):
    for column in CHOSEN:
        if column not in but:
            assert row[column] == other[column], column
    for column in MEASURED:
        if column in other and column not in but:
            assert row[column] == pytest.approx(other[column], rel=1e-9), column


@pytest.mark.parametrize("text", [CLASSES, NUMBERS], ids=["classes", "numbers"])
@pytest.mark.parametrize("search", [GRID, "bandwidth=knn50"], ids=["searched", "by a rule"])
def test_feature_map_given_in_four_forms_gets_equal_results(experiment_of, text, search):
    wide = {**by_path("Transformer", gamma=2.0), "label": "wide"}
    found = rows_by_label(experiment_of, text, [*map(by_path, KINDS), wide], search)
    assert set(found) == {"rks", "wide", *KINDS}
    for name in (*KINDS, "wide"):
        for at, row in found[name].items():
            assert_alike(row, found["rks"][at])
    assert (
        "length scale of the method with its own parameters: 0.5" in found["wide"][20, 0]["message"]
    )
    identities = {row["trial_id"] for rows in found.values() for row in rows.values()}
    assert len(identities) == 4 * len(found)


def of_scikit_learn(name, label, **parameters):
    return {"class": f"sklearn.kernel_approximation.{name}", "label": label, **parameters}


STATED = {"bandwidth_parameter": "gamma", "bandwidth_formula": "1/(2*s^2)"}
GAUSSIAN = [
    "nystroem",
    of_scikit_learn("RBFSampler", "its default, 1"),
    of_scikit_learn("RBFSampler", "half", gamma=0.5),
    of_scikit_learn("RBFSampler", "varied", gamma=0.1, bandwidth_parameter="gamma"),
    of_scikit_learn("RBFSampler", "scale", gamma="scale", **STATED),
    of_scikit_learn("Nystroem", "1 / d"),
    of_scikit_learn("Nystroem", "three", gamma=3.0),
    by_path("function"),
]


def test_user_methods_have_the_same_bandwidths_rows_and_folds(experiment_of, monkeypatch):
    """Of each fit of a search: the bandwidth of its features, all rows, and the folds."""
    searched = {}

    def fit_and_record(resolved, model, bandwidth, *others):
        fit = fit_features(resolved, model, bandwidth, *others)
        found = searched.setdefault((resolved.trial.sampler.label, resolved.trial.number), [])
        data, made = resolved.data, fit.features.feature_map_
        effective = bandwidth
        if isinstance(made, ForeignMap):  # the gamma it has, of rows that are divided
            gamma = getattr(made.fitted, "gamma", 0.5)
            effective = made.scale / np.sqrt(
                2 / data.X_train.shape[1] if gamma is None else 2 * gamma
            )
        rows = joblib.hash([data.X_train, data.y_train, data.X_test, data.y_test])
        found.append({"bandwidth": bandwidth, "effective": effective, "rows": rows})
        return fit

    def make_and_record(solver, *given):
        folds = make_folds(solver, *given)
        last = list(searched.values())[-1][-1]
        last["folds"] = joblib.hash(folds)
        return folds

    fit_features, make_folds = bandwidth_search.fit_features, Solver._make_folds
    monkeypatch.setattr(bandwidth_search, "fit_features", fit_and_record)
    monkeypatch.setattr(Solver, "_make_folds", make_and_record)
    rows_by_label(experiment_of, CLASSES, GAUSSIAN, GRID, "M=20")
    for number in range(2):
        ours = searched["rks", number]
        assert len({each["bandwidth"] for each in ours}) >= 3
        for each in ("nystroem", *(entry["label"] for entry in GAUSSIAN[1:])):
            found = searched[each, number]
            for own, other in zip(found[:3], ours[:3], strict=True):
                assert {**own, "effective": 0} == {**other, "effective": 0}
            for one in found:  # a grid is widened by factors of two
                assert np.log2(one["bandwidth"] / ours[0]["bandwidth"]) % 1 == 0
                assert {one["rows"], one["folds"]} == {ours[0]["rows"], ours[0]["folds"]}
                assert one["effective"] == pytest.approx(one["bandwidth"], rel=2 ** (1 / 16) - 1)
                if each not in ("varied", "1 / d", "three"):
                    assert one["effective"] == pytest.approx(one["bandwidth"], rel=1e-12)
    assert searched["rks", 0][0]["rows"] != searched["rks", 1][0]["rows"]


def test_length_scale_is_measured_once_and_not_timed(experiment_of, monkeypatch):
    events = []

    def measure(make, d):
        events.append("measured")
        return 2.0

    def make_clock():
        events.append("clock")
        return Clock()

    monkeypatch.setattr(elsewhere, "measure_length_scale", measure)
    monkeypatch.setattr(trial, "Clock", make_clock)
    rows_by_label(experiment_of, NUMBERS, [by_path("function")], GRID, "M=20", "trials=1")
    assert events == ["clock", "measured", "clock"]


@pytest.mark.parametrize(
    "stated", [{"gamma": 0.5}, {"gamma": 2.0}, {"bandwidth_formula": "1/(2*s^2)"}]
)
def test_declared_bandwidth_parameter_is_searched_without_scaling_rows(experiment_of, stated):
    own = by_path("Transformer", bandwidth_parameter="gamma", **stated)
    found = rows_by_label(experiment_of, CLASSES, [own], GRID)
    for at, row in found["Transformer"].items():
        assert_alike(row, found["rks"][at])


def test_parameter_for_the_number_of_features_may_have_any_name(experiment_of):
    found = rows_by_label(experiment_of, CLASSES, [by_path("Sized", D="M")], GRID)
    for at, row in found["Sized"].items():
        assert_alike(row, found["rks"][at])
    with pytest.raises(ConfigError, match="NAME: M"):
        experiment_of(CLASSES, f"samplers={json.dumps([by_path('Sized')])}", GRID,
                      allow_imports=True)  # fmt: skip


def test_transformer_without_bandwidth_gets_unscaled_rows(experiment_of):
    """As published rows have them, whatever the bandwidth is."""
    path = {"class": "sklearn.preprocessing.FunctionTransformer", "label": "linear"}
    rows = [
        rows_by_label(experiment_of, NUMBERS, [path], f"bandwidth={b}")["linear"] for b in (1, 3)
    ]
    for at, row in rows[0].items():
        assert_alike(row, rows[1][at], but=("bandwidth",))


def test_python_objects_are_measured_like_their_classes(tmp_path, monkeypatch):
    """An instance and a closure in processes of their own, a class here; the run resumes."""
    monkeypatch.chdir(tmp_path)

    def closure(X, M, seed):
        return kinds.function(X, M, seed)

    things = [kinds.Transformer(gamma=0.5), closure]
    content = {
        "dataset": "digits", "rows": 150, "test_rows": 80, "split": {"test_size": 0.3},
        "bandwidth": "cv", "M": 20, "trials": 1,
        "solver": {"name": "ridge", "alphas": [1e-3, 1.0], "selection": "cv5"},
        "samplers": ["rks", *things],
    }  # fmt: skip
    here = measured(api.read_config({**content, "samplers": [*things, kinds.Drawn]}))
    results = api.run(content, name="objects", n_jobs=1)
    rows = results.rows.set_index("label")
    assert set(rows["status"]) == {"ok"}, list(rows["message"])
    assert set(rows.index) == {"rks", "Transformer", "closure"}
    assert rows["bandwidth"].nunique() == 1
    assert list(rows["error"]) == [here[0]["error"]] * 3 == [row["error"] for row in here]
    assert rows["trial_id"].nunique() == 3
    ids = {row["label"]: row["trial_id"] for row in here}
    assert all(ids[label] == rows.at[label, "trial_id"] for label in ("Transformer", "closure"))
    before = (results.folder / "trials.csv").read_bytes()
    api.run(content, name="objects", n_jobs=1)
    assert (results.folder / "trials.csv").read_bytes() == before
    other = api.read_config({**content, "samplers": [kinds.Transformer(gamma=0.6)]})
    assert plan_trials(other)[0].id not in set(rows["trial_id"])


def test_run_of_a_function_without_source_code_warns_that_it_cannot_resume(caplog):
    written = {}
    exec("def odd(X, M, seed):\n    return X", written)
    content = {"dataset": "digits", "split": {"test_size": 0.3}, "M": 5, "trials": 1}
    first, second = (
        plan_trials(api.read_config({**content, "samplers": [written["odd"]]}))[0].id
        for _ in range(2)
    )
    assert first != second
    assert "another process cannot resume its rows" in caplog.text


def test_features_that_depend_on_other_rows_fail_the_trial(experiment_of):
    experiment = experiment_of(
        CLASSES, f"samplers={json.dumps([by_path('centred')])}", "M=20", allow_imports=True
    )
    for row in measured(experiment):
        assert row["status"] == "failed"
        assert "depend on the other rows of its block" in row["message"]


def test_error_for_an_object_that_is_not_a_map_has_advice(experiment_of):
    for entry, sentence in (
        (by_path("Net"), r"not a feature map.*mine = adapted"),
        (by_path("function", gama=1.0), r"function does not have this parameter.*'gama'"),
        (by_path("Transformer", gama=1.0), r"no parameter 'gama'. Did you mean 'gamma'"),
    ):
        with pytest.raises(ConfigError, match=sentence):
            experiment_of(CLASSES, f"samplers={json.dumps([entry])}", allow_imports=True)


class Kernels:
    """Exact features of kernels of which the width is a power of a parameter, by name."""

    @staticmethod
    def of(power):
        def features(X, M, seed, width=1.0):
            W = np.random.default_rng(seed).standard_normal((M, X.shape[1]))
            return np.sqrt(2 / M) * np.cos(X @ W.T / width ** (1 / power) + waves_of(M, seed))

        return features


def waves_of(M, seed):
    return np.random.default_rng([seed, 1]).uniform(0, 2 * np.pi, M)


@pytest.mark.parametrize(
    ("power", "value"),
    [(-2.0, 1.0), (-1.0, 1e-3), (-0.5, 30.0), (0.5, 1e-3), (1.0, 30.0), (2.0, 1.0)],
)
def test_bandwidth_exponent_is_measured_for_any_parameter_value(power, value):
    method = Method(Kernels.of(power), "features", {})
    assert measure_bandwidth_exponent(method, "width", value) == power


def dot_products(X, M, seed, gamma=1.0):
    W = np.random.default_rng(seed).choice([-1.0, 1.0], (M, X.shape[1]))
    return np.sqrt(gamma / M) * (X @ W.T)


def no_effect(X, M, seed, gamma=1.0):
    return kinds.function(X, M, seed)


@pytest.mark.parametrize(
    ("thing", "value", "why"),
    [
        (dot_products, 1.0, "depends on the position of the rows"),
        (no_effect, 1.0, "measurements agree with no power of s"),
        (kinds.Transformer, "scale", "not a number above 0"),
        (kinds.Transformer, [1.0, 2.0], "not a number above 0"),
        (kinds.Transformer, True, "not a number above 0"),
    ],
)
def test_unmeasurable_exponent_requires_a_formula(thing, value, why):
    with pytest.raises(ValueError, match=f"{why}.*bandwidth_formula"):
        measure_bandwidth_exponent(Method(thing, "mine", {}), "gamma", value)


def test_bandwidth_formula_has_to_be_a_power_of_s():
    values = {
        "s": 3.0, "2*s^2": 18.0, "1/s": 1 / 3, "1/(2*s^2)": 1 / 18, "0.5/s^2": 1 / 18,
        "1e-1 * s**0.5": 0.1 * 3**0.5,
    }  # fmt: skip
    for text, value in values.items():
        assert Formula.parse(text)(3.0) == pytest.approx(value)
    for text in ("1/2*s", "s+1", "exp(s)", "1/(2*s^2", "", "__import__('os')", 2):
        with pytest.raises(ValueError, match="power of s"):
            Formula.parse(text)


def test_method_without_bandwidth_is_detected_by_its_inner_products():
    from sklearn.kernel_approximation import Nystroem, RBFSampler

    from rfbench.registry import SAMPLERS

    none = [kinds.Ranks, SAMPLERS["pairs"], SAMPLERS["swim"]]
    some = [*map(kinds.__dict__.get, KINDS), RBFSampler, Nystroem, SAMPLERS["rks"], SAMPLERS["elm"]]
    assert [has_scale_dependent_features(Method(each, "x", {})) for each in none] == [False] * len(
        none
    )
    assert [has_scale_dependent_features(Method(each, "x", {})) for each in some] == [True] * len(
        some
    )


def test_kernel_of_a_transformer_has_the_given_bandwidth():
    """Products of many features against the closed form at two bandwidths."""
    X = np.random.default_rng(0).standard_normal((6, 3))
    for s in (1.0, 2.5):
        shared = {"n_components": 20_000, "random_state": 0, "bandwidth": s}
        made = Method(kinds.function, "f", {}).build(shared, {}).fit(X)
        Z = made.transform(X)
        assert np.abs(Z @ Z.T - Gaussian(s)(X, X)).max() < 0.03
