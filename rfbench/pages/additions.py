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
        Protocol after whose column it is inserted.
    explanation : str
        A sentence for the page of a paper.
    cells : callable
        Function of the lines of a data set (see `rfbench.analysis.published`). It returns texts by
        the position of the number in `rfbench.papers.list_published`.
    remark : callable
        Function of the same lines. It returns a template and its fact `remark`, for a sentence
        above the tables, or None.
    """

    name: str
    after: str
    explanation: str
    cells: Callable[[Sequence[Line]], Mapping[int, str]]
    remark: Callable[[Sequence[Line]], tuple[str, Any] | None]
