"""A promise, the check that tests it, and what checks say where it is not kept.

A check is a function of a subject (what is tested, and how it is built) that raises `CheckFailed`
where the promise is not kept. Its name is the promise in short; its docstring is the promise, and
what to do where it is not kept.
"""

from __future__ import annotations

import inspect
import re
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

Check = Callable[..., None]


class CheckFailed(AssertionError):
    """A promise that is not kept; the message is a sentence that says what came instead."""


class Promise(NamedTuple):
    """One promise, what helps where it is not kept, and why it is not; empty where it is."""

    name: str
    help: str
    fault: str = ""

    def __str__(self) -> str:
        return f"{self.name}: {self.fault}\n{self.help}"


def run_checks(subject: Any, checks: Sequence[Check]) -> list[Promise]:
    """Run checks on a subject.

    The first is one plain use. Where it fails, each other would by the same exception, and none is
    run.
    """
    promises: list[Promise] = []
    for check in checks:
        fault = fault_of(partial(check, subject))
        name = check.__name__.replace("_", " ")
        promises.append(Promise(name, inspect.getdoc(check) or "", fault))
        if promises[0].fault:
            break
    return promises


def fault_of(call: Callable[[], Any]) -> str:
    """Return what a call raises, in a sentence; empty if it raises nothing."""
    try:
        call()
    except CheckFailed as error:
        return str(error)
    except Exception as error:
        at = traceback.extract_tb(error.__traceback__)[-1]
        where = f"({Path(at.filename).name}, line {at.lineno}: {at.line})"
        return f"{type(error).__name__}: {error} {where}"
    return ""


def expect(kept: Any, sentence: str) -> None:
    """Raise CheckFailed with a sentence unless what is promised is true."""
    if not kept:
        raise CheckFailed(sentence)


def expect_same(got: Any, expected: Any, what: str, tolerance: float = 0.0) -> None:
    """Raise CheckFailed unless two arrays are the same, or nearly (absolutely) with a tolerance."""
    got, expected = np.asarray(got), np.asarray(expected)
    try:
        if tolerance:
            assert_allclose(got, expected, atol=tolerance)
        else:
            assert_array_equal(got, expected)
    except AssertionError as error:
        told = ("(shapes", "nan location", "Mismatched elements", "Max absolute")
        facts = "; ".join(line for line in str(error).splitlines() if line.startswith(told))
        raise CheckFailed(f"{what}: {facts}") from None


def expect_finite(rows: Any) -> None:
    """Raise CheckFailed with the columns that have NaN or infinity, if any has."""
    bad = np.flatnonzero(~np.isfinite(rows).all(axis=0)).tolist()
    expect(not bad, f"of {rows.shape[1]} columns have NaN or infinity: {bad}")


@contextmanager
def expect_refusal(error: type[Exception], what: str, match: str = "") -> Iterator[None]:
    """Raise CheckFailed unless an error with a message that matches is raised inside."""
    try:
        yield
    except error as refusal:
        said = f"{what}: {type(refusal).__name__} says {str(refusal)!r}, nothing of {match!r}"
        expect(re.search(match, str(refusal)), said)
    else:
        raise CheckFailed(f"{what}: no {error.__name__} is raised")
