"""Running the contract that fits a class, with an answer per promise."""

from __future__ import annotations

import inspect
import os
import tempfile
import traceback
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from rfbench import testing
from rfbench.errors import MethodError
from rfbench.registry import KERNELS
from rfbench.samplers import RandomFeatures
from rfbench.solvers import Solver

LONGEST = 6  # lines of what was got


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
    """

    name: str
    expected: str = ""
    todo: str = ""
    got: list[str] = field(default_factory=list)
    cases: int = 0


def plain_fit(thing: Any, options: Mapping[str, Any]) -> str:
    """Return why one plain fit fails, with the last line of the class's own file; '' if it works.

    Each promise would fail by the same exception, so it is shown once.
    """
    from rfbench.testing.samplers import assert_finite

    kind, given = contract_of(thing)
    cls = type("Contract", (getattr(testing, kind),), {**given, "options": dict(options)})
    plain = {
        "SamplerContract": "features",
        "SolverContract": "fitted",
        "TransformerContract": "features",
        "EstimatorContract": "predicted",
        "RowsContract": "load",
    }
    try:
        result = getattr(cls(), plain[kind])()
        if kind in ("SamplerContract", "TransformerContract"):
            assert_finite(result)
    except AssertionError as error:
        return str(error)
    except Exception as error:
        message = f"{type(error).__name__}: {error}"
        own = inspect.getsourcefile(thing)
        for frame in reversed(traceback.extract_tb(error.__traceback__)):
            if frame.filename == own:
                return f"{message}\n{Path(own).name}, line {frame.lineno}: {frame.line}"
        return message
    return ""


def kernels_of(thing: Any) -> tuple[str, ...]:
    """Return the names of the kernels that a sampler says it serves; none of anything else."""
    if not (isinstance(thing, type) and issubclass(thing, RandomFeatures)):
        return ()
    return tuple(name for name, kernel in KERNELS.items() if thing.serves(kernel))


def untested_of(thing: Any) -> str:
    """Return what the contract leaves out of a sampler's kernel, as a sentence; '' for nothing."""
    if not (isinstance(thing, type) and issubclass(thing, RandomFeatures)):
        return ""
    if not thing.approximates_kernel:
        return "that its features estimate a kernel: it says that they do not (approximates_kernel)"
    return "" if thing.unbiased else "that its features estimate a kernel: it has a bias (unbiased)"


def contract_of(thing: Any) -> tuple[str, dict[str, Any]]:
    """Return the name of the contract that fits, and what it calls this thing.

    Raises
    ------
    MethodError
        It is neither a sampler, a solver, a transformer, an estimator nor a function.
    """
    if not isinstance(thing, type):
        if not callable(thing):
            raise MethodError(f"{thing!r} is no class and no function.")
        return "RowsContract", {"rows": staticmethod(thing)}
    if issubclass(thing, RandomFeatures):
        return "SamplerContract", {"sampler": thing, "kernels_served": kernels_of(thing)}
    if issubclass(thing, Solver):
        return "SolverContract", {"solver": thing}
    for does, kind in (("transform", "transformer"), ("predict", "estimator")):
        if hasattr(thing, "fit") and hasattr(thing, does):
            return f"{kind.title()}Contract", {kind: thing}
    raise MethodError(
        f"{thing.__name__} is neither a sampler nor a solver.",
        "It has no fit with transform, and no fit with predict.",
        "Inherit rfbench.samplers.RandomFeatures, or follow scikit-learn's interface.",
    )


class _Recorder:
    """A plugin of pytest: collects the class, and keeps what came out."""

    def __init__(self, name: str, words: dict[str, Any]) -> None:
        self.name, self.words = name, words
        self.contract: type[Any] = object
        self.checks: dict[str, Promise] = {}

    def pytest_configure(self) -> None:
        """Import the contract as pytest does, so that its assertions say what they got."""
        pytest.register_assert_rewrite(*testing.REWRITTEN)
        self.contract = type("TestContract", (getattr(testing, self.name),), self.words)

    def pytest_pycollect_makemodule(self, module_path: Path, parent: Any) -> Any:
        """Give the class to pytest in place of a module's content."""
        module = pytest.Module.from_parent(parent, path=module_path)
        module.obj = type(inspect)("rfbench_contract")
        module.obj.TestContract = self.contract
        return module

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Count a case of a promise."""
        name, _, case = report.nodeid.rpartition("::")[2].partition("[")
        check = self.checks.setdefault(name, self._about(name))
        check.cases += report.when == "call" and not report.skipped
        if report.failed:
            crash = getattr(report.longrepr, "reprcrash", None)
            message = crash.message if crash else str(report.longrepr)
            lines = [line for line in message.splitlines() if line.strip()][:LONGEST]
            sentence = lines[0].removeprefix("AssertionError:").strip()
            if sentence != lines[0] and sentence and not sentence.startswith("assert "):
                lines = [sentence]  # the contract says it; pytest's comparison adds nothing
            check.got.append((f"[{case} " if case else "") + "\n".join(lines))

    def _about(self, name: str) -> Promise:
        promise = " ".join((inspect.getdoc(getattr(self.contract, name)) or "").split())
        expected, _, todo = promise.partition("To do: ")
        readable = name.removeprefix("test_").replace("_", " ")
        return Promise(readable, expected.strip(), todo[:1].upper() + todo[1:])


def check_class(thing: Any, options: Mapping[str, Any] | None = None) -> list[Promise]:
    """Run the contract that fits a class or a function against it.

    Parameters
    ----------
    thing : type or callable
        A sampler, a solver, a transformer or estimator from elsewhere, or a function that
        returns data.
    options : mapping, optional
        Parameters that it is built with, such as a small pool.

    Raises
    ------
    MethodError
        There is no contract for it.
    """
    name, given = contract_of(thing)
    if failure := plain_fit(thing, options or {}):
        return [
            Promise(
                "one plain fit",
                "It can be built and fitted on 60 or 90 rows, and what it returns is finite.",
                "Correct this first: the promises are tested once it works.",
                [failure],
                1,
            )
        ]
    recorder = _Recorder(name, {**given, "options": dict(options or {})})
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "test_contract.py")
        file.touch()
        args = ["-p", "no:terminal", "-p", "no:cacheprovider", "-c", os.devnull]
        pytest.main([*args, "--rootdir", folder, str(file)], plugins=[recorder])
    if not recorder.checks:
        raise MethodError(f"{thing} could not be checked.", "No test of its contract was run.")
    return list(recorder.checks.values())
