"""The front page: what was tested, what came out, where to look, how to repeat it."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from markupsafe import Markup

from rfbench import papers
from rfbench.analysis import verdicts
from rfbench.analysis.audits import audits, confirmed
from rfbench.analysis.checks import Check, checks
from rfbench.analysis.faults import wall_over_cpu
from rfbench.analysis.frame import Collection
from rfbench.analysis.gains import gains
from rfbench.analysis.verification import Verification
from rfbench.escaping import in_markdown
from rfbench.pages.claims import verdict
from rfbench.pages.grids import Grid
from rfbench.pages.scoreboard import APART, anchor, counts, numbers_grid
from rfbench.pages.templates import render
from rfbench.pages.words import DASH, number, seconds, signed, span
from rfbench.papers.models import SECONDS, TUNED
from rfbench.results import Results
from rfbench.results.schema import TIMES

MEASURED_TIMES = ["t_pp", "t_features", "t_train", "t_test"]
COUNTED = [*verdicts.COMPARED, *APART]


@dataclass(frozen=True)
class FirstScreen:
    """What the first screen says."""

    numbers: int  # that the papers print, without times; under `TUNED` none is judged
    compared: int  # of these, under any protocol
    claims: int  # that are judged
    ours: int  # of these, not the papers'
    tested: int  # of these, with a verdict
    shown: int  # claims that are only shown
    by_number: pd.DataFrame  # a line per protocol: compared, and a column per verdict
    by_claim: pd.DataFrame  # a line per protocol, a column per verdict; disputed where any is


def summary(verification: Verification) -> FirstScreen:
    """Count numbers and claims by verdict, each number once."""
    judged_units = verification.own["unit"] != SECONDS
    own = verification.own[judged_units & (verification.own["same_as"] == "")]
    ids = {outcome.claim.key for outcome in verification.outcomes if outcome.claim.judged}
    judged_ones = [o for o in verification.outcomes if o.claim.judged]
    every = [(o.protocol, o.verdict) for o in judged_ones if o.protocol not in ("", TUNED)]
    seen = pd.DataFrame(every, columns=["protocol", "verdict"])
    by_number = counts(verification).groupby("protocol", sort=False)[["compared", *COUNTED]].sum()
    by_claim = pd.crosstab(seen["protocol"], seen["verdict"])
    order = [name for name in dict.fromkeys([*by_number.index, *sorted(by_claim.index)])
             if name != TUNED]  # fmt: skip
    judged = [*verdicts.JUDGED, verdicts.DISPUTED]
    by_claim = by_claim.reindex(order, columns=judged, fill_value=0)
    by_claim = by_claim.assign(**{verdicts.NOT_RUN: len(ids) - by_claim.sum(axis=1)})
    added = papers.added_claims()
    return FirstScreen(
        own["number"].nunique(),
        own.loc[own["verdict"].isin(verdicts.COMPARED), "number"].nunique(),
        len(ids),
        len(ids & added),
        len({o.claim.key for o in judged_ones if o.verdict in verdicts.JUDGED}),
        len({outcome.claim.key for outcome in verification.outcomes} - ids),
        _without_disputed(by_number.reindex(order, fill_value=0)),
        _without_disputed(by_claim),
    )


def _without_disputed(counted: pd.DataFrame) -> pd.DataFrame:
    """Drop that column if nothing is disputed."""
    return counted if counted[verdicts.DISPUTED].any() else counted.drop(columns=verdicts.DISPUTED)


def protocols_grid(screen: FirstScreen) -> Grid:
    """Lay out how many numbers and claims have each verdict, a line per protocol."""
    _, *numbers = screen.by_number
    first, *others = screen.by_claim
    head = [
        "protocol",
        "numbers compared",
        *map(str, numbers),
        f"claims: {first}",
        *map(str, others),
    ]
    rows = [
        [protocol, *map(str, [*screen.by_number.loc[protocol], *line])]
        for protocol, *line in screen.by_claim.itertuples()
    ]
    return Grid(head, rows)


def claims_grid(verification: Verification) -> Grid:
    """Lay out the verdict on each claim, a column per protocol."""
    protocols = [o.protocol for o in verification.outcomes if o.protocol]
    protocols = list(dict.fromkeys([*papers.PROTOCOLS, *protocols]))
    seen = {(o.claim.key, o.protocol): verdict(o) for o in verification.outcomes}
    order = papers.papers()
    claims = {outcome.claim.key: outcome.claim for outcome in verification.outcomes}
    rows = [
        [
            Markup(f"[{in_markdown(title)}](claims.md#{anchor(title)}) ")
            + in_markdown(claim.claim),
            *(
                seen.get((claim.key, name), DASH).replace(verdicts.NOT_RUN, DASH)
                for name in protocols
            ),
        ]
        for claim in sorted(claims.values(), key=lambda claim: order.index(claim.paper))
        for title in [papers.claim_name(claim)]
    ]
    return Grid(["claim", *protocols], rows)


def gains_grid(verification: Verification) -> Grid:
    """Lay out what the papers' methods gain, a line per pair and data set."""
    by = ["paper", "item", "dataset", "method", "other", "used"]
    rows = []
    for (paper, item, dataset, method, other, used), lines in gains(verification.selection).groupby(
        by, sort=False
    ):
        first = lines.iloc[0]
        cells = {line["protocol"]: _gain(line) for line in lines.to_dict("records")}
        rows.append(
            [
                f"{paper} {item}, {dataset}" + (f" (stand-in {used})" if used else ""),
                f"{method} over {other}",
                span(first["sizes"][0], first["sizes"][-1]),
                signed(first["published"]),
                *(cells.get(protocol, DASH) for protocol in papers.PROTOCOLS),
            ]
        )
    return Grid(["table, data set", "method", "M", "published", *papers.PROTOCOLS], rows)


