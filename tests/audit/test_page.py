"""What the page says of rankings that are made by hand."""

import math
from pathlib import Path

import pytest

from rfbench import config
from rfbench.audit import choices, page, told
from rfbench.audit.choices import Choice, Option
from rfbench.audit.needed import idle
from rfbench.audit.plan import Audit, Tried
from rfbench.audit.ranking import Placed, Ranking
from rfbench.audit.target import Target
from rfbench.papers import Published
from rfbench.report.verify import Cell

CONFIG = """\
dataset: digits
split: {test_size: 0.4}
M: [10]
samplers: [rks, {lkrf: {pool_size: 20}}, {eerf: {pool_size: 20}}]
trials: 4
"""


def number(method, size=10):
    return Published(
        paper="p", item="t", dataset="D", method=method, M=str(size), metric="error", value=10.0,
        spread=0.3, spread_kind="se", unit="%", mark="", note="",
    )  # fmt: skip


def ranked(gaps, texts, numbers, *, error=0.4, trials=4, **keywords):
    """Rank combinations with the given differences to the numbers."""
    target = Target("p", ("t",), "D", numbers)
    varied = [choices.given(text, {}) for text in texts]
    tried = choices.combinations(varied, 1000)
    choosing, confirming = target.halves()
    errors = error if isinstance(error, list) else [error] * len(gaps)
    placed = []
    for combination, row, spread in zip(tried, gaps, errors, strict=True):
        cells = tuple(
            Cell(n, "", "close", n.value + gap, spread, trials)
            for n, gap in zip(numbers, row, strict=True)
        )
        halves = [
            math.sqrt(sum(row[i] ** 2 for i in half) / len(half)) for half in (choosing, confirming)
        ]
        placed.append(Placed(combination, cells, *halves))
    placed.sort(key=lambda p: p.choosing)
    read = config.Experiment.model_validate(
        {"name": "made", "dataset": "digits", "M": [10], "samplers": ["rks"], "trials": trials}
    )
    audit = Audit(target, varied, [Tried(c, read) for c in tried], [], len(tried), **keywords)
    return Ranking(audit, placed)


TWO = (number("eerf"), number("lkrf"))
TIED = ((1.0, 4.0), (1.0, 2.0), (3.0, 3.0), (3.0, 1.0))
TEXTS = ("scaling=none,standard", "samplers.lkrf.estimator=top,draw")


def tied(**keywords):
    return ranked(TIED, TEXTS, TWO, config="made", idle=["samplers.lkrf.estimator"], **keywords)


def cells(content, head):
    """Return the cells of the rows of the tables that begin with a text."""
    rows = [line for line in content.splitlines() if line.startswith(f"| {head}")]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]


def test_equally_near_combinations_share_a_place():
    ranking = tied()
    assert ranking.places == [1, 1, 3, 3]
    assert list(page.table(ranking)["place"]) == [1, 1, 3, 3]
    content = page.render(ranking, "markdown")
    assert [row[0] for row in cells(content, "1 ")] == ["1", "1"]
    assert [row[0] for row in cells(content, "3 ")] == ["3", "3"]
    assert "2 combinations share the first place" in content
    assert "The first listed of the 2 nearest ones, number by number" in content


def test_a_tie_is_shown_in_the_order_of_the_options_whatever_confirms():
    names = [[option.name for option in p.combination] for p in tied().placed]
    assert names == [
        ["none", "top"], ["none", "draw"], ["standard", "top"], ["standard", "draw"]
    ]  # fmt: skip


def test_rounding_errors_make_no_difference():
    ranking = ranked([(1 + 1e-12, 1), (1, 2), (1.001, 3)], ["scaling=a,b,c"], TWO)
    assert ranking.places == [1, 1, 3]
    assert len(ranking.first) == 2


def test_what_confirms_is_a_range_where_the_first_tie():
    ranking = tied()
    assert ranking.places_confirmed == (2, 4)
    content = page.render(ranking, "markdown")
    assert (
        "the 2 combinations that share the first place have places 2 to 4 of 4, at 2.00 to 4.00"
        in content
    )
    alone = ranked([(1, 4), (2, 2)], ["scaling=a,b"], TWO)
    assert "the nearest combination has place 2 of 2." in page.render(alone, "markdown")
    assert "share the first place" not in page.render(alone, "markdown")


def test_a_choice_that_no_number_depends_on_is_worth_a_dash():
    content = page.render(tied(), "markdown")
    dashes = ["samplers.lkrf.estimator: top, draw", "\u2013", "\u2013", "\u2013"]
    assert cells(content, "samplers.lkrf.estimator:") == [dashes]
    assert cells(content, "scaling:") == [
        ["scaling: none", "1.00", "2.00 to 4.00", "1"],
        ["scaling: standard", "3.00", "1.00 to 3.00", "3"],
    ]
    assert "no number that chooses depends on this choice" in content
    other = ranked(TIED, TEXTS, TWO)
    assert "no number that chooses depends" not in page.render(other, "markdown")


