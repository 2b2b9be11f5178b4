"""Figures of the results of a run: errors over the number of features, over time and over memory.

To add a figure, write a function in a new file of this folder, and add it to `FIGURES`. Its
argument is a `rfbench.figures.measured.Measured`, which contains a table of mean results, the name
of the quantity on the horizontal axis and a style for each method. The function yields pairs of a
file name and a matplotlib figure, or nothing if there is nothing to show::

    def kept_vs_M(measured: Measured) -> Iterator[tuple[str, Figure]]:
        figure = make_figure(6.0, 4.0)
        figure.subplots().plot(measured.table["M"], measured.table["kept_max"])
        yield "kept_vs_M", figure

`rfbench.figures.curves.draw_lines` draws the usual figure of two columns of the table, with a
caption and one line per method. `rfbench.figures.style.apply_style` sets fonts, line widths and the
grid, so a figure should not set them. Otherwise the user's matplotlib style would have no effect.
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
from rfbench.figures.measured import Measured, find_paper_of_results, summarize_for_figures
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
# Name of a file with a hash of the results and a hash of each figure. If the hashes match, the
# figures are not drawn again.
DRAWN = ".figures.json"
# Metadata to omit from the files: the name of the program and the date. Without these metadata,
# drawing the same figure twice gives the same bytes.
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
    """Draw the figures of the results of a run, and write them to files.

    Each data set has its own panels, and each method a line. Error bars are standard errors of the
    mean over repeated trials. If there are many data sets, a figure shows medians over the data
    sets, relative to the baseline method. Figures that would compare nothing are omitted. Times are
    CPU times, or wall times if a method has no CPU times. Figures that are already up to date are
    not drawn again.

    Parameters
    ----------
    results : Results
        Results of one run, from `rfbench.run` or `rfbench.read_results`.
    folder : Path, optional
        Folder for the files. By default, the folder of the results.
    style : str or Path, optional
        Name or file of a matplotlib style.
    formats : sequence of str
        File formats, any of ``'png'``, ``'pdf'`` and ``'svg'``.
    width : float, optional
        Width in inches of figures for an article. Such figures have text of 8 pt, and no title or
        caption. The captions are written to ``captions.txt``. By default, figures are drawn for
        the screen.

    Returns
    -------
    list of Path
        Paths of the figures, one per figure and format. The list is empty if no trial succeeded, or
        if nothing can be compared.

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
    """Draw the figures of the results of a run, and write them to files.

    The arguments are the same as for `plot`. The first result contains the paths of the files. The
    second result contains the names of omitted figures, each with the reason.
    """
    folder, written = folder or results.folder, []
    captions = []
    with apply_style(style, article=width is not None):
        drawn_from = _source(results, formats, width)
        if there := _there(folder, drawn_from):
            return there
        measured = summarize_for_figures(results, width)
        for stem, figure in iterate_figures(results, width, measured):
            captions.append(f"{stem}: {figure.get_label()}\n")
            for form in formats:
                written.append(folder / f"{stem}.{form}")
                save_figure(figure, written[-1])
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
    """Draw the figures of the results in a folder. Return the file names and the omitted figures.

    If `all_trials` is False, trials that were added to a finished run are left out. The other
    arguments are passed to `draw_results`.
    """
    results = reader.read_results_folder(folder)
    results = results if all_trials else drop_added_trials(results)
    paths, not_drawn = draw_results(results, *args)
    return [str(path) for path in paths], not_drawn


def _source(results: Results, formats: Sequence[str], width: float | None) -> str:
    """Return a hash of everything that affects the figures: results, code, matplotlib settings."""
    import pandas as pd

    matplotlib = import_matplotlib()

    # Read a copy of matplotlib's settings. Reading a key of the original object may load a backend,
    # which needs half a second.
    now = {key: value for key, value in matplotlib.rcParams.copy().items() if key != "backend"}
    paper = find_paper_of_results(results)
    parts = (
        pd.util.hash_pandas_object(results.rows).tolist(), list(results.rows), results.config,
        results.is_smoke_run, kept_features.read_frame(results.folder, []),
        paper and paper.model_dump(),
        list(formats), width, sorted(now.items()), matplotlib.__version__,
        [figure.__qualname__ for figure in FIGURES], source.hash_code(),
    )  # fmt: skip
    return hashlib.sha256(pickle.dumps(parts)).hexdigest()


def _there(folder: Path, drawn_from: str) -> tuple[list[Path], list[str]] | None:
    """Return the files and the omitted figures of an earlier call, if they are still up to date.

    `drawn_from` is the hash of the inputs of the figures. The result is None if the hash or one of
    the files has changed.
    """
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
    """Yield each figure of the results of a run, as a pair of a file name and a figure.

    The file name has no suffix. If `measured` is given, it is the summary of the results.
    """
    measured = measured or summarize_for_figures(results, width)
    if measured.table.empty or not measured.table["trials"].any():
        return
    for figures in FIGURES:
        yield from figures(measured)


def save_figure(figure: Figure, file: Path) -> None:
    """Write a figure to a PNG, PDF or SVG file, depending on the suffix of `file`.

    The folder of the file is created. Raise WriteError if the file cannot be written.
    """
    files.replace(file, render_figure(figure, file.suffix[1:]))


def render_figure(figure: Figure, form: str, *, small: bool = False) -> bytes:
    """Return the content of a PNG, PDF or SVG file of a figure, as bytes.

    `form` is the file format. If `small` is True, a PNG has only 256 colors and about a third of
    the bytes. The same figure always gives the same bytes. The layout engine of the figure is
    removed.
    """
    stream, dpi = io.BytesIO(), import_matplotlib().rcParams["savefig.dpi"]
    if engine := figure.get_layout_engine():
        if dpi != "figure":
            figure.set_dpi(dpi)
        engine.execute(figure)
        # Remove the layout engine after its only run. Otherwise matplotlib would compute the layout
        # again, and draw the figure twice.
        figure.set_layout_engine(None)
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
