"""Files of figures, and figures of a stranger's."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rfbench import figures
from rfbench.figures.measured import Measured
from rfbench.figures.panels import new_figure
from rfbench.results import read
from tests.support.results import Write


def kept_vs_M(measured: Measured) -> Iterator[tuple[str, Any]]:
    figure = new_figure(6.0, 4.0)
    figure.subplots().plot(measured.table["M"], measured.table["kept_max"])
    yield "kept_vs_M", figure


def test_an_added_figure_needs_one_function_and_its_registration(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(figures, "FIGURES", (figures.FIGURES[0], kept_vs_M))
    results = read(write([{"M": m, "kept": m // 2} for m in (10, 50)]))
    *_, (name, figure) = figures.figures_of(results)
    assert name == "kept_vs_M"
    assert figure.axes[0].lines[0].get_xydata().tolist() == [[10, 5], [50, 25]]


def test_a_style_changes_the_picture_of_that_call_alone(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(figures, "FIGURES", figures.FIGURES[:1])
    results = read(write([{"M": 10}, {"M": 50}]))
    before, styled, after = (
        figures.plot(results, tmp_path / name, style)[0].read_bytes()
        for name, style in (("a", None), ("b", "ggplot"), ("c", None))
    )
    assert before == after != styled
