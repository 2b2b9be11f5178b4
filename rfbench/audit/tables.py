"""Tables of audits among the results: nearest combinations, and ranges over unstated settings."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from rfbench import files as doors
from rfbench import papers
from rfbench.analysis.comparisons import ClaimComparison, EffectRange
from rfbench.audit.choices import list_choices, select_options
from rfbench.audit.target import Target
from rfbench.papers.models import PRINTED, SECONDS, Claim, Published

AUDIT_FILE = "audit.csv"
MEASURED_PREFIX = "measured "
# Prefixes of two columns with the paired difference between the trials of a combination and the
# trials of the unchanged configuration: its mean, and half the width of its 90 % interval.
PAIRED, HALF = "paired ", "half "
DISTANCE = "%.6g"  # number format in a table; equal strings are ties
PLACE_COLUMNS = (
    "place", "rms_choosing", "rms_confirming", "largest_difference", "cells", "trials", "tried",
    "stand_in", "as_configured",
)  # fmt: skip
PROTOCOL_COLUMN = "protocol"  # protocol of the configuration


class NumberRange(NamedTuple):
    """Range of a published number over the settings that its paper does not state.

    The range consists of paired differences from the value with our settings, on the same splits
    and draws of the same run, in the paper's unit. It includes 0, the difference for our settings.
    """

    number: int  # position in `rfbench.papers.list_published`
    low: float  # smallest mean difference, with half of its 90 % interval over the trials
    half_low: float
    high: float  # largest mean difference
    half_high: float
    combinations: int
    trials: int
    varied: list[str]  # names of the varied choices
    page: Path  # page of the audit


@dataclass(frozen=True)
class AuditTable:
    """A table that `rfbench audit` wrote, with the facts in the name of its folder."""

    file: Path
    table: pd.DataFrame

    @property
    def kind(self) -> str:
        """``audit``, or ``gaps`` if only unstated settings were varied."""
        return self.file.parent.name.partition("_")[0]

    @cached_property
    def place(self) -> tuple[str, str, str, str]:
        """Paper, items (joined by ``+``), data set, and methods if only some were measured.

        For a claim: paper, the claim's id, data set, and run.
        """
        _, paper, items, dataset, methods = [*self.file.parent.name.split("_", 4), ""][:5]
        return paper, items, dataset, methods

    @property
    def claim(self) -> Claim | None:
        """Claim that was audited; None for published numbers."""
        return next((claim for claim in papers.list_claims() if claim.key == self.place[:2]), None)

    @property
    def page(self) -> Path:
        """Markdown file next to the table."""
        return self.file.with_name("audit.md")

    @cached_property
    def nearest(self) -> pd.DataFrame:
        """Lines that share the first place."""
        return pd.DataFrame(self.table[self.table["place"] == self.table["place"].iloc[0]])

    @cached_property
    def gaps(self) -> pd.DataFrame:
        """Lines that differ from our default settings only in gaps of the text.

        The table is empty if the configuration does not have our default settings, or was not
        measured.
        """
        own, paper = self.table[self.table["as_configured"]], self.place[0]
        of_reading = PROTOCOL_COLUMN in self.table and (own[PROTOCOL_COLUMN] == PRINTED).all()
        if own.empty or not of_reading or paper not in papers.list_papers():
            return self.table[:0]
        gaps = papers.list_gaps(paper)
        printed = [name for name in self.choices if name not in gaps]
        return self.table[(self.table[printed] == own.iloc[0][printed]).all(axis=1)]

    @property
    def choices(self) -> list[str]:
        """Columns that are choices."""
        names = map(str, self.table)
        return [
            c for c in names if c not in (*PLACE_COLUMNS, PROTOCOL_COLUMN) and not _of_a_number(c)
        ]


def add_audit_folders(paths: Iterable[str | Path]) -> list[Path]:
    """Return `paths` and the folders ``audits`` next to them."""
    given = list(map(Path, paths))
    beside = (path.parent / "audits" for path in given)
    return [*given, *(folder for folder in beside if folder.is_dir())]


def read_all(paths: Iterable[str | Path]) -> list[AuditTable]:
    """Read every ``audit.csv`` at or below the paths.

    Other tables, and tables in renamed folders, are skipped.
    """
    files = {file.resolve(): file for path in paths for file in Path(path).rglob(AUDIT_FILE)}
    named = (file for file in sorted(files.values()) if file.parent.name.count("_") >= 3)
    return [AuditTable(file, table) for file in named if (table := _read(file)) is not None]


def _read(file: Path) -> pd.DataFrame | None:
    try:
        table = pd.read_csv(io.BytesIO(doors.read(file)), dtype=str, keep_default_na=False)
    except (OSError, ValueError):
        return None
    if table.empty or not set(PLACE_COLUMNS) <= set(table):
        return None
    for name in map(str, table):
        if name in PLACE_COLUMNS[:-2] or _of_a_number(name):
            table[name] = pd.to_numeric(table[name])
        elif name in PLACE_COLUMNS:
            table[name] = table[name] == "True"
    return table


def _of_a_number(column: str) -> bool:
    return column.startswith((MEASURED_PREFIX, PAIRED, HALF))


def get_number_column(number: Published) -> str:
    """Return the name of a number's column, without `MEASURED_PREFIX`."""
    return " ".join(filter(None, (number.method, number.M, number.metric)))


