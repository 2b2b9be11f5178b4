"""Words about a summary: its checks and its warnings."""

from __future__ import annotations

from rfbench.analysis.checks import Check, checks
from rfbench.analysis.faults import Fault, faults
from rfbench.analysis.summary import DASH
from rfbench.results import Results

__all__ = ["DASH", "evaluate_checks", "spread", "warnings"]

WORDS = {
    "busy": "The machine was busy with other work: wall times are {0.count:.1f} times the CPU "
    "times, which are in trials.csv beside them.",
    "failed": "{0.count} trials of {0.of} did not end well ({0.detail}{why}).",
    "not converged": "The solver did not reach its tolerance in {0.count} trials of {0.of}.",
    "no value": "{0.count} trials on {0.of} ended well but have no finite {0.detail}.",
    "repeated": "{0.count} rows repeat a trial number under another trial_id: they were run with "
    "settings that no column shows, and are averaged here with the others.",
    "versions": "The rows come from {0.count} versions of rfbench.",
    "unpaired": "Methods that share a trial number did not see the same data.",
}


def spread(low: float, high: float) -> str:
    """Write a range: ``120`` to ``214``, or one number where both ends are the same."""
    return f"{low:.6g}" if low == high else f"{low:.6g}{DASH}{high:.6g}"


def evaluate_checks(results: Results) -> list[str]:
    """Say what came of the configuration's ``checks``."""
    return [_said(check) for check in checks(results)]


def _said(check: Check) -> str:
    limits = [f"below {check.below:g}"] if check.below is not None else []
    limits += [f"above {check.above:g}"] if check.above is not None else []
    of = f" of {check.sampler}" if check.sampler else ""
    each = f" at each {check.at_each}" if check.at_each else ""
    if check.at:
        each += f" ({len(check.at)} values, {check.at[0]} to {check.at[-1]})"
    source = f" ({check.source})" if check.source else ""
    said = f"{check.column}{of} {' and '.join(limits)}{each}{source}"
    if not check.rows:
        return f"{said}: not run, no ok row has a value."
    failing = f" in {check.failing} rows" if check.failing else ""
    at = (
        f" at {check.at_each} = {', '.join(map(str, check.failing_at))}" if check.failing_at else ""
    )
    seen = spread(check.low, check.high)
    return f"{said}: {check.verdict}{failing}{at}; observed {seen}, {check.rows} rows."


def warnings(results: Results) -> list[str]:
    """Say what a reader of the numbers must know."""
    return [_warned(fault) for fault in faults(results)]


def _warned(fault: Fault) -> str:
    why = f", most often: {fault.message}" if fault.message else ""
    return WORDS[fault.kind].format(fault, why=why)
