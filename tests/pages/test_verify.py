"""`rfbench verify`: its exit codes and formats."""

import io
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result

from rfbench import papers
from rfbench.analysis import verification
from rfbench.analysis.published import PUBLISHED_COLUMNS
from rfbench.cli import main
from rfbench.experiment.current_settings import find_current_settings_of_each as today
from rfbench.pages.claims import group_by_claim
from rfbench.pages.verify import render_claim_verdicts as explained
from rfbench.results import reader
from tests.support.claims import rows
from tests.support.nightly import at_night
from tests.support.papers import PAPER, trials
from tests.support.results import write_folder
from tests.support.verdicts import CLAIM_VERDICTS, NUMBER_VERDICTS

PUBLISHED = Path(__file__).parents[2] / "results" / "published"


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
        (["empty"], 2),
        (["differs"], 0),
        (["nowhere"], 2),
    ],
)
def test_verify_returns_the_documented_exit_codes(words: list[str], code: int) -> None:
    assert verify(*words).exit_code == code


def test_verify_csv_contains_numbers_or_claims() -> None:
    numbers = pd.read_csv(io.StringIO(verify("differs", "--format", "csv").stdout))
    assert list(numbers.columns) == PUBLISHED_COLUMNS
    assert set(numbers["verdict"]) <= set(NUMBER_VERDICTS)
    claims = pd.read_csv(io.StringIO(verify("--claims", "--format", "csv").stdout))
    assert set(claims["verdict"]) <= set(CLAIM_VERDICTS)


def test_verify_output_contains_totals_numbers_and_claims() -> None:
    whole, alone = verify("differs").output, verify("differs", "--claims").output
    assert "80.00" in whole
    assert "80.00" not in alone
    for text in (whole, alone):
        assert text.startswith("TOTALS")
        assert text.endswith("\n")
    assert "S5" not in whole, "nothing of it is in these results"
    assert "tefm2015" not in whole


def test_single_claim_is_explained_by_its_decisive_comparisons(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    both = ("leverage-rff", "surrogate-leverage")
    made = rows(lambda method, M: 70.0 + 3 * (method == both[1]), both, 10)
    write_folder(Path("s5"), made, {"config": {"name": "s5", **PAPER}})
    said = verify("s5", "--claim", "S5").output
    assert said.startswith("S5, liu2020")
    assert "strongest answer" in said
    assert "matched: fails (5 of 5" in said
    joined = " ".join(said.split())
    assert joined.count(", outside") == 2
    assert ". 5 comparisons (0 inside the bounds, 5 outside), at least 10 trials; the" in joined
    assert "- Not compared on cod-RNA, covtype, magic04" in joined
    assert verify("s5", "--claim", "liu2020/S5").output == said
    text = verify("s5", "--claim", "S5", "--format", "csv").stdout
    every = pd.read_csv(io.StringIO(text))
    assert len(every) == 5
    assert list(every["side"]) == 5 * ["outside"]
    assert (every["excess"].diff().dropna() <= 0).all()
    np.testing.assert_allclose(every["effect"], 3.0, atol=0.1)
    read = []
    monkeypatch.setattr(
        reader,
        "_read_small",
        lambda file, own=reader._read_small: read.append(file.parent) or own(file),
    )
    write_folder(Path("other"), made, {"config": {"name": "other", **PAPER, "paper": "eerf2018"}})
    assert verify(".", "--claim", "S5").output == said
    assert Path("s5") in read
    assert Path("other") not in read
    other = verify("s5", "--claim", "S55")
    assert other.exit_code == 2
    assert "S5" in other.stderr


@pytest.mark.parametrize(
    "paper", ["liu2020", *at_night(*(name for name in papers.list_papers() if name != "liu2020"))]
)
def test_explanation_of_each_claim_fits_one_screen(paper: str) -> None:
    """On the published rows: 40 lines of 80 columns."""
    held = verification.verify_results(
        [*PUBLISHED.glob(f"{paper}_*"), PUBLISHED / "audits"], paper, today
    )
    for _, every in group_by_claim(held.outcomes):
        if every:
            lines = explained(every, 80).splitlines()
            assert len(lines) <= 40, every[0].claim.key
            assert max(map(len, lines)) <= 80


def test_verify_rejects_a_finding_without_support_in_the_rows() -> None:
    answer = verify("differs", "--finding", "methods")
    assert answer.exit_code == 2
    assert "no finding for these rows 'methods'" in answer.stderr