def _gain(line: Mapping[Any, Any]) -> str:
    text = f"{signed(line['mean'])} ± {number(line['standard_error'], 2)}"
    return f"{text}, {line['doubt']}" if line["doubt"] else text


def effort(collection: Collection) -> pd.DataFrame:
    """Sum up what was run, a line per paper (``""`` for none).

    Returns
    -------
    DataFrame
        ``folders``, ``rows``, ``failed`` (that did not end well), ``seconds`` (measured: drawing,
        features, fit and test) and ``wall_over_cpu``.
    """
    needed = ["paper", "status", "threads", *TIMES]
    rows = collection.rows[needed] if len(collection.rows) else collection.rows
    folders = Counter(str(results.config.get("paper") or "") for results in collection.experiments)
    lines = {
        paper: [
            folders[paper],
            len(here),
            int((here["status"] != "ok").sum()),
            float(here[MEASURED_TIMES].sum().sum()),
            wall_over_cpu(here),
        ]
        for paper in [*papers.papers(), ""]
        if folders[paper]
        for here in [rows[rows["paper"] == paper]]
    }
    names = ["folders", "rows", "failed", "seconds", "wall_over_cpu"]
    return pd.DataFrame.from_dict(lines, orient="index", columns=names)


def _effort(table: pd.DataFrame) -> Grid:
    rows = [
        [paper or "own", *map(str, counted), seconds(measured), number(ratio, 2)]
        for paper, *counted, measured, ratio in table.itertuples(name=None)
    ]
    head = ["paper", "folders", "rows", "did not end well", "measured time", "wall / CPU"]
    return Grid(head, rows)


def _undecidable(verification: Verification) -> list[tuple[str, str, str]]:
    """Return data set, protocol and reason of numbers at chance, as the papers' folders say."""
    chance = verification.numbers[verification.numbers["verdict"] == verdicts.AT_CHANCE]
    at = set(chance[["paper", "dataset", "protocol"]].itertuples(index=False, name=None))
    return [
        (f"{paper}, {reason.dataset}", protocol, reason.reason)
        for paper in papers.papers()
        for reason in papers.paper(paper).undecidable
        for protocol in reason.protocols
        if (paper, reason.dataset, protocol) in at
    ]


def unfinished(results: Results) -> int:
    """Count the planned trials without a row; 0 where the plan is not known."""
    planned = results.manifest.get("trials")
    return len(set(planned) - set(results.rows["trial_id"])) if isinstance(planned, list) else 0


def hardware(results: Results) -> list[str]:
    """Name processor, cores, memory and system, as far as the manifest does."""
    texts = {"cpu": "{}", "cores": "{} cores", "memory_gib": "{} GiB", "system": "{}"}
    machine = results.machine
    return [text.format(machine[name]) for name, text in texts.items() if machine.get(name)]


def machine(results: Results) -> str:
    """Name the hardware and the versions as the manifest says; empty if it does not."""
    versions, libraries = results.manifest.get("versions"), results.machine.get("blas")
    if not results.machine or not isinstance(versions, dict):
        return ""
    known_ones = [b for b in libraries or [] if isinstance(b, dict)]
    blas = sorted({f"{b.get('library')} {b.get('version')}" for b in known_ones})
    recorded = [
        f"{name} {versions[name]}" for name in ("python", "numpy", "scipy") if name in versions
    ]
    return ", ".join([*hardware(results), *recorded, *blas])


def statements(every: Sequence[Results]) -> list[tuple[Results, Check]]:
    """Return the checks of every configuration that bears on a paper."""
    return [
        (results, check) for results in every if results.config.get("paper") and not results.smoke
        for check in checks(results)
    ]  # fmt: skip


def page(
    verification: Verification,
    paths: Sequence[Path],
    out: Path,
    tables: Mapping[str, Path],
    *,
    apart: bool = False,
) -> str:
    """Write ``README.md`` for a folder, from results below `paths`, with links to `tables`."""
    collection = verification.selection.collection
    every = collection.experiments
    counted = summary(verification)
    spent = effort(collection)
    return render(
        "front.md.j2",
        out=out,
        published=(out / "published").is_dir() and out.name == "results",
        apart=apart,
        summary=counted,
        protocols=protocols_grid(counted),
        papers=[papers.paper(name) for name in papers.papers()],
        printed={number.paper for number in papers.published()},
        answer=papers.answer,
        undecidable=_undecidable(verification),
        rules=verdicts,
        tables=tables,
        numbers=numbers_grid(verification, linked=True),
        claims=claims_grid(verification),
        gains=gains_grid(verification),
        gains_notes=[table.gains_note for table in papers.tables().values() if table.gains_note],
        statements=statements([collection.without_stale(results) for results in every]),
        audits=audits(verification.audited),
        confirmed=confirmed(verification.audited),
        commands=[Path(os.path.relpath(path)).as_posix() for path in [*paths, out]],
        effort=_effort(spent),
        total=spent[["folders", "rows", "seconds"]].sum(),
        machines=sorted(Counter(map(machine, every)).items()),
        unfinished=[results.name for results in every if unfinished(results)],
        collection=collection,
    )
