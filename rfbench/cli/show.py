"""`rfbench plot`, `table` and `list`: what reads and shows."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import is_dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import yaml

from rfbench.cli.options import (
    AS_JSON,
    FOLDER,
    RESULTS_OR_USUAL,
    comma_list,
)
from rfbench.cli.terminal import echo, echo_json, print_table
from rfbench.errors import ConfigError, nearest
from rfbench.registry import KERNELS, SAMPLERS, SOLVERS

if TYPE_CHECKING:
    from rfbench.datasets.catalog import Entry

MOST_TABLES = 3
FOLDERS_PER_WORKER = 4
# The columns of `rfbench list WHAT`, where they are not a name and what it is.
HEADS = {
    "solvers": ("name", "classes", "about"),
    "columns": ("name", "type", "about"),
    "papers": ("name", "numbers of", "about"),
}
Things = dict[str, tuple[tuple[str, ...], Callable[[], str]]]
LISTS = ("samplers", "solvers", "kernels", "datasets", "papers", "configs", "columns")


FORMATS = ("png", "pdf", "svg")
INCH = {"in": 1.0, "cm": 2.54, "mm": 25.4, "pt": 72.27}


def _formats(text: str) -> list[str]:
    """Return the formats of `--format png,pdf`."""
    given = [word.strip() for word in text.split(",")]
    for word in given:
        if word not in FORMATS:
            raise click.BadParameter(
                f"'{word}' is not among {', '.join(FORMATS)}.{nearest(word, list(FORMATS))}"
            )
    return list(dict.fromkeys(given))


def inches(text: str | float) -> float:
    """Return a length in inches: 3.3in, 84mm, 8.4cm or 240pt."""
    match = re.fullmatch(r"([0-9]*\.?[0-9]+) *(|in|cm|mm|pt)", str(text))
    length = float(match[1]) / INCH[match[2] or "in"] if match else 0
    if not 1 <= length <= 40:
        raise click.BadParameter(f"'{text}' is no width; write 3.3in, 84mm or 240pt.")
    return length


@click.command()
@RESULTS_OR_USUAL
@click.option("--out", type=FOLDER, help="Folder for the figures.")
@click.option(
    "--style", metavar="FILE_OR_NAME", help="A style of matplotlib: mine.mplstyle, or ggplot."
)
@click.option(
    "--format",
    "formats",
    type=_formats,
    metavar="FORMATS",
    default="png",
    show_default=True,
    help="Some of png, pdf and svg, separated by commas.",
)
@click.option(
    "--width",
    type=inches,
    metavar="LENGTH",
    help="Width of figures for an article: 3.3in (one column), 6.8in (the page), 84mm.",
)
def plot(
    folders: tuple[Path, ...],
    out: Path | None,
    style: str | None,
    formats: list[str],
    width: float | None,
) -> None:
    """Draw error against M and against time, and time against M, from the CSVs alone.

    Each results folder at or below RESULTS gets its figures, the user's own before the published
    ones. Times are CPU times, or wall times where CPU time was not measured. Each data set has its
    own panels; for more than twelve, the geometric mean over data sets relative to rks is drawn.

    Figures of a named results folder go beside its rows. Those of folders below RESULTS go into
    sub-folders of RESULTS/figures, or of OUT. Unchanged figures are not drawn again.

    The matplotlibrc of your configuration folder is respected, one of the current folder is not;
    --style overrides it. Colours and markers of methods are fixed.
    With --width, text has 8 pt at that size, and captions are written to captions.txt.

    \b
    Examples:
      rfbench plot results/quickstart
      rfbench plot results/
      rfbench plot results/ --out figures --format pdf,svg
      rfbench plot results/quickstart --out figures --format pdf --width 3.3in
    """
    from rfbench import results, usable
    from rfbench.experiment import fanout
    from rfbench.figures.style import settings

    with settings(style):
        pass  # what cannot be read is one error, not one per folder
    sources = results.find(folders)
    places = [_place(folder, folders, out) for folder in sources]
    for place in {place for place in places if places.count(place) > 1}:
        raise click.UsageError(
            f"Two folders' figures would both go to {place}. Draw them separately."
        )
    # A worker takes as long to start as two folders to draw.
    workers = min(usable.cores(), -(-len(sources) // FOLDERS_PER_WORKER))
    calls = [
        (folder, place, style, formats, width)
        for folder, place in zip(sources, places, strict=True)
    ]
    drawn = fanout.call("draw", calls, workers)
    failed = 0
    for folder, (paths, error) in zip(sources, drawn, strict=True):
        if error:
            failed += 1
            echo(f"error: {folder}: {error}", err=True)
        else:
            for path in paths:
                echo(path)
    if failed:
        raise click.exceptions.Exit(2)


def _place(folder: Path, named: Sequence[Path], out: Path | None) -> Path:
    """Return where the figures of a results folder go: ResultsError if a link leads elsewhere."""
    from rfbench import files
    from rfbench.results.reader import TRIALS

    if folder in named or folder / TRIALS in named:
        return out / folder.resolve().name if out else folder
    above = next(path for path in named if folder.is_relative_to(path))
    place = (out or above / "figures") / folder.relative_to(above)
    files.check(place / TRIALS, out or above)
    return place


@click.command()
@RESULTS_OR_USUAL
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "markdown", "latex", "csv"]),
    default="text",
    show_default=True,
)
@click.option("--all", "every_table", is_flag=True, help="Print every table in full.")
@click.option(
    "--methods",
    type=comma_list,
    default=(),
    metavar="NAMES",
    help="Only these, in this order: rks,eerf.",
)
@click.option("--verbose", "-v", is_flag=True, help="Describe the whole protocol.")
def table(
    folders: tuple[Path, ...],
    form: str,
    every_table: bool,
    methods: tuple[str, ...],
    verbose: bool,
) -> None:
    """Print the table of each results folder at or below RESULTS.

    More than 3 folders below RESULTS are listed in one line each, unless --all is given.

    LaTeX has one table per folder: methods down, sizes across, with booktabs and siunitx, as wide
    as one column of an article or two. Bold are the best mean and each without a significant
    difference from it (paired 90 % interval). Costs are in the CSV.

    \b
    Examples:
      rfbench table results/quickstart
      rfbench table results/ --format markdown > tables.md
      rfbench table results/quickstart --format latex --methods rks,eerf
    """
    from rfbench import results
    from rfbench.pages import summary_table

    sources = results.find(folders)
    many = not every_table and len(sources) > max(MOST_TABLES, len(folders))
    if form == "latex" and many:
        raise click.UsageError(
            f"{len(sources)} folders make {len(sources)} tables. Name one, or say --all."
        )
    read = [results.read(folder) for folder in sources]
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
        echo(f"\n{len(sources)} folders. The table of one: rfbench table FOLDER")
        echo("The tables of all: --all; their numbers: --format csv")
        return
    text = summary_table.render(read, form, methods=methods, brief=not verbose)
    echo(text.rstrip("\n"))


@click.command("list")
@click.argument("what", type=click.Choice(LISTS))
@click.argument("name", required=False)
@AS_JSON
def list_(what: str, name: str | None, form: str) -> None:
    """List what there is, one line each; with NAME, all of one: its parameters, or its file.

    \b
    Examples:
      rfbench list samplers
      rfbench list samplers eerf
      rfbench list configs quickstart
      rfbench list papers
      rfbench list columns
    """
    things = _things(what)
    if not things:
        raise ConfigError(
            f"There are no {what} here.",
            "This installation is incomplete.",
            "Install rfbench again, or name your own file to `rfbench run`.",
        )
    if name is None:
        rows = [(each, *beside) for each, (beside, _) in things.items() if beside]
        if form == "json":
            heads = HEADS.get(what, ("name", "about"))
            echo_json(dict(zip(heads, row, strict=True)) for row in rows)
        else:
            print_table(rows)
        return
    if what == "samplers":
        name, label = _of_label(name), name
    if name not in things:
        raise ConfigError(
            f"There is no '{name}' among the {what}.{nearest(name, list(things))}",
            todo=f"`rfbench list {what}` has them all.",
        )
    text = things[name][1]().rstrip("\n")
    if what == "samplers" and label in (labels := SAMPLERS[name].declaration.labels):
        text = f"{label}: {labels[label]}\n\n{text}"
    if form == "json":
        echo_json({"name": name, "text": text})
    else:
        echo(text)


def _things(what: str) -> Things:
    """Return by name what a list has beside it, and what says all of it.

    Runs of a file have nothing beside their name: the list has the file.
    """
    if what in ("samplers", "kernels"):
        registry: Mapping[str, type[Any]] = SAMPLERS if what == "samplers" else KERNELS
        return {
            name: ((_first_line(cls),), partial(_of_classes, cls)) for name, cls in registry.items()
        }
    if what == "solvers":
        return {
            name: ((", ".join(tasks), _first_line(each[0])), partial(_of_classes, *each))
            for name, tasks in SOLVERS.items()
            for each in [list(tasks.values())]
        }

    from rfbench import config, datasets, papers, shipped, yamlfile  # a second, and pandas
    from rfbench.results import schema

    if what == "columns":
        return {
            name: ((column.kind, column.title), partial("{0.title}\n{0.kind}".format, column))
            for name, column in schema.SCHEMA.items()
        }
    if what == "datasets":
        every = {name: datasets.entry(name) for name in datasets.names()}
        return {name: ((entry.title,), partial(_facts, entry)) for name, entry in every.items()}
    if what == "papers":
        return {
            name: (
                (", ".join(dict.fromkeys(n.item for n in folder.published)),
                 f"{folder.paper.citation}: {folder.paper.about}"),
                partial(_yaml, folder.paper.model_dump(exclude_defaults=True)),
            )
            for name in papers.papers()
            for folder in [papers.folder(name)]
        }  # fmt: skip
    files: Things = {}
    runs: Things = {}
    for path in shipped.every():
        documents = config.documents(path)
        names = [config.short(path, name) for name in documents]
        several = f"; runs: {', '.join(names)}" if len(names) > 1 else ""
        about = f"{yamlfile.load(path).value.get('title', '')}{several}"
        files[path.stem] = (about,), partial(path.read_text, encoding="utf-8")
        runs |= {name: ((), partial(_yaml, run.value)) for name, run in documents.items()}
    return files | runs | files  # in the order of the files, which stand for a run of their name


def _facts(entry: Entry) -> str:
    """Return what the catalogue has of a data set, line by line."""
    facts = entry.model_dump(
        exclude_defaults=True, exclude={"reader", "options", "downloads", "files"}
    )
    if entry.files:
        facts["files"] = ", ".join(file.name for file in entry.files)
    return "\n".join(f"{key}: {value}" for key, value in facts.items())


def _of_classes(*classes: type[Any]) -> str:
    """Return of each class the parameters, with their defaults and rules, and its docstring."""
    from rfbench.parameters import described

    texts = []
    for cls in classes:
        declared = described(cls) if is_dataclass(cls) else []
        lines = [f"{cls.__module__}.{cls.__name__}", *(f"  {line}" for line in declared)]
        texts.append("\n".join([*lines, "", inspect.getdoc(cls) or ""]))
    return "\n\n".join(texts)


def _of_label(name: str) -> str:
    """Return the sampler that a comparison gives this label, or the published name of a name."""
    name = SAMPLERS.published(name)
    return next((own for own, cls in SAMPLERS.items() if name in cls.declaration.labels), name)


def _yaml(content: Any) -> str:
    return yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=100)


def _first_line(thing: object) -> str:
    """Return the first sentence of a docstring, without a formula after a colon."""
    line = (inspect.getdoc(thing) or "").split("\n\n")[0].replace("\n", " ")
    return re.sub(r":[a-z ]* :math:`[^`]*`|``", "", line)
