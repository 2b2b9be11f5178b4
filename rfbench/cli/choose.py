"""`rfbench choose` and `rfbench new`: for data of one's own."""

from __future__ import annotations

import json
import os
import re
import time
from pathlib import Path
from typing import Any

import click

from rfbench import files
from rfbench.cli.options import (
    AS_JSON,
    DROP,
    FOLDER,
    GROUPS,
    MISSING,
    TARGET,
    TASK,
    WHOLE,
    column,
    duration,
    reads_a_table,
    results_folder,
)
from rfbench.cli.terminal import echo, echo_json
from rfbench.errors import ConfigError, unknown

METRICS = ("error", "balanced-error", "log-loss", "auc", "rmse", "mae", "rmsle")

DATA = click.argument("file", metavar="FILE")


def size(text: str) -> float:
    """Return the bytes of a size: 500kB, 1MB, 2GB, or a number."""
    match = re.fullmatch(r"([0-9]*\.?[0-9]+) *(|B|kB|MB|GB)", text, re.IGNORECASE)
    if not match or float(match[1]) <= 0:
        raise click.BadParameter(f"'{text}' is no size; write 500kB or 1MB.")
    return float(match[1]) * {"": 1, "B": 1, "KB": 1e3, "MB": 1e6, "GB": 1e9}[match[2].upper()]


@click.command()
@DATA
@TARGET
@TASK
@DROP
@GROUPS
@click.option(
    "--time",
    type=column,
    metavar="COLUMN",
    help="When rows are, if later ones are to be predicted: the last ones are held out.",
)
@click.option(
    "--metric",
    type=click.Choice(METRICS),
    help="What counts; default: error (classes) or rmse (numbers).",
)
@click.option(
    "--budget",
    type=duration,
    metavar="TIME",
    default="60s",
    show_default=True,
    help="For everything: 60s, 5m, 1h.",
)
@click.option("--jobs", type=WHOLE, help="Threads; default: one per core.")
@click.option("--no-rows", is_flag=True, help="The model may hold no training rows (landmarks).")
@click.option(
    "--largest-model",
    type=size,
    metavar="SIZE",
    help="Largest size of the model in memory: 500kB, 1MB. Its file is compressed.",
)
@click.option(
    "--memory", type=size, metavar="SIZE", help="Memory for all of it: 2GB; default: what is free."
)
@click.option("--out", type=FOLDER, help="Folder of the files; default: results/choose-FILE.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
@AS_JSON
@reads_a_table
def choose(
    file: str,
    jobs: int | None,
    no_rows: bool,
    out: Path | None,
    form: str,
    **kwargs: Any,
) -> None:
    """Say which model to take for FILE, or for a data set of the catalogue, and write it.

    Fits a constant, a linear model, gradient boosting, features of kernels and averages of them
    until the budget is used, then measures the best of each kind on rows that took no part. The
    first line says what to take, whoever makes it. Beside answer.json there is
    model.joblib, for `rfbench predict`. Loading such a file runs code that is in it: it is as
    trusted as its sender.

    \b
    Examples:
      rfbench choose prices.csv --target price
      rfbench choose prices.csv --target price --budget 5m --drop id --metric mae
      rfbench choose digits
    """
    started = time.monotonic()
    from rfbench import choosing
    from rfbench.pages.choose import text

    stem = re.sub(r"[^A-Za-z0-9._+=-]", "-", Path(file).name)

    def progress(candidate: Any) -> None:
        after = f"{time.monotonic() - started:.0f} s"
        echo(f"{after}: {candidate.label}: {candidate.loss.value:.4g}", err=True)

    folder = out or results_folder() / f"choose-{stem}"
    choice = choosing.choose(
        file,
        n_jobs=jobs,
        allow_rows=not no_rows,
        out=folder,
        on_candidate=progress,
        started=started,
        **kwargs,
    )
    if form == "json":
        answer = json.loads(files.read(folder / "answer.json"))
        echo_json({"folder": str(folder), **answer})
    else:
        echo(text(choice), nl=False)


@click.command()
@DATA
@TARGET
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The configuration to write; default: FILE's name with .yaml.",
)
@TASK
@DROP
@MISSING
@reads_a_table
def new(file: str, target: str | int | None, out: Path | None, **reading: Any) -> None:
    """Write a commented configuration for FILE, ready for `rfbench run`.

    \b
    Examples:
      rfbench new prices.csv --target price
      rfbench new prices.csv --target price --out configs/prices.yaml
    """
    from pydantic import ValidationError

    from rfbench.config import DatasetSpec
    from rfbench.pages.templates import render

    path = out or Path(re.sub(r"[^A-Za-z0-9_+=-]", "-", Path(file).stem) + ".yaml")
    if path.exists():
        raise ConfigError(f"{path} is there already.", "", "Name another one: --out.")
    value = _dataset(file, target=target, **reading)
    if isinstance(value, str):
        raise ConfigError(f"{value} is a name of the catalogue, not a file.", "", "")
    try:
        entry = DatasetSpec.model_validate(value).entry
    except ValidationError as error:
        what = error.errors()[0]["msg"].removeprefix("Value error, ")
        raise ConfigError(f"{what}.", f"So {file} cannot be read.", "Change the option.") from None
    train = max(10, round(0.75 * entry.rows))
    text = render(
        "new.yaml.j2",
        entry=entry,
        name=json.dumps(entry.title),
        file=json.dumps(os.path.relpath(file, path.parent)),
        target=json.dumps(value["target"]) if "target" in value else "",
        reading={k: json.dumps(v) for k, v in value.items() if k not in ("file", "target", "task")},
        least=min((count or 0 for count in entry.classes.values()), default=0),
        sizes=[size for size in (50, 100, 200, 400) if size <= train] or [train // 2],
    )
    files.write_named(path, text.encode())
    echo(f"{path}\nTry it: rfbench run {path} --smoke")


def _dataset(file: str, **reading: Any) -> str | dict[str, Any]:
    """Return the key `dataset` for a file, or for a name of the catalogue."""
    from rfbench.datasets import names

    given = {
        key: list(value) if isinstance(value, tuple) else value
        for key, value in reading.items()
        if value not in (None, ())
    }
    if "target" in given or (Path(file).exists() and file not in names()):
        return {"file": file, **given}
    if file not in names():
        raise unknown("file or data set", file, names(), ConfigError)
    if given:
        raise ConfigError(
            f"--{next(iter(given))} is for files, and {file} is a data set of the catalogue.",
            todo="Leave it out.",
        )
    return file
