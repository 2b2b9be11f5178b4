"""What the leaderboard says about the field, each left out where its rows do not carry it."""

from __future__ import annotations

from rfbench.analysis.findings import Bar, Finding
from rfbench.leaderboard.facts import Leaderboard
from rfbench.leaderboard.rows import BOOSTING


def gather(board: Leaderboard) -> list[Finding]:
    """Return the findings that the rows carry, in the order of the page."""
    every = (make(board) for make in (methods, boosting, cost))
    return [finding for finding in every if finding is not None]


def methods(board: Leaderboard) -> Finding | None:
    """Return which method has the smallest mean error, if there are data sets enough to say so."""
    size = board.largest
    alike = [line.method for line in size.methods if line.method in size.alike(size.best)]
    facts = {"size": size, "best": size.methods[0], "alike": alike,
             "others": len(size.methods) - 1, "plain": board.baseline in alike}  # fmt: skip
    bars = [Bar(line.method, line.ratio, line.low, line.high) for line in size.methods]
    return Finding("methods", facts, tuple(bars)) if size.enough else None


def boosting(board: Leaderboard) -> Finding | None:
    """Return how features at their best compare with searched boosting."""
    enough = board.enough
    if enough is None or not board.largest.enough:
        return None
    bar = Bar(BOOSTING, enough.overall.ratio, enough.overall.low, enough.overall.high)
    return Finding("boosting", {"enough": enough}, (bar,))


def cost(board: Leaderboard) -> Finding | None:
    """Return what the smallest mean error costs, in CPU time of the whole search."""
    size = board.largest
    timed = sorted((x for x in size.methods if x.search > 0), key=lambda line: line.search)
    bars = tuple(Bar(line.method, line.search) for line in timed)
    if not (size.enough and size.methods[0].search > 0):
        return None
    return Finding("cost", {"best": size.methods[0], "size": size}, bars)
