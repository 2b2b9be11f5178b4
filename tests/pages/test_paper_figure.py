"""The figure of a paper's page: every number that is compared, and nothing else."""

import itertools
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.text import Text

from rfbench.analysis.verdicts import COMPARED
from rfbench.analysis.verification import verify_results
from rfbench.figures.panels import PAGE_WIDTH
from rfbench.figures.style import SMALLEST_POINTS, apply_style
from rfbench.pages import paper, paper_figure

PUBLISHED = Path(__file__).parents[2] / "results" / "published"


@pytest.fixture(scope="module")
def held():
    folders = ("eerf2018_table3_adult.printed", "eerf2018_table3_adult.tuned")
    return verify_results([PUBLISHED / name for name in folders])


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
    paper_figure.render_numbers_png(own)
    measured = numbers[
        (numbers["trials"] > 0) & (numbers["unit"] != "s") & (numbers["same_as"] == "")
    ]
    drawn = sum(len(points(panel)) for panel in figures[0].axes)
    assert drawn >= tables
    compared = measured["verdict"].isin(COMPARED) & measured["settings"].ne("ours")
    assert drawn == compared.sum() < len(measured)
    panels = len(figures[0].axes)
    assert paper_figure.has_curves(own) == (panels > paper_figure.MOST_PANELS)


def test_row_per_published_number_has_differences_with_intervals(held, figures):
    paper.render_paper_figure(held, "eerf2018")
    (panel,) = figures[0].axes
    numbers = held.numbers_on_own_data[
        (held.numbers_on_own_data["trials"] > 0) & (held.numbers_on_own_data["unit"] != "s")
    ]
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


def test_accuracies_are_drawn_as_errors_and_uncompared_ones_hollow(held, figures):
    numbers = held.numbers.assign(
        metric="accuracy", at_chance=held.numbers["method"] == "rks", decidable=True
    )
    changed = replace(held, numbers=numbers)
    paper.render_paper_figure(changed, "eerf2018")
    (panel,) = figures[0].axes
    names = [label.get_text().partition(",")[0].lower() for label in panel.get_yticklabels()]
    shown = paper_figure.select_drawn_numbers(changed.select_papers("eerf2018"))
    difference = dict(zip(shown["method"], shown["difference"], strict=True))
    for x, y, mark in points(panel):
        name = names[round(y)]
        assert (mark.get_markerfacecolor() != mark.get_color()) == (name == "rks")
        if name != "rks":
            assert np.sign(x) == -np.sign(difference[name])


def test_marker_outside_the_axis_is_drawn_at_the_edge_with_its_value(held, figures):
    numbers = held.numbers.assign(decidable=False)
    numbers["difference"] = numbers["difference"].where(numbers["method"] != "eerf", 31.5)
    paper.render_paper_figure(replace(held, numbers=numbers), "eerf2018")
    (panel,) = figures[0].axes
    edge = panel.get_xlim()[1]
    assert edge < 31.5
    assert [x for x, _, mark in points(panel) if mark.get_marker() == ">"] == [edge]
    assert "+31.5" in [text.get_text() for text in panel.texts]


def test_text_has_7_points_at_page_width(held):
    with apply_style():
        figure = paper_figure.draw_published_numbers(
            paper_figure.select_drawn_numbers(held.select_papers("eerf2018"))
        )
        assert figure.get_figwidth() <= PAGE_WIDTH
        texts = [text for text in figure.findobj(Text) if text.get_text()]
        assert min(text.get_fontsize() for text in texts) >= SMALLEST_POINTS


def test_panels_of_one_unit_have_the_same_axis(held, figures):
    """The numbers of the second data set are larger, which does not change the scale."""
    own = held.numbers[held.numbers["paper"] == "eerf2018"]
    far = own["difference"].astype(float)
    numbers = pd.concat(
        own.assign(
            dataset=f"data {n % 2}", number=own["number"] + 1000 * n, difference=(1 + n % 2) * far
        )
        for n in range(40)
    )
    paper_figure.render_numbers_png(replace(held, numbers=numbers[numbers["item"] == "table3"]))
    first, second = figures[0].axes
    assert first.get_xlim() == second.get_xlim()


SETTINGS = [kind for kind in paper_figure.SETTINGS_MARKS if kind not in ("text", "cited")]


@pytest.mark.parametrize("tables", [1, 3])
def test_texts_overlap_no_text_and_the_legend_is_within_the_figure(held, tables):
    """All settings have the largest legend, and two values at one edge are the closest texts."""
    own = held.select_papers("eerf2018")
    one = paper_figure.select_drawn_numbers(own)
    numbers = pd.concat(
        one.assign(
            item=f"table{n}",
            unit=one["unit"] + "." * n,
            number=one["number"] + 1000 * n,
            settings=kind,
            decidable=kind not in ("matched", "rematched"),
            difference=one["difference"].astype(float) + 30.0 * (kind in ("matched", "rematched")),
        )
        for n in range(tables)
        for kind in SETTINGS
    )
    with apply_style():
        figure = paper_figure.draw_published_numbers(numbers)
        figure.draw_without_rendering()
        legend = figure.legends[0].get_window_extent()
        assert figure.bbox.x0 <= legend.x0
        assert legend.x1 <= figure.bbox.x1
        assert len(figure.legends[0].get_texts()) > len(SETTINGS)
        for panel in figure.axes:
            boxes = [text.get_window_extent() for text in panel.texts]
            assert bool(boxes) == (tables == 1)
            inside = panel.get_window_extent()
            assert all(inside.x0 <= box.x0 and box.x1 <= inside.x1 for box in boxes)
            boxes += [label.get_window_extent() for label in panel.get_yticklabels()]
            for box, other in itertools.combinations(boxes, 2):
                # Rows touch each other, so an overlap of up to a fifth of the height is allowed.
                assert not (box.x1 > other.x0 and other.x1 > box.x0) or (
                    abs(box.y0 - other.y0) > 0.8 * min(box.height, other.height)
                )


def test_figure_is_reproducible_byte_by_byte_and_absent_without_numbers(held):
    assert paper.render_paper_figure(held, "eerf2018") == paper.render_paper_figure(
        held, "eerf2018"
    )
    assert paper.render_paper_figure(held, "tefm2015") is None
