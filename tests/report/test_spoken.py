"""Verdicts in words: effects with their unit."""

import numpy as np
import pytest

from rfbench import papers
from rfbench.papers import Part
from rfbench.report import evidence, rules, spoken
from rfbench.report.claims import Outcome
from rfbench.report.verify import board

from .conftest import Write


def part(claim: str, number: int = 0) -> Part:
    return next(c for c in papers.claims() if c.id == claim).parts[number]


@pytest.mark.parametrize(
    ("claim", "number", "value", "text"),
    [
        ("E1", 0, 1.25, "+1.25 points"),
        ("E3", 0, 0.5, "0.5 times"),
        ("L1", 0, 238.0, "238 features"),
        ("L2", 0, -2.5, "-2.5 points per dimension"),
        ("L3", 0, 0.75, "0.75 of the weight"),
        ("L7", 0, 0.125, "+0.125 points"),
        ("S3", 2, 0.5, "+0.5 s"),
        ("T1", 0, 0.65, "0.65 times"),
    ],
)
def test_effects_have_their_unit(claim: str, number: int, value: float, text: str) -> None:
    of = next(c for c in papers.claims() if c.id == claim)
    joint = {"L2": "slope", "L7": "plateau", "S3": "growth"}.get(claim, "")
    outcome = Outcome(of, "printed", rules.HOLDS, value, part=part(claim, number), joint=joint)
    assert spoken.effect(outcome) == text


def test_an_outcome_in_words() -> None:
    claim = next(c for c in papers.claims() if c.id == "E1")
    note = "; ".join(f"gap {i} " + "x" * 90 + ", y" for i in range(9))
    outcome = Outcome(
        claim, "tuned", rules.FAILS, 1.5, "error(a) - error(b)", 0.012, 3, 1, 1, note, part("E1")
    )
    said = spoken.outcome_sentence(outcome)
    assert said.startswith(
        "tuned: **fails**. error(a) - error(b): +1.5 points; outside the bounds (corrected p = "
        "0.012), at least 1 trial; 1 of 3 comparisons hold. Bounds: error(eerf) - error(other) "
        r"below 0 at each M. Note: gap 0"
    )
    assert said.endswith("and more in the scoreboard.")
    assert len(said) < 600
    assert "**not run**" in spoken.outcome_sentence(Outcome(claim, "tuned", rules.NOT_RUN))


@pytest.mark.parametrize(
    ("verdict", "p", "said"),
    [
        (rules.HOLDS, 0.012, "; within the bounds (corrected p = 0.012), "),
        (rules.INCONCLUSIVE, 0.05, "; within the bounds (corrected p = 0.05), "),
        (rules.INCONCLUSIVE, 1.0, "; not shown to lie within the bounds (corrected p = 1), "),
    ],
)
def test_a_p_value_says_what_it_shows(verdict: str, p: float, said: str) -> None:
    claim = next(c for c in papers.claims() if c.id == "E1")
    outcome = Outcome(claim, "tuned", verdict, 1.5, "x", p, 3, 1, 9, "", part("E1"))
    assert said in spoken.outcome_sentence(outcome)


def test_the_part_of_an_outcome_is_the_one_compared(write: Write) -> None:
    kept = {"dataset": "sphere", "n_train": 10000, "n_test": 1000, "protocol": "printed"}
    rng = np.random.default_rng(0)
    made = [
        {**kept, "sampler": "lkrf", "d": d, "trial": t, "kept": int(rng.integers(100, 110))}
        for d in range(2, 16)
        for t in range(10)
    ]
    found = board(evidence.gather([write(made, paper="lkrf2016", item="figure1b")]), "lkrf2016")
    (outcome,) = [o for o in found.outcomes if o.claim.id == "L1"]
    assert outcome.part == part("L1")
    assert outcome.verdict == rules.HOLDS
