"""The commands `rfbench choose`, which selects a model for a file, and `rfbench predict`."""

from __future__ import annotations

import csv
import re
import time
from functools import partial
from pathlib import Path
from typing import Any

import click

from rfbench import files
from rfbench.cli import options
from rfbench.cli.terminal import echo, echo_json
from rfbench.escaping import as_csv


@click.command(short_help="Choose a model for a file, and save it.")
@click.argument("file", metavar="FILE")
@options.TARGET_OPTION
@options.TASK
@options.DROP
@options.GROUPS_OPTION
@click.option(
    "--time", type=options.parse_column, help="Column of times. The last rows are the test rows."
)
@click.option(
    "--metric",
    help="Metric: log-loss (default) or error for classes, rmse (default) or mae for numbers.",
)
@click.option(
    "--budget",
    type=options.parse_duration,
    default="60s",
    help="Time budget, such as 60s or 5m (default: 60s).",
)
@click.option(
    "--jobs",
    "n_jobs",
    type=options.POSITIVE_INTEGER,
    help="Number of trials at once (default: the number of cores).",
)
@click.option(
    "--no-rows", is_flag=True, help="Exclude models that store training rows (landmarks)."
)
@click.option(
    "--out", type=options.FOLDER_TYPE, help="Folder for the model (default: results/choose-FILE)."
)
@click.option(
    "--seed",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="Random seed for the splits and the methods.",
)
@options.AS_JSON
@options.add_reading_options
def choose(file: str, no_rows: bool, out: Path | None, form: str, **kwargs: Any) -> None:
    """Choose a model for FILE, and save it.

    Fits a constant, a linear model, gradient boosting, kernel features and averages of them
    until the budget is used, then measures the best of each kind on held-out rows. The first line
    of the output names the model to use. Writes model.joblib, for `rfbench predict`, and its card
    model.json. Loading a model runs code in its file: trust it as far as you trust its sender.

    \b
    Examples:
        rfbench choose prices.csv --target price
        rfbench choose prices.csv --target price --budget 5m --drop id --metric mae
    """
    started = time.monotonic()
    from rfbench.choosing import choice as choosing
    from rfbench.pages.templates import render_template

    stem = re.sub(r"[^A-Za-z0-9._+=-]", "-", Path(file).name)

    def progress(candidate: Any) -> None:
        after = f"{time.monotonic() - started:.0f} s"
        echo(f"{after}: {candidate.label}: {candidate.loss.value:.4g}", err=True)

    folder = out or options.find_results_folder() / f"choose-{stem}"
    choice = choosing.choose(
        file,
        allow_rows=not no_rows,
        out=folder,
        on_candidate=progress,
        on_assumption=partial(echo, err=True),
        started=started,
        **kwargs,
    )
    if form == "json":
        echo_json({"folder": str(folder), **choice.card})
    else:
        echo(render_template("choosing/choose.txt.j2", choice=choice.card, folder=folder), nl=False)


@click.command(short_help="Write a model's predictions for the rows of a file.")
@click.argument("model", type=options.FILE_TYPE)
@click.argument("file", metavar="FILE")
@click.option("--out", type=options.FILE_TYPE, required=True, help="CSV file to write.")
@click.option(
    "--level",
    default=0.9,
    show_default=True,
    help="Level of the intervals: 0.5, 0.8, 0.9, 0.95 or 0.99.",
)
@click.option(
    "--allow-imports",
    is_flag=True,
    help="Load a model file that somebody else has written. Loading runs the code in the file.",
)
@click.option(
    "--spreadsheet",
    is_flag=True,
    help="Write ' before a cell that a spreadsheet would run as a formula.",
)
@options.add_reading_options
def predict(
    model: Path,
    file: str,
    out: Path,
    level: float,
    allow_imports: bool,
    spreadsheet: bool,
    **reading: Any,
) -> None:
    """Write the predictions of MODEL for the rows of FILE.

    Writes class probabilities for a classifier and prediction intervals for a regressor. Notes
    name missing columns, and categories that the training rows do not have. Loading a model file
    can run any code. A model that you did not create on this machine requires --allow-imports.

    \b
    Example:
        rfbench predict results/choose-prices.csv/model.joblib new.csv --out predictions.csv
    """
    from rfbench.choosing.model import load_model
    from rfbench.choosing.table import read_new_rows
    from rfbench.pages.templates import render_macro_lines

    fitted = load_model(model.resolve(), allow_imports=allow_imports)
    rows, notes = read_new_rows(file, fitted, **reading)
    for line in notes:
        echo(f"note: {line}", err=True)
    for line in render_macro_lines(
        "choosing/predict.j2", "differences", table=fitted[0].find_schema_changes(rows)
    ):
        echo(f"note: {line}", err=True)
    made = fitted.compute_predictions(rows, level)
    # Quote all strings if a label contains a carriage return. Many programs read a carriage return
    # as the end of a line, and the csv module does not quote a carriage return by default.
    risky = any("\r" in str(label) for label in made["prediction"])
    quoting: Any = csv.QUOTE_NONNUMERIC if risky else csv.QUOTE_MINIMAL
    text = as_csv(made) if spreadsheet else str(made.to_csv(index=False, quoting=quoting))
    files.write_user_file(out, text.encode())
    echo(f"{out}: {len(made)} predictions")
