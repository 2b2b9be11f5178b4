"""Tests that `scripts/test --all` and the nightly workflow add: full sizes, long lists, many kills.

Each has a fast test that fails for the same fault.
"""

import os
from typing import Any

import pytest

NIGHTLY = bool(os.environ.get("RFBENCH_NIGHTLY"))
nightly = pytest.mark.skipif(not NIGHTLY, reason="scripts/test --all runs it")


def at_night(*values: Any) -> list[Any]:
    """Return values of one parameter of a test that run at night alone."""
    return [pytest.param(value, marks=nightly) for value in values]
