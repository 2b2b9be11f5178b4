"""What the README shows runs."""

import re
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from rfbench import config, yamlfile
from rfbench.cli import main

README = Path(__file__).parents[1] / "README.md"


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", README.read_text(), re.DOTALL)


def test_the_configuration_of_the_readme_is_valid():
    text = next(block for block in blocks("yaml") if "line" not in block and "title" in block)
    experiment = config.from_document(yamlfile.parse(text, "README.md"), "readme")
    assert experiment.trials == 5


def test_the_new_sampler_of_the_readme_runs(tmp_path, monkeypatch, no_pictures):
    monkeypatch.chdir(tmp_path)
    (code,) = [block for block in blocks("python") if "mine.py" in block]
    (text,) = [block for block in blocks("yaml") if "mine.yaml" in block]
    (tmp_path / "mine.py").write_text(code)
    (tmp_path / "mine.yaml").write_text(text)
    words = ["run", "mine.yaml", "--allow-imports", "--trials", "2", "--jobs", "1"]
    result = CliRunner().invoke(main, [*words, "--set", "M=20,50"])
    assert result.exit_code == 0, result.output
    assert "antithetic" in result.output
    assert "16 run, 0 failed" in result.output


def test_the_python_of_the_readme_runs():
    (code,) = [block for block in blocks("python") if "model.predict" in block]
    X = np.random.default_rng(0).standard_normal((200, 3))
    names = {"X": X, "y": (X[:, 0] > 0).astype(int), "X_new": X[:5]}
    exec(code, names)
    assert names["model"].predict(X[:5]).shape == (5,)


@pytest.mark.parametrize("command", re.findall(r"^    rfbench (\w+)", README.read_text(), re.M))
def test_the_commands_of_the_readme_exist(command):
    assert CliRunner().invoke(main, [command, "--help"]).exit_code == 0
