"""Functions that read the tables of `rfbench audit`, and compute ranges from these tables.

A range contains our results for all values of the settings that a paper does not state.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from rfbench import files, papers
from rfbench.analysis.comparisons import ClaimComparison, EffectRange
from rfbench.audit.choices import drop_options_of_other_samplers, list_choice_options
from rfbench.audit.target import Target
from rfbench.papers.models import PRINTED, SECONDS, Claim, Published

AUDIT_FILE = "audit.csv"
MEASURED_PREFIX = "measured "
# Prefixes of two columns for each published number. PAIRED is the mean of the paired differences
# between the trials of a combination and the trials of the unchanged configuration. HALF is half
# the width of the 90 % interval of this mean.
PAIRED, HALF = "paired ", "half "
DISTANCE = "%.6g"  # number format in a table; distances with equal text share a place
PLACE_COLUMNS = (
    "place", "rms_choosing", "rms_confirming", "largest_difference", "cells", "trials", "tried",
    "stand_in", "as_configured",
)  # fmt: skip
PROTOCOL_COLUMN = "protocol"  # column with the protocol that the configuration names


class NumberRange(NamedTuple):
    """Range of our results for a published number if unstated settings are varied.

    Unstated settings are settings that the paper does not state. The range consists of differences
    from the result with our settings, in the unit of the published number. The differences are
    computed in trials with the same splits and the same random numbers.
    """

    number: int  # position of the number in `rfbench.papers.list_published_numbers`
    low: float  # smallest mean difference among the combinations
    half_low: float  # half the width of the 90 % interval of `low`
    high: float  # largest mean difference among the combinations
    half_high: float
    combinations: int
    trials: int
    varied: list[str]  # names of the varied choices
    page: Path  # Markdown page of the audit


@dataclass(frozen=True)
class AuditTable:
    """A table that `rfbench audit` wrote, with one row per combination of settings."""

    file: Path
    table: pd.DataFrame

    @property
    def kind(self) -> str:
        """``gaps`` if only settings that the paper does not state were varied, else ``audit``."""
        return self.file.parent.name.partition("_")[0]

    @cached_property
    def place(self) -> tuple[str, str, str, str]:
        """Paper, published tables (joined by ``+``), data set and methods of the audit.

        The methods are empty if all methods were measured. For an audit of a claim, the four values
        are the paper, the identifier of the claim, the data set, and the run.
        """
        _, paper, items, dataset, methods = [*self.file.parent.name.split("_", 4), ""][:5]
        return paper, items, dataset, methods

    @property
    def claim(self) -> Claim | None:
        """Claim that was audited, or None if published numbers were audited."""
        return next((claim for claim in papers.list_claims() if claim.key == self.place[:2]), None)

    @property
    def page(self) -> Path:
        """Path of the Markdown page ``audit.md`` in the folder of the table."""
        return self.file.with_name("audit.md")

    @cached_property
    def nearest_combinations(self) -> pd.DataFrame:
        """Rows of the combinations whose results are nearest to the published numbers."""
        return pd.DataFrame(self.table[self.table["place"] == self.table["place"].iloc[0]])

    @cached_property
    def gaps(self) -> pd.DataFrame:
        """Rows in which all settings that the paper states have our values.

        All other settings were varied. The table is empty if the unchanged configuration was not
        measured, or if its settings are not from the text of the paper.
        """
        own, paper = self.table[self.table["as_configured"]], self.place[0]
        of_reading = PROTOCOL_COLUMN in self.table and (own[PROTOCOL_COLUMN] == PRINTED).all()
        if own.empty or not of_reading or paper not in papers.list_papers():
            return self.table[:0]
        gaps = papers.list_unstated_settings(paper)
        printed = [name for name in self.choices if name not in gaps]
        return self.table[(self.table[printed] == own.iloc[0][printed]).all(axis=1)]

    @property
    def choices(self) -> list[str]:
        """Names of the settings that have a column in the table."""
        names = map(str, self.table)
        return [
            c for c in names if c not in (*PLACE_COLUMNS, PROTOCOL_COLUMN) and not _of_a_number(c)
        ]


def add_audit_folders(paths: Iterable[str | Path]) -> list[Path]:
    """Return `paths`, followed by each existing folder ``audits`` next to one of `paths`."""
    given = list(map(Path, paths))
    beside = (path.parent / "audits" for path in given)
    return [*given, *(folder for folder in beside if folder.is_dir())]


def read_audit_tables(paths: Iterable[str | Path]) -> list[AuditTable]:
    """Return the tables of all files ``audit.csv`` in the folders `paths` and their subfolders.

    Files that `rfbench audit` did not write, and tables in renamed folders, are skipped.
    """
    found = {file.resolve(): file for path in paths for file in Path(path).rglob(AUDIT_FILE)}
    named = (file for file in sorted(found.values()) if file.parent.name.count("_") >= 3)
    return [AuditTable(file, table) for file in named if (table := _read(file)) is not None]


def _read(file: Path) -> pd.DataFrame | None:
    try:
        table = pd.read_csv(io.BytesIO(files.read(file)), dtype=str, keep_default_na=False)
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


def get_number_column_name(number: Published) -> str:
    """Return the name of a published number in column names, such as ``rks 100 error``."""
    return " ".join(filter(None, (number.method, number.M, number.metric)))


def compute_ranks(distances: pd.Series[float]) -> pd.Series[int]:
    """Return the rank of each distance, starting at 1. Equal distances have the same rank."""
    rounded = distances.map(lambda distance: float(DISTANCE % distance))
    return rounded.rank(method="min").astype(int)


def compute_number_ranges(audits: Iterable[AuditTable]) -> dict[int, NumberRange]:
    """Return the range of our results for each published number if unstated settings are varied.

    The result maps a position in `papers.list_published_numbers` to the range. Unstated settings
    are settings that the text of the paper does not state. All other settings have the values from
    the text. If a number has several audits, the audit with the most combinations is used.
    """
    found: dict[int, NumberRange] = {}
    for audit in audits:
        paper, items, dataset, _ = audit.place
        here = audit.gaps
        for index, number in enumerate(papers.list_published_numbers()):
            name, half = (start + get_number_column_name(number) for start in (PAIRED, HALF))
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


def compute_distance_to_range(published: float, low: float, high: float) -> float:
    """Return the distance of a published number from the range between `low` and `high`.

    The distance is 0 if the number is inside the range.
    """
    return max(low - published, published - high, 0.0)


def list_varied_choices(audit: AuditTable, lines: pd.DataFrame) -> list[str]:
    """Return the names of the settings that have several values in the given rows of a table."""
    return [name for name in audit.choices if lines[name].nunique() > 1]


def compute_effect_range(
    audits: Sequence[AuditTable], claim: Claim, comparison: ClaimComparison
) -> EffectRange | None:
    """Return the range of an effect if settings that the paper does not state are varied.

    The effect is the result of one comparison of a claim. The result is None if no audit measured
    this effect. If several audits measured the effect, the audit with the fewest fixed settings is
    used. Among these audits, the audit with the most combinations is used.
    """
    # Audits of the claim are used, and audits of published numbers that include both methods of the
    # comparison at its size.
    own = [
        audit for audit in audits if audit.place[:3] == (claim.paper, claim.id, comparison.target)
    ]
    part, items = claim.parts[comparison.part], set(claim.parts[comparison.part].items)
    others = [
        audit
        for audit in audits
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
        for name, options in list_choice_options(target, gaps=True).items()
        if len(drop_options_of_other_samplers(options, methods)) > 1
    ]
    complete = (
        replace(each, fixed=tuple(name for name in unstated if name not in each.varied))
        for each in found
        if each
    )
    return max(complete, key=lambda each: (-len(each.fixed), each.combinations), default=None)


def _changes(audit: AuditTable, names: list[str], ratio: bool = False) -> EffectRange | None:
    """Return the range of a column of an audit's table, minus its value for our settings.

    `names` has the names of one or two columns. For two columns, the range of their difference is
    returned. If `ratio` is True, the logarithms of the columns are used. The result is None if a
    column is missing or no setting was varied.
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
