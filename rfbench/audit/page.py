"""What an audit found: a page for a terminal or in Markdown, and a table."""

from __future__ import annotations

import shlex
import shutil
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from rfbench import __version__, files, papers
from rfbench.analysis.unprinted import off
from rfbench.audit.choices import written
from rfbench.audit.ranking import Ranking
from rfbench.audit.tables import DISTANCE, MEASURED, TABLE, cell, read_all, worth
from rfbench.audit.tables import ranges as of_tables
from rfbench.config import KeptBy
from rfbench.config.sweeps import Options, size
from rfbench.errors import ResultsError
from rfbench.escaping import in_markdown
from rfbench.pages import grids
from rfbench.pages.templates import render as fill
from rfbench.pages.words import DASH, absent, listing, number, signed, span, spread
from rfbench.papers.models import PERCENT

PAGE, COMMAND = "audit.md", "rfbench audit"
NEAREST = 10  # combinations that a page shows, where its question does not say
HEAD = ["place", "chosen by", "confirmed by", "largest"]
RANGE_HEAD = ["", "published", "nearest", "lowest", "our reading", "highest", "off"]
WORTH_HEAD = ["", "chosen by", "confirmed by", "place"]


def render(ranking: Ranking, format: str, *, width: int | None = None) -> str:
    """Write the nearest combinations, what each choice is worth, and the cells of the nearest one.

    The format is ``text``, so many characters wide (None: as the terminal), or ``markdown``.
    ResultsError if no combination has all its cells.
    """
    if ranking.table.empty:
        raise ResultsError(
            f"No combination has every number of {ranking.audit.target}.",
            f"{ranking.incomplete} lack at least one: their trials failed or were not run.",
            "See `rfbench status` on the folder.",
        )
    columns = width or shutil.get_terminal_size().columns
    writer = grids.WRITERS[format]

    def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
        return writer(grids.Grid(head, rows), columns)

    def plain(text: object) -> str:
        return in_markdown(text) if format == "markdown" else str(text)

    return fill("audit/audit.md.j2", **facts(ranking), table=table, plain=plain, form=format)


def facts(ranking: Ranking) -> dict[str, Any]:
    """Return what the template of the page speaks of, the rows of its tables among them."""
    audit = ranking.audit
    experiment = audit.experiments[0]
    sizes = experiment.M
    measured = {
        "M": f"kept by {sizes.kept_by}" if isinstance(sizes, KeptBy) else ",".join(map(str, sizes)),
        "trials": experiment.trials,
        "seed": experiment.seed,
    }
    varied = audit.varied
    methods = [number.method for number in audit.target.numbers]
    cells = ranking.cells_of_first.to_dict("records")
    judged = Counter(cell["verdict"] for cell in cells if not cell["stand_in"])
    return {
        "ranking": ranking,
        "audit": audit,
        "possible": size(audit.choices),
        "trials": int(ranking.table["trials"].iloc[0]),
        "best": _best(ranking.table, varied, audit.asked.top),
        "worth": _worth(ranking.worth()) + _idle(ranking),
        "cells": [_cell(cell) for cell in cells],
        "verdicts": judged,
        "ranges": _ranges(ranking) if audit.asked.gaps else [],
        "version": __version__,
        "measured": {name: value for name, value in measured.items() if name not in varied},
        "halves": [[methods[i] for i in half] for half in audit.target.halves()],
        "settings": [line for name in varied for line in _settings(name, audit.choices[name])],
    }


def _best(table: pd.DataFrame, varied: Sequence[str], top: int) -> list[list[str]]:
    distances = ("rms_choosing", "rms_confirming", "largest_difference")
    return [
        [
            number(line["place"]),
            *(number(line[name], 2) for name in distances),
            *(line[name] for name in varied),
        ]
        for line in table.head(top).to_dict("records")
    ]


def _worth(table: pd.DataFrame) -> list[list[str]]:
    return [
        [
            f"{line['choice']}: {line['option']}",
            number(line["chosen"], 2),
            span(line["low"], line["high"], 2),
            number(line["place"]),
        ]
        for line in table.to_dict("records")
    ]


def _idle(ranking: Ranking) -> list[list[str]]:
    idle = [name for name in ranking.audit.varied if name in ranking.audit.idle]
    return [[f"{name}: {listing(ranking.audit.choices[name])}", *[DASH] * 3] for name in idle]


