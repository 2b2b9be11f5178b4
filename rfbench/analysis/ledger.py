"""The ledger: the totals of numbers and claims, separately for each class of provenance.

The classes separate numbers in tables, means of the authors' raw runs, and settings from a text,
from code, or tuned to match the numbers. Numbers of different classes are never added.
"""

from __future__ import annotations

import json
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
OF_NUMBERS = ("source", "settings")  # keys of the class of a number
# keys of the class of a claim
OF_CLAIMS = ("whose", "form", "settings")
OWN_SETTINGS = "ours"
# Rules that removed numbers from a total after results were known, with the commit of each rule.
OTHER_DATA, TUNED_ALIKE, MOVED = "other data", "tuned alike", "moved"
CHANGING_COMMITS = {
    OTHER_DATA: "",  # one commit per data set, see history.csv
    TUNED_ALIKE: "be2db155",
    MOVED: "c755a77c",
}
# Names of the classes on pages.
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
    """Number of entries of one class for each verdict.

    Attributes
    ----------
    of : tuple of str
        The class: the values of `OF_NUMBERS` or `OF_CLAIMS`.
    protocols : tuple of str
        Protocols under which the entries were measured.
    verdicts : dict
        Number of entries per verdict.
    decidable : dict
        The same for numbers that can be decided with the papers' own spread and trials; empty for
        claims.
    unspread : int
        Number of decidable entries without a printed standard error (no spread, or no number of
        trials); they count as decidable because their spread is not known.
    """

    of: tuple[str, ...]
    protocols: tuple[str, ...]
    verdicts: Mapping[str, int]
    decidable: Mapping[str, int] = field(default_factory=dict)
    unspread: int = 0

    def __getitem__(self, verdict: str) -> int:
        return self.verdicts.get(verdict, 0)

    @property
    def called(self) -> list[str]:
        """Name of the class on pages."""
        return [CLASS_LABELS.get(name, name) for name in self.of]

    @property
    def compared(self) -> int:
        """Number of measured numbers: near, undecided, or different."""
        return sum(self[verdict] for verdict in verdicts.COMPARED)

    @property
    def near(self) -> int:
        """Number of numbers that agree or are close."""
        return self[verdicts.AGREES] + self[verdicts.CLOSE]

    @property
    def of_decidable(self) -> Count:
        """Count of the decidable numbers alone."""
        return replace(self, verdicts=self.decidable)

    @property
    def tested(self) -> int:
        """Number of claims that have a verdict."""
        return sum(self[verdict] for verdict in verdicts.JUDGED)


def count(entries: pd.DataFrame, by: Sequence[str]) -> Count:
    """Count entries by their verdict; raises ResultsError if they belong to several classes."""
    classes = entries[list(by)].drop_duplicates()
    if len(classes) != 1:
        named = "; ".join(map(", ".join, classes.to_numpy().tolist())) or "none"
        raise ResultsError("Numbers of different provenance cannot be added.", f"Classes: {named}.")
    protocols, of = entries["protocol"].unique().tolist(), tuple(classes.iloc[0])
    if "decidable" not in entries:
        return Count(of, tuple(protocols), _seen(entries))
    ours = entries["decidable"].astype(bool) & entries["verdict"].isin(verdicts.COMPARED)
    unspread = int(entries.loc[ours, "published_error"].isna().sum())
    return Count(of, tuple(protocols), _seen(entries), _seen(entries[ours]), unspread)


def _seen(entries: pd.DataFrame) -> dict[str, int]:
    seen = entries["verdict"].value_counts(sort=False)
    return {str(verdict): int(n) for verdict, n in seen.items()}


def list_numbers(verification: Verification) -> pd.DataFrame:
    """Return the entries of published numbers on the papers' own data, without times.

    One line per number and protocol; a number that a paper prints twice counts once. Entries with
    the settings `ours` are excluded, because they measure something else than the paper does.
    """
    own = verification.own
    return own[
        (own["unit"] != SECONDS) & (own["same_as"] == "") & (own["settings"] != OWN_SETTINGS)
    ]


def count_numbers(verification: Verification) -> list[Count]:
    """Return a `Count` for each class of numbers with a measured entry."""
    return _counts(list_numbers(verification), OF_NUMBERS)


