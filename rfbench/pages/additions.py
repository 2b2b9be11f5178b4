"""What a slice adds to the pages of `rfbench report`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from rfbench.pages.findings import Statement


@dataclass(frozen=True)
class Addition:
    """What a slice adds to a folder of pages.

    Attributes
    ----------
    files : dict
        Contents by the names of files in the folder; None for one that is removed if it is there.
    findings : sequence of Statement
        On the front page, before those of the papers.
    look : sequence of str
        Markdown lines of the front page: where to look for what.
    """

    files: Mapping[str, str | bytes | None] = field(default_factory=dict)
    findings: Sequence[Statement] = ()
    look: Sequence[str] = ()
