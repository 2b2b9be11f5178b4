"""What the page on data shows runs."""

import re
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from rfbench.cli import main
from rfbench.config.schema import DatasetSpec, Experiment

README = Path(__file__).parents[2] / "data" / "README.md"
TEXT = README.read_text()


def test_its_configuration_runs(home, tmp_path):
    generator = np.random.default_rng(0)
    area, rooms = generator.uniform(20, 120, 60), generator.integers(1, 6, 60)
    lines = [
        f"{a:.1f},{r},{'Ulm' if r % 2 else 'Kiel'},{3 * a + 10 * r:.2f}"
        for a, r in zip(area, rooms, strict=True)
    ]
    (tmp_path / "flats.csv").write_text("\n".join(["area,rooms,town,price", *lines]))
    (block,) = re.findall(r"```yaml\n(.*?)```", TEXT, re.DOTALL)
    (tmp_path / "flats.yaml").write_text(block)
    (words,) = re.findall(r"^    rfbench (run flats.*)$", TEXT, re.M)
    result = CliRunner().invoke(main, [*words.split(), "--jobs", "1"])
    assert result.exit_code == 0, result.output
    assert "12 run, 0 failed" in result.output


@pytest.mark.parametrize("words", re.findall(r"^    rfbench ([a-z ]+)", TEXT, re.M))
def test_its_commands_exist(words):
    command = [
        word for word in words.split() if word in ("data", "run", *main.commands["data"].commands)
    ]
    assert CliRunner().invoke(main, [*command, "--help"]).exit_code == 0


@pytest.mark.parametrize("text", re.findall(r"`(\{[^`]*\})`", TEXT))
def test_what_its_tables_have_you_write_may_be_written(text):
    import yaml

    value = yaml.safe_load(text)
    if {"file", "load", "openml", "sklearn"} & set(value):
        assert DatasetSpec.model_validate(value).own
    else:
        own = {"file": "flats.csv", "target": "price"}
        fields = {"name": "e", "dataset": own, "split": value, "M": 5, "samplers": "rks"}
        assert Experiment.model_validate(fields).split == value
