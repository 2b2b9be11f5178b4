"""The front page: what was tested, what came out, where to look, how to repeat it."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from rfbench import papers
from rfbench.analysis import verdicts
from rfbench.analysis.audits import audits
from rfbench.analysis.checks import Check, checks
from rfbench.analysis.faults import wall_over_cpu
from rfbench.analysis.frame import Collection
from rfbench.analysis.gains import gains
from rfbench.analysis.verification import Verification
from rfbench.pages.grids import Grid
from rfbench.pages.scoreboard import anchor, counts, left_out, numbers_grid
from rfbench.pages.templates import render
from rfbench.pages.words import DASH, number, seconds, signed, span
from rfbench.results import Results

MEASURED_TIMES = ["t_pp", "t_features", "t_train", "t_test"]
DECIDED = (verdicts.HOLDS, verdicts.FAILS, verdicts.INCONCLUSIVE)


@dataclass(frozen=True)
class FirstScreen:
    """What the first screen says.

    Attributes
    ----------
    numbers, compared : int
        Percentages that the papers print; those compared under any protocol.
    claims, ours, tested : int
        All claims; those of them that are not the papers'; those with a verdict.
    protocols : DataFrame
        One line per protocol: ``compared``, a column per verdict on a number, then one per
        verdict on a claim.
    """

    numbers: int
    compared: int
    claims: int
    ours: int
    tested: int
    protocols: pd.DataFrame


def summary(found: Verification) -> FirstScreen:
    """Count numbers and claims by verdict."""
    table = counts(found)
    own = found.own[found.own["unit"] == "%"]
    names = ["compared", *verdicts.COMPARED]
    numbers = table.groupby("protocol", sort=False)[names].sum()
    ids = {outcome.claim.id for outcome in found.outcomes}
    every = [(one.protocol, one.verdict) for one in found.outcomes if one.protocol]
    seen = pd.DataFrame(every, columns=["protocol", "verdict"])
    claims = pd.crosstab(seen["protocol"], seen["verdict"]).reindex(columns=DECIDED, fill_value=0)
    both = numbers.join(claims, how="outer").fillna(0).astype(int)
    order = [*numbers.index, *sorted(set(both.index) - set(numbers.index))]
    both = both.loc[order].assign(**{verdicts.NOT_RUN: 0})
    both[verdicts.NOT_RUN] = len(ids) - both[list(DECIDED)].sum(axis=1)
    added = {name for paper in papers.papers() for name in papers.paper(paper).added.claims}
    return FirstScreen(
        own["number"].nunique(),
        own.loc[own["verdict"].isin(verdicts.COMPARED), "number"].nunique(),
        len(ids),
        len(ids & added),
        len({one.claim.id for one in found.outcomes if one.verdict in DECIDED}),
        both,
    )


def _protocols(found: FirstScreen) -> Grid:
    numbers, claims = ["numbers compared", *verdicts.COMPARED], [*DECIDED, verdicts.NOT_RUN]
    rows = [[str(name), *map(str, line)] for name, *line in found.protocols.itertuples()]
    return Grid(["protocol", *numbers, f"claims: {claims[0]}", *claims[1:]], rows)


def claims_grid(found: Verification) -> Grid:
    """Lay out the verdict on each claim, a column per protocol."""
    protocols = list(dict.fromkeys([*papers.PROTOCOLS, *(o.protocol for o in found.outcomes)]))
    protocols = list(filter(None, protocols))
    seen = {(one.claim.id, one.protocol): one.verdict for one in found.outcomes}
    order = papers.papers()
    claims = {one.claim.id: one.claim for one in found.outcomes}
    rows = [
        [
            f"[{claim.id}](claims.md#{anchor(claim.id)}) {claim.claim}",
            *(seen.get((claim.id, one), DASH).replace(verdicts.NOT_RUN, DASH) for one in protocols),
        ]
        for claim in sorted(claims.values(), key=lambda claim: order.index(claim.paper))
    ]
    return Grid(["claim", *protocols], rows)


def gains_grid(found: Verification) -> Grid:
    """Lay out what the papers' methods gain, a line per pair and data set."""
    table = gains(found.selection)
    by = ["paper", "item", "dataset", "method", "other", "used"]
    rows = []
    for key, lines in table.groupby(by, sort=False):
        paper, item, dataset, method, other, used = map(str, key)
        one = lines.iloc[0]
        cells = {line["protocol"]: _gain(line) for line in lines.to_dict("records")}
        rows.append(
            [
                f"{paper} {item}, {dataset}" + (f" (stand-in {used})" if used else ""),
                f"{method} over {other}",
                span(one["sizes"][0], one["sizes"][-1]),
                signed(one["published"]),
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
    lines = {}
    for paper in [*papers.papers(), ""]:
        every = [
            one for one in collection.experiments if str(one.config.get("paper") or "") == paper
        ]
        if every:
            rows = collection.rows[collection.rows["paper"] == paper]
            lines[paper] = [
                len(every),
                len(rows),
                int((rows["status"] != "ok").sum()),
                float(rows[MEASURED_TIMES].sum().sum()),
                wall_over_cpu(rows),
            ]
    names = ["folders", "rows", "failed", "seconds", "wall_over_cpu"]
    return pd.DataFrame.from_dict(lines, orient="index", columns=names)


def _effort(table: pd.DataFrame) -> Grid:
    rows = [
        [
            str(paper) or "own",
            *(str(line[name]) for name in ("folders", "rows", "failed")),
            seconds(line["seconds"]),
            number(line["wall_over_cpu"], 2),
        ]
        for paper, line in table.to_dict("index").items()
    ]
    head = ["paper", "folders", "rows", "did not end well", "measured time", "wall / CPU"]
    return Grid(head, rows)


def unfinished(results: Results) -> int:
    """Count the planned trials without a row; 0 where the plan is not known."""
    planned = results.manifest.get("trials")
    return len(set(planned) - set(results.rows["trial_id"])) if isinstance(planned, list) else 0


def machine(results: Results) -> str:
    """Name processor, memory, system and versions as the manifest says; empty if it does not."""
    about, versions = results.manifest.get("machine"), results.manifest.get("versions")
    if not isinstance(about, dict) or not isinstance(versions, dict):
        return ""
    blas = sorted({f"{b.get('library')} {b.get('version')}" for b in about.get("blas") or []})
    known = [
        f"{name} {versions[name]}" for name in ("python", "numpy", "scipy") if name in versions
    ]
    hardware = f"{about.get('cpu')}, {about.get('cores')} cores, {about.get('memory_gib')} GiB"
    return ", ".join([hardware, str(about.get("system")), *known, *blas])


def statements(every: Sequence[Results]) -> list[tuple[Results, Check]]:
    """Return the checks of every configuration that bears on a paper."""
    return [
        (one, check) for one in every if one.config.get("paper") and not one.smoke
        for check in checks(one)
    ]  # fmt: skip


def page(
    found: Verification,
    paths: Sequence[Path],
    out: Path,
    tables: Mapping[str, Path],
) -> str:
    """Write ``README.md`` for a folder.

    Parameters
    ----------
    paths : sequence of Path
        Where the results were looked for.
    tables : mapping
        From the name of each table in its paper's own shape to its file.
    """
    collection = found.selection.collection
    every = collection.experiments
    counted = summary(found)
    spent = effort(collection)
    return render(
        "front.md.j2",
        out=out,
        published=(out / "published").is_dir() and out.name == "results",
        summary=counted,
        protocols=_protocols(counted),
        papers=[papers.paper(name) for name in papers.papers()],
        rules=verdicts,
        tables=tables,
        numbers=numbers_grid(found, linked=True),
        claims=claims_grid(found),
        gains=gains_grid(found),
        gains_notes=[one.gains_note for one in papers.tables().values() if one.gains_note],
        statements=statements(every),
        audits=audits(paths),
        commands=[Path(os.path.relpath(path)).as_posix() for path in [*paths, out]],
        effort=_effort(spent),
        total=spent[["folders", "rows", "seconds"]].sum(),
        machines=sorted(Counter(map(machine, every)).items()),
        unfinished=[one.name for one in every if unfinished(one)],
        left_out=left_out(collection),
    )
