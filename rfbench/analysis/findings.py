"""Findings over all papers. A finding that the result rows do not support is omitted.

The numbers of the findings are computed here. The template `templates/findings.j2` contains the
sentence and the axis label of each finding. Optional components of rfbench add further findings.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from rfbench import papers
from rfbench.analysis import committed, verdict_counts, verdicts
from rfbench.analysis.chance import explain_chance_level
from rfbench.analysis.frame import Collection
from rfbench.analysis.paired import Trials
from rfbench.analysis.selection import Selection
from rfbench.analysis.statistics import paired_t_test
from rfbench.analysis.verdict_counts import Count
from rfbench.analysis.verification import Verification
from rfbench.papers.models import MATCHED, PRINTED, TUNED_TO_MATCH, Source
from rfbench.registry import find_displayed_name
from rfbench.results import Results

GAIN_KEYS = ["paper", "item", "dataset"]
# Types of splits that hold out complete groups of rows, such as patients, or blocks of time.
TOGETHER = ("leave_groups", "blocks")
MAY_DIFFER = ("name", "title", "description", "split")
GAINS = [*GAIN_KEYS, "method", "other", "protocol", "published", "mean", "low", "high"]
SAME = ["dataset", "protocol", "method", "solver", "variant", "d", "M"]


@dataclass(frozen=True)
class Bar:
    """Number that supports a finding, with its confidence interval.

    The ends of the interval are NaN if there is no interval.
    """

    name: str
    value: float
    low: float = math.nan
    high: float = math.nan


@dataclass(frozen=True)
class Finding:
    """Finding that is shown on the front page.

    `facts` has the values in the sentence, and `bars` has the numbers in the figure.
    """

    key: str
    facts: Mapping[str, Any]
    bars: tuple[Bar, ...]


def gather_findings(verification: Verification) -> list[Finding]:
    """Return the findings that the result rows support, in the order of the front page."""
    every = (
        make(verification)
        for make in (
            build_numbers_finding,
            build_claims_finding,
            _build_gains_finding,
            build_splits_finding,
        )
    )
    return [finding for finding in every if finding is not None]


def build_numbers_finding(verification: Verification) -> Finding | None:
    """Return the finding on published numbers that were reproduced, or None if none was compared.

    The numbers are counted separately for each source of the numbers and each source of our
    settings.
    """
    bars = [
        Bar(f"{paper}, {', '.join(each.class_label)}: "
            f"{each.n_agreeing_or_close} of {each.n_compared}",
            100 * each.n_agreeing_or_close / each.n_compared)
        for paper, each in verdict_counts.count_by_paper(
            verdict_counts.list_published_numbers(verification), verdict_counts.OF_NUMBERS
        )
        if each.n_compared
    ]  # fmt: skip
    counts = [
        each for each in verdict_counts.count_published_numbers(verification) if each.n_compared
    ]
    if not counts:
        return None
    return Finding("numbers", {"counts": _group(counts, 0)}, tuple(bars))


def build_claims_finding(verification: Verification) -> Finding | None:
    """Return the finding on the claims that hold, or None if no claim was tested.

    The entry ``holding`` of its facts is a dictionary with the names of the claims that hold. Each
    key is a pair: the order in which a claim and the first rows that test it were committed, and
    the source of our settings.
    """
    counts = [
        each
        for each in verdict_counts.count_claims(verification.outcomes)
        if each.of[0] == "paper"
        and each.of[2] not in (*TUNED_TO_MATCH, verdict_counts.OWN_SETTINGS)
        and each.n_tested
    ]
    if not counts:
        return None
    counts.sort(key=lambda each: committed.ORDERS.index(each.of[1]))
    holding: dict[tuple[str, ...], list[str]] = {}
    for outcome in filter(verdict_counts.is_counted_as_holding, verification.outcomes):
        settings = papers.find_settings_class(outcome.claim.paper, outcome.protocol)
        of = papers.find_commit_order_of_claim(outcome.claim), settings
        holding.setdefault(of, []).append(papers.format_claim_name(outcome.claim))
    bars = [
        Bar(f"{', '.join(each.class_label)}: {verdict}", float(each[verdict]))
        for each in counts
        for verdict in verdicts.JUDGED
        if each[verdict]
    ]
    return Finding("claims", {"counts": _group(counts, 2), "holding": holding}, tuple(bars))


def _group(counts: Sequence[Count], place: int) -> dict[str, list[Count]]:
    """Group counts by one entry of `Count.of`.

    The entry at position `place` is, for example, the source of the numbers or of the settings.
    """
    return {
        kind: [each for each in counts if each.of[place] == kind]
        for kind in dict.fromkeys(each.of[place] for each in counts)
    }


def _build_gains_finding(verification: Verification) -> Finding | None:
    """Return the finding on published gains of one method over another, or None without such gains.

    Only gains that were measured twice are included: with the settings that the paper prints, and
    with settings that were tuned to match the paper's numbers.
    """
    table = tabulate_published_gains(verification.selection)
    table = table[(table["published"] > 0) & table["low"].notna()]
    both = table.groupby([*GAIN_KEYS, "method", "other"])["protocol"].transform("nunique") == 2
    table = table[both]
    if table.empty:
        return None
    facts: dict[str, Any] = {
        str(protocol): {
            "gains": len(here),
            "better": int((here["low"] > 0).sum()),
            "reversed": [
                f"{find_displayed_name(line['method'])} over {find_displayed_name(line['other'])} "
                f"on {line['dataset']}"
                for line in here[here["high"] < 0].to_dict("records")
            ],
        }
        for protocol, here in table.groupby("protocol")
    }
    bars = [
        Bar(f"{line['dataset']}: {line['method']} over {line['other']}, {line['protocol']}",
            line["mean"], line["low"], line["high"])
        for line in table.to_dict("records")
    ]  # fmt: skip
    return Finding("gained", facts, tuple(bars))


def build_splits_finding(verification: Verification) -> Finding | None:
    """Return the finding that errors are larger if whole groups or blocks of time are held out.

    The errors are compared with the errors of random splits, at the largest number of features. The
    result is None unless the interval of every difference is above zero.
    """
    table = compare_errors_of_two_splits(verification.selection.collection)
    table = table[table["M"] == table["M"].max()]
    if table.empty or not (table["difference"] - table["half"] > 0).all():
        return None
    bars = [
        Bar(f"{line['dataset']}, {line['method']}", line["difference"],
            line["difference"] - line["half"], line["difference"] + line["half"])
        for line in table.to_dict("records")
    ]  # fmt: skip
    spans = table.groupby("dataset", sort=False)["difference"].agg(["min", "max"])
    facts = {"M": int(table["M"].max()), "spans": list(spans.itertuples(name=None))}
    return Finding("splits", facts, tuple(bars))


def compare_errors_of_two_splits(collection: Collection) -> pd.DataFrame:
    """Compare the errors of two kinds of splits: random rows, and whole groups or blocks of time.

    Pairs of results folders are compared whose configurations differ only in the split.

    Returns
    -------
    DataFrame
        One line per data set, method and M (`SAME`). ``difference`` is the mean error in percent
        with whole groups or blocks held out, minus the mean error in percent with random splits.
        ``half`` is half the width of Welch's 95 % interval of the difference. The interval is over
        new splits of the same rows and new random features.
    """
    from scipy.special import stdtrit

    usable = [
        each
        for each in collection.experiments
        if not each.is_smoke_run and isinstance(each.config.get("split"), dict)
    ]
    together = [each for each in usable if not each.config["split"].keys().isdisjoint(TOGETHER)]
    pairs = [
        (random.path, own.path)
        for own in together
        for random in usable
        if random not in together and _rest(random) == _rest(own)
    ]
    if not pairs:
        return pd.DataFrame(columns=[*SAME, "difference", "half"])
    errors = collection.valid_rows.groupby("group")["error_percent"].agg(["mean", "var", "count"])
    groups = collection.groups.join(errors, how="left")
    parts = []
    for folders in pairs:
        random, own = (groups[groups["folder"] == folder] for folder in folders)
        parts.append(random.merge(own, on=SAME, suffixes=("_random", "_own")))
    table = pd.concat(parts, ignore_index=True)
    counts = [table[f"count_{side}"] for side in ("random", "own")]
    variances = [table["var_random"] / counts[0], table["var_own"] / counts[1]]
    both = variances[0] + variances[1]
    freedom = both**2 / sum(v**2 / (n - 1) for v, n in zip(variances, counts, strict=True))
    half = stdtrit(freedom, 1 - verdicts.ALPHA / 2) * np.sqrt(both)
    return table[SAME].assign(difference=table["mean_own"] - table["mean_random"], half=half)


def _rest(results: Results) -> dict[str, object]:
    return {name: value for name, value in results.config.items() if name not in MAY_DIFFER}


def tabulate_published_gains(selection: Selection) -> pd.DataFrame:
    """Return the published and the measured gains of one method over another, in points.

    Returns
    -------
    DataFrame
        One line per pair of methods that a paper compares, data set and source of our settings
        (``protocol``: printed or matched), on the paper's own data. Pairs are left out if neither
        method is better than a constant prediction. The columns are ``paper``, ``item`` (the table
        or figure), ``dataset`` (the paper's name), ``method``, ``other`` and ``protocol``.
        ``published`` is the published gain, averaged over the sizes in the table. ``mean`` is our
        gain, averaged over the trials that ran every size, and ``low`` and ``high`` are the ends of
        its 90 % interval.
    """
    lines = [
        gain
        for paper in papers.list_papers()
        for item, pairs in papers.find_paper(paper).gains.items()
        for dataset, source in papers.list_data_sets_of_papers()[paper].items()
        for pair in pairs
        for gain in _of_pair(selection, (paper, item, dataset), pair, source)
    ]
    return pd.DataFrame(lines, columns=GAINS)


def _of_pair(
    selection: Selection, place: tuple[str, str, str], pair: tuple[str, str], source: Source
) -> Iterator[tuple[Any, ...]]:
    """Yield the published and the measured gain of the first method of `pair` over the second.

    One tuple is yielded for each source of our settings (printed or matched). `place` is a paper, a
    table or figure, and a data set.
    """
    (paper, item, dataset), collection = place, selection.collection
    printed = {
        (n.method, n.size): n.value if n.metric == "accuracy" else -n.value
        for n in papers.list_published_numbers()
        if (n.paper, n.item, n.dataset) == place and n.metric in ("accuracy", "error")
    }
    sizes = sorted({size for method, size in printed if method == pair[1] and size is not None})
    published = [printed.get((pair[0], M), math.nan) - printed[pair[1], M] for M in sizes]
    for protocol in (PRINTED, MATCHED):
        groups = selection.select(paper, [item], dataset, protocol)
        trials = Trials(collection, groups)
        steps = [
            trials.get_metric_values(pair[1], M, "error")
            - trials.get_metric_values(pair[0], M, "error")
            for M in sizes
        ]
        test = paired_t_test(np.mean(steps, axis=0) if steps else [])
        both = groups[collection.mask_groups_of_methods(groups, *pair)]
        if test.n and not explain_chance_level(collection, both, source):
            yield (
                *place,
                *pair,
                protocol,
                np.mean(published),
                test.effect,
                *test.compute_confidence_interval(0.9),
            )
