"""Objects that several trials share: prepared rows, bandwidths, the exact kernel matrix."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np

from rfbench import bandwidths, datasets
from rfbench.arrays import Rows
from rfbench.bandwidths import Candidates
from rfbench.config.specs import BandwidthGrid
from rfbench.datasets import Prepared
from rfbench.datasets.split import is_fixed_split
from rfbench.experiment.kernel_error import CrossKernel, ExactKernel
from rfbench.experiment.plan import Trial, make_generator
from rfbench.kernels import Kernel
from rfbench.registry import KERNELS

Value = TypeVar("Value")
SHAPING_ROWS = {"split", "scaling", "target", "rows", "test_rows", "dtype", "seed"}


class Context:
    """Cache of prepared rows, bandwidths and kernel matrices for trials that share them.

    The cache stores the last object of each kind. The arrays are read-only, so that a method cannot
    change the data of the next method.
    """

    def __init__(self) -> None:
        self._held: dict[str, tuple[object, Any]] = {}

    def prepare(self, trial: Trial) -> Prepared:
        """Return the training set and the test set of a trial, scaled, encoded and read-only."""
        return self._last("rows", _rows_of(trial), lambda: _make_read_only(_prepare(trial)))

    def list_candidate_bandwidths(self, trial: Trial) -> Candidates | None:
        """Return the candidate bandwidths of a trial, or None for a kernel without a bandwidth."""
        experiment = trial.experiment
        if not KERNELS.find(experiment.kernel).has_bandwidth:
            return None
        rule = experiment.bandwidth
        rules = rule.cv if isinstance(rule, BandwidthGrid) else [rule]
        generator = make_generator(experiment.seed, "bandwidth", trial.number)
        return self._last(
            "bandwidth",
            (_rows_of(trial), trial.number, rules),
            lambda: bandwidths.list_candidate_bandwidths(
                rules, self.prepare(trial).X_train, generator
            ),
        )

    def compute_exact_kernel(
        self, trial: Trial, kernel: Kernel, count: int
    ) -> tuple[Rows, ExactKernel | CrossKernel]:
        """Return up to `count` random training rows and their exact kernel matrix.

        For a single sample, the matrix is stored with a penalty, which is the median of the
        configured penalties, scaled to the number of returned rows. With `kernel_error_draws: 2`,
        the rows are two random samples, and the matrix contains the kernel values between both
        samples.
        """

        draws = trial.experiment.kernel_error_draws

        def make() -> tuple[Rows, ExactKernel | CrossKernel]:
            X, solver = self.prepare(trial).X_train, trial.experiment.solver
            generator = make_generator(trial.experiment.seed, "kernel rows", trial.number)
            size = min(count, X.shape[0])
            some = [
                np.sort(generator.choice(X.shape[0], size=size, replace=False))
                for _ in range(draws)
            ]
            rows = _make_read_only(X[np.concatenate(some)])
            if draws > 1:
                return rows, _make_read_only(CrossKernel(kernel(rows[:size], rows[size:])))
            penalty = sorted(solver.alphas)[len(solver.alphas) // 2] * rows.shape[0]
            if solver.alpha_convention == "absolute":
                penalty /= X.shape[0]
            return rows, _make_read_only(ExactKernel.from_matrix(kernel(rows, rows), penalty))

        key = (_rows_of(trial), trial.number, count, draws, kernel)
        return self._last("kernel", key, make)

    def _last(self, what: str, key: object, make: Callable[[], Value]) -> Value:
        if what not in self._held or self._held[what][0] != key:
            # Delete the previous object, such as a kernel matrix, before the next object is
            # computed. Otherwise both objects would be in memory at the same time.
            self._held.pop(what, None)
            self._held[what] = (key, make())
        return cast("Value", self._held[what][1])


def _rows_of(trial: Trial) -> tuple[object, ...]:
    """Return a key that is equal for trials with the same prepared rows."""
    experiment, dataset = trial.experiment, trial.dataset
    shaping = experiment.model_dump_json(include=SHAPING_ROWS)
    return dataset.model_dump_json(), trial.data_sha256, shaping, _row_number(trial)


def _row_number(trial: Trial) -> int:
    """Return the number that determines the random rows of a trial.

    The number is the trial number, or 0 if all trials have the same rows.
    """
    drawn = trial.experiment.rows is not None or trial.experiment.test_rows is not None
    fixed = is_fixed_split(trial.experiment.split) and not drawn
    return 0 if fixed and trial.entry.kind != "synthetic" else trial.number


def _prepare(trial: Trial) -> Prepared:
    experiment, number = trial.experiment, _row_number(trial)
    dataset = datasets.load(
        trial.dataset.name,
        parameters=trial.dataset.parameters or None,
        generator=make_generator(experiment.seed, "data", number),
        folder=trial.dataset.folder,
        sha256=trial.data_sha256,
    )
    return datasets.prepare(
        dataset,
        split=experiment.split,
        scaling=experiment.scaling,
        target=experiment.target,
        generator=make_generator(experiment.seed, "split", number),
        rows=experiment.rows,
        test_rows=experiment.test_rows,
        dtype=experiment.dtype,
        trial=number,
    )


def _make_read_only(value: Value) -> Value:
    """Make an array, or all arrays in an object, read-only, and return the object."""
    parts: Any = [value] if isinstance(value, np.ndarray) else vars(value).values()
    for part in parts:
        if isinstance(part, np.ndarray):
            part.setflags(write=False)
        elif hasattr(part, "indptr"):
            _make_read_only(part)
    return value
