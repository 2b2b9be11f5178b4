"""Command `rfbench list`, which lists methods, data sets, papers and other entries."""

from __future__ import annotations

import ast
import functools
import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import is_dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import yaml

from rfbench.cli.options import ALLOW_IMPORTS, AS_JSON, PAPERS, include_papers
from rfbench.cli.terminal import echo, echo_json, print_table
from rfbench.errors import ConfigError, RfbenchError, suggest_nearest_name
from rfbench.registry import KERNELS, SAMPLERS, SOLVERS, Registry
from rfbench.source import PACKAGE

if TYPE_CHECKING:
    from rfbench.datasets.catalog import Entry
    from rfbench.yamlfile import Document

# Keys of the JSON output of `rfbench list WHAT`. All lists that are not in this table have the keys
# name and about.
HEADS = {
    "solvers": ("name", "classes", "about"),
    "columns": ("name", "type", "about"),
    "papers": ("name", "numbers of", "about"),
}
Things = dict[str, tuple[tuple[str, ...], Callable[[], str]]]
LISTS = ("samplers", "solvers", "kernels", "datasets", "papers", "configs", "columns")


@click.command("list", short_help="List samplers, solvers, kernels, configurations and papers.")
@click.argument("what", type=click.Choice(LISTS))
@click.argument("name", required=False)
@PAPERS
@ALLOW_IMPORTS
@AS_JSON
def list_(
    what: str,
    name: str | None,
    paper_folders: tuple[Path, ...],
    allow_imports: bool,
    form: str,
) -> None:
    """List samplers, data sets, papers or other entries. With NAME, print the details of one entry.

    \b
    Examples:
        rfbench list samplers
        rfbench list samplers eerf
        rfbench list configs quickstart
        rfbench list papers
        rfbench list columns
    """
    if what == "papers":
        named = [Path(name)] if name else []
        _, names = include_papers(named, paper_folders, allow_imports=allow_imports)
        name = next(iter(names), name)
        if allow_imports:
            _check_code()
    things = _things(what)
    if not things:
        raise ConfigError(
            f"No {what} found.",
            "Files are missing from this installation of rfbench.",
            "Install rfbench again, or name a file of your own in `rfbench run`.",
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
            f"Unknown name '{name}' for {what}.{suggest_nearest_name(name, list(things))}",
            todo=f"`rfbench list {what}` lists all names.",
        )
    text = things[name][1]().rstrip("\n")
    if what == "samplers" and label in (labels := SAMPLERS[name].declaration.labels):
        text = f"{label}: {labels[label]}\n\n{text}"
    if form == "json":
        echo_json({"name": name, "text": text})
    else:
        echo(text)


def _things(what: str) -> Things:
    """Return the entries of a list, such as all samplers or all papers.

    The keys are the names of the entries. Each value is a pair: the cells that are printed after
    the name, and a function that returns the details of the entry as text. The runs of a
    configuration file have no cells, because the list has one line per file.
    """
    if what in ("samplers", "kernels"):
        registry = SAMPLERS if what == "samplers" else KERNELS
        return {
            name: ((_read_first_line(registry, str(place)),), partial(_of_classes, registry, name))
            for name, place in registry.places.items()
        }
    if what == "solvers":
        return {
            name: (
                (", ".join(tasks), _read_first_line(SOLVERS, next(iter(tasks.values())))),
                partial(_of_classes, SOLVERS, name),
            )
            for name, tasks in SOLVERS.places.items()
            if isinstance(tasks, Mapping)
        }
    if what == "configs":
        return _configurations()

    # These modules are imported only here, because importing them and pandas needs one second.
    from rfbench import datasets, papers
    from rfbench.results import schema

    if what == "columns":
        return {
            name: ((column.kind, column.title), partial("{0.title}\n{0.kind}".format, column))
            for name, column in schema.SCHEMA.items()
        }
    if what == "datasets":
        every = {name: datasets.find_entry(name) for name in datasets.list_names()}
        return {name: ((entry.title,), partial(_facts, entry)) for name, entry in every.items()}
    if what == "papers":
        return {
            name: (
                (", ".join(dict.fromkeys(n.item for n in folder.published)),
                 f"{folder.paper.citation}: {folder.paper.about}"
                 + " (not part of rfbench)" * folder.is_external),
                partial(_yaml, folder.paper.model_dump(exclude_defaults=True)),
            )
            for name, folder in papers.read_known_papers().items()
        }  # fmt: skip
    raise AssertionError(what)


