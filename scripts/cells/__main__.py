"""Measure the kernel errors of the cells, and compare them with the authors' rows.

python -m scripts.cells count              # number of cells by data set
python -m scripts.cells run TRIALS.csv     # measures what the file does not have; can be stopped
python -m scripts.cells summarize TRIALS.csv
python -m scripts.cells compare            # verdicts and mean ratios
python -m scripts.cells page               # writes the page beside the cells
python -m scripts.cells repeat ID          # measures one cell again
python -m scripts.cells replay             # measures the kept trials again, and compares them
python -m scripts.cells degrees CELLS.csv.gz # compares numbers of features, about seven minutes
python -m scripts.cells keep               # draws the cells whose first trials are kept
python -m scripts.cells adopt CELLS.csv.gz # writes the authors' cells that qualify
"""

from __future__ import annotations

import argparse
import itertools
import json
from collections.abc import Container, Iterable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from rfbench import files
from rfbench.results.cells import Cell, list_cells, read_cells, write_cells
from scripts.cells import authors, compare, measure, page
from scripts.cells.measure import SOURCES, is_slow

CELLS = Path(__file__).parents[2] / "results" / "published" / "dotproduct2022" / "cells.csv"
KEPT = CELLS.with_name("kept_trials.csv")
# Number of trials of a cell. The matrices of MNIST are the largest. The first two data sets have
# more trials, because the errors of small test parts vary most.
TRIALS, MNIST_TRIALS, SMALL_TRIALS = 5, 3, 10
SMALL = ("Boston", "Concrete")
# Largest number of features for MNIST: the features of 5,000 rows need 160 MB in float32.
MNIST_FEATURES = 4096
# The kept trials: number of cells, seed of their draw (the year of two of the papers), and largest
# number of features.
N_KEPT, KEPT_SEED, KEPT_FEATURES = 300, 2022, 1024
# Largest relative difference of a repeated trial. Rounding errors of float32 are below 1e-4.
# Another draw changes an error by some percent, which this limit detects.
TOLERANCE = 1e-3


def count_trials(cell: Cell) -> int:
    """Return the number of trials of a cell."""
    if cell.dataset in SMALL:
        return SMALL_TRIALS
    return MNIST_TRIALS if cell.dataset == "MNIST" else TRIALS


def list_shared(cell: Cell) -> tuple[object, ...]:
    """Return what cells have in common that share their rows and exact kernel matrices."""
    return list(SOURCES).index(cell.dataset), is_slow(cell), *cell[:5], cell.n_seeds


def measure_missing(
    cells: Iterable[Cell], done: Container[tuple[str, int]] = (), most: int = SMALL_TRIALS
) -> Iterator[tuple[Cell, int, float, float]]:
    """Yield each cell, trial, relative error and CPU time that is not done, at most `most` trials.

    Cells that share their exact kernel matrices are measured together, the smallest first.
    """
    for _, group in itertools.groupby(sorted(set(cells), key=list_shared), key=list_shared):
        members = sorted(group, key=lambda cell: cell.D)
        trials = count_trials(members[0])
        for trial in range(min(trials, most)):
            missing = [cell for cell in members if (cell.id, trial) not in done]
            if missing:
                for cell, error, seconds in measure.measure(missing, trial, trials):
                    yield cell, trial, error, seconds


def read_trials(path: Path) -> pd.DataFrame:
    """Return the columns id, trial, error and seconds of the trials in a file."""
    names = ["id", "trial", "error", "seconds", "end"]
    if not path.exists():
        return pd.DataFrame(columns=names)
    # A line may have been cut off when a run was stopped.
    table = pd.read_csv(path, names=names, dtype=str, on_bad_lines="skip")
    types = {"trial": int, "error": float, "seconds": float}
    return table[table["end"] == "."].astype(types).drop_duplicates(["id", "trial"])


def run(table: pd.DataFrame, path: Path) -> None:
    """Measure the trials that the file does not have, and append them.

    Cells that have a mean already are not measured again.
    """
    trials = read_trials(path)
    done = set(zip(trials["id"], trials["trial"], strict=True))
    with path.open("a", encoding="utf-8") as stream:
        if path.stat().st_size and not path.read_bytes().endswith(b"\n"):
            stream.write("\n")  # The last line was cut off.
        for cell, trial, error, seconds in measure_missing(
            list_cells(table[table["n"].isna()]), done
        ):
            stream.write(f"{cell.id},{trial},{error:.8g},{seconds:.3f},.\n")
            stream.flush()


def summarize(table: pd.DataFrame, path: Path) -> pd.DataFrame:
    """Return the cells with the means of the cells that have all their trials in the file."""
    found = read_trials(path).groupby("id")["error"].agg(["count", "mean", "std"])
    needed = pd.Series({cell.id: count_trials(cell) for cell in list_cells(table)})
    complete = found[found["count"] >= needed.reindex(found.index)]
    columns = {"n": "count", "mean": "mean", "sd": "std"}
    return table.assign(
        **{
            name: table["id"].map(complete[own]).fillna(table[name])
            for name, own in columns.items()
        }
    )


