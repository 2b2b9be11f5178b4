"""What the rows say about papers and splits, each left out where the rows do not carry it.

Numbers alone: `templates/findings.j2` has a sentence and an axis for each. Slices have more.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from rfbench import papers
from rfbench.analysis import verdicts
from rfbench.analysis.apart import side_by_side
from rfbench.analysis.gains import gains
from rfbench.analysis.totals import counts, totals
from rfbench.analysis.verification import Verification
from rfbench.papers.models import MATCHED, PERCENT, PRINTED

PLACE = ["paper", "item", "dataset"]


@dataclass(frozen=True)
class Bar:
    """A value behind a finding and the ends of what it ranges over, NaN where there are none."""

    name: str
    value: float
    low: float = math.nan
    high: float = math.nan


@dataclass(frozen=True)
class Finding:
    """A statement: what its sentence takes, and the values behind it."""

    key: str
    facts: Mapping[str, Any]
    bars: tuple[Bar, ...]


def gather(verification: Verification) -> list[Finding]:
    """Return the findings that the rows carry, in the order of the page."""
    every = (make(verification) for make in (numbers, claims, unprinted, gained, apart))
    return [finding for finding in every if finding is not None]


def numbers(verification: Verification) -> Finding | None:
    """Return how many published numbers come out, as printed and matched."""
    total = totals(verification)
    counted = {
        name: total.came_out(name) for name in (PRINTED, MATCHED) if name in total.by_number.index
    }
    if len(counted) < 2 or not all(each["compared"] for each in counted.values()):
        return None
    by_paper = counts(verification).groupby(["protocol", "paper"], sort=False).sum()
    bars = []
    for line in by_paper.reset_index().to_dict("records"):
        near, compared = line[verdicts.AGREES] + line[verdicts.CLOSE], line["compared"]
        if line["protocol"] in counted and compared:
            name = f"{line['paper']}, {line['protocol']}: {near} of {compared}"
            bars.append(Bar(name, 100 * near / compared, 0.0, 100 * near / compared))
    return Finding("numbers", counted, tuple(bars))


def claims(verification: Verification) -> Finding | None:
    """Return how many claims hold, under the papers' own settings."""
    verdict_of = pd.DataFrame(
        [
            ("/".join(outcome.claim.key), outcome.protocol, outcome.verdict)
            for outcome in verification.outcomes
            if outcome.claim.judged and outcome.protocol in (PRINTED, MATCHED)
            if outcome.verdict in verdicts.JUDGED
        ],
        columns=["claim", "protocol", "verdict"],
    )
    if verdict_of.empty:
        return None
    by_claim = verdict_of.groupby("claim")["verdict"].agg(set)
    tested = len(by_claim)
    holding = sum(bool(seen & {verdicts.HOLDS, verdicts.HOLDS_TESTED}) for seen in by_claim)
    failing = sum(bool(seen & {verdicts.FAILS, verdicts.IN_PART}) for seen in by_claim)
    counts = verdict_of.groupby(["protocol", "verdict"]).size()
    bars = [
        Bar(f"{protocol}: {verdict}", float(n), 0.0, float(n))
        for protocol in (PRINTED, MATCHED)
        for verdict in verdicts.JUDGED
        if (n := counts.get((protocol, verdict), 0))
    ]
    facts = {"tested": tested, "holding": holding, "failing": failing}
    return Finding("claims", facts, tuple(bars))


def unprinted(verification: Verification) -> Finding | None:
    """Return by how much numbers move with what their papers do not print."""
    own = verification.own
    measured = own[(own["trials"] > 0) & (own["unit"] == PERCENT)]["number"]
    ranges = verification.ranges
    ranges = ranges[ranges["number"].isin(measured)]  # not those of stand-ins
    if ranges.empty:
        return None
    every = papers.published()
    table = ranges.assign(
        width=ranges["high"] - ranges["low"],
        value=[every[n].value for n in ranges["number"]],
        **{name: [getattr(every[n], name) for n in ranges["number"]] for name in PLACE},
    )
    inside = (table["low"] <= table["value"]) & (table["value"] <= table["high"])
    widest = table.sort_values("width", kind="stable").drop_duplicates(PLACE, keep="last")
    bars = [
        Bar(f"{line['paper']} {line['item']}, {line['dataset']}", 0.0,
            line["low"] - line["reading"], line["high"] - line["reading"])
        for line in widest.sort_index().to_dict("records")
    ]  # fmt: skip
    facts = {
        "numbers": len(table),
        "inside": int(inside.sum()),
        "median": float(table["width"].median()),
        "most": float(table["width"].max()),
    }
    return Finding("unprinted", facts, tuple(bars))


def gained(verification: Verification) -> Finding | None:
    """Return how many of the gains that papers print over another method come out at all."""
    from scipy.special import stdtrit

    table = gains(verification.selection)
    table = table[(table["published"] > 0) & (table["used"] == "") & (table["trials"] > 1)]
    table = table[table["protocol"].isin((PRINTED, MATCHED))]
    if set(table["protocol"]) != {PRINTED, MATCHED}:
        return None
    half = stdtrit(table["trials"].astype(float) - 1, 0.95) * table["standard_error"]
    table = table.assign(low=table["mean"] - half, high=table["mean"] + half)
    facts = {
        str(protocol): {"gains": len(here), "better": int((here["low"] > 0).sum())}
        for protocol, here in table.groupby("protocol")
    }
    bars = [
        Bar(f"{line['dataset']}: {line['method']} over {line['other']}, {line['protocol']}",
            line["mean"], line["low"], line["high"])
        for line in table.to_dict("records")
    ]  # fmt: skip
    return Finding("gained", facts, tuple(bars))


def apart(verification: Verification) -> Finding | None:
    """Return how much larger errors are where whole groups or blocks of time test, at the most M.

    Only if every interval lies above zero.
    """
    table = side_by_side(verification.selection.collection)
    table = table[table["M"] == table["M"].max()]
    if table.empty or not (table["difference"] - table["half_difference"] > 0).all():
        return None
    bars = [
        Bar(f"{line['dataset']}, {line['method']}", line["difference"],
            line["difference"] - line["half_difference"],
            line["difference"] + line["half_difference"])
        for line in table.to_dict("records")
    ]  # fmt: skip
    spans = table.groupby("dataset", sort=False)["difference"].agg(["min", "max"])
    facts = {"M": int(table["M"].max()), "spans": list(spans.itertuples(name=None))}
    return Finding("apart", facts, tuple(bars))
