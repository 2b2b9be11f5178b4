"""The claims of the papers, held against the evidence; the rules are in `rfbench.report.rules`."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from rfbench.papers import Claim, Part
from rfbench.report import rules
from rfbench.report.arms import Arm
from rfbench.report.choice import LEARNT
from rfbench.report.evidence import Evidence
from rfbench.report.pairing import Paired, paired
from rfbench.report.stats import corrected_t, holm, smallest_sign_p, trials_needed


@dataclass(frozen=True)
class Outcome:
    """The verdict on a claim under one protocol.

    Attributes
    ----------
    effect : float
        Of the least favourable comparison: the mean difference or the quotient; for marks the share
        of cells that came out as marked.
    effect_of : str
        Which comparison that is.
    p : float
        Its corrected p-value: of lying within the bounds, or outside them where the claim fails.
    comparisons, held, trials : int
        How many comparisons there were, how many are significantly within their bounds, and the
        smallest number of trials.
    note : str
        What is missing for a firmer verdict.
    part : Part or None
        The part of the claim that this comparison belongs to; None without a comparison, and for
        marks.
    """

    claim: Claim
    protocol: str
    verdict: str
    effect: float = math.nan
    effect_of: str = ""
    p: float = math.nan
    comparisons: int = 0
    held: int = 0
    trials: int = 0
    note: str = ""
    part: Part | None = None


@dataclass(frozen=True)
class Comparison:
    """One comparison of a claim, with its p-values before and after Holm's correction.

    `excess` is how far the mean lies beyond the bound, below zero inside; of quotients, the
    logarithm.
    """

    part: int
    pair: Paired
    effect: float
    p_inside: float
    p_outside: float
    excess: float
    enough: bool = False


@dataclass
class _Found:
    """What the parts of a claim gave under one protocol."""

    comparisons: list[Comparison] = field(default_factory=list)
    short: list[str] = field(default_factory=list)
    absent: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    unlearnt: list[str] = field(default_factory=list)


def evaluate(claim: Claim, evidence: Evidence) -> list[Outcome]:
    """Return the verdict on a claim under each protocol that was run, or one 'not run'.

    Where a data set of the claim was run on a stand-in only, the note says what the stand-ins
    alone would give.
    """
    if claim.kind == "marks":
        from rfbench.report.marks import evaluate_marks

        return evaluate_marks(claim, evidence)
    items = [item for part in claim.parts for item in part.items]
    outcomes = []
    for protocol in evidence.protocols(claim.paper, items):
        found = _collect(claim, evidence, protocol, stand_in=False)
        others = _collect(claim, evidence, protocol, stand_in=True)
        if not found.comparisons and not others.comparisons:
            continue
        outcome = _outcome(claim, protocol, found)
        notes = [outcome.note]
        if others.comparisons:
            names = ", ".join(dict.fromkeys(c.pair.dataset for c in others.comparisons))
            apart = _outcome(claim, protocol, replace(others, short=[], absent={}))
            notes.append(f"on stand-ins alone ({names}): {apart.verdict}")
        if unlearnt := list(dict.fromkeys(found.unlearnt + others.unlearnt)):
            notes.append(f"nothing is learnt on {', '.join(unlearnt)} (R^2 below {LEARNT:g})")
        notes += _gaps(found)
        outcomes.append(replace(outcome, note="; ".join(filter(None, notes))))
    return outcomes or [Outcome(claim, "", rules.NOT_RUN)]


def _collect(claim: Claim, evidence: Evidence, protocol: str, stand_in: bool) -> _Found:
    found = _Found()
    for number, part in enumerate(claim.parts):
        if part.protocols and protocol not in part.protocols:
            continue
        pairs: list[Paired] = []
        for dataset in part.datasets:
            arms = evidence.select(claim.paper, part.items, dataset, protocol, stand_in)
            arms = [arm for arm in arms if arm.d is None or arm.d >= part.least_d]
            here: list[Paired] = []
            for name in dict.fromkeys(arm.dataset for arm in arms):
                own = [arm for arm in arms if arm.dataset == name]
                if nothing_learnt(own):
                    found.unlearnt.append(name)
                else:
                    here += paired(part, name, own)
            pairs += here
            _note_gaps(found, part, dataset, here)
        found.comparisons += _corrected(part, number, pairs)
    return found


def nothing_learnt(arms: Sequence[Arm]) -> bool:
    """Whether no method at any size explains a twentieth of the variance of a real target."""
    if any(arm.error_metric() == "error" for arm in arms):
        return False
    means = [float(np.nanmean(r2)) for arm in arms if np.isfinite(r2 := arm.column("r2")).any()]
    return bool(means) and max(means) < LEARNT


def _note_gaps(found: _Found, part: Part, dataset: str, pairs: Sequence[Paired]) -> None:
    """Note what a part lacks on a data set before it can hold."""
    for other in part.against or [""]:
        seen = [pair for pair in pairs if pair.against == other]
        name = f"{part.method} against {other}" if other else part.method
        values = max((pair.values for pair in seen), default=0)
        if not seen:
            others = found.absent.setdefault(dataset, {}).setdefault(part.method, [])
            others += [other] if other and other not in others else []
        elif values < part.values:
            found.short.append(f"{name} at {values} of at least {part.values} values on {dataset}")


def _gaps(found: _Found) -> list[str]:
    """Say what is missing, the data sets that lack the same comparisons together."""
    alike: dict[str, list[str]] = {}
    for dataset, methods in found.absent.items():
        pairs = [
            f"{name} against {', '.join(others)}" if others else name
            for name, others in methods.items()
        ]
        alike.setdefault(", ".join(pairs), []).append(dataset)
    absent = [
        f"nothing to compare on {', '.join(datasets)} ({pairs})"
        for pairs, datasets in alike.items()
    ]
    return list(dict.fromkeys(found.short + absent))


def _corrected(part: Part, number: int, pairs: Sequence[Paired]) -> list[Comparison]:
    """Test the pairs of a part and correct over each family."""
    families: dict[str, list[Paired]] = {}
    for pair in pairs:
        families.setdefault(pair.dataset if part.family == "dataset" else "", []).append(pair)
    done = []
    for family in families.values():
        tested = [_tested(part, number, pair) for pair in family]
        inside = holm([comparison.p_inside for comparison in tested])
        outside = holm([comparison.p_outside for comparison in tested])
        needed = trials_needed(len(family), rules.ALPHA)
        done += [
            replace(
                c, p_inside=float(p), p_outside=float(q), enough=len(c.pair.values_of) >= needed
            )
            for c, p, q in zip(tested, inside, outside, strict=True)
        ]
    return done


def _tested(part: Part, number: int, pair: Paired) -> Comparison:
    """Test one pair against its bounds; the scale of quotients is the logarithm."""
    scale: Callable[[float], float] = math.log if part.scale == "ratio" else float
    values = np.asarray(pair.values_of)
    mean = float(values.mean())
    effect = math.exp(mean) if part.scale == "ratio" else mean
    above = [] if part.low is None else [_one_sided(values - scale(part.low), pair.ratio)]
    below = [] if part.high is None else [_one_sided(scale(part.high) - values, pair.ratio)]
    sides = above + below
    inside = max(p for p, _ in sides)
    outside = min(1.0, len(sides) * min(q for _, q in sides))
    gaps = [] if part.low is None else [scale(part.low) - mean]
    gaps += [] if part.high is None else [mean - scale(part.high)]
    return Comparison(number, pair, effect, inside, outside, max(gaps))


def _one_sided(values: NDArray[np.float64], ratio: float) -> tuple[float, float]:
    """Return the p-values of a mean above zero and below zero.

    Values that do not vary give what a sign test gives; a single value gives 1.
    """
    above = corrected_t(values, test_train_ratio=ratio, alternative="greater").p
    below = corrected_t(values, test_train_ratio=ratio, alternative="less").p
    if above == above:
        return above, below
    mean = float(values.mean())
    floor = smallest_sign_p(len(values), "greater") if len(values) > 1 else 1.0
    return (floor if mean > 0 else 1.0), (floor if mean < 0 else 1.0)


def _farthest(comparisons: Sequence[Comparison], like: Comparison) -> Comparison:
    """Return the comparison farthest outside its bounds, of the part that another belongs to."""
    return max((c for c in comparisons if c.part == like.part), key=lambda c: c.excess)


def _outcome(claim: Claim, protocol: str, found: _Found) -> Outcome:
    comparisons = found.comparisons
    if not comparisons:
        return Outcome(claim, protocol, rules.NOT_RUN)
    inside = [c for c in comparisons if c.enough and c.p_inside <= rules.ALPHA]
    outside = [c for c in comparisons if c.enough and c.p_outside <= rules.ALPHA]
    short = [c for c in comparisons if not c.enough]
    notes: list[str] = []
    if short:
        few = min(len(c.pair.values_of) for c in short)
        notes.insert(0, f"{len(short)} comparisons have too few trials to decide ({few})")
    if outside:
        verdict, worst = rules.FAILS, _farthest(outside, min(outside, key=lambda c: c.p_outside))
        notes.insert(0, f"{len(outside)} of {len(comparisons)} comparisons lie outside")
    else:
        open_ones = [c for c in comparisons if c not in inside] or comparisons
        worst = _farthest(open_ones, max(open_ones, key=lambda c: c.p_inside))
        whole = len(inside) == len(comparisons) and not found.short and not found.absent
        verdict = rules.HOLDS if whole else rules.INCONCLUSIVE
    part = claim.parts[worst.part]
    return Outcome(
        claim,
        protocol,
        verdict,
        worst.effect,
        worst.pair.words(part),
        worst.p_outside if outside else worst.p_inside,
        len(comparisons),
        len(inside),
        min(len(c.pair.values_of) for c in comparisons),
        "; ".join(notes),
        part,
    )
