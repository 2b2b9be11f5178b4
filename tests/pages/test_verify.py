"""`rfbench verify`: its exit codes and formats."""

import io
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner, Result

from rfbench.analysis.published import COLUMNS
from rfbench.cli import main
from tests.support.papers import PAPER, trials
from tests.support.results import write_folder
from tests.support.verdicts import CLAIM_VERDICTS, NUMBER_VERDICTS


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_folder(Path("differs"), trials(80.0), {"config": {"name": "differs", **PAPER}})
    Path("empty").mkdir()


def verify(*words: str) -> Result:
    return CliRunner().invoke(main, ["verify", *words])


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ([], 0),
        (["empty"], 0),
        (["empty", "--strict"], 1),
        (["differs"], 0),
        (["differs", "--strict"], 1),
        (["differs", "--strict", "--paper", "tefm2015"], 0),
        (["differs", "--strict", "--protocol", "matched"], 1),
        (["differs", "--strict", "--protocol", "tuned"], 0),
        (["differs", "--protocol", "mached"], 2),
        (["differs", "--paper", "liu2002"], 2),
        (["nowhere"], 2),
    ],
)
def test_exit_codes(words: list[str], code: int) -> None:
    assert verify(*words).exit_code == code


def test_csv_has_the_numbers_or_the_claims() -> None:
    numbers = pd.read_csv(io.StringIO(verify("differs", "--format", "csv").stdout))
    assert list(numbers.columns) == COLUMNS
    assert set(numbers["verdict"]) <= set(NUMBER_VERDICTS)
    claims = pd.read_csv(io.StringIO(verify("--claims", "--format", "csv").stdout))
    assert set(claims["verdict"]) <= set(CLAIM_VERDICTS)
    one = pd.read_csv(io.StringIO(verify("--protocol", "tuned", "--format", "csv").stdout))
    assert set(one["protocol"]) == {"tuned"}


@pytest.mark.parametrize("form", ["text", "markdown"])
def test_what_is_printed_has_numbers_and_claims(form: str) -> None:
    whole = verify("differs", "--format", form).output
    assert "80.00" in whole
    assert whole.endswith("\n")
    alone = verify("differs", "--format", form, "--claims").output
    assert "80.00" not in alone
    for text in (whole, alone):
        assert "S5" in text
