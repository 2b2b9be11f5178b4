"""Figures: curves over sizes, times and bytes, frontiers, kept features.

To add a figure of a results folder, write one file here with one function, and add it to
`FIGURES`. The function receives a `rfbench.figures.measured.Measured` (the summary of the rows, the
varied setting, a style for each method). It yields the name of a file and a matplotlib figure, or
nothing if there is nothing to show::

    def kept_vs_M(measured: Measured) -> Iterator[tuple[str, Figure]]:
        figure = new_figure(6.0, 4.0)
        figure.subplots().plot(measured.table["M"], measured.table["kept_max"])
        yield "kept_vs_M", figure

`rfbench.figures.curves.line_figure` makes the usual figure of two columns of the summary, with its
caption and one line per method. Fonts, widths and the grid are set by
`rfbench.figures.style.apply_style`, so that the user's styles apply to them.
"""

from __future__ import annotations

import hashlib
import io
import json
import pickle
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rfbench import files, source
from rfbench.analysis.frame import drop_added_trials
from rfbench.errors import ResultsError
from rfbench.figures import curves, kept
from rfbench.figures.measured import Measured, find_paper, measure
from rfbench.figures.style import apply_style
from rfbench.plotting import import_matplotlib
from rfbench.results import Results, kept_features, reader

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FIGURES: tuple[Callable[[Measured], Iterator[tuple[str, Figure]]], ...] = (
    curves.error,
    curves.error_over_time,
    curves.error_over_bytes,
    curves.time,
    curves.kernel_error,
    kept.features,
)
CAPTIONS = "captions.txt"
DRAWN = ".figures.json"  # file with a hash of the figures' input, and of each figure
# Metadata of the program and the date are omitted, so that files are reproducible.
METADATA: dict[str, dict[str, Any]] = {
    "png": {"Software": None},
    "pdf": {"Creator": None, "Producer": None, "CreationDate": None},
    "svg": {"Creator": None, "Date": None},
}


def plot(
    results: Results,
    folder: Path | None = None,
    style: str | Path | None = None,
    formats: Sequence[str] = ("png",),
    width: float | None = None,
) -> list[Path]:
    """Draw the figures of a results folder.

    Error bars are standard errors of the mean over the trials. Each data set has its own panels;
    for more than `rfbench.figures.curves.MOST_DATASETS` data sets the median relative to the
    baseline is drawn. A figure without a comparison is not drawn, see
    `rfbench.figures.curves.find_nothing_to_show`. Time is CPU time, or wall time if a method has no
    CPU time. The same rows and the same style give the same bytes; figures that are up to date
    according to ``.figures.json`` are not drawn again.

    Parameters
    ----------
    results : Results
        The rows of one results folder, as `rfbench.run` and `rfbench.read_results` return them.
    folder : Path, optional
        Folder for the files; by default the results folder.
    style : str or Path, optional
        Style of matplotlib, see `rfbench.figures.style.apply_style`.
    formats : sequence of str
        Any of ``'png'``, ``'pdf'``, ``'svg'``.
    width : float, optional
        Width in inches for figures of an article, with text of 8 pt and without title and caption;
        captions are written to ``captions.txt``. By default figures for the screen.

    Returns
    -------
    list of Path
        A file per figure and format; empty if no trial succeeded, or nothing is compared.

    Raises
    ------
    ConfigError
        If the style does not exist.
    WriteError
        If a file cannot be written.
    """
    return draw_results(results, folder, style, formats, width)[0]


def draw_results(
    results: Results,
    folder: Path | None,
    style: str | Path | None,
    formats: Sequence[str],
    width: float | None,
) -> tuple[list[Path], list[str]]:
    """Draw figures like `plot`; return the files, and the omitted figures with reasons."""
    folder, written = folder or results.folder, []
    captions = []
    with apply_style(style, article=width is not None):
        drawn_from = _source(results, formats, width)
        if there := _there(folder, drawn_from):
            return there
        measured = measure(results, width)
        for stem, figure in iterate_figures(results, width, measured):
            captions.append(f"{stem}: {figure.get_label()}\n")
            for form in formats:
                written.append(folder / f"{stem}.{form}")
                save(figure, written[-1])
    if width and written:
        written.append(folder / CAPTIONS)
        files.replace(written[-1], "\n".join(captions).encode())
    if written:
        record = {
            "source": drawn_from,
            "files": {file.name: _digest(file, folder) for file in written},
            "not drawn": measured.not_drawn,
        }
        files.replace(folder / DRAWN, json.dumps(record, indent=1).encode())
    return written, measured.not_drawn


