"""The claims of the papers, each with the comparisons behind its verdicts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rfbench import papers
from rfbench.analysis import verdicts
from rfbench.analysis.outcomes import Gap, Mark, Outcome
from rfbench.analysis.verification import Verification
from rfbench.pages.grids import Grid
from rfbench.pages.templates import environment, render
from rfbench.pages.words import DASH, p_value
from rfbench.papers import Claim, Part

PERCENT = ("error", "accuracy", "train_error")
SHARES = ("kept_near_corners", "kept_near_offsets")


@dataclass(frozen=True)
class Lack:
    """Data sets of a claim on which the same methods lack rows.

    `pairs` are a method and those it is held against (none where it stands alone). On a single
    data set where some values are there, `found` of the `wanted` ones are.
    """

    datasets: tuple[str, ...]
    pairs: tuple[tuple[str, tuple[str, ...]], ...]
    found: int = 0
    wanted: int = 0


@dataclass(frozen=True)
class Mismatch:
    """Sizes at which a mark of a paper comes out differently here.

    `marked` says whether the paper marks them as significant.
    """

    dataset: str
    method: str
    marked: bool
    sizes: tuple[str, ...]


@dataclass(frozen=True)
class Finding:
    """What came of a claim under one protocol, with what the page counts.

    Attributes
    ----------
    outcome : Outcome
    part : Part or None
        That of the comparison that decides.
    unit : str
        Of the effect.
    outside : int
        Comparisons that are significantly outside their bounds.
    few : int
        Comparisons with too few trials to decide.
    lacks : tuple of Lack
    open_marks : int
        Cells that lack paired trials.
    mismatches : tuple of Mismatch
    """

    outcome: Outcome
    part: Part | None
    unit: str
    outside: int
    few: int
    lacks: tuple[Lack, ...]
    open_marks: int
    mismatches: tuple[Mismatch, ...]


def findings(outcomes: Iterable[Outcome]) -> list[tuple[Claim, list[Finding]]]:
    """Return every claim with a finding per protocol, none where nothing was run."""
    found: dict[str, tuple[Claim, list[Finding]]] = {}
    for one in outcomes:
        _, every = found.setdefault(one.claim.id, (one.claim, []))
        if one.protocol:
            every.append(_finding(one))
    return list(found.values())


def _finding(one: Outcome) -> Finding:
    part = one.claim.parts[one.decisive.part] if one.decisive else None
    return Finding(
        one,
        part,
        unit(part, one.decisive.joint) if part and one.decisive else "%",
        sum(map(verdicts.lies_outside, one.comparisons)),
        sum(not comparison.enough for comparison in one.comparisons),
        tuple(lacks(one.gaps)),
        sum(mark.significant is None for mark in one.marks),
        tuple(mismatches(one.marks)),
    )


def unit(part: Part, joint: str = "") -> str:
    """Name the unit of a comparison's effect; empty for a bare number."""
    if part.scale == "ratio":
        return "times"
    if part.metric in PERCENT:
        found = "points" if part.against or joint else "%"
    elif part.metric == "kept":
        found = "features"
    elif part.metric.startswith("t_"):
        found = "s"
    else:
        found = "of the weight" if part.metric in SHARES else ""
    each = {"d": " per dimension", "M": " per feature"}[part.along] if joint == "slope" else ""
    return found + each


def lacks(gaps: Sequence[Gap]) -> list[Lack]:
    """Put the data sets together that lack the same comparisons."""
    short = dict.fromkeys(
        Lack((gap.dataset,), ((gap.method, _named(gap)),), gap.found, gap.wanted)
        for gap in gaps
        if gap.found
    )
    absent: dict[str, dict[str, dict[str, None]]] = {}
    for gap in gaps:
        if not gap.found:
            others = absent.setdefault(gap.dataset, {}).setdefault(gap.method, {})
            others.update(dict.fromkeys(_named(gap)))
    alike: dict[tuple[tuple[str, tuple[str, ...]], ...], list[str]] = {}
    for dataset, methods in absent.items():
        pairs = tuple((method, tuple(others)) for method, others in methods.items())
        alike.setdefault(pairs, []).append(dataset)
    return [*short, *(Lack(tuple(on), pairs) for pairs, on in alike.items())]


def _named(gap: Gap) -> tuple[str, ...]:
    return (gap.against,) if gap.against else ()


def mismatches(marks: Sequence[Mark]) -> list[Mismatch]:
    """List the marks that come out differently, by data set and method."""
    found: dict[tuple[str, str, bool], list[str]] = {}
    for mark in marks:
        if mark.significant is (not mark.marked):
            found.setdefault((mark.dataset, mark.method, mark.marked), []).append(mark.M)
    return [Mismatch(*key, tuple(sizes)) for key, sizes in found.items()]


def grid(every: Sequence[Finding]) -> Grid:
    """Lay out the verdicts on a claim, a line per protocol."""
    words = environment().get_template("claim.j2").module
    head = ["protocol", "verdict", "inside, outside, all", "least favourable comparison"]
    rows = []
    for one in every:
        outcome = one.outcome
        counted = f"{outcome.held}, {one.outside}, {outcome.compared}"
        if outcome.marks:
            counted = f"{outcome.held}, {outcome.compared - outcome.held}, {outcome.compared}"
        said = [str(getattr(words, name)(one)).strip() for name in ("compared", "effect")]
        compared = [counted, *said, p_value(outcome.p), str(outcome.trials)]
        rows.append(
            [outcome.protocol, outcome.verdict, *(compared if outcome.compared else [DASH] * 5)]
        )
    return Grid([*head, "effect", "p", "trials"], rows)


def by_remark(every: Sequence[Finding], remarks: Callable[[Finding], str]) -> dict[str, list[str]]:
    """Return the remarks on a claim, one per line of a macro, each with its protocols."""
    found: dict[str, list[str]] = {}
    for one in every:
        for line in filter(None, map(str.strip, str(remarks(one)).splitlines())):
            found.setdefault(line, []).append(one.outcome.protocol)
    return found


def page(found: Verification, out: Path) -> str:
    """Write ``claims.md`` for a folder."""
    return render("claims.md.j2", papers=by_paper(found), out=out, grid=grid, by_remark=by_remark)


def by_paper(found: Verification) -> dict[str, list[tuple[Claim, list[Finding]]]]:
    """Return the findings by paper, in the papers' order."""
    every = findings(found.outcomes)
    named = {name: [one for one in every if one[0].paper == name] for name in papers.papers()}
    return {name: here for name, here in named.items() if here}