def _configurations() -> Things:
    """Return the list entries for the configurations of rfbench and their runs.

    The configurations are not validated.
    """
    from rfbench import config, shipped, yamlfile

    files: Things = {}
    runs: Things = {}
    for path in shipped.list_configurations():
        content = yamlfile.load_yaml(path)
        found = config.matrix.find_run_builders(content, path.stem)
        names = [config.shorten_run_name(path, name) for name in found]
        several = f"; runs: {', '.join(names)}" if len(names) > 1 else ""
        about = f"{content.value.get('title', '')}{several}"
        files[path.stem] = (about,), partial(path.read_text, encoding="utf-8")
        runs |= {name: ((), partial(_write_run, make)) for name, make in found.items()}
    # The second `files` replaces runs that have the same name as a file. The first `files` puts the
    # files at the beginning of the list.
    return files | runs | files


def _check_code() -> None:
    """Import the file claims.py of each paper that a user added, and print errors."""
    from rfbench import papers
    from rfbench.analysis.claims import find_custom_claim_function

    for claim in papers.list_claims():
        own = any(part.at == "own" for part in claim.parts)
        if own and papers.find_paper_files(claim.paper).is_external:
            try:
                find_custom_claim_function(claim)
            except RfbenchError as error:
                echo(f"{claim.paper} {claim.id}: {error}", err=True)


def _facts(entry: Entry) -> str:
    """Return the catalog entry of a data set as text, with one line per field."""
    facts = entry.model_dump(
        exclude_defaults=True, exclude={"reader", "options", "downloads", "files"}
    )
    if entry.files:
        facts["files"] = ", ".join(file.name for file in entry.files)
    return "\n".join(f"{key}: {value}" for key, value in facts.items())


def _of_classes(registry: Registry, name: str) -> str:
    """Return the parameters and the docstring of each class that implements a method, as text."""
    from rfbench.parameters import describe_parameters

    texts, found = [], registry[name]
    classes: list[type[Any]] = list(found.values()) if isinstance(found, dict) else [found]
    for cls in classes:
        declared = describe_parameters(cls) if is_dataclass(cls) else []
        lines = [f"{cls.__module__}.{cls.__name__}", *(f"  {line}" for line in declared)]
        texts.append("\n".join([*lines, "", inspect.getdoc(cls) or ""]))
    return "\n\n".join(texts)


def _of_label(name: str) -> str:
    """Return the name of the sampler with the given label or published name.

    If there is no such sampler, the name is returned unchanged.
    """
    name = SAMPLERS.find_published_name(name)
    return next((own for own, cls in SAMPLERS.items() if name in cls.declaration.labels), name)


def _write_run(make: Callable[[], Document]) -> str:
    return _yaml(make().value)


def _yaml(content: Any) -> str:
    return yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=100)


@functools.cache
def _parse_classes(file: Path) -> dict[str, str]:
    """Return the docstring of each class in a Python file, without importing the file."""
    nodes = ast.parse(file.read_bytes()).body
    return {
        node.name: ast.get_docstring(node) or "" for node in nodes if type(node) is ast.ClassDef
    }


def _read_first_line(registry: Registry, place: str) -> str:
    """Return the first paragraph of the docstring of a class as one line.

    `place` is the module and the name of the class. A formula after a colon is removed. The file of
    the class is not imported, because importing scikit-learn takes a second.
    """
    module, _, name = place.partition(":")
    parts = f"{registry.package}.{module}".split(".")[1:]
    text = _parse_classes(PACKAGE.joinpath(*parts).with_suffix(".py"))[name]
    line = text.split("\n\n")[0].replace("\n", " ")
    return re.sub(r":[a-z ]* :math:`[^`]*`|``", "", line)