def compute_places(distances: pd.Series[float]) -> pd.Series[int]:
    """Return the rank of each distance: one more than the number of smaller distances."""
    rounded = distances.map(lambda distance: float(DISTANCE % distance))
    return rounded.rank(method="min").astype(int)


def compute_ranges(every: Iterable[AuditTable]) -> dict[int, NumberRange]:
    """Return the range of each published number that was audited, by its position.

    In an audit of our default settings (`printed`), a combination counts if it differs from these
    settings only in gaps of the text (`rfbench.papers.list_gaps`) and has trials on the same
    splits. If a number has several audits, the audit with the most combinations is used.
    """
    found: dict[int, NumberRange] = {}
    for audit in every:
        paper, items, dataset, _ = audit.place
        here = audit.gaps
        for index, number in enumerate(papers.list_published()):
            name, half = (start + get_number_column(number) for start in (PAIRED, HALF))
            fits = (number.paper, number.dataset) == (paper, dataset) and number.unit != SECONDS
            if not fits or number.item not in items.split("+") or name not in here:
                continue
            paired = here[here[name].notna()].sort_values(name, kind="stable")
            fewest = found[index].combinations if index in found else 0
            if len(paired) >= fewest and (varied := list_varied_choices(audit, paired)):
                low, half_low, high, half_high = paired[[name, half]].iloc[[0, -1]].to_numpy().flat
                behind = len(paired), int(paired["trials"].min()), varied
                found[index] = NumberRange(
                    index, low, half_low, high, half_high, *behind, audit.page
                )
    return dict(sorted(found.items()))


def measure_distance(published: float, low: float, high: float) -> float:
    """Return the distance between a published number and a range; 0 inside the range."""
    return max(low - published, published - high, 0.0)


def list_varied_choices(audit: AuditTable, lines: pd.DataFrame) -> list[str]:
    """Return the names of the choices that differ between the given lines of an audit."""
    return [name for name in audit.choices if lines[name].nunique() > 1]


def compute_effect_range(
    every: Sequence[AuditTable], claim: Claim, comparison: ClaimComparison
) -> EffectRange | None:
    """Return the range of the effect of a claim's comparison; None if it was not audited.

    The range is from audits of the claim, or from audits of numbers that have both methods of the
    comparison at the size. Among several audits, the audit with the fewest fixed keys is used, then
    the audit with the most combinations.
    """
    own = [
        audit for audit in every if audit.place[:3] == (claim.paper, claim.id, comparison.target)
    ]
    part, items = claim.parts[comparison.part], set(claim.parts[comparison.part].items)
    others = [
        audit
        for audit in every
        if (audit.place[0], audit.place[2]) == (claim.paper, comparison.target)
        and items & set(audit.place[1].split("+"))
    ]
    methods = (part.method, comparison.against)
    cells = [f"{method} {comparison.x} {part.metric}" for method in methods]
    by_size = comparison.against and comparison.x and part.along == "M"
    found = [_changes(audit, [PAIRED + comparison.name]) for audit in own]
    if by_size and part.scale == "difference":
        found += [_changes(audit, [PAIRED + cell for cell in cells]) for audit in others]
    elif by_size:
        found += [
            _changes(audit, [MEASURED_PREFIX + cell for cell in cells], True) for audit in others
        ]
    target = Target(claim.paper, tuple(part.items), comparison.target, ())
    unstated = [
        name
        for name, options in list_choices(target, gaps=True).items()
        if len(select_options(options, methods)) > 1
    ]
    complete = (
        replace(each, fixed=tuple(name for name in unstated if name not in each.varied))
        for each in found
        if each
    )
    return max(complete, key=lambda each: (-len(each.fixed), each.combinations), default=None)


def _changes(audit: AuditTable, names: list[str], ratio: bool = False) -> EffectRange | None:
    """Return the range of a column, or of the difference of two columns, from our settings.

    With `ratio`, the logarithms of the columns are used.
    """
    here = audit.gaps
    if not set(names) <= set(here):
        return None
    here = here.dropna(subset=names)
    if not (varied := list_varied_choices(audit, here)) or not here["as_configured"].any():
        return None
    values = pd.DataFrame(np.log(here[names]) if ratio else here[names])
    effects = values[names[0]] - (values[names[1]] if len(names) > 1 else 0.0)
    effects = effects - effects[here["as_configured"]].iloc[0]
    return EffectRange(effects.min(), effects.max(), len(here), tuple(varied))
