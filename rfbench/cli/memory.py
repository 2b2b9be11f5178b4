"""What `rfbench run` says about memory before it begins."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from rfbench.memory import GIB

if TYPE_CHECKING:
    from rfbench.config import Experiment
    from rfbench.experiment.footprint import Footprint
    from rfbench.experiment.plan import Trial
    from rfbench.experiment.worker import Limits

MOST_NAMED = 6


def say_memory(trials: Sequence[Trial], workers: int, limits: Limits | None) -> None:
    """Print the estimates of the trials that would run, see `memory_lines`."""
    for line in memory_lines(trials, workers, None if limits is None else limits.memory):
        click.echo(line)


def memory_lines(trials: Sequence[Trial], workers: int, limit: float | None) -> Iterator[str]:
    """Yield the estimate for a worker, what it leaves out, and which trials are above the limit.

    The limit is what one worker may use, in bytes; the data need not be there.
    """
    from rfbench.experiment.footprint import footprints

    found = footprints(trials)
    known = sorted((f for f in found if f.bytes is not None), key=lambda f: -(f.bytes or 0.0))
    if known:
        largest = known[0]
        allowed = "" if limit is None else f", limit {_gib(limit)} each"
        yield (
            f"memory: about {_gib(largest.bytes)} per worker at most ({_name(largest)}), "
            f"{workers} worker{'s' if workers > 1 else ''}{allowed}"
        )
    unknown = list(dict.fromkeys(f.trial.sampler.label for f in found if f.bytes is None))
    if unknown:
        yield (
            f"memory: not estimated: {', '.join(unknown)}, whose number of features is known only "
            "once they are fitted"
        )
    sparse = {f.trial.dataset.name for f in found if f.trial.dataset.entry.sparse}
    if sparse:
        yield f"memory: not counted: the rows of {', '.join(sorted(sparse))}, which are sparse"
    above = [f for f in known if limit is not None and (f.bytes or 0.0) > limit]
    if above:
        named = ", ".join(f"{_name(f)} ({_gib(f.bytes)})" for f in above[:MOST_NAMED])
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


def _name(footprint: Footprint) -> str:
    trial = footprint.trial
    size = "" if trial.M is None else f", M = {trial.M}"
    values = " ".join(f"{key}={value}" for key, value in trial.dataset.parameters.items())
    several = f", {trial.dataset.name} {values}" if values else ""
    if not values and len(trial.experiment.dataset) > 1:
        several = f", {trial.dataset.name}"
    return f"{trial.sampler.label}{size}{several}"


def _gib(amount: float | None) -> str:
    return f"{(amount or 0.0) / GIB:.1f} GiB"
