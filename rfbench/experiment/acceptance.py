"""Somebody else's results: whole, of one protocol, and partly measured again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scipy.stats import hypergeom

from rfbench.config import Experiment
from rfbench.errors import ResultsError
from rfbench.experiment.plan import DESCRIPTIVE, LISTED, Trial, plan
from rfbench.experiment.replay import (
    ENDED_BADLY,
    Passed,
    Replay,
    data_of,
    experiments_of,
    replay_any,
)
from rfbench.results import manifest as manifests
from rfbench.results.maintenance import rows_of
from rfbench.results.reader import TRIALS, parse, what_is_broken

FREE = {*DESCRIPTIVE, *LISTED}  # keys of a configuration that no protocol fixes
ADVICE = "Ask its author for the folder as `rfbench run` wrote it."


@dataclass(frozen=True)
class Submission:
    """Results that fit a protocol, before any row was measured again.

    Attributes
    ----------
    rows : int
        Rows that ended well.
    failed : int
        The others: no row of theirs counts anywhere.
    labels : tuple of str
        The methods of the rows.
    """

    folder: Path
    rows: int
    failed: int
    labels: tuple[str, ...]


@dataclass
class Replays:
    """What came of measuring random rows again; filled by `measured_again`."""

    agreeing: int = 0
    differing: list[Replay] = field(default_factory=list)
    refused: list[Passed] = field(default_factory=list)  # rows that cannot be measured again


def detection(rows: int, replayed: int, forged: int) -> float:
    """Return the probability that at least one forged row is among those measured again.

    Of `rows` rows `replayed` are drawn without repetition, each as likely as any other: one minus
    the hypergeometric probability that no forged row is drawn,
    C(rows - forged, replayed) / C(rows, replayed).

    >>> detection(100, 20, 1)
    0.2
    """
    return round(float(hypergeom.sf(0, rows, forged, replayed)), 12)


def check(
    folder: Path, protocol: Sequence[Experiment], *, allow_imports: bool = False
) -> Submission:
    """Hold somebody's results against the files that they are and the protocol they must follow.

    Every line has its checksum; the manifest has its own. Each row is the trial of the manifest's
    configuration that its identity names, on the same data, and no planned trial is missing: what
    came out badly cannot have been left out. The configuration has the keys of one of `protocol`
    on the same data set, but for the methods.

    Raises ResultsError: the first of these that does not hold.
    """
    broken = parse(folder / TRIALS).broken
    if broken:
        raise ResultsError(f"{folder} is not sound.", what_is_broken(broken)[0], ADVICE)
    manifest = manifests.read(folder)
    if manifest.get("smoke"):
        raise ResultsError(f"{folder} is a smoke run.", "Its numbers mean nothing.", ADVICE)
    experiments = experiments_of(manifest, allow_imports)
    for experiment in experiments:
        _check_protocol(folder, experiment, protocol)
    rows = rows_of(folder)
    planned = {trial.id: trial for experiment in experiments for trial in plan(experiment)}
    for row in rows:
        if why := _unlike(row, planned.get(row["trial_id"])):
            raise ResultsError(f"The row {row['trial_id']} of {folder} does not fit.", why, ADVICE)
    missing = set(manifest["trials"]) - {row["trial_id"] for row in rows}
    if missing:
        raise ResultsError(
            f"{folder} has no rows of {len(missing)} of its {len(manifest['trials'])} trials.",
            "What came out badly could have been left out.",
            "Run its configuration to the end.",
        )
    well = [row for row in rows if row["status"] == "ok"]
    if not well:
        raise ResultsError(f"No trial of {folder} ended well.", "", ADVICE)
    labels = tuple(sorted({row["label"] or row["sampler"] for row in rows}))
    return Submission(folder, len(well), len(rows) - len(well), labels)


def measured_again(
    submission: Submission, count: int, seed: int, replays: Replays, *, allow_imports: bool = False
) -> Iterator[Replay | Passed]:
    """Measure random rows that ended well again, each as likely as any other.

    One that cannot be measured again counts as one that came out otherwise: a forger would name
    such rows. `replays` has what came out so far.
    """
    drawn = replay_any([submission.folder], count, seed=seed, allow_imports=allow_imports)
    for each in drawn:
        if isinstance(each, Replay):
            if each.agrees:
                replays.agreeing += 1
            else:
                replays.differing.append(each)
        elif each.why != ENDED_BADLY:
            replays.refused.append(each)
        else:
            continue
        yield each
        if replays.agreeing + len(replays.differing) + len(replays.refused) == count:
            return


def _check_protocol(folder: Path, experiment: Experiment, protocol: Sequence[Experiment]) -> None:
    own = _fixed(experiment)
    for spec in experiment.dataset:
        alike = [e for e in protocol if spec.name in {other.name for other in e.dataset}]
        if not alike:
            raise ResultsError(
                f"{folder} has the data set {spec.name}.",
                "The protocol does not.",
                "Run the methods in a copy of the protocol's configuration.",
            )
        differing = [_differing(own, _fixed(other)) for other in alike]
        fewest = min(differing, key=len)
        if fewest:
            raise ResultsError(
                f"{folder} has another {', '.join(fewest)} on {spec.name} than the protocol.",
                "Its numbers cannot stand beside the others.",
                "Run the methods in a copy of the protocol's configuration.",
            )


def _fixed(experiment: Experiment) -> dict[str, Any]:
    return experiment.model_dump(mode="json", exclude=FREE)


def _differing(own: dict[str, Any], other: dict[str, Any]) -> list[str]:
    return [key for key in own if own[key] != other.get(key)]


def _unlike(row: dict[str, str], trial: Trial | None) -> str:
    """Say in what a row is not the trial that its identity names; empty where it is."""
    if trial is None:
        return "No trial of its configuration has this identity here, with these data."
    stated = {
        "data set": (data_of(row), trial.dataset.name),
        "method": (row["label"] or row["sampler"], trial.label),
        "sampler": (row["sampler"], trial.sampler.name),
        "M": (row["M"], str(trial.M) if trial.M is not None else row["M"]),
        "trial": (row["trial"], str(trial.number)),
        "data_hash": (row["data_hash"] or trial.data_sha256, trial.data_sha256),
    }
    for name, (there, here) in stated.items():
        if there != here:
            return f"Its {name} is {there[:40]}, and that of the trial it names is {here[:40]}."
    return ""
