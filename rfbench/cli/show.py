"""Commands `rfbench plot` and `rfbench table`, which draw or print existing results."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import click

from rfbench.cli.options import (
    FOLDER_TYPE,
    PAPERS,
    RESULTS_OR_USUAL,
    include_papers,
    split_commas,
)
from rfbench.cli.terminal import echo, print_table
from rfbench.errors import suggest_nearest_name

# If there are at most this number of results folders, their tables are printed completely. If there
# are more, each folder is printed as one line. With twice this number, the first table would no
# longer be on the screen.
MOST_TABLES = 3
# Number of results folders for which one worker process draws figures. With half this value, the
# start of a worker needs as much time as drawing two folders. With twice this value, one worker
# would draw eight folders.
FOLDERS_PER_WORKER = 4


FIGURE_FORMATS = ("png", "pdf", "svg")
# Number of each unit of length in one inch, by definition. The unit pt is the point of TeX, in
# which LaTeX prints \columnwidth.
INCH = {"in": 1.0, "cm": 2.54, "mm": 25.4, "pt": 72.27}


def _formats(text: str) -> list[str]:
    """Parse a comma-separated list of figure formats, such as ``png,pdf``."""
    given = [word.strip() for word in text.split(",")]
    for word in given:
        if word not in FIGURE_FORMATS:
            raise click.BadParameter(
                f"'{word}' is not one of the formats {', '.join(FIGURE_FORMATS)}."
                + suggest_nearest_name(word, list(FIGURE_FORMATS))
            )
    return list(dict.fromkeys(given))


def _parse_inches(text: str | float) -> float:
    """Convert a length with a unit, such as 3.3in, 84mm, 8.4cm or 240pt, to inches."""
    match = re.fullmatch(r"([0-9]*\.?[0-9]+) *(|in|cm|mm|pt)", str(text))
    length = float(match[1]) / INCH[match[2] or "in"] if match else 0
    if not 1 <= length <= 40:
        raise click.BadParameter(f"Invalid width '{text}'. Write for example 3.3in, 84mm or 240pt.")
    return length


ALL_TRIALS = click.option(
    "--all-trials",
    is_flag=True,
    help="Include trials that were added after the paper's results had been seen.",
)


@click.command(short_help="Draw error against M and against time.")
@RESULTS_OR_USUAL
@click.option("--out", type=FOLDER_TYPE, help="Folder for the figures.")
@click.option(
    "--style",
    metavar="FILE_OR_NAME",
    help="Style of matplotlib: a file such as mine.mplstyle, or a name such as ggplot.",
)
@click.option(
    "--format",
    "formats",
    type=_formats,
    metavar="FORMATS",
    default="png",
    show_default=True,
    help="Formats of the figures: png, pdf and svg, separated by commas.",
)
@click.option(
    "--width",
    type=_parse_inches,
    metavar="LENGTH",
    help="Width of figures for an article: 3.3in (one column), 6.8in (two columns), 84mm.",
)
@ALL_TRIALS
def plot(
    folders: tuple[Path, ...],
    out: Path | None,
    style: str | None,
    formats: list[str],
    width: float | None,
    all_trials: bool,
) -> None:
    """Draw error against M and against time, and time against M, from the CSV files alone.

    Each results folder in RESULTS gets its figures, your own folders before published folders.
    Times are CPU times, or wall times if CPU time was not measured. Each data set has its own
    panels. For more than twelve data sets, the median relative to rks is drawn. A figure without a
    comparison (one point, one method, or equal lines) is not drawn; one line per folder names these
    figures.

    Figures of a named results folder are written next to its rows. Figures of folders below RESULTS
    are written to sub-folders of RESULTS/figures, or of OUT. Unchanged figures are not drawn again.

    The matplotlibrc of your configuration folder is used. A matplotlibrc in the current folder is
    ignored.
    --style overrides it. Colors and markers of methods are fixed. With --width, text has 8 pt at
    that size, and captions are written to captions.txt.

    \b
    Examples:
        rfbench plot results/quickstart
        rfbench plot results/
        rfbench plot results/ --out figures --format pdf,svg
        rfbench plot results/quickstart --out figures --format pdf --width 3.3in
    """
    from rfbench import results, usable
    from rfbench.experiment import worker
    from rfbench.figures.style import apply_style

    with apply_style(style):
        pass  # an unreadable style is reported once for the command, and not once per folder
    sources = results.find_results_folders(folders)
    places = [_place(folder, folders, out) for folder in sources]
    for place in {place for place in places if places.count(place) > 1}:
        raise click.UsageError(
            f"The figures of two folders would both be written to {place}. Draw them separately."
        )
    workers = min(usable.count_usable_cores(), -(-len(sources) // FOLDERS_PER_WORKER))
    calls = [
        (folder, all_trials, place, style, formats, width)
        for folder, place in zip(sources, places, strict=True)
    ]
    drawn: Iterable[tuple[Any, str]]
    if workers == 1:
        drawn = (worker.call_listed_function("draw", words) for words in calls)
    else:
        # `fanout` is imported only here, because it imports scikit-learn, which needs two seconds.
        from rfbench.experiment import fanout

        drawn = fanout.call_in_child_processes("draw", calls, workers)
    failed = 0
    for folder, (made, error) in zip(sources, drawn, strict=True):
        if error:
            failed += 1
            echo(f"error: {folder}: {error}", err=True)
            continue
        paths, not_drawn = made
        for path in paths:
            echo(path)
        if not_drawn:
            echo(f"{folder}: nothing to show in {', '.join(not_drawn)}", err=True)
    if failed:
        raise click.exceptions.Exit(2)


def _place(folder: Path, named: Sequence[Path], out: Path | None) -> Path:
    """Return the folder to which the figures of one results folder are written.

    `named` are the paths in the command, and `out` is the option for the output folder. Raises
    ResultsError if a link leads outside of the output folder.
    """
    from rfbench import files
    from rfbench.results.reader import TRIALS

    if folder in named or folder / TRIALS in named:
        return out / folder.resolve().name if out else folder
    above = next(path for path in named if folder.is_relative_to(path))
    place = (out or above / "figures") / folder.relative_to(above)
    files.check_regular_file(place / TRIALS, out or above)
    return place


@click.command(short_help="Print the table of a results folder.")
@RESULTS_OR_USUAL
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "markdown", "latex", "csv"]),
    default="text",
    show_default=True,
    help="Format of the table.",
)
@click.option("--all", "every_table", is_flag=True, help="Print every table in full.")
@click.option(
    "--methods",
    type=split_commas,
    default=(),
    metavar="NAMES",
    help="Labels of the methods to print, in this order, such as rks,eerf.",
)
@click.option("--verbose", "-v", is_flag=True, help="Print the complete protocol.")
@PAPERS
@ALL_TRIALS
def table(
    folders: tuple[Path, ...],
    paper_folders: tuple[Path, ...],
    form: str,
    every_table: bool,
    methods: tuple[str, ...],
    verbose: bool,
    all_trials: bool,
) -> None:
    """Print the table of each results folder in RESULTS.

    More than 3 folders below RESULTS are listed in one line each, unless --all is given.

    LaTeX output has one table per folder, with methods in rows and sizes in columns. It uses
    booktabs and siunitx, and is as wide as one or two columns of an article. The best mean is bold,
    as is each mean without a significant difference from it (paired 90 % interval). Costs are in
    the CSV.

    \b
    Examples:
        rfbench table results/quickstart
        rfbench table results/ --format markdown > tables.md
        rfbench table results/quickstart --format latex --methods rks,eerf
    """
    from rfbench import results
    from rfbench.analysis.frame import drop_added_trials
    from rfbench.pages import summary_table
    from rfbench.results import manifest

    folders, names = include_papers(folders, paper_folders)
    sources = results.find_results_folders(folders)
    if names:
        configs = [manifest.read_if_valid(folder, []).get("config", {}) for folder in sources]
        of_papers = zip(sources, configs, strict=True)
        sources = [folder for folder, config in of_papers if config.get("paper") in names]
    many = not every_table and len(sources) > max(MOST_TABLES, len(folders))
    if form == "latex" and many:
        raise click.UsageError(
            f"{len(sources)} folders have {len(sources)} tables. Name one folder, or add --all."
        )
    read = results.read_results_folders(sources)
    if form == "text" and many:
        lines = [
            (
                str(result.folder),
                str(result.rows["label"].nunique()),
                str(len(result.rows)),
                str((result.rows["status"] != "ok").sum()),
                ", ".join(dict.fromkeys(result.rows["dataset"])),
            )
            for result in read
        ]
        print_table(lines, ("folder", "methods", "rows", "failed", "data"), numbers=(1, 2, 3))
        echo(f"\n{len(sources)} folders. To print one table: rfbench table FOLDER")
        echo("Use --all to print every table, --format csv for the numbers.")
        return
    read = read if all_trials else [drop_added_trials(each) for each in read]
    text = summary_table.render_summary_tables(read, form, methods=methods, brief=not verbose)
    echo(text.rstrip("\n"))
