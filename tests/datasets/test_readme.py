"""What the tables of the page on data have you write may be written."""

import re
from pathlib import Path

import pytest
import yaml

from rfbench.config.schema import Experiment
from rfbench.config.specs import DatasetSpec

TEXT = (Path(__file__).parents[2] / "data" / "README.md").read_text()


@pytest.mark.parametrize("text", re.findall(r"`(\{[^`]*\})`", TEXT))
def test_values_in_the_readme_tables_are_valid(text):
    value = yaml.safe_load(text)
    if {"file", "load", "openml", "sklearn", "path"} & set(value):
        assert DatasetSpec.model_validate(value).is_user_data
    else:
        own = {"file": "flats.csv", "target": "price"}
        fields = {"name": "e", "dataset": own, "split": value, "M": 5, "samplers": "rks"}
        assert Experiment.model_validate(fields).split == value
