"""An invented table of prices of flats, for the examples in the documentation."""

from __future__ import annotations

import numpy as np
import pandas as pd

# N_FLATS is the number of flats with prices. N_NEW is the number of flats without prices. The
# values are invented: a fit on 400 rows takes seconds, and a table of ten rows fits on a screen.
# With twice as many rows, a fit needs about twice the time.
N_FLATS, N_NEW = 400, 10
# TOWNS maps each town to its price level. SPREAD is the standard deviation of the relative noise of
# the prices. The values are invented. With twice this SPREAD, the error of the best model is about
# twice as large.
TOWNS = {"Ulm": 1.0, "Kiel": 0.8, "Bonn": 1.3}
SPREAD = 0.08


def make_example_flats(seed: int = 0) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return a table of flats with prices, and a table of new flats without prices.

    Parameters
    ----------
    seed : int, default=0
        Seed of the random generator.

    Returns
    -------
    flats : DataFrame of shape (400, 6)
        Columns ``area`` (square meters), ``rooms``, ``floor``, ``built`` (year), ``town`` and
        ``price`` (thousands). Some years are missing.
    new : DataFrame of shape (10, 5)
        The same columns without ``price``.
    """
    random = np.random.default_rng(seed)
    n = N_FLATS + N_NEW
    area = random.uniform(25, 140, n).round(1)
    rooms = np.clip((area / 28 + random.uniform(-0.7, 0.7, n)).round(), 1, None).astype(int)
    floor, built = random.integers(0, 8, n), random.integers(1900, 2021, n)
    town = random.choice(list(TOWNS), n)
    level = np.array([TOWNS[name] for name in town])
    # Factor of the price as a function of the year of construction. The oldest and the newest
    # buildings are the most expensive.
    age = 1.2 - 0.5 * np.sin(np.pi * (built - 1900) / 120)
    price = level * age * (3.1 * area + 9 * rooms + 4 * np.minimum(floor, 4))
    price *= 1 + SPREAD * random.standard_normal(n)
    years = pd.array(built, dtype="Int64")
    years[random.random(n) < 0.05] = pd.NA
    table = pd.DataFrame({"area": area, "rooms": rooms, "floor": floor, "built": years})
    table = table.assign(town=town, price=price.round(1))
    return table[:N_FLATS], table[N_FLATS:].drop(columns="price")
