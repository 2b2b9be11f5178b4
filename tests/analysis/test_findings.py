"""The findings: their numbers by other code, and that none stands on rows that do not carry it."""

import csv
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest

from rfbench import papers
from rfbench.analysis import findings, verdict_counts, verdicts
from rfbench.analysis.frame import collect_results
from rfbench.analysis.outcomes import Outcome
from rfbench.pages.findings import render_finding_text, render_statements

PUBLISHED = Path(__file__).parents[2] / "results" / "published"
APART = ["tuned_apart_har_random", "tuned_apart_har"]


def test_statements_about_random_splits_agree_with_published_rows():
    means = {}
    for name in APART:
        with (PUBLISHED / name / "trials.csv").open(newline="") as file:
            for row in csv.DictReader(file):
                if row["status"] == "ok" and row["M"] == "400":
                    means.setdefault((name, row["label"]), []).append(float(row["error"]))
    means = {key: sum(values) / len(values) for key, values in means.items()}
    collection = collect_results([PUBLISHED / name for name in APART])
    found = findings.build_splits_finding(
        SimpleNamespace(selection=SimpleNamespace(collection=collection))
    )
    assert found is not None
    bars = {bar.name.rpartition(", ")[2]: bar for bar in found.bars}
    assert len(bars) == len(means) / 2
    for method, bar in bars.items():
        random, apart = (means[name, method] for name in APART)
        assert bar.value == pytest.approx(apart - random)
        assert bar.low > 0
    (statement,) = render_statements([found])
    assert statement.sentence.endswith(".")
    printed = render_finding_text([statement], "splits", 200)
    assert statement.sentence[:60] in printed
    assert all(f"{bar.value:.3g}" in printed for bar in found.bars)


def own(rows):
    names = ["protocol", "settings", "verdict", "difference", "trials", "number"]
    table = pd.DataFrame(rows, columns=names)
    place = {"unit": "%", "same_as": "", "paper": "liu2020", "item": "t", "dataset": "d"}
    place |= {"stand_in": False, "source": "table"}
    return table.assign(**place, decidable=True, published_error=1.0)


def test_published_numbers_are_counted_by_verdict_and_provenance():
    table = own(
        [
            ("printed", "readings", verdicts.AGREES, 0.1, 9, 0),
            ("printed", "readings", verdicts.DIFFERS, -3.0, 9, 1),
            ("printed", "readings", verdicts.DIFFERS, -9.0, 9, 2),
            ("matched", "matched", verdicts.CLOSE, 0.8, 9, 0),
            ("matched", "matched", verdicts.UNDECIDED, 0.4, 9, 1),
            ("tuned", "ours", verdicts.NOT_JUDGED, 5.0, 9, 0),
        ]
    )
    table.loc[0, "unit"] = "1"  # kernel errors and the like count too
    table.loc[2, "decidable"] = False
    table["by_interval"] = table["verdict"].replace({verdicts.NOT_JUDGED: verdicts.DIFFERS})
    usps = table.loc[[2]].assign(paper="quadrature2018", dataset="USPS", stand_in=True)
    made = SimpleNamespace(
        numbers_on_own_data=table, numbers=pd.concat([table, usps], ignore_index=True)
    )
    found = findings.build_numbers_finding(made)
    assert list(found.facts["counts"]) == ["table"]
    every = found.facts["counts"]["table"]
    counts = [
        (each.of, each.n_compared, each.n_agreeing_or_close, each["differs"]) for each in every
    ]
    assert counts == [(("table", "readings"), 3, 1, 2), (("table", "matched"), 2, 1, 0)]
    (read, _) = (each.decidable_count for each in every)
    assert (read.n_compared, read.n_agreeing_or_close, read["differs"]) == (2, 1, 1)
    restored = verdict_counts.count_numbers_including_removed(made)
    assert {
        of: (c.n_agreeing_or_close, c.n_compared, c["differs"]) for of, c in restored.items()
    } == {
        ("table", "readings"): (1, 4, 3),
        ("table", "matched"): (1, 2, 0),
        ("table", "ours"): (0, 1, 1),
    }
    assert [(bar.name, bar.value) for bar in found.bars] == [
        ("liu2020, printed in tables, text and our readings: 1 of 3", pytest.approx(100 / 3)),
        ("liu2020, printed in tables, tuned to match: 1 of 2", 50),
    ]
    sentence = render_statements([found])[0].sentence
    assert sentence.startswith(
        "With settings as printed, 1 of 3 numbers printed in tables is near our numbers and 2"
    )
    assert "With settings tuned to match, 1 of 2 numbers is near and 0 differ" in sentence
    nothing = table.assign(verdict="not judged")
    assert (
        findings.build_numbers_finding(
            SimpleNamespace(numbers_on_own_data=nothing, numbers=nothing)
        )
        is None
    )


def outcome(claim, protocol, verdict, differing=()):
    return SimpleNamespace(
        claim=claim, protocol=protocol, verdict=verdict, label=verdict, differing=differing
    )


def test_claim_counts_exclude_our_claims_and_matched_settings():
    assert {"claim", "protocol", "verdict", "differing"} <= set(Outcome.__dataclass_fields__)
    by_id = {claim.id: claim for claim in papers.list_claims()}
    every = (
        outcome(by_id["E2"], "printed", verdicts.HOLDS),
        outcome(by_id["L5"], "printed", verdicts.FAILS),
        outcome(by_id["E2"], "matched", verdicts.HOLDS),  # tuned to match
        outcome(by_id["E5"], "printed", verdicts.HOLDS, (("letter", 24.8, "points"),)),
        outcome(by_id["S5"], "printed", verdicts.HOLDS + verdicts.UNVARIED),
        outcome(by_id["S6"], "printed", verdicts.HOLDS),  # ours
        outcome(by_id["O2"], "printed", verdicts.HOLDS),  # its bound came after
        outcome(by_id["Q1"], "code", verdicts.HOLDS_TESTED),
    )
    assert [o.claim.id for o in every if verdict_counts.is_counted_as_holding(o)] == [
        "E2",
        "O2",
        "Q1",
    ]
    found = findings.build_claims_finding(SimpleNamespace(outcomes=every))
    every = [each for counts in found.facts["counts"].values() for each in counts]
    assert {each.of[1:]: each.n_tested for each in every} == {
        ("before", "readings"): 3, ("after", "readings"): 2, ("before", "code"): 1,
    }  # fmt: skip
    assert found.facts["holding"] == {
        ("before", "readings"): ["E2"], ("after", "readings"): ["O2"], ("before", "code"): ["Q1"],
    }  # fmt: skip
    sentence = render_statements([found])[0].sentence
    said = (
        "as printed, 1 of 3 before rows (E2), 1 of 2 after rows (O2); authors' code, 1 of 1 before"
    )
    assert said in sentence
