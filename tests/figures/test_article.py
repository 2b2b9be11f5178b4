"""Figures at the width of an article."""

from pathlib import Path
from typing import Any

import matplotlib.image
import pytest
from matplotlib.text import Text

from rfbench.figures import CAPTIONS, iterate_figures, plot, style
from rfbench.results import read_results_folder
from tests.support.command_line import call
from tests.support.results import Write

COLUMN, PAGE = 3.3, 6.8


def rows(*methods: str, sizes: int = 3, dataset: str = "digits") -> list[dict[str, Any]]:
    return [
        {
            "sampler": s,
            "M": 50 * m,
            "trial": t,
            "error": 10 + t / m + i,
            "t_pp": i + m,
            "dataset": dataset,
        }
        for i, s in enumerate(methods)
        for m in range(1, sizes + 1)
        for t in range(3)
    ]


@pytest.mark.parametrize("width", [COLUMN, PAGE])
@pytest.mark.parametrize("count", [2, 12])
def test_width_is_exact_and_all_text_has_8_points(write: Write, width: float, count: int) -> None:
    names = list(style.METHODS)[:count]
    results = read_results_folder(write(rows(*names) + rows(*names, dataset="eeg")))
    with style.apply_style("ggplot", article=True):
        every = list(iterate_figures(results, width))
        for _, figure in every:
            figure.draw_without_rendering()
            assert figure.get_figwidth() == width
            texts = [text for text in figure.findobj(Text) if text.get_text()]
            assert {text.get_fontsize() for text in texts} == {style.FONT_POINTS}
            box = figure.get_tightbbox()
            assert box.x0 >= -0.02
            assert box.x1 <= width + 0.02
    assert len(every) == 3


def test_article_figure_has_no_title_and_explains_its_error_bars(
    write: Write, tmp_path: Path
) -> None:
    results = read_results_folder(write(rows("rks", "orf")))
    *files, captions = plot(results, tmp_path, width=COLUMN)
    assert captions.name == CAPTIONS
    assert matplotlib.image.imread(files[0]).shape[1] == pytest.approx(300 * COLUMN, abs=1)
    assert (
        "error_vs_M: Small handwritten digits of scikit-learn. Mean over 3 trials; bars: "
        in captions.read_text()
    )
    with style.apply_style(article=True):
        figure = next(iterate_figures(results, COLUMN))[1]
    assert figure.get_suptitle() == ""
    assert "±" in figure.axes[0].get_ylabel()
    assert not figure.get_supxlabel()


def test_article_figure_labels_a_smoke_run(write: Write) -> None:
    results = read_results_folder(write(rows("rks", "orf"), smoke=True))
    assert next(iterate_figures(results, COLUMN))[1].get_suptitle() == "SMOKE RUN"


@pytest.mark.parametrize("width", [None, COLUMN])
def test_legend_names_methods_that_failed(write: Write, width: float | None) -> None:
    failed = {"status": "memory", "error": "", "t_pp": ""}
    results = read_results_folder(
        write(rows("rks", "orf") + [row | failed for row in rows("eerf")])
    )
    figure = next(iterate_figures(results, width))[1]
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["RKS", "ORF", "EERF (failed)"]
    assert "Every trial failed: EERF." in figure.get_label()


@pytest.mark.parametrize(("text", "width"), [("3.3in", 990), ("84mm", 992), ("240pt", 996)])
def test_plot_width_accepts_inches_millimeters_and_points(
    write: Write, tmp_path: Path, text: str, width: int
) -> None:
    call("plot", write(rows("rks", "orf", sizes=1)), "--out", tmp_path, "--width", text)
    file = next(tmp_path.rglob("error_vs_M.png"))
    assert matplotlib.image.imread(file).shape[1] == pytest.approx(width, abs=1)
