"""The reference of the Python interface, from its docstrings, as Markdown."""

from __future__ import annotations

import inspect
import itertools
import re
from types import ModuleType
from typing import Any

from markupsafe import Markup

import rfbench
from rfbench.docstrings import readable, sections
from rfbench.escaping import in_markdown, printable
from rfbench.pages.templates import render

NAMED = ("Parameters", "Attributes", "Returns", "Raises")  # sections of names and meanings
ELSEWHERE = ("samplers", "solvers")  # whose classes have pages of their own


def page() -> str:
    """Write the reference of `rfbench.__all__`; classes that are methods have their own pages."""
    every = []
    for name in rfbench.__all__:
        exported = getattr(rfbench, name)
        members: list[tuple[str, Markup, Markup]] = []
        if isinstance(exported, ModuleType) and name not in ELSEWHERE:
            members = [
                (f"{name}.{each}", signature(thing), documented(thing))
                for each, thing in _public(exported).items()
            ]
        elif isinstance(exported, type):
            members = [
                (f"{name}.{each}", signature(thing), documented(thing))
                for each, thing in vars(exported).items()
                if inspect.isfunction(thing) and not each.startswith("_")
            ]
        every.append((name, signature(exported), documented(exported), members))
    return render("reference.md.j2", every=every, elsewhere=ELSEWHERE)


def _public(module: ModuleType) -> dict[str, Any]:
    """Return the documented functions and classes that a module names, or that are its own."""
    names = getattr(module, "__all__", None) or [
        name
        for name, thing in vars(module).items()
        if not name.startswith("_") and getattr(thing, "__module__", "") == module.__name__
    ]
    things = {name: getattr(module, name) for name in sorted(names)}
    return {name: thing for name, thing in things.items() if callable(thing) and thing.__doc__}


def signature(thing: Any) -> Markup:
    """Return how a thing is called, for a block of code; empty for what is not called."""
    if isinstance(thing, ModuleType) or not callable(thing):
        return Markup("")
    try:
        text = str(inspect.signature(thing))
    except (TypeError, ValueError):
        return Markup("")
    text = re.sub(r"(: |-> )'([^']*)'", r"\1\2", text)
    # An address of this process is no fact.
    return Markup(printable(re.sub(r"<[^<>]* at 0x[0-9a-f]+>", "...", text)).replace("\n", " "))


def documented(thing: Any) -> Markup:
    """Return a docstring as Markdown: its sections as lists, formulas as they are read."""
    parts = []
    for name, content in sections(inspect.getdoc(thing) or "").items():
        text = _listed(content) if name in NAMED else prose(content)
        parts.append(Markup("**{}**\n\n{}").format(Markup(name), text) if name else text)
    return Markup("\n\n").join(part for part in parts if part)


def _listed(content: str) -> Markup:
    """Return names, types and meanings of a section as a list."""
    listed: list[list[str]] = []
    for line in readable(content).splitlines():
        if line and not line[0].isspace():
            listed.append([*line.partition(" : ")[::2], ""])
        elif listed:
            listed[-1][2] += f" {line.strip()}"
    return Markup("\n").join(
        Markup("- **{}**{}{}").format(
            in_markdown(name),
            in_markdown(f" ({kind})" if kind else ""),
            in_markdown(f": {meaning.strip()}" if meaning.strip() else ""),
        )
        for name, kind, meaning in listed
    )


def prose(text: str) -> Markup:
    """Return paragraphs as Markdown; what is indented, and examples, are blocks of code."""
    parts = []
    for block in re.split(r"\n[ \t]*\n", readable(inspect.cleandoc(text))):
        lines = block.splitlines()
        if block.lstrip().startswith(">>>"):
            lines = [f"    {line}" for line in lines]
        for code, group in itertools.groupby(lines, lambda line: line.startswith("    ")):
            if code:
                parts.append(Markup("\n".join(map(printable, group))))
            else:
                parts.append(Markup("\n").join(map(in_markdown, group)))
    return Markup("\n\n").join(part for part in parts if part.strip())
