"""Combinations by their distance: of a real audit, and of rankings that are made by hand."""

import math

import pandas as pd
import pytest

from rfbench import papers, results
from rfbench.audit import page
from rfbench.audit.ranking import rank
from rfbench.errors import ResultsError
from tests.audit.invented import (
    HIDDEN,
    TEXTS,
    TIED,
    TWO,
    found,
    number,
    planned,
    ranked,
    tied,
    write_paper,
)
from tests.support.papers import read_from


def test_the_hidden_protocol_is_found(ranking):
    first, second, *_ = ranking.table.to_dict("records")
    assert (ranking.tried, ranking.incomplete) == (6, 0)
    assert {name: first[name] for name in HIDDEN} == HIDDEN
    assert ranking.places_confirmed == (1, 1)
    assert first["rms_choosing"] < 3 * ranking.noise
    assert second["rms_choosing"] > 1.3 * first["rms_choosing"]


def test_distances_are_those_of_the_rows(ranking, invented):
    rows = results.read(found(invented)).rows
    best = rows[rows["bandwidth"].eq(4) & rows["feature_map"].eq("paired")]
    line = ranking.table.iloc[0]
    gaps = []
    for published, cell in zip(
        papers.published(), ranking.cells_of_first.to_dict("records"), strict=True
    ):
        here = best[best["label"].eq(published.method) & best["M"].eq(published.size)]["error"]
        assert (cell["method"], cell["M"]) == (published.method, published.M)
        assert cell["trials"] == len(here) == 2
        assert cell["measured"] == pytest.approx(here.mean(), abs=1e-9)
        assert cell["standard_error"] == pytest.approx(here.sem(), abs=1e-9)
        gaps.append(here.mean() - published.value)
    halves = ranking.audit.target.halves()
    for half, name in zip(halves, ("rms_choosing", "rms_confirming"), strict=True):
        said = math.sqrt(sum(gaps[i] ** 2 for i in half) / len(half))
        assert line[name] == pytest.approx(said)
    assert line["largest_difference"] == pytest.approx(max(map(abs, gaps)))
    judged = page.facts(ranking)["verdicts"]
    assert sum(judged.values()) == line["cells"] == 6
    assert judged == ranking.cells_of_first["verdict"].value_counts().to_dict()


def test_what_lacks_trials_is_counted_and_not_placed(invented):
    whole = results.read(found(invented))
    lost = whole.rows["label"].eq("orf") & whole.rows["M"].eq(10)
    for missing, incomplete in ((lost & whole.rows["bandwidth"].eq(2), 2), (lost, 6)):
        part = results.Results(whole.folder, whole.name, whole.rows[~missing])
        ranking = rank(planned(invented), part)
        assert (ranking.incomplete, len(ranking.table)) == (incomplete, 6 - incomplete)
        assert "2" not in list(ranking.table["bandwidth"])
    with pytest.raises(ResultsError):
        page.render(ranking, "text")


def test_the_noise_is_that_of_the_nearest_combinations(ranking):
    choosing, _ = ranking.audit.target.halves()
    assert ranking.pooled == 5  # of 6
    ours = []
    for combination in ranking.table.index[:5]:
        cells = ranking.cells[ranking.cells["combination"] == combination].set_index("number")
        ours.append((cells["standard_error"][choosing] ** 2).mean())
    assert ranking.noise == pytest.approx(math.sqrt(0.5**2 + sorted(ours)[2]))
    assert ranking.within_noise == sum(ranking.table["rms_choosing"] <= ranking.noise)


def test_the_place_of_the_configuration_as_it_stands(ranking):
    own = ranking.as_it_stands
    assert (own["bandwidth"], own["feature_map"]) == ("20", "offset")
    assert own["place"] == 1 + sum(ranking.table["rms_choosing"] < own["rms_choosing"])
    assert tied().as_it_stands is None
    assert tied(as_it_stands=3).as_it_stands["place"] == 3