def draw_kept(table: pd.DataFrame) -> list[Cell]:
    """Draw the cells whose first trials are kept, among the cells that take little time."""
    quick = (table["D"] <= KEPT_FEATURES) & (table["expanded"] == 0) & (table["dataset"] != "MNIST")
    cells = sorted(set(list_cells(table[quick])))
    chosen = np.random.default_rng(KEPT_SEED).permutation(len(cells))[:N_KEPT]
    return [cells[each] for each in chosen]


def measure_first(cells: Iterable[Cell]) -> pd.DataFrame:
    """Measure the first trial of each cell; the columns are id, dataset and error."""
    trials = ((cell.id, cell.dataset, error) for cell, _, error, _ in measure_missing(cells, (), 1))
    return pd.DataFrame(trials, columns=["id", "dataset", "error"])


def replay(table: pd.DataFrame, kept: pd.DataFrame) -> pd.DataFrame:
    """Measure the kept trials again, and return the trials that differ."""
    cells = [cell for cell in list_cells(table) if cell.id in set(kept["id"])]
    both = kept.merge(
        measure_first(cells), on=["id", "dataset"], how="left", suffixes=("", "_again")
    )
    return both[~np.isclose(both["error_again"], both["error"], rtol=TOLERANCE, atol=0.0)]


def compare_degrees(path: Path) -> pd.DataFrame:
    """Compare the optimized numbers of features per degree with the authors' recorded numbers.

    The numbers depend on the kernel and the training rows alone. They check the scaling of these
    rows without the random error of a kernel error.

    Parameters
    ----------
    path : Path
        The table of all the authors' cells.

    Returns
    -------
    DataFrame
        By data set, scaling and folder: the number of cells, and the median and the maximum of the
        share of the features that have another degree than the authors' features.
    """
    table = authors.read_cells_that_qualify(path)[0].dropna(subset="degrees_used")
    ours: dict[str, list[int]] = {}

    def list_rows(cell: Cell) -> tuple[object, ...]:
        return list_shared(cell._replace(D=0, expanded=0))  # slow cells share training rows, too

    for _, group in itertools.groupby(sorted(set(list_cells(table)), key=list_rows), key=list_rows):
        cells = list(group)
        ours |= measure.prepare(cells, 0, count_trials(cells[0]), 2)[2]
    both = (
        itertools.zip_longest(ours[each], json.loads(theirs), fillvalue=0)
        for each, theirs in zip(table["id"], table["degrees_used"], strict=True)
    )
    other = [sum(abs(own - their) for own, their in pairs) / 2 for pairs in both]
    table["share"] = other / (table["D"] - 1)
    groups = table.groupby(["dataset", "scaling", "folder"])[["share"]]
    return groups.agg(["count", "median", "max"])


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(usage=__doc__)
    names = "adopt count run summarize compare page repeat degrees keep replay"
    parser.add_argument("what", choices=names.split())
    parser.add_argument("argument", nargs="?", default="")
    given = parser.parse_args()
    path = Path(given.argument)
    if given.what == "adopt":
        found, others = authors.read_cells_that_qualify(path)
        kept = found[(found["dataset"] != "MNIST") | (found["D"] <= MNIST_FEATURES)]
        write_cells(CELLS, kept)
        print(f"{len(found)} cells qualify, {len(kept)} of them within the limit of MNIST")
        print("cells of data sets that are not whole or not known:", others, sep="\n")
        return
    table = read_cells(CELLS)
    if given.what == "count":
        print(table.groupby("dataset")["n"].agg(measured="count", cells="size").to_string())
    elif given.what == "run":
        run(table, path)
    elif given.what == "summarize":
        write_cells(CELLS, summarize(table, path))
    elif given.what == "compare":
        print(compare.report(table))
    elif given.what == "page":
        page.write_page(table, CELLS.parent)
    elif given.what == "degrees":
        print(compare_degrees(path).round(4).to_string())
    elif given.what == "keep":
        text = measure_first(draw_kept(table)).to_csv(index=False, float_format="%.8g")
        files.replace(KEPT, text.encode())
    elif given.what == "replay":
        kept = pd.read_csv(KEPT)
        differing = replay(table, kept)
        print(f"{len(kept) - len(differing)} of {len(kept)} trials agree", differing, sep="\n")
        raise SystemExit(len(differing) > 0)
    else:
        cells = [cell for cell in list_cells(table) if cell.id == given.argument]
        if not cells:
            parser.error(f"no cell has the id {given.argument!r}")
        for _, trial, error, seconds in measure_missing(cells):
            print(f"trial {trial}: relative error {error:.8g} ({seconds:.2f} s)")


if __name__ == "__main__":
    main()
