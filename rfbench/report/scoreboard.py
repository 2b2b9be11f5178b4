"""The scoreboard as text, Markdown and CSV."""

from __future__ import annotations

import math
import shutil
from collections.abc import Sequence

import pandas as pd

from rfbench import papers
from rfbench.errors import ResultsError, nearest
from rfbench.papers import PROTOCOLS, Published
from rfbench.report import rules
from rfbench.report.claims import Outcome
from rfbench.report.formats import Grid, Section, markdown, text
from rfbench.report.summary import DASH
from rfbench.report.verify import Board, Cell

FORMATS = ("text", "markdown", "csv")
HEAD = ["published", "measured", "trials"]
CLAIM_COLUMNS = (
    "id", "paper", "where", "claim", "protocol", "verdict", "effect", "p_value", "effect_of",
    "comparisons", "held", "trials", "note",
)  # fmt: skip


def render(
    board: Board, format: str = "text", *, claims_only: bool = False, width: int | None = None
) -> str:
    """Write the scoreboard.

    Parameters
    ----------
    board : Board
        See `rfbench.report.verify.board`.
    format : {'text', 'markdown', 'csv'}
        ``'csv'`` has one kind of row: the published numbers, or the claims with `claims_only`.
    claims_only : bool
        Leave out the numbers.
    width : int, optional
        Width of ``'text'`` in characters; by default the terminal's.

    Raises
    ------
    ResultsError
        If the format is not a known one.
    """
    if format not in FORMATS:
        raise ResultsError(
            f"There is no format '{format}' for the scoreboard.",
            f"Known are {', '.join(FORMATS)}.",
            f"Name one of them.{nearest(format, list(FORMATS))}",
        )
    if format == "csv":
        table = _claims_table(board.outcomes) if claims_only else board.table()
        return str(table.to_csv(index=False, float_format="%.10g", lineterminator="\n"))
    sections = [] if claims_only else [_summary(board), *_numbers(board), *_stand_ins(board)]
    sections.append(_claims(board.outcomes))
    write = {"text": text, "markdown": markdown}[format]
    title = "Claims of the papers" if claims_only else "Published numbers beside ours"
    return write(title, sections, _notes(board), width or shutil.get_terminal_size().columns)


def _summary(board: Board) -> Section:
    """Count the verdicts of each item and protocol that was run, times apart."""
    judged = [cell for cell in board.cells if cell.number.unit == "%"]
    counts: dict[str, dict[str, int]] = {}
    ran = {(c.number.paper, c.number.item, c.protocol) for c in judged if c.trials}
    items = {(c.number.paper, c.number.item) for c in judged}
    idle = items - {(paper, item) for paper, item, _ in ran}
    for cell in judged:
        place = (cell.number.paper, cell.number.item)
        if (*place, cell.protocol) in ran:
            name = " ".join([*place, cell.protocol])
        elif place in idle and cell.protocol == PROTOCOLS[0]:
            name = " ".join(place)
        else:
            continue
        counts.setdefault(name, {})
        counts[name][cell.verdict] = counts[name].get(cell.verdict, 0) + 1
    shown = [v for v in rules.CELL_VERDICTS if v != rules.NOT_JUDGED]
    rows = [(name, [str(found.get(v, 0)) for v in shown]) for name, found in counts.items()]
    heading = ["Verdicts on the numbers in percent, by protocol (rules: `rfbench verify --help`)"]
    return Section(heading, [Grid("", shown, rows)] if rows else [])


def _numbers(board: Board) -> list[Section]:
    groups: dict[tuple[str, str, str], list[Cell]] = {}
    for cell in board.cells:
        number = cell.number
        groups.setdefault((number.paper, number.item, number.dataset), []).append(cell)
    return [_group(" ".join(key[:2]), key[2], cells) for key, cells in groups.items()]


def _group(item: str, dataset: str, cells: Sequence[Cell]) -> Section:
    """Lay out one data set of one table: a grid a protocol that was run."""
    by_protocol: dict[str, list[Cell]] = {}
    for cell in cells:
        by_protocol.setdefault(cell.protocol, []).append(cell)
    ran = {p: found for p, found in by_protocol.items() if any(c.trials or c.note for c in found)}
    name = papers.sources()[cells[0].number.paper][dataset].dataset
    heading = [f"{item}, {dataset}" + (f" (here {name})" if name != dataset.lower() else "")]
    kinds = {c.number.spread_kind: c.number.spread_kind for c in cells if c.number.spread_kind}
    spreads = {"sd": "standard deviations", "se": "standard errors"}
    heading += [f"published with {spreads[kind]}, measured with standard errors" for kind in kinds]
    if not ran:
        shown = next(iter(by_protocol.values()))
        rows = [(_name(c.number, ""), [published(c.number), c.verdict]) for c in shown]
        return Section(heading, [Grid("no protocol", ["published", "verdict"], rows)])
    if idle := [protocol for protocol in by_protocol if protocol not in ran]:
        heading.append(f"not run: {', '.join(idle)}")
    heading += list(dict.fromkeys(f"{c.protocol}: {c.note}" for c in cells if c.note))
    return Section(heading, [grid for p, found in ran.items() for grid in _grids(p, found)])


