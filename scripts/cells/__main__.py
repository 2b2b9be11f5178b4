"""Measure the kernel errors of the cells, and compare them with the authors' rows.

python -m scripts.cells count              # number of cells by data set
python -m scripts.cells run TRIALS.csv     # measures what the file does not have; can be stopped
python -m scripts.cells summarize TRIALS.csv
python -m scripts.cells compare            # verdicts and mean ratios
python -m scripts.cells repeat ID          # measures one cell again
python -m scripts.cells adopt CELLS.csv.gz # writes the authors' cells that qualify
"""

from __future__ import annotations

import argparse
import csv
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

import numpy as np

from rfbench.results.cells import Cell, CellErrors, CellRow, read_cells, write_cells
from scripts.cells import authors, compare, page
from scripts.cells.measure import FEWER_ROWS, SOURCES, TEST_ROWS, is_slow, measure

CELLS = Path(__file__).parents[2] / "results" / "published" / "dotproduct2022" / "cells.csv"
# Number of trials of a cell. The matrices of MNIST are the largest. The first two data sets have
# more trials, because the errors of small test parts vary most.
TRIALS, MNIST_TRIALS, SMALL_TRIALS = 5, 3, 10
SMALL = ("Boston", "Concrete")
# Largest number of features for MNIST: the features of 5,000 rows need 160 MB in float32.
MNIST_FEATURES = 4096


def count_trials(cell: Cell) -> int:
    """Return the number of trials of a cell."""
    if cell.dataset in SMALL:
        return SMALL_TRIALS
    return MNIST_TRIALS if cell.dataset == "MNIST" else TRIALS


def estimate_work(cell: Cell) -> int:
    """Return the order of magnitude of the time of a cell, as a power of two."""
    # A sketch with an expanded dimension computes that many columns for each degree, with a
    # Fourier transform for count sketches. Complex features need about three times the time.
    columns = cell.expanded * (4 if cell.projection == "countsketch" else 1)
    columns = columns or cell.D * (3 if cell.features == "complex" else 1)
    rows = FEWER_ROWS if is_slow(cell) else TEST_ROWS
    return round(math.log2(count_trials(cell) * rows * columns * max(cell.degree, 3)))


def iterate_groups(rows: Sequence[CellRow]) -> Iterator[list[Cell]]:
    """Yield the cells that share their exact kernel matrices, in the order of the run."""
    cells = {row.cell.id: row.cell for row in rows}.values()
    order = list(SOURCES)

    def key(cell: Cell) -> tuple[object, ...]:
        return estimate_work(cell), order.index(cell.dataset), is_slow(cell), cell.group

    for _, group in groupby(sorted(cells, key=key), key=key):
        yield sorted(group, key=lambda cell: cell.D)


def read_trials(path: Path) -> dict[tuple[str, int], tuple[float, float]]:
    """Return the relative error and the CPU time by cell and trial."""
    if not path.exists():
        return {}
    with path.open(newline="", encoding="utf-8") as stream:
        # The last line may have been cut off when the run was stopped.
        rows = [row for row in csv.reader(stream) if len(row) == 5 and row[4] == "."]
    return {(row[0], int(row[1])): (float(row[2]), float(row[3])) for row in rows}


def run(rows: Sequence[CellRow], path: Path) -> None:
    """Measure the trials that the file does not have, and append them.

    Cells that have a mean already are not measured again.
    """
    rows, done = [row for row in rows if not row.measured], read_trials(path)
    with path.open("a", encoding="utf-8") as stream:
        for group in iterate_groups(rows):
            trials = count_trials(group[0])
            for trial in range(trials):
                missing = [cell for cell in group if (cell.id, trial) not in done]
                if not missing:
                    continue
                for cell, error, seconds in measure(missing, trial, trials):
                    stream.write(f"{cell.id},{trial},{error:.8g},{seconds:.3f},.\n")
                    stream.flush()


def summarize(rows: Sequence[CellRow], path: Path) -> list[CellRow]:
    """Return the rows with the means of the cells that have all their trials in the file."""
    done = read_trials(path)
    found = []
    for row in rows:
        trials = [done.get((row.cell.id, trial)) for trial in range(count_trials(row.cell))]
        if all(trials):
            errors = np.array([trial[0] for trial in trials if trial])
            summary = CellErrors(len(errors), float(errors.mean()), float(errors.std(ddof=1)))
            row = row._replace(measured=summary)
        found.append(row)
    return found


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m scripts.cells")
    parser.add_argument(
        "what", choices=["adopt", "count", "run", "summarize", "compare", "page", "repeat"]
    )
    parser.add_argument("argument", nargs="?", default="")
    given = parser.parse_args()
    if given.what == "adopt":
        found = authors.read_cells_that_qualify(Path(given.argument))
        kept = [row for row in found if row.cell.dataset != "MNIST" or row.cell.D <= MNIST_FEATURES]
        write_cells(CELLS, kept)
        print(f"{len(found)} cells qualify, {len(kept)} of them within the limit of MNIST")
        return
    rows = read_cells(CELLS)
    if given.what == "count":
        counts = Counter((row.cell.dataset, bool(row.measured)) for row in rows)
        for name in SOURCES:
            measured = counts[name, True]
            print(f"{name:12s} {measured:5d} of {measured + counts[name, False]:5d} measured")
        print(
            f"{'all':12s} {sum(bool(row.measured) for row in rows):5d} of {len(rows):5d} measured"
        )
    elif given.what == "run":
        run(rows, Path(given.argument))
    elif given.what == "summarize":
        write_cells(CELLS, summarize(rows, Path(given.argument)))
    elif given.what == "compare":
        print(compare.report(rows))
    elif given.what == "page":
        page.write_page(rows, CELLS.parent)
    else:
        (row,) = [row for row in rows if row.cell.id == given.argument][:1]
        trials = count_trials(row.cell)
        for trial in range(trials):
            ((_, error, seconds),) = measure([row.cell], trial, trials)
            print(f"trial {trial}: relative error {error:.8g} ({seconds:.2f} s)")


if __name__ == "__main__":
    main()
