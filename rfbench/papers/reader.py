"""Reading the folder of a paper; what is wrong in it is said with file and line."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib.resources.abc import Traversable
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from rfbench import yamlfile
from rfbench.errors import ConfigError
from rfbench.papers.models import (
    SIZE,
    Answer,
    ChoiceNames,
    Choices,
    Claim,
    Claims,
    OpenChoices,
    Paper,
    Published,
)

PAPER, PUBLISHED = "paper.yaml", "published.csv"
CLAIMS, OPEN_CHOICES, ANSWER = "claims.yaml", "open_choices.yaml", "answer.md"
Model = TypeVar("Model", bound=BaseModel)


@dataclass(frozen=True)
class Folder:
    """A paper: what its five files hold; all but paper.yaml may be missing."""

    paper: Paper
    published: tuple[Published, ...]  # in the order of the paper's tables
    claims: tuple[Claim, ...]
    open_choices: Mapping[str, Choices]  # by all, item or item/data set
    gaps: tuple[str, ...] = ()  # choices of which the text says nothing; the others contradict it
    apart: tuple[str, ...] = ()  # such choices that `rfbench audit --gaps` alone varies
    answer: Answer | None = None  # of its authors


def read_all(root: Traversable) -> dict[str, Folder]:
    """Read the papers whose folders lie in `root`, the newest first.

    Raises ConfigError if a file is broken, or does not fit the others of its paper.
    """
    folders = [read(folder) for folder in root.iterdir() if folder.joinpath(PAPER).is_file()]
    folders.sort(key=lambda found: (-found.paper.year, found.paper.name))
    first: dict[str, str] = {}
    for claim in (claim for found in folders for claim in found.claims):
        place = first.setdefault(claim.id, claim.paper)
        if place != claim.paper:
            raise ConfigError(
                f"{claim.paper}/{CLAIMS}: {place} has a claim {claim.id} as well.",
                "An id stands for one claim of all papers.",
            )
    return {found.paper.name: found for found in folders}


def read(folder: Traversable) -> Folder:
    """Read the folder of one paper; see `read_all`."""
    name = folder.name
    said, listed, left_open = (_yaml(folder, each) for each in (PAPER, CLAIMS, OPEN_CHOICES))
    said.value.setdefault("name", name)
    said.value["doubts"] = _own(said.value.get("doubts", []), name)
    listed.value["claims"] = _own(listed.value.get("claims", []), name)
    gaps, apart = (left_open.value.pop(name, []) for name in ("gaps", "apart"))
    found = Folder(
        paper=_checked(Paper, said.value, _places(said)),
        published=tuple(_published(folder)),
        claims=tuple(_checked(Claims, listed.value, _places(listed)).claims),
        open_choices=_checked(OpenChoices, left_open.value, _places(left_open)).root,
        gaps=_checked(ChoiceNames, gaps, _places(left_open)).root,
        apart=_checked(ChoiceNames, apart, _places(left_open)).root,
        answer=_answer(folder),
    )
    for file, problem in (*_strangers(found, name), *_misfits(found)):
        raise ConfigError(f"{name}/{file}: {problem}.")
    return found


def _yaml(folder: Traversable, name: str) -> yamlfile.Document:
    file, source = folder.joinpath(name), f"{folder.name}/{name}"
    if not file.is_file():
        return yamlfile.Document({}, source)
    return yamlfile.parse(file.read_bytes(), source)


def _published(folder: Traversable) -> Iterator[Published]:
    reader = csv.DictReader(io.StringIO(_text(folder, PUBLISHED), newline=""))
    for row in reader:
        content = {"paper": folder.name, **row}
        yield _checked(Published, content, _line(f"{folder.name}/{PUBLISHED}", reader.line_num))


def _answer(folder: Traversable) -> Answer | None:
    """Read answer.md: a line with the date and who answers, then the text."""
    head, _, text = _text(folder, ANSWER).partition("\n")
    date, _, by = head.partition(",")
    content = {"date": date.strip(), "by": by.strip(), "text": text.strip()}
    if not any(content.values()):
        return None
    return _checked(Answer, content, _line(f"{folder.name}/{ANSWER}", 1))


def _text(folder: Traversable, name: str) -> str:
    file = folder.joinpath(name)
    try:
        return file.read_bytes().decode("utf-8-sig") if file.is_file() else ""
    except UnicodeDecodeError as error:
        raise ConfigError(
            f"{folder.name}/{name} is not text in UTF-8.", "", "Save it as UTF-8."
        ) from error


def _own(entries: Any, name: str) -> Any:
    """Write the paper's name into each entry, which does not repeat it."""
    if not isinstance(entries, list):
        return entries
    return [{"paper": name, **each} if isinstance(each, dict) else each for each in entries]


