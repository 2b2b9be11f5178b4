"""The checks of `rfbench.checking` as tests: one per subject and check, its cases inside."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from rfbench.checking.promises import Check, Contract, NotApplicable
from tests.support.nightly import nightly


def every_check(
    subjects: Mapping[str, Any],
    contract: Contract,
    at_night: Callable[[Any, Check], bool] = lambda subject, check: False,
) -> pytest.MarkDecorator:
    """Parametrise a test by each `subject` and each `check` of its contract."""
    every = [
        pytest.param(
            subject,
            check,
            id=f"{name}/{check.__name__}",
            marks=[nightly] if at_night(subject, check) else [],
        )
        for name, subject in subjects.items()
        for check in contract.checks
    ]
    return pytest.mark.parametrize(("subject", "check"), every)


def run_cases(check: Check, cases: Sequence[Mapping[str, Any]], subject: Any) -> None:
    """Run cases of a check; skip where none is promised."""
    promised = False
    for case in cases:
        try:
            check(subject, **case)
            promised = True
        except NotApplicable:
            pass
        except Exception as error:
            error.add_note(f"The case: {case}")
            raise
    if not promised:
        pytest.skip("it is not promised")
