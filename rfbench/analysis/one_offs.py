"""What one claim alone needs, as a function named by the claim's id.

`QUANTITIES` are paired quantities that the language of `rfbench.papers.Part` has no word for: a
part says ``at: own``, and its bounds, metric and methods hold as for any other. `OUTCOMES` judge
a whole claim.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

from rfbench import papers
from rfbench.analysis import verdicts
from rfbench.analysis.outcomes import Mark, Outcome
from rfbench.analysis.paired import Curve, OneOff, Pairing, Quantity, Trials
from rfbench.analysis.selection import Selection
from rfbench.analysis.statistics import paired_t
from rfbench.papers import Claim
from rfbench.report.geometry import near_corners, near_offsets, read_kept


def l2_slope(pairing: Pairing, mine: Curve, theirs: Curve | None) -> list[Quantity]:
    """Return the slope over d, per trial that was run at every d; each d has data of its own."""
    names = ["trial", "seed", "split", "n_train"]
    trials = pairing.trials.collection.of_pairs(names).loc[pairing.trials.pairs]
    steps = pairing.steps(mine, theirs)
    if len(steps) < 2:
        return []
    table = pd.DataFrame(steps).set_axis(pd.MultiIndex.from_frame(trials))
    by_trial = table.groupby(names, sort=False).first().dropna()
    slopes = np.polyfit(list(steps), by_trial.to_numpy().T, 1)[0] if len(by_trial) else []
    return [Quantity(np.asarray(slopes), found=len(steps))]


def s3_growth(pairing: Pairing, mine: Curve, theirs: Curve | None) -> list[Quantity]:
    """Return the value at the largest size less that at the smallest."""
    steps = list(pairing.steps(mine, theirs).values())
    return [Quantity(steps[-1] - steps[0], found=len(steps))] if len(steps) > 1 else []


def l7_plateau(pairing: Pairing, mine: Curve, theirs: Curve | None) -> list[Quantity]:
    """Return the change between the two largest sizes that are above the number of kept features.

    That is the largest number in any trial of that size.
    """
    kept = {x: pairing.trials.table("kept")[:, columns] for x, columns in mine.items()}
    steps = [
        values
        for x, values in pairing.steps(mine, theirs).items()
        if np.isfinite(kept[x]).any() and np.nanmax(kept[x]) <= x
    ]
    return [Quantity(steps[-1] - steps[-2], found=len(steps))] if len(steps) > 1 else []


CORNER_RADIUS = 0.75
OFFSET_WIDTH = np.pi / 8


def l3_share(pairing: Pairing, mine: Curve, theirs: Curve | None) -> list[Quantity]:
    """Return what share of the weight lies where Figure 1a shows it, at d = 2.

    ``kept_near_corners`` is that of frequencies within 0.75 of (1, 1) or (-1, -1),
    ``kept_near_offsets`` that of offsets within pi/8 of 0 or pi, modulo 2 pi.
    """
    near = {"kept_near_corners": near_corners, "kept_near_offsets": near_offsets}
    collection, groups = pairing.trials.collection, pairing.trials.facts["group"]
    found: list[pd.Series[float]] = []
    for group in groups[mine.get(2, [])]:
        trials = collection.counted[collection.counted["group"] == group]
        kept = read_kept(Path(collection.groups["folder"][group]), trials, [])
        weights, by = kept["weight"], kept["trial_id"]
        inside = (weights * near[pairing.part.metric](kept)).groupby(by).sum()
        found.append(inside / weights.groupby(by).sum())
    best = max(found, key=len, default=pd.Series(dtype="float64"))
    return [Quantity(best.to_numpy(), 2)]


QUANTITIES: dict[str, OneOff] = {
    "L2": l2_slope, "L3": l3_share, "L7": l7_plateau, "S3": s3_growth
}  # fmt: skip

S1_ITEM, S1_METRIC, S1_BASELINES = "table3", "accuracy", ("rks", "qmc")


def s1_marks(claim: Claim, selection: Selection) -> list[Outcome]:
    """Repeat the paper's own test cell by cell, and count the marks that come out."""
    numbers = [
        number
        for number in papers.published()
        if (number.paper, number.item, number.metric) == (claim.paper, S1_ITEM, S1_METRIC)
        and number.method not in S1_BASELINES
    ]
    outcomes = []
    datasets = dict.fromkeys(number.dataset for number in numbers)
    for protocol in selection.protocols(claim.paper, [S1_ITEM]):
        lines = {
            dataset: selection.select(claim.paper, [S1_ITEM], dataset, protocol)
            for dataset in datasets
        }
        folders = sorted({folder for found in lines.values() for folder in found["folder"]})
        if not folders:
            continue
        trials = {name: Trials(selection.collection, found) for name, found in lines.items()}
        marks = tuple(
            Mark(
                number.dataset,
                number.method,
                number.M,
                number.mark == "significant",
                significant(trials[number.dataset], number.method, number.size),
            )
            for number in numbers
        )
        outcomes.append(_of_marks(claim, protocol, marks, tuple(folders)))
    return outcomes or [Outcome(claim, "", verdicts.NOT_RUN)]


def significant(trials: Trials, method: str, size: int | None) -> bool | None:
    """Say whether a method is significantly better than both baselines, as the paper tests it.

    A paired t-test at 5 % against each baseline, without correction, on the first ten trials;
    None where fewer are common to the three.
    """
    at_size = trials.facts["M"] == size
    found = [[a for a in trials.of_method(name) if at_size[a]] for name in (method, *S1_BASELINES)]
    if not all(found):
        return None
    most = [max(columns, key=lambda a: int(trials.facts["trials"][a])) for columns in found]
    table = trials.table(S1_METRIC)[:, most]
    whole = np.isfinite(table).all(axis=1)
    order = np.argsort(trials.collection.of_pairs(["trial"])["trial"][trials.pairs[whole]])
    table = table[whole][order[: verdicts.MARKED_TRIALS]]
    if len(table) < verdicts.MARKED_TRIALS:
        return None
    own, *others = table.T
    tests = [paired_t(own, other) for other in others]
    return all(test.effect > 0 and test.p <= verdicts.ALPHA for test in tests)


def _of_marks(
    claim: Claim, protocol: str, marks: tuple[Mark, ...], folders: tuple[str, ...]
) -> Outcome:
    decided = [mark for mark in marks if mark.significant is not None]
    right = sum(mark.significant == mark.marked for mark in decided)
    return Outcome(
        claim,
        protocol,
        verdicts.of_marks(len(marks), len(decided), len(decided) - right),
        effect=1 - (len(decided) - right) / len(decided) if decided else float("nan"),
        compared=len(decided),
        held=right,
        trials=verdicts.MARKED_TRIALS if decided else 0,
        marks=marks,
        folders=folders,
    )


OUTCOMES: dict[str, Callable[[Claim, Selection], list[Outcome]]] = {"S1": s1_marks}
