"""`verdicts.json`: every published number and every claim with its verdict, for machines."""

from __future__ import annotations

import json
import math
import re
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from rfbench import papers, shipped
from rfbench.analysis.outcomes import Outcome
from rfbench.analysis.verification import Verification
from rfbench.pages import claims
from rfbench.pages.templates import lines

FILE, SCHEMA_FILE = "verdicts.json", "verdicts.schema.json"


class _Fact(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class NumberVerdict(_Fact):
    """A published number under one protocol, beside what was measured for it."""

    paper: str
    item: str = Field(description="table or figure of the paper")
    dataset: str = Field(description="as the paper names it")
    method: str
    M: str = Field(description="features: a number, 'best' over all sizes, or not stated")
    metric: str
    unit: str = Field(description="of published, spread, measured, difference: %, s or 1 (none)")
    protocol: str
    published: float
    published_spread: float | None
    spread_kind: str = Field(description="of published_spread: sd, se or unknown")
    note: str = Field(description="what the paper says of the number")
    page: int | None = Field(description="of the paper, from its first; where it is known")
    row: str = Field(description="of the table, as printed")
    column: str = Field(description="of the table, as printed")
    cell: str = Field(description="what is printed there")
    checked: str = Field(description="what the cell was checked against: text, figure or no")
    disputed: str = Field(description="who contests the number, and why")
    measured: float | None = Field(description="mean over our trials")
    standard_error: float | None = Field(description="of measured")
    trials: int
    difference: float | None = Field(description="measured - published")
    half_width: float | None = Field(description="of the 90 % interval of the difference")
    verdict: str
    same_as: str = Field(description="the item that prints the same number, where it is judged")
    stand_in: str = Field(description="data set that stands in for the paper's; such is not judged")
    folder: str = Field(description="results behind it; empty where nothing was run")
    command: str = Field(description="what runs the trials behind it, where rfbench ships them")


class ClaimVerdict(_Fact):
    """A claim of a paper under one protocol."""

    id: str
    paper: str
    where: str = Field(description="place in the paper")
    claim: str
    source: str
    note: str
    strongest_answer: str = Field(description="the best that the authors could say")
    disputed: str = Field(description="who contests it, and why")
    kind: str = Field(description="judged, or shown: nothing that a test could settle")
    judged: bool = Field(description="whether the verdict counts: not of times, nor under tuned")
    protocol: str = Field(description="empty where nothing was run")
    verdict: str
    said: str = Field(description="the verdict with what limits it")
    least_favourable: str = Field(description="the comparison that decides")
    effect: str = Field(description="of that comparison: mean (90 % interval), unit")
    misses: str = Field(description="by how much that mean lies outside its bounds")
    depends_on: list[str] = Field(description="what the paper leaves open and it hangs on")
    p: float | None = Field(description="of that comparison")
    trials: int = Field(description="smallest number of pairs behind a comparison")
    inside: int = Field(description="comparisons significantly within their bounds")
    outside: int = Field(description="comparisons significantly outside")
    comparisons: int
    tested: int = Field(description="data sets on which all is there")
    datasets: int = Field(description="data sets of the claim")
    settled_by: float | None = Field(description="trials that would settle it, if a number does")
    remarks: list[str]
    commands: list[str]


class Verdicts(_Fact):
    """All of it."""

    numbers: list[NumberVerdict]
    claims: list[ClaimVerdict]


def gather(verification: Verification) -> Verdicts:
    """Collect what `rfbench.analysis.verification.verify` found."""
    experiments = verification.selection.collection.experiments
    commands = {results.path: command(results.name) for results in experiments}
    printed = papers.published()
    numbers = []
    for line in verification.numbers.to_dict("records"):
        number = printed[line["number"]]
        facts = {name: _known(line.get(name)) for name in NumberVerdict.model_fields}
        facts |= {
            "spread_kind": number.spread_kind,
            "note": number.note,
            "page": number.page,
            "stand_in": line["used"],
            "command": commands.get(line["folder"], ""),
        }
        numbers.append(NumberVerdict(**facts))
    every = [_claim(outcome, commands) for outcome in verification.outcomes]
    return Verdicts(numbers=numbers, claims=every)


def _claim(outcome: Outcome, commands: dict[str, str]) -> ClaimVerdict:
    compared, effect = claims.said(outcome)
    return ClaimVerdict(
        **{
            name: getattr(outcome.claim, name)
            for name in (
                "id",
                "paper",
                "where",
                "claim",
                "source",
                "note",
                "disputed",
                "kind",
                "strongest_answer",
            )
        },
        judged=outcome.claim.judged_under(outcome.protocol),
        misses=claims.misses(outcome),
        depends_on=list(outcome.depends_on),
        protocol=outcome.protocol,
        verdict=outcome.verdict,
        said=claims.verdict(outcome),
        least_favourable=compared,
        effect=effect,
        p=_known(outcome.p),
        trials=outcome.trials,
        inside=outcome.inside,
        outside=outcome.outside,
        comparisons=len(outcome.comparisons),
        tested=outcome.tested,
        datasets=outcome.wanted,
        settled_by=_known(outcome.settled_by),
        remarks=lines("claim.j2", "remarks", one=outcome),
        commands=list(dict.fromkeys(filter(None, (commands.get(f) for f in outcome.folders)))),
    )


def _known(value: Any) -> Any:
    """Return a value; None for a float that JSON cannot write."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def command(experiment: str) -> str:
    """Return the command that runs an experiment of a configuration that rfbench ships, or ''."""
    for path in shipped.every():
        if experiment == path.stem:
            return f"rfbench run {path.stem}"
        stem, run = path.stem, experiment.removeprefix(f"{path.stem}_")
        if run != experiment:
            text = path.read_text(encoding="utf-8")
            if all(re.search(rf"(?<![\w.-]){re.escape(part)}:", text) for part in run.split(".")):
                return f"rfbench run {stem} --run {run}"
    return ""


def files(verdicts: Verdicts) -> dict[str, str]:
    """Return the two files by name: the verdicts, and the schema that says what each field is."""
    return {
        FILE: verdicts.model_dump_json(indent=1) + "\n",
        SCHEMA_FILE: json.dumps(Verdicts.model_json_schema(), indent=1) + "\n",
    }
