"""A class named by its import path gets the search, the folds and the identity of a method here."""

import json

import pytest

from rfbench.config import build_experiment_from_manifest
from rfbench.errors import ConfigError
from tests.support.nightly import at_night
from tests.support.trials import measured

METHODS = {
    "rks": "rfbench.samplers.RKS",
    "eerf": "rfbench.samplers.EERF",
    "varpro": "rfbench.samplers.VariableProjection",
    "nystroem": "rfbench.samplers.Nystroem",
}
TEXT = """\
dataset: {sphere: {d: 3, n_train: 120, n_test: 60}}
scaling: none
bandwidth: 1.0
M: [4, 8]
solver: {name: ridge, alphas: [0.01, 1.0], selection: cv5}
trials: 1
samplers: [rks]
"""
SEARCHES = {
    "grid": "bandwidth={cv: [0.5, 1.0, 4.0]}",
    "widened": "bandwidth={cv: [4.0], widen: true}",
    "validation": "solver.selection=validation",
    "loss of one fit": "features_in_folds=once",
}
SAME = (
    *("bandwidth", "at_edge", "M", "columns", "alpha", "selection", "selection_loss"),
    *("features_in_folds", "error", "mse", "message"),
)


def both(experiment_of, *overrides):
    """Return the compared columns of a run by names, and of one by classes."""
    runs = []
    for samplers in (
        list(METHODS),
        [{"class": path, "label": name} for name, path in METHODS.items()],
    ):
        experiment = experiment_of(
            TEXT, f"samplers={json.dumps(samplers)}", *overrides, allow_imports=True
        )
        rows = measured(experiment)
        assert {row["status"] for row in rows} == {"ok"}, [row["message"] for row in rows]
        keys = ("label", "trial", *SAME)
        found = [tuple(row.get(key) for key in keys) for row in rows]
        runs.append(sorted(found, key=lambda row: (row[0], row[1], row[keys.index("M")])))
    return runs


@pytest.mark.parametrize(
    "search", [SEARCHES["widened"], *at_night(*(SEARCHES[s] for s in SEARCHES if s != "widened"))]
)
def test_sampler_given_by_class_path_gives_the_rows_of_the_registered_one(experiment_of, search):
    by_name, by_class = both(experiment_of, search)
    assert by_name == by_class
    assert len(by_name) == 8


def test_solver_given_by_class_path_gives_the_rows_of_the_registered_one(experiment_of):
    grid = "bandwidth={cv: [0.5, 4.0]}"
    alphas = "alphas: [0.01, 1.0]"
    rows = [
        measured(experiment_of(TEXT, grid, "samplers=[eerf]", solver, allow_imports=True))
        for solver in (
            f"solver={{name: ridge, {alphas}}}",
            f"solver={{class: rfbench.solvers.RidgeClassifier, {alphas}}}",
        )
    ]
    by_name, by_class = ([[row.get(key) for key in SAME] for row in found] for found in rows)
    assert by_name == by_class
    assert by_name[0][SAME.index("features_in_folds")] == "nested"


def test_manifest_with_imported_classes_requires_permission(experiment_of, tmp_path):
    content = experiment_of(TEXT, "samplers=[{class: rfbench.samplers.RKS}]", allow_imports=True)
    with pytest.raises(ConfigError, match="not imported"):
        build_experiment_from_manifest(content.model_dump(mode="json"), "manifest.json")


def test_equal_samplers_under_two_labels_are_rejected(experiment_of):
    with pytest.raises(ConfigError, match="a and b are both rks with the same parameters"):
        experiment_of(TEXT, "samplers=[{name: rks, label: a}, {name: rks, label: b}]")
