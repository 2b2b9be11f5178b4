"""Measure how often the bootstrap of the kernel error covers the error.

    python -m scripts.coverage measure   # five minutes; writes coverage.csv
    python -m scripts.coverage page      # writes README.md of the same folder

A cell is a distribution of rows, a kernel, a sampler with one form of the features, M and a norm.
Rows and exact kernel matrices are fixed, and the features are drawn again `DRAWS` times. A cell
counts the draws whose error is at most the quantile that the bootstrap of the same draw states.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from rfbench import files, kernels
from rfbench.checking.enough import PROBABILITY, compute_resampled_errors, find_quantile
from rfbench.pages.grids import Grid, render_markdown
from rfbench.registry import SAMPLERS

FILE = Path(__file__).parents[1] / "results" / "published" / "bootstrap2023" / "coverage.csv"
TEMPLATE = Path(__file__).with_name("coverage.md.txt")
DRAWS, N_ROWS = 400, 40
SIZES = (50, 200, 800)
# Numbers of features of the extrapolation: the quantile at the first is halved for the second.
FROM, TO = 100, 400
FORMS = ("offset", "paired")
ROWS = ("normal", "clusters")
# The orthogonal sampler does not support the Laplacian kernel.
METHODS = (("rks", "gaussian"), ("rks", "laplacian"), ("orf", "gaussian"))
# Level of the interval of a coverage, chosen without a measurement.
LEVEL = 0.95
AGREES, LOW, HIGH = "agrees", "too low", "conservative"


def draw_rows(name: str) -> Any:
    """Return the fixed rows of a distribution, shape (N_ROWS, d).

    `normal` has 5 independent columns. `clusters` has 4 clusters in 10 columns, with a standard
    deviation of 1 between and of 0.2 within the clusters.
    """
    generator = np.random.default_rng(ROWS.index(name))
    if name == "normal":
        return generator.standard_normal((N_ROWS, 5))
    centers = generator.standard_normal((4, 10))
    return centers[np.arange(N_ROWS) % 4] + 0.2 * generator.standard_normal((N_ROWS, 10))


def compute_bandwidth(X: Any, kernel: str) -> float:
    """Return the median distance of the rows, in the norm of the kernel."""
    order = 1 if kernel == "laplacian" else 2
    distances = np.linalg.norm(X[:, None] - X, ord=order, axis=2)
    return float(np.median(distances[np.triu_indices(len(X), 1)]))


def compute_errors(Z: Any, K: Any) -> dict[str, float]:
    """Return the kernel error in each norm; the last one is divided by the norm of the kernel."""
    off = Z @ Z.T - K
    frobenius = float(np.linalg.norm(off))
    largest = float(np.abs(off).max())
    return {
        "frobenius": frobenius,
        "largest": largest,
        "relative": frobenius / float(np.linalg.norm(K)),
    }


def estimate_errors(Z: Any, form: str, seed: int) -> dict[str, float]:
    """Return the quantile that the bootstrap of one draw states in each norm."""
    columns = np.arange(Z.shape[1])
    frequency = columns % (len(columns) // 2) if form == "paired" else columns
    resampled = compute_resampled_errors(Z, frequency, seed)
    found = {norm: find_quantile(each) for norm, each in resampled.items()}
    return {**found, "relative": found["frobenius"] / float(np.linalg.norm(Z @ Z.T))}


def measure_cells(
    rows: str,
    method: str,
    kernel: str,
    form: str,
    M: int,
    to: int,
    draws: int = DRAWS,
    first: int = 0,
) -> Iterator[dict[str, Any]]:
    """Yield the cells of all norms.

    The bootstrap uses M features, and `to` is the number of features of the errors. If it is not M,
    errors are measured with other seeds, and the quantile is extrapolated. `first` is the first of
    2 `draws` seeds.
    """
    X = draw_rows(rows)
    s = compute_bandwidth(X, kernel)
    K = kernels.make(kernel, s)(X, X)
    sampler = SAMPLERS.find(method)
    stated, errors = [], []
    for seed in range(first, first + draws):
        words: dict[str, Any] = {"kernel": kernel, "bandwidth": s, "feature_map": form}
        Z = sampler(M, **words, random_state=seed).fit(X).transform(X)
        stated.append(estimate_errors(Z, form, seed))
        if to != M:
            Z = sampler(to, **words, random_state=draws + seed).fit(X).transform(X)
        errors.append(compute_errors(Z, K))
    bounds = pd.DataFrame(stated) * (M / to) ** 0.5
    found = pd.DataFrame(errors)
    for norm in bounds:
        yield {
            **{"rows": rows, "method": method, "kernel": kernel, "form": form, "M": M, "to": to},
            **{"norm": norm, "draws": draws, "covered": int((found[norm] <= bounds[norm]).sum())},
            # the quantile of the errors, and the mean of the stated quantiles
            **{"quantile": find_quantile(found[norm]), "stated": bounds[norm].mean()},
        }


def measure_all(draws: int = DRAWS) -> pd.DataFrame:
    """Return all cells."""
    sizes = [*((M, M) for M in SIZES), (FROM, TO)]
    kinds = itertools.product(ROWS, METHODS, FORMS, sizes)
    cells = [
        cell
        for i, (rows, (method, kernel), form, (M, to)) in enumerate(kinds)
        for cell in measure_cells(rows, method, kernel, form, M, to, draws, 2 * draws * i)
    ]
    return pd.DataFrame(cells)


def judge(covered: int, draws: int) -> tuple[float, float, str]:
    """Return the interval of a coverage and its verdict: the nominal value is inside or not."""
    interval = stats.binomtest(covered, draws).proportion_ci(LEVEL)
    verdict = LOW if interval.high < PROBABILITY else HIGH if interval.low > PROBABILITY else AGREES
    return float(interval.low), float(interval.high), verdict


def make_page(cells: pd.DataFrame) -> str:
    """Return the page in Markdown.

    A line of the table has the cells of a method, a kernel and a norm, extrapolated or not.
    """
    found = [judge(*each) for each in zip(cells["covered"], cells["draws"], strict=True)]
    cells = cells.assign(share=cells["covered"] / cells["draws"], verdict=[x[2] for x in found])
    lines: list[tuple[str, ...]] = []
    cells["M"] = np.where(cells["M"] == cells["to"], "same", "extrapolated")
    for key, part in cells.groupby(["method", "kernel", "norm", "M"]):
        counts = part["verdict"].value_counts()
        shares = f"{part['share'].min():.3f} to {part['share'].max():.3f}"
        words = [str(counts.get(each, 0)) for each in (AGREES, LOW, HIGH)]
        names = map(str, key)
        lines.append((*names, str(len(part)), *words, f"{part['share'].mean():.3f}", shares))
    head = (
        "sampler",
        "kernel",
        "norm",
        "features",
        "cells",
        AGREES,
        LOW,
        HIGH,
        "mean coverage",
        "range",
    )
    own = cells[cells["method"] == "rks"]
    counts = own["verdict"].value_counts()
    return TEMPLATE.read_text(encoding="utf-8").format(
        cells=len(own),
        agrees=counts.get(AGREES, 0),
        low=counts.get(LOW, 0),
        high=counts.get(HIGH, 0),
        expected=0.5 * (1 - LEVEL) * len(own),
        mean=own["share"].mean(),
        draws=DRAWS,
        table=render_markdown(Grid(head, lines)),
    )


def main() -> None:
    """Measure the cells, or write their page."""
    if sys.argv[1:] == ["measure"]:
        FILE.parent.mkdir(parents=True, exist_ok=True)
        files.replace(FILE, measure_all().to_csv(index=False, float_format="%.4g").encode())
    elif sys.argv[1:] == ["page"]:
        files.replace(FILE.with_name("README.md"), make_page(pd.read_csv(FILE)).encode())
    else:
        print(__doc__)


if __name__ == "__main__":
    main()
