"""What the page of an audit says in words: what was tried, how to read it, how to repeat it."""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence
from pathlib import Path

from rfbench import __version__
from rfbench.audit.choices import Choice
from rfbench.audit.ranking import Ranking
from rfbench.config import KeptBy
from rfbench.report.summary import DASH

CONFIGS = "configs"
LEAST_ORDERED = 3
LEAST_CONFIRMING = 4  # numbers in a half
LEAST_TRIALS = 3
TOP = 10


def command(
    config: Path,
    target: str,
    *,
    run: str = "",
    fixed: Sequence[str] = (),
    varied: Sequence[str] = (),
    trials: int,
    most: int,
    top: int = TOP,
    allow_imports: bool = False,
) -> str:
    """Return the command that repeats an audit, for a shell.

    It has what the result depends on, and names the configuration without the folders above.
    """
    inside = config.resolve().parent.name == CONFIGS
    words = ["rfbench", "audit", f"{CONFIGS}/{config.name}" if inside else config.name]
    words += ["--target", target]
    words += ["--run", run] if run else []
    for option, texts in (("--set", fixed), ("--vary", varied)):
        for text in texts:
            words += [option, text]
    words += ["--trials", str(trials), "--most", str(most)]
    words += ["--top", str(top)] if top != TOP else []
    words += ["--allow-imports"] if allow_imports else []
    return shlex.join(words)


def heading(ranking: Ranking, top: int) -> list[str]:
    """Say what was tried, and how far the numbers carry."""
    audit, first = ranking.audit, ranking.placed[0]
    trials = "1 trial" if first.trials == 1 else f"{first.trials} trials"
    shown = min(top, len(ranking.placed))
    choices = "1 open choice" if len(audit.varied) == 1 else f"{len(audit.varied)} open choices"
    lines = [
        f"{ranking.tried} combinations of {choices} were tried{_part(ranking)}, with {trials} "
        f"each; the {shown} nearest to the published row are shown",
        _fixed(ranking),
        f"{_measured(ranking)}, rfbench {__version__}; the command stands at the end",
        *_halves(ranking),
    ]
    if ranking.tried_in_all > ranking.tried:
        lines.append(
            f"the folder holds trials of {ranking.tried_in_all} combinations in all, from this "
            "and earlier audits"
        )
    if first.trials < LEAST_TRIALS:
        lines.append(f"{trials} each: so few that a nearest combination may be luck of the draws")
    if not math.isnan(ranking.noise):
        lines.append(
            "the spread of both sides alone would put the right protocol at about "
            f"{ranking.noise:.2f} on the choosing half (ours: the median of the {ranking.pooled} "
            f"nearest); {ranking.within_noise} of {len(ranking.placed)} combinations lie within it"
        )
    if len(ranking.first) > 1:
        lines.append(
            f"{len(ranking.first)} combinations share the first place: the numbers that choose "
            "cannot tell them apart; they stand in the order of the options"
        )
    if ranking.stand_in:
        lines.append(
            f"measured on {ranking.stand_in}: not the paper's data, so a distance is no verdict"
        )
    return [*lines, _as_it_stands(ranking)]


def _part(ranking: Ranking) -> str:
    audit = ranking.audit
    drawn = f", drawn at random from {audit.drawn_of}" if audit.drawn else ""
    refused = (
        f", {len(audit.refused)} options or combinations cannot be run" if audit.refused else ""
    )
    lacking = f", {ranking.incomplete} of them lack a number" if ranking.incomplete else ""
    return drawn + refused + lacking


def _fixed(ranking: Ranking) -> str:
    audit = ranking.audit
    said = ", ".join(audit.fixed) or "nothing"
    return f"fixed: {said}; all that is not varied or fixed is as in {audit.config}"


def _measured(ranking: Ranking) -> str:
    """Name sizes, trials and seed, but for one that is varied."""
    experiment = ranking.audit.tried[0].experiment
    sizes = experiment.M
    size = f"as many as {sizes.kept_by} keeps" if isinstance(sizes, KeptBy) else _list(sizes)
    values = {"M": size, "trials": experiment.trials, "seed": experiment.seed}
    varied = [choice.name for choice in ranking.audit.varied]
    return "measured with " + ", ".join(f"{k}={v}" for k, v in values.items() if k not in varied)


