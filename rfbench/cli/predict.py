"""`rfbench predict`: the predictions of a model that `rfbench choose` wrote."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from rfbench import files
from rfbench.cli.options import FILE, reads_a_table
from rfbench.cli.terminal import echo

LEVELS = ("0.5", "0.8", "0.9", "0.95", "0.99")


@click.command()
@click.argument("model", type=FILE)
@click.argument("file", metavar="FILE")
@click.option("--out", type=FILE, required=True, help="The CSV to write.")
@click.option(
    "--level",
    type=click.Choice(LEVELS),
    default="0.9",
    show_default=True,
    help="Probability of the intervals, of a regression.",
)
@click.option("--allow-imports", is_flag=True, help="Load a model of others: that runs its code.")
@reads_a_table
def predict(
    model: Path, file: str, out: Path, level: str, allow_imports: bool, **reading: Any
) -> None:
    """Write what MODEL predicts of the rows of FILE.

    Of classes with their probabilities, of numbers with an interval. Words that the training rows
    did not have, and columns that are missing, are named. A model is a file that can run any code:
    it is as trusted as its sender, and one that you did not make here asks for --allow-imports.

    \b
    Example:
      rfbench predict results/choose-prices.csv/model.joblib new.csv --out predictions.csv
    """
    from rfbench.choosing.model import check_rows, load, predictions, read_card
    from rfbench.choosing.table import read_new_rows
    from rfbench.pages.templates import lines

    model = model.resolve()
    card = read_card(model)
    for name, (then, now) in card.other_versions().items():
        echo(f"note: the model was made with {name} {then}, and here is {now}", err=True)
    fitted = load(model, card, allow_imports=allow_imports)
    rows = read_new_rows(file, **reading)
    check_rows(card, file, rows)
    for line in lines("predict.j2", "differences", table=fitted.differences(rows)):
        echo(f"note: {line}", err=True)
    made = predictions(fitted, card, rows, float(level))
    files.write_named(out, made.to_csv(index=False).encode())
    echo(f"{out}: {len(made)} predictions")
