"""Verdicts on the claims of papers.

The rules for the verdicts are in `rfbench.analysis.verdicts`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from rfbench import papers, plugins
from rfbench.analysis import verdicts
from rfbench.analysis.chance import describe_constant_kernel, explain_chance_level
from rfbench.analysis.claim_tests import test_against_bounds
from rfbench.analysis.comparisons import ClaimComparison
from rfbench.analysis.frame import KERNEL_ERRORS, REGRESSION, Collection
from rfbench.analysis.outcomes import Effect, Outcome, return_comparison_unchanged
from rfbench.analysis.paired import PERCENT_COLUMNS, OneOff, Quantity, pair_claim_part
from rfbench.analysis.selection import Selection
from rfbench.analysis.statistics import holm_correction
from rfbench.errors import ConfigError
from rfbench.papers.models import PRINTED, Claim, Part, Source


def evaluate_claims(
    selection: Selection, paper: str | None = None, unprinted: Effect = return_comparison_unchanged
) -> list[Outcome]:
    """Return the verdicts on the claims of one paper, or of all papers if `paper` is None.

    The argument `unprinted` is described in `judge_claim`.

    Raises ResultsError if the paper does not exist.
    """
    chosen = papers.list_papers() if paper is None else [papers.check_paper_name(paper)]
    wanted = [claim for claim in papers.list_claims() if claim.paper in chosen]
    return [outcome for claim in wanted for outcome in _judge_safely(claim, selection, unprinted)]


def _judge_safely(claim: Claim, selection: Selection, unprinted: Effect) -> list[Outcome]:
    """Return the verdicts on a claim. The verdict is "not judged" if the claim's own code fails.

    Papers that users add may contain Python code for a claim. If this code raises an exception, or
    if it needs a permission that was not given, the other claims are still judged.
    """
    folder = papers.find_paper_files(claim.paper)
    why = "claims.py of the paper needs --allow-imports"
    if not (folder.withheld and any(part.at == "own" for part in claim.parts)):
        try:
            return judge_claim(claim, selection, unprinted)
        except (Exception, SystemExit) as error:
            if not folder.is_external:
                raise
            why = str(error) or type(error).__name__
    items = [item for part in claim.parts for item in part.items]
    protocols = selection.list_protocols(claim.paper, items)
    verdict = verdicts.NOT_JUDGED if protocols else verdicts.NOT_RUN
    return [Outcome(claim, name, verdict, unjudged=why) for name in protocols or [""]]


def judge_claim(
    claim: Claim, selection: Selection, unprinted: Effect = return_comparison_unchanged
) -> list[Outcome]:
    """Return the verdicts on a claim, one for each protocol (source of the settings) that was run.

    If nothing was run, return one verdict "not run". The function `unprinted` adds to each
    comparison the range of its effect over the settings that the paper does not state.

    Raises ConfigError if the claim cannot be tested as it is written.
    """
    items = [item for part in claim.parts for item in part.items]
    outcomes = []
    for protocol in selection.list_protocols(claim.paper, items):
        own = _collect(claim, selection, protocol, stand_in=False)
        others = _collect(claim, selection, protocol, stand_in=True)
        undecided = tuple(dict.fromkeys(own.undecided + others.undecided))
        if not own.quantities and not others.quantities and not undecided:
            continue
        names = tuple(dict.fromkeys(q.dataset for _, q in others.quantities))
        outcome = make_claim_verdict(claim, protocol, own.quantities, own.missing, unprinted)
        if not own.quantities and not own.undecided:
            outcome = replace(outcome, verdict=verdicts.NOT_RUN)
        outcomes.append(
            replace(
                outcome,
                undecided=undecided,
                stand_ins=names,
                on_stand_ins=make_claim_verdict(claim, protocol, others.quantities).verdict
                if names
                else "",
            )
        )
    if outcomes:
        return outcomes
    missing = _collect(claim, selection, "", stand_in=False).missing
    return [replace(make_claim_verdict(claim, "", [], missing), verdict=verdicts.NOT_RUN)]


@dataclass
class _Collected:
    """Paired values of the methods that a claim compares, and the data sets without such values.

    Each entry of `quantities` is a pair: the index of a part of the claim, and the paired values.
    """

    quantities: list[tuple[int, Quantity]] = field(default_factory=list)
    # Maps each data set that lacks comparisons of the claim to the list of missing comparisons, in
    # the form of `Outcome.missing`.
    missing: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    undecided: list[tuple[str, str]] = field(default_factory=list)


def _collect(claim: Claim, selection: Selection, protocol: str, stand_in: bool) -> _Collected:
    collected, collection = _Collected(), selection.collection
    sources = papers.find_paper(claim.paper).datasets
    for number, part in enumerate(claim.parts):
        if not _counts(part, protocol):
            continue
        make = None
        for dataset in part.datasets:
            groups = selection.select(claim.paper, part.items, dataset, protocol, stand_in)
            here: list[Quantity] = []
            names = collection.get_group_column("dataset")[groups]
            if part.at == "own" and len(groups) and make is None:
                # Some claims have their own Python function. The function is imported only if there
                # are rows for the claim.
                make = find_custom_claim_function(claim)
            for name in dict.fromkeys(names):
                named = groups[names == name]
                if why := _why_undecided(part, collection, named, sources[dataset]):
                    collected.undecided.append((name, why))
                else:
                    here += pair_claim_part(part, collection, named, claim.paper, dataset, make)
            collected.quantities += [(number, quantity) for quantity in here]
            for other in part.against or [""]:
                places = max((q.found for q in here if q.against == other), default=0)
                if places < part.values:
                    collected.missing.setdefault(dataset, []).append((part.metric, other))
    return collected


def find_custom_claim_function(claim: Claim) -> OneOff:
    """Return the Python function that computes the values for a claim.

    The function is an entry of the dictionary CLAIMS in the file claims.py of the paper.

    Raises ConfigError if the function does not exist.
    """
    code = papers.find_paper_files(claim.paper).code
    functions = plugins.load_object(f"{code}:CLAIMS") if code else {}
    if claim.id not in functions:
        raise ConfigError(
            f"{claim.id} has `at: own`, but {claim.paper}/claims.py does not define a "
            "function for the claim.",
            todo=f"Add `CLAIMS = {{'{claim.id}': function}}` to this file, or change `at`.",
        )
    function: OneOff = functions[claim.id]
    return function


def make_claim_comparisons(
    claim: Claim, selection: Selection, protocol: str, dataset: str
) -> list[ClaimComparison]:
    """Return the comparisons of methods for a claim on one data set.

    The comparisons are not yet tested against the bounds of the claim. All parts of the claim are
    included, even if they are restricted to other settings or protocols.
    """
    parts = [part.model_copy(update={"protocols": [], "settings": {}}) for part in claim.parts]
    asked = claim.model_copy(update={"parts": parts})
    found = _collect(asked, selection, protocol, stand_in=False).quantities
    return [
        ClaimComparison(**vars(quantity), part=number)
        for number, quantity in found
        if quantity.target == dataset
    ]


def _counts(part: Part, protocol: str) -> bool:
    return not part.protocols or protocol in part.protocols


def _why_undecided(
    part: Part, collection: Collection, groups: NDArray[np.intp], source: Source
) -> str:
    if part.metric in KERNEL_ERRORS:
        return describe_constant_kernel(collection, groups)
    if part.metric not in (*PERCENT_COLUMNS, *REGRESSION):
        return ""
    named = collection.mask_groups_of_methods(groups, part.method, *part.against)
    return explain_chance_level(collection, groups[named], source)


def make_claim_verdict(
    claim: Claim,
    protocol: str,
    quantities: Sequence[tuple[int, Quantity]],
    missing: Mapping[str, Sequence[tuple[str, str]]] | None = None,
    unprinted: Effect = return_comparison_unchanged,
) -> Outcome:
    """Test the paired values of two methods against the bounds of a claim, and return the outcome.

    Each entry of `quantities` is a pair: the index of a part of the claim, and the paired values.
    `missing` maps data sets to comparisons without results. The function `unprinted` adds to each
    comparison the range of its effect over the settings that the paper does not state.
    """
    tested = [
        test_against_bounds(claim.parts[number], number, quantity)
        for number, quantity in quantities
    ]
    outside = holm_correction([comparison.p_outside for comparison in tested])
    comparisons = [
        replace(comparison, p_outside=float(p))
        for comparison, p in zip(tested, outside, strict=True)
    ]
    # Under the protocol `printed`, some settings depend on our interpretation of the paper's text.
    # For these comparisons, compute the range of the effect over all interpretations.
    if protocol == PRINTED:
        comparisons = [unprinted(claim, comparison) for comparison in comparisons]
    wanted = {name for part in claim.parts if _counts(part, protocol) for name in part.datasets}
    complete = wanted - set(missing or {})
    verdict = verdicts.judge_claim(comparisons, len(complete), len(wanted))
    if not claim.is_judged_under(protocol):
        verdict = verdicts.SHOWN
    decisive, p = _least_favorable(comparisons)
    return Outcome(
        claim,
        protocol,
        verdict,
        tuple(comparisons),
        decisive,
        p,
        len(complete),
        len(wanted),
        missing or {},
    )


def _least_favorable(
    comparisons: Sequence[ClaimComparison],
) -> tuple[ClaimComparison | None, float]:
    """Return the comparison that decides the verdict on a claim, and its p-value.

    Return None and NaN if there are no comparisons. If comparisons are significantly outside the
    bounds of the claim, the part of the claim with the smallest `p_outside` decides. Otherwise the
    part with the largest `p_inside` decides. Within this part, the comparison that is farthest
    outside the bounds is returned.
    """
    outside = [one for one in comparisons if verdicts.is_outside_bounds(one)]
    among = (
        outside or [one for one in comparisons if not verdicts.is_inside_bounds(one)] or comparisons
    )
    if not among:
        return None, math.nan
    worst = min(among, key=lambda one: one.p_outside if outside else -one.p_inside)
    own = (one for one in among if one.part == worst.part)
    decisive = max(own, key=lambda one: one.excess)
    return decisive, decisive.p_outside if outside else decisive.p_inside


def tabulate_claim_verdicts(outcomes: Sequence[Outcome]) -> pd.DataFrame:
    """Return a table with one line for each verdict on a claim of a paper.

    A claim has one verdict for each protocol, the source of the settings. The columns ``metric``,
    ``method``, ``against``, ``dataset``, ``along`` and ``x`` identify the comparison that decides
    the verdict. ``datasets`` is the number of data sets of the claim, and ``tested`` counts the
    data sets that have rows for all comparisons. ``reason`` explains an inconclusive verdict.
    ``on_stand_ins`` is the verdict computed from substitute data sets only. ``low`` and ``high``
    are the ends of the 90 % interval of the effect. ``depends_on`` lists the settings that the
    paper does not state and on which the verdict depends. The verdict ends with ", not varied" if
    it may depend on such settings but they were not varied.
    """
    return pd.DataFrame([_line(outcome) for outcome in outcomes])


def tabulate_claim_comparisons(outcomes: Iterable[Outcome]) -> pd.DataFrame:
    """Return a table with one line for each comparison of methods in the outcomes of claims.

    For each claim, the comparison that decides the verdict comes first. The columns include the
    ``effect``, its 90 % interval (``low`` and ``high``), and the ``excess``, the distance of the
    effect from the bound (negative inside the bounds). The column ``side`` is inside, outside or
    open.
    """
    facts = ("against", "dataset", "x", "effect", "low", "high", "excess", "trials")
    lines = [
        {"id": outcome.claim.id, "protocol": outcome.protocol, "metric": part.metric,
         "method": part.method, **{name: getattr(one, name) for name in facts},
         "side": verdicts.find_side_of_bounds(one)}
        for outcome in outcomes
        for one in outcome.sorted_comparisons
        for part in [outcome.claim.parts[one.part]]
    ]  # fmt: skip
    return pd.DataFrame(lines)


def _line(outcome: Outcome) -> dict[str, object]:
    claim, decisive, part = outcome.claim, outcome.decisive, outcome.part
    return {
        **{name: getattr(claim, name) for name in ("id", "paper", "where", "claim")},
        "protocol": outcome.protocol,
        "verdict": outcome.label,
        "effect": outcome.effect,
        "p_value": outcome.p,
        "comparisons": len(outcome.comparisons),
        "held": outcome.n_inside_bounds,
        "trials": outcome.trials,
        "metric": part and part.metric,
        "method": part and part.method,
        "against": decisive and decisive.against,
        "dataset": decisive and decisive.dataset,
        "along": part and (part.along if decisive and decisive.x else part.at),
        "x": decisive and decisive.x,
        "on_stand_ins": outcome.on_stand_ins,
        "spread": decisive.spread if decisive else math.nan,
        "tested": outcome.tested,
        "datasets": outcome.wanted,
        "reason": outcome.reason,
        "low": decisive.low if decisive else math.nan,
        "high": decisive.high if decisive else math.nan,
        "outside": outcome.n_outside_bounds,
        "depends_on": "; ".join(outcome.deciding_settings),
    }