def count_by_paper(entries: pd.DataFrame, by: Sequence[str]) -> list[tuple[str, Count]]:
    """Return the counts of each paper's entries per class."""
    pairs = [
        (str(paper), each)
        for paper, here in entries.groupby("paper", sort=False)
        for each in _counts(here, by)
    ]
    classes = [each.of for each in _counts(entries, by)]
    return sorted(pairs, key=lambda pair: classes.index(pair[1].of))


@dataclass(frozen=True)
class LeftOut:
    """Numbers of one class that were removed from a total by a rule made after results were known.

    Attributes
    ----------
    group : str
        Key of `CHANGING_COMMITS`.
    since : str
        Commit of this repository that introduced the rule.
    places : tuple of str
        Papers, or paper and data set.
    count : Count
        Verdicts by their intervals alone.
    """

    group: str
    since: str
    places: tuple[str, ...]
    count: Count


def list_left_out(verification: Verification) -> list[LeftOut]:
    """Return the groups of numbers that were removed after results were known, for each class."""
    return [
        LeftOut(
            group,
            since,
            tuple(here["place"].unique()),
            count(here, OF_NUMBERS),
        )
        for group, since, entries in _groups(verification)
        for _, here in entries.groupby(list(OF_NUMBERS), sort=False)
    ]


def count_with_left_out(verification: Verification) -> dict[tuple[str, ...], Count]:
    """Return the counts of `count_numbers` per class, with the removed numbers added."""
    gone = [entries for group, _, entries in _groups(verification) if group != MOVED]
    every = pd.concat([list_numbers(verification), *gone], ignore_index=True)
    return {each.of: each for each in _counts(every, OF_NUMBERS)}


def _groups(verification: Verification) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """Yield each group of `LeftOut`, its rule's commit, and its entries judged by intervals."""
    every = verification.numbers
    every = every[(every["unit"] != SECONDS) & (every["same_as"] == "") & (every["trials"] > 0)]
    every = every.assign(verdict=every["by_interval"], place=every["paper"])
    own = every[~every["stand_in"]]
    given = zip(every["paper"], every["dataset"], strict=True)
    changed = [committed.find_entry_order(str(paper), "data", str(name)) for paper, name in given]
    later = np.array([line is not None and line.order == "after" for line in changed], bool)
    replaced = every[later & every["stand_in"]]
    for (paper, dataset), here in replaced.groupby(["paper", "dataset"], sort=False):
        line = committed.find_entry_order(str(paper), "data", str(dataset))
        yield OTHER_DATA, line.form if line else "", here.assign(place=f"{paper} {dataset}")
    pairs = list(zip(own["paper"], own["protocol"], strict=True))
    yield TUNED_ALIKE, CHANGING_COMMITS[TUNED_ALIKE], own[own["settings"] == OWN_SETTINGS]
    before = [
        papers.find_paper(paper).provenance.formerly.get(protocol) for paper, protocol in pairs
    ]
    moved = own.assign(settings=pd.Series(before, own.index, dtype="object"))
    yield MOVED, CHANGING_COMMITS[MOVED], moved[moved["settings"].notna()]


def _counts(entries: pd.DataFrame, by: Sequence[str]) -> list[Count]:
    if entries.empty:
        return []
    every = [count(here, by) for _, here in entries.groupby(list(by), sort=False)]
    return [each for each in every if set(each.verdicts) - {verdicts.NOT_RUN}]


def count_published(chosen: Collection[str]) -> dict[str, dict[str, int]]:
    """Count the published numbers of the papers `chosen`, without times, by source and paper."""
    counted: dict[str, dict[str, int]] = {}
    for number in papers.list_published():
        if number.unit != SECONDS and not number.same_as and number.paper in chosen:
            source = papers.find_paper(number.paper).provenance.sources.get(number.item, "table")
            of_source = counted.setdefault(source, {})
            of_source[number.paper] = of_source.get(number.paper, 0) + 1
    return counted


