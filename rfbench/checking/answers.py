"""What was found of a map, in words: the answer, its cause, and a table."""

from __future__ import annotations

import math

from rfbench.checking.bias import SEEN, MapClaim, Measurement
from rfbench.checking.causes import causes_of

HEAD = ("pair of rows", "kernel", "bias", "error of one draw", "z")


def answer(claim: MapClaim, found: Measurement) -> str:
    """Return one sentence: is it this kernel?"""
    kernel, i = found.kernel, found.shown
    name = kernel.name + (f", {claim.name} map" if claim.name else "")
    if found.biased:
        z = found.z[i]
        beyond = f"z = {z:.0f}" if abs(z) < 1000 else f"z beyond {math.copysign(1000, z):.0f}"
        return (
            f"no {name} kernel: biased by {found.bias[i]:.2g} (the kernel is "
            f"{found.exact[i]:.3g}) at {found.pairs.names[i]}, {beyond}; M = {found.M}"
        )
    if not found.falls:
        return f"{name} kernel without bias, but the error falls as M^{found.rate:.2f} alone"
    seen = max(found.seen, SEEN)
    text = f"{name} kernel: no bias of {seen:.2g} errors of one draw; M = {found.M}"
    return text + (f", after {found.seeds} seeds the time was up" if found.out_of_time else "")


def explained(found: Measurement) -> list[str]:
    """Return what causes such a bias, and how to mend it."""
    causes = causes_of(found)
    if not causes:
        return ["cause: none of the usual ones fits"] if found.biased else []
    every = "; or ".join(cause.what for cause in causes[:3])
    return [f"cause: {every}", f"to do: {causes[0].mend}"]


def facts(found: Measurement) -> list[str]:
    """Return what was measured beside the bias, one sentence per line."""
    lines = [f"{found.seeds} seeds, {found.columns} columns, {found.seconds:.0f} s of CPU"]
    if not math.isnan(found.relative_error):
        lines.append(
            f"mean squared error: {found.relative_error:.2f} times that of independent draws "
            "with as many columns"
        )
    if not math.isnan(found.rate):
        lines.append(f"the error falls as M^{found.rate:.2f}")
    if not math.isnan(found.further_out):
        lines.append(f"a bandwidth further out the error is {found.further_out:.2f} times as large")
    return lines


def table(found: Measurement) -> list[list[str]]:
    """Return a line per pair of rows, see `HEAD`."""
    columns = (found.exact, found.bias, found.spread, found.z)
    return [
        [name, f"{k:.4f}", f"{bias:+.4f}", f"{spread:.2g}", f"{z:+.1f}"]
        for name, k, bias, spread, z in zip(found.pairs.names, *columns, strict=True)
    ]
