"""Random numbers, keyed by the experiment's seed, a role and the trial's number."""

from __future__ import annotations

import numpy as np

# The number of each role: with another one every published number changes.
ROLES = {
    "data": 0,
    "split": 1,
    "kernel rows": 2,
    "bandwidth": 3,
    "features": 4,
    "folds": 5,
    "globals": 6,
}


def seed_for(seed: int, role: str, number: int) -> np.random.SeedSequence:
    """Return the random numbers of a role in a trial.

    All samplers of the trial see the same ones, so that their differences can be paired; another
    trial has other ones.
    """
    return np.random.SeedSequence([seed, ROLES[role], number])


def generator_for(seed: int, role: str, number: int) -> np.random.Generator:
    """Return the same as a generator."""
    return np.random.default_rng(seed_for(seed, role, number))


def integer_for(seed: int, role: str, number: int) -> int:
    """Return the same as one whole number, as scikit-learn's estimators take it."""
    return int(seed_for(seed, role, number).generate_state(1, np.uint32)[0])
