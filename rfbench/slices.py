"""Slices: optional components of rfbench, and the hooks by which the core calls them.

A slice is a folder `rfbench/NAME/` with a module `slice.py`. The module may define any of these
functions (hooks):

``list_commands() -> dict[str, str]``
    Import path of each command, such as ``{"audit": "rfbench.audit.command:audit"}``.
``list_public_names() -> dict[str, str]``
    Import path of each name that ``import rfbench`` offers.
``render_report_files(verification, out) -> rfbench.pages.additions.Addition``
    Files for the folder `out` of ``rfbench report``, and lines for the front page of the report.
``list_statements(verification) -> list[rfbench.pages.findings.Statement]``
    Findings for ``rfbench verify --finding``.
``describe_papers(verification, out) -> dict[str, str]``
    Markdown for the page of each paper.
``find_unprinted_effects(paths) -> rfbench.analysis.outcomes.Effect``
    Function that extends the check of a claim of a paper. It adds the range of the effect over
    settings that the paper does not state. The range is read from files in or next to `paths`.
``make_numbers_column(verification) -> rfbench.pages.additions.AddedColumn``
    A column for the tables of published numbers.
``describe_check(thing, parameters) -> str``
    A line with the result of checking a class before it is measured.
``render_section(folder, prefix) -> tuple[str, dict[str, bytes]] | None``
    Markdown and figures of one results folder for ``rfbench report --html NAME.html``, instead of
    its tables. None for a folder of a different kind. The names of figures start with `prefix`.
``list_report_modes() -> dict[str, tuple[str, str]]``
    Flags of ``rfbench report`` that write only pages of the slice. Each name of a flag is mapped to
    its help text, and to the import path of a function. The function writes the pages below given
    paths and returns the paths of the pages.

The core uses `call_hooks` to call these functions, and does not import a slice. Slices do not
import each other.
"""

from __future__ import annotations

import importlib
from typing import Any

SLICES = ("checking", "leaderboard", "choosing", "audit")


def call_hooks(hook: str, *arguments: Any) -> list[Any]:
    """Call the function `hook` in the module `slice` of each optional component that defines it.

    `arguments` are the arguments of the function. Return the results in the order of `SLICES`, the
    list of the components.
    """
    answers = []
    for name in SLICES:
        module = f"rfbench.{name}.slice"
        try:
            found = importlib.import_module(module)
        except ModuleNotFoundError as error:
            if error.name not in (module, f"rfbench.{name}"):
                raise
            continue
        if hasattr(found, hook):
            answers.append(getattr(found, hook)(*arguments))
    return answers
