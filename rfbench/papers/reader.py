"""Reader of the files in a paper's folder. Errors name the file and the line."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from rfbench import aliases, yamlfile
from rfbench.errors import ConfigError
from rfbench.papers.models import Folder, Published

PAPER, PUBLISHED, ROWS = "paper.yaml", "published.csv", "rows.csv"
# Keys of a paper. The values of each key are in a CSV file with the name of the key, in the folder
# of the paper.
PAPER_TABLES = ("published", "rows", "history")
CLAIMS, CODE = "claims.yaml", "claims.py"
OPEN_CHOICES, CHANGES = "open_choices.yaml", "changes.yaml"


def read_papers(root: Traversable) -> dict[str, Folder]:
    """Read all papers whose folders are in `root`. Return them by name, the newest first.

    Raises ConfigError if a file of a paper is invalid, or if the files of a paper contradict each
    other.
    """
    read_ones = [
        read_paper_folder(each) for each in root.iterdir() if each.joinpath(PAPER).is_file()
    ]
    newest = sorted(read_ones, key=lambda one: (-one.paper.year, one.paper.name))
    return {one.paper.name: one for one in newest}


def read_paper_folder(folder: Traversable) -> Folder:
    """Read all files in the folder of one paper.

    Raise ConfigError if a file is invalid, or if the files contradict each other.
    """
    content_of_paper, listed, left_open, changed = (
        _yaml(folder, each) for each in (PAPER, CLAIMS, OPEN_CHOICES, CHANGES)
    )
    content_of_paper = aliases.resolve_document(content_of_paper, aliases.PAPER)
    tables = {key: _lines(folder, f"{key}.csv") for key in PAPER_TABLES}

    def place(path: tuple[Any, ...]) -> str:
        document = listed
        match path:
            case str(key), int(row), *_ if key in tables:
                return f"{folder.name}/{key}.csv, line {tables[key][1][row]}"
            case "paper", *_:
                document, path = content_of_paper, path[1:]
            case "open_choices", *_:
                document, path = left_open, path[1:]
            case "gaps" | "apart", *_:
                document = left_open
            case "changes", *_:
                document = changed
        return f"{document.source}, {document.find_location(path) or 'line 1'}"

    for document, only in ((listed, "claims"), (changed, "changes")):
        if others := sorted(document.value.keys() - {only}):
            raise ConfigError(
                f"{document.source}, {document.find_location((others[0],))}: "
                f"unknown key {others[0]}.",
                f"The only allowed key is {only}.",
            )
    content = {
        "paper": content_of_paper.value,
        **{key: rows for key, (rows, _) in tables.items()},
        "claims": listed.value.get("claims", ()),
        "changes": changed.value.get("changes", ()),
        **{key: left_open.value.pop(key, ()) for key in ("gaps", "apart")},
        "open_choices": left_open.value,
        "code": Path(str(folder), CODE) if folder.joinpath(CODE).is_file() else None,
    }
    try:
        paper_folder = Folder.model_validate(content, context={"paper": folder.name})
    except ValidationError as error:
        problems = [
            f"{place(problem['loc'])}: {'.'.join(map(str, problem['loc'][1:]))}: {problem['msg']}."
            for problem in error.errors()
        ]
        raise ConfigError("\n".join(problems)) from error
    for file, problem in _misfits(paper_folder):
        raise ConfigError(f"{folder.name}/{file}: {problem}.")
    return paper_folder


def _lines(folder: Traversable, name: str) -> tuple[list[dict[str, str]], list[int]]:
    """Return the rows of a CSV file and the line number of each row.

    Both lists are empty if the file does not exist.
    """
    file = folder.joinpath(name)
    try:
        text = file.read_bytes().decode("utf-8-sig") if file.is_file() else ""
    except UnicodeDecodeError as error:
        raise ConfigError(
            f"{folder.name}/{name} is not a text file in UTF-8.", "", "Save the file in UTF-8."
        ) from error
    reader = csv.DictReader(io.StringIO(text, newline=""))
    lines = [(row, reader.line_num) for row in reader]
    return [row for row, _ in lines], [number for _, number in lines]


def _yaml(folder: Traversable, name: str) -> yamlfile.Document:
    file, source = folder.joinpath(name), f"{folder.name}/{name}"
    if not file.is_file():
        return yamlfile.Document({}, source)
    return yamlfile.parse_yaml(file.read_bytes(), source)


def _place(number: Published) -> tuple[str, str, str, str]:
    return number.dataset, number.method, number.M, number.metric


def _misfits(folder: Folder) -> Iterator[tuple[str, str]]:
    """Yield the contradictions between the files of a paper.

    Each contradiction is a pair of a file name and a message.
    """
    paper, numbers = folder.paper, folder.published
    for number in numbers:
        if number.dataset not in paper.datasets:
            yield PUBLISHED, f"the data set {number.dataset} is not in {PAPER}"
    if folder.rows and paper.rows_source is None:
        yield PAPER, f"rows_source: the source of {ROWS} is missing"
    folds: dict[tuple[str, str], list[int]] = {}
    for row in folder.rows:
        folds.setdefault((row.dataset, row.method), []).append(row.fold)
    for (dataset, method), numbers_of_folds in folds.items():
        if dataset not in paper.datasets:
            yield ROWS, f"the data set {dataset} is not in {PAPER}"
        if numbers_of_folds != list(range(len(numbers_of_folds))):
            yield (
                ROWS,
                (f"{dataset}, {method}: the folds have to be 0, 1, 2 and so on, in this order"),
            )
    printed = {(*_place(number), number.item): number.value for number in numbers}
    for number in numbers:
        if number.same_as and printed.get((*_place(number), number.same_as)) != number.value:
            yield (
                PUBLISHED,
                (f"{number.same_as} does not have the number {number.value} of {number.item}"),
            )
    ids = [claim.id for claim in folder.claims]
    for name in sorted({name for name in ids if ids.count(name) > 1}):
        yield CLAIMS, f"two claims have the id {name}"
    for claim in folder.claims:
        for name in (name for part in claim.parts for name in part.datasets):
            if name not in paper.datasets:
                yield CLAIMS, f"{claim.id}: the data set {name} is not in {PAPER}"
    for change in folder.changes:
        if change.withdrawn == (change.id in ids):
            yield CHANGES, f"{change.id}: a changed claim has to be either withdrawn or in {CLAIMS}"
    named = {name for choices in folder.open_choices.values() for name in choices}
    for name in sorted({*folder.gaps, *folder.apart} - named):
        yield OPEN_CHOICES, f"gaps: unknown choice {name}"
    methods = {number.method for number in numbers}
    for item, pairs in paper.gains.items():
        for method in (name for pair in pairs for name in pair):
            if method not in methods:
                yield PAPER, f"{item}: {method} has no number in {PUBLISHED}"
    for name in sorted(paper.provenance.sources.keys() - {number.item for number in numbers}):
        yield PAPER, f"provenance: {PUBLISHED} has no item {name}"
    if "repository" in paper.provenance.sources.values() and paper.rows_source is None:
        yield PAPER, "rows_source: the repository from which numbers were computed is missing"
