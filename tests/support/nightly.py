"""Which tests wait for the night: full sizes, many kills, laws over hundreds of simulations."""

import os
from typing import Any

import pytest

NIGHTLY = bool(os.environ.get("RFBENCH_NIGHTLY"))
nightly = pytest.mark.skipif(not NIGHTLY, reason="RFBENCH_NIGHTLY=1 runs it")


def at_night(*values: Any) -> list[Any]:
    """Return values of one parameter of a test that run at night alone."""
    return [pytest.param(value, marks=nightly) for value in values]
