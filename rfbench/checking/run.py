"""Checking a map: the kernel that it claims, and what is promised of every map."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from rfbench.checking import samplers
from rfbench.checking.answers import answer, explained
from rfbench.checking.bias import BANDWIDTH, SECONDS, MapClaim, Measurement, measure
from rfbench.checking.maps import OF_EVERY_MAP, ForeignMap, MapSubject
from rfbench.checking.promises import CheckFailed as CheckFailed
from rfbench.checking.promises import NotApplicable as NotApplicable
from rfbench.checking.promises import Promise, run_checks
from rfbench.errors import MethodError
from rfbench.registry import KERNELS
from rfbench.samplers import RandomFeatures


@dataclass
class Report:
    """What was found of a map.

    Attributes
    ----------
    measured : list of (MapClaim, Measurement)
        The kernels that it claims, those that it has not first.
    promises : list of Promise
        What is promised of every map, kept or not.
    why_not : str
        Why no kernel was measured.
    """

    measured: list[tuple[MapClaim, Measurement]] = field(default_factory=list)
    promises: list[Promise] = field(default_factory=list)
    why_not: str = ""

    @property
    def broken(self) -> list[Promise]:
        """The promises that are not kept."""
        return [promise for promise in self.promises if promise.got]

    @property
    def wrong(self) -> list[tuple[MapClaim, Measurement]]:
        """The kernels that it claims and does not have."""
        return [each for each in self.measured if each[1].biased or not each[1].falls]


def subject_of(
    thing: Any,
    kernel: str | None = None,
    bandwidth: float | None = None,
    parameters: Mapping[str, Any] | None = None,
) -> MapSubject:
    """Return a class or function as a subject of the checks; `check` has the parameters.

    Raises
    ------
    MethodError
        It is neither a sampler, a transformer nor a function.
    """
    if isinstance(thing, type) and issubclass(thing, RandomFeatures):
        served = [name for name, each in KERNELS.items() if thing.serves(each)]
        declared = getattr(thing, "declaration", None)
        differs = dict(declared.contract) if declared else {}
        if kernel and KERNELS.published(kernel) not in served:
            raise MethodError(
                f"{thing.__name__} does not serve the kernel '{kernel}'.",
                f"It serves {', '.join(served)}.",
            )
        differs |= {"kernels_served": tuple(served)}
        return samplers.SamplerSubject(thing, parameters or {}, **differs)
    transformer = hasattr(thing, "fit") and hasattr(thing, "transform")
    if callable(thing) and (transformer or not isinstance(thing, type)):
        return ForeignMap.of(thing, parameters or {}, kernel or "gaussian", bandwidth)
    raise MethodError(
        f"{getattr(thing, '__name__', repr(thing))} is no map.",
        "It has no fit with transform, and is no function.",
        "Name a sampler, a transformer or a function f(X, M, seed). Of a solver or an estimator "
        "scikit-learn's check_estimator tests the interface.",
    )


def check(
    thing: Any,
    kernel: str | None = None,
    bandwidth: float | None = None,
    parameters: Mapping[str, Any] | None = None,
    *,
    seconds: float = SECONDS,
) -> Report:
    """Check a map.

    Parameters
    ----------
    thing : type or callable
        A sampler, a transformer of scikit-learn's interface, or a function ``f(X, M, seed)`` that
        returns the features of rows.
    kernel : str, optional
        The kernel that it has to have. Default: of a sampler each that it serves, else the
        Gaussian one.
    bandwidth : float, optional
        Of the kernel. Default: what the parameters say, or 3.
    parameters : mapping, optional
        What it is built with, beside the number of features and the seed.
    seconds : float
        Of CPU, for each kernel.

    Raises
    ------
    MethodError
        It is no map.
    """
    subject = subject_of(thing, kernel, bandwidth, parameters)
    checks = OF_EVERY_MAP if isinstance(subject, ForeignMap) else samplers.CONTRACT
    report = Report()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        report.promises = run_checks(subject, checks)
        if report.promises[0].got:
            return report
        try:
            claims = _claims(subject, kernel, bandwidth)
        except NotApplicable as error:
            report.why_not = str(error)
            return report
        report.measured = [(claim, measure(claim, seconds=seconds)) for claim in claims]
    report.measured.sort(key=lambda each: each not in report.wrong)
    return report


def _claims(subject: Any, kernel: str | None, bandwidth: float | None) -> list[MapClaim]:
    """Return what is measured: of a sampler its first kernel in both maps, others in one."""
    if isinstance(subject, ForeignMap):
        return subject.claims()
    every = subject.claims(KERNELS.published(kernel) if kernel else None, bandwidth or BANDWIDTH)
    first = every[0].kernel.name
    return [claim for claim in every if claim.kernel.name == first or claim.name != "paired"]


def check_map(thing: Any, *args: Any, **kwargs: Any) -> None:
    """Check a map as `check` does, in a test of your own.

    Raises
    ------
    CheckFailed
        It has not the kernel that it claims, or a promise is not kept. The message says what was
        expected, what came instead, and what to do.
    """
    report = check(thing, *args, **kwargs)
    failed = [promise.explanation() for promise in report.broken]
    for claim, found in report.wrong:
        failed.append("\n".join([answer(claim, found), *explained(found)]))
    if failed:
        raise CheckFailed("\n\n".join(failed))
