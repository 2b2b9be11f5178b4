"""What a trial will hold in memory, estimated from its configuration and the catalogue alone."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from dataclasses import dataclass

from rfbench import datasets
from rfbench.config import NO_SOLVER, sampler_of, solver_of
from rfbench.datasets.split import planned_rows
from rfbench.datasets.synthetic import PROBLEMS
from rfbench.errors import RfbenchError
from rfbench.experiment.plan import Trial, shares_work
from rfbench.experiment.worker import LEAST_MEMORY
from rfbench.memory import BLOCK_ROWS, Sizes
from rfbench.samplers import RandomFeatures
from rfbench.solvers import ExternalSolver, Solver
from rfbench.solvers.coding import ONE_VS_REST, Coding
from rfbench.solvers.curve import MATRIX_BYTES
from rfbench.solvers.footprint import decision_bytes, held_groups, matrix_bytes, row_groups

# The heap of a worker does not give back all that is freed: 5 % more after hundreds of trials.
NOT_GIVEN_BACK = 1.05


@dataclass(frozen=True)
class Footprint:
    """An estimate.

    Attributes
    ----------
    trial : Trial
    bytes : float or None
        At the peak of a worker that runs the trial; None where the number of features is known
        only afterwards.
    """

    trial: Trial
    bytes: float | None


def footprints(trials: Iterable[Trial]) -> list[Footprint]:
    """Return the estimates of trials, one for all that differ in their number only.

    A trial that cannot be built is left out: its row will say why.
    """
    different = {(t.dataset.model_dump_json(), t.sampler.label, t.M, t.variant): t for t in trials}
    found = []
    for trial in different.values():
        with contextlib.suppress(RfbenchError):
            found.append(Footprint(trial, estimate(trial)))
    return found


def estimate(trial: Trial) -> float | None:
    """Return about the bytes at the peak of a worker that runs the trial.

    The bare worker, the rows of this and of the last trial, and the largest of what follows one
    another: drawing the features, comparing kernels, fitting, choosing and predicting; with the
    shared work of the sizes of a curve. Not counted: the values of sparse rows, the work of
    estimators from elsewhere beyond a matrix of features and a copy, and reading a file for the
    first time.
    """
    sizes, data = sizes_of(trial)
    experiment = trial.experiment
    solver = None
    if experiment.solver.name != NO_SOLVER:
        task = "classification" if sizes.classes else "regression"
        solver = solver_of(experiment, task=task, random_state=0)
        if not solver.uses_features:
            return float(LEAST_MEMORY + data + solver.bytes_to_fit(sizes, 0))
    sampler = _sampler(trial, sizes)
    p = None if sampler is None else sampler.planned_columns()
    if sampler is None or p is None:
        return None
    kept = sampler.bytes_kept(sizes)
    compared = min(experiment.kernel_error_rows or 0, sizes.n)
    stages = [
        sampler.bytes_to_fit(sizes),
        # The product of the features, the difference and its copy, and the features.
        kept + 8.0 * compared * (3 * compared + 2 * p),
        kept + _solver_bytes(solver, sizes, p, shared=shares_work(trial)),
    ]
    exact = 8.0 * compared**2
    blocks = 8.0 * min(BLOCK_ROWS, sizes.n) * p
    return LEAST_MEMORY + data + exact + blocks + NOT_GIVEN_BACK * max(stages)


def sizes_of(trial: Trial) -> tuple[Sizes, float]:
    """Return the sizes of a trial's rows, and the bytes of all rows that a worker holds."""
    experiment = trial.experiment
    entry = datasets.entry(trial.dataset.name)
    n, d, given = entry.rows, entry.columns, entry.train_rows
    fixed = experiment.split == "given" and experiment.rows is None
    if entry.kind == "synthetic":
        values = PROBLEMS[entry.reader].complete(entry.name, trial.dataset.parameters)
        given, d = int(values["n_train"]), int(values["d"])
        n, fixed = given + int(values["n_test"]), False
    train, test = planned_rows(n, given, experiment.split)
    if experiment.rows is not None and experiment.rows < train:
        train, test = experiment.rows, max(1, round(test * experiment.rows / train))
    itemsize = 4 if experiment.dtype == "float32" else 8
    sizes = Sizes(train, d, test, len(entry.classes), itemsize)
    if entry.sparse:
        return sizes, 0.0
    sets = 1 if fixed or experiment.trials == 1 else 2
    # Rows are read and scaled in float64, then cast.
    return sizes, float(d * (8 * n + max(8, itemsize * sets) * (train + test)))


def _sampler(trial: Trial, sizes: Sizes) -> RandomFeatures | None:
    if trial.M is None:
        return None
    sampler = sampler_of(
        trial.experiment, trial.sampler, M=trial.M, d=sizes.d, n=sizes.n, random_state=0
    )
    return sampler if isinstance(sampler, RandomFeatures) else None


def _solver_bytes(
    solver: Solver | ExternalSolver | None, sizes: Sizes, p: int, *, shared: bool
) -> float:
    """Return the bytes of the fit, or of the choice among the fits, whichever takes more.

    Without a solver, or with an estimator from elsewhere: of the features, with a copy.
    """
    if not isinstance(solver, Solver):
        return matrix_bytes(sizes.n, p, 0, 1.0)
    selection = solver.chosen_selection()
    held, grid = held_groups(selection), len(solver.grid())
    columns = 1
    if sizes.classes > 2:
        coding = Coding(sizes.classes, getattr(solver, "multiclass", ONE_VS_REST))
        columns = len(coding.pairs) if coding.by_pairs else coding.k
    coefficients = 8.0 * grid * p * columns * (held + 1)
    scored = max(sizes.n_test, sizes.n // max(held, 1) if held else 0)
    choice = coefficients + decision_bytes(scored, columns, grid)
    together = 0.0
    if shared:
        together = 8.0 * row_groups(held) * p**2 + sum(
            whole
            for rows in (sizes.n, sizes.n_test)
            if (whole := float(sizes.itemsize * rows * p)) <= MATRIX_BYTES
        )
    return together + max(coefficients + solver.bytes_to_fit(sizes, p), choice)
