"""A row whose test error is that of chance says so."""

from types import SimpleNamespace

import numpy as np
import pytest

from rfbench.experiment.scores import note_chance_level
from tests.support.trials import measured

from .conftest import SMALL


def prepared(task, train, test):
    return SimpleNamespace(task=task, y_train=np.array(train), y_test=np.array(test))


@pytest.mark.parametrize(
    ("error", "at_chance"), [(50.0, True), (70.0, True), (41.0, True), (39.0, False), (0.0, False)]
)
def test_error_within_2_standard_errors_of_majority_class_is_at_chance(error, at_chance):
    rows = prepared("binary", [0, 0, 1], [0, 1] * 50)  # the standard error is 5 points
    notes = note_chance_level({"error": error}, rows)
    assert notes == (
        ["at chance: predicting the most frequent class has an error of 50 %"] if at_chance else []
    )


def test_chance_level_uses_the_majority_class_of_the_training_rows():
    rows = prepared("multiclass", [2, 2, 2, 0, 1], [2] * 10 + [0] * 90)
    assert note_chance_level({"error": 90.0}, rows)
    assert not note_chance_level({"error": 50.0}, rows)


def test_regression_at_chance_is_no_better_than_the_mean():
    rows = prepared("regression", [0.0, 1.0], [0.0, 1.0])
    assert note_chance_level({"r2": -0.1}, rows) == [
        "at chance: no better than predicting the mean"
    ]
    assert note_chance_level({"r2": 0.1}, rows) == []


def test_row_with_uninformative_features_gets_a_note(experiment_of):
    words = ("trials=1", "samplers=[rks]", "M=5")
    (lost,) = measured(experiment_of(SMALL, *words, "bandwidth=1e-9"))
    assert "at chance" in lost["message"]
    assert (lost["at_chance"], lost["role"]) == (True, "method")
    assert lost["status"] == "ok"
    words = (*words, "M=50", "samplers=[{name: rks, role: baseline}]")
    (fine,) = measured(experiment_of(SMALL, *words))
    assert (fine["at_chance"], fine["role"]) == (False, "baseline")
    assert "at chance" not in fine["message"]
