"""A promise, the check that tests it, and what checks say where it is not kept.

A check is a function of a subject (what is tested, and how it is built) that raises `CheckFailed`
where the promise is not kept, and `NotApplicable` where it is not made. Its name is the promise in
short; its docstring says what is promised, and after "To do:" what helps.
"""

from __future__ import annotations

import inspect
import re
import sys
import textwrap
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

Check = Callable[..., None]
LONGEST = 6  # lines of what was got


class CheckFailed(AssertionError):
    """A promise that is not kept; the message is a sentence that says what came instead."""


class NotApplicable(Exception):
    """A check of what is not promised; the message says why not."""


def checks_of(subject: type[Any]) -> list[Check]:
    """Return the functions beside a class of subjects that take one first, in order."""
    here = vars(sys.modules[subject.__module__]).values()
    return [f for f in here if inspect.isfunction(f) and _first(f) == subject.__name__]


def _first(function: Check) -> str:
    """Return the name of the type of a function's first parameter."""
    parameters = list(inspect.signature(function).parameters.values())
    return str(parameters[0].annotation) if parameters else ""


@dataclass
class Promise:
    """One promise, and whether it is kept.

    Attributes
    ----------
    name : str
    expected, todo : str
        What is promised, and what to do where it is not kept.
    got : str
        Why it is not kept; empty where it is.
    why_not : str
        Why it was not tested; empty where it was.
    """

    name: str
    expected: str = ""
    todo: str = ""
    got: str = ""
    why_not: str = ""

    @classmethod
    def of(cls, check: Check) -> Promise:
        """Return the promise that a check tests, before it is run."""
        expected, _, todo = " ".join((inspect.getdoc(check) or "").split()).partition("To do: ")
        return cls(check.__name__.replace("_", " "), expected.strip(), todo[:1].upper() + todo[1:])

    def explanation(self) -> str:
        """Return what was expected, what was got, and what to do."""
        lines = [self.name]
        for word, fact in (("expected", self.expected), ("got", self.got), ("to do", self.todo)):
            parts = [part for line in fact.splitlines() for part in textwrap.wrap(line, 78)]
            indents = [f"    {word + ':':10}", *[" " * 14] * (len(parts) - 1)]
            lines += map("".join, zip(indents, parts, strict=True))
        return "\n".join(lines)


def run_checks(subject: Any, checks: Sequence[Check]) -> list[Promise]:
    """Run checks on a subject.

    The first is one plain use. Where it fails, each other would by the same exception, and none is
    run.
    """
    promises: list[Promise] = []
    for check in checks:
        promises.append(promise := Promise.of(check))
        try:
            check(subject)
        except NotApplicable as error:
            promise.why_not = str(error)
        except Exception as error:
            promise.got = explained(error, subject.thing)
        if promises[0].got:
            break
    return promises


def explained(error: Exception, thing: Any) -> str:
    """Return the sentence of a failed check, or an exception with the line that raised it."""
    if isinstance(error, CheckFailed):
        return str(error)
    lines = [line for line in f"{type(error).__name__}: {error}".splitlines() if line.strip()]
    message = "\n".join(lines[:LONGEST])
    try:
        own = inspect.getsourcefile(thing)
    except TypeError:  # it is built in
        own = None
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if own and frame.filename == own:
            return f"{message}\n{Path(own).name}, line {frame.lineno}: {frame.line}"
    return message


def expect(kept: Any, sentence: str) -> None:
    """Raise CheckFailed with a sentence unless what is promised is true."""
    if not kept:
        raise CheckFailed(sentence)


def expect_same(got: Any, expected: Any, what: str, tolerance: float = 0.0) -> None:
    """Raise CheckFailed unless two arrays are the same, or nearly (absolutely) with a tolerance."""
    got, expected = np.asarray(got), np.asarray(expected)
    if got.shape != expected.shape:
        raise CheckFailed(f"{what}: the shape is {got.shape} in place of {expected.shape}")
    try:
        if tolerance:
            assert_allclose(got, expected, atol=tolerance)
        else:
            assert_array_equal(got, expected)
    except AssertionError:
        sentence = f"{what}: {np.sum(got != expected)} of {got.size} values differ"
        if np.issubdtype(got.dtype, np.number) and np.issubdtype(expected.dtype, np.number):
            by = np.abs(got.astype(float) - expected.astype(float)).max()
            sentence += f", by up to {by:.3g}" + (f" (allowed: {tolerance:.3g})" * bool(tolerance))
        raise CheckFailed(sentence) from None


def expect_finite(rows: Any) -> None:
    """Raise CheckFailed with the columns that have NaN or infinity, if any has."""
    bad = np.flatnonzero(~np.isfinite(rows).all(axis=0))
    columns = ", ".join(map(str, bad[:5])) + (", ..." if len(bad) > 5 else "")
    verb = "has" if len(bad) == 1 else "have"
    expect(not len(bad), f"{len(bad)} of {rows.shape[1]} columns {verb} NaN or infinity: {columns}")


@contextmanager
def expect_refusal(error: type[Exception], what: str, match: str = "") -> Iterator[None]:
    """Raise CheckFailed unless an error with a message that matches is raised inside."""
    try:
        yield
    except error as raised:
        if not re.search(match, str(raised)):
            raise CheckFailed(
                f"{what}: {type(raised).__name__} says {str(raised)!r}, nothing of {match!r}"
            ) from None
    else:
        raise CheckFailed(f"{what}: no {error.__name__} is raised")
