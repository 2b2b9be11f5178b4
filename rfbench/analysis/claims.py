"""The claims of the papers, held against the rows; `rfbench.analysis.verdicts` has the rules."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace

import numpy as np
import pandas as pd

from rfbench import papers
from rfbench.analysis import marks, verdicts
from rfbench.analysis.frame import Collection
from rfbench.analysis.one_offs import ONE_OFFS
from rfbench.analysis.outcomes import ClaimComparison, Gap, Outcome
from rfbench.analysis.paired import Quantity, Values, paired
from rfbench.analysis.selection import Selection
from rfbench.analysis.statistics import corrected_t, holm, smallest_sign_p, trials_needed
from rfbench.papers import Claim, Part


def evaluate(selection: Selection, paper: str | None = None) -> list[Outcome]:
    """Return the verdict on every claim under each protocol that was run, or one 'not run'.

    Parameters
    ----------
    paper : str, optional
        Only the claims of this one.

    Raises
    ------
    ResultsError
        If there is no such paper.
    """
    chosen = papers.papers() if paper is None else [papers.check_paper(paper)]
    wanted = [claim for claim in papers.claims() if claim.paper in chosen]
    return [outcome for claim in wanted for outcome in outcomes_of(claim, selection)]


def outcomes_of(claim: Claim, selection: Selection) -> list[Outcome]:
    """Return the verdict on one claim under each protocol that was run, or one 'not run'."""
    if claim.kind == "marks":
        return marks.outcomes_of(claim, selection)
    items = [item for part in claim.parts for item in part.items]
    outcomes = []
    for protocol in selection.protocols(claim.paper, items):
        own = _collect(claim, selection, protocol, stand_in=False)
        others = _collect(claim, selection, protocol, stand_in=True)
        if not own.comparisons and not others.comparisons:
            continue
        names = dict.fromkeys(c.dataset for c in others.comparisons)
        apart = _outcome(claim, protocol, others.comparisons, complete=True).verdict
        outcome = _outcome(claim, protocol, own.comparisons, complete=not own.gaps)
        outcomes.append(
            replace(
                outcome,
                gaps=tuple(own.gaps),
                unlearnt=tuple(dict.fromkeys(own.unlearnt + others.unlearnt)),
                stand_ins=tuple(names),
                on_stand_ins=apart if names else "",
                folders=tuple(sorted({*own.folders, *others.folders})),
            )
        )
    return outcomes or [Outcome(claim, "", verdicts.NOT_RUN)]


def table(outcomes: Sequence[Outcome]) -> pd.DataFrame:
    """Return the verdicts, a line per claim and protocol, without their details.

    ``metric``, ``method``, ``against``, ``dataset``, ``along`` and ``x`` say which comparison
    decides; ``on_stand_ins`` is the verdict on stand-ins alone.
    """
    return pd.DataFrame([_line(one) for one in outcomes])


def _line(one: Outcome) -> dict[str, object]:
    claim, decisive = one.claim, one.decisive
    part = None if decisive is None else claim.parts[decisive.part]
    return {
        "id": claim.id,
        "paper": claim.paper,
        "where": claim.where,
        "claim": claim.claim,
        "protocol": one.protocol,
        "verdict": one.verdict,
        "effect": one.effect,
        "p_value": one.p,
        "comparisons": one.compared,
        "held": one.held,
        "trials": one.trials,
        "metric": part and part.metric,
        "method": part and part.method,
        "against": decisive and (decisive.against or (part and part.against_metric)),
        "dataset": decisive and decisive.dataset,
        "along": part and (part.along if decisive and decisive.x else part.at),
        "x": decisive and decisive.x,
        "gaps": len(one.gaps),
        "on_stand_ins": one.on_stand_ins,
    }


def comparisons(outcomes: Sequence[Outcome]) -> pd.DataFrame:
    """Return every comparison behind the verdicts, a line each, with claim and protocol."""
    return pd.DataFrame(
        [
            {"id": outcome.claim.id, "protocol": outcome.protocol, **asdict(comparison)}
            for outcome in outcomes
            for comparison in outcome.comparisons
        ]
    )


def nothing_learnt(collection: Collection, lines: pd.DataFrame) -> bool:
    """Whether no method at any size explains a twentieth of the variance of a real target.

    Parameters
    ----------
    lines : DataFrame
        Lines of `Selection.bearing`.
    """
    if (lines["error_metric"] == "error").any():
        return False
    best = collection.means("r2")[lines["group"]]
    return bool(np.isfinite(best).any() and np.nanmax(best) < verdicts.LEARNT)


@dataclass
class _Found:
    """What the parts of a claim gave under one protocol."""

    comparisons: list[ClaimComparison] = field(default_factory=list)
    gaps: list[Gap] = field(default_factory=list)
    unlearnt: list[str] = field(default_factory=list)
    folders: list[str] = field(default_factory=list)


def _collect(claim: Claim, selection: Selection, protocol: str, stand_in: bool) -> _Found:
    found = _Found()
    for number, part in enumerate(claim.parts):
        if part.protocols and protocol not in part.protocols:
            continue
        own = ONE_OFFS[claim.id] if part.at == "own" else None
        every: list[Quantity] = []
        for dataset in part.datasets:
            lines = selection.select(claim.paper, part.items, dataset, protocol, stand_in)
            found.folders += list(lines["folder"])
            here: list[Quantity] = []
            for name, named in lines.groupby("dataset", sort=False):
                if nothing_learnt(selection.collection, named):
                    found.unlearnt.append(str(name))
                else:
                    here += paired(part, selection.collection, named, own)
            every += here
            found.gaps += _gaps(part, number, dataset, here)
        found.comparisons += _corrected(part, number, every)
    return found


def _gaps(part: Part, number: int, dataset: str, quantities: Sequence[Quantity]) -> list[Gap]:
    gaps = []
    for other in part.against or [""]:
        found = max((q.found for q in quantities if q.against == other), default=0)
        if found < part.values:
            gaps.append(Gap(number, dataset, part.method, other, found, part.values))
    return gaps


def _corrected(part: Part, number: int, quantities: Sequence[Quantity]) -> list[ClaimComparison]:
    """Test the quantities of a part and correct over each family."""
    families: dict[str, list[Quantity]] = {}
    for quantity in quantities:
        family = quantity.dataset if part.family == "dataset" else ""
        families.setdefault(family, []).append(quantity)
    done = []
    for members in families.values():
        tested = [_tested(part, number, quantity) for quantity in members]
        inside = holm([one.p_inside for one in tested])
        outside = holm([one.p_outside for one in tested])
        needed = trials_needed(len(members), verdicts.ALPHA)
        done += [
            replace(one, p_inside=float(p), p_outside=float(q), enough=one.trials >= needed)
            for one, p, q in zip(tested, inside, outside, strict=True)
        ]
    return done


def _tested(part: Part, number: int, quantity: Quantity) -> ClaimComparison:
    """Test one quantity against its bounds; the scale of quotients is the logarithm."""
    scale: Callable[[float], float] = math.log if part.scale == "ratio" else float
    values, mean = quantity.values, float(quantity.values.mean())
    sides = [] if part.low is None else [(values - scale(part.low), scale(part.low) - mean)]
    sides += [] if part.high is None else [(scale(part.high) - values, mean - scale(part.high))]
    tests = [one_sided(inward, quantity.ratio) for inward, _ in sides]
    return ClaimComparison(
        number,
        quantity.dataset,
        quantity.against,
        quantity.x,
        quantity.other_x,
        quantity.seconds,
        quantity.joint,
        len(values),
        effect=math.exp(mean) if part.scale == "ratio" else mean,
        excess=max(gap for _, gap in sides),
        p_inside=max(above for above, _ in tests),
        p_outside=min(1.0, len(tests) * min(below for _, below in tests)),
    )


def one_sided(values: Values, ratio: float) -> tuple[float, float]:
    """Return the p-values of a mean above zero and below zero.

    Values that do not vary give what a sign test gives; a single value gives 1.

    Parameters
    ----------
    ratio : float
        Test rows over training rows where every trial splits the same rows anew, else 0.
    """
    above = corrected_t(values, test_train_ratio=ratio, alternative="greater").p
    below = corrected_t(values, test_train_ratio=ratio, alternative="less").p
    if above == above:
        return above, below
    mean = float(values.mean())
    floor = smallest_sign_p(len(values), "greater") if len(values) > 1 else 1.0
    return (floor if mean > 0 else 1.0), (floor if mean < 0 else 1.0)


def _farthest(among: Sequence[ClaimComparison], like: ClaimComparison) -> ClaimComparison:
    """Return the comparison farthest outside its bounds, of the part that another belongs to."""
    return max((one for one in among if one.part == like.part), key=lambda one: one.excess)


def _outcome(
    claim: Claim, protocol: str, found: Sequence[ClaimComparison], complete: bool
) -> Outcome:
    verdict = verdicts.of_claim(found, complete)
    if not found:
        return Outcome(claim, protocol, verdict)
    outside = [one for one in found if verdicts.lies_outside(one)]
    open_ones = [one for one in found if not verdicts.lies_inside(one)]
    if verdict == verdicts.FAILS:
        decisive = _farthest(outside, min(outside, key=lambda one: one.p_outside))
        p = decisive.p_outside
    else:
        among = open_ones or found
        decisive = _farthest(among, max(among, key=lambda one: one.p_inside))
        p = decisive.p_inside
    return Outcome(
        claim,
        protocol,
        verdict,
        decisive.effect,
        p,
        compared=len(found),
        held=len(found) - len(open_ones),
        trials=min(one.trials for one in found),
        decisive=decisive,
        comparisons=tuple(found),
    )
