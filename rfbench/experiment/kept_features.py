"""What a fitted sampler's learned distribution keeps, as lines of `kept.csv`."""

from __future__ import annotations

from typing import Any

from rfbench.results.kept_features import FREQUENCY
from rfbench.samplers import LKRF
from rfbench.samplers.feature_map import FeatureMap


def lines_of(sampler: LKRF, trial: int) -> list[dict[str, Any]]:
    """Return one line a kept feature of a fitted sampler, the heaviest first.

    ``feature`` is the number of a coordinate (linear kernel) or of the candidate in the pool,
    ``w1`` to ``wd`` its frequency, ``b`` its offset (map ``offset``), ``weight`` its q.
    """
    numbers, features, weights = sampler.kept_features()
    coordinate = features.feature == "coordinate"
    names = features.frequencies if coordinate else numbers
    return [
        {
            "trial": trial,
            "M": sampler.n_components,
            "feature": int(name),
            **({} if coordinate else _frequency(features, i)),
            "weight": float(weight),
        }
        for i, (name, weight) in enumerate(zip(names, weights, strict=True))
    ]


def _frequency(features: FeatureMap, i: int) -> dict[str, float]:
    found = dict(zip(FREQUENCY, features.frequencies[:, i].tolist(), strict=False))
    return found if features.offsets is None else found | {"b": float(features.offsets[i])}
