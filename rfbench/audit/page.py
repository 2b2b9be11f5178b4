"""What an audit found, for a terminal, in Markdown and as CSV."""

from __future__ import annotations

import math
import shutil
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from rfbench.audit.choices import Choice
from rfbench.audit.ranking import Placed, Ranking
from rfbench.errors import ResultsError, WriteError
from rfbench.report import rules
from rfbench.report.formats import Grid, Section, markdown, text
from rfbench.report.scoreboard import measured, published
from rfbench.report.summary import DASH

LEAST_ORDERED = 3


def render(ranking: Ranking, format: str, *, top: int = 10, width: int | None = None) -> str:
    """Write the best combinations, what each choice is worth, and the cells of the best one.

    Parameters
    ----------
    ranking : Ranking
    format : {'text', 'markdown'}
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
    sections = [_best(ranking, top), _worth(ranking), _row(ranking)]
    write = {"text": text, "markdown": markdown}[format]
    title = f"Audit of {ranking.target}"
    return write(title, sections, _notes(ranking), width or shutil.get_terminal_size().columns)


def table(ranking: Ranking) -> pd.DataFrame:
    """Return one row a combination: its options, distances, verdicts and trials."""
    names = [choice.name for choice in ranking.choices]
    rows = []
    for place, placed in enumerate(ranking.placed, 1):
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


def save(ranking: Ranking, folder: Path, *, top: int = 10) -> list[Path]:
    """Write ``audit.csv`` and ``audit.md`` into a folder and return their paths.

    Raises
    ------
    WriteError
        If there is no room or no permission.
    """
    csv = table(ranking).to_csv(index=False, float_format="%.6g", lineterminator="\n")
    texts = {"audit.csv": csv, "audit.md": render(ranking, "markdown", top=top)}
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
    choosing, confirming = ranking.target.halves()
    first = ranking.placed[0]
    shown = min(top, len(ranking.placed))
    trials = "1 trial" if first.trials == 1 else f"{first.trials} trials"
    heading = [
        f"{ranking.tried} combinations of {len(ranking.choices)} open choices were tried"
        f"{_part(ranking)}, with {trials} each; the {shown} nearest to the published "
        "row are shown",
        f"{len(choosing)} of the {len(first.cells)} published numbers choose, the other "
        f"{len(confirming)} confirm; distances are root mean square differences in points",
    ]
    if ranking.tried_in_all > ranking.tried:
        heading.append(
            f"the folder holds trials of {ranking.tried_in_all} combinations in all, from this "
            "and earlier audits"
        )
    if not math.isnan(ranking.noise):
        heading.append(
            f"the spread of both sides alone would put the right protocol at about "
            f"{ranking.noise:.2f} on the choosing half"
        )
    if ranking.stand_in:
        heading.append(
            f"measured on {ranking.stand_in}: not the paper's data, so a distance is no verdict"
        )
    places = [i for i, choice in enumerate(ranking.choices) if len(choice.options) > 1]
    head = ["chosen by", "confirmed by", "largest", "agree, close, differ"]
    head += [short(choice, ranking.choices) for choice in (ranking.choices[i] for i in places)]
    rows = [
        (str(place), [*_distances(p, ranking), *(p.combination[i].name for i in places)])
        for place, p in enumerate(ranking.placed[:top], 1)
    ]
    return Section(heading, [Grid("place", head, rows)])


def _part(ranking: Ranking) -> str:
    drawn = f", drawn at random from {ranking.drawn_of}" if ranking.drawn else ""
    refused = (
        f", {len(ranking.refused)} options or combinations cannot be run" if ranking.refused else ""
    )
    lacking = f", {ranking.incomplete} of them lack a number" if ranking.incomplete else ""
    return drawn + refused + lacking


def _distances(placed: Placed, ranking: Ranking) -> list[str]:
    verdicts = [placed.verdicts(v) for v in (rules.AGREES, rules.CLOSE, rules.DIFFERS)]
    judged = DASH if ranking.stand_in else ", ".join(map(str, verdicts))
    return [
        f"{placed.choosing:.2f}",
        DASH if math.isnan(placed.confirming) else f"{placed.confirming:.2f}",
        f"{placed.largest:.2f}",
        judged,
    ]


def _worth(ranking: Ranking) -> Section:
    """Show for every option the nearest combination that has it."""
    rows = []
    for choice in ranking.choices:
        for option in choice.options:
            found = ranking.best_with(option)
            if found is not None and len(choice.options) > 1:
                place = 1 + ranking.placed.index(found)
                cells = [*_distances(found, ranking)[:2], str(place)]
                rows.append((f"{short(choice, ranking.choices)}: {option.name}", cells))
    nearest = "the nearest of those drawn" if ranking.drawn else "the nearest combination"
    heading = [f"What each choice is worth: {nearest} that has it"]
    if ranking.absent:
        why = "never drawn" if ranking.drawn else "in no combination that can be run"
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
    heading = "The nearest one, number by number, in percent; spreads: theirs as printed, ours "
    return Section([heading + "standard errors"], [Grid("", head, rows)])


def _notes(ranking: Ranking) -> list[str]:
    notes = []
    if place := ranking.place_confirmed:
        correlation = ranking.correlation
        order = "" if math.isnan(correlation) else f" (rank correlation {correlation:.2f})"
        notes.append(
            f"On the half that did not choose, the nearest combination has place {place} of "
            f"{len(ranking.placed)}."
        )
        if len(ranking.placed) >= LEAST_ORDERED:
            notes.append(
                f"The halves may order the combinations alike{order} by their noise too: both come "
                "from the same trials and splits, so they are not independent."
            )
    else:
        notes.append("There is one number only: nothing confirms the choice.")
    notes.append(
        "The combinations were chosen with the published test errors in sight: what comes out is "
        "a protocol that is consistent with the numbers, not proof that it was theirs."
    )
    notes += [f"Cannot be run: {line}" for line in ranking.refused[:3]]
    return notes


def short(choice: Choice, choices: Sequence[Choice]) -> str:
    """Name a choice by the last word of its key, with the one before where two are alike."""
    words = choice.name.split(".")
    last = [other.name.split(".")[-1] for other in choices]
    return words[-1] if last.count(words[-1]) == 1 else ".".join(words[-2:])
