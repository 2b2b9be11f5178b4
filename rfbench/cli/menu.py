"""`rfbench menu`: what `choose` tries, from the leaderboard's facts."""

from __future__ import annotations

import json
from pathlib import Path

import click

from rfbench.cli.options import FILE
from rfbench.cli.terminal import echo

FACTS = Path("results/leaderboard.json")


@click.command()
@click.argument("facts", type=FILE, default=FACTS)
@click.option("--out", type=FILE, help="Write it there; default: print it.")
def menu(facts: Path, out: Path | None) -> None:
    """Make the menu of `rfbench choose`, what it tries, of the FACTS of a leaderboard.

    FACTS is results/leaderboard.json by default. With too few data sets the leaderboard decides
    nothing: that is an error, and nothing is written. The menu in use comes with the package
    (choosing/menu.yaml in its source).

    \b
    Example:
      rfbench menu results/leaderboard.json --out menu.yaml
    """
    from rfbench.choosing import menu as menus
    from rfbench.errors import ResultsError, writing

    try:
        content = json.loads(facts.read_bytes())
    except (OSError, ValueError) as error:
        raise ResultsError(
            f"{facts} cannot be read.",
            f"{getattr(error, 'strerror', None) or error}.",
            "Name the leaderboard.json that `rfbench report` writes.",
        ) from error
    text = menus.text(menus.made_from(content, menus.shipped()))
    if out is None:
        echo(text, nl=False)
        return
    with writing(f"{out} cannot be written", todo="Name another."):
        out.write_text(text, encoding="utf-8")
    echo(out)
