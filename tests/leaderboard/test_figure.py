import math

import pytest

from rfbench.figures.style import BLUE, GREY, VERMILLION
from rfbench.leaderboard import figure
from rfbench.leaderboard.facts import Line, Ratio, Size


def ratio(median, low, high):
    """A ratio whose geometric mean is far from its median: figures show the latter."""
    return Ratio(median, low, high, 1, 2, 0.1, 0.2)


def test_every_ratio_stands_where_it_is_with_its_interval():
    bars = {"less": ratio(0.5, 0.4, 0.6), "more": ratio(1.25, 1.2, 1.3)}
    panel = figure.draw_ratios(bars).axes[0]
    assert [label.get_text() for label in panel.get_yticklabels()] == ["less", "more"]
    points = [line for line in panel.lines if line.get_marker() == "o"]
    assert [line.get_xdata()[0] for line in points] == [0.5, 1.25]
    assert [line.get_color() for line in points] == [BLUE, VERMILLION]
    spans = [list(line.get_xdata()) for line in panel.lines if list(line.get_ydata()) == [0, 0]]
    assert spans == [[0.4, 0.6]]


def size(*lines, M=100):
    return Size(M, 9, 9, lines, (), ())


def line(name, median, search, role="method"):
    return Line(name, role, ratio(median, 0.9 * median, 1.1 * median), search)


LINES = (
    line("rks", 1.0, 1.0, "baseline"),
    line("orf", 0.8, 3.0),
    line("boosting", 0.9, 4.0, "model"),
    line("mine", 0.7, 2.0),
)


def points(panel):
    """Where each method stands, by its name."""
    return {
        bar.get_label(): (float(bar.lines[0].get_xdata()[0]), float(bar.lines[0].get_ydata()[0]))
        for bar in panel.containers
    }


def test_methods_stand_at_their_time_and_error_relative_to_the_baseline():
    panels = figure.draw_costs([size(*LINES), size(*LINES[:3], M=200)]).axes
    assert [panel.get_title() for panel in panels] == ["M = 100", "M = 200"]
    expected = {
        "RKS": (1.0, 1.0),
        "ORF": (3.0, 0.8),
        "gradient boosting": (4.0, 0.9),
        "mine": (2.0, 0.7),
    }
    found = points(panels[0])
    assert found.keys() == expected.keys()
    for name, where in expected.items():
        assert found[name] == pytest.approx(where)
    assert set(points(panels[1])) == {"RKS", "ORF", "gradient boosting"}
    (front,) = [line for line in panels[0].lines if line.get_color() == GREY]
    assert list(front.get_xdata()) == pytest.approx([1.0, 2.0])
    assert list(front.get_ydata()) == pytest.approx([1.0, 0.7])


def test_a_method_of_ones_own_is_a_star_or_a_line_where_its_time_is_not_known():
    timed = figure.draw_costs([size(*LINES)], "mine").axes[0]
    (star,) = [bar for bar in timed.containers if bar.get_label() == "mine"]
    assert star.lines[0].get_marker() == "*"
    untimed = figure.draw_costs([size(*LINES[:3], line("mine", 0.7, math.nan))], "mine").axes[0]
    assert "mine" not in points(untimed)
    labels = {each.get_label(): each for each in untimed.lines}
    assert list(labels["mine (time not compared)"].get_ydata()) == [0.7, 0.7]


def test_the_figure_of_costs_has_the_width_of_a_column_in_both_forms():
    assert figure.draw_costs([size(*LINES)]).get_figwidth() == 3.3
    assert figure.render_costs([size(*LINES)], form="pdf").startswith(b"%PDF")
    assert figure.render_costs([size(*LINES)]) == figure.render_costs([size(*LINES)])
