"""Files of figures, and figures of a stranger's."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rfbench import figures
from rfbench.figures.measured import Measured
from rfbench.figures.panels import new_figure
from rfbench.results import read
from tests.support.command_line import call
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
    *_, (name, figure) = figures.iterate_figures(results)
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


def test_figures_that_would_be_the_same_are_not_drawn_again(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = []

    def counted(measured: Measured) -> Iterator[tuple[str, Any]]:
        drawn.append(measured)
        yield from kept_vs_M(measured)

    monkeypatch.setattr(figures, "FIGURES", (figures.FIGURES[0], counted))
    rows = [{"M": 10, "kept": 5}, {"M": 50, "kept": 25}]
    results = read(write(rows))
    paths = figures.plot(results, tmp_path)
    assert figures.plot(read(results.folder), tmp_path) == paths
    assert len(drawn) == 1
    before = [path.read_bytes() for path in paths]
    paths[0].write_bytes(b"another picture")
    assert figures.plot(results, tmp_path) == paths
    assert [path.read_bytes() for path in paths] == before
    paths[1].unlink()
    assert figures.plot(results, tmp_path) == paths
    changed = read(write([*rows, {"M": 90, "kept": 45}], "changed"))
    for other in ({}, {"style": "ggplot"}, {"formats": ("png", "svg")}, {"width": 3.3}):
        assert set(figures.plot(changed, tmp_path, **other)) >= set(paths)
    assert len(drawn) == 7
    (tmp_path / figures.DRAWN).write_text("{")
    figures.plot(changed, tmp_path)
    monkeypatch.setattr("matplotlib.__version__", "0")
    figures.plot(changed, tmp_path)
    monkeypatch.setattr("rfbench.source.hash_code", lambda: "other")
    figures.plot(changed, tmp_path)
    assert len(drawn) == 10


def test_two_folders_of_one_name_are_not_drawn_into_one(write: Write, tmp_path: Path) -> None:
    for place in ("a", "b"):
        shutil.copytree(write([{"M": 10}, {"M": 50}], place), tmp_path / place / "same")
    words = ("plot", tmp_path / "a" / "same", tmp_path / "b" / "same", "--out", tmp_path / "out")
    assert "would both go to" in call(*words, code=2)
    assert not (tmp_path / "out").exists()
