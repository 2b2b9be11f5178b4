"""The front page: which numbers and claims of the papers came out, under which protocol."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from rfbench import papers
from rfbench.papers import PROTOCOLS
from rfbench.report import rules, told_claims
from rfbench.report.evidence import Evidence
from rfbench.report.formats import MARKDOWN, Grid, markdown_table
from rfbench.report.provenance import link, links
from rfbench.report.summary import DASH, evaluate_checks, spread
from rfbench.report.verify import Board, Cell, pick, stand_in_name
from rfbench.results import Results

JUDGED = (rules.AGREES, rules.CLOSE, rules.DIFFERS)
WORDS = {
    rules.AGREES: "agree",
    rules.CLOSE: "close",
    rules.DIFFERS: "differ",
    rules.HOLDS: "hold",
    rules.FAILS: "fail",
    rules.INCONCLUSIVE: "inconclusive",
}
MEANING = {
    "printed": "what the paper says",
    "matched": "choices under which the paper's numbers come out or come nearer, of those tried",
    "tuned": "the fair comparison",
}


def in_short(found: Board, evidence: Evidence, out: Path) -> str:
    """Write the shortest honest summary: a line a protocol on numbers, one on claims."""
    judged = _judged(found.cells)
    numbers = list(dict.fromkeys(cell.number for cell in judged))
    compared = {cell.number for cell in judged if cell.verdict in JUDGED}
    claims = list(dict.fromkeys(outcome.claim.id for outcome in found.outcomes))
    decided = {o.claim.id for o in found.outcomes if o.verdict != rules.NOT_RUN}
    ours = sum(name in claims for paper in papers.papers() for name in _added(paper))
    lines = [
        f"{len(compared)} of the {len(numbers)} percentages that the papers print and "
        f"{len(decided)} of {len(claims)} claims ({len(claims) - ours} of the papers, {ours} of "
        "ours) were put to the test here, under at least one protocol. Every one of them: "
        f"{link(out / 'scoreboard.md', out)}.",
        "",
    ]
    for protocol in _protocols(found):
        here = [cell for cell in judged if cell.protocol == protocol and cell.verdict in JUDGED]
        meaning = f" ({MEANING[protocol]})" if protocol in MEANING else ""
        lines.append(f"- **{protocol}**{meaning}")
        said = f"  - Numbers: {len(here)} of {len(numbers)} compared"
        if here:
            count = ", ".join(f"{sum(c.verdict == v for c in here)} {WORDS[v]}" for v in JUDGED)
            worst = max(here, key=lambda cell: abs(cell.difference))
            number = worst.number
            where = f"{number.paper} {number.item}, {number.dataset}, {_at(worst)}"
            said += f": {count}. The largest difference: {_gap(worst)} points over "
            said += f"{worst.trials} trials ({where})"
        lines.append(f"{said}.")
        verdicts = {o.claim.id: o.verdict for o in found.outcomes if o.protocol == protocol}
        parts = []
        for verdict in (rules.HOLDS, rules.FAILS, rules.INCONCLUSIVE):
            ids = [name for name, seen in verdicts.items() if seen == verdict]
            parts.append(f"{len(ids)} {WORDS[verdict]}" + (f" ({', '.join(ids)})" if ids else ""))
        idle = sum(verdicts.get(name, rules.NOT_RUN) == rules.NOT_RUN for name in claims)
        lines.append(f"  - Claims: {', '.join(parts)}, {idle} not run.")
    return "\n".join([*lines, *_contrasts(found, evidence, out)])


def _added(paper: str) -> list[str]:
    return papers.paper(paper).added.claims


def _contrasts(found: Board, evidence: Evidence, out: Path) -> list[str]:
    """Say where the printed protocol and the one that was found are far apart."""
    sizes: dict[tuple[str, str, str], dict[str, list[float]]] = {}
    for cell in _judged(found.cells):
        number = cell.number
        if cell.verdict in JUDGED and cell.protocol in ("printed", "matched"):
            key = (number.paper, number.item, number.dataset)
            gaps = sizes.setdefault(key, {})
            gaps.setdefault(cell.protocol, []).append(abs(cell.difference))
    lines = []
    for (paper, item, dataset), gaps in sizes.items():
        if len(gaps) < 2 or len(gaps["printed"]) != len(gaps["matched"]):
            continue
        printed, found_out = (sum(gaps[p]) / len(gaps[p]) for p in ("printed", "matched"))
        if printed > rules.CLOSE_POINTS > found_out:
            arms = evidence.select(paper, [item], dataset, "matched")
            lines.append(
                f"  - {paper} {item}, {dataset}: {printed:.2f} points off as printed, "
                f"{found_out:.2f} as matched ({len(gaps['printed'])} numbers, mean size of the "
                f"differences; {links([arm.folder for arm in arms], out)})"
            )
    if not lines:
        return []
    return [
        "- **Does not come out as printed, comes within a point under other choices** (searched "
        "for with these numbers in sight; the configurations say among how many, and what is "
        "left to confirm them):",
        *lines,
    ]


def _gap(cell: Cell) -> str:
    """Write a difference with our standard error."""
    error = cell.standard_error
    return f"{cell.difference:+.2f} ± {DASH if math.isnan(error) else f'{error:.2f}'}"


def _at(cell: Cell) -> str:
    return " ".join(filter(None, [cell.number.method, cell.number.M]))


def reading() -> str:
    """Explain the words of the page; the rules are those of `rfbench.report.rules`."""
    return "\n".join(
        [
            "How to read it:",
            "",
            f"- A number *agrees* within {rules.AGREES_POINTS} points and within the 95 % interval "
            f"of the difference, is *close* within {rules.CLOSE_POINTS:g} point, and *differs* "
            "beyond. Published times are never judged: another machine.",
            f"- A claim *holds* if every comparison lies within its bounds, *fails* if one lies "
            f"outside, both significantly at {rules.ALPHA:.0%} after Holm's correction, and is "
            "*inconclusive* otherwise: not clear either way, too few trials, a data set missing. "
            "A claim on marks of significance has a rule of its own, that of the paper's test.",
            "- `matched` holds choices that were searched for because they come near the numbers; "
            "each configuration says how, and what is left to confirm them. Agreement there says "
            "that they suffice, not that the authors made them.",
            "- A number that differs under `tuned`, or a stand-in, contradicts nobody: it measures "
            "something else than the paper did.",
            "- All rules: `rfbench verify --help`.",
        ]
    )


def _protocols(found: Board) -> list[str]:
    extra = {cell.protocol for cell in found.cells} | {o.protocol for o in found.outcomes}
    return [*PROTOCOLS, *sorted(extra - {*PROTOCOLS, ""})]


def _judged(cells: Iterable[Cell]) -> list[Cell]:
    """Return the cells in percent; times are never judged."""
    return [cell for cell in cells if cell.number.unit == "%"]


def paper_section(
    paper: str,
    found: Board,
    evidence: Evidence,
    every: Sequence[Results],
    out: Path,
    tables: Mapping[str, Path],
) -> str:
    """Write the section of one paper: its numbers in a small table, then its claims.

    Parameters
    ----------
    tables : mapping
        From the name of each table in the paper's own shape to its file.
    """
    about = papers.paper(paper)
    blocks = [f"## {paper}", f"{about.citation}: {about.about}."]
    numbers = [cell for cell in _judged(found.cells) if cell.number.paper == paper]
    grid = _numbers(numbers, evidence, out)
    if grid.rows:
        blocks.append(markdown_table(grid))
    elif numbers:
        blocks.append("No printed number of this paper was compared.")
    else:
        blocks.append("This paper prints figures and no table: there is no number to compare.")
    if tables:
        named = ", ".join(link(path, out, name) for name, path in tables.items())
        blocks.append(f"In the shape of the paper's own tables: {named}.")
    blocks += [
        f"Its claims; each comparison behind a verdict, with its effect, p-value and rows: "
        f"{link(out / 'claims.md', out)}.",
        markdown_table(told_claims.verdicts(paper, found)),
    ]
    checks = [
        f"- {str(check).translate(MARKDOWN)} {link(results.folder, out)}"
        for results in every
        if results.config.get("paper") == paper and not results.smoke
        for check in evaluate_checks(results)
    ]
    if checks:
        blocks += ["Statements of the paper, held against every single row:", "\n".join(checks)]
    return "\n\n".join(blocks)


def _numbers(cells: Sequence[Cell], evidence: Evidence, out: Path) -> Grid:
    """Count the verdicts of each item and data set under each protocol that was run."""
    groups: dict[tuple[str, str, str], list[Cell]] = {}
    for cell in cells:
        key = (cell.number.item, cell.number.dataset, cell.protocol)
        groups.setdefault(key, []).append(cell)
    head = ["protocol", "compared", *("agree", "close", "differ")]
    head += ["largest difference ± our standard error", "mean size of the differences"]
    head += ["trials", "rows"]
    rows = []
    for (item, dataset, protocol), here in groups.items():
        seen = [cell for cell in here if cell.verdict in JUDGED]
        if not seen:
            continue
        worst = max(seen, key=lambda cell: abs(cell.difference))
        arms = evidence.select(worst.number.paper, [item], dataset, protocol)
        used = [arm.folder for c in seen if (arm := pick(arms, c.number)) is not None]
        texts = [
            protocol,
            f"{len(seen)} of {len(here)}",
            *(str(sum(cell.verdict == verdict for cell in seen)) for verdict in JUDGED),
            f"{_gap(worst)} ({_at(worst)})",
            f"{sum(abs(cell.difference) for cell in seen) / len(seen):.2f}",
            spread(min(c.trials for c in seen), max(c.trials for c in seen)),
            links(used, out),
        ]
        name = papers.sources()[worst.number.paper][dataset].dataset
        ours = f" (here {name})" if name != dataset.lower() else ""
        rows.append((f"{item}, {dataset}{ours}", texts))
    return Grid("item, data set", head, rows)


def stand_ins(found: Board, evidence: Evidence, out: Path) -> str:
    """List what was measured on subsets and replacements, which is never judged."""
    groups: dict[tuple[str, ...], list[Cell]] = {}
    for cell in found.stand_ins:
        number = cell.number
        key = (number.paper, number.item, number.dataset, cell.dataset, cell.protocol)
        groups.setdefault(key, []).append(cell)
    rows = []
    for (paper, item, dataset, used, protocol), cells in groups.items():
        arms = evidence.select(paper, [item], dataset, protocol, stand_in=True)
        here = [arm.folder for arm in arms if stand_in_name(arm) == used]
        trials = [cell.trials for cell in cells]
        said = [used, protocol, str(len(cells)), spread(min(trials), max(trials)), links(here, out)]
        rows.append((f"{paper} {item}, {dataset}", said))
    blocks = ["## Stand-ins, never judged"]
    if not rows:
        return "\n\n".join([*blocks, "No number was measured on a stand-in."])
    head = ["measured on", "protocol", "numbers measured", "trials", "rows"]
    return "\n\n".join(
        [
            *blocks,
            "A subset or a replacement is not the paper's data: its numbers stand beside the "
            f"printed ones in {link(out / 'scoreboard.md', out)}, without a verdict.",
            markdown_table(Grid("in place of", head, rows)),
        ]
    )


def not_run(found: Board) -> str:
    """Say which printed numbers have no measurement under which protocol, and why."""
    groups: dict[tuple[str, str, str], dict[str, list[Cell]]] = {}
    for cell in _judged(found.cells):
        key = (cell.number.paper, cell.number.item, cell.number.dataset)
        groups.setdefault(key, {}).setdefault(cell.protocol, []).append(cell)
    rows = []
    for (paper, item, dataset), protocols in groups.items():
        said = [_coverage(protocols.get(protocol, [])) for protocol in PROTOCOLS]
        if any(not text.endswith("all measured") for text in said):
            rows.append((f"{paper} {item}, {dataset}", said))
    decided = {o.claim.id for o in found.outcomes if o.verdict != rules.NOT_RUN}
    ids = dict.fromkeys(o.claim.id for o in found.outcomes if o.claim.id not in decided)
    blocks = ["## What was not run, and why"]
    if rows:
        blocks += [
            "The printed percentages. *Not run*: the data are here, or need no file, but there is "
            "no result. *No data*: there is no result, and the data set was not on the machine "
            "that wrote this page.",
            markdown_table(Grid("numbers of", list(PROTOCOLS), rows)),
        ]
    else:
        blocks.append("Every printed percentage was measured under every protocol.")
    if ids:
        blocks.append(
            "Claims without a result on the papers' own data under any protocol: "
            f"{', '.join(ids)}. What stand-ins alone would say is in the scoreboard."
        )
    return "\n\n".join(blocks)


def _coverage(cells: Sequence[Cell]) -> str:
    measured = sum(cell.trials > 0 for cell in cells)
    if measured == len(cells):
        return f"{measured}, all measured"
    why = dict.fromkeys(cell.note or cell.verdict for cell in cells if not cell.trials)
    return (f"{measured} of {len(cells)} measured; " if measured else "") + ", ".join(why)
