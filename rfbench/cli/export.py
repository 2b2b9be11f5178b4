"""`rfbench export`: a model that `rfbench choose` wrote, as ONNX."""

from __future__ import annotations

from pathlib import Path

import click

from rfbench.cli.options import FILE
from rfbench.cli.terminal import echo


@click.command()
@click.argument("model", type=FILE)
@click.option("--out", type=FILE, required=True, help="The file to write: model.onnx.")
@click.option("--allow-imports", is_flag=True, help="Load a model of others: that runs its code.")
def export(model: Path, out: Path, allow_imports: bool) -> None:
    """Write MODEL as ONNX, which runs without Python.

    That is possible for columns of numbers and for models that are linear or ridge on waves, as
    `rfbench choose --no-rows` may make them; anything else is refused with the reason. The file
    takes rows in double precision, in the order of the columns that are printed.

    \b
    Example:
      rfbench export results/choose-prices.csv/model.joblib --out model.onnx
    """
    from rfbench.choosing.export import write_onnx
    from rfbench.choosing.model import load, read_card

    card = read_card(model)
    columns = write_onnx(load(model, card, allow_imports=allow_imports), out)
    echo(f"{out}: {len(columns)} columns, in this order: {', '.join(columns)}")
