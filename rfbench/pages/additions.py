"""Additions of slices to the pages of `rfbench report`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rfbench.analysis.published import Line
from rfbench.pages.findings import Statement


@dataclass(frozen=True)
class Addition:
    """Addition of a slice to a folder of pages.

    Attributes
    ----------
    files : dict
        Content by file name; None for a file that is removed if it exists.
    findings : sequence of Statement
        Findings for the front page, before the papers' findings or after the one that they follow.
    look : sequence of str
        Markdown lines of the front page with links.
    """

    files: Mapping[str, str | bytes | None] = field(default_factory=dict)
    findings: Sequence[Statement] = ()
    look: Sequence[str] = ()


@dataclass(frozen=True)
class AddedColumn:
    """Column that a slice adds to the tables of published numbers.

    Attributes
    ----------
    name : str
        Head of the column.
    after : str
        The protocol to the right of whose column it is.
    cells : callable
        Function of the lines of a data set (see `rfbench.analysis.published`). It returns texts by
        the position of the number in `rfbench.papers.list_published`.
    remark : callable
        Of the same lines: a template and its fact `remark`, for a sentence above the tables; or
        None.
    values : dict
        By the name of a column of the CSV file of a paper: values by the place of the number.
    """

    name: str
    after: str
    cells: Callable[[Sequence[Line]], Mapping[int, str]]
    remark: Callable[[Sequence[Line]], tuple[str, Any] | None]
    values: Mapping[str, Mapping[int, float]] = field(default_factory=dict)
