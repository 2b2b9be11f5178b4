"""The rules of the verdicts in words."""

from __future__ import annotations

from importlib import resources

from rfbench.analysis import verdicts


def render_rules() -> str:
    """Return the rules, with the constants of `rfbench.analysis.verdicts`."""
    file = resources.files("rfbench.pages").joinpath("templates", "rules.txt")
    return file.read_text(encoding="utf-8").format_map(vars(verdicts))
