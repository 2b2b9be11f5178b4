"""The critical-difference diagram."""

import pytest

from rfbench.figures.critical_difference import BAR, diagram

RANKS = {"d": 4.0, "a": 1.0, "c": 2.75, "b": 2.25}


@pytest.mark.parametrize("methods", [2, 3, 4])
def test_every_method_stands_at_its_rank(methods: int) -> None:
    ranks = dict(list(RANKS.items())[:methods])
    figure = diagram(ranks, 1.2, [], "Digits", "12 data sets")
    figure.draw_without_rendering()
    (axes,) = figure.axes
    words = {text.get_text() for text in axes.texts}
    assert {f" {name} ({rank:.2f}) " for name, rank in ranks.items()} <= words
    starts = [tuple(line.get_xydata()[0]) for line in axes.lines]
    assert starts == [(rank, 0) for rank in sorted(ranks.values())]
    assert (axes.get_title(), figure.get_supxlabel()) == ("Digits", "12 data sets")


def test_a_bar_joins_each_group() -> None:
    (axes,) = diagram(RANKS, 1.2, [["a", "b"], ["b", "c"]]).axes
    segments = [path.get_segments()[0] for path in axes.collections]
    bars = [tuple(s[:, 0]) for s in segments if s[0, 1] in (BAR, 2 * BAR)]
    assert bars == [(0.96, pytest.approx(2.29)), (pytest.approx(2.21), 2.79)]


def test_a_critical_difference_wider_than_the_axis_is_cut() -> None:
    for difference, end in ((1.5, 2.5), (7.0, 4.0)):
        (axes,) = diagram(RANKS, difference, []).axes
        (ruler,) = [s for p in axes.collections for s in p.get_segments() if s[0, 1] == -1.1]
        assert ruler[:, 0].tolist() == [1, end]
