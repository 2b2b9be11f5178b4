"""What an audit found, for a terminal, in Markdown and as CSV."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from rfbench.audit import told
from rfbench.audit.ranking import DISTANCE, Placed, Ranking
from rfbench.errors import ResultsError, WriteError
from rfbench.report import rules
from rfbench.report.formats import Grid, Section, markdown, text
from rfbench.report.scoreboard import measured, published
from rfbench.report.summary import DASH


def render(
    ranking: Ranking, format: str, *, command: str = "", top: int = 10, width: int | None = None
) -> str:
    """Write the best combinations, what each choice is worth, and the cells of the best one.

    Parameters
    ----------
    ranking : Ranking
    format : {'text', 'markdown'}
    command : str
        What repeats the audit, see `rfbench.audit.told.command`; it stands at the end.
    top : int
        The number of combinations that are shown.
    width : int, optional
        Of ``'text'``, in characters; by default the terminal's.

    Raises
    ------
    ResultsError
        If no combination has all its cells.
    """
    if not ranking.placed:
        raise ResultsError(
            f"No combination has every number of {ranking.target}.",
            f"{ranking.incomplete} lack at least one: their trials failed or were not run.",
            "See `rfbench status` on the folder.",
        )
    legend = Section(told.legend(ranking), [])
    sections = [_best(ranking, top), legend, _worth(ranking), _row(ranking)]
    write = {"text": text, "markdown": markdown}[format]
    title = f"Audit of {ranking.target}"
    columns = width or shutil.get_terminal_size().columns
    page = write(title, sections, told.notes(ranking), columns)
    return page + (f"\nTo repeat this audit:\n\n    {command}\n" if command else "")


def table(ranking: Ranking) -> pd.DataFrame:
    """Return one row a combination: its options, distances, verdicts and trials."""
    names = [choice.name for choice in ranking.audit.choices]
    rows = []
    for place, placed in zip(ranking.places, ranking.placed, strict=True):
        options = [option.name for option in placed.combination]
        rows.append(
            {"place": place}
            | dict(zip(names, options, strict=True))
            | {
                "rms_choosing": placed.choosing,
                "rms_confirming": placed.confirming,
                "largest_difference": placed.largest,
                "cells": len(placed.cells),
                "agree": None if ranking.stand_in else placed.verdicts(rules.AGREES),
                "close": None if ranking.stand_in else placed.verdicts(rules.CLOSE),
                "differ": None if ranking.stand_in else placed.verdicts(rules.DIFFERS),
                "trials": placed.trials,
                "tried": ranking.tried_in_all,
            }
        )
    return pd.DataFrame(rows)


def save(ranking: Ranking, folder: Path, *, command: str = "", top: int = 10) -> list[Path]:
    """Write ``audit.csv`` and ``audit.md`` into a folder and return their paths.

    Raises
    ------
    WriteError
        If there is no room or no permission.
    """
    csv = table(ranking).to_csv(index=False, float_format=DISTANCE, lineterminator="\n")
    shown = render(ranking, "markdown", command=command, top=top)
    texts = {"audit.csv": csv, "audit.md": shown}
    try:
        for name, content in texts.items():
            (folder / name).write_text(content, encoding="utf-8")
    except OSError as error:
        raise WriteError(
            f"The audit cannot be written into {folder}: {error.strerror}.",
            "The trials are kept.",
            "Make room, or allow writing, and run the same command again.",
        ) from error
    return [folder / name for name in texts]


def _best(ranking: Ranking, top: int) -> Section:
    varied = ranking.audit.varied
    places = [ranking.audit.choices.index(choice) for choice in varied]
    head = ["chosen by", "confirmed by", "largest", "agree, close, differ"]
    head += [choice.name for choice in varied]
    shown = zip(ranking.places[:top], ranking.placed[:top], strict=True)
    rows = [
        (
            str(place),
            [*_distances([p]), *_size(p, ranking), *(p.combination[i].name for i in places)],
        )
        for place, p in shown
    ]
    return Section(told.heading(ranking, top), [Grid("place", head, rows)])


def _distances(alike: Sequence[Placed]) -> list[str]:
    """Write both distances; for several that are equally near the range of the second."""
    return [f"{alike[0].choosing:.2f}", told.spread_out([p.confirming for p in alike])]


def _size(placed: Placed, ranking: Ranking) -> list[str]:
    verdicts = [placed.verdicts(v) for v in (rules.AGREES, rules.CLOSE, rules.DIFFERS)]
    return [
        f"{placed.largest:.2f}",
        DASH if ranking.stand_in else ", ".join(map(str, verdicts)),
    ]


def _worth(ranking: Ranking) -> Section:
    """Show for every option the nearest combinations that have it."""
    rows = []
    idle = False
    for choice in ranking.audit.varied:
        if choice.name in ranking.audit.idle:
            words = ", ".join(option.name for option in choice.options)
            rows.append((f"{choice.name}: {words}", [DASH] * 3))
            idle = True
            continue
        for option in choice.options:
            if found := ranking.nearest_with(option):
                place = ranking.place_of(found[0].combination)
                rows.append((f"{choice.name}: {option.name}", [*_distances(found), str(place)]))
    nearest = "the nearest of those drawn" if ranking.audit.drawn else "the nearest combination"
    heading = [f"What each choice is worth: {nearest} that has it"]
    if idle:
        heading.append(
            f"{DASH}: no number that chooses depends on this choice, so the audit cannot tell its "
            "options apart"
        )
    if ranking.absent:
        why = "never drawn" if ranking.audit.drawn else "in no combination that can be run"
        heading.append(f"{why}: {', '.join(ranking.absent)}")
    return Section(
        heading, [Grid("", ["chosen by", "confirmed by", "place"], rows)] if rows else []
    )


def _row(ranking: Ranking) -> Section:
    choosing, _ = ranking.target.halves()
    first = ranking.placed[0]
    rows = []
    for i, cell in enumerate(first.cells):
        number = cell.number
        name = " ".join(filter(None, [number.method, number.M, number.metric]))
        verdict = DASH if ranking.stand_in else cell.verdict
        half = "chose" if i in choosing else "confirms"
        said = [published(number), measured(cell), str(cell.trials), f"{cell.difference:+.2f}"]
        rows.append((name, [half, *said, verdict]))
    head = ["half", "published", "measured", "trials", "difference", "verdict"]
    which = "The nearest one"
    if len(ranking.first) > 1:
        which = f"The first listed of the {len(ranking.first)} nearest ones"
    heading = f"{which}, number by number, in percent; spreads: theirs as printed, ours "
    return Section([heading + "standard errors"], [Grid("", head, rows)])
