"""Tests that `scripts/test --all` and the nightly workflow add: full sizes, long lists, many kills.

``tests/nightly.yaml`` lists tests that take seconds, each with the nearest test that runs by day.
`nightly` and `at_night` mark complete versions of a fast test in its own file. The fast test fails
for the same faults.
"""

import os
import re
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

NIGHTLY = bool(os.environ.get("RFBENCH_NIGHTLY"))
nightly = pytest.mark.skipif(not NIGHTLY, reason="scripts/test --all runs it")
TESTS = Path(__file__).parents[1]
OTHER_CASES = "the other cases"


class Entry(NamedTuple):
    """An entry of ``tests/nightly.yaml``; the file explains its keys."""

    test: str
    by_day: str
    cases: str = ""


def at_night(*values: Any) -> list[Any]:
    """Return values of one parameter of a test that run at night alone."""
    return [pytest.param(value, marks=nightly) for value in values]


def read_entries() -> list[Entry]:
    """Return the entries of ``tests/nightly.yaml``."""
    content = yaml.safe_load((TESTS / "nightly.yaml").read_text(encoding="utf-8"))
    return [Entry(**entry) for entry in content]


def find_test(item: pytest.Item) -> str:
    """Return the file, relative to ``tests``, and the name of a test, without its case."""
    return item.nodeid.removeprefix("tests/").partition("[")[0]


def mark_nightly_tests(items: list[pytest.Item]) -> set[str]:
    """Mark the collected tests that ``tests/nightly.yaml`` lists; return the tests with a mark."""
    entries, marked = {entry.test: entry for entry in read_entries()}, set()
    for item in items:
        case = item.nodeid.partition("[")[2].removesuffix("]")
        entry = entries.get(find_test(item))
        if entry is not None and re.search(entry.cases, case):
            item.add_marker(nightly)
            marked.add(entry.test)
    return marked