def test_a_stand_in_is_not_judged(ranking, home, tmp_path):
    published = {(n.method, n.size): n.value for n in ranking.audit.target.numbers}
    with read_from(write_paper(tmp_path, published, dataset="mnist", stand_in="digits")):
        other = rank(planned(home), results.read(found(home)))
    assert (other.stand_in["used"], other.stand_in["used_rows"]) == ("digits", 1078)
    assert other.table["stand_in"].all()
    assert page.facts(other)["verdicts"] == {}
    distances = ["place", "rms_choosing", "rms_confirming", "largest_difference"]
    pd.testing.assert_frame_equal(other.table[distances], ranking.table[distances])


def test_equally_near_combinations_share_a_place_in_the_order_of_the_options():
    ranking = tied()
    assert list(ranking.table["place"]) == [1, 1, 3, 3]
    assert list(ranking.table.index) == [0, 1, 2, 3]  # whatever confirms
    assert len(ranking.first) == 2
    backwards = ranked(TIED[::-1], TEXTS)
    assert list(backwards.table["place"]) == [1, 1, 3, 3]
    assert list(backwards.table.index) == [2, 3, 0, 1]


def test_rounding_errors_make_no_difference():
    ranking = ranked([(1 + 1e-12, 1), (1, 2), (1.001, 3)], ["scaling=a,b,c"])
    assert list(ranking.table["place"]) == [1, 1, 3]


def test_what_confirms_is_a_range_where_the_first_tie():
    assert tied().places_confirmed == (2, 4)
    assert ranked([(1, 4), (2, 2)], ["scaling=a,b"]).places_confirmed == (2, 2)
    assert ranked([(1,), (2,)], ["scaling=a,b"], TWO[:1]).places_confirmed is None


def test_an_option_is_worth_the_nearest_that_has_it():
    worth = tied().worth()
    assert worth[["choice", "option", "chosen", "low", "high", "place"]].to_numpy().tolist() == [
        ["scaling", "none", 1.0, 2.0, 4.0, 1],
        ["scaling", "standard", 3.0, 1.0, 3.0, 3],
    ]  # the other choice is idle
    assert list(ranked(TIED, TEXTS).worth()["option"]) == ["none", "standard", "top", "draw"]


def test_far_combinations_do_not_raise_the_noise():
    errors = [0.4] * 6 + [30.0] * 54
    texts = ["bandwidth=1:60:1"]
    ranking = ranked([(float(i), float(i)) for i in range(1, 61)], texts, error=errors)
    assert ranking.pooled == 6  # the nearest tenth
    assert ranking.noise == pytest.approx(math.hypot(0.3, 0.4))
    assert ranking.within_noise == 0
    near = ranked([(0.1 * i, 1.0) for i in range(1, 61)], texts, error=errors)
    assert near.within_noise == 5


def test_a_spread_that_one_combination_lacks_is_passed_over():
    gaps, texts = [(1.0, 1.0), (2.0, 1.0)], ["scaling=a,b"]
    assert ranked(gaps, texts, error=[math.nan, 0.4]).noise == pytest.approx(0.5)
    assert math.isnan(ranked(gaps, texts, error=math.nan).noise)
    unknown = (number("eerf", spread=None), TWO[1])
    assert math.isnan(ranked(gaps, texts, unknown).noise)


def test_numbers_without_a_unit_count_in_percent_of_their_value():
    plain = tuple(
        each.model_copy(
            update={"unit": "1", "value": 0.5, "spread": each.spread and each.spread / 200}
        )
        for each in TWO
    )
    small = ranked([(0.01, 0.02), (0.005, 0.04)], ["scaling=a,b"], plain, error=0.002)
    large = ranked([(2.0, 4.0), (1.0, 8.0)], ["scaling=a,b"])
    columns = ["place", "rms_choosing", "rms_confirming", "largest_difference"]
    for column in columns:
        assert small.table[column].tolist() == pytest.approx(large.table[column].tolist())
    assert small.noise == pytest.approx(large.noise)
