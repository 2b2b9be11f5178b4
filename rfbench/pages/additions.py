"""Content that optional components of rfbench add to the pages of `rfbench report`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rfbench.analysis.published import Line
from rfbench.pages.findings import Statement


@dataclass(frozen=True)
class Addition:
    """Files and lines that an optional component adds to the pages of `rfbench report`.

    Attributes
    ----------
    files : dict
        Maps a file name to the content of the file; None for a file that is removed if it exists.
    findings : sequence of Statement
        Findings for the front page. The attribute `Statement.follows` determines their order.
    look : sequence of str
        Markdown lines with links for the front page.
    """

    files: Mapping[str, str | bytes | None] = field(default_factory=dict)
    findings: Sequence[Statement] = ()
    look: Sequence[str] = ()


@dataclass(frozen=True)
class AddedColumn:
    """Column that an optional component adds to the tables of published numbers.

    Attributes
    ----------
    name : str
        Heading of the column.
    after : str
        Heading of the column to the left of the added column. The heading is the name of a
        protocol, the source of a run's settings.
    cells : callable
        Function that accepts the published numbers of a data set, as lines of
        `rfbench.analysis.published`. The function returns a dictionary that maps the position of
        a number in `rfbench.papers.list_published_numbers` to the text in the added column.
    remark : callable
        Function that accepts the same lines and returns a remark above the tables: the name of a
        template and the value of the template's variable `remark`. The function returns None if
        there is no remark.
    values : dict
        Columns for the CSV file of a paper. Maps the name of a column to a dictionary from the
        position of a number to its value.
    """

    name: str
    after: str
    cells: Callable[[Sequence[Line]], Mapping[int, str]]
    remark: Callable[[Sequence[Line]], tuple[str, Any] | None]
    values: Mapping[str, Mapping[int, float]] = field(default_factory=dict)
