"""Command `rfbench audit`: vary the settings that a paper leaves open."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from rfbench.cli.options import (
    CONFIG,
    POSITIVE_INTEGER,
    RUN_HELP,
    RunOptions,
    add_run_options,
    make_setting_option,
)
from rfbench.cli.terminal import echo
from rfbench.errors import ConfigError

if TYPE_CHECKING:
    from rfbench.audit.plan import Audit
    from rfbench.cli.running import RunRequest


@click.command(short_help="Vary the settings that a paper leaves open.")
@CONFIG
@click.option(
    "--target",
    "aim",
    required=True,
    metavar="PAPER/ITEM/DATASET",
    help="Published numbers to audit: PAPER/ITEM/DATASET. Several items are "
    "ITEM,ITEM. With --gaps, PAPER/CLAIM/DATASET names a claim.",
)
@click.option("--run", "name", metavar="NAME", default="", help=f"{RUN_HELP}, if several fit.")
@click.option(
    "--gaps",
    is_flag=True,
    help="Vary only the settings that the paper's text leaves open.",
)
@make_setting_option(
    "vary", "KEY.PATH=VALUES", "Values of a choice, instead of the listed values", option="--vary"
)
@make_setting_option("overrides", "KEY.PATH=VALUE", "Fix a key, so that it is not varied")
@click.option(
    "--most",
    type=POSITIVE_INTEGER,
    default=300,
    show_default=True,
    help="Maximum number of combinations. If there are more, this number of "
    "combinations is drawn at random.",
)
@add_run_options
def audit(
    config: Path,
    aim: str,
    name: str,
    gaps: bool,
    vary: tuple[str, ...],
    overrides: tuple[str, ...],
    most: int,
    options: RunOptions,
) -> None:
    """Vary the settings that a paper leaves open, and compare the results with its numbers.

    Every combination of the open choices (open_choices.yaml of the paper, or --vary) is run on
    CONFIG with 2 trials, or --trials. Combinations are ranked by their distance to half of the
    published numbers, and the other half confirms the ranking. The halves are not independent, so
    an audit of a different data set of the paper is stronger evidence. The report includes the
    number of combinations. With --gaps no combination is selected. The report then has the range of
    each number, or of each comparison of a claim, over the unstated settings. An interrupted audit
    is not ranked. The same command resumes it.

    \b
    Examples:
        rfbench audit CONFIG --target PAPER/ITEM/DATASET --set M=56,112,224
        rfbench audit CONFIG --target PAPER/ITEM/DATASET --gaps
        rfbench audit CONFIG --target PAPER/CLAIM/DATASET --gaps
        rfbench audit CONFIG --target PAPER/ITEM,ITEM/DATASET --vary scaling=none,standard,minmax
    """
    from rfbench.audit.plan import AuditRequest, plan_audit
    from rfbench.audit.target import parse_target
    from rfbench.cli import running
    from rfbench.config.sweeps import count_combinations

    if options.only:
        raise ConfigError(
            "The option --only cannot be used in an audit.",
            "Some combinations would not have any published numbers.",
            "Vary fewer choices, or set M and other keys with --set.",
        )
    asked = AuditRequest(
        config,
        parse_target(aim),
        run=name,
        vary=vary,
        overrides=overrides,
        gaps=gaps,
        trials=options.trials or 2,
        most=most,
        allow_imports=options.allow_imports,
    )
    planned = plan_audit(asked)
    echo(f"{len(planned.experiments)} of {count_combinations(planned.choices)} combinations of:")
    for choice, open_options in planned.choices.items():
        echo(f"  {choice}: {', '.join(open_options)}")
    for why in planned.refused[:3]:
        echo(f"this combination cannot be run: {why}")
    work = running.RunRequest(planned.folder, planned.experiments, planned.variants)
    if options.dry_run:
        running.print_dry_run(work, options)
    else:
        _audit(planned, work, options)


def _audit(audit: Audit, planned: RunRequest, options: RunOptions) -> None:
    """Run all combinations of settings of an audit, and print their ranking.

    The ranking compares the results of a combination with published numbers. The command exits with
    code 1 if the runs were interrupted or if a trial failed.
    """
    from rfbench import results
    from rfbench.audit import page
    from rfbench.audit.ranking import rank_combinations
    from rfbench.cli import running

    work = running.plan_and_report(planned, options, progress=True)
    summary = running.run_missing_trials(work, options)
    if options.smoke:
        echo("the combinations are not ranked, because results of a smoke run have no meaning")
    elif summary.interrupted or summary.left:
        echo("interrupted: not ranked")
    elif summary.found + summary.done:
        table = rank_combinations(audit, results.read_results_folder(work.folder))
        files = page.save_audit(audit, table, work.folder)
        echo("\n" + page.render_audit_page(work.folder, audit.asked.command))
        if incomplete := len(audit.experiments) - len(table):
            echo(f"not ranked: {incomplete} combinations without all numbers")
        for path in files:
            echo(f"written: {path}")
    running.print_trial_counts(summary, f"{summary.found} measured before")
    if summary.failed or summary.interrupted:
        raise click.exceptions.Exit(1)