def draw_folder(folder: Path, all_trials: bool, *args: Any) -> tuple[list[str], list[str]]:
    """Draw the figures of a results folder; return the names of files as in `draw_results`."""
    results = reader.read(folder)
    results = results if all_trials else drop_added_trials(results)
    paths, not_drawn = draw_results(results, *args)
    return [str(path) for path in paths], not_drawn


def _source(results: Results, formats: Sequence[str], width: float | None) -> str:
    """Return a hash of the input of the figures: rows, code, matplotlib and its settings."""
    import pandas as pd

    matplotlib = import_matplotlib()

    # Copying does not load a backend. Loading one needs half a second and does not change any file.
    now = {key: value for key, value in matplotlib.rcParams.copy().items() if key != "backend"}
    paper = find_paper(results)
    parts = (
        pd.util.hash_pandas_object(results.rows).tolist(), list(results.rows), results.config,
        results.smoke, kept_features.read_frame(results.folder, []), paper and paper.model_dump(),
        list(formats), width, sorted(now.items()), matplotlib.__version__,
        [figure.__qualname__ for figure in FIGURES], source.hash_code(),
    )  # fmt: skip
    return hashlib.sha256(pickle.dumps(parts)).hexdigest()


def _there(folder: Path, drawn_from: str) -> tuple[list[Path], list[str]] | None:
    """Return the earlier result of `draw_results` for this input, if the figures are unchanged."""
    with suppress(OSError, ValueError, KeyError, AttributeError, TypeError, ResultsError):
        record = json.loads(files.read(folder / DRAWN))
        drawn = {folder / name: digest for name, digest in record["files"].items()}
        same = (_digest(file, folder) == digest for file, digest in drawn.items())
        if record["source"] == drawn_from and all(same):
            return list(drawn), list(record["not drawn"])
    return None


def _digest(file: Path, folder: Path) -> str:
    return hashlib.sha256(files.read(file, folder)).hexdigest()


def iterate_figures(
    results: Results, width: float | None = None, measured: Measured | None = None
) -> Iterator[tuple[str, Figure]]:
    """Yield the figures with their file names, without suffix."""
    measured = measured or measure(results, width)
    if measured.table.empty or not measured.table["trials"].any():
        return
    for figures in FIGURES:
        yield from figures(measured)


def save(figure: Figure, file: Path) -> None:
    """Write a figure as PNG, PDF or SVG, and create its folder, see `render_figure`.

    Raises WriteError if the file cannot be written.
    """
    files.replace(file, render_figure(figure, file.suffix[1:]))


def render_figure(figure: Figure, form: str, *, small: bool = False) -> bytes:
    """Return a figure as PNG, PDF or SVG; the same figure gives the same bytes.

    A `small` PNG has 256 colors, and a third of the bytes.

    The layout is computed once, and the figure is drawn once: matplotlib draws a figure with a
    layout engine twice.
    """
    stream, dpi = io.BytesIO(), import_matplotlib().rcParams["savefig.dpi"]
    if engine := figure.get_layout_engine():
        if dpi != "figure":
            figure.set_dpi(dpi)
        engine.execute(figure)
        figure.set_layout_engine(None)  # with "none", an engine remains, and matplotlib draws twice
    if small and form == "png":
        from PIL import Image

        figure.savefig(stream, format="rgba")
        size = int(figure.bbox.width), int(figure.bbox.height)
        picture = Image.frombytes("RGBA", size, stream.getvalue()).convert("RGB")
        stream = io.BytesIO()
        picture.quantize(256, Image.Quantize.FASTOCTREE).save(stream, "png", optimize=True)
    else:
        figure.savefig(stream, format=form, metadata=METADATA[form])
    return stream.getvalue()
