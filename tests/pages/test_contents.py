"""The page of totals lists every table and figure of four papers, with what rows are missing."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rfbench import papers
from rfbench.analysis.contents import Coverage, compute_coverage
from rfbench.analysis.verification import Verification
from rfbench.experiment.current_settings import read_paper_configurations
from rfbench.pages.totals import make_coverage_grid
from tests.support.frames import results, verification
from tests.support.papers import PAPER, read_from, trials

SEEDS = ("eerf2018", "liu2020", "lkrf2016", "tefm2015")
MADE_UP = """
title: T
authors: [A B]
venue: V
year: 2000
about: a made-up paper
datasets:
  First: {dataset: eeg, n_train: 7490, n_test: 7490}
  Second: {dataset: letter, stand_ins: [digits]}
  Third: {dataset: usps}
contents:
  - {item: table1}
  - {item: figure1}
  - {item: figure2, datasets: [Second]}
  - {item: figure3, nothing: a drawing}
"""


def configured(item: str, *data: str) -> dict[str, Any]:
    return {"paper": "made", "item": item, "dataset": [{"name": name} for name in data]}


@pytest.fixture
def made(tmp_path: Path) -> Iterator[None]:
    folder = tmp_path / "made"
    folder.mkdir()
    (folder / "paper.yaml").write_text(MADE_UP)
    with read_from(tmp_path):
        yield


@pytest.mark.usefixtures("made")
def test_contents_name_missing_trials_substitutes_and_unmeasured_runs() -> None:
    own = results(trials(70.0), "run_a", **configured("table1, figure1", "eeg"))
    own.manifest["trials"] = [*own.rows["trial_id"], "not made"]
    other = results(
        trials(70.0, dataset="digits", n_train=5000), "run_b", **configured("table1", "digits")
    )
    shipped = {
        "run_a": configured("table1, figure1", "eeg"),
        "run_c": configured("table1", "usps"),
        "run_d": configured("table1", "eeg"),
        "run_e": configured("figure2", "letter"),
    }
    table, first, second, drawing = compute_coverage(verification(own, other), shipped)
    assert table == Coverage(
        "made", "table1", "", ["First"], {"Second": {"digits": (5000, 5000)}}, ["Third"],
        ["run_d"], {"run_a": (1, 11)}, (0, 0),
    )  # fmt: skip
    assert (first.measured, first.absent, first.short) == (["First"], [], {"run_a": (1, 11)})
    assert (second.measured, second.replaced, second.absent) == ([], {}, ["Second"])
    assert not any(each.is_complete for each in (table, first, second, drawing))
    lines = make_coverage_grid([table, first, second, drawing]).rows
    assert len({tuple(line[2:]) for line in lines}) == 4
    assert [line[2] for line in lines] == ["in part", "in part", "–", "nothing to measure"]
    assert lines[0][-1] == "run_a (1 of 11), run_d (all)"
    own.manifest["trials"].pop()
    assert compute_coverage(verification(own, other), shipped)[1].is_complete


def test_table_with_an_unmeasured_number_is_partially_covered() -> None:
    every = compute_coverage(
        verification(results(trials(70.0), "a", dataset=[{"name": "eeg"}], **PAPER)), {}
    )
    (table,) = [each for each in every if (each.paper, each.item) == ("liu2020", "table3")]
    numbers = [n for n in papers.find_paper_files("liu2020").published if n.item == "table3"]
    percent = [number for number in numbers if number.unit != "s"]
    assert table.measured == ["EEG"]
    assert table.numbers == (len(percent) - 1, len(percent))
    assert not table.is_complete


@pytest.fixture(scope="module")
def held(every_published: Verification) -> Verification:
    return every_published


def test_each_table_and_figure_is_listed_once(held: Verification) -> None:
    items = [
        (each.paper, each.item) for each in compute_coverage(held, read_paper_configurations())
    ]
    assert len(items) == len(set(items))
    assert {name for name, _ in items} == set(SEEDS)
    kinds = [item.rstrip("0123456789") for _, item in items]
    assert (kinds.count("table"), kinds.count("figure")) == (12, 10)


def test_published_lines_match_rows_and_configurations(held: Verification) -> None:
    """Every published run with fewer rows than planned is named at each of its items."""
    lines = {
        (each.paper, each.item): each
        for each in compute_coverage(held, read_paper_configurations())
    }
    short = {
        (one.config["paper"], item.strip()): one.name
        for one in held.selection.collection.experiments
        if one.config.get("paper") in SEEDS
        for item in one.config["item"].split(",")
        if set(one.manifest["trials"]) - set(one.rows["trial_id"])
    }
    assert len(short) > 5
    for key, name in short.items():
        assert key not in lines or name in lines[key].short
    own = held.numbers_on_own_data[
        (held.numbers_on_own_data["unit"] != "s") & (held.numbers_on_own_data["trials"] > 0)
    ]
    for key, each in lines.items():
        here = own[(own["paper"] == key[0]) & (own["item"] == key[1])]
        assert set(here["dataset"]) <= set(each.measured), key
        if each.nothing:
            assert not [n for n in papers.find_paper_files(key[0]).published if n.item == key[1]]
    (figure1,) = [lines["liu2020", "figure1"]]
    assert figure1.is_complete
    assert lines["lkrf2016", "table1"].absent == ["buzz"]
    assert lines["lkrf2016", "table2"].absent == ["reuters"]
    assert set(lines["tefm2015", "figure2"].replaced) == {"slice"}
    assert "slice" in lines["tefm2015", "figure1"].replaced
    assert lines["tefm2015", "figure1"].measured
    assert not lines["tefm2015", "figure2"].measured
