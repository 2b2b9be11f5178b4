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
def menu(facts: Path) -> None:
    """Print the menu of `rfbench choose` that the FACTS of a leaderboard make.

    FACTS is results/leaderboard.json by default. The menu in use is the file
    rfbench/choosing/menu.yaml. With too few data sets the leaderboard decides nothing, and that is
    an error.

    \b
    Example:
      rfbench menu results/leaderboard.json > rfbench/choosing/menu.yaml
    """
    from rfbench.choosing import menu as menus
    from rfbench.errors import ResultsError

    try:
        content = json.loads(facts.read_bytes())
    except (OSError, ValueError) as error:
        raise ResultsError(
            f"{facts} cannot be read.",
            f"{getattr(error, 'strerror', None) or error}.",
            "Name the leaderboard.json that `rfbench report` writes.",
        ) from error
    echo(menus.text(menus.made_from(content, menus.shipped())), nl=False)
