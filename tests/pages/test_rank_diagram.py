"""The critical-difference diagram, read back from its SVG."""

import re
from collections.abc import Mapping
from xml.etree import ElementTree

import pandas as pd
import pytest

from rfbench.analysis.choice import SizeTest
from rfbench.pages.rank_diagram import AXIS, svg

RANKS = {"a": 1.0, "b": 2.25, "c": 2.75, "d": 4.0}
SVG = "{http://www.w3.org/2000/svg}"


def drawn(ranks: Mapping[str, float], difference: float, *, alone: bool = True) -> list[str]:
    """Return the texts and the commands of the paths, rulers first."""
    test = SizeTest(100, 12, len(ranks), 0.01, difference, pd.Series(ranks))
    top = ElementTree.fromstring(svg(test, alone=alone))
    assert top.findtext(f"{SVG}title", "").count("(") == len(ranks)
    texts = ["".join(one.itertext()) for one in top.iter(f"{SVG}text")]
    return texts + [one.attrib["d"] for one in top.iter(f"{SVG}path")]


def numbers(path: str) -> list[float]:
    return [float(text) for text in re.findall(r"[\d.]+", path)]


@pytest.mark.parametrize("methods", [2, 3, 4])
def test_every_method_stands_at_its_rank(methods: int) -> None:
    ranks = dict(list(RANKS.items())[:methods])
    found = drawn(ranks, 0.1)
    assert {f"{name} ({rank:.2f})" for name, rank in ranks.items()} <= set(found)
    left, _, right = numbers(found[-methods - 1])[:3]
    assert right - left == AXIS
    starts = [numbers(path)[0] for path in found[-methods:]]
    expected = [left + (rank - 1) / (methods - 1) * AXIS for rank in ranks.values()]
    assert starts == pytest.approx(expected, abs=0.1)


def test_a_bar_joins_each_group() -> None:
    found = drawn(RANKS, 1.8)
    a, b, c, d = (numbers(path)[0] for path in found[-6:-2])
    bars = [(numbers(path)[0], numbers(path)[2]) for path in found[-2:]]
    assert bars == [(a - 3, c + 3), (b - 3, d + 3)]


@pytest.mark.parametrize(("difference", "end"), [(1.5, 1.5), (7.0, 3.0)])
def test_a_critical_difference_wider_than_the_axis_is_cut(difference: float, end: float) -> None:
    found = drawn(RANKS, difference)
    wide = ", wider than the axis" if difference > end else ""
    assert f"critical difference {difference:.2f}{wide}" in found
    ruler = numbers(next(one for one in found if re.match(r"M\d+ 12H", one)))
    assert ruler[2] - ruler[0] == pytest.approx(end / 3 * AXIS, abs=0.1)


def test_the_page_around_it_has_the_title() -> None:
    assert "Test error at M = 100" in drawn(RANKS, 1.5)
    assert "Test error at M = 100" not in drawn(RANKS, 1.5, alone=False)


def test_somebody_elses_name_is_text() -> None:
    assert "<b>&amp; (1.00)" in drawn({"<b>&amp;": 1.0, "x" * 99: 2.0}, 1.5)
