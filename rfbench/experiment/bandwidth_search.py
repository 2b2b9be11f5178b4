"""The bandwidth of a trial, where the configuration lists several: chosen with the penalty."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from rfbench.bandwidths import choose_nearest_to_rule
from rfbench.clock import Clock
from rfbench.config.specs import BandwidthGrid
from rfbench.experiment.fitting import ResolvedTrial, fit_features, fit_model, refit_in_folds
from rfbench.samplers.base import Shared

# The end of a note of a row, after their number, where a grid was widened.
BANDWIDTHS_TRIED = "bandwidths tried"
# Losses that differ by less are equal: the sums of the folds are rounded, to about 1e-15 of them by
# definition of float64. Doubled or halved, no choice changes unless two losses differ by as little.
EQUAL_LOSSES = 1e-12


@dataclass(frozen=True)
class BandwidthChoice:
    """The bandwidth of a trial.

    Attributes
    ----------
    bandwidth : float or None
        None of a kernel without a bandwidth.
    at_edge : bool or None
        Whether it is the smallest or the largest of those tried; None where there was no choice.
    notes : list of str
        How many were tried, where these are more than the configuration lists.
    """

    bandwidth: float | None
    at_edge: bool | None = None
    notes: tuple[str, ...] = ()


def search_bandwidth(resolved: ResolvedTrial, clock: Clock, shared: Shared) -> BandwidthChoice:
    """Return the bandwidth with the smallest loss on the rows by which the penalty is chosen.

    These are held-out training rows; with `selection: test` they are the test rows, as in papers
    that report the best result. Each candidate is fitted as a trial with it would be, with a choice
    of the penalty. Among equal losses the largest bandwidth wins. The time of the search is time of
    training. A grid with `widen` is extended by factors of two while the best value is at an edge;
    then `rfbench.bandwidths.choose_nearest_to_rule` chooses.
    """
    trial = resolved.trial
    grid, rule = resolved.context.bandwidths(trial), trial.experiment.bandwidth
    if grid is None:
        return BandwidthChoice(None)
    widened = isinstance(rule, BandwidthGrid) and rule.widen
    if not trial.heeds_bandwidth or (len(grid.values) < 2 and not widened):
        return BandwidthChoice(grid.values[0])
    spent = Clock()
    losses: dict[float, float] = {}
    folds: dict[float, Any] = {}

    def measure_loss(value: float) -> None:
        model = resolved.model(value)
        fit = fit_features(resolved, model, value, spent, shared)
        refit = refit_in_folds(resolved, model, value, shared)
        report = fit_model(resolved, model, fit.features, spent, refit).report_
        assert report.selection_loss is not None
        losses[value], folds[value] = report.selection_loss, report.fold_losses

    listed = len(grid.values)
    for value in grid.values:
        measure_loss(value)
    best = _best_of(losses)
    # A best one at an edge may be better still beyond it. The grid goes on from there alone: the
    # other edge is known to be worse.
    while widened and (further := grid.wider(best)) is not None:
        measure_loss(further)
        grid, best = grid.with_value(further), _best_of(losses)
    # Among candidates whose difference is within the error of the folds, the one nearest to the
    # rule is chosen. A loss without folds has no such error.
    if widened and all(loss is not None for loss in folds.values()):
        best = choose_nearest_to_rule(folds, grid.rule)
    # The row pays for all candidates: the choice is a part of its fit, as that of a penalty is.
    clock.charge(spent, to="train")
    notes = (f"{len(losses)} {BANDWIDTHS_TRIED}",) if len(losses) > listed else ()
    return BandwidthChoice(best, best in (grid.values[0], grid.values[-1]), notes)


def _best_of(losses: dict[float, float]) -> float:
    """Return the bandwidth with the smallest loss, of equal ones the largest."""
    ordered: Iterable[float] = sorted(losses, reverse=True)
    best, *others = ordered
    for value in others:
        if losses[value] < losses[best] * (1 - EQUAL_LOSSES):
            best = value
    return best