def test_a_choice_is_idle_when_it_concerns_no_sampler_that_chooses(tmp_path):
    path = tmp_path / "made.yaml"
    path.write_text(CONFIG)
    target = Target("p", ("t",), "D", TWO)
    varied = [choices.given(text, {}) for text in (*TEXTS, "samplers.eerf.pool_size=20,30")]
    assert idle(varied, target, config.read(path)) == ["samplers.lkrf.estimator"]
    many = Target("p", ("t",), "D", (*TWO, number("eerf", 20), number("lkrf", 20)))
    assert idle(varied, many, config.read(path)) == []
    kept = config.read(path, ["M={kept_by: lkrf}"])
    assert idle(varied, target, kept) == []  # lkrf says how many features eerf has
    both = Choice(
        "centred",
        tuple(
            Option(str(yes), tuple((f"samplers.{s}.center_target", yes) for s in ("eerf", "lkrf")))
            for yes in (False, True)
        ),
    )
    assert idle([both], target, config.read(path)) == []


def test_a_single_option_is_fixed_and_no_open_choice():
    texts = ("scaling=none,standard", "feature_map=offset")
    gaps = ((1.0, 1.0), (2.0, 2.0))
    ranking = ranked(gaps, texts, TWO, config="made", overrides=["solver.intercept=true"])
    content = page.render(ranking, "markdown")
    assert "2 combinations of 1 open choice were tried" in content
    assert "- fixed: solver.intercept=true, feature_map=offset; all" in content
    assert cells(content, "feature_map") == []
    assert "feature_map" not in cells(content, "place")[0]
    assert "feature_map" in page.table(ranking)


def test_far_combinations_do_not_raise_the_noise():
    gaps = [(float(i), float(i)) for i in range(1, 61)]
    errors = [0.4] * 6 + [30.0] * 54
    ranking = ranked(gaps, ["bandwidth=1:60:1"], TWO, error=errors)
    assert ranking.pooled == 6  # the nearest tenth
    assert ranking.noise == pytest.approx(math.hypot(0.3, 0.4))
    assert ranking.within_noise == 0
    near = ranked([(0.1 * i, 1.0) for i in range(1, 61)], ["bandwidth=1:60:1"], TWO, error=errors)
    assert near.within_noise == 5
    content = page.render(near, "markdown")
    assert (
        "at about 0.50 on the choosing half (ours: the median of the 6 nearest); 5 of 60" in content
    )


def test_a_spread_that_one_combination_lacks_is_passed_over():
    ranking = ranked([(1.0, 1.0), (2.0, 1.0)], ["scaling=a,b"], TWO, error=[math.nan, 0.4])
    assert ranking.noise == pytest.approx(0.5)
    ranking = ranked([(1.0, 1.0), (2.0, 1.0)], ["scaling=a,b"], TWO, error=math.nan)
    assert math.isnan(ranking.noise)
    assert "spread of both sides" not in page.render(ranking, "markdown")


@pytest.mark.parametrize(("sizes", "few"), [(1, True), (3, True), (4, False)])
def test_fewer_than_four_numbers_in_a_half_cannot_confirm(sizes, few):
    numbers = tuple(number(m, s) for s in range(1, sizes + 1) for m in ("eerf", "lkrf"))
    gaps = [[1.0] * len(numbers), [2.0] * len(numbers)]
    content = page.render(ranked(gaps, ["scaling=a,b"], numbers), "markdown")
    assert ("so few numbers cannot confirm a protocol" in content) == few
    assert ("hold different methods, eerf against lkrf" in content) == (sizes == 1)


@pytest.mark.parametrize(("trials", "few"), [(1, True), (2, True), (3, False)])
def test_fewer_than_three_trials_may_be_luck(trials, few):
    content = page.render(tied(trials=trials), "markdown")
    assert ("may be luck of the draws" in content) == few


def test_the_columns_are_explained_under_the_table():
    content = page.render(tied(), "markdown")
    table = content.index("| place |")
    for word in ("chosen by", "confirmed by", "largest", "agree, close, differ"):
        assert content.index(f"\n- {word}: ") > table
    assert "samplers.lkrf.estimator" in cells(content, "place")[0]
    named = Choice(
        "centred",
        (
            Option("no", (("samplers.eerf.center_target", False),)),
            Option("yes", (("samplers.eerf.center_target", True),)),
        ),
    )
    ranking = tied()
    ranking.audit.choices[0] = named
    lines = told.legend(ranking)
    assert "centred no: samplers.eerf.center_target=false" in lines
    assert "centred yes: samplers.eerf.center_target=true" in lines
    assert not any(line.startswith("samplers.lkrf.estimator") for line in lines)


@pytest.mark.parametrize(
    ("keywords", "end"),
    [
        ({}, "--trials 2 --most 300"),
        ({"top": 5}, "--trials 2 --most 300 --top 5"),
        ({"allow_imports": True}, "--trials 2 --most 300 --allow-imports"),
        ({"fixed": ["M=1,2", "a.b=2*M"]}, "--set M=1,2 --set 'a.b=2*M' --trials 2 --most 300"),
    ],
)
def test_the_command_has_what_the_result_depends_on(keywords, end):
    said = told.command(
        Path("/somewhere/x/configs/a.yaml"),
        "p/t/D",
        run="D.printed",
        trials=2,
        most=300,
        **keywords,
    )
    assert said == f"rfbench audit configs/a.yaml --target p/t/D --run D.printed {end}"
    elsewhere = told.command(Path("/somewhere/x/a.yaml"), "p/t/D", trials=2, most=300)
    assert elsewhere.startswith("rfbench audit a.yaml ")
