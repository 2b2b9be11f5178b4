"""`rfbench accept`: rows that somebody else measured."""

from __future__ import annotations

import secrets
from pathlib import Path

import click

from rfbench.cli.options import ALLOW_IMPORTS, FILE, FOLDER, WHOLE
from rfbench.cli.terminal import echo

RESULTS = Path("results")
LEADERBOARD = Path("leaderboard")
SHARES = (0.01, 0.05, 0.1, 0.25)


@click.command()
@click.argument("folder", type=FOLDER)
@click.option("--author", required=True, metavar="NAME", help="Who measured the rows.")
@click.option("--method", required=True, metavar="NAME", help="What the method is called.")
@click.option("--source", default="", metavar="TEXT", help="Where the method's code is.")
@click.option(
    "--protocol",
    "config",
    type=FILE,
    default=LEADERBOARD,
    show_default=True,
    help="The configuration whose keys the rows must have, but for the methods.",
)
@click.option(
    "--replay", "count", type=WHOLE, default=20, show_default=True, metavar="N",
    help="Measure so many random rows again.",
)  # fmt: skip
@click.option("--seed", type=click.IntRange(0), help="Of the choice of rows; by default a new one.")
@click.option(
    "--into", type=FOLDER, default=RESULTS, show_default=True, help="Where `community` stands."
)
@ALLOW_IMPORTS
def accept(
    folder: Path,
    author: str,
    method: str,
    source: str,
    config: Path,
    count: int,
    seed: int | None,
    into: Path,
    allow_imports: bool,
) -> None:
    """Check the rows of FOLDER that somebody else measured, and take them in.

    Every line and the manifest must fit their checksums, every row must be the trial that it
    names, no planned trial may be missing, and the configuration must have the keys of the
    protocol. Then random rows are measured again. Exit code 1, and nothing is taken in, if one
    comes out otherwise. It says with what probability this would have found forged rows, by how
    many were forged. What is taken in stands below results/community, with its method and author,
    and apart on the leaderboard.

    \b
    Example:
      rfbench accept mine/leaderboard_regression --author "A. Author" --method my-features
    """
    from pydantic import ValidationError

    from rfbench import __version__
    from rfbench import config as configuration
    from rfbench.errors import ConfigError
    from rfbench.experiment import acceptance
    from rfbench.experiment.replay import Passed
    from rfbench.results import community

    protocol = configuration.read_all(config)
    submission = acceptance.check(folder, protocol, allow_imports=allow_imports)
    count, seed = min(count, submission.rows), secrets.randbits(32) if seed is None else seed
    try:
        origin = community.Origin(
            author=author, method=method, source=source, labels=list(submission.labels),
            rows=submission.rows, failed=submission.failed, replayed=count, seed=seed,
            version=__version__,
        )  # fmt: skip
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise ConfigError(f"--{first['loc'][0]} is no name: {first['msg']}.") from None
    echo(
        f"{folder}: {submission.rows} rows of {', '.join(submission.labels)} ended well, "
        f"{submission.failed} did not; files, identities and protocol are sound"
    )
    replays = acceptance.Replays()
    for each in acceptance.measured_again(
        submission, count, seed, replays, allow_imports=allow_imports
    ):
        row = each.row
        if isinstance(each, Passed):
            verdict = f"cannot be measured again: {each.why}"
        elif each.agrees:
            verdict = "agrees"
        else:
            verdict = "differs: " + "; ".join(
                f"{metric} {then:.12g} there, {now:.12g} here"
                for metric, (then, now) in each.differences.items()
            )
        echo(f"  {row['trial_id']} {row['label']}, M {row['M']}, {row['dataset']}: {verdict}")
    echo(f"{replays.agreeing} of {count} random rows came out as they stand (--seed {seed})")
    if replays.agreeing < count:
        echo("Nothing was taken in.")
        raise click.exceptions.Exit(1)
    chances = [
        f"{forged} ({100 * forged / submission.rows:.2g} %): "
        f"{100 * acceptance.detection(submission.rows, count, forged):.0f} %"
        for forged in sorted({1, *(max(1, round(s * submission.rows)) for s in SHARES)})
    ]
    echo("had so many rows been forged, this would have found one with probability")
    for line in chances:
        echo(f"  {line}")
    echo(f"taken in: {community.add(folder, into, origin)}")
