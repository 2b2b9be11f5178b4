"""The figure of a paper's page: every number that is compared, and nothing else."""

from pathlib import Path

import numpy as np
import pytest

from rfbench.analysis.verification import verify
from rfbench.pages import paper, paper_figure

PUBLISHED = Path(__file__).parents[2] / "results" / "published"


@pytest.fixture(scope="module")
def held():
    folders = ("eerf2018_table3_adult.printed", "eerf2018_table3_adult.tuned")
    return verify([PUBLISHED / name for name in folders])


def test_a_panel_per_table_has_the_differences_with_their_intervals(held, monkeypatch):
    figures = []
    monkeypatch.setattr(
        paper_figure, "render_figure", lambda figure, form: figures.append(figure) or b""
    )
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