def list_judged_claims(outcomes: Iterable[Outcome]) -> pd.DataFrame:
    """Return the entries of the judged claims, one per claim and protocol that was run."""
    lines = [
        (*outcome.claim.key, outcome.protocol, outcome.claim.whose,
         papers.find_claim_order(outcome.claim),
         papers.find_settings_class(outcome.claim.paper, outcome.protocol), outcome.label)
        for outcome in outcomes
        if outcome.claim.judged and outcome.protocol
        if outcome.verdict not in (verdicts.SHOWN, verdicts.NOT_JUDGED)
    ]  # fmt: skip
    return pd.DataFrame(lines, columns=["paper", "id", "protocol", *OF_CLAIMS, "verdict"])


def count_claims(outcomes: Iterable[Outcome]) -> list[Count]:
    """Return a `Count` per class of judged claims."""
    return _counts(list_judged_claims(outcomes), OF_CLAIMS)


def holds(outcome: Outcome) -> bool:
    """Return True if a claim counts as holding.

    The claim has to be the paper's, and it has to hold under settings that were not tuned to match
    the numbers, over all settings that the paper leaves open (`Outcome.unvaried`). The numbers that
    the claim compares must not differ from the paper's (`Outcome.differing`).
    `rfbench.papers.find_claim_order` returns the order of the claim's form and its rows.
    """
    claim, settings = (
        outcome.claim,
        papers.find_settings_class(outcome.claim.paper, outcome.protocol),
    )
    untuned = settings not in (*TUNED_TO_MATCH, OWN_SETTINGS)
    own = claim.judged and claim.whose == "paper" and untuned
    return (
        own and outcome.label in (verdicts.HOLDS, verdicts.HOLDS_TESTED) and not outcome.differing
    )


def list_holding_claims(outcomes: Iterable[Outcome]) -> dict[str, list[Outcome]]:
    """Return the claims that hold, grouped by the order of form and rows, early forms first."""
    found = [outcome for outcome in outcomes if holds(outcome)]
    orders = {outcome.claim.key: papers.find_claim_order(outcome.claim) for outcome in found}
    wanted = [order for order in committed.ORDERS if order in orders.values()]
    return {order: [o for o in found if orders[o.claim.key] == order] for order in wanted}


def count_by_table(verification: Verification) -> pd.DataFrame:
    """Count the numbers by verdict, without times, per table, data set and protocol.

    Returns
    -------
    DataFrame
        Index paper, item, dataset, protocol. A column for each of `verdicts.COMPARED`;
        ``numbers``, ``compared``, and the compared ones that are ``decidable`` or ``at_chance``;
        ``distance`` (mean absolute difference in points, NaN without any) and ``away`` (the same
        for numbers without a unit, in percent of the published ones); ``shown``, the number of
        measured entries that are not judged; ``stand_in``, the number of entries measured on
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


def list_added_trials(collection: frame.Collection) -> list[dict[str, Any]]:
    """Return the means of trials that were added after a look, a line per paper, method and size.

    A line has ``paper``, ``experiment``, ``method`` and ``M``. ``counted`` and ``added`` are
    numbers of trials. ``mean`` and ``mean_added`` are means of the error in percent, or of the
    spectral kernel error if there is no error.
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


def collect_totals(verification: Verification) -> dict[str, Any]:
    """Return all totals, ready for JSON."""

    def lines(counts: Iterable[Count], names: Sequence[str]) -> list[dict[str, Any]]:
        return [
            {**dict(zip(names, each.of, strict=True)), "protocols": each.protocols, **each.verdicts}
            | ({"decidable": each.decidable, "unspread": each.unspread} if each.decidable else {})
            for each in counts
        ]

    every = verification.outcomes
    return {
        "published": count_published(set(verification.numbers["paper"])),
        "numbers": lines(count_numbers(verification), OF_NUMBERS),
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
            for each in list_left_out(verification)
        ],
        "added": list_added_trials(verification.selection.collection),
        "holding": {
            "/".join(o.claim.key): [o.protocol, o.label, order]
            for order, those in list_holding_claims(every).items()
            for o in those
        },
    }


def as_json(verification: Verification) -> str:
    """Return `collect_totals` as JSON text."""
    return json.dumps(to_json_value(collect_totals(verification)), indent=1) + "\n"
