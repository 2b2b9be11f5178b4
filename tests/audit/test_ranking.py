"""Combinations by their distance: of a real audit, and of rankings that are made by hand."""

import math

import pandas as pd
import pytest

from rfbench import papers, results
from rfbench.audit import page
from rfbench.audit.ranking import rank_combinations, tabulate_measured_numbers
from rfbench.errors import ResultsError
from tests.audit.invented import (
    HIDDEN,
    TEXTS,
    TIED,
    TWO,
    found,
    planned,
    ranked,
    tied,
    write_paper,
)
from tests.support.papers import read_from


def test_audit_ranks_the_settings_that_generated_the_numbers_first(ranking):
    first, second, *_ = ranking.to_dict("records")
    assert len(ranking) == 6
    assert {name: first[name] for name in HIDDEN} == HIDDEN
    assert second["rms_choosing"] > 1.3 * first["rms_choosing"]


def test_distances_to_published_numbers_equal_those_computed_from_rows(ranking, invented):
    rows = results.read_results_folder(found(invented)).rows
    best = rows[rows["bandwidth"].eq(4) & rows["feature_map"].eq("paired")]
    line, audit = ranking.iloc[0], planned(invented)
    gaps = []
    cells = tabulate_measured_numbers(audit, results.read_results_folder(found(invented)))
    cells = cells[cells["combination"] == ranking.index[0]]
    cells = cells.sort_values("number").to_dict("records")
    for published, cell in zip(papers.list_published_numbers(), cells, strict=True):
        here = best[best["label"].eq(published.method) & best["M"].eq(published.size)]["error"]
        assert (cell["method"], cell["M"]) == (published.method, published.M)
        assert cell["trials"] == len(here) == 2
        assert cell["measured"] == pytest.approx(here.mean(), abs=1e-9)
        assert cell["standard_error"] == pytest.approx(here.sem(), abs=1e-9)
        gaps.append(here.mean() - published.value)
    for half, name in zip(
        audit.target.split_numbers_into_halves(), ("rms_choosing", "rms_confirming"), strict=True
    ):
        said = math.sqrt(sum(gaps[i] ** 2 for i in half) / len(half))
        assert line[name] == pytest.approx(said)
    assert line["largest_difference"] == pytest.approx(max(map(abs, gaps)))
    assert line["cells"] == 6


def test_combination_with_missing_trials_is_not_ranked(invented, tmp_path):
    whole = results.read_results_folder(found(invented))
    lost = whole.rows["label"].eq("orf") & whole.rows["M"].eq(10)
    for missing, incomplete in ((lost & whole.rows["bandwidth"].eq(2), 2), (lost, 6)):
        part = results.Results(whole.folder, whole.name, whole.rows[~missing])
        audit = planned(invented)
        table = rank_combinations(audit, part)
        assert len(table) == 6 - incomplete
        assert "2" not in list(table["bandwidth"])
    with pytest.raises(
        ResultsError, match="No combination of settings has results for all published numbers"
    ):
        page.save_audit(audit, table, tmp_path)


def test_ranking_includes_the_unchanged_configuration(ranking):
    (own,) = ranking[ranking["as_configured"]].to_dict("records")
    assert (own["bandwidth"], own["feature_map"]) == ("20", "offset")
    assert own["place"] == 1 + sum(ranking["rms_choosing"] < own["rms_choosing"])
    assert not tied()[1]["as_configured"].any()


def test_audit_on_substitute_data_is_marked_with_unchanged_distances(ranking, home, tmp_path):
    published = {(n.method, n.size): n.value for n in papers.list_published_numbers()}
    with read_from(write_paper(tmp_path, published, dataset="mnist", stand_in="digits")):
        other = rank_combinations(planned(home), results.read_results_folder(found(home)))
    assert other["stand_in"].all()
    distances = ["place", "rms_choosing", "rms_confirming", "largest_difference"]
    pd.testing.assert_frame_equal(other[distances], ranking[distances])


def test_combinations_of_equal_distance_share_a_rank():
    _, table = tied()
    assert list(table["place"]) == [1, 1, 3, 3]
    assert list(table.index) == [0, 1, 2, 3]  # whatever confirms
    _, backwards = ranked(TIED[::-1], TEXTS)
    assert list(backwards["place"]) == [1, 1, 3, 3]
    assert list(backwards.index) == [2, 3, 0, 1]


def test_rounding_errors_do_not_change_the_ranking():
    _, table = ranked([(1 + 1e-12, 1), (1, 2), (1.001, 3)], ["scaling=a,b,c"])
    assert list(table["place"]) == [1, 1, 3]


def test_published_numbers_without_unit_use_relative_distances():
    plain = tuple(each.model_copy(update={"unit": "1", "value": 0.5}) for each in TWO)
    _, small = ranked([(0.01, 0.02), (0.005, 0.04)], ["scaling=a,b"], plain)
    _, large = ranked([(2.0, 4.0), (1.0, 8.0)], ["scaling=a,b"])
    columns = ["place", "rms_choosing", "rms_confirming", "largest_difference"]
    for column in columns:
        assert small[column].tolist() == pytest.approx(large[column].tolist())
