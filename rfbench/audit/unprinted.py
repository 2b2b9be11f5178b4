"""What the audits among the results add to the numbers and claims of papers."""

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
    """What audits say of the keys that papers do not print.

    Parameters
    ----------
    every : sequence of AuditTable

    A call adds to a comparison of a claim the range of its effect, and what it depends on.
    """

    def __init__(self, every: Sequence[AuditTable]) -> None:
        self.every = every

    @cached_property
    def ranges(self) -> dict[int, NumberRange]:
        """The ranges of published numbers, see `rfbench.audit.tables.compute_ranges`."""
        return compute_ranges(self.every)

    def __call__(self, claim: Claim, comparison: ClaimComparison) -> ClaimComparison:
        """Return the comparison with the range of its effect, if that is known."""
        return with_range(claim, comparison, compute_effect_range(self.every, claim, comparison))


def with_range(
    claim: Claim, comparison: ClaimComparison, span: EffectRange | None
) -> ClaimComparison:
    """Add to a comparison the range of its effect, and what the effect depends on.

    It depends on what was varied if it is on both sides of a bound within that range, on whichever
    side the reading is.
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
    """Return what the audits among or beside some results say."""
    return Unprinted(read_all(add_audit_folders(paths)))


def collect_ranges(verification: Verification) -> Unprinted:
    """Return what the audits say that were read with a verification; nothing if none were."""
    known = verification.unprinted
    return known if isinstance(known, Unprinted) else Unprinted(())


def build_finding(verification: Verification) -> Finding | None:
    """Return by how much numbers move with what their papers do not print."""
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
    """What was varied of the settings that a paper does not state, and what was not."""

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
    """Write the paired differences to a reading, and how far it stays off the published number."""
    low = f"{signed(found.low)} ± {number(found.half_low, 2)}"
    high = f"{signed(found.high)} ± {number(found.half_high, 2)}"
    ends = reading["measured"] + found.low, reading["measured"] + found.high
    away = measure_distance(reading["published"], *ends)
    return f"{low} to {high}" + (f", off by {number(away, 2)}" if away else "")
