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
    heading = [
        "Verdicts on the numbers in percent, by protocol; `rfbench verify --help` has the rules"
    ]
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
    if not ran:
        shown = by_protocol[PROTOCOLS[0]]
        rows = [(_name(c.number), [_published(c.number), c.verdict]) for c in shown]
        return Section(heading, [Grid("no protocol", ["published", "verdict"], rows)])
    if idle := [protocol for protocol in by_protocol if protocol not in ran]:
        heading.append(f"not run: {', '.join(idle)}")
    heading += list(dict.fromkeys(f"{c.protocol}: {c.note}" for c in cells if c.note))
    head = ["published", "measured", "trials", "difference", "verdict"]
    grids = [
        Grid(protocol, head, [(_name(c.number), _cells(c)) for c in found])
        for protocol, found in ran.items()
    ]
    return Section(heading, grids)


def _cells(cell: Cell) -> list[str]:
    if not cell.trials:
        return [_published(cell.number), "", "", "", cell.verdict]
    measured = _measured(cell)
    difference = f"{cell.difference:+.2f}" if cell.number.unit == "%" else ""
    return [_published(cell.number), measured, str(cell.trials), difference, cell.verdict]


def _measured(cell: Cell) -> str:
    digits = 2 if cell.number.unit == "%" else 3
    error = DASH if math.isnan(cell.standard_error) else f"{cell.standard_error:.{digits}f}"
    return f"{cell.measured:.{digits}f} ± {error}"


def _name(number: Published) -> str:
    size = f" {number.M}" if number.M else ""
    return f"{number.method}{size} {number.metric}"


def _published(number: Published) -> str:
    if number.spread is None:
        return f"{number.value:g}"
    return f"{number.value:.2f} ± {number.spread:g} {number.spread_kind}"


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
        rows = [
            (_name(c.number), [_published(c.number), _measured(c), str(c.trials)]) for c in cells
        ]
        sections.append(Section(heading, [Grid("", ["published", used, "trials"], rows)]))
    return sections


def _claims(outcomes: Sequence[Outcome]) -> Section:
    """Write each claim with its verdicts, one line a protocol."""
    lines = ["Claims"] if outcomes else []
    for outcome in outcomes:
        claim = outcome.claim
        head = f"{claim.id} ({claim.paper}, {claim.where}): {claim.claim}"
        if head not in lines:
            lines.append(head)
        lines.append(f"    {_verdict(outcome)}")
    return Section(lines, [])


def _verdict(outcome: Outcome) -> str:
    protocol = f"{outcome.protocol}: " if outcome.protocol else ""
    said = [f"{protocol}{outcome.verdict.upper()}"]
    if outcome.comparisons:
        p = "" if math.isnan(outcome.p) else f", corrected p = {outcome.p:.2g}"
        said.append(f"effect {outcome.effect:.3g}{p} ({outcome.effect_of})")
        said.append(f"{outcome.held} of {outcome.comparisons} comparisons hold")
        said.append(f"{outcome.trials} trials or more")
    if outcome.note:
        said.append(_shortened(outcome.note))
    return "; ".join(said)


def _shortened(note: str, most: int = 6) -> str:
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
