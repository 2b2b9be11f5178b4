"""The scoreboard: what stands beside each published number."""

import pytest

from rfbench.analysis.verdict_counts import count_verdicts_by_table
from rfbench.pages.scoreboard import (
    arrange_tables_by_data_set,
    make_heading_anchor,
    make_numbers_by_protocol_grid,
)
from rfbench.pages.templates import render_template
from tests.support.frames import results, verification
from tests.support.papers import A9A, PAPER, eeg, trials


def test_scoreboard_shows_each_number_under_each_protocol() -> None:
    tuned = [row | {"protocol": "tuned"} for row in trials(66.5, sd=1.0, n=4)]
    (one,) = arrange_tables_by_data_set(
        verification(results(eeg(rks=68.6, qmc=75.0) + tuned, **PAPER))
    )
    assert (one.paper, one.item, one.dataset, one.used) == ("liu2020", "table3", "EEG", "")
    assert one.trials == {"matched": "10", "tuned": "4"}
    assert one.spreads == {"sd"}
    percent, times = one.grids
    assert percent.head == ["accuracy", "published", "matched", "tuned"]
    rows = {row[0]: row[1:] for row in percent.rows}
    assert len(rows) == 32
    assert rows["RKS 14"] == ["68.45 ± 0.89", "68.60 ± 0.16 close", "66.50 ± 0.50"]
    assert rows["QMC 14"] == ["67.83 ± 0.73", "75.00 ± 0.16 differs", "–"]
    assert rows["RKS 28"][1:] == ["–", "–"]
    assert {row[0]: row[2] for row in times.rows}["RKS 14"] == "0.750 ± 0.000"


def test_scoreboard_lists_a_data_set_before_its_substitutes() -> None:
    every = results(trials(68.6), "own", **PAPER), results(trials(68, n_test=9), "part", **PAPER)
    assert [one.stand_in for one in arrange_tables_by_data_set(verification(*every))] == [
        False,
        True,
    ]


def test_scoreboard_counts_verdicts_and_averages_differences() -> None:
    """Of the four published values at s = 14: 68.45, 67.83, 68.78, 68.62."""
    found = verification(results(eeg(rks=68.55, qmc=68.63, leverage_rff=60.78), **PAPER))
    line = count_verdicts_by_table(found).loc[("liu2020", "table3", "EEG", "matched")]
    names = ["agrees", "close", "undecided", "differs", "at_chance", "compared", "numbers"]
    assert list(line[names]) == [0, 1, 1, 1, 0, 3, 32]
    assert line["decidable"] == 0, "68.45 ± 0.89 and 67.83 ± 0.73 over 10 trials, and 68.78 ± 0.77"
    assert line["distance"] == pytest.approx((0.1 + 0.8 + 8.0) / 3)
    rows = {row[0]: row[1:] for row in make_numbers_by_protocol_grid(found).rows}
    assert rows["liu2020 table3, EEG"] == ["32", "–", "0 / 1 / 1 / 1, 2.97, 0 decidable", "–"]
    assert rows["liu2020 table3, magic04"] == ["32", "–", "–", "–"]


def test_results_on_substitute_data_have_their_own_heading() -> None:
    (one,) = arrange_tables_by_data_set(
        verification(results(trials(68, n_test=9), "part", **PAPER))
    )
    assert one.heading == f"liu2020 table3, EEG: substitute data {one.used}"


def test_scoreboard_reports_failures_and_best_feature_counts() -> None:
    made = [row for M in (100, 500) for row in trials(80 + M / 100, **A9A | {"M": M})]
    failed = [row | {"status": "failed", "trial": row["trial"] + 10} for row in made]
    (one,) = arrange_tables_by_data_set(
        verification(results(made + failed, paper="lkrf2016", item="table1"))
    )
    assert one.used == "a9a"
    assert one.best
    assert one.failed == {"printed": 10}
    rows = {row[0]: row[2] for row in one.grids[0].rows}
    assert rows["RKS best"].startswith("15.00 ± ")
    news = {"dataset": "news", "n_train": 26561, "n_test": 13083, "M": 200, "sampler": "eerf"}
    blank = {"accuracy": "", "error": "", "relative_squared_error": 0.0163}
    (one,) = arrange_tables_by_data_set(
        verification(results(trials(0, **news, **blank), paper="eerf2018", item="table3"))
    )
    assert one.measures == ["relative_squared_error"]


def test_scoreboard_marks_feature_counts_at_chance_level() -> None:
    """Of a size at which no method learns; its numbers count as all others."""
    made = [row | {"protocol": "printed"} for row in eeg(rks=55.2, qmc=56.0)]
    learnt = trials(55.2, M=28, protocol="printed")
    learnt += trials(57.0, M=28, protocol="printed", sampler="qmc")
    found = verification(results(made + learnt, **PAPER))
    line = count_verdicts_by_table(found).loc[("liu2020", "table3", "EEG", "printed")]
    assert (line["at_chance"], line["compared"], line["differs"]) == (2, 4, 4)
    sizes = 68.45 - 55.2, 67.83 - 56.0, 71.44 - 55.2, 70.89 - 57.0
    assert line["distance"] == pytest.approx(sum(sizes) / 4)
    (one,) = arrange_tables_by_data_set(found)
    assert one.chance == ["printed"]
    rows = {row[0]: row[2] for row in make_numbers_by_protocol_grid(found).rows}
    assert rows["liu2020 table3, EEG"].startswith("0 / 0 / 0 / 4, 13.80, ")
    assert rows["liu2020 table3, EEG"].endswith(", 2 at chance")


def test_published_number_in_two_tables_counts_once() -> None:
    both = trials(83.84, **A9A, M=100, sampler="eerf")
    found = verification(results(both, paper="eerf2018", item="table3, table5"))
    table = count_verdicts_by_table(found).xs("printed", level="protocol")
    assert table.loc[("eerf2018", "table3", "adult"), "compared"] == 1
    assert table.loc[("eerf2018", "table5", "adult"), "compared"] == 0
    every = count_verdicts_by_table(verification()).xs("printed", level="protocol")["numbers"]
    assert every.groupby("paper").sum()["eerf2018"] == 22 - 4
    (five,) = [one for one in arrange_tables_by_data_set(found) if one.item == "table5"]
    assert five.repeated == ["table3"]


def test_page_lists_smoke_runs_and_sweeps_that_are_omitted() -> None:
    found = verification(
        results(trials(68.6), "smoky", smoke=True, **PAPER),
        results(trials(68.6, variant="solver.alphas=1"), "swept", **PAPER),
        results(trials(68.6, variant="solver.alphas=1"), "own"),
    )
    assert arrange_tables_by_data_set(found) == []
    said = render_template("left_out.j2", collection=found.selection.collection).splitlines()[2:]
    assert [line.split()[1].rstrip(":") for line in said] == ["smoky", "swept"]
    assert "10 rows" in said[1]


def test_heading_anchors_equal_those_of_github_markdown() -> None:
    assert make_heading_anchor("liu2020 table3, cod-RNA") == "liu2020-table3-cod-rna"
