"""The slices: folders beside the core, each with all of one thing, which may be absent.

A slice `rfbench/NAME/` has a module `slice.py` with functions of these names, those that it needs:

``commands() -> dict[str, str]``
    Where the command line finds its commands: ``{"audit": "rfbench.audit.command:audit"}``.
``public() -> dict[str, str]``
    In the same way, the names that ``import rfbench`` offers of it.
``report(verification, out) -> rfbench.pages.additions.Addition``
    What it adds to the folder `out` of ``rfbench report``, and to its front page.
``findings(verification) -> list[rfbench.pages.findings.Statement]``
    What ``rfbench verify --finding`` shows of it.
``of_papers(verification, out) -> dict[str, str]``
    By paper, the Markdown that it adds to the paper's page.
``unprinted(paths) -> rfbench.analysis.outcomes.Effect``
    What it knows of the keys that papers do not print, beside the results at these paths: it adds
    to a comparison of a claim the range of its effect.
``numbers(verification) -> rfbench.pages.additions.AddedColumn``
    A column of the tables of published numbers.
``check(thing, parameters) -> str``
    What it finds of a class before it is measured, in a line.
``modes() -> dict[str, tuple[str, str]]``
    By name the flags of ``rfbench report`` that write pages of its own alone: the help, and where
    the function is that writes those below some paths and returns them.

The core asks by `ask` and imports no slice; no slice imports another.
"""

from __future__ import annotations

import importlib
from typing import Any

SLICES = ("checking", "leaderboard", "choosing", "audit")


def ask(question: str, *facts: Any) -> list[Any]:
    """Return what each slice answers to a question, in order; one that does not know it is silent.

    `question` is the name of a function of `slice.py`, which gets the `facts`.
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
        if hasattr(found, question):
            answers.append(getattr(found, question)(*facts))
    return answers
