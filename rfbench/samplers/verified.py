"""What each sampler was verified against, from `verified.yaml`."""

from __future__ import annotations

from importlib import resources
from typing import NamedTuple

import yaml


class VerifiedAgainst(NamedTuple):
    """One comparison that a test holds; the file says what the fields mean."""

    against: str
    compared: str
    tolerance: str
    test: str
    licence: str = ""


def verifications() -> dict[str, list[VerifiedAgainst]]:
    """Return the comparisons of every sampler, by its published name."""
    text = resources.files("rfbench.samplers").joinpath("verified.yaml").read_text("utf-8")
    return {
        name: [VerifiedAgainst(**{key: str(value) for key, value in one.items()}) for one in lines]
        for name, lines in yaml.safe_load(text).items()
    }
