"""`rfbench audit`: which open choices bring a published row out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from rfbench.cli.experiments import run_with_progress, say_what_would_run
from rfbench.cli.options import RUN, RunOptions, run_options
from rfbench.errors import ConfigError


@click.command()
@click.argument("config", type=click.Path(path_type=Path))
@click.option(
    "--target",
    "aim",
    required=True,
    metavar="PAPER/ITEM/DATASET",
    help="The published row, of one item or several: PAPER/ITEM,ITEM/DATASET.",
)
@click.option("--run", "name", metavar="NAME", default="", help=f"{RUN}, if several fit.")
@click.option(
    "--vary",
    multiple=True,
    metavar="KEY.PATH=VALUES",
    help="Values of a choice, in place of the known ones; may be repeated.",
)
@click.option(
    "--set",
    "overrides",
    multiple=True,
    metavar="KEY.PATH=VALUE",
    help="Fix a key: it is no open choice any more. May be repeated.",
)
@click.option(
    "--most",
    type=click.IntRange(1),
    default=300,
    show_default=True,
    help="Most combinations; of more, so many are drawn at random.",
)
@click.option("--top", type=click.IntRange(1), default=10, show_default=True, help="Shown.")
@run_options
def audit(
    config: Path,
    aim: str,
    name: str,
    vary: tuple[str, ...],
    overrides: tuple[str, ...],
    most: int,
    top: int,
    trials: int | None,
    jobs: int | None,
    out: Path,
    smoke: bool,
    allow_imports: bool,
    dry_run: bool,
    **options: Any,
) -> None:
    """Try the choices that a paper leaves open against a row of its table.

    Every combination of the open choices (open_choices.yaml of the paper, or --vary) is run on
    CONFIG with 2 trials, unless --trials says more, and ranked by its distance to the published
    numbers: half of them choose, the other half confirm. It tells how many combinations were
    tried. An interrupted audit is not ranked; the same command goes on where it stopped.

    \b
    Examples:
      rfbench audit CONFIG --target PAPER/ITEM/DATASET --set M=56,112,224
      rfbench audit CONFIG --target PAPER/ITEM,ITEM/DATASET --vary scaling=none,standard,minmax
    """
    from rfbench import results
    from rfbench.audit import choices, page
    from rfbench.audit.plan import plan
    from rfbench.audit.ranking import rank
    from rfbench.audit.target import find
    from rfbench.experiment.run_plan import plan_run

    chosen = RunOptions(**options)
    if chosen.only or chosen.shard:
        raise ConfigError(
            "--only and --shard are not for an audit.",
            "They would leave combinations without their numbers.",
            "Vary less, or fix M and others with --set.",
        )
    target = find(aim)
    trials = trials or 2
    found = plan(
        config,
        target,
        overrides=[*overrides, f"trials={trials}"],
        varied=choices.varied(vary, target),
        most=most,
        run=name,
        allow_imports=allow_imports,
    )
    base = out / "smoke" if smoke else out
    folder = base / target.folder(found.target.methods)
    experiments, variants = found.experiments, found.variants
    if dry_run:
        click.echo(f"{len(experiments)} of {choices.size(found.choices)} combinations of:")
        for choice, open_options in found.choices.items():
            click.echo(f"  {choice}: {', '.join(open_options)}")
        for line in found.refused[:3]:
            click.echo(f"cannot be run: {line}")
        say_what_would_run(experiments, variants, folder, smoke, chosen, jobs)
        return
    work = plan_run(experiments, folder, variants=variants, smoke=smoke, progress=True)
    summary = run_with_progress(work, jobs, chosen, allow_imports=allow_imports)
    if smoke:
        click.echo("ranked: nothing, because the numbers of a smoke run mean nothing")
    elif summary.interrupted or summary.left:
        click.echo("interrupted: not ranked")
    elif summary.found + summary.done:
        ranking = rank(found, results.read(folder))
        again = page.command(
            config,
            aim,
            run=name,
            fixed=overrides,
            varied=vary,
            trials=trials,
            most=most,
            top=top,
            allow_imports=allow_imports,
        )
        shown = page.render(ranking, "text", command=again, top=top)
        click.echo("\n" + shown.rstrip("\n") + "\n")
        for path in page.save(ranking, folder, command=again, top=top):
            click.echo(f"written: {path}")
    click.echo(f"trials:  {summary.done} run, {summary.failed} failed, {summary.found} were there")
    if summary.left:
        click.echo(f"left:    {summary.left}; run the same command again to go on")
    if summary.failed or summary.interrupted:
        raise click.exceptions.Exit(1)
