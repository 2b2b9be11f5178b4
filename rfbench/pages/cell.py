"""Output of `rfbench verify --cell`: one cell of a published table and our measurements."""

from __future__ import annotations

import math
import shutil
from collections.abc import Mapping, Sequence
from typing import Any

from rfbench import papers
from rfbench.analysis import verdict_counts, verdicts
from rfbench.analysis.published import Line
from rfbench.pages import scoreboard
from rfbench.pages.formatting import format_number, format_signed
from rfbench.pages.templates import render_template, wrap_line
from rfbench.papers.cells import format_item
from rfbench.papers.models import Published


def render_cell_result(
    numbers: Sequence[Published],
    runs: Sequence[Any],
    lines: Mapping[str, Sequence[Line]],
    left: Mapping[str, int],
    again: str,
) -> str:
    """Return a text that compares the numbers in a cell of a published table with our means.

    Parameters
    ----------
    numbers : sequence of Published
        Published numbers in the cell, one per metric.
    runs : sequence
        Our runs for the cell, one per protocol (source of a run's settings). Each run is an object
        with the attributes `protocol`, `problem` and `repeat`.
    lines : mapping
        Maps a protocol to the comparisons of the published numbers with our means, from
        `rfbench.analysis.published.compare_published_numbers`.
    left : mapping
        Maps a protocol to the number of trials that have not been run yet.
    again : str
        Command that prints this text again.

    Returns
    -------
    str
        Text for a terminal.
    """
    first = numbers[0]
    folder = papers.find_paper_files(first.paper)
    open_choices = papers.list_open_choices(first.paper, [first.item], first.dataset)
    text = render_template(
        "cell.txt.j2",
        first=first,
        item=format_item(first.item),
        numbers=[(each, _format(each)) for each in numbers],
        runs=runs,
        lines={name: [_gather(line) for line in here] for name, here in lines.items()},
        left=left,
        again=again,
        outside=folder.is_external,
        called=verdict_counts.CLASS_LABELS,
        settings={name: papers.find_settings_class(first.paper, name) for name in lines},
        contradicts=folder.paper.provenance.contradicts,
        readings=folder.paper.readings,
        gaps=[name for name in papers.list_unstated_settings(first.paper) if name in open_choices],
    )
    width = shutil.get_terminal_size().columns
    # Do not wrap lines that contain a command (indented by four spaces), so that users can copy the
    # command.
    lines_of_text = (
        each if each[:4] == 4 * " " else wrap_line(each, width) for each in text.splitlines()
    )
    return "\n".join(lines_of_text) + "\n"


def _format(entry: Published) -> str:
    spread = math.nan if entry.spread is None else entry.spread
    return scoreboard.format_published_number(entry.value, spread, entry.unit)


def _gather(line: Line) -> dict[str, Any]:
    """Return a copy of `line` with the measured mean and its 90 % interval as text.

    `line` compares one published number with our measurements.
    """
    from scipy.stats import t

    n, error = int(line["trials"]), line["standard_error"]
    half = t.ppf(1 - verdicts.ALPHA, n - 1) * error if n > 1 else math.nan
    decimals = scoreboard.UNIT_DECIMALS.get(line["unit"])
    ends = (line["measured"] - half, line["measured"] + half)
    low, high, width = (format_number(value, decimals) for value in (*ends, line["half_width"]))
    away = (line["difference"], decimals or 0)
    return {
        **line,
        "mean": format_number(line["measured"], decimals),
        "interval": "" if math.isnan(half) else f" (90 % interval {low} to {high})",
        "distance": f"{line['difference']:+.3g}" if decimals is None else format_signed(*away),
        "width": "" if math.isnan(line["half_width"]) else f" ± {width}",
    }
