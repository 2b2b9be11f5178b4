"""The critical-difference diagram."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from rfbench.report import ranks

RNG = np.random.default_rng(0)
SCORES = pd.DataFrame(
    RNG.normal([10.0, 10.5, 11.0, 13.0], 1.0, (12, 4)), columns=["a", "b", "c", "d"]
)


def test_groups_of_the_diagram() -> None:
    rank = pd.Series({"a": 1.0, "b": 1.5, "c": 2.5, "d": 4.0})
    assert ranks.groups(rank, 1.2) == [["a", "b"], ["b", "c"]]
    assert ranks.groups(rank, 1.6) == [["a", "b", "c"], ["c", "d"]]
    assert ranks.groups(rank, 0.1) == []
    assert ranks.groups(rank, 3.0) == [["a", "b", "c", "d"]]


@pytest.mark.parametrize("methods", [2, 3, 4])
def test_the_diagram_names_every_method(methods: int) -> None:
    figure = ranks.diagram(SCORES.iloc[:, :methods], title="Digits")
    assert isinstance(figure, Figure)
    figure.draw_without_rendering()
    words = " ".join(text.get_text() for text in figure.axes[0].texts)
    assert all(f" {name} (" in words for name in SCORES.columns[:methods])
    assert "critical difference" in words
    assert "12 data sets" in figure.get_supxlabel()
