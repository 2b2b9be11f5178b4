"""What audits add to claims, to the tables of numbers and to the findings."""

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pandas as pd
import pytest

from rfbench import papers
from rfbench.analysis.claims import make_claim_verdict
from rfbench.analysis.comparisons import ClaimComparison, EffectRange
from rfbench.analysis.outcomes import Outcome
from rfbench.analysis.paired import Quantity
from rfbench.analysis.verdicts import DEPENDS
from rfbench.audit.tables import NumberRange
from rfbench.audit.unprinted import RANGE, Unprinted, add_effect_range, build_ranges_finding
from rfbench.pages.scoreboard import arrange_tables_by_data_set
from rfbench.papers.models import Claim
from tests.support.claims import bounded
from tests.support.frames import results, verification
from tests.support.papers import PAPER, eeg


def span_of(low: float, high: float) -> EffectRange:
    return EffectRange(low, high, 2, ("bandwidth",))


def ranged(lines: Sequence[tuple[Any, ...]]) -> Unprinted:
    """Return what audits say that have these ranges of numbers."""
    made = Unprinted(())
    made.ranges = {line[0]: NumberRange(*line) for line in lines}
    return made


Span = tuple[float, float] | None


def judged(means: list[float], spans: list[Span], flipped: bool = False) -> Outcome:
    """Judge comparisons with these means, whose changes over the gaps are these; or all negated."""
    z, sign = np.linspace(-1, 1, 10), -1 if flipped else 1
    quantities = [(0, Quantity(sign * (z + mean), x=x + 1)) for x, mean in enumerate(means)]

    def unprinted(claim: Claim, one: ClaimComparison) -> ClaimComparison:
        span = spans[(one.x or 0) - 1]
        ends = span and sorted(sign * end for end in span)
        return add_effect_range(claim, one, span_of(ends[0], ends[1]) if ends else None)

    return make_claim_verdict(bounded(), "printed", quantities, None, unprinted)


@pytest.mark.parametrize(
    ("mean", "span", "verdict", "flipped"),
    [
        (-5.0, (0.0, 5.5), DEPENDS, DEPENDS),
        (5.0, (-5.5, 0.0), DEPENDS, DEPENDS),
        (-5.0, (-9.0, 4.5), "fails", "holds"),
        (5.0, (-4.5, 9.0), "holds", "fails"),
        (-5.0, (0.0, 5.0), "fails", "holds"),  # a bound that is touched is not crossed
        (5.0, (-5.0, 0.0), "holds", "fails"),
        (-5.0, None, "fails, not varied", "holds, not varied"),
        (5.0, None, "holds, not varied", "fails, not varied"),
        (0.1, (-9.0, 9.0), "not clear", "not clear"),
    ],
)
def test_sensitivity_to_unstated_settings_is_judged_symmetrically(
    mean: float, span: Span, verdict: str, flipped: str
) -> None:
    """The bound is 0; with all signs flipped, what holds fails, and what depends still does."""
    one, other = judged([mean], [span]), judged([mean], [span], flipped=True)
    assert (one.label, other.label) == (verdict, flipped)
    assert one.deciding_settings == (("bandwidth",) if verdict == DEPENDS else ())
    assert one.deciding_settings == other.deciding_settings


def test_claim_verdict_combines_sensitivities_of_its_comparisons() -> None:
    stays, crosses = (-1.0, 1.0), (-6.0, 6.0)
    assert judged([5, 5, 5], [stays, crosses, stays]).label == DEPENDS
    assert judged([5, 5, 5], [stays, None, stays]).label == "holds, not varied"
    assert judged([5, 5, 5], [stays] * 3).label == "holds"
    assert judged([-5, -5, 5], [crosses, crosses, stays]).label == DEPENDS
    assert judged([-5, -5, 5], [crosses, stays, stays]).label == "fails in part"
    assert judged([-5, -5, 5], [stays, stays, None]).label == "fails"
    assert judged([-5, -5, 5], [crosses, None, stays]).label == "fails in part, not varied"
    assert judged([-5, -5, 5], [stays, None, None]).label == "fails"  # by the first in any case


def test_verdicts_with_unvaried_settings_are_labeled_not_varied() -> None:
    quantities = [(0, Quantity(np.linspace(-1, 1, 10) - 5))]
    fixed = replace(span_of(-1.0, 1.0), fixed=("scaling",))
    for claim, verdict in ((bounded(), "fails"), (bounded(None, 0.0), "holds")):
        for span, mark in ((span_of(-1.0, 1.0), ""), (fixed, ", not varied")):
            found = make_claim_verdict(
                claim, "printed", quantities, None, partial(add_effect_range, span=span)
            )
            assert found.label == verdict + mark


