"""The front page: counts beside an independent computation from the same outcomes."""

import json
from pathlib import Path
from typing import Any

import pytest

from rfbench import papers
from rfbench.analysis import verdicts
from rfbench.analysis.contents import count_missing
from rfbench.analysis.ledger import CLASS_LABELS
from rfbench.pages.front import format_machine, gather_totals
from tests.support.frames import results, verification
from tests.support.papers import PAPER, eeg, trials

ROOT = Path(__file__).parents[2]


def found() -> Any:
    every = eeg(rks=68.5, qmc=69.2, leverage_rff=60.0, surrogate_leverage=69.0)
    tuned = [row | {"protocol": "tuned"} for row in eeg(rks=40.0)]
    return verification(results(every, "a", **PAPER), results(tuned, "b", **PAPER))


def test_the_totals_are_those_of_the_ledger() -> None:
    said = gather_totals(found())
    (line,) = said["numbers_by_class"].rows
    assert line[:4] == [
        "printed in tables", "tuned to match", "matched", "4",
    ]  # fmt: skip
    assert [row[:4] for row in said["claims_by_class"].rows] == [
        ["of the papers", "committed before the first rows", "tuned to match", "matched"],
        ["ours", "set or changed after the first rows", "ours", "tuned"],
    ]
    percent = [one for one in papers.list_published() if one.unit != "s" and not one.same_as]
    assert sum(sum(by.values()) for by in said["printed"].values()) == len(percent)
    assert said["holding"] == {}


def read_tables(page: str) -> list[list[list[str]]]:
    """Return the tables of a page of Markdown: lines of cells, the head first."""
    found: list[list[list[str]]] = [[]]
    for line in page.splitlines():
        if line.startswith("|"):
            found[-1].append([cell.strip() for cell in line.strip("|").split("|")])
        elif found[-1]:
            found.append([])
    return [[table[0], *table[2:]] for table in found if table]


@pytest.mark.parametrize(("named", "words"), [("numbers", 2), ("claims", 3)])
def test_the_lines_of_the_papers_add_up_to_the_totals(named: str, words: int) -> None:
    """A class is the first `words` columns; the column of protocols follows, then the counts."""
    tables = read_tables((ROOT / "results" / "README.md").read_text())
    (total,) = [table for table in tables if table[0][0] == named]
    (by_paper,) = [table for table in tables if table[0][:2] == ["paper", named]]
    assert total[0] == by_paper[0][1:]
    sums: dict[tuple[str, ...], list[int]] = {}
    for _, *line in by_paper[1:]:
        counts = [int(cell) for cell in line[words + 1 :]]
        kept = sums.setdefault(tuple(line[:words]), [0] * len(counts))
        sums[tuple(line[:words])] = [a + b for a, b in zip(kept, counts, strict=True)]
    assert len(by_paper) > len(total) > 3
    assert sums == {tuple(line[:words]): [int(n) for n in line[words + 1 :]] for line in total[1:]}
    ledger = json.loads((ROOT / "results" / "ledger.json").read_text())[named]
    kinds = {*verdicts.COMPARED, *verdicts.JUDGED}
    stored = [sum(n for kind, n in each.items() if kind in kinds) for each in ledger]
    shown = [counts[0] if named == "numbers" else sum(counts) for counts in sums.values()]
    assert sorted(stored) == sorted(shown)


def test_the_headline_of_a_paper_has_also_the_numbers_that_left_its_count() -> None:
    stored = json.loads((ROOT / "results" / "ledger.json").read_text())["left out"]
    tables = read_tables((ROOT / "results" / "README.md").read_text())
    (by_paper,) = [table for table in tables if table[0][:2] == ["paper", "numbers"]]
    gone = [each for each in stored if each["group"] == "other data"]
    assert gone
    for each in gone:
        paper = each["of"][0].split()[0]
        of = [paper, CLASS_LABELS[each["source"]], CLASS_LABELS[each["settings"]]]
        (line,) = [line for line in by_paper if line[:3] == of]
        every, agrees, close = (int(cell) for cell in line[4:7])
        left = [each.get(verdict, 0) for verdict in verdicts.COMPARED]
        said = f"{agrees + close + sum(left[:2])} of {every + sum(left)}, "
        headline = (ROOT / "results" / "papers" / f"{paper}.md").read_text().splitlines()[2]
        assert f"with the numbers that left this count after results were known {said}" in headline


def test_an_unfinished_run_and_its_machine() -> None:
    one = results(trials(1, n=2))
    assert (count_missing(one), format_machine(one)) == ((0, 0), "")
    one.manifest["trials"] = ["0", "1", "2"]
    one.manifest.update(
        machine={"cpu": "C", "cores": 2, "memory_gib": 4, "system": "S", "blas": None},
        versions={"numpy": "2"},
    )
    assert (count_missing(one), format_machine(one)) == ((1, 3), "C, 2 cores, 4 GiB, S, numpy 2")
    one.manifest["machine"]["blas"] = "openblas"
    assert format_machine(one).endswith("numpy 2")
    one.manifest["machine"] = "laptop"
    assert format_machine(one) == ""
