"""Models that an earlier version has saved predict the same, and say the same of their fits.

`saved_models.pickle` was written before the attributes of a fit were read from one record, with
the facts beside it in JSON: nothing of it is to be written anew.
"""

import json
import pickle
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

FACTS = json.loads(Path(__file__).with_name("saved_models.json").read_text())
NEW = np.random.default_rng(1).standard_normal((4, 2))


def saved():
    return pickle.loads(Path(__file__).with_name("saved_models.pickle").read_bytes())


def predictions(model, own):
    return model.compute_decisions(NEW)[:, 0] if own == "estimator" else model.predict(NEW)


@pytest.mark.parametrize("name", FACTS)
def test_saved_model_gives_the_same_predictions(name):
    facts, model = dict(FACTS[name]), saved()[name]
    expected = np.array(facts.pop("predictions"))
    for fitted in (model, pickle.loads(pickle.dumps(model))):
        found = predictions(fitted, name)
        if expected.dtype.kind == "f":
            np.testing.assert_allclose(found, expected, rtol=1e-10)
        else:
            np.testing.assert_array_equal(found, expected)
        for attribute, value in facts.items():
            said = getattr(fitted, attribute)
            if value is None or isinstance(value, str | bool):
                assert said == value, attribute
            elif attribute == "notes_":
                assert said == value
            else:
                np.testing.assert_allclose(said, value, err_msg=attribute)


def test_refitted_saved_model_describes_the_new_fit():
    model = saved()["ridge"]
    X = np.random.default_rng(2).standard_normal((20, 2))
    fresh = clone(model).fit(X, 5 * X[:, 0])
    model.fit(X, 5 * X[:, 0])
    assert model.alpha_scale_free_ == fresh.alpha_scale_free_ != FACTS["ridge"]["alpha_scale_free_"]
    assert model.selection_loss_ == fresh.selection_loss_
    assert not [name for name in vars(model) if name in FACTS["ridge"]]


def test_fitted_attributes_do_not_exist_before_the_fit():
    model = clone(saved()["ridge"])
    assert not hasattr(model, "alpha_")
    assert not hasattr(model, "notes_")
