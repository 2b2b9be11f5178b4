"""Effect of settings that papers do not state on our results.

The results of `rfbench audit` give a range of our results over the values of these settings. The
ranges are added to tables of published numbers and of claims.
"""

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
    compute_distance_to_range,
    compute_effect_range,
    compute_number_ranges,
    list_varied_choices,
    read_audit_tables,
)
from rfbench.pages.additions import AddedColumn
from rfbench.pages.formatting import (
    DASH,
    format_number,
    format_signed,
    format_span,
    join_names,
    link,
)
from rfbench.pages.grids import Grid
from rfbench.pages.paper_numbers import join_items
from rfbench.papers.models import PERCENT, PRINTED, Claim

RANGE = "over unstated settings, less our reading"


class Unprinted:
    """Ranges of our results over the values of settings that papers do not state.

    Parameters
    ----------
    every : sequence of AuditTable
        Tables that `rfbench audit` wrote.

    Notes
    -----
    The object is callable. The arguments are a claim and one of its comparisons. The result is the
    comparison with two additions: the range of the effect, and the settings that change the
    verdict.
    """

    def __init__(self, every: Sequence[AuditTable]) -> None:
        self.every = every

    @cached_property
    def ranges(self) -> dict[int, NumberRange]:
        """Dictionary from a position in `papers.list_published_numbers` to a range."""
        return compute_number_ranges(self.every)

    def __call__(self, claim: Claim, comparison: ClaimComparison) -> ClaimComparison:
        """Return a comparison of a claim, with the range of its effect over unstated settings.

        The comparison is returned unchanged if no audit has measured the range.
        """
        return add_effect_range(
            claim, comparison, compute_effect_range(self.every, claim, comparison)
        )


