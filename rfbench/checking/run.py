"""Checking a map: the kernel that it claims, what is promised of every map, and both in words."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from rfbench.checking.bias import MAX_SECONDS, SEEN, CheckFailed, MapClaim, Measurement, measure
from rfbench.checking.causes import find_cause
from rfbench.checking.samplers import Promise, find_fault, make_subject, run_checks

PAIRS_HEAD = ("pair of rows", "kernel", "bias", "error of one draw", "z")

FEATURES = "Return a line of finite numbers for each of some 100 rows, for M = 16 and 256."


@dataclass
class Report:
    """What was found of a map.

    Attributes
    ----------
    promises : list of Promise
        What is promised of every map, kept or not.
    measured : list of (MapClaim, Measurement)
        The kernels that it claims, those that it has not first.
    why_not : str
        Why no kernel was measured.
    reading : str
        How the bandwidth is read from a parameter.
    """

    promises: list[Promise]
    measured: list[tuple[MapClaim, Measurement]] = field(default_factory=list)
    why_not: str = ""
    reading: str = ""

    @property
    def broken(self) -> list[Promise]:
        """The promises that are not kept."""
        return [promise for promise in self.promises if promise.fault]

    @property
    def wrong(self) -> list[tuple[MapClaim, Measurement]]:
        """The kernels that it claims and does not have."""
        return [each for each in self.measured if each[1].biased or not each[1].falls]


def check(
    thing: Any,
    kernel: str | None = None,
    bandwidth: float | None = None,
    parameters: Mapping[str, Any] | None = None,
    *,
    seconds: float = MAX_SECONDS,
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
    subject = make_subject(thing, parameters, kernel)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        report = Report(run_checks(subject, subject.checks), why_not=subject.claims_none)
        if not report.promises[0].fault and not report.why_not:
            claims, report.reading = subject.claims(kernel, bandwidth), subject.reading

            def measured() -> None:
                for claim in claims:
                    report.measured.append((claim, measure(claim, seconds=seconds)))

            if fault := find_fault(measured):
                report.promises.append(Promise("features to measure a kernel by", FEATURES, fault))
    report.measured.sort(key=lambda each: each not in report.wrong)
    return report


def check_map(thing: Any, *args: Any, **kwargs: Any) -> None:
    """Check a map as `check` does, in a test of your own.

    Raises
    ------
    CheckFailed
        It has not the kernel that it claims, or a promise is not kept. The message says what came
        instead, and what to do.
    """
    report = check(thing, *args, **kwargs)
    failed = [str(promise) for promise in report.broken]
    failed += ["\n".join([answer(*each), *list_causes(each[1])]) for each in report.wrong]
    if failed:
        raise CheckFailed("\n\n".join(failed))


def answer(claim: MapClaim, found: Measurement) -> str:
    """Return one sentence: is it this kernel?"""
    i, name = found.shown, found.kernel.name + (f", {claim.name} map" if claim.name else "")
    if found.biased:
        return (
            f"no {name} kernel: biased by {found.bias[i]:.2g} (the kernel is "
            f"{found.exact[i]:.3g}) at {found.pairs.names[i]}, z = {found.z[i]:.0f}; M = {found.M}"
        )
    if not found.falls:
        return f"{name} kernel without bias, but the error falls as M^{found.rate:.2f} alone"
    seen = max(found.seen, SEEN)
    return f"{name} kernel: no bias of {seen:.2g} errors of one draw; M = {found.M}"


def list_causes(found: Measurement) -> list[str]:
    """Return what usually causes such a bias, and how to mend it; nothing without a bias."""
    if not found.biased:
        return []
    cause = find_cause(found)
    fits = [f"cause: {cause.what}", f"to do: {cause.mend}"] if cause else []
    return fits or ["cause: none of the usual ones fits"]


def describe_measurement(found: Measurement) -> list[str]:
    """Return what was measured beside the bias, one sentence per line."""
    lines = {
        f"{found.seeds} seeds, {found.columns} columns, {found.seconds:.0f} s of CPU": 0.0,
        f"mean squared error: {found.relative_error:.2f} times that of independent draws "
        "with as many columns": found.relative_error,
        f"the error falls as M^{found.rate:.2f}": found.rate,
        f"a bandwidth further out the error is {found.further_out:.2f} times as "
        "large": found.further_out,
    }
    return [line for line, value in lines.items() if not math.isnan(value)]


def tabulate_pairs(found: Measurement) -> list[list[str]]:
    """Return a line per pair of rows, see `PAIRS_HEAD`."""
    columns = (found.exact, found.bias, found.spread, found.z)
    return [
        [name, f"{k:.4f}", f"{bias:+.4f}", f"{spread:.2g}", f"{z:+.1f}"]
        for name, k, bias, spread, z in zip(found.pairs.names, *columns, strict=True)
    ]
