"""Command `rfbench new`, which writes a configuration for a data file, or a folder for a paper."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import click

from rfbench import files
from rfbench.cli.options import DROP, TARGET_OPTION, TASK, add_reading_options
from rfbench.cli.terminal import echo
from rfbench.errors import ConfigError


def _write_example(context: click.Context, parameter: click.Parameter, value: bool) -> None:
    """Write the example files flats.csv and new.csv into the current folder, and end the command.

    Raises ConfigError, and writes nothing, if one of these files exists with different content.
    """
    if not value:
        return
    from rfbench.datasets.example import make_example_flats

    texts = {
        Path(name): table.to_csv(index=False, lineterminator="\n").encode()
        for name, table in zip(("flats.csv", "new.csv"), make_example_flats(), strict=True)
    }
    for path, text in texts.items():
        if path.exists() and not (path.is_file() and path.read_bytes() == text):
            raise ConfigError(
                f"{path} exists already and differs from the example file.",
                "Nothing was written.",
                "Run the command in an empty folder.",
            )
    for path, text in texts.items():
        files.write_user_file(path, text)
    echo("Wrote flats.csv (400 flats with prices) and new.csv (10 flats without).")
    echo("Try: rfbench choose flats.csv --target price --budget 60s")
    context.exit()


def write_paper_template(folder: Path) -> None:
    """Write a folder with template files for a new paper, and print the paths of the files.

    Raises ConfigError if the folder exists, or if its name cannot be the name of a paper.
    """
    from rfbench import papers
    from rfbench.pages.templates import render_template
    from rfbench.papers.outside import check_external_name
    from rfbench.papers.reader import CLAIMS, PAPER, PUBLISHED

    name = folder.absolute().name
    check_external_name(name, papers.list_papers())
    if folder.exists():
        raise ConfigError(f"{folder} exists already.", "Nothing was written.", "Name another.")
    files.make_folder(folder)
    configuration = (folder / f"{name}_table1").with_suffix(".yaml")
    templates = {folder / file: f"new_{file}.j2" for file in (PAPER, PUBLISHED, CLAIMS)}
    templates[configuration] = f"new_table{configuration.suffix}.j2"
    for file, template in templates.items():
        files.write_user_file(file, render_template(template, name=name, folder=folder).encode())
        echo(file)
    echo(f"Try: rfbench run {folder}\n     rfbench verify {folder}")


@click.command(short_help="Write a configuration for a data file, or a paper folder.")
@click.argument("file", metavar="FILE", required=False)
@TARGET_OPTION
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Configuration file to write (default: FILE's name with .yaml).",
)
@click.option(
    "--example",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_write_example,
    help="Write the example files flats.csv and new.csv instead, and exit.",
)
@click.option(
    "--paper",
    metavar="FOLDER",
    type=click.Path(path_type=Path),
    help="Write a folder for your own paper instead: numbers, claims, one configuration.",
)
@TASK
@DROP
@add_reading_options
def new(
    file: str | None,
    target: str | int | None,
    out: Path | None,
    paper: Path | None,
    **reading: Any,
) -> None:
    """Write a commented configuration for FILE, ready for `rfbench run`.

    \b
    Examples:
        rfbench new --example                 # writes flats.csv and new.csv to try things on
        rfbench new prices.csv --target price
        rfbench new prices.csv --target price --out configs/prices.yaml
        rfbench new --paper mine2026          # a folder for `rfbench run` and `rfbench verify`
    """
    from pydantic import ValidationError

    from rfbench.config.specs import DatasetSpec
    from rfbench.pages.templates import render_template

    if paper is not None:
        write_paper_template(paper)
        return
    if file is None:
        raise click.UsageError("Missing argument 'FILE'.")
    path = out or Path(re.sub(r"[^A-Za-z0-9_+=-]", "-", Path(file).stem) + ".yaml")
    if path.exists():
        raise ConfigError(f"{path} exists already.", "", "Write to another file with --out.")
    given = {"file": file, "target": target, **reading}
    value = {
        key: list(each) if isinstance(each, tuple) else each
        for key, each in given.items()
        if each not in (None, ())
    }
    try:
        entry = DatasetSpec.model_validate(value).entry
    except ValidationError as error:
        what = error.errors()[0]["msg"].removeprefix("Value error, ")
        raise ConfigError(
            f"{what}.", f"With this option, {file} cannot be read.", "Change the option."
        ) from None
    train = max(10, round(0.75 * entry.rows))
    text = render_template(
        "new.yaml.j2",
        entry=entry,
        name=json.dumps(entry.title),
        file=json.dumps(os.path.relpath(file, path.parent)),
        target=json.dumps(value["target"]) if "target" in value else "",
        reading={k: json.dumps(v) for k, v in value.items() if k not in ("file", "target", "task")},
        least=min((count or 0 for count in entry.classes.values()), default=0),
        sizes=[size for size in (50, 100, 200, 400) if size <= train] or [train // 2],
    )
    files.write_user_file(path, text.encode())
    echo(f"{path}\nTry it: rfbench run {path} --smoke")
