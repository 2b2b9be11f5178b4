"""Functions that check the kernel and the promises of a feature map, and describe the result.

A promise is a property such as equal features for equal seeds.
"""

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
    """Findings of `check_feature_map` about a feature map.

    Attributes
    ----------
    promises : list of PromiseCheck
        Results of the checks of all promises, such as the same features for the same seed.
    measured : list of (KernelClaim, Measurement)
        Each kernel that the map claims to approximate, with the measured bias and error. Kernels
        that the map does not approximate are first.
    why_not : str
        Reason why no kernel was measured; an empty string if a kernel was measured.
    reading : str
        Sentence that describes how the bandwidth is derived from a parameter of the map.
    """

    promises: list[PromiseCheck]
    measured: list[tuple[KernelClaim, Measurement]] = field(default_factory=list)
    why_not: str = ""
    reading: str = ""

    @property
    def broken_promises(self) -> list[PromiseCheck]:
        """Results of the failed checks."""
        return [promise for promise in self.promises if promise.fault]

    @property
    def wrong_kernels(self) -> list[tuple[KernelClaim, Measurement]]:
        """Kernels that the map claims but does not approximate, with their measurements."""
        return [each for each in self.measured if each[1].wrong]


def check_feature_map(
    feature_map: Any,
    kernel: str | None = None,
    bandwidth: float | None = None,
    parameters: Mapping[str, Any] | None = None,
    *,
    seconds: float = MAX_SECONDS,
) -> Report:
    """Check if a feature map has the kernel that it claims, and if it keeps all promises.

    A promise is a property such as equal features for equal seeds.

    Parameters
    ----------
    feature_map : type or callable
        A sampler, a transformer with scikit-learn's interface, or a function ``f(X, M, seed)`` that
        returns the features of rows.
    kernel : str, optional
        Name of the kernel to check. By default, each kernel that a sampler supports is checked. For
        any other map, the default is the Gaussian kernel.
    bandwidth : float, optional
        Bandwidth of the kernel. By default, the bandwidth is derived from `parameters`. If they do
        not contain a bandwidth, the default is 3, or 1 for a map without a bandwidth parameter.
    parameters : mapping, optional
        Parameters of the map, except the number of features and the seed.
    seconds : float
        Limit of the CPU time per kernel, in seconds.

    Returns
    -------
    Report
        All findings.

    Raises
    ------
    MethodError
        If `feature_map` is not a feature map.
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

    The function can be called in the tests of a package that has a feature map.

    Parameters
    ----------
    feature_map : type or callable
        A sampler, a transformer with scikit-learn's interface, or a function ``f(X, M, seed)``.
    *args
        Further positional arguments of `check_feature_map`.
    **kwargs
        Further keyword arguments of `check_feature_map`.

    Raises
    ------
    CheckFailedError
        If the map does not have the kernel that it claims, or if a property such as equal features
        for equal seeds does not hold. The message contains the actual result and the correction.
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
    """Return a sentence that states if a feature map has the kernel that it claims."""
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
    """Return lines with the likely cause of a biased kernel estimate and its correction.

    The list is empty if the measured map is not biased.
    """
    if not measurement.biased and (measurement.varies or not measurement.wrong):
        return []
    cause = find_cause_of_bias(measurement)
    fits = [f"cause: {cause.what}", f"to do: {cause.mend}"] if cause else []
    return fits or ["cause: no usual cause fits"]


def describe_measurement(measurement: Measurement) -> list[str]:
    """Return sentences with the results of a measurement, except the bias.

    The sentences describe the number of seeds, the time and the error of the kernel estimates.
    """
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
    """Return a table with the measured kernel estimates, with a row for each pair of data rows.

    `PAIRS_HEAD` has the headings of the columns.
    """
    columns = (measurement.exact, measurement.bias, measurement.spread, measurement.z)
    return [
        [name, f"{k:.4f}", f"{bias:+.4f}", f"{spread:.2g}", f"{z:+.1f}"]
        for name, k, bias, spread, z in zip(measurement.pairs.names, *columns, strict=True)
    ]


# Names from earlier versions of rfbench, which tests of users may still import.
CheckFailed = CheckFailedError
check = check_feature_map
