"""Checks of a feature map: kernel and promises, and sentences that describe the result."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from rfbench.checking.bias import (
    MAX_SECONDS,
    SEEN,
    CheckFailedError,
    KernelClaim,
    Measurement,
    measure,
)
from rfbench.checking.causes import find_cause
from rfbench.checking.samplers import PromiseCheck, find_fault, make_subject, run_checks

PAIRS_HEAD = ("pair of rows", "kernel", "bias", "error of one draw", "z")

FEATURES = "Return one line of finite numbers for each of about 100 rows, for M = 16 and 256."


@dataclass
class Report:
    """Findings about a feature map.

    Attributes
    ----------
    promises : list of Promise
        All checked promises, kept and broken.
    measured : list of (KernelClaim, Measurement)
        Each kernel that the map claims, with its measurement. Kernels that the map does not have
        come first.
    why_not : str
        Reason why no kernel was measured, else an empty string.
    reading : str
        Sentence on how the bandwidth is derived from a parameter of the map.
    """

    promises: list[PromiseCheck]
    measured: list[tuple[KernelClaim, Measurement]] = field(default_factory=list)
    why_not: str = ""
    reading: str = ""

    @property
    def broken_promises(self) -> list[PromiseCheck]:
        """Promises that the map does not keep."""
        return [promise for promise in self.promises if promise.fault]

    @property
    def wrong_kernels(self) -> list[tuple[KernelClaim, Measurement]]:
        """Kernels that the map claims and does not have."""
        return [each for each in self.measured if each[1].wrong]


def check(
    thing: Any,
    kernel: str | None = None,
    bandwidth: float | None = None,
    parameters: Mapping[str, Any] | None = None,
    *,
    seconds: float = MAX_SECONDS,
) -> Report:
    """Check the kernel and the promises of a feature map.

    Parameters
    ----------
    thing : type or callable
        A sampler, a transformer of scikit-learn's interface, or a function ``f(X, M, seed)`` that
        returns the features of rows.
    kernel : str, optional
        Kernel to check. The default is each kernel that a sampler supports, else the Gaussian
        kernel.
    bandwidth : float, optional
        Bandwidth of the kernel. The default is derived from `parameters`, else 3.
    parameters : mapping, optional
        Parameters other than the number of features and the seed.
    seconds : float
        Limit of the CPU time per kernel, in seconds.

    Returns
    -------
    Report
        All findings.

    Raises
    ------
    MethodError
        If `thing` is not a map.
    """
    subject = make_subject(thing, parameters, kernel)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        report = Report(run_checks(subject, subject.checks), why_not=subject.reason_without_claims)
        if not report.promises[0].fault and not report.why_not:
            claims, report.reading = (
                subject.list_claims(kernel, bandwidth),
                subject.bandwidth_sentence,
            )

            def measured() -> None:
                for claim in claims:
                    report.measured.append((claim, measure(claim, seconds=seconds)))

            if fault := find_fault(measured):
                report.promises.append(
                    PromiseCheck("features to measure a kernel by", FEATURES, fault)
                )
    report.measured.sort(key=lambda each: each not in report.wrong_kernels)
    return report


def check_map(thing: Any, *args: Any, **kwargs: Any) -> None:
    """Check a feature map in a test of your own; see `check` for the arguments.

    Raises
    ------
    CheckFailedError
        If the map does not have the kernel that it claims, or does not keep a promise. The message
        contains the actual result and the correction.
    """
    report = check(thing, *args, **kwargs)
    failed = [str(promise) for promise in report.broken_promises]
    failed += [
        "\n".join([describe_answer(*each), *list_causes(each[1])]) for each in report.wrong_kernels
    ]
    if failed:
        raise CheckFailedError("\n\n".join(failed))


def describe_answer(claim: KernelClaim, found: Measurement) -> str:
    """Return a sentence with the result for one kernel of a map."""
    i, name = found.shown, found.kernel.name + (f", {claim.name} map" if claim.name else "")
    if found.biased:
        return (
            f"no {name} kernel: biased by {found.bias[i]:.2g} (the kernel is "
            f"{found.exact[i]:.3g}) at {found.pairs.names[i]}, z = {found.z[i]:.0f}; M = {found.M}"
        )
    at = f"{found.bias[i]:+.2g} at {found.pairs.names[i]}; M = {found.M}"
    if not found.varies and not found.below:
        told = "far from the kernel" if found.wrong else "no verdict on a bias"
        return f"{name} kernel: the same features for every seed, {told}, the error is {at}"
    if not found.is_decreasing:
        return f"{name} kernel without bias, but the error falls as M^{found.rate:.2f} alone"
    if found.below:
        return f"{name} kernel from below, as with Nystroem features: {at}"
    seen = max(found.detectable_bias, SEEN)
    return f"{name} kernel: no bias of {seen:.2g} errors of one draw, M = {found.M}"


def list_causes(found: Measurement) -> list[str]:
    """Return the likely cause of a bias and its correction; empty without a bias."""
    if not found.biased and (found.varies or not found.wrong):
        return []
    cause = find_cause(found)
    fits = [f"cause: {cause.what}", f"to do: {cause.mend}"] if cause else []
    return fits or ["cause: no usual cause fits"]


def describe_measurement(found: Measurement) -> list[str]:
    """Return the results other than the bias, one sentence per line."""
    lines = {
        f"{found.seeds} seeds, {found.columns} columns, {found.seconds:.0f} s of CPU": 0.0,
        (
            f"mean squared error: {found.relative_error:.2f} times the error of "
            "independent draws with the same number of columns"
        ): found.relative_error,
        f"the error falls as M^{found.rate:.2f}": found.rate,
        (
            f"at a larger bandwidth the error is {found.relative_error_far:.2f} times as large"
        ): found.relative_error_far,
    }
    return [line for line, value in lines.items() if not math.isnan(value)]


def tabulate_pairs(found: Measurement) -> list[list[str]]:
    """Return a line of text cells for each pair of rows, with the columns of `PAIRS_HEAD`."""
    columns = (found.exact, found.bias, found.spread, found.z)
    return [
        [name, f"{k:.4f}", f"{bias:+.4f}", f"{spread:.2g}", f"{z:+.1f}"]
        for name, k, bias, spread, z in zip(found.pairs.names, *columns, strict=True)
    ]


CheckFailed = CheckFailedError  # earlier name of this error, for existing tests of users
