"""The figure of a paper's page: every number that is compared, and nothing else."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.text import Text

from rfbench.analysis.verification import verify
from rfbench.figures.panels import PAGE_WIDTH
from rfbench.figures.style import SMALLEST_POINTS, apply_style
from rfbench.pages import paper, paper_figure

PUBLISHED = Path(__file__).parents[2] / "results" / "published"


@pytest.fixture(scope="module")
def held():
    folders = ("eerf2018_table3_adult.printed", "eerf2018_table3_adult.tuned")
    return verify([PUBLISHED / name for name in folders])


@pytest.fixture
def figures(monkeypatch):
    drawn = []
    monkeypatch.setattr(
        paper_figure, "render_figure", lambda figure, form, **_: drawn.append(figure) or b""
    )
    return drawn


def points(panel):
    """The marks of a panel that have an interval: where they are, and how they look."""
    return [
        (*map(float, place), bars.lines[0])
        for bars in panel.containers
        for place in bars.lines[0].get_xydata()
    ]


@pytest.mark.parametrize("tables", [1, 3, 12, 80])
def test_each_compared_number_is_drawn(held, figures, tables):
    """As one forest plot, and as the curves of a paper with more tables than any has here."""
    own = held.numbers[held.numbers["paper"] == "eerf2018"]
    numbers = pd.concat(
        own.assign(item=f"table{n}", number=own["number"] + 1000 * n) for n in range(tables)
    )
    own = replace(held, numbers=numbers)
    paper_figure.render_png(own)
    drawn = sum(len(points(panel)) for panel in figures[0].axes)
    assert drawn >= tables
    assert drawn == len(paper_figure.select_pictured(own))
    panels = len(figures[0].axes)
    assert paper_figure.has_curves(own) == (panels > paper_figure.MOST_PANELS)


def test_row_per_published_number_has_differences_with_intervals(held, figures):
    paper.render_figure(held, "eerf2018")
    (panel,) = figures[0].axes
    numbers = held.own_numbers[(held.own_numbers["trials"] > 0) & (held.own_numbers["unit"] != "s")]
    numbers = numbers[(numbers["protocol"] == "printed") & (numbers["same_as"] == "")]
    labels = [label.get_text() for label in panel.get_yticklabels()]
    assert labels == ["Table 3, adult", "EERF, M = 100", "RKS, M = 100", "Table 5, adult",
                      "LKRF, M = 100"]  # fmt: skip
    drawn = points(panel)
    places = [labels[round(y)].partition(",")[0].lower() for _, y, _ in drawn]
    assert dict(zip(places, (x for x, _, _ in drawn), strict=True)) == pytest.approx(
        dict(zip(numbers["method"], numbers["difference"].astype(float), strict=True))
    )
    segments = panel.containers[0].lines[2][0].get_segments()
    assert np.ptp([segment[:, 0] for segment in segments], axis=1) / 2 == pytest.approx(
        numbers["half_width"].to_numpy(float)
    )
    assert "lower error" in panel.get_xlabel()


def test_accuracies_become_errors_and_uncompared_numbers_are_hollow(held, figures):
    numbers = held.numbers.assign(
        metric="accuracy", at_chance=held.numbers["method"] == "rks", decidable=True
    )
    changed = replace(held, numbers=numbers)
    paper.render_figure(changed, "eerf2018")
    (panel,) = figures[0].axes
    names = [label.get_text().partition(",")[0].lower() for label in panel.get_yticklabels()]
    shown = paper_figure.select_pictured(changed.select_papers("eerf2018"))
    difference = dict(zip(shown["method"], shown["difference"], strict=True))
    for x, y, mark in points(panel):
        name = names[round(y)]
        assert (mark.get_markerfacecolor() != mark.get_color()) == (name == "rks")
        if name != "rks":
            assert np.sign(x) == -np.sign(difference[name])


def test_hollow_mark_far_from_the_band_is_at_the_edge_with_its_value(held, figures):
    numbers = held.numbers.assign(decidable=False)
    numbers["difference"] = numbers["difference"].where(numbers["method"] != "eerf", 31.5)
    paper.render_figure(replace(held, numbers=numbers), "eerf2018")
    (panel,) = figures[0].axes
    edge = panel.get_xlim()[1]
    assert edge < 31.5
    assert [x for x, _, mark in points(panel) if mark.get_marker() == ">"] == [edge]
    assert "+31.5" in [text.get_text() for text in panel.texts]


def test_text_has_7_points_at_page_width(held):
    with apply_style():
        figure = paper_figure.draw_numbers(
            paper_figure.select_pictured(held.select_papers("eerf2018"))
        )
        assert figure.get_figwidth() <= PAGE_WIDTH
        texts = [text for text in figure.findobj(Text) if text.get_text()]
        assert min(text.get_fontsize() for text in texts) >= SMALLEST_POINTS


def test_figure_is_reproducible_byte_by_byte_and_absent_without_numbers(held):
    assert paper.render_figure(held, "eerf2018") == paper.render_figure(held, "eerf2018")
    assert paper.render_figure(held, "tefm2015") is None
