"""Checks of the kernel and the promises of a feature map, and sentences about the result."""

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
    measure_bias,
)
from rfbench.checking.causes import find_cause_of_bias
from rfbench.checking.samplers import (
    PromiseCheck,
    catch_error_message,
    make_map_under_test,
    run_checks,
)

PAIRS_HEAD = ("pair of rows", "kernel", "bias", "error of one draw", "z")

FEATURES = "Return one line of finite numbers for each of about 100 rows, for M = 16 and 256."


@dataclass
class Report:
    """Findings about a feature map.

    Attributes
    ----------
    promises : list of PromiseCheck
        All checked promises (such as the same features for the same seed), kept and broken.
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
        """Kernels that the map claims but does not have, with their measurements."""
        return [each for each in self.measured if each[1].wrong]


def check_feature_map(
    feature_map: Any,
    kernel: str | None = None,
    bandwidth: float | None = None,
    parameters: Mapping[str, Any] | None = None,
    *,
    seconds: float = MAX_SECONDS,
) -> Report:
    """Check the kernel and the promises of a feature map.

    Parameters
    ----------
    feature_map : type or callable
        A sampler, a transformer with scikit-learn's interface, or a function ``f(X, M, seed)`` that
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
        If `feature_map` is not a map.
    """
    subject = make_map_under_test(feature_map, parameters, kernel)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        report = Report(run_checks(subject, subject.checks), why_not=subject.reason_for_no_claims)
        if not report.promises[0].fault and not report.why_not:
            claims, report.reading = (
                subject.list_kernel_claims(kernel, bandwidth),
                subject.bandwidth_note,
            )

            def measured() -> None:
                for claim in claims:
                    report.measured.append((claim, measure_bias(claim, seconds=seconds)))

            if fault := catch_error_message(measured):
                report.promises.append(
                    PromiseCheck("features to measure a kernel by", FEATURES, fault)
                )
    report.measured.sort(key=lambda each: each not in report.wrong_kernels)
    return report


def check_map(feature_map: Any, *args: Any, **kwargs: Any) -> None:
    """Check a feature map, and raise CheckFailedError if a check fails.

    This function is for your own tests. The arguments are as in `check_feature_map`.

    Raises
    ------
    CheckFailedError
        If the map does not have the kernel that it claims, or does not keep a promise. The message
        contains the actual result and the correction.
    """
    report = check_feature_map(feature_map, *args, **kwargs)
    failed = [str(promise) for promise in report.broken_promises]
    failed += [
        "\n".join([describe_kernel_result(*each), *list_causes_of_bias(each[1])])
        for each in report.wrong_kernels
    ]
    if failed:
        raise CheckFailedError("\n\n".join(failed))


def describe_kernel_result(claim: KernelClaim, measurement: Measurement) -> str:
    """Return a sentence with the result for one kernel of a map."""
    i, name = (
        measurement.shown,
        measurement.kernel.name + (f", {claim.name} map" if claim.name else ""),
    )
    if measurement.biased:
        return (
            f"no {name} kernel: biased by {measurement.bias[i]:.2g} (the kernel is "
            f"{measurement.exact[i]:.3g}) at {measurement.pairs.names[i]}, "
            f"z = {measurement.z[i]:.0f}; M = {measurement.M}"
        )
    at = f"{measurement.bias[i]:+.2g} at {measurement.pairs.names[i]}; M = {measurement.M}"
    if not measurement.varies and not measurement.below:
        told = "far from the kernel" if measurement.wrong else "no verdict on a bias"
        return f"{name} kernel: the same features for every seed, {told}, the error is {at}"
    if not measurement.is_error_decreasing:
        return f"{name} kernel without bias, but the error falls as M^{measurement.rate:.2f} alone"
    if measurement.below:
        return f"{name} kernel from below, as with Nystroem features: {at}"
    seen = max(measurement.detectable_bias, SEEN)
    return f"{name} kernel: no bias of {seen:.2g} errors of one draw, M = {measurement.M}"


def list_causes_of_bias(measurement: Measurement) -> list[str]:
    """Return the likely cause of a bias and its correction; empty without a bias."""
    if not measurement.biased and (measurement.varies or not measurement.wrong):
        return []
    cause = find_cause_of_bias(measurement)
    fits = [f"cause: {cause.what}", f"to do: {cause.mend}"] if cause else []
    return fits or ["cause: no usual cause fits"]


def describe_measurement(measurement: Measurement) -> list[str]:
    """Return the results other than the bias, one sentence per line."""
    lines = {
        f"{measurement.seeds} seeds, {measurement.columns} columns, "
        f"{measurement.seconds:.0f} s of CPU": 0.0,
        (
            f"mean squared error: {measurement.relative_error:.2f} times the error of "
            "independent draws with the same number of columns"
        ): measurement.relative_error,
        f"the error falls as M^{measurement.rate:.2f}": measurement.rate,
        (
            "at a larger bandwidth the error is "
            f"{measurement.relative_error_at_distant_pair:.2f} times as large"
        ): measurement.relative_error_at_distant_pair,
    }
    return [line for line, value in lines.items() if not math.isnan(value)]


def tabulate_row_pairs(measurement: Measurement) -> list[list[str]]:
    """Return a line of text cells for each pair of rows, with the columns of `PAIRS_HEAD`."""
    columns = (measurement.exact, measurement.bias, measurement.spread, measurement.z)
    return [
        [name, f"{k:.4f}", f"{bias:+.4f}", f"{spread:.2g}", f"{z:+.1f}"]
        for name, k, bias, spread, z in zip(measurement.pairs.names, *columns, strict=True)
    ]


# Names from earlier versions of rfbench, which tests of users may still import.
CheckFailed = CheckFailedError
check = check_feature_map
