"""Selection of a kernel bandwidth from a grid, together with the penalty, within one trial."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from rfbench.bandwidths import choose_bandwidth_nearest_to_rule
from rfbench.clock import Clock
from rfbench.config.specs import BandwidthGrid
from rfbench.experiment.fitting import ResolvedTrial, fit_features, fit_model, make_fold_fit
from rfbench.samplers.base import Shared

# Text of the note in a result row if the search tried more bandwidths than the grid lists. The
# number of bandwidths precedes this text.
BANDWIDTHS_TRIED = "bandwidths tried"
# Two losses count as equal if their relative difference is smaller than this value. The value
# exceeds the rounding error of a sum over the folds, which is about 1e-15 by definition of float64.
# With twice or half the value, a selection would change only if two losses differ by about this
# value.
EQUAL_LOSSES = 1e-12


@dataclass(frozen=True)
class BandwidthChoice:
    """The bandwidth that a trial has selected.

    Attributes
    ----------
    bandwidth : float or None
        The bandwidth, or None for a kernel without a bandwidth.
    at_edge : bool or None
        True if the bandwidth is the smallest or the largest bandwidth that was tried. None if no
        bandwidth was selected.
    notes : tuple of str
        A note with the number of bandwidths that were tried, if the grid was widened.
    """

    bandwidth: float | None
    at_edge: bool | None = None
    notes: tuple[str, ...] = ()


def search_bandwidth(resolved: ResolvedTrial, clock: Clock, shared: Shared) -> BandwidthChoice:
    """Fit a trial with each candidate bandwidth, and return the bandwidth with the smallest loss.

    The loss is computed on the rows on which the penalty is selected. With `selection: test`, these
    rows are the test set. With other selections, they are held out from the training set. If
    several bandwidths have the same loss, the largest bandwidth is selected. The time of the search
    counts as training time.

    A grid with `widen` is extended by factors of two as long as the best bandwidth is at an edge.
    Among bandwidths with similar losses, the bandwidth nearest to a rule is then returned (see
    `rfbench.bandwidths.choose_bandwidth_nearest_to_rule`).
    """
    trial = resolved.trial
    grid, rule = resolved.context.list_candidate_bandwidths(trial), trial.experiment.bandwidth
    if grid is None:
        return BandwidthChoice(None)
    widened = isinstance(rule, BandwidthGrid) and rule.widen
    if not trial.uses_bandwidth or (len(grid.values) < 2 and not widened):
        return BandwidthChoice(grid.values[0])
    spent = Clock()
    losses: dict[float, float] = {}
    folds: dict[float, Any] = {}

    def measure_loss(value: float) -> None:
        model = resolved.make_model(value)
        fit = fit_features(resolved, model, value, spent, shared)
        fit_fold = make_fold_fit(resolved, model, value, shared)
        report = fit_model(resolved, model, fit.features, spent, fit_fold).report_
        assert report.selection_loss is not None
        losses[value], folds[value] = report.selection_loss, report.fold_losses

    listed = len(grid.values)
    for value in grid.values:
        measure_loss(value)
    best = _best_of(losses)
    # If the bandwidth with the smallest loss is at an edge of the grid, a bandwidth beyond this
    # edge may have an even smaller loss. The grid is therefore extended beyond this edge, and never
    # at the opposite edge, whose loss is larger.
    while widened and (further := grid.widen(best)) is not None:
        measure_loss(further)
        grid, best = grid.with_bandwidth(further), _best_of(losses)
    # Select the bandwidth nearest to the rule, such as the median rule, among all bandwidths whose
    # loss exceeds the smallest loss by at most a standard error over the folds. Without folds,
    # there is no standard error, and the bandwidth with the smallest loss is selected.
    if widened and all(loss is not None for loss in folds.values()):
        best = choose_bandwidth_nearest_to_rule(folds, grid.rule)
    # Fits with all candidate bandwidths count as training time. Otherwise, a large grid of
    # bandwidths would seem to have no cost.
    clock.add(spent, to="train")
    notes = (f"{len(losses)} {BANDWIDTHS_TRIED}",) if len(losses) > listed else ()
    return BandwidthChoice(best, best in (grid.values[0], grid.values[-1]), notes)


def _best_of(losses: dict[float, float]) -> float:
    """Return the bandwidth with the smallest loss, given a dictionary of losses by bandwidth.

    Among equal losses, the largest bandwidth is returned.
    """
    ordered: Iterable[float] = sorted(losses, reverse=True)
    best, *others = ordered
    for value in others:
        if losses[value] < losses[best] * (1 - EQUAL_LOSSES):
            best = value
    return best
