"""How many published numbers and claims came out: the facts of every first screen."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from rfbench import papers
from rfbench.analysis import verdicts
from rfbench.analysis.verification import Verification
from rfbench.papers.models import PLAIN, SECONDS, TUNED

TABLE = ["paper", "item", "dataset"]
APART = (verdicts.TOO_NOISY, verdicts.AT_CHANCE, verdicts.DISPUTED)
COUNTED = [*verdicts.COMPARED, *APART]


@dataclass(frozen=True)
class Totals:
    """How many numbers and claims came out; times are in none."""

    numbers: int  # that the papers print, without times; under `TUNED` none is judged
    compared: int  # of these, under any protocol
    claims: int  # that are judged
    ours: int  # of these, not the papers'
    tested: int  # of these, with a verdict
    shown: int  # claims that are only shown
    by_number: pd.DataFrame  # a line per protocol: compared, and a column per verdict
    by_claim: pd.DataFrame  # a line per protocol, a column per verdict; disputed where any is

    def came_out(self, protocol: str) -> dict[str, int]:
        """Return how many numbers are compared, come near (agree or are close), or do not."""
        n = self.by_number.astype(int).to_dict("index")[protocol]
        return {
            "compared": n["compared"],
            "near": n[verdicts.AGREES] + n[verdicts.CLOSE],
            "differ": n[verdicts.DIFFERS],
            "chance": n[verdicts.AT_CHANCE],
        }


def totals(verification: Verification) -> Totals:
    """Count numbers and claims by verdict, each number once."""
    no_times = verification.own["unit"] != SECONDS
    own = verification.own[no_times & (verification.own["same_as"] == "")]
    ids = {outcome.claim.key for outcome in verification.outcomes if outcome.claim.judged}
    judged_outcomes = [o for o in verification.outcomes if o.claim.judged]
    every = [(o.protocol, o.verdict) for o in judged_outcomes if o.protocol not in ("", TUNED)]
    seen = pd.DataFrame(every, columns=["protocol", "verdict"])
    by_number = counts(verification).groupby("protocol", sort=False)[["compared", *COUNTED]].sum()
    by_claim = pd.crosstab(seen["protocol"], seen["verdict"])
    order = [name for name in dict.fromkeys([*by_number.index, *sorted(by_claim.index)])
             if name != TUNED]  # fmt: skip
    judged = [*verdicts.JUDGED, verdicts.DISPUTED]
    by_claim = by_claim.reindex(order, columns=judged, fill_value=0)
    by_claim = by_claim.assign(**{verdicts.NOT_RUN: len(ids) - by_claim.sum(axis=1)})
    added = papers.added_claims()
    return Totals(
        own["number"].nunique(),
        own.loc[own["verdict"].isin(verdicts.COMPARED), "number"].nunique(),
        len(ids),
        len(ids & added),
        len({o.claim.key for o in judged_outcomes if o.verdict in verdicts.JUDGED}),
        len({outcome.claim.key for outcome in verification.outcomes} - ids),
        _without_disputed(by_number.reindex(order, fill_value=0)),
        _without_disputed(by_claim),
    )


def _without_disputed(counted: pd.DataFrame) -> pd.DataFrame:
    """Drop that column if nothing is disputed."""
    return counted if counted[verdicts.DISPUTED].any() else counted.drop(columns=verdicts.DISPUTED)


def counts(verification: Verification) -> pd.DataFrame:
    """Count the numbers by verdict, times apart, each once, by table, data set and protocol.

    Returns
    -------
    DataFrame
        Index paper, item, dataset, protocol. A column for each of `verdicts.COMPARED` and `APART`;
        ``numbers``, ``compared``, ``distance`` (the mean size of the differences of those in
        points, NaN without any) and ``away`` (the same of the numbers without a unit, in percent of
        the published ones); ``shown``, how many were measured and not judged;
        ``stand_in``, how many were measured on stand-ins instead.
    """
    judged = verification.numbers[verification.numbers["unit"] != SECONDS]
    key = [*TABLE, "protocol"]
    own, others = judged[~judged["stand_in"]], judged[judged["stand_in"]]
    by = [own[name] for name in key]
    counted = pd.DataFrame({v: own["verdict"] == v for v in (*verdicts.COMPARED, *APART)})
    compared = counted[list(verdicts.COMPARED)].any(axis=1)
    table = counted.assign(numbers=own["same_as"] == "", compared=compared)
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