Places = Callable[[tuple[Any, ...]], str]


def _places(document: yamlfile.Document) -> Places:
    return lambda path: f"{document.source}, {document.place_of(path) or 'line 1'}"


def _line(source: str, number: int) -> Places:
    return lambda path: f"{source}, line {number}"


def _checked(model: type[Model], content: Any, places: Places) -> Model:
    try:
        return model.model_validate(content)
    except ValidationError as error:
        said = [
            f"{places(problem['loc'])}: {'.'.join(map(str, problem['loc']))}: {problem['msg']}."
            for problem in error.errors()
        ]
        raise ConfigError("\n".join(said)) from error


def _strangers(found: Folder, name: str) -> Iterator[tuple[str, str]]:
    """Yield where a file names another paper than its folder does."""
    named = [(PAPER, found.paper.name)]
    named += [(PAPER, doubt.paper) for doubt in found.paper.doubts]
    named += [(PUBLISHED, number.paper) for number in found.published]
    named += [(CLAIMS, claim.paper) for claim in found.claims]
    for file, other in named:
        if other != name:
            yield file, f"it names the paper {other}; the name is that of the folder, leave it out"


def _place(number: Published) -> tuple[str, str, str, str]:
    return number.dataset, number.method, number.M, number.metric


def _misfits(found: Folder) -> Iterator[tuple[str, str]]:
    """Yield what in one file has no counterpart in the others: the file, and what is wrong."""
    paper, numbers = found.paper, found.published
    for number in numbers:
        if number.dataset not in paper.datasets:
            yield PUBLISHED, f"the data set {number.dataset} is not in {PAPER}"
    printed = {(*_place(number), number.item): number.value for number in numbers}
    for number in numbers:
        if number.same_as and printed.get((*_place(number), number.same_as)) != number.value:
            yield PUBLISHED, f"{number.same_as} does not print the {number.value} of {number.item}"
    for one in paper.undecidable:
        if one.dataset not in paper.datasets:
            yield PAPER, f"undecidable: there is no data set {one.dataset}"
    for claim in found.claims:
        for name in (name for part in claim.parts for name in part.datasets):
            if name not in paper.datasets:
                yield CLAIMS, f"{claim.id}: the data set {name} is not in {PAPER}"
    named = {name for choices in found.open_choices.values() for name in choices}
    for name in sorted({*found.gaps, *found.apart} - named):
        yield OPEN_CHOICES, f"gaps: there is no choice {name}"
    known = {(number.item, number.method, number.metric) for number in numbers}
    methods = {number.method for number in numbers} | set(paper.added.methods)
    for item, layout in paper.tables.items():
        for column in layout.columns:
            for metric in column.metrics:
                if metric != SIZE and (item, column.method, metric) not in known:
                    yield PAPER, f"{item}: {PUBLISHED} has no {metric} of {column.method}"
        for method in (name for pair in layout.gains for name in pair):
            if method not in methods:
                yield PAPER, f"{item}: {method} is neither published nor added"
    for name in set(paper.added.claims) - {claim.id for claim in found.claims}:
        yield PAPER, f"the added claim {name} is not in {CLAIMS}"