def _grids(protocol: str, cells: Sequence[Cell]) -> list[Grid]:
    """Lay out one protocol: the numbers in percent with their verdicts, then the times."""
    grids = []
    for unit, head in (("%", [*HEAD, "difference", "verdict"]), ("s", HEAD)):
        here = [cell for cell in cells if cell.number.unit == unit]
        metrics = list(dict.fromkeys(cell.number.metric for cell in here))
        only = metrics[0] if len(metrics) == 1 else ""
        corner = f"{protocol}, {only or ('%' if unit == '%' else 'seconds')}"
        rows = [(_name(c.number, only), _cells(c)[: len(head)]) for c in here]
        grids += [Grid(corner, head, rows)] if rows else []
    return grids


def _cells(cell: Cell) -> list[str]:
    """Return the texts of a cell under `HEAD`, difference and verdict."""
    if not cell.trials:
        return [published(cell.number), "", "", "", cell.verdict]
    said = [published(cell.number), measured(cell), str(cell.trials)]
    return [*said, f"{cell.difference:+.2f}", cell.verdict]


def measured(cell: Cell) -> str:
    """Write the mean of our trials ± its standard error."""
    digits = 2 if cell.number.unit == "%" else 3
    error = DASH if math.isnan(cell.standard_error) else f"{cell.standard_error:.{digits}f}"
    return f"{cell.measured:.{digits}f} ± {error}"


def _name(number: Published, metric: str) -> str:
    """Name the method, its size, and the metric where it is not that of the whole grid."""
    return " ".join(filter(None, [number.method, number.M, "" if metric else number.metric]))


def published(number: Published) -> str:
    """Write a published number ± its spread as printed."""
    if number.spread is None:
        return f"{number.value:g}"
    return f"{number.value:.2f} ± {number.spread:g}"


def _stand_ins(board: Board) -> list[Section]:
    """List what was measured on stand-ins, apart from the paper's data sets and not judged."""
    groups: dict[tuple[str, ...], list[Cell]] = {}
    for cell in board.stand_ins:
        number = cell.number
        key = (number.paper, number.item, number.dataset, cell.dataset, cell.protocol)
        groups.setdefault(key, []).append(cell)
    sections = []
    for (paper, item, dataset, used, protocol), cells in groups.items():
        heading = [
            f"{paper} {item}, {dataset}, {protocol}: STAND-IN {used}, not the paper's data, not "
            "judged"
        ]
        rows = [(_name(c.number, ""), _cells(c)[: len(HEAD)]) for c in cells]
        sections.append(Section(heading, [Grid("", HEAD, rows)]))
    return sections


def _claims(outcomes: Sequence[Outcome]) -> Section:
    """Write a line a claim and protocol, the claim itself in the first of them."""
    lines: list[str] = []
    told: set[str] = set()
    for outcome in outcomes:
        claim = outcome.claim
        protocol = f" ({outcome.protocol})" if outcome.protocol else ""
        said = [] if claim.id in told else [f"{claim.paper}, {claim.where}: {claim.claim}"]
        told.add(claim.id)
        details = _details(outcome)
        said += [f"{details}."] if details else []
        lines.append(f"{claim.id} {outcome.verdict.upper()}{protocol}: {' '.join(said)}")
    return Section(["Claims, each with its least favourable comparison", *lines], [])


def _details(outcome: Outcome) -> str:
    said = []
    if outcome.comparisons:
        p = "" if math.isnan(outcome.p) else f", corrected p = {outcome.p:.2g}"
        said.append(f"Effect {outcome.effect:.3g}{p}, of {outcome.effect_of}")
        said.append(f"{outcome.held} of {outcome.comparisons} comparisons hold")
        said.append(f"at least {outcome.trials} trials")
    if outcome.note:
        said.append(shortened(outcome.note))
    return "; ".join(said)


def shortened(note: str, most: int = 6) -> str:
    """Keep the first parts of a note, and say how many are left out."""
    parts = note.split("; ")
    if len(parts) <= most:
        return note
    return "; ".join([*parts[:most], f"and {len(parts) - most} more such gaps"])


def _claims_table(outcomes: Sequence[Outcome]) -> pd.DataFrame:
    rows = [
        (
            o.claim.id, o.claim.paper, o.claim.where, o.claim.claim, o.protocol, o.verdict,
            o.effect, o.p, o.effect_of, o.comparisons, o.held, o.trials, o.note,
        )
        for o in outcomes
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=list(CLAIM_COLUMNS))


def _notes(board: Board) -> list[str]:
    shown = {cell.number.paper for cell in board.cells}
    doubts = [
        f"A doubt about {doubt.paper}, {doubt.item}: {doubt.text}"
        for doubt in papers.doubts()
        if doubt.paper in shown
    ]
    return [*board.notes, *doubts]
