"""What fits hold in memory at their peak, from sizes alone: to refuse in time, and to estimate."""

from __future__ import annotations


def held_groups(selection: str) -> int:
    """Return how many groups of rows a selection holds out, one after the other."""
    if selection.startswith("cv"):
        return int(selection.removeprefix("cv"))
    return 1 if selection == "validation" else 0


def row_groups(held: int) -> int:
    """Return into how many groups all rows fall; one that is held out leaves another."""
    return 2 if held == 1 else max(held, 1)


def gram_matrices(groups: int) -> int:
    """Return how many Gram matrices a fit from `groups` of rows holds at once.

    Each group's, their sum, the difference that is solved, and its factor; one group is its own
    sum. (Where Cholesky fails, the eigendecomposition takes three more.)
    """
    return groups + 3 if groups > 1 else 2


def pair_gram_matrices(groups: int, classes: int) -> int:
    """Return how many Gram matrices the fit of every pair of classes holds at once.

    Each class's in each group; over the groups the sum of each class, and the difference; the sum
    of a pair, and its factor.
    """
    return groups * classes + (2 * classes if groups > 1 else 0) + 2


def matrix_bytes(n: int, p: int, held: int, copies: float) -> float:
    """Return the bytes of a fit on the whole matrix of features, float64.

    Parameters
    ----------
    n, p : int
        Rows and columns.
    held : int
        Groups that are held out; for each the other rows are copied.
    copies : float
        What the fit makes of its rows, in matrices of their size.
    """
    rest = {0: 0.0, 1: 0.8}.get(held, 1 - 1 / max(held, 1))
    return 8.0 * n * p * (1 + max(copies, rest * (1 + copies)))


def decision_bytes(rows: int, columns: int, grid: int) -> float:
    """Return the bytes of the decision values of so many rows, and of what a loss makes of them."""
    return 24.0 * rows * columns * grid
