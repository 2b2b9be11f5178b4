"""The figure of a paper's page: every number that is compared, and nothing else."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from rfbench.analysis.verification import verify
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
        paper_figure, "render_figure", lambda figure, form: drawn.append(figure) or b""
    )
    return drawn


def test_every_number_is_drawn_or_counted(held, figures):
    """Also of a paper with more tables than any has here."""
    numbers = pd.concat(
        held.numbers[held.numbers["paper"] == "eerf2018"].assign(item=f"table{n}")
        for n in range(12)
    )
    own = replace(held, numbers=numbers)
    paper_figure.render_png(own)
    points = sum(
        len(bars.lines[0].get_xdata()) for axes in figures[0].axes for bars in axes.containers
    )
    measured = numbers[
        (numbers["trials"] > 0) & (numbers["unit"] != "s") & (numbers["same_as"] == "")
    ]
    assert points > 12
    assert points + paper_figure.count_not_pictured(own) == len(measured)


def test_a_panel_per_table_has_the_differences_with_their_intervals(held, figures):
    paper.render_figure(held, "eerf2018")
    (figure,) = figures
    numbers = held.own[(held.own["trials"] > 0) & (held.own["unit"] != "s")]
    numbers = numbers[(numbers["protocol"] == "printed") & (numbers["same_as"] == "")]
    assert [panel.get_title() for panel in figure.axes] == ["Table 3", "Table 5"]
    points = [panel.containers[0].lines[0].get_xydata() for panel in figure.axes]
    np.testing.assert_allclose(
        np.vstack(points), numbers[["published", "difference"]].to_numpy(float)
    )


def test_the_same_numbers_give_the_same_bytes_and_none_gives_no_figure(held):
    assert paper.render_figure(held, "eerf2018") == paper.render_figure(held, "eerf2018")
    assert paper.render_figure(held, "tefm2015") is None