def _list(sizes: Sequence[int]) -> str:
    return ",".join(map(str, sizes))


def _halves(ranking: Ranking) -> list[str]:
    """Say how many numbers choose and confirm, and whether those are too few."""
    numbers = ranking.target.numbers
    halves = ranking.target.halves()
    choosing, confirming = halves
    lines = [
        f"{len(choosing)} of the {len(numbers)} published numbers choose, the other "
        f"{len(confirming)} confirm; distances are root mean square differences in points"
    ]
    if min(len(choosing), len(confirming)) < LEAST_CONFIRMING:
        methods = [list(dict.fromkeys(numbers[i].method for i in half)) for half in halves]
        apart = confirming and not set(methods[0]) & set(methods[1])
        which = f"{' and '.join(methods[0])} against {' and '.join(methods[1])}"
        lines.append(
            "so few numbers cannot confirm a protocol"
            + (f"; the halves hold different methods, {which}" if apart else "")
        )
    return lines


def _as_it_stands(ranking: Ranking) -> str:
    """Say where the configuration itself came."""
    audit = ranking.audit
    name = f"{audit.config} as it stands" + (", with what was set" if audit.overrides else "")
    place = 0 if audit.as_it_stands is None else ranking.place_of(audit.as_it_stands)
    if not place:
        return f"{name}: not among the combinations that have a place"
    own = next(p for p in ranking.placed if p.combination == audit.as_it_stands)
    distances = f"{own.choosing:.2f} / {spread_out([own.confirming])}"
    return f"{name}: place {place}, {distances} (chosen by / confirmed by)"


def legend(ranking: Ranking) -> list[str]:
    """Say what the columns are, and which keys of the configuration a named choice sets."""
    lines = [
        "place: by 'chosen by'; equally near combinations share one",
        "chosen by: root mean square difference in points on the half of the numbers that choose",
        "confirmed by: the same on the other half, which had no part in the choice",
        "largest: the largest difference of any number of both halves, in points",
        "agree, close, differ: how many numbers do, by the rules of `rfbench verify --help`",
        "the other columns are keys of the configuration",
    ]
    return lines + [line for choice in ranking.audit.varied for line in _settings(choice)]


def _settings(choice: Choice) -> list[str]:
    """Say what the options set, unless the choice's name is the key."""
    if all([key for key, _ in option.settings] == [choice.name] for option in choice.options):
        return []
    return [
        f"{choice.name} {option.name}: "
        + ", ".join(f"{key}={_value(value)}" for key, value in option.settings)
        for option in choice.options
    ]


def _value(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def notes(ranking: Ranking) -> list[str]:
    """Say what the half that did not choose says, and what an audit cannot show."""
    lines = []
    if confirmed := ranking.places_confirmed:
        lines.append(_confirmed(ranking, *confirmed))
        if len(ranking.placed) >= LEAST_ORDERED:
            correlation = ranking.correlation
            order = "" if math.isnan(correlation) else f" (rank correlation {correlation:.2f})"
            lines.append(
                f"The halves may order the combinations alike{order} by their noise too: both come "
                "from the same trials and splits, so they are not independent."
            )
    else:
        lines.append("There is one number only: nothing confirms the choice.")
    lines.append(
        "The combinations were chosen with the published test errors in sight: what comes out is "
        "a protocol that is consistent with the numbers, not proof that it was theirs."
    )
    return lines + [f"Cannot be run: {line}" for line in ranking.audit.refused[:3]]


def _confirmed(ranking: Ranking, best: int, worst: int) -> str:
    first, total = ranking.first, len(ranking.placed)
    if len(first) == 1:
        return (
            f"On the half that did not choose, the nearest combination has place {best} of {total}."
        )
    distances = spread_out([placed.confirming for placed in first])
    places = f"places {best} to {worst}" if best < worst else f"place {best}"
    return (
        f"On the half that did not choose, the {len(first)} combinations that share the first "
        f"place have {places} of {total}, at {distances} points."
    )


def spread_out(distances: Sequence[float]) -> str:
    """Write the smallest and the largest, one if they are the same; a dash if there is none."""
    if any(map(math.isnan, distances)):
        return DASH
    ends = f"{min(distances):.2f}", f"{max(distances):.2f}"
    return ends[0] if ends[0] == ends[1] else " to ".join(ends)
