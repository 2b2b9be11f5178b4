"""Tables of the claims of a paper, with our verdicts and the comparisons behind the verdicts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd

from rfbench import papers
from rfbench.analysis import committed, verdict_counts, verdicts
from rfbench.analysis.comparisons import ClaimComparison
from rfbench.analysis.outcomes import Outcome
from rfbench.escaping import as_csv
from rfbench.pages.formatting import DASH, format_number, join_names
from rfbench.pages.grids import Grid
from rfbench.pages.paper_numbers import find_settings_label
from rfbench.pages.templates import render_macro_lines
from rfbench.papers.models import Claim, Committed, Part

# Largest number of counterexamples of a claim that the terminal shows. All comparisons are in the
# CSV file. The value was chosen without a measurement. With twice this value, up to four
# counterexamples are shown.
MAX_COUNTEREXAMPLES = 2
PERCENT_METRICS = ("error", "accuracy", "train_error")
SHARE_METRICS = ("kept_near_corners", "kept_near_offsets")
UNJUDGED = (verdicts.SHOWN, verdicts.NOT_RUN)
# Short labels for the order in which two things were committed to git: a claim, and the first rows
# of results that test the claim.
FORM_LABELS = {
    "before": "before rows",
    "same commit": "with rows",
    "after": "after rows",
    "unknown": "unknown",
    "no rows": "no rows",
}
OURS = " (our own statement)"


def group_by_claim(outcomes: Iterable[Outcome]) -> list[tuple[Claim, list[Outcome]]]:
    """Group outcomes by claim; return pairs of a claim and the list of its outcomes.

    A list has one outcome for each protocol (source of a run's settings) with results.
    """
    claims: dict[tuple[str, str], tuple[Claim, list[Outcome]]] = {}
    for outcome in outcomes:
        _, every = claims.setdefault(outcome.claim.key, (outcome.claim, []))
        if outcome.protocol:
            every.append(outcome)
    return list(claims.values())


def find_effect_unit(part: Part, joint: str = "") -> str:
    """Return the unit of the effect that a claim compares, such as "points" or "s".

    `part` is the definition of one comparison of the claim. A nonempty `joint` is a comparison over
    several sizes, such as "slope over d". The result is an empty string if the effect has no unit.
    """
    if part.scale == "ratio":
        return "times"
    if part.metric in PERCENT_METRICS:
        result = "points" if part.against or joint else "%"
    elif part.metric == "kept":
        result = "of the draws" if joint else "features"
    elif part.metric.startswith("t_"):
        result = "s"
    else:
        result = "of the weight" if part.metric in SHARE_METRICS else ""
    return result + (" per dimension" if joint == "slope over d" else "")


def format_comparison(outcome: Outcome, comparison: ClaimComparison) -> list[str]:
    """Return the name of a comparison, and its effect with a 90 % interval, as two strings."""
    part = outcome.claim.parts[comparison.part]
    form = "+.3g" if part.scale != "ratio" and comparison.against else ".3g"
    effect, low, high = (
        f"{x:{form}}" for x in (comparison.effect, comparison.low, comparison.high)
    )
    known = "" if math.isnan(comparison.low) else f" ({low} to {high})"
    (compared,) = render_macro_lines("compared.j2", "compared", c=comparison, part=part)
    return [compared, f"{effect}{known} {find_effect_unit(part, comparison.joint)}".rstrip()]


def select_worst_comparisons(outcome: Outcome) -> list[ClaimComparison]:
    """Return the comparisons of a claim that contradict the claim most clearly.

    The comparisons are sorted by the distance of the effect from the bounds of the claim. The
    result has at most `MAX_COUNTEREXAMPLES` comparisons. For a judged claim, the result has only
    one comparison if all effects are inside the bounds or the verdict is "shown".
    """
    displayed = outcome.verdict == verdicts.SHOWN or not outcome.n_outside_bounds
    one = outcome.claim.is_judged and displayed
    return outcome.sorted_comparisons[: 1 if one else MAX_COUNTEREXAMPLES]


def format_verdict(outcome: Outcome) -> str:
    """Return the verdict on a claim as text.

    If the claim fails, the text includes the number of comparisons that contradict the claim, and
    the largest distance from the bound.
    """
    mark = verdicts.UNVARIED * outcome.has_unvaried_settings
    if outcome.verdict == verdicts.DEPENDS:
        return f"depends on: {join_names(outcome.deciding_settings)}"
    if outcome.verdict in (verdicts.FAILS, verdicts.IN_PART):
        counted = f"{outcome.n_outside_bounds} of {len(outcome.comparisons)}"
        return f"{outcome.verdict} ({counted}, at worst by {_missed(outcome)}){mark}"
    if outcome.verdict == verdicts.HOLDS_TESTED:
        return f"{outcome.verdict} ({outcome.tested} of {outcome.wanted} data sets){mark}"
    if outcome.verdict == verdicts.CANNOT:
        return f"{outcome.verdict} ({outcome.reason})"
    if outcome.unjudged:
        return f"{outcome.verdict} ({outcome.unjudged.rstrip('.')})"
    return outcome.label


def _missed(outcome: Outcome) -> str:
    """Return the distance between the bound of a claim and the effect that decides the verdict.

    The distance is returned as text with a unit. The text is a dash if the effect is inside the
    bounds.
    """
    part, decisive = outcome.part, outcome.decisive
    if part is None or decisive is None or not decisive.excess > 0:
        return DASH
    if part.scale == "ratio":
        return f"a factor {math.exp(decisive.excess):.3g}"
    return f"{decisive.excess:.2g} {find_effect_unit(part, decisive.joint)}".strip()


def make_claims_grid(outcomes: Sequence[Outcome]) -> Grid:
    """Return the table of the claims of a paper, with one row per claim.

    The table has a column of verdicts for each protocol (source of a run's settings).
    """
    judged = [o for o in outcomes if o.protocol and o.verdict not in UNJUDGED]
    protocols = list(dict.fromkeys(outcome.protocol for outcome in judged))
    rows = [
        [
            f"{papers.format_claim_name(claim)}{OURS * (claim.whose == 'we')}: {claim.claim}",
            "; ".join(dict.fromkeys(part.says for part in claim.parts)),
            FORM_LABELS[papers.find_commit_order_of_claim(claim)],
            *(_judge(claim, every, protocol) for protocol in protocols),
            _format_worst(claim, every, len(protocols) > 1),
        ]
        for claim, every in group_by_claim(outcomes)
    ]
    labels = [
        find_settings_label(papers.find_settings_class(judged[0].claim.paper, protocol))
        for protocol in protocols
    ]
    return Grid(["claim", "test", "form set", *labels, "least favorable comparison"], rows)


def _judge(claim: Claim, every: Sequence[Outcome], protocol: str) -> str:
    """Return the verdict on a claim as text, for one source of our settings, the `protocol`.

    The text includes the numbers of comparisons whose effects are inside and outside the bounds of
    the claim.
    """
    outcome = next((each for each in every if each.protocol == protocol), None)
    if not claim.is_judged:
        return "not judged (run times)" if claim.compares_times else "not judged"
    if outcome is None or outcome.verdict == verdicts.NOT_RUN:
        return "no rows"
    if outcome.verdict == verdicts.SHOWN:
        return "not judged"
    if not outcome.comparisons:
        return format_verdict(outcome)
    n, inside, outside = len(outcome.comparisons), outcome.n_inside_bounds, outcome.n_outside_bounds
    counted = f"{inside} inside, {outside} outside, {n - inside - outside} open"
    differs = " *" * bool(outcome.differing)
    return f"{format_verdict(outcome)}{differs}; {counted}"


def _format_worst(claim: Claim, every: Sequence[Outcome], named: bool) -> str:
    """Return the comparison that contradicts a claim most clearly, as text.

    The comparison is selected from the first outcome in `every` that has comparisons. If `named` is
    True, the text starts with the source of the settings. The text is a dash if the claim compares
    run times.
    """
    found = [each for each in every if each.decisive or each.comparisons]
    if claim.compares_times or not found:
        return DASH
    outcome = found[0]
    worst = outcome.sorted_comparisons[0]
    text = ": ".join(format_comparison(outcome, worst))
    if named:
        settings = papers.find_settings_class(claim.paper, outcome.protocol)
        text = f"{find_settings_label(settings)}: {text}"
    if worst.over_gaps:
        text += f"; over unstated settings {worst.over_gaps.low:.3g} to {worst.over_gaps.high:.3g}"
    return text


def list_differing_data_sets(outcomes: Iterable[Outcome]) -> list[str]:
    """Return the data sets on which published numbers differ from our measured means.

    Only numbers of methods that the claims compare are considered. Each string has the largest
    difference, its unit, and the name of the data set.
    """
    largest: dict[tuple[str, str], float] = {}
    for outcome in outcomes:
        if outcome.claim.is_judged and outcome.verdict not in UNJUDGED:
            for name, size, unit in outcome.differing:
                largest[name, unit] = max(size, largest.get((name, unit), 0.0))
    return [f"{format_number(size, 1)} {unit} on {name}" for (name, unit), size in largest.items()]


def count_claim_verdicts(outcomes: Iterable[Outcome]) -> list[tuple[str, str, dict[str, int]]]:
    """Return the number of claims per verdict, for each author and each source of our settings.

    Each tuple has the author of the claims ("paper" or "we"), the source of our settings, and a
    dictionary that maps a verdict to the number of claims.
    """
    counted: dict[tuple[str, str], dict[str, int]] = {}
    for each in verdict_counts.count_claims(outcomes):
        whose, _, settings = each.of
        of = counted.setdefault((whose, find_settings_label(settings)), {})
        for verdict in verdicts.JUDGED:
            if each[verdict]:
                of[verdict] = of.get(verdict, 0) + each[verdict]
    return [(*key, of) for key, of in counted.items()]


def render_comparisons_csv(outcomes: Iterable[Outcome]) -> str | None:
    """Return all comparisons for the claims of a paper as CSV; None if there is no comparison."""
    table = pd.DataFrame(
        [
            _describe(outcome, comparison)
            for outcome in outcomes
            for comparison in outcome.sorted_comparisons
        ]
    )
    return None if table.empty else as_csv(table, float_format="%.6g", lineterminator="\n")


def _describe(outcome: Outcome, one: ClaimComparison) -> dict[str, Any]:
    part = outcome.claim.parts[one.part]
    known = one.over_gaps
    return {
        "claim": outcome.claim.id,
        "settings": outcome.protocol,
        "verdict": outcome.label,
        "data_set": one.dataset,
        "measure": part.metric,
        "method": part.method,
        "compared_with": one.against,
        "along": one.joint or part.along,
        "at": one.x,
        "scale": part.scale,
        "effect": one.effect,
        "unit": find_effect_unit(part, one.joint),
        "interval_low": one.low,
        "interval_high": one.high,
        "bound_low": part.low,
        "bound_high": part.high,
        "side": verdicts.find_side_of_bounds(one) if outcome.claim.is_judged else "not judged",
        "trials": one.trials,
        "lowest_over_unstated_settings": known.low if known else math.nan,
        "highest_over_unstated_settings": known.high if known else math.nan,
    }


def find_claim_history(claim: Claim) -> Committed | None:
    """Return the git commits of a claim and of the first results for this claim.

    The result is None if the commits are not known.
    """
    return committed.find_history_entry(claim.paper, "claim", claim.id)


# Functions that the Jinja templates of the claims can call, by name.
WORDS: dict[str, Any] = {
    **{
        each.__name__: each
        for each in (
            format_verdict,
            format_comparison,
            select_worst_comparisons,
            verdicts.find_side_of_bounds,
            find_claim_history,
        )
    },
    "order": papers.find_commit_order_of_claim,
    "called_orders": committed.COMMIT_ORDER_LABELS,
}
