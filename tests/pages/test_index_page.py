"""The front page: counts beside an independent computation from the same outcomes."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from rfbench import papers
from rfbench.analysis import verdicts
from rfbench.analysis.contents import count_missing_trials
from rfbench.analysis.verdict_counts import CLASS_LABELS, Count
from rfbench.pages import index_page
from rfbench.pages.index_page import format_machine, gather_totals
from tests.support.frames import results, verification
from tests.support.papers import PAPER, eeg, trials

ROOT = Path(__file__).parents[2]


def found() -> Any:
    every = eeg(rks=68.5, qmc=69.2, leverage_rff=60.0, surrogate_leverage=69.0)
    tuned = [row | {"protocol": "tuned"} for row in eeg(rks=40.0)]
    return verification(results(every, "a", **PAPER), results(tuned, "b", **PAPER))


def test_totals_equal_those_of_the_ledger() -> None:
    said = gather_totals(found())
    (line,) = said["numbers_by_class"].rows
    assert line[:4] == [
        "printed in tables", "tuned to match", "matched", "4",
    ]  # fmt: skip
    assert [row[:4] for row in said["claims_by_class"].rows] == [
        ["of the papers", "committed before the first rows", "tuned to match", "matched"],
        ["ours", "set or changed after the first rows", "ours", "tuned"],
    ]
    percent = [
        one for one in papers.list_published_numbers() if one.unit != "s" and not one.same_as
    ]
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
def test_counts_per_paper_add_up_to_the_totals(named: str, words: int) -> None:
    """A class is the first `words` columns; the column of protocols follows, then the counts."""
    tables = read_tables((ROOT / "results" / "totals.md").read_text())
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


def read_front() -> tuple[list[str], dict[str, dict[str, str]], dict[str, dict[str, str]]]:
    """Return the columns of the front table, and the cells of papers and of totals by them."""
    (head, *lines) = read_tables((ROOT / "results" / "README.md").read_text())[0]
    cells = {line[0]: dict(zip(head[1:], line[1:], strict=True)) for line in lines}
    totals = {name.strip("*"): line for name, line in cells.items() if name.startswith("**")}
    own = {name[1:].partition("]")[0]: of for name, of in cells.items() if name.startswith("[")}
    return head[1:], own, totals


def add_cells(cells: list[str]) -> dict[str, tuple[int, ...]]:
    """Add the numbers of cells class by class: near or holding, tested, and different ones."""
    found: dict[str, tuple[int, ...]] = {}
    for part in "; ".join(cells).split("; "):
        match = re.fullmatch(r"(?:([^:]+): )?(\d+) of (\d+)(?: \((\d+) differs?\))?.*", part)
        if match and "fold" not in part:
            name, *numbers = match.groups("0")
            added = found.get(name, (0, 0, 0))
            found[name] = tuple(map(sum, zip(added, map(int, numbers), strict=True)))
    return found


def test_rows_of_the_index_table_sum_to_the_totals_of_the_ledger() -> None:
    columns, own, totals = read_front()
    assert list(own) == papers.list_papers()
    stored = json.loads((ROOT / "results" / "ledger.json").read_text())
    classes = {"as printed": {"0": {"text", "readings"}, "corrected": {"corrected"}},
               "tuned to match": {"0": {"matched"}, "corrected": {"rematched"}},
               "authors' code": {"0": {"code"}}}  # fmt: skip
    sources = {"table": "all numbers printed in tables",
               "repository": "all numbers computed from the authors' raw runs"}  # fmt: skip
    for column, kinds in classes.items():
        every = add_cells([line[column] for line in own.values()])
        of_sources = [add_cells([totals[name][column]]) for name in sources.values()]
        for kind in kinds:
            parts = [of[kind] for of in of_sources if kind in of]
            assert every[kind] == tuple(map(sum, zip(*parts, strict=True)))
        for source, name in sources.items():
            for kind, settings in kinds.items():
                lines = [each for each in stored["numbers"]
                         if each["source"] == source and each["settings"] in settings]  # fmt: skip
                near, tested, differ = (
                    sum(each.get(verdict, 0) for each in lines for verdict in of)
                    for of in (("agrees", "close"), verdicts.COMPARED, ("differs",))
                )
                said = add_cells([totals[name][column]]).get(kind, (0, 0, 0))
                assert said == (near, tested, differ)
    of_claims = [name for name in columns if name.startswith("claims: ")]
    assert len(of_claims) == 3
    for column in of_claims:
        total = totals["all claims"][column]
        assert add_cells([line[column] for line in own.values()]) == add_cells([total])
        order = {"before": "before", "with": "same commit", "after": "after"}[column.split()[2]]
        names = sorted(key.partition("/")[2] for key, of in stored["holding"].items()
                       if of[2] == order)  # fmt: skip
        assert sorted(re.findall(r"\b[A-Z]\d\b", total)) == names
        tested = sum(
            n for each in stored["claims"] for kind, n in each.items()
            if (each["whose"], each["form"]) == ("paper", order) and kind in verdicts.JUDGED
            and each["settings"] in ("readings", "text", "corrected", "code")
        )  # fmt: skip
        assert sum(numbers[1] for numbers in add_cells([total]).values()) == tested


def test_counts_of_different_classes_are_not_added() -> None:
    """A paper whose numbers were measured under a corrected reading too has two counts."""
    counts = [
        Count(("table", "readings"), ("printed",), {verdicts.AGREES: 1, verdicts.DIFFERS: 2}),
        Count(("table", "corrected"), ("corrected",), {verdicts.CLOSE: 1, verdicts.UNDECIDED: 1}),
        Count(("table", "matched"), ("matched",), {verdicts.AGREES: 4}),
    ]
    said = "1 of 3 (2 differ); corrected: 1 of 2 (0 differ)"
    assert index_page._count_near(counts, "as printed") == said
    assert index_page._count_near(counts, "tuned to match") == "4 of 4 (0 differ)"
    assert index_page._count_near(counts, "authors' code") == "–"
    assert index_page._count_near(counts[1:2], "as printed") == "corrected: 1 of 2 (0 differ)"


def test_index_page_is_short() -> None:
    """Two sentences, a row per paper, at most six findings of two lines, and links."""
    text = (ROOT / "results" / "README.md").read_text()
    assert len(text.splitlines()) <= 90
    found = re.findall(r"^\d\. (.*) \(\w+\)$", text, re.M)
    assert 4 <= len(found) <= 6
    # Two lines of a rendered page have about 60 words.
    assert [each for each in found if len(each.split()) > 60] == []
    assert text.index("| paper ") < text.index("## Findings")
    assert [line for line in text.splitlines()[2:4] if line.count(". ") + 1 > 2] == []


def test_index_page_counts_excluded_numbers_of_each_paper() -> None:
    stored = json.loads((ROOT / "results" / "ledger.json").read_text())["left out"]
    tables = read_tables((ROOT / "results" / "totals.md").read_text())
    (by_paper,) = [table for table in tables if table[0][:2] == ["paper", "numbers"]]
    gone = [each for each in stored if each["group"] == "other data"]
    assert gone
    for each in gone:
        paper = each["of"][0].split()[0]
        of = [paper, CLASS_LABELS[each["source"]], CLASS_LABELS[each["settings"]]]
        (line,) = [line for line in by_paper if line[:3] == of]
        every, agrees, close = (int(cell) for cell in line[4:7])
        left = [each.get(verdict, 0) for verdict in verdicts.COMPARED]
        said = f"{agrees + close + sum(left[:2])} of {every + sum(left)} numbers would agree"
        headline = (ROOT / "results" / "papers" / f"{paper}.md").read_text().splitlines()[2]
        removed = "If the numbers that were removed after results were known still counted"
        assert f"{removed}, {said}" in headline


def test_unfinished_run_is_shown_with_its_machine() -> None:
    one = results(trials(1, n=2))
    assert (count_missing_trials(one), format_machine(one)) == ((0, 0), "")
    one.manifest["trials"] = ["0", "1", "2"]
    one.manifest.update(
        machine={"cpu": "C", "cores": 2, "memory_gib": 4, "system": "S", "blas": None},
        versions={"numpy": "2"},
    )
    assert (count_missing_trials(one), format_machine(one)) == (
        (1, 3),
        "C, 2 cores, 4 GiB, S, numpy 2",
    )
    one.manifest["machine"]["blas"] = "openblas"
    assert format_machine(one).endswith("numpy 2")
    one.manifest["machine"] = "laptop"
    assert format_machine(one) == ""