def test_range_of_ratios_is_computed_from_logarithms() -> None:
    """The quotient is 2, with the bound 1.5: it is 1.4 where the logarithm changes by log(.7)."""
    part = bounded(None, 1.5).parts[0].model_copy(update={"scale": "ratio", "along": "columns"})
    one = bounded().model_copy(update={"parts": [part]})
    values = np.log(2) + np.linspace(-0.1, 0.1, 10)
    for change, verdict in ((0.7, DEPENDS), (0.8, "fails")):
        span = span_of(float(np.log(change)), 0.0)
        found = make_claim_verdict(
            one, "printed", [(0, Quantity(values))], None, partial(add_effect_range, span=span)
        )
        assert found.label == verdict
        (comparison,) = found.comparisons
        assert comparison.over_gaps is not None
        assert comparison.over_gaps.low == pytest.approx(2 * change)


def test_claims_under_the_corrected_protocol_are_labeled_not_varied() -> None:
    """The audits are of the earlier one, so that no verdict under it is a headline."""
    z, span = np.linspace(-1, 1, 10), span_of(0.0, 9.0)
    for mean, verdict in ((-5, "fails, not varied"), (5, "holds, not varied")):
        quantities = [(0, Quantity(z + mean))]
        found = make_claim_verdict(
            bounded(), "corrected", quantities, None, partial(add_effect_range, span=span)
        )
        assert (found.label, found.deciding_settings) == (verdict, ())


def test_claims_under_matched_protocol_ignore_ranges_of_unstated_settings() -> None:
    z = np.linspace(-1, 1, 10)
    span = span_of(0.0, 9.0)
    quantities = [(0, Quantity(z - 5))]
    found = make_claim_verdict(
        bounded(), "matched", quantities, None, partial(add_effect_range, span=span)
    )
    assert (found.label, found.comparisons[0].over_gaps) == ("fails", None)


def test_range_over_unstated_settings_is_shown_with_our_interpretation() -> None:
    made = [row | {"protocol": "printed"} for row in eeg(rks=68.6, qmc=60.0)]
    found = verification(results(made, **PAPER))
    place = int(found.numbers.loc[found.numbers["method"] == "rks", "number"].iloc[0])
    line = (place, -0.5, 0.3, 0.2, 0.1, 4, 2, ["solver.intercept"], Path("gaps/audit.md"))
    (one,) = arrange_tables_by_data_set(replace(found, unprinted=ranged([line])))
    assert one.grids[0].head == ["accuracy", "published", "printed", RANGE]
    rows = {row[0]: row for row in one.grids[0].rows}
    assert rows["RKS 14"][3] == "-0.50 ± 0.30 to +0.20 ± 0.10", "68.6 lies .15 above 68.45"
    assert rows["QMC 14"][3] == "–"
    ((_, varied),) = one.remarks
    assert varied.range.varied == ["solver.intercept"]
    assert "rows" in varied.fixed
    (alone,) = arrange_tables_by_data_set(found)
    assert alone.grids[0].head == ["accuracy", "published", "printed"]
    ((_, varied),) = alone.remarks
    assert varied.range is None


def test_ranges_use_only_the_papers_own_data() -> None:
    value = [number.value for number in papers.list_published_numbers()]
    lines = [
        (0, -1.0, 0.1, 1.0, 0.1), (1, 0.0, 0.0, 3.0, 1.0), (2, -9.0, 1.0, 9.0, 1.0),
        (3, -5.0, math.nan, 0.0, math.nan),
    ]  # fmt: skip
    ours = [value[0] - 0.5, value[1] - 4.0, value[2], value[3]]
    facts = {"unit": "%", "protocol": "printed", "paper": "liu2020", "item": "t", "dataset": "d"}
    facts |= {"measured": ours, "published": value[:4]}
    table = pd.DataFrame({"number": range(4), "trials": (9, 9, 0, 9)}).assign(**facts)
    unprinted = ranged([(*line, 2, 9, [], "") for line in lines])
    found = build_ranges_finding(
        cast(Any, SimpleNamespace(numbers_on_own_data=table, unprinted=unprinted))
    )
    expected = {"numbers": 2, "inside": 1, "median": 2.5, "most": 3.0}
    assert found is not None
    assert found.facts == expected
