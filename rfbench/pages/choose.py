"""What `choose` found, as text and as one page."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from importlib import resources
from typing import Any

import numpy as np

from rfbench.pages.templates import bare, render

LEFT, RIGHT, TOP, BOTTOM = 80.0, 600.0, 30.0, 235.0  # of what is drawn
# Of a name: above its point; from the next name, where that is so near.
ABOVE, LINE, NEAR = 9.0, 14.0, 80.0
NORMAL = 1.96  # standard errors of an interval of 95 %


def text(choice: Any) -> str:
    """Return the answer for a terminal; the choice is a `rfbench.choosing.Choice`."""
    return render("choose.txt.j2", choice=choice)


def page(choice: Any) -> str:
    """Return the answer as a page of HTML that fetches nothing and runs nothing."""
    style = resources.files("rfbench.pages.html").joinpath("assets", "page.css").read_text("utf-8")
    style += "pre { overflow: auto; } circle { fill: var(--soft); } .taken { fill: var(--link); }"
    style += " text { fill: var(--ink); font-size: 12px; } .bar { stroke: var(--soft); }"
    style += " .frame { fill: none; stroke: var(--line); }\n"
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    contenders = sorted(choice.contenders, key=lambda c: c.error)
    return (
        bare(autoescape=True)
        .get_template("choose.html.j2")
        .render(
            choice=choice,
            style=style,
            policy=f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; "
            "form-action 'none'",
            intervals=_intervals(choice, contenders),
            by_size=_points(choice, contenders, [c.n_bytes for c in contenders]),
            by_time=_points(choice, contenders, [c.predict_seconds for c in contenders]),
        )
    )


def _intervals(choice: Any, contenders: Sequence[Any]) -> list[dict[str, Any]]:
    """Return where the errors and their intervals are drawn."""
    errors = np.array([c.error for c in contenders])
    reach = NORMAL * np.array([c.standard_error for c in contenders])
    low, high = errors - reach, errors + reach
    scale = _scale(np.concatenate([low, high]), LEFT, RIGHT)
    return [
        {"x": scale(e), "low": scale(a), "high": scale(b), **_named(choice, c, scale(e))}
        for c, e, a, b in zip(contenders, errors, low, high, strict=True)
    ]


def _points(choice: Any, contenders: Sequence[Any], costs: Sequence[float]) -> list[dict[str, Any]]:
    """Return where errors against the logarithm of a cost are drawn."""
    logs = np.log10(np.maximum(costs, 1e-9))
    across = _scale(logs, LEFT, RIGHT)
    up = _scale(np.array([c.error for c in contenders]), BOTTOM, TOP)
    points = [
        {"x": across(cost), "y": up(c.error), **_named(choice, c, across(cost)), "text": c.family}
        for c, cost in zip(contenders, logs, strict=True)
    ]
    placed: list[tuple[float, float]] = []
    for point in sorted(points, key=lambda point: point["y"]):
        # Names of models that are nearly equal stand under one another.
        near = [y for x, y in placed if abs(x - point["x"]) < NEAR]
        point["text_y"] = max([point["y"] - ABOVE, *(y + LINE for y in near)])
        placed.append((point["x"], point["text_y"]))
    return points


def _named(choice: Any, contender: Any, x: float) -> dict[str, Any]:
    anchor = "start" if x < 200 else "end" if x > 440 else "middle"
    taken = contender.family == choice.taken.family
    return {"text": contender.label, "taken": taken, "anchor": anchor}


def _scale(values: Any, start: float, end: float) -> Any:
    low, high = float(np.min(values)), float(np.max(values))
    width = (high - low) or 1.0
    return lambda value: round(start + (float(value) - low) / width * (end - start), 1)
