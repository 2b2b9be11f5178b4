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
    lines = [line for line in size.lines if not line.reference]
    best = min(lines, key=lambda line: line.ratio)
    alike = [line.method for line in lines if line.with_best and line.method != best.method]
    facts = {"size": size, "best": best, "alike": alike, "others": len(lines) - 1,
             "plain": board.baseline in alike}  # fmt: skip
    bars = [Bar(line.method, line.ratio, line.low, line.high) for line in lines]
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
    lines = {line.method: line for line in board.largest.lines if not line.reference}
    plain, best = lines.get(board.baseline), lines[board.largest.best]
    timed = [line for line in lines.values() if line.search > 0]
    if plain is None or not {plain.method, best.method} <= {line.method for line in timed}:
        return None
    timed.sort(key=lambda line: line.search)
    bars = tuple(Bar(line.method, line.search / plain.search) for line in timed)
    facts = {"best": best, "plain": plain, "times": best.search / plain.search,
             "timed": board.largest.timed}  # fmt: skip
    return Finding("cost", facts, bars) if board.largest.enough else None
