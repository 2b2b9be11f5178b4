"""Checks as tests: one per subject and check, its cases inside."""

from __future__ import annotations

import inspect
import itertools
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import pytest
from sklearn.utils.estimator_checks import check_estimator

from rfbench.checking.samplers import Check, expect_true
from tests.support.nightly import nightly


class Contract(NamedTuple):
    """Checks of one kind of subject, in order, and the values of their parameters beside it."""

    checks: Sequence[Check]
    values: Mapping[str, Sequence[Any]]

    @classmethod
    def of(cls, subject: type[Any], module: str, **values: Sequence[Any]) -> Contract:
        """Return the functions of a module that take a subject first."""
        here = [f for f in vars(sys.modules[module]).values() if inspect.isfunction(f)]
        own = [f for f in here if f.__module__ == module and f.__name__ not in ("small",)]
        taking = [f for f in own if "subject" in inspect.signature(f).parameters]
        return cls([f for f in taking if subject.__name__ in str(inspect.signature(f))], values)

    def cases(self, check: Check) -> list[dict[str, Any]]:
        """Return the arguments of a check beside its subject, once for each case."""
        names = list(inspect.signature(check).parameters)[1:]
        every = itertools.product(*(self.values[name] for name in names))
        return [dict(zip(names, case, strict=True)) for case in every]


def every_check(
    subjects: Mapping[str, Any],
    checks: Sequence[Check],
    at_night: Callable[[Any, Check], bool] = lambda subject, check: False,
) -> pytest.MarkDecorator:
    """Parametrise a test by each `subject` and each `check`."""
    every = [
        pytest.param(
            subject,
            check,
            id=f"{name}/{check.__name__}",
            marks=[nightly] if at_night(subject, check) else [],
        )
        for name, subject in subjects.items()
        for check in checks
    ]
    return pytest.mark.parametrize(("subject", "check"), every)


def run_cases(check: Check, cases: Sequence[Mapping[str, Any]], subject: Any) -> None:
    """Run cases of a check. A failure has the promise and its correction, from the docstring."""
    for case in cases:
        try:
            check(subject, **case)
        except Exception as error:
            error.add_note(f"The case: {case}")
            error.add_note(f"{check.__name__}: {inspect.getdoc(check)}")
            raise


def failed_of_scikit_learn(
    estimator: Any, fewest: int, exceptions: Mapping[str, str]
) -> dict[str, str]:
    """Return the names of the checks of scikit-learn that an estimator fails, and why.

    Raises
    ------
    CheckFailedError
        Fewer checks than `fewest` were run, or one passes that is among the exceptions.
    """
    results = check_estimator(
        estimator, expected_failed_checks=dict(exceptions), on_skip=None, on_fail=None
    )
    expect_true(len(results) >= fewest, f"only {len(results)} checks of scikit-learn were run")
    failed = {c["check_name"] for c in results if c["status"] == "xfail"}
    expect_true(failed == set(exceptions), f"these pass now: {sorted(set(exceptions) - failed)}")
    return {c["check_name"]: str(c["exception"]) for c in results if c["status"] == "failed"}
