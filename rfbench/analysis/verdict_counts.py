"""Counts of compared numbers and of verdicts on claims, separately for each kind of source.

Numbers differ in their source (a printed table, or the authors' raw runs) and in the source of our
settings (the text, the authors' code, or tuned to match the numbers). Numbers are added only if
both sources are equal.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from rfbench import papers
from rfbench.analysis import committed, frame, verdicts
from rfbench.analysis.outcomes import Outcome
from rfbench.analysis.verification import Verification
from rfbench.errors import ResultsError
from rfbench.escaping import to_json_value
from rfbench.papers.models import PLAIN, SECONDS, TUNED_TO_MATCH

TABLE_KEYS = ["paper", "item", "dataset"]
# Columns that define the class of a published number. Verdicts are counted per class.
OF_NUMBERS = ("source", "settings")
# Columns that define the class of a claim. Verdicts are counted per class.
OF_CLAIMS = ("whose", "form", "settings")
OWN_SETTINGS = "ours"
# Reasons for removing published numbers from a total after results had been seen. The dictionary
# CHANGING_COMMITS has the git commit that introduced each reason.
OTHER_DATA, TUNED_ALIKE, MOVED = "other data", "tuned alike", "moved"
CHANGING_COMMITS = {
    OTHER_DATA: "",  # this rule has one commit per data set, listed in history.csv
    TUNED_ALIKE: "be2db155",
    MOVED: "c755a77c",
}
# Names of the classes of published numbers and claims, as shown on pages.
CLASS_LABELS = {
    "table": "printed in tables",
    "figure": "printed in figures",
    "repository": "computed from the authors' raw runs",
    "text": "the text",
    "cited": "a definition that the paper cites",
    "code": "the authors' code",
    "readings": "text and our readings",
    "corrected": "text and our readings, corrected after rows",
    "matched": "tuned to match",
    "rematched": "tuned to match, corrected after rows",
    "paper": "of the papers",
    "we": "ours",
    **committed.COMMIT_ORDER_LABELS,
}


@dataclass(frozen=True)
class Count:
    """Number of published numbers, or of claims, for each verdict.

    All entries of a count have the same sources. For a published number, these are the source of
    the number (such as a printed table) and the source of our settings (such as the authors' code).

    Attributes
    ----------
    of : tuple of str
        The sources: values of the columns `OF_NUMBERS` or `OF_CLAIMS`.
    protocols : tuple of str
        Protocols under which the entries were measured.
    verdicts : dict
        Number of entries per verdict.
    decidable : dict
        Number of decidable entries per verdict; empty for claims. An entry is decidable if the
        spread and the number of trials in the paper are sufficient for a decision.
    unspread : int
        Number of decidable entries for which the paper has no spread or no number of trials. An
        entry with an unknown standard error counts as decidable.
    """

    of: tuple[str, ...]
    protocols: tuple[str, ...]
    verdicts: Mapping[str, int]
    decidable: Mapping[str, int] = field(default_factory=dict)
    unspread: int = 0

    def __getitem__(self, verdict: str) -> int:
        return self.verdicts.get(verdict, 0)

    @property
    def class_label(self) -> list[str]:
        """Names of the sources of numbers and settings on pages, one for each value in `of`."""
        return [CLASS_LABELS.get(name, name) for name in self.of]

    @property
    def n_compared(self) -> int:
        """Number of published numbers that were compared with ours, whatever the result."""
        return sum(self[verdict] for verdict in verdicts.COMPARED)

    @property
    def n_agreeing_or_close(self) -> int:
        """Number of published numbers that agree with our numbers or are close to them."""
        return self[verdicts.AGREES] + self[verdicts.CLOSE]

    @property
    def decidable_count(self) -> Count:
        """Counts of verdicts for the decidable numbers only.

        A number is decidable if its spread in the paper is small enough for a verdict.
        """
        return replace(self, verdicts=self.decidable)

    @property
    def n_tested(self) -> int:
        """Number of claims that were tested, whether they hold or not."""
        return sum(self[verdict] for verdict in verdicts.JUDGED)


def count_by_verdict(entries: pd.DataFrame, by: Sequence[str]) -> Count:
    """Count the lines of a table by verdict.

    The columns `by` contain the sources of the numbers and settings. Raises ResultsError if two
    lines have different sources.
    """
    classes = entries[list(by)].drop_duplicates()
    if len(classes) != 1:
        named = "; ".join(map(", ".join, classes.to_numpy().tolist())) or "none"
        raise ResultsError(
            "Counts of published numbers with different sources or settings cannot be added.",
            f"Classes: {named}.",
        )
    protocols, of = entries["protocol"].unique().tolist(), tuple(classes.iloc[0])
    if "decidable" not in entries:
        return Count(of, tuple(protocols), _seen(entries))
    ours = entries["decidable"].astype(bool) & entries["verdict"].isin(verdicts.COMPARED)
    unspread = int(entries.loc[ours, "published_error"].isna().sum())
    return Count(of, tuple(protocols), _seen(entries), _seen(entries[ours]), unspread)


def _seen(entries: pd.DataFrame) -> dict[str, int]:
    """Return the number of lines in the table for each verdict."""
    return dict(Counter(map(str, entries["verdict"])))


def list_published_numbers(verification: Verification) -> pd.DataFrame:
    """Return a table of the published numbers that are counted, without times.

    The table has one line per number and protocol (source of our settings), for the papers' own
    data. A number that a paper prints twice is included once. Lines with the settings `ours` are
    excluded, because these settings do not repeat the paper's experiment.
    """
    own = verification.numbers_on_own_data
    return own[
        (own["unit"] != SECONDS) & (own["same_as"] == "") & (own["settings"] != OWN_SETTINGS)
    ]


def count_published_numbers(verification: Verification) -> list[Count]:
    """Count the published numbers by verdict.

    Return one `Count` for each combination of the sources of numbers and settings that was
    measured.
    """
    return _counts(list_published_numbers(verification), OF_NUMBERS)


def count_by_paper(entries: pd.DataFrame, by: Sequence[str]) -> list[tuple[str, Count]]:
    """Count the lines of a table by verdict, separately for each paper.

    Return a pair of a paper and a `Count` for each combination of values in the columns `by`.
    """
    pairs = [
        (str(paper), each)
        for paper, here in entries.groupby("paper", sort=False)
        for each in _counts(here, by)
    ]
    classes = [each.of for each in _counts(entries, by)]
    return sorted(pairs, key=lambda pair: classes.index(pair[1].of))


@dataclass(frozen=True)
class RemovedPart:
    """Published numbers that a rule excluded from the counts after results had been seen.

    All of them have the same sources of the numbers and settings.

    Attributes
    ----------
    group : str
        Name of the rule, a key of `CHANGING_COMMITS`.
    since : str
        Commit of this repository that introduced the rule.
    places : tuple of str
        Names of the papers, or of a paper and a data set, that the rule concerns.
    count : Count
        Number of published numbers for each verdict that the interval alone would give.
    """

    group: str
    since: str
    places: tuple[str, ...]
    count: Count


def list_left_out_numbers(verification: Verification) -> list[RemovedPart]:
    """Return the published numbers that rules excluded from the counts after results had been seen.

    The list has one `RemovedPart` for each rule and each combination of sources of numbers and
    settings.
    """
    return [
        RemovedPart(
            group,
            since,
            tuple(here["place"].unique()),
            count_by_verdict(here, OF_NUMBERS),
        )
        for group, since, entries in _groups(verification)
        for _, here in entries.groupby(list(OF_NUMBERS), sort=False)
    ]


def count_numbers_including_removed(verification: Verification) -> dict[tuple[str, ...], Count]:
    """Count the published numbers by verdict as if no rule had excluded any number.

    The keys are the sources of the numbers and settings (columns `OF_NUMBERS`).
    """
    gone = [entries for group, _, entries in _groups(verification) if group != MOVED]
    every = pd.concat([list_published_numbers(verification), *gone], ignore_index=True)
    return {each.of: each for each in _counts(every, OF_NUMBERS)}


def _groups(verification: Verification) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """Yield the rules that excluded published numbers from the counts.

    Each rule is a tuple: its name, its commit, and a table of the excluded numbers. The verdict of
    each number is the verdict that its interval alone would give.
    """
    every = verification.numbers
    every = every[(every["unit"] != SECONDS) & (every["same_as"] == "") & (every["trials"] > 0)]
    every = every.assign(verdict=every["by_interval"], place=every["paper"])
    own = every[~every["stand_in"]]
    given = zip(every["paper"], every["dataset"], strict=True)
    changed = [committed.find_history_entry(str(paper), "data", str(name)) for paper, name in given]
    later = np.array([line is not None and line.order == "after" for line in changed], bool)
    replaced = every[later & every["stand_in"]]
    for (paper, dataset), here in replaced.groupby(["paper", "dataset"], sort=False):
        line = committed.find_history_entry(str(paper), "data", str(dataset))
        yield OTHER_DATA, line.form if line else "", here.assign(place=f"{paper} {dataset}")
    pairs = list(zip(own["paper"], own["protocol"], strict=True))
    yield TUNED_ALIKE, CHANGING_COMMITS[TUNED_ALIKE], own[own["settings"] == OWN_SETTINGS]
    before = [
        papers.find_paper(paper).provenance.formerly.get(protocol) for paper, protocol in pairs
    ]
    moved = own.assign(settings=pd.Series(before, own.index, dtype="object"))
    yield MOVED, CHANGING_COMMITS[MOVED], moved[moved["settings"].notna()]


def _counts(entries: pd.DataFrame, by: Sequence[str]) -> list[Count]:
    """Return a `Count` of verdicts for each combination of values in the columns `by`.

    Combinations for which nothing was run are left out.
    """
    # Skip classes in which nothing was run. Computing a `Count` needs milliseconds, and most
    # classes of a small results folder are empty.
    classes = pd.MultiIndex.from_frame(entries[list(by)])
    was_run = entries["verdict"].to_numpy() != verdicts.NOT_RUN
    counted = _select_counted(entries, by)[classes.isin(classes[was_run])]
    if counted.empty:
        return []
    return [count_by_verdict(here, by) for _, here in counted.groupby(list(by), sort=False)]


def _select_counted(entries: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Select the columns of a table that `count_by_verdict` reads, because copying all is slow."""
    read = {*by, "protocol", "verdict", "decidable", "published_error"}
    return entries[[name for name in entries.columns if name in read]]


def count_published_by_source(chosen: Collection[str]) -> dict[str, dict[str, int]]:
    """Count the published numbers for each source and paper.

    Sources, such as printed tables, are the keys of the result. Papers in `chosen` are the keys of
    each value. Times are not counted.
    """
    counted: dict[str, dict[str, int]] = {}
    for number in papers.list_published_numbers():
        if number.unit != SECONDS and not number.same_as and number.paper in chosen:
            source = papers.find_paper(number.paper).provenance.sources.get(number.item, "table")
            of_source = counted.setdefault(source, {})
            of_source[number.paper] = of_source.get(number.paper, 0) + 1
    return counted


def list_judged_claims(outcomes: Iterable[Outcome]) -> pd.DataFrame:
    """Return a table of the verdicts on claims, one line per claim and protocol that was run.

    A protocol is the source of the settings.
    """
    lines = [
        (*outcome.claim.key, outcome.protocol, outcome.claim.whose,
         papers.find_commit_order_of_claim(outcome.claim),
         papers.find_settings_class(outcome.claim.paper, outcome.protocol), outcome.label)
        for outcome in outcomes
        if outcome.claim.is_judged and outcome.protocol
        if outcome.verdict not in (verdicts.SHOWN, verdicts.NOT_JUDGED)
    ]  # fmt: skip
    return pd.DataFrame(lines, columns=["paper", "id", "protocol", *OF_CLAIMS, "verdict"])


def count_claims(outcomes: Iterable[Outcome]) -> list[Count]:
    """Count the claims by verdict.

    Return one `Count` for each combination of the author of a claim, the order in which claim and
    rows were committed, and the source of the settings.
    """
    return _counts(list_judged_claims(outcomes), OF_CLAIMS)


def is_counted_as_holding(outcome: Outcome) -> bool:
    """Return True if the outcome is counted as a claim of a paper that holds.

    The claim has to be the paper's, not ours. It has to hold under settings that were not tuned to
    match the numbers, and under all settings that the paper leaves open. None of the published
    numbers that the claim compares may differ from our numbers.
    """
    claim, settings = (
        outcome.claim,
        papers.find_settings_class(outcome.claim.paper, outcome.protocol),
    )
    untuned = settings not in (*TUNED_TO_MATCH, OWN_SETTINGS)
    own = claim.is_judged and claim.whose == "paper" and untuned
    return (
        own and outcome.label in (verdicts.HOLDS, verdicts.HOLDS_TESTED) and not outcome.differing
    )


def list_holding_claims(outcomes: Iterable[Outcome]) -> dict[str, list[Outcome]]:
    """Return the claims that hold, grouped by the order in which claim and rows were committed.

    Claims that were committed before the first rows that test them come first.
    """
    found = [outcome for outcome in outcomes if is_counted_as_holding(outcome)]
    orders = {
        outcome.claim.key: papers.find_commit_order_of_claim(outcome.claim) for outcome in found
    }
    wanted = [order for order in committed.ORDERS if order in orders.values()]
    return {order: [o for o in found if orders[o.claim.key] == order] for order in wanted}


def count_verdicts_by_table(verification: Verification) -> pd.DataFrame:
    """Return the number of published numbers per verdict, for each table, data set and protocol.

    Returns
    -------
    DataFrame
        The index is paper, item (table or figure), dataset and protocol. Each verdict in
        `verdicts.COMPARED` has a column. ``numbers`` counts all published numbers without times,
        and ``compared`` counts the compared numbers. ``decidable`` and ``at_chance`` count the
        compared numbers with this property. ``distance`` is the mean absolute difference in points,
        NaN if no number is in points. ``away`` is the mean absolute difference of the numbers
        without a unit, in percent of the published numbers. ``shown`` is the number of measured
        entries that are not judged. ``stand_in`` is the number of entries that were measured on
        substitutes.
    """
    judged = verification.numbers[verification.numbers["unit"] != SECONDS]
    key = [*TABLE_KEYS, "protocol"]
    own, others = judged[~judged["stand_in"]], judged[judged["stand_in"]]
    by = [own[name] for name in key]
    counted = pd.DataFrame({v: own["verdict"] == v for v in verdicts.COMPARED})
    compared = counted.any(axis=1)
    table = counted.assign(numbers=own["same_as"] == "", compared=compared)
    for name in ("decidable", "at_chance"):
        table[name] = compared & own[name].astype(bool)
    table = table.groupby(by, sort=False).sum()
    shown = (own["verdict"] == verdicts.NOT_JUDGED) & (own["same_as"] == "")
    distance = own["difference"].abs().where(compared | shown)
    plain = own["unit"] == PLAIN
    away = (100 * distance / own["published"]).where(plain)
    table["distance"] = distance.mask(plain).groupby(by, sort=False).mean()
    table["away"] = away.groupby(by, sort=False).mean()
    table["shown"] = shown.groupby(by, sort=False).sum()
    beside = others.groupby(key, sort=False)["number"].nunique()
    return table.assign(stand_in=beside.reindex(table.index, fill_value=0))


def tabulate_added_trials(collection: frame.Collection) -> list[dict[str, Any]]:
    """Return the mean errors of trials that were added after results had been seen.

    The mean error of the trials that count is returned for comparison. The result has one
    dictionary per paper, run, method and size. ``counted`` and ``added`` are numbers of trials.
    ``mean`` and ``mean_added`` are mean errors in percent, or mean spectral kernel errors if the
    run has no test error.
    """
    rows = collection.rows
    if "paper" not in rows:  # the collection is empty
        return []
    rows = rows[(rows["paper"] != "") & (rows["status"] == "ok")]
    value = rows["error_percent"].astype(float).fillna(rows["kernel_error_spectral"].astype(float))
    rows = rows.assign(value=value, method=rows["label"])
    by = ["paper", "experiment", "method", "M"]
    added = (
        rows[rows["added"]].groupby(by, sort=False)["value"].agg(added="size", mean_added="mean")
    )
    counted = rows[rows["counts"]].groupby(by, sort=False)["value"].agg(counted="size", mean="mean")
    both = added.join(counted).round(6).reset_index().to_dict("records")
    return [{str(name): value for name, value in line.items()} for line in both]


def _collect_totals(verification: Verification) -> dict[str, Any]:
    """Return all counts of numbers and claims as dictionaries and lists for JSON."""

    def lines(counts: Iterable[Count], names: Sequence[str]) -> list[dict[str, Any]]:
        return [
            {**dict(zip(names, each.of, strict=True)), "protocols": each.protocols, **each.verdicts}
            | ({"decidable": each.decidable, "unspread": each.unspread} if each.decidable else {})
            for each in counts
        ]

    every = verification.outcomes
    return {
        "published": count_published_by_source(set(verification.numbers["paper"])),
        "numbers": lines(count_published_numbers(verification), OF_NUMBERS),
        "claims": lines(count_claims(every), OF_CLAIMS),
        "left out": [
            {
                "group": each.group,
                "since": each.since,
                "of": each.places,
                **dict(zip(OF_NUMBERS, each.count.of, strict=True)),
                "protocols": each.count.protocols,
                **each.count.verdicts,
            }
            for each in list_left_out_numbers(verification)
        ],
        "added": tabulate_added_trials(verification.selection.collection),
        "holding": {
            "/".join(o.claim.key): [o.protocol, o.label, order]
            for order, those in list_holding_claims(every).items()
            for o in those
        },
    }


def render_totals_as_json(verification: Verification) -> str:
    """Return all counts of numbers and claims as JSON text."""
    return json.dumps(to_json_value(_collect_totals(verification)), indent=1) + "\n"