def add_effect_range(
    claim: Claim, comparison: ClaimComparison, span: EffectRange | None
) -> ClaimComparison:
    """Return a copy of a comparison that contains the range `span` of its effect.

    If a bound of the claim is inside the range, the names of the varied settings are added, because
    they can change the verdict. If `span` is None, the comparison is returned unchanged.
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


def read_ranges_from_audits(paths: Iterable[str | Path]) -> Unprinted:
    """Return the ranges from results of `rfbench audit`.

    The results are read from the folders `paths` and from folders ``audits`` next to them.
    """
    return Unprinted(read_audit_tables(add_audit_folders(paths)))


def collect_ranges(verification: Verification) -> Unprinted:
    """Return the ranges over unstated settings that a verification used.

    The result has no ranges if there were no results of `rfbench audit`.
    """
    known = verification.unprinted
    return known if isinstance(known, Unprinted) else Unprinted(())


def build_ranges_finding(verification: Verification) -> Finding | None:
    """Return the finding about the ranges of our numbers over unstated settings.

    Only percentages are used. The result is None if no range is known.
    """
    own = verification.numbers_on_own_data
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
    """Range of our results for a published table, and the unstated settings that stayed fixed."""

    range: NumberRange | None
    fixed: list[str]


def make_ranges_column(verification: Verification) -> AddedColumn:
    """Return a column that is added to tables of published numbers.

    The column has the range of our number over the values of settings that the paper does not
    state.
    """
    over = collect_ranges(verification).ranges

    def cells(lines: Sequence[Line]) -> dict[int, str]:
        return {
            line["number"]: _format_range(over[line["number"]], line)
            for line in lines
            if line["protocol"] == PRINTED and line["number"] in over
        }

    def remark(lines: Sequence[Line]) -> tuple[str, Varied] | None:
        if lines[0]["stand_in"] or all(line["protocol"] != PRINTED for line in lines):
            return None
        here = sorted({line["number"] for line in lines} & over.keys())
        return "audit/varied.j2", _varied(lines[0], [over[index] for index in here])

    ends = {"lowest_change": "low", "highest_change": "high"}
    values = {
        f"{name}_over_unstated_settings": {n: getattr(each, end) for n, each in over.items()}
        for name, end in ends.items()
    }
    return AddedColumn(RANGE, PRINTED, cells, remark, values)


def _varied(line: Line, ranges: Sequence[NumberRange]) -> Varied:
    paper, item, dataset = (line[name] for name in GAIN_KEYS)
    here = papers.list_open_choices(paper, [item], dataset)
    first = ranges[0] if ranges else None
    varied = first.varied if first else ()
    gaps = papers.list_unstated_settings(paper)
    return Varied(first, [name for name in gaps if here.get(name) and name not in varied])


def _format_range(found: NumberRange, reading: Line) -> str:
    """Return the range of our number as text.

    If the published number is outside the range, its distance from the range is added. `reading`
    has the published number and our number.
    """
    low = f"{format_signed(found.low)} ± {format_number(found.half_low, 2)}"
    high = f"{format_signed(found.high)} ± {format_number(found.half_high, 2)}"
    ends = reading["measured"] + found.low, reading["measured"] + found.high
    away = compute_distance_to_range(reading["published"], *ends)
    return f"{low} to {high}" + (f", off by {format_number(away, 2)}" if away else "")


def make_effects_grid(verification: Verification, paper: str, out: Path) -> Grid:
    """Return a table of the effects of settings that a paper does not state, one row per audit.

    A row for published numbers has the smallest and the largest change of our numbers. The row also
    has the count of published numbers that are inside the ranges of our numbers. A row for a claim
    has only the settings. Links are relative to the folder `out`.
    """
    known = collect_ranges(verification)
    printed = verification.numbers_on_own_data[
        verification.numbers_on_own_data["protocol"] == PRINTED
    ].set_index("number")
    head = (
        "numbers", "varied", "not varied", "combinations x trials", "change of ours",
        "published within",
    )  # fmt: skip
    by_page: dict[Path, list[NumberRange]] = {}
    for number_range in known.ranges.values():
        entry = papers.list_published_numbers()[number_range.number]
        if entry.paper == paper and not entry.same_as:
            by_page.setdefault(number_range.page, []).append(number_range)
    rows = []
    for audit in known.every:
        claim, here = audit.claim, by_page.get(audit.page, [])
        if audit.place[0] != paper or not (here or (claim and audit.kind == "gaps")):
            continue
        lines = audit.gaps
        varied = list_varied_choices(audit, lines) if claim else here[0].varied
        n = f"{len(lines)} x {lines['trials'].min()}" if claim and len(lines) else DASH
        fixed, change, within = DASH, "see Claims", DASH
        if here:
            entry = papers.list_published_numbers()[here[0].number]
            first = {"paper": paper, "item": entry.item, "dataset": entry.dataset}
            fixed = join_names(_varied(first, here).fixed, DASH)
            n = f"{here[0].combinations} x {here[0].trials}"
            low, high = min(r.low for r in here), max(r.high for r in here)
            change = f"{format_signed(low)} to {format_signed(high)}"
            inside = sum(_lies_within(r, printed.loc[r.number].to_dict()) for r in here)
            within = f"{inside} of {len(here)}"
        if claim:
            fixed = join_names(_list_fixed(verification, claim, audit.place[2]), DASH)
        name = f"claim {claim.id}, {audit.place[2]}" if claim else _name_audit(audit)
        rows.append([link(audit.page, out, name), join_names(varied), fixed, n, change, within])
    return Grid(head, rows)


def _list_fixed(verification: Verification, claim: Claim, dataset: str) -> list[str]:
    """Return the unstated settings that could affect a claim but were not varied."""
    ranges = [
        comparison.over_gaps
        for outcome in verification.outcomes
        if outcome.claim.key == claim.key and outcome.protocol == PRINTED
        for comparison in outcome.comparisons
        if comparison.target == dataset
    ]
    return list(dict.fromkeys(name for each in ranges if each for name in each.fixed))


def _lies_within(found: NumberRange, reading: Line) -> bool:
    ends = reading["measured"] + found.low, reading["measured"] + found.high
    return compute_distance_to_range(reading["published"], *ends) == 0.0


def make_audits_grid(audits: Sequence[AuditTable], paper: str, out: Path) -> Grid:
    """Return a table with one row per audit: the settings nearest to the published numbers.

    A row shows the distance of their results from the published numbers. Links are relative to the
    folder `out`.
    """
    head = ("audit", "combinations", "difference: tuned half", "other half", "numbers", "trials")
    rows = []
    for audit in audits:
        if audit.kind != "audit" or audit.place[0] != paper:
            continue
        first, nearest = audit.table.iloc[0], audit.nearest_combinations
        tied = f" ({len(nearest)} tie)" if len(nearest) > 1 else ""
        other = nearest["rms_confirming"]
        confirmed = format_span(other.min(), other.max(), 2) if other.notna().all() else DASH
        name = _name_audit(audit) + (", substitute" if first["stand_in"] else "")
        cells = format_number(first["rms_choosing"], 2), confirmed
        sizes = format_number(first["cells"]), format_number(first["trials"])
        rows.append(
            [link(audit.page, out, name), f"{format_number(first['tried'])}{tied}", *cells, *sizes]
        )
    return Grid(head, rows)


def _name_audit(audit: AuditTable) -> str:
    _, items, dataset, methods = audit.place
    return f"{join_items(items.split('+'))}, {dataset}" + (f" ({methods})" if methods else "")
