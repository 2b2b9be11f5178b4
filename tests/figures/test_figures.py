"""Files of figures, and figures of a stranger's."""

import io
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from PIL import Image

from rfbench import figures, files
from rfbench.figures.measured import Measured
from rfbench.figures.panels import make_figure
from rfbench.results import read_results_folder
from tests.support.command_line import call
from tests.support.results import Write


def kept_vs_M(measured: Measured) -> Iterator[tuple[str, Any]]:
    figure = make_figure(6.0, 4.0)
    figure.subplots().plot(measured.table["M"], measured.table["kept_max"])
    yield "kept_vs_M", figure


def test_registered_figure_function_adds_a_figure(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(figures, "FIGURES", (figures.FIGURES[0], kept_vs_M))
    results = read_results_folder(write([{"M": m, "kept": m // 2} for m in (10, 50)]))
    *_, (name, figure) = figures.iterate_figures(results)
    assert name == "kept_vs_M"
    assert figure.axes[0].lines[0].get_xydata().tolist() == [[10, 5], [50, 25]]


def test_rendering_computes_layout_once_and_draws_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls = []
    for owner, name in ((ConstrainedLayoutEngine, "execute"), (Figure, "draw")):
        real = getattr(owner, name)
        monkeypatch.setattr(
            owner, name, lambda *args, real=real, name=name: calls.append(name) or real(*args)
        )
    figure = make_figure(2.0, 2.0)
    figure.subplots()
    assert figures.render_figure(figure, "png")
    assert calls == ["execute", "draw"]


def test_style_affects_only_the_figure_of_that_call(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(figures, "FIGURES", figures.FIGURES[:1])
    results = read_results_folder(
        write([{"M": m, "sampler": s, "error": len(s)} for m in (10, 50) for s in ("rks", "eerf")])
    )
    before, styled, after = (
        figures.plot(results, tmp_path / name, style)[0].read_bytes()
        for name, style in (("a", None), ("b", "ggplot"), ("c", None))
    )
    assert before == after != styled


def test_unchanged_figures_are_not_redrawn(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = []

    def counted(measured: Measured) -> Iterator[tuple[str, Any]]:
        drawn.append(measured)
        yield from kept_vs_M(measured)

    monkeypatch.setattr(figures, "FIGURES", (figures.FIGURES[0], counted))
    # Two of the figures are drawn by another test; twenty of them take seconds.
    monkeypatch.setattr(
        figures, "save_figure", lambda figure, file: files.replace(file, b"a figure")
    )
    rows = [{"M": 10, "kept": 5}, {"M": 50, "kept": 25}]
    rows = [row | {"sampler": s, "error": len(s)} for row in rows for s in ("rks", "eerf")]
    results = read_results_folder(write(rows))
    paths = figures.plot(results, tmp_path)
    assert figures.plot(read_results_folder(results.folder), tmp_path) == paths
    assert len(drawn) == 1
    before = [path.read_bytes() for path in paths]
    paths[0].write_bytes(b"another picture")
    assert figures.plot(results, tmp_path) == paths
    assert [path.read_bytes() for path in paths] == before
    paths[1].unlink()
    assert figures.plot(results, tmp_path) == paths
    changed = read_results_folder(write([*rows, {"M": 90, "kept": 45}], "changed"))
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


def test_two_folders_with_the_same_name_are_rejected(write: Write, tmp_path: Path) -> None:
    for place in ("a", "b"):
        shutil.copytree(write([{"M": 10}, {"M": 50}], place), tmp_path / place / "same")
    words = ("plot", tmp_path / "a" / "same", tmp_path / "b" / "same", "--out", tmp_path / "out")
    assert "would both be written to" in call(*words, code=2)
    assert not (tmp_path / "out").exists()


def test_omitted_figures_are_reported_in_one_line_per_folder(write: Write, tmp_path: Path) -> None:
    folders = [write([{"M": m, "error": m} for m in (10, 50)], name) for name in ("a", "b")]
    for _ in range(2):
        lines = call("plot", *folders, "--out", tmp_path / "out").splitlines()
        assert len(lines) == 2
        assert lines[0].startswith(f"{folders[0]}: nothing to show in error_vs_M (one method), ")
    assert not list(tmp_path.rglob("*.png"))


def test_reasons_for_omitted_figures_are_repeated_by_the_next_call(
    write: Write, tmp_path: Path
) -> None:
    rows = [{"M": m, "sampler": s, "t_pp": len(s)} for m in (10, 50) for s in ("rks", "eerf")]
    folder = write(rows)
    first, again = (
        figures.draw_folder(folder, False, tmp_path / "out", None, ("png",), None) for _ in "ab"
    )
    assert first == again
    assert first[1] == ["error_vs_M (all lines are equal)"]
    assert [Path(path).name for path in first[0]] == ["error_vs_time.png", "time_vs_M.png"]


def test_compressed_figure_has_the_same_pixels_and_less_than_half_the_bytes() -> None:
    def drawn() -> Any:
        figure = make_figure(4.0, 3.0)
        figure.subplots().plot([1, 2, 3], [1, 4, 9])
        return figure

    usual, small = (figures.render_figure(drawn(), "png", small=small) for small in (False, True))
    assert len(small) < len(usual) / 2
    sizes = [Image.open(io.BytesIO(content)).size for content in (usual, small)]
    assert sizes[0] == sizes[1]


def test_figures_are_drawn_without_importing_scikit_learn(write: Write, tmp_path: Path) -> None:
    """Its import takes longer than a figure."""
    folder = write([{"sampler": s, "error": len(s)} for s in ("rks", "eerf")])
    code = "import sys; from rfbench.cli import main; main(standalone_mode=False)"
    code += "; assert 'sklearn' not in sys.modules"
    words = ("plot", str(folder), "--out", str(tmp_path / "out"))
    subprocess.run([sys.executable, "-c", code, *words], check=True)
    assert list(tmp_path.rglob("error_vs_M.png"))
