"""Command `rfbench rank`, which ranks your own method among the published methods."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from rfbench.cli.options import OUT, POSITIVE_INTEGER, make_setting_option, parse_parameter
from rfbench.cli.terminal import echo

if TYPE_CHECKING:
    from rfbench.leaderboard.rank import RankTarget


@click.command(short_help="Rank a method among the published methods.")
@click.argument("target", metavar="TARGET")
@click.option(
    "--M", "M", type=POSITIVE_INTEGER, default=400, show_default=True, help="Number of features."
)
@click.option(
    "--tables",
    type=click.Choice(["all", "quick"]),
    default="all",
    show_default=True,
    help="quick uses ten representative tables, in about a minute, without significance tests.",
)
@make_setting_option("settings", "KEY=VALUE", "A parameter of TARGET", type=parse_parameter)
@click.option("--label", help="Label in rows and tables (default: the name of the class).")
@click.option(
    "--times", is_flag=True, help="Also measure the baseline on this machine, and compare times."
)
@click.option(
    "--jobs",
    type=POSITIVE_INTEGER,
    envvar="RFBENCH_JOBS",
    help="Number of workers (default: cores).",
)
@OUT
@click.option(
    "--allow-imports", is_flag=True, help="Allow the import of any class, which runs its code."
)
def rank(
    target: str, settings: tuple[tuple[str, Any], ...], jobs: int | None, **options: Any
) -> None:
    """Rank a sampler, a kernel or a solver among the published methods.

    TARGET is checked first. Then it is measured on the leaderboard's tables, splits and trials,
    with the same search, and compared with the published rows. A kernel or a solver is measured
    with plain random features. An interrupted run resumes with the same command. The exit code is 1
    if TARGET gets no rank, and 2 for wrong usage.

    TARGET is a name of `rfbench list samplers` or `list kernels`, FILE.PY:NAME or
    package.module.Name. It can be a transformer with scikit-learn's interface, or a function
    f(X, M, seed). The search divides the rows by each bandwidth, or sets a parameter that you
    declare. A bandwidth is the distance of two rows at which the mean product of their features is
    .61, as for rks. On all tables, a method as fast as rks needs minutes, and a method as slow as
    varpro needs half an hour or more.

    \b
    Examples:
        rfbench rank mine.py:Antithetic --allow-imports
        rfbench rank sklearn.kernel_approximation.RBFSampler
        rfbench rank mine.py:Mine --set bandwidth_parameter=gamma --allow-imports
        rfbench rank sorf --M 100 --tables quick --times
    """
    from rfbench import slices
    from rfbench.cli.progress import show_progress
    from rfbench.leaderboard import ranking

    say = partial(echo, err=True)

    def before(named: RankTarget) -> None:
        for line in slices.call_hooks("describe_check", named.thing, named.parameters):
            say(line)

    found = ranking.rank(
        target,
        parameters=dict(settings),
        n_jobs=jobs,
        say=say,
        before=before,
        watch=show_progress,
        **options,
    )
    if found.standing is None:
        say(found.text)
        raise click.exceptions.Exit(1)
    echo(found.text)
