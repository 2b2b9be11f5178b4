"""What a worker will hold in memory, estimated from sizes alone: rows, columns, frequencies."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from rfbench.config import NO_SOLVER, sampler_of, solver_of
from rfbench.errors import RfbenchError
from rfbench.experiment.plan import Trial
from rfbench.experiment.worker import LEAST_MEMORY
from rfbench.memory import BLOCK_ROWS
from rfbench.samplers import RandomFeatures
from rfbench.samplers.metric import LearnedMetric
from rfbench.solvers import Solver
from rfbench.solvers.base import LOO
from rfbench.solvers.coding import ONE_VS_REST, Coding
from rfbench.solvers.folds import NESTED
from rfbench.solvers.grouped_fits import LEFT_OUT_MATRICES, gram_matrices, row_side_bytes

# How often a fit holds what it is made from. Frequencies: as drawn, turned, and those of the last
# trial. The matrix of features: with a fold's rows and the solver's copy. The kernel matrix: with
# its factor and a fold's. The errors of a kernel: exact, estimated, their difference and its copy.
# Decision values of the rows that choose the penalty: with what the loss makes of them.
# Beside each packed row: its numbers, label and group; its targets, as they are copied.
FREQUENCIES, FEATURES, KERNEL, KERNEL_ERRORS, DECISIONS, BESIDE, TARGETS = 3, 3, 3, 4, 3, 10, 3


@dataclass(frozen=True)
class RowSizes:
    """The rows of a trial, as far as memory depends on them."""

    n: int  # training rows
    d: int  # their columns
    n_test: int
    classes: int  # 0 for a regression
    itemsize: int  # bytes of a number in the features
    # Bytes of all rows that a worker holds; 0 for sparse ones, of packed ones what is known of
    # each: number, target, group.
    held: float


def footprints(trials: Iterable[Trial]) -> list[tuple[Trial, float | None]]:
    """Return trials with their estimates, one for all that differ in their number only.

    A trial that cannot be built is left out: its row will say why.
    """
    different = {(t.dataset.model_dump_json(), t.sampler.label, t.M, t.variant): t for t in trials}
    estimates = []
    for trial in different.values():
        with contextlib.suppress(RfbenchError):
            estimates.append((trial, estimate(trial)))
    return estimates


def estimate(trial: Trial) -> float | None:
    """Return about the bytes at the peak of a worker that runs the trial.

    None where the number of features is known only afterwards.

    The bare worker, its rows, the frequencies, the matrices of a fit, and what a sampler says that
    drawing takes (`scratch_bytes`). Not counted are matrices that a sampler forms for its scores,
    as wide as its pool, the values of sparse rows, and reading a file for the first time. What does
    not fit then is refused where it would be made, see `rfbench.memory.check_fits`.
    """
    rows, experiment = row_sizes(trial), trial.experiment
    solver = None
    if experiment.solver.name != NO_SOLVER:
        task = "classification" if rows.classes else "regression"
        solver = solver_of(experiment, task=task, random_state=0)
        if not solver.uses_features:
            return LEAST_MEMORY + rows.held + 8.0 * KERNEL * rows.n**2
    if trial.M is None:
        return None
    sampler = sampler_of(experiment, trial.sampler, M=trial.M, d=rows.d, n=rows.n, random_state=0)
    p = sampler.planned_columns() if isinstance(sampler, RandomFeatures) else None
    if p is None:
        return None
    frequencies: float = 8.0 * FREQUENCIES * sampler.n_drawn * rows.d
    compared = min(experiment.kernel_error_rows or 0, rows.n) * experiment.kernel_error_draws
    errors = 8.0 * compared * (KERNEL_ERRORS * compared + 2 * p)
    fit = _fit_bytes(solver, rows, p)
    targets = rows.classes if rows.classes > 2 else 1
    copied = float(rows.itemsize * rows.d) if rows.held else 0.0
    held = rows.held
    if trial.features_in_folds == NESTED:
        held += copied * rows.n
    if experiment.learns_metric:
        # The rows once more, in the metric, and what learning holds before that.
        held += rows.itemsize * rows.d * (rows.n + rows.n_test) if rows.held else 0.0
        metric = LearnedMetric(kind=experiment.kernel_metric)
        fit = max(fit, metric.scratch_bytes(rows.n, rows.d, targets, copied))
    drawn: float = sampler.scratch_bytes(rows.n, rows.d, targets, copied)
    return LEAST_MEMORY + held + frequencies + max(errors, fit, drawn)


def _fit_bytes(solver: Any, rows: RowSizes, p: int) -> float:
    every_feature = 8.0 * FEATURES * rows.n * p
    if not isinstance(solver, Solver):
        return every_feature
    groups = _groups(solver.chosen_selection())
    by_rows = solver.solves_smaller_side and p >= rows.n
    coding = Coding(max(rows.classes, 2), getattr(solver, "multiclass", ONE_VS_REST))
    columns = len(coding.pairs) if coding.by_pairs else max(rows.classes, 1)
    scored = max(rows.n_test, rows.n // groups)
    choice = 8.0 * DECISIONS * scored * columns * len(solver.grid())
    if not solver.streams:
        return max(choice, every_feature)
    if by_rows:
        return max(choice, row_side_bytes(rows.n, p) + 8.0 * p * columns * len(solver.grid()))
    if solver.chosen_selection() == LOO:
        return max(choice, 8.0 * p * (LEFT_OUT_MATRICES * p + BLOCK_ROWS))
    matrices = gram_matrices(groups, coding.k if coding.by_pairs else 1)
    return max(choice, 8.0 * p * (matrices * p + BLOCK_ROWS))


def _groups(selection: str) -> int:
    """Return into how many groups of rows a selection of the penalty cuts the training rows."""
    if selection.startswith("cv"):
        return int(selection.removeprefix("cv"))
    return 2 if selection == "validation" else 1


def row_sizes(trial: Trial) -> RowSizes:
    """Return the sizes of a trial's rows, from the configuration and the catalogue."""
    experiment = trial.experiment
    entry = trial.dataset.entry
    n, train, test, d = experiment.shape(trial.dataset)
    itemsize = 4 if experiment.dtype == "float32" else 8
    # Rows are read and scaled in float64, then cast.
    held = 0.0 if entry.sparse else 8.0 * d * (n + train + test)
    if trial.dataset.packed:
        beside = BESIDE + TARGETS * max(1, len(entry.classes))
        held = 8.0 * beside * n + (0.0 if experiment.rows is None else 8.0 * d * (train + test))
    return RowSizes(train, d, test, len(entry.classes), itemsize, held)
