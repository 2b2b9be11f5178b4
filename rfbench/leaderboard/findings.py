"""What the leaderboard says about the field, where its rows carry it."""

from __future__ import annotations

from rfbench.analysis.findings import Bar, Finding
from rfbench.leaderboard.facts import Leaderboard
from rfbench.registry import find_displayed_name


def gather(board: Leaderboard) -> list[Finding]:
    """Return which method has the smallest median ratio, if there are data sets enough."""
    size = board.largest
    alike = [line.method for line in size.methods if line.method in size.alike(size.best)]
    facts = {"size": size, "best": size.methods[0], "alike": alike,
             "others": len(size.methods) - 1, "plain": board.baseline in alike}  # fmt: skip
    ratios = [(find_displayed_name(line.method), line.ratio) for line in size.methods]
    bars = [Bar(name, of.median, of.low, of.high) for name, of in ratios]
    return [Finding("methods", facts, tuple(bars))] if size.enough else []
