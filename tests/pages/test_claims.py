"""The claims on pages: units, and the comparisons behind a verdict."""

import io
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from rfbench import papers
from rfbench.analysis.comparisons import ClaimComparison
from rfbench.analysis.outcomes import Outcome
from rfbench.pages.claims import (
    find_effect_unit,
    format_comparison,
    format_verdict,
    group_by_claim,
    make_claims_grid,
    render_comparisons_csv,
    select_worst_comparisons,
)
from rfbench.papers.models import Claim
from tests.support.claims import rows
from tests.support.frames import results, verification
from tests.support.papers import PAPER, eeg


def claim(name: str) -> Claim:
    return next(one for one in papers.list_claims() if one.id == name)


@pytest.mark.parametrize(
    ("name", "part", "joint", "expected"),
    [
        ("E1", 0, "", "points"),
        ("E3", 0, "", "times"),
        ("L1", 0, "draws", "of the draws"),
        ("L2", 0, "slope over d", "points per dimension"),
        ("L3", 0, "", "of the weight"),
        ("L7", 0, "plateau", "points"),
        ("S3", 2, "growth", "s"),
        ("T1", 0, "", "times"),
    ],
)
def test_effects_of_claims_are_shown_with_their_unit(
    name: str, part: int, joint: str, expected: str
) -> None:
    assert find_effect_unit(claim(name).parts[part], joint) == expected


def test_claims_are_listed_per_protocol_with_the_decisive_comparison() -> None:
    """S5: surrogate and leverage features within 1.5 points; here they are 3 apart."""
    both = ("leverage-rff", "surrogate-leverage")
    made = rows(lambda method, M: 70.0 + 3 * (method == both[1]), both, 10)
    found = verification(results(made, paper="liu2020", item="table3"))
    every = {one.id: lines for one, lines in group_by_claim(found.outcomes)}
    assert len(every) == len(papers.list_claims())
    assert every["E1"] == []
    (one,) = every["S5"]
    assert (one.verdict, one.n_outside_bounds) == ("fails", 5)
    assert one.part == claim("S5").parts[0]
    assert list(one.missing) == ["cod-RNA", "covtype", "magic04"]
    (compared, effect) = format_comparison(one, select_worst_comparisons(one)[0])
    assert format_verdict(one).startswith("fails (5 of 5, at worst by ")
    assert float(format_verdict(one).split()[-2]) == pytest.approx(one.effect - 1.5, abs=0.05)
    assert compared.startswith("accuracy, SLS-RFF - LS-RFF, eeg, M = ")
    assert effect.endswith(" points")
    assert float(effect.split()[0]) == pytest.approx(one.effect, abs=0.01)
    assert len(select_worst_comparisons(one)) == 2


def test_csv_contains_each_comparison_of_an_unjudged_claim() -> None:
    each = ClaimComparison(np.zeros(2))
    outcome = Outcome(claim("L4"), "printed", "shown", (each,) * 3)
    file = pd.read_csv(io.StringIO(str(render_comparisons_csv([outcome]))))
    assert (len(select_worst_comparisons(outcome)), len(file)) == (2, 3)
    assert set(file["side"]) == {"not judged"}


def test_each_claim_has_a_line_with_verdict_and_worst_comparison() -> None:
    made = eeg(rks=68.5, qmc=69.2, leverage_rff=60.0, surrogate_leverage=69.0)
    held = verification(results(made, "a", **PAPER))
    own = [outcome for outcome in held.outcomes if outcome.claim.paper == "liu2020"]
    grid = make_claims_grid(own)
    assert grid.head == [
        "claim", "test", "form set", "tuned to match", "least favorable comparison",
    ]  # fmt: skip
    assert len(grid.rows) == len([c for c in papers.list_claims() if c.paper == "liu2020"])
    (s5,) = [row for row in grid.rows if row[0].startswith("S5: ")]
    assert s5[2:4] == [
        "before rows",
        "fails (1 of 1, at worst by 7.5 points) *; 0 inside, 1 outside, 0 open",
    ]
    assert s5[4].startswith("accuracy, SLS-RFF - LS-RFF, eeg, M = 14: +9 ")


def test_worst_comparison_of_a_claim_names_its_protocol_and_setting() -> None:
    made = eeg(rks=68.5, qmc=69.2, leverage_rff=60.0, surrogate_leverage=69.0)
    held = verification(results(made, "a", **PAPER))
    own = [outcome for outcome in held.outcomes if outcome.claim.id == "S5" and outcome.comparisons]
    other = [replace(outcome, protocol="printed") for outcome in own]
    (row,) = make_claims_grid([*own, *other]).rows
    assert row[-1].startswith("tuned to match: accuracy, SLS-RFF - LS-RFF, eeg, M = 14: +9 ")
