import itertools
import math

import numpy as np
import pytest
from matplotlib.text import Text

from rfbench.figures.panels import PAGE_WIDTH
from rfbench.figures.style import BLACK, BLUE, GRAY, SMALLEST_POINTS, VERMILLION, apply_style
from rfbench.leaderboard import answers, figure
from rfbench.leaderboard.facts import MethodResult, Ratio, SizeResult


def ratio(median, low, high):
    """A ratio whose geometric mean is far from its median: figures show the latter."""
    return Ratio(median, low, high, 1, 2, 0.1, 0.2)


def test_interval_that_contains_1_is_gray():
    asked = {
        "One?": {"less": ratio(0.5, 0.4, 0.6), "more": ratio(1.25, 1.2, 1.3)},
        "Two?": {"same": ratio(0.9, 0.8, 1.1)},
        "Kernel?": {"few": ratio(0.4, math.nan, math.nan)},
    }
    panel, other = figure.draw_error_ratios(asked, ["Kernel?"]).axes
    labels = [label.get_text() for label in panel.get_yticklabels()]
    assert labels == ["One?", "less", "more", "Two?", "same"]
    bold = [label.get_fontweight() == "bold" for label in panel.get_yticklabels()]
    assert bold == [True, False, False, True, False]
    points = [line for line in panel.lines if line.get_marker() == "o"]
    assert [line.get_xydata()[0].tolist() for line in points] == [[0.5, 1], [1.25, 2], [0.9, 4]]
    assert [line.get_color() for line in points] == [BLUE, VERMILLION, GRAY]
    spans = [list(line.get_xdata()) for line in panel.lines if list(line.get_ydata()) == [1, 1]]
    assert spans == [[0.4, 0.6]]
    assert "lower error" in panel.get_xlabel()
    (few,) = [line for line in other.lines if line.get_marker() == "o"]
    assert few.get_markerfacecolor() != few.get_color()


def test_each_question_has_a_label_in_the_error_ratio_figure():
    assert set(answers.ASKED) == {*answers.QUESTIONS, "kernel"}


def size(*lines, M=100):
    return SizeResult(M, 9, 9, lines, (), ())


def line(name, median, search, role="method"):
    return MethodResult(name, role, ratio(median, 0.9 * median, 1.1 * median), search)


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


def test_methods_are_placed_by_time_and_error_relative_to_baseline():
    sizes = [size(*LINES), size(*LINES[:2], M=150), size(*LINES[:3], M=200)]
    panels = figure.draw_errors_against_costs(sizes).axes
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
    (front,) = [line for line in panels[0].lines if line.get_color() == GRAY]
    assert list(front.get_xdata()) == pytest.approx([1.0, 2.0])
    assert list(front.get_ydata()) == pytest.approx([1.0, 0.7])


def test_user_method_is_a_star_or_a_line_if_its_time_is_unknown():
    timed = figure.draw_errors_against_costs([size(*LINES)], "mine").axes[0]
    (star,) = [bar for bar in timed.containers if bar.get_label() == "mine"]
    assert star.lines[0].get_marker() == "*"
    untimed = figure.draw_errors_against_costs(
        [size(*LINES[:3], line("mine", 0.7, math.nan))], "mine"
    ).axes[0]
    assert "mine" not in points(untimed)
    labels = {each.get_label(): each for each in untimed.lines}
    assert list(labels["mine (time not compared)"].get_ydata()) == [0.7, 0.7]


def test_cost_figure_has_column_width_in_both_formats():
    assert figure.draw_errors_against_costs([size(*LINES)]).get_figwidth() == 3.3
    assert figure.render_errors_against_costs([size(*LINES)], form="pdf").startswith(b"%PDF")
    assert figure.render_errors_against_costs([size(*LINES)]) == figure.render_errors_against_costs(
        [size(*LINES)]
    )


def test_cost_figure_colors_families_and_labels_the_pareto_frontier():
    drawn = figure.draw_errors_against_costs([size(*LINES), size(*LINES, M=200)])
    panel = drawn.axes[0]
    colors = {bar.get_label(): bar.lines[0].get_color() for bar in panel.containers}
    assert (colors["RKS"], colors["ORF"]) == (BLACK, BLUE)
    assert {"RKS", "mine"} <= {text.get_text() for text in panel.texts}
    assert drawn.axes[-1].get_xlabel().endswith("/ that of RKS")
    assert panel.get_ylabel() == "test error / that of RKS"
    (legend,) = drawn.legends
    names = [text.get_text() for text in legend.get_texts()]
    assert names.index("random frequencies") < names.index("ORF") < names.index("reference models")


def test_median_error_outside_the_axis_is_printed_at_its_edge():
    far = line("linear", 1.9, 0.1, "model")
    panel = figure.draw_errors_against_costs([size(*LINES, far)]).axes[0]
    assert panel.get_ylim()[1] < 1.9
    assert "linear: error 1.90, time 0.1 ↑" in [text.get_text() for text in panel.texts]


def crowd(M):
    """Twelve methods with wide names, whose times and errors hardly differ."""
    generator = np.random.default_rng(M)
    places = np.exp(generator.normal(scale=(0.02, 0.5), size=(12, 2)))
    others = [line(f"WMWMWMWM-{i}", *map(float, place)) for i, place in enumerate(places)]
    return size(*LINES, *others, line("linear", 1.9, 0.001, "model"), M=M)


@pytest.mark.parametrize("sizes", [[crowd(100)], [crowd(100), crowd(200)]])
def test_names_overlap_no_name_and_no_marker_and_stay_within_the_panel(sizes):
    with apply_style(article=len(sizes) == 1):
        drawn = figure.draw_errors_against_costs(sizes)
        drawn.draw_without_rendering()
        for panel in drawn.axes:
            names = [text for text in panel.texts if text.arrow_patch is None]
            boxes = [text.get_window_extent() for text in names]
            boxes += [
                Text.get_window_extent(text) for text in panel.texts if text.arrow_patch is not None
            ]
            assert len(boxes) > 5
            inside = panel.get_window_extent()
            for box in boxes:
                assert (inside.min <= box.min).all()
                assert (box.max <= inside.max).all()
            for box, other in itertools.combinations(boxes, 2):
                assert not box.overlaps(other)
            at = panel.transData.transform(list(points(panel).values()))
            assert not any(box.contains(*place) for box in boxes for place in at)


def test_method_outside_the_error_axis_does_not_extend_the_time_axis():
    panels = figure.draw_errors_against_costs([size(*LINES), crowd(200)]).axes
    assert panels[0].get_xlim() == panels[1].get_xlim()
    assert panels[0].get_xlim()[0] > 0.001
    assert "linear: error 1.90, time 0.001 ↑" in [text.get_text() for text in panels[1].texts]


def test_text_has_7_points_and_figures_have_page_width():
    asked = {"One?": {"less": ratio(0.5, 0.4, 0.6)}}
    with apply_style():
        figures = [
            figure.draw_errors_against_costs([size(*LINES), size(*LINES, M=200)]),
            figure.draw_error_ratios(asked)
        ]  # fmt: skip
        for each in figures:
            assert each.get_figwidth() <= PAGE_WIDTH
            texts = [text for text in each.findobj(Text) if text.get_text()]
            assert min(text.get_fontsize() for text in texts) >= SMALLEST_POINTS
            each.draw_without_rendering()
            box = each.get_tightbbox()
            assert box.x0 >= -0.02
            assert box.x1 <= each.get_figwidth() + 0.02
