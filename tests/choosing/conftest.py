"""Rounds that are over soon."""

import numpy as np
import pandas as pd
import pytest

from rfbench.choosing import rounds
from rfbench.choosing.table import LabeledTable

FOREVER = 900.0


def shortened(**changes):
    """Return few contenders: one kernel, few landmarks, nothing that is learnt or trained."""
    own = rounds.CONTENDERS
    quick = {
        word: [
            m if m["family"] != "boosting"
            else {**m, "parameters": {**m["parameters"], "max_iter": 30}}
            for m in models
        ]
        for word, models in own["models"].items()
    }  # fmt: skip
    few = {
        "models": quick,
        "kernels": {"gaussian": [0.5, 1.0, 2.0]},
        "steps": [1.0],
        "metrics": [],
        "features": own["features"] | {"metric_landmarks": 40},
        "portfolio": [],
        "random": own["random"] | {"brackets": 0},
        "sizes": {"few": 20, "middle": 40, "most": 80},
    }
    return own | few | changes


@pytest.fixture(scope="session")
def short():
    few = shortened()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rounds, "CONTENDERS", few)
        yield


def rounds_of(y, classes=(), metric="", **keys):
    """Return rounds of which a fifth of the rows chooses, or of few rows folds, and all judge."""
    n = len(y)
    rows = pd.DataFrame(np.random.default_rng(0).standard_normal((n, 2)), columns=["a", "b"])
    metric = metric or ("error" if len(classes) else "rmse")
    table = LabeledTable(rows, y, np.array(classes), metric=metric, **keys)
    splits = table.split(0.2, 3 if n <= 2000 else 1)
    return rounds.Rounds(table, [*splits, (np.arange(n), np.arange(n))], np.inf, None)


def towns(n, seed=0, *, noise=0.1):
    """A table of numbers, words, dates and gaps, with a target that follows from them."""
    random = np.random.default_rng(seed)
    table = pd.DataFrame(random.standard_normal((n, 2)), columns=["a", "b"])
    table["town"] = random.choice(["Kiel", "Ulm", "Bonn"], n)
    table["day"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(random.integers(0, 700, n), "D")
    table["price"] = (
        np.sin(2 * table["a"]) + (table["town"] == "Ulm") + noise * random.standard_normal(n)
    )
    table.loc[random.random(n) < 0.05, "b"] = np.nan
    return table
