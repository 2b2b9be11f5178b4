"""What the papers' tables have for columns, and what their captions say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rfbench.report import rules
from rfbench.report.papers_rows import Row, failures, regressions, timing

METHODS = {
    "rks": "RFF",
    "qmc": "QMC",
    "leverage-rff": "leverage-RFF",
    "surrogate-leverage": "surrogate",
}
BY_SIZE = ("liu2020", "table3")
SIZE = "size"


@dataclass(frozen=True)
class Layout:
    """A table whose rows are data sets.

    Attributes
    ----------
    caption : list of str
        What its numbers are.
    facts : list of str
        The columns that say what was run, see `rfbench.report.papers_rows.FACTS`.
    columns : list of (str, str, tuple of str)
        The others: head, method, metrics; the metric `SIZE` is the number of features.
    """

    caption: list[str]
    facts: list[str]
    columns: list[tuple[str, str, tuple[str, ...]]]


BRACKETS = "Errors are means over the trials, standard errors in parentheses"
TRAINED = "t_train: making the features and fitting, with the whole grid of penalties and all folds"
POOL = (
    "M: features; M_0: size of the pool they are selected from; N_0/N: share of the training rows "
    "that score the pool; t_pp: drawing, scoring and selecting"
)
ALL_TIMES = "time: drawing, making the features, training and testing"
LAYOUTS = {
    ("eerf2018", "table3"): Layout(
        [BRACKETS, POOL, TRAINED],
        ["M", "M_0", "N_0/N", "trials"],
        [
            ("eerf t_pp", "eerf", ("t_pp",)),
            ("eerf t_train", "eerf", ("t_train",)),
            ("eerf t_test", "eerf", ("t_test",)),
            ("rks t_train", "rks", ("t_train",)),
            ("rks t_test", "rks", ("t_test",)),
            ("eerf error (%)", "eerf", ("error",)),
            ("rks error (%)", "rks", ("error",)),
        ],
    ),
    ("eerf2018", "table5"): Layout(
        [BRACKETS, POOL, TRAINED],
        ["M", "M_0", "N_0/N", "trials"],
        [
            ("eerf t_pp", "eerf", ("t_pp",)),
            ("lkrf t_pp", "lkrf", ("t_pp",)),
            ("eerf t_train", "eerf", ("t_train",)),
            ("lkrf t_train", "lkrf", ("t_train",)),
            ("eerf error (%)", "eerf", ("error",)),
            ("lkrf error (%)", "lkrf", ("error",)),
        ],
    ),
    ("lkrf2016", "table1"): Layout(
        [
            BRACKETS,
            "Each method at the size M of its smallest test error over the sizes that were run: "
            "chosen on the test rows, which is optimistic",
            f"n, n_test: training and test rows; {ALL_TIMES}, at that size",
        ],
        ["n", "n_test", "d", "trials"],
        [
            ("lkrf M", "lkrf", (SIZE,)),
            ("lkrf error (%)", "lkrf", ("error",)),
            ("lkrf time (s)", "lkrf", ("t_total",)),
            ("rks M", "rks", (SIZE,)),
            ("rks error (%)", "rks", ("error",)),
            ("rks time (s)", "rks", ("t_total",)),
        ],
    ),
    ("lkrf2016", "table2"): Layout(
        [BRACKETS, f"n: training rows, a sample as in the paper; n_test: test rows; {ALL_TIMES}"],
        ["n", "n_test", "d", "trials"],
        [
            ("lkrf training / test error (%)", "lkrf", ("train_error", "error")),
            ("lkrf time (s)", "lkrf", ("t_total",)),
            ("joint training / test error (%)", "joint", ("train_error", "error")),
            ("joint time (s)", "joint", ("t_total",)),
        ],
    ),
}
ACCURACIES = [
    "Test accuracy in % ± standard deviation over the trials; in parentheses the time of drawing "
    "and making the features in milliseconds ± standard deviation",
    "s: number of features, and in multiples of d, the number of columns; surrogate: the paper's "
    "own method, there called Ours",
    "Marked • where significantly better than RFF and QMC: paired t-tests at 5 % on the first "
    f"{rules.MARKED_TRIALS} trials, as in the paper; fewer trials are not tested",
]
WALL = "Times are wall {unit} on our machine, not to be compared with those of the paper"
UPPER = (
    "≤: the sizes of a method shared work and each is charged with all of it, so the time is an "
    "upper bound"
)
ABSENT = "A dash: not run here"


def caption(paper: str, item: str, rows: Sequence[Row]) -> list[str]:
    """Say what holds for the whole table: what its numbers are, and how its times are to be read.

    Parameters
    ----------
    rows : sequence of Row
        Those under every protocol that the caption stands over.
    """
    by_size = (paper, item) == BY_SIZE
    lines = list(ACCURACIES if by_size else LAYOUTS[paper, item].caption)
    lines += regressions(rows)
    if timing(rows):
        lines.append(WALL.format(unit="milliseconds" if by_size else "seconds"))
    if "≤" in timing(rows):
        lines.append(UPPER)
    return lines


def heading(protocol: str, rows: Sequence[Row], *others: str) -> list[str]:
    """Say under what protocol the rows were run, how they were timed, and what failed.

    Parameters
    ----------
    *others : str
        What else stands in the first line.
    """
    line = ", ".join(filter(None, [f"protocol {protocol}", *others, timing(rows)]))
    return [line, *failures(rows)]
