import math

import pytest

from rfbench.figures.style import BLUE, VERMILLION
from rfbench.leaderboard import figure
from rfbench.leaderboard.facts import Enough, Interval, TableRatio


def table(name, ratio, low=math.nan, high=math.nan):
    return TableRatio(
        name, 100, 5, "rks", 50, ratio, low, high, trials=3, few=False, linear=1.0, words=0.0,
        smoothness=1.0,
    )  # fmt: skip


ENOUGH = Enough(
    (table("smooth", 0.5, 0.4, 0.6), table("steps", 1.25)),
    Interval(0.8, 0.7, 0.9, 2),
    1,
    Interval(0.8, 0.7, 0.9, 2),
    (),
)


def test_every_table_stands_where_its_quotient_is():
    panel = figure.draw(ENOUGH).axes[0]
    assert [label.get_text() for label in panel.get_yticklabels()] == ["smooth", "steps"]
    points = [line for line in panel.lines if line.get_marker() == "o"]
    assert [line.get_xdata()[0] for line in points] == [0.5, 1.25]
    assert [line.get_color() for line in points] == [BLUE, VERMILLION]
    spans = [list(line.get_xdata()) for line in panel.lines if list(line.get_ydata()) == [0, 0]]
    assert spans == [[0.4, 0.6]]
    assert not any(list(line.get_ydata()) == [1, 1] for line in panel.lines)
    means = [line.get_xdata()[0] for line in panel.lines if list(line.get_ydata()) == [0, 1]]
    assert means == pytest.approx([0.8, 1.0])


def test_the_same_facts_give_the_same_bytes():
    first = figure.png(ENOUGH)
    assert first == figure.png(ENOUGH)
    assert first.startswith(b"\x89PNG")
