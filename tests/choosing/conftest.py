"""A search that is over soon: few sizes, one kernel, no other settings of boosting."""

import numpy as np
import pandas as pd
import pytest

from rfbench.choosing import menu

FOREVER = 900.0


@pytest.fixture(scope="session")
def short():
    own = menu.shipped()
    with pytest.MonkeyPatch.context() as patch:
        landmarks = own.landmarks.model_copy(update={"small": 20, "middle": 40, "largest": 80})
        update = {"metrics": ["diagonal"], "boosting": [], "landmarks": landmarks}
        update["kernels"] = {"gaussian": (0.5, 1.0, 2.0)}
        patch.setattr(menu, "shipped", lambda: own.model_copy(update=update))
        yield


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
