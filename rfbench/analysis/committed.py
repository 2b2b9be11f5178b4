"""Order in which claims, settings and result rows were committed to git.

The order is read from the file history.csv of each paper.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rfbench import papers
from rfbench.papers.models import Committed

# Text on pages for the order of two git commits. One commit introduced a claim or a setting, and
# the other commit introduced the first result rows that test this claim or setting.
COMMIT_ORDER_LABELS = {
    "before": "committed before the first rows",
    "same commit": "committed with the first rows",
    "after": "set or changed after the first rows",
    "unknown": "of unknown order",
    "no rows": "without rows",
}
ORDERS = tuple(COMMIT_ORDER_LABELS)


@dataclass(frozen=True)
class Settings:
    """Counts of settings that were committed to git before, with or after a paper's first rows.

    Attributes
    ----------
    protocol : str
        Source of the settings, such as the text of the paper.
    counts : dict
        Number of settings for each of `ORDERS`, such as ``before``. A setting is a pair of a run
        and a configuration key.
    later : dict
        Commit and date for each configuration key that was changed after the first rows of the same
        paper, tables and data set.
    """

    protocol: str
    counts: Mapping[str, int]
    later: Mapping[str, str]


def list_settings_by_protocol(paper: str) -> list[Settings]:
    """Count the settings of a paper that were committed before, with or after its first rows.

    Return one `Settings` for each protocol, the source of the settings.
    """
    lines = [line for line in papers.find_paper_files(paper).history if line.kind == "setting"]
    found = []
    for protocol in dict.fromkeys(_protocol(line) for line in lines):
        here = [line for line in lines if _protocol(line) == protocol]
        counts = {order: sum(len(_keys(x)) for x in here if x.order == order) for order in ORDERS}
        later = {
            key: f"{line.form or 'not committed yet'}, {line.form_date}"
            for line in here
            if line.order == "after"
            for key in _keys(line)
        }
        found.append(Settings(protocol, counts, later))
    return found


def find_history_entry(paper: str, kind: str, name: str) -> Committed | None:
    """Return the entry with the given kind and name from the file history.csv of a paper, or None.

    The kind is ``claim``, ``data``, ``rule`` or ``setting``.
    """
    lines = papers.find_paper_files(paper).history
    return next((line for line in lines if (line.kind, line.name) == (kind, name)), None)


def _protocol(line: Committed) -> str:
    return line.name.rpartition(".")[2] if "." in line.name else ""


def _keys(line: Committed) -> list[str]:
    return line.keys.split("; ")
