"""A promise, the check that tests it, and what checks say where it is not kept.

A check is a function of a subject (what is tested, and how it is built) that raises `CheckFailed`
where the promise is not kept, and `NotApplicable` where it is not made. Its name is the promise in
short; its docstring says what is promised, and after "To do:" what helps. Its parameters beside the
subject are cases: it runs once for each of their values.
"""

from __future__ import annotations

import inspect
import itertools
import re
import sys
import textwrap
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.utils.estimator_checks import check_estimator

Check = Callable[..., None]
LONGEST = 6  # lines of what was got


class CheckFailed(AssertionError):
    """A promise that is not kept; the message is a sentence that says what came instead."""


class NotApplicable(Exception):
    """A check of what is not promised; the message says why not."""


class Contract(NamedTuple):
    """The checks of one kind of subject, in order, and the values of their parameters."""

    checks: Sequence[Check]
    values: Mapping[str, Sequence[Any]]

    @classmethod
    def of(cls, subject: type[Any], **values: Sequence[Any]) -> Contract:
        """Return the functions beside a class of subjects that take one first."""
        here = vars(sys.modules[subject.__module__]).values()
        functions = [f for f in here if inspect.isfunction(f) and subject.__name__ in _first(f)]
        return cls(functions, values)

    def cases(self, check: Check) -> list[dict[str, Any]]:
        """Return the arguments of a check beside its subject, once for each case."""
        names = list(inspect.signature(check).parameters)[1:]
        every = itertools.product(*(self.values[name] for name in names))
        return [dict(zip(names, case, strict=True)) for case in every]


def _first(function: Check) -> list[str]:
    """Return the names of the types of a function's first parameter."""
    for parameter in inspect.signature(function).parameters.values():
        return str(parameter.annotation).split(" | ")
    return []


@dataclass
class Promise:
    """One promise, and whether it is kept.

    Attributes
    ----------
    name : str
    expected, todo : str
        What is promised, and what to do where it is not kept.
    got : list of str
        Why it is not kept, once per case that failed; empty where it is.
    cases : int
        How many cases were run; 0 where the promise is not made.
    why_not : str
        Why one that was not run was not.
    """

    name: str
    expected: str = ""
    todo: str = ""
    got: list[str] = field(default_factory=list)
    cases: int = 0
    why_not: str = ""

    @classmethod
    def of(cls, check: Check) -> Promise:
        """Return the promise that a check tests, before any case was run."""
        expected, _, todo = " ".join((inspect.getdoc(check) or "").split()).partition("To do: ")
        return cls(check.__name__.replace("_", " "), expected.strip(), todo[:1].upper() + todo[1:])

    def explanation(self) -> str:
        """Return what was expected, what was got in the first case that failed, and what to do."""
        some = f" ({len(self.got)} of {self.cases} cases)" if self.cases > 1 else ""
        lines = [self.name + some]
        for word, fact in (("expected", self.expected), ("got", self.got[0]), ("to do", self.todo)):
            parts = [part for line in fact.splitlines() for part in textwrap.wrap(line, 78)]
            indents = [f"    {word + ':':10}", *[" " * 14] * (len(parts) - 1)]
            lines += map("".join, zip(indents, parts, strict=True))
        return "\n".join(lines)


def run_checks(subject: Any, contract: Contract) -> list[Promise]:
    """Run every case of every check on a subject.

    The first check is one plain use. Where it fails, each other would by the same exception, and
    none is run.
    """
    promises: list[Promise] = []
    for check in contract.checks:
        promises.append(promise := Promise.of(check))
        for case in contract.cases(check):
            try:
                check(subject, **case)
            except NotApplicable as error:
                promise.why_not = promise.why_not or str(error)
                continue
            except Exception as error:
                words = (f"{name.replace('_', ' ')} {value}" for name, value in case.items())
                prefix = f"with the {', the '.join(words)}: " if case else ""
                promise.got.append(prefix + explained(error, subject.thing))
            promise.cases += 1
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


def failed_of_scikit_learn(
    estimator: Any, fewest: int, exceptions: Mapping[str, str]
) -> dict[str, str]:
    """Return the names of the checks of scikit-learn that an estimator fails, and why.

    Raises
    ------
    CheckFailed
        Fewer checks than `fewest` were run, or one passes that is among the exceptions.
    """
    results = check_estimator(
        estimator, expected_failed_checks=dict(exceptions), on_skip=None, on_fail=None
    )
    expect(len(results) >= fewest, f"only {len(results)} checks of scikit-learn were run")
    failed = {c["check_name"] for c in results if c["status"] == "xfail"}
    expect(failed == set(exceptions), f"these pass now: {sorted(set(exceptions) - failed)}")
    return {c["check_name"]: str(c["exception"]) for c in results if c["status"] == "failed"}
