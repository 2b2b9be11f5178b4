"""What programs read and set: JSON, variables, durations."""

import json
import math
import shutil
from pathlib import Path

import click
import numpy as np
import pytest
from click.testing import CliRunner

from rfbench.cli import main
from rfbench.cli.options import parse_duration
from rfbench.cli.terminal import echo_json
from tests.support.command_line import call
from tests.support.results import Write

RUN = """\
dataset: digits
split: {test_size: 0.3}
rows: 120
bandwidth: 3.0
M: [5, 10]
trials: 2
samplers: [rks]
solver: ridge
"""


def out(*words: object, code: int = 0) -> str:
    """Return what a command prints, errors apart."""
    result = CliRunner().invoke(main, [str(word) for word in words])
    assert result.exit_code == code, result.output
    return result.stdout


@pytest.fixture
def config(tmp_path: Path) -> Path:
    file = tmp_path / "tiny.yaml"
    file.write_text(RUN)
    return file


def test_data_sets_are_listed_as_json() -> None:
    data = {each["name"]: each for each in json.loads(out("data", "list", "--format", "json"))}
    assert data["digits"]["on_disk"]
    assert (data["digits"]["rows"], data["digits"]["columns"]) == (1797, 64)


def test_nonfinite_number_is_null_in_json(capsys: pytest.CaptureFixture[str]) -> None:
    echo_json({"a": math.nan, "b": np.float64(math.inf), "c": np.int64(3), "d": [Path("x"), None]})
    assert json.loads(capsys.readouterr().out) == {"a": None, "b": None, "c": 3, "d": ["x", None]}


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("60", 60), ("90s", 90), ("1.5m", 90), ("2h", 7200), ("1d", 86400), ("250 ms", 0.25)],
)
def test_durations_are_parsed_with_their_units(text: str, seconds: float) -> None:
    assert parse_duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["", "0", "5x", "1e999"])
def test_invalid_duration_is_rejected(text: str) -> None:
    with pytest.raises(click.BadParameter, match="Invalid duration"):
        parse_duration(text)


def test_options_override_environment_variables(
    config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RFBENCH_OUT", str(tmp_path / "env"))
    assert f"written to {tmp_path / 'env' / 'tiny'}/" in call("run", config, "--dry-run")
    given = tmp_path / "given"
    assert f"written to {given / 'tiny'}/" in call("run", config, "--dry-run", "--out", given)


def test_plot_and_table_read_the_default_results_folder_of_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write: Write
) -> None:
    monkeypatch.chdir(tmp_path)
    for command in ("table", "plot"):
        assert "The default folder results does not exist" in call(command, code=2)
    write([{"M": M, "sampler": name, "error": M} for M in (10, 20) for name in ("rks", "orf")], "a")
    shutil.move(write([{"M": 10, "dataset": "eeg"}], "b"), tmp_path / "set" / "b")
    monkeypatch.setenv("RFBENCH_OUT", str(tmp_path / "set"))
    assert "eeg" in call("table")
    monkeypatch.delenv("RFBENCH_OUT")
    assert "digits" in call("table")
    assert call("plot").startswith(str(Path("results", "figures")))
