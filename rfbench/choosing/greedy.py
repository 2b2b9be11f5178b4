"""Greedy selection of models for a weighted average, so that the average has a small loss.

Caruana, Niculescu-Mizil, Crew and Ksikes, Ensemble selection from libraries of models, ICML 2004.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rfbench.arrays import Array
from rfbench.metrics import SMALLEST

# Number of steps in which an average of models is built. Each step adds one model with the weight
# 1/20, so this is the smallest weight of a model. With twice as many steps, the selection needs
# twice the time.
STEPS = 20
# Largest number of predictions (rows times classes times models) that are compared in a step, which
# need 32 MB. Above this limit, the models with the largest losses are not compared. With twice this
# value, the memory and the time of a step are doubled.
MOST_SCORES = 4_000_000


def compute_model_losses(scores: Array, truth: NDArray[Any], metric: str) -> Array:
    """Return the loss of each model.

    For the metric ``error``, the loss is the percentage of wrong classes plus a small number that
    breaks ties. The number increases with the log-loss, and is smaller than a hundredth of the
    error of a single wrong row.

    Parameters
    ----------
    scores : array of shape (n, k, models)
        Probabilities of k classes, or numbers with k = 1.
    truth : array of shape (n,)
        Class codes or numbers.
    metric : str
        Metric, see `rfbench.choosing.losses.compute_loss`.

    Returns
    -------
    array of shape (models,)
        Losses.
    """
    if metric == "rmse":
        return np.asarray(np.sqrt(((scores[:, 0] - truth[:, None]) ** 2).mean(axis=0)))
    if metric == "mae":
        return np.asarray(np.abs(scores[:, 0] - truth[:, None]).mean(axis=0))
    right = np.clip(scores[np.arange(len(truth)), truth], SMALLEST, None)
    losses = -np.log(right).mean(axis=0)
    if metric == "error":
        wrong = (scores.argmax(axis=1) != truth[:, None]).mean(axis=0)
        return np.asarray(100 * wrong + losses / (1 + losses) / len(truth))
    return np.asarray(losses)


def select_weights_greedily(
    scores: Array, truth: NDArray[Any], metric: str, seconds: Array, allowed: float, most: int
) -> Array:
    """Return weights for an average of models, to which models are added one at a time.

    Each step adds the model with which the average has the smallest loss. A model can be added
    several times, and its weight is its share of the steps. The returned weights are from the step
    with the smallest loss.

    Parameters
    ----------
    scores, truth, metric
        As in `compute_model_losses`.
    seconds : array of shape (models,)
        Time of a fit of each model.
    allowed : float
        Largest sum of `seconds` over the models of the average. This limit does not apply to the
        first model.
    most : int
        Largest number of different models.

    Returns
    -------
    array of shape (models,)
        Weights that sum to 1.
    """
    counts, total = np.zeros(len(seconds)), np.zeros(scores.shape[:2])
    least, weights = np.inf, counts
    for step in range(1, STEPS + 1):
        losses = compute_model_losses((total[:, :, None] + scores) / step, truth, metric)
        used = counts > 0
        if step > 1:
            fits = (used.sum() < most) & (seconds[used].sum() + seconds <= allowed)
            losses[~(used | fits)] = np.inf
        added = int(np.argmin(losses))
        counts[added] += 1
        total += scores[:, :, added]
        if losses[added] < least:
            least, weights = losses[added], counts / step
    return weights
