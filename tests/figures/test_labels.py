"""Names at the ends of lines."""

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from rfbench.figures.labels import GAP, label_ends
from rfbench.figures.style import assign

HEIGHT = 3.0


def labelled(*values: float, scale: str = "linear") -> Axes:
    panel = Figure().subplots()
    panel.set(xlim=(0, 1), ylim=(1, 100), yscale=scale)
    names = [f"m{i}" for i in range(len(values))]
    ends = {name: (0.9, value) for name, value in zip(names, values, strict=True)}
    label_ends(panel, ends, assign({name: name for name in names}), HEIGHT)
    return panel


def heights(panel: Axes) -> list[float]:
    return [text.get_position()[1] for text in panel.texts if text.get_text()]


def leaders(panel: Axes) -> int:
    return sum(not text.get_text() for text in panel.texts)


@pytest.mark.parametrize(("scale", "middle"), [("linear", 9 / 99), ("log", 1 / 2)])
def test_names_with_room_stand_at_the_height_of_their_line(scale: str, middle: float) -> None:
    panel = labelled(100.0, 10.0, scale=scale)
    assert heights(panel) == pytest.approx([1, middle])
    assert leaders(panel) == 0


def test_names_that_would_overlap_are_moved_apart_in_the_order_of_their_lines() -> None:
    panel = labelled(50.1, 50.0, 50.2, 90.0)
    found = heights(panel)
    assert np.argsort(found).tolist() == [1, 0, 2, 3]
    assert np.diff(sorted(found)[:3]) == pytest.approx([GAP / HEIGHT] * 2)
    assert np.mean(found[:3]) == pytest.approx(49.1 / 99)
    assert found[3] == pytest.approx(89 / 99)
    assert leaders(panel) == 2


def test_equal_ends_are_told_apart() -> None:
    assert abs(np.diff(heights(labelled(7.0, 7.0)))) == pytest.approx(GAP / HEIGHT)