def _cell(line: Mapping[Hashable, Any]) -> list[str]:
    printed = number(line["published"])
    if not absent(line["published_spread"]):
        printed += f" ± {number(line['published_spread'])}"
    return [
        " ".join(filter(None, [line["method"], line["M"], line["metric"]])),
        "chose" if line["chose"] else "confirms",
        printed,
        spread(line["measured"], line["standard_error"]),
        number(line["trials"]),
        signed(line["difference"], 2 if line["unit"] == PERCENT else 5),
        DASH if line["stand_in"] else line["verdict"],
    ]


def _ranges(ranking: Ranking) -> list[list[str]]:
    """Return per number what is printed, and lowest, our reading and highest over the gaps."""
    own = ranking.as_it_stands
    return [
        [
            cell(one),
            number(one.value),
            number(means.min(), 2),
            DASH if own is None else number(own[MEASURED + cell(one)], 2),
            number(means.max(), 2),
            number(off(one.value, means.min(), means.max()), 2),
        ]
        for one in ranking.audit.target.numbers
        for means in [ranking.table[MEASURED + cell(one)]]
    ]


def _settings(name: str, options: Options) -> list[tuple[str, str, dict[str, str]]]:
    if all(list(keys) == [name] for keys in options.values()):
        return []
    return [
        (name, option, {key: written(value) for key, value in keys.items()})
        for option, keys in options.items()
    ]


def command_of(folder: Path) -> list[str]:
    """Return the arguments of `rfbench audit` that the page of an audit's folder names.

    Raises ResultsError if there is no such page, or it names none.
    """
    file = folder / PAGE
    try:
        lines = files.read(file).decode().splitlines()
    except (OSError, UnicodeDecodeError):
        lines = []
    commands = [line.strip() for line in lines if line.startswith(f"    {COMMAND} ")]
    try:
        return shlex.split(commands[0])[2:]
    except (IndexError, ValueError):
        raise ResultsError(
            f"{file} does not name the command of its audit.",
            "A page is made anew by the question that it answers.",
            "Run the audit again; its rows are kept.",
        ) from None


def save_again(folder: Path) -> Path:
    """Write ``audit.md`` anew from ``audit.csv``: neither rows nor data are needed.

    Raises ResultsError if there is no such table, or the page names no command; WriteError if it
    cannot be written.
    """
    command = shlex.join(["rfbench", "audit", *command_of(folder)])
    tables = read_all([folder])
    if not tables:
        raise ResultsError(
            f"{folder / TABLE} is not there, or is no table of an audit.",
            "",
            "Run the audit again.",
        )
    (kept,) = tables
    options = {name: list(dict.fromkeys(kept.table[name])) for name in kept.choices}
    numbers = papers.published()
    first = kept.table.iloc[0]
    ranges = [
        [
            cell(published),
            number(published.value),
            number(first[MEASURED + cell(published)], 2),
            *(number(line[end], 2) for end in ("low", "reading", "high")),
            number(off(published.value, line["low"], line["high"]), 2),
        ]
        for line in of_tables(tables).to_dict("records")
        for published in [numbers[line["number"]]]
    ]
    content = fill(
        "audit/audit_kept.md.j2",
        audit=kept,
        first=first,
        tied=int((kept.table["place"] == 1).sum()),
        own=next((line for _, line in kept.table[kept.table["as_configured"]].iterrows()), None),
        best=grids.Grid([*HEAD, *kept.choices], _best(kept.table, kept.choices, NEAREST)),
        ranges=grids.Grid(RANGE_HEAD, ranges),
        worth=grids.Grid(WORTH_HEAD, _worth(worth(kept.table, options))),
        command=command,
    )
    return _write(folder, {PAGE: content})[0]


def save(ranking: Ranking, folder: Path) -> list[Path]:
    """Write ``audit.csv`` and ``audit.md`` into a folder and return their paths.

    ResultsError if no combination has all its cells, WriteError if there is no room or no
    permission.
    """
    texts = {
        TABLE: ranking.table.to_csv(index=False, float_format=DISTANCE, lineterminator="\n"),
        PAGE: render(ranking, "markdown"),
    }
    return _write(folder, texts)


def _write(folder: Path, texts: Mapping[str, str]) -> list[Path]:
    for name, content in texts.items():
        files.replace(folder / name, content.encode())
    return [folder / name for name in texts]
