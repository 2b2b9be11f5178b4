"""Function that computes the values for claims on means over the trials of each fold."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd

from rfbench.analysis.paired import Curve, Pairing, Quantity

N_FOLDS = 5  # number of folds in the paper, by definition


def by_fold(pairing: Pairing, curve: Curve, other: Curve | None) -> list[Quantity]:
    """Return the difference of two methods for each fold, averaged over the trials of the fold.

    Trials of one fold share their rows, so they count as one value.
    """
    collection, pairs = pairing.trials.collection, pairing.trials.pairs
    folds = collection.trial_pair_keys["trial"].iloc[pairs].to_numpy(dtype=int) % N_FOLDS
    table = pd.DataFrame(pairing.tabulate_metric(pairing.part.metric)).groupby(folds).mean()
    means = [
        table[list(itertools.chain(*columns.values()))].mean(axis=1).to_numpy()
        for columns in (curve, other or {})
    ]
    return [Quantity(np.asarray(means[0] - means[1]))]


CLAIMS = dict.fromkeys(["R1", "R2", "R3", "R4"], by_fold)
