"""Results of the audits that are added to the numbers and claims of papers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from rfbench import papers
from rfbench.analysis.comparisons import ClaimComparison, EffectRange
from rfbench.analysis.findings import GAIN_KEYS, Bar, Finding
from rfbench.analysis.published import Line
from rfbench.analysis.verification import Verification
from rfbench.audit.tables import (
    AuditTable,
    NumberRange,
    add_audit_folders,
    compute_effect_range,
    compute_ranges,
    measure_distance,
    read_all,
)
from rfbench.escaping import Markdown
from rfbench.pages.additions import AddedColumn
from rfbench.pages.words import number, signed
from rfbench.papers.models import PERCENT, PRINTED, Claim

RANGE = "over unstated settings, less our reading"
EXPLANATION = Markdown(
    "Where settings that the paper does not state were varied (`rfbench audit --gaps`), a column "
    "has the smallest and the largest mean difference to our reading, each ± half of its 90 % "
    "interval, and how far the published number lies outside."
)


class Unprinted:
    """Ranges of published numbers and claims over settings that papers do not state.

    Parameters
    ----------
    every : sequence of AuditTable
        Tables of the audits.

    Notes
    -----
    A call adds to a comparison of a claim the range of its effect, and the settings on which the
    effect depends.
    """

    def __init__(self, every: Sequence[AuditTable]) -> None:
        self.every = every

    @cached_property
    def ranges(self) -> dict[int, NumberRange]:
        """Range of each published number over unstated settings, by position."""
        return compute_ranges(self.every)

    def __call__(self, claim: Claim, comparison: ClaimComparison) -> ClaimComparison:
        """Return the comparison with the range of its effect, if it is known."""
        return with_range(claim, comparison, compute_effect_range(self.every, claim, comparison))


def with_range(
    claim: Claim, comparison: ClaimComparison, span: EffectRange | None
) -> ClaimComparison:
    """Add to a comparison the range of its effect, and the settings on which it depends.

    The effect depends on the varied settings if a bound of the claim is inside the range.
    """
    if span is None:
        return comparison
    part = claim.parts[comparison.part]
    low, high = comparison.effect + span.low, comparison.effect + span.high
    if part.scale == "ratio":
        low, high = (comparison.effect * math.exp(change) for change in (span.low, span.high))
    changes = any(low < bound < high for bound in (part.low, part.high) if bound is not None)
    return replace(
        comparison,
        over_gaps=replace(span, low=low, high=high),
        depends_on=span.varied if changes else (),
    )


def read_near(paths: Iterable[str | Path]) -> Unprinted:
    """Return the ranges from the audits in or next to `paths`."""
    return Unprinted(read_all(add_audit_folders(paths)))


def collect_ranges(verification: Verification) -> Unprinted:
    """Return the ranges that were read with a verification; empty if there are none."""
    known = verification.unprinted
    return known if isinstance(known, Unprinted) else Unprinted(())


def build_finding(verification: Verification) -> Finding | None:
    """Return the finding on the ranges of numbers over unstated settings."""
    own = verification.own
    own = own[(own["trials"] > 0) & (own["unit"] == PERCENT) & (own["protocol"] == PRINTED)]
    ranges = list(collect_ranges(verification).ranges.values())
    table = pd.DataFrame(ranges, columns=NumberRange._fields)
    table = table.merge(own, on="number", suffixes=("", "_of_number"))
    varied = table[["half_low", "half_high"]].astype(float).notna().any(axis=1)
    table = table.loc[varied]
    if table.empty:
        return None
    low, high = (table["measured"] + table[end] for end in ("low", "high"))
    inside = (low <= table["published"]) & (table["published"] <= high)
    table = table.assign(width=table["high"] - table["low"])
    widest = table.sort_values("width", kind="stable").drop_duplicates(GAIN_KEYS, keep="last")
    bars = [
        Bar(f"{line['paper']} {line['item']}, {line['dataset']}", 0.0, line["low"], line["high"])
        for line in widest.sort_index().to_dict("records")
    ]
    facts = {
        "numbers": len(table),
        "inside": int(inside.sum()),
        "median": float(table["width"].median()),
        "most": float(table["width"].max()),
    }
    return Finding("unprinted", facts, tuple(bars))


class Varied(NamedTuple):
    """Range over the unstated settings of a paper, and the settings that were not varied."""

    range: NumberRange | None
    fixed: list[str]


def column(verification: Verification) -> AddedColumn:
    """Return the column of the ranges in the tables of published numbers."""
    over = collect_ranges(verification).ranges

    def cells(lines: Sequence[Line]) -> dict[int, str]:
        return {
            line["number"]: format_range(over[line["number"]], line)
            for line in lines
            if line["protocol"] == PRINTED and line["number"] in over
        }

    def remark(lines: Sequence[Line]) -> tuple[str, Varied] | None:
        if lines[0]["stand_in"] or all(line["protocol"] != PRINTED for line in lines):
            return None
        here = sorted({line["number"] for line in lines} & over.keys())
        return "audit/varied.j2", _varied(lines[0], [over[index] for index in here])

    return AddedColumn(RANGE, PRINTED, EXPLANATION, cells, remark)


def _varied(line: Line, ranges: Sequence[NumberRange]) -> Varied:
    paper, item, dataset = (line[name] for name in GAIN_KEYS)
    here = papers.list_open_choices(paper, [item], dataset)
    first = ranges[0] if ranges else None
    varied = first.varied if first else ()
    gaps = papers.list_gaps(paper)
    return Varied(first, [name for name in gaps if here.get(name) and name not in varied])


def format_range(found: NumberRange, reading: Line) -> str:
    """Return the paired differences as text, with the distance to the published number."""
    low = f"{signed(found.low)} ± {number(found.half_low, 2)}"
    high = f"{signed(found.high)} ± {number(found.half_high, 2)}"
    ends = reading["measured"] + found.low, reading["measured"] + found.high
    away = measure_distance(reading["published"], *ends)
    return f"{low} to {high}" + (f", off by {number(away, 2)}" if away else "")
