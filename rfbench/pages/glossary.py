"""What the words on the pages mean: one list for Markdown, HTML and the terminal."""

from __future__ import annotations

from functools import cache
from importlib import resources

from rfbench.pages.templates import render


@cache
def terms() -> dict[str, str]:
    """Return the meaning of each term, in plain text in which backticks mark code."""
    import yaml

    file = resources.files(__package__).joinpath("templates", "glossary.yaml")
    return {
        str(term): str(meaning)
        for term, meaning in yaml.safe_load(file.read_text(encoding="utf-8")).items()
    }


def page() -> str:
    """Write ``glossary.md``."""
    return render("glossary.md.j2", terms=terms())
