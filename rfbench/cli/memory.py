"""What `rfbench run` says about memory before it begins."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rfbench.memory import GIB

if TYPE_CHECKING:
    from rfbench.config import Experiment
    from rfbench.experiment.plan import Trial

MOST_NAMED = 6


def memory_lines(trials: Sequence[Trial], workers: int, limit: float | None) -> Iterator[str]:
    """Yield the estimate for a worker, what it leaves out, and which trials are above the limit.

    The limit is what one worker may use, in bytes; the data need not be there.
    """
    from rfbench.experiment.footprint import footprints

    estimates = footprints(trials)
    ordered = sorted(
        ((need, trial) for trial, need in estimates if need is not None), key=lambda k: -k[0]
    )
    if ordered:
        largest, trial = ordered[0]
        allowed = "" if limit is None else f", limit {_gib(limit)} each"
        yield (
            f"memory: about {_gib(largest)} per worker at most ({_name(trial)}), "
            f"{workers} worker{'s' if workers > 1 else ''}{allowed}"
        )
    unknown = list(dict.fromkeys(trial.sampler.label for trial, need in estimates if need is None))
    if unknown:
        yield (
            f"memory: not estimated: {', '.join(unknown)}, whose number of features is known only "
            "once they are fitted"
        )
    sparse = {trial.dataset.name for trial, _ in estimates if trial.dataset.entry.sparse}
    if sparse:
        yield f"memory: not counted: the rows of {', '.join(sorted(sparse))}, which are sparse"
    above = [
        f"{_name(t)} ({_gib(need)})" for need, t in ordered if limit is not None and need > limit
    ]
    if above:
        named = ", ".join(above[:MOST_NAMED])
        more = f" and {len(above) - MOST_NAMED} more" if len(above) > MOST_NAMED else ""
        yield (
            f"memory: above the limit, so that they may end as rows `memory`: {named}{more}; "
            "take fewer --jobs, or raise --memory"
        )


def trials_without_data(experiments: Sequence[Experiment]) -> list[Trial]:
    """Return one trial of every data set, sampler and M, with no identity of the data."""
    from rfbench.experiment.plan import Trial

    return [
        Trial(e, dataset, "", sampler, M, 0)
        for e in experiments
        for dataset in e.dataset
        for sampler in e.samplers
        for M in e.sizes
    ]


def _name(trial: Trial) -> str:
    size = "" if trial.M is None else f", M = {trial.M}"
    values = " ".join(f"{key}={value}" for key, value in trial.dataset.parameters.items())
    several = f", {trial.dataset.name} {values}" if values else ""
    if not values and len(trial.experiment.dataset) > 1:
        several = f", {trial.dataset.name}"
    return f"{trial.sampler.label}{size}{several}"


def _gib(amount: float) -> str:
    return f"{amount / GIB:.1f} GiB"
