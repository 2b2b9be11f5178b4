"""`rfbench rank`: a method of one's own among the published ones."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rfbench.cli.options import OUT, WHOLE, parameter, setting
from rfbench.cli.terminal import echo

if TYPE_CHECKING:
    import pandas as pd

    from rfbench.leaderboard.rank import Ranked, Standing


@click.command()
@click.argument("target", metavar="TARGET")
@click.option("--M", "M", type=WHOLE, default=400, show_default=True, help="Number of features.")
@click.option(
    "--tables",
    type=click.Choice(["all", "quick"]),
    default="all",
    show_default=True,
    help="quick: ten representative ones, in about a minute.",
)
@setting("settings", "KEY=VALUE", "A parameter of TARGET", type=parameter)
@click.option("--label", help="Name in rows and tables; default: that of the class.")
@click.option("--times", is_flag=True, help="Measure the baseline here too, to compare times.")
@click.option("--jobs", type=WHOLE, envvar="RFBENCH_JOBS", help="Workers; default: one per core.")
@OUT
@click.option("--allow-imports", is_flag=True, help="Import any class, which runs its code.")
def rank(
    target: str,
    M: int,
    tables: str,
    settings: tuple[tuple[str, Any], ...],
    label: str | None,
    times: bool,
    jobs: int | None,
    out: Path,
    allow_imports: bool,
) -> None:
    """Rank a sampler, a kernel or a solver among the published methods.

    It is checked, then measured on the leaderboard's tables, splits and trials, with the same
    search; the others are the published rows. A kernel is measured with plain random features,
    a solver on them. An interrupted run resumes with the same command. TARGET is a name of
    `rfbench list samplers` or `list kernels`, FILE.PY:CLASS, or package.module.Class.

    \b
    Examples:
      rfbench rank mine.py:Antithetic --tables quick --allow-imports
      rfbench rank sorf --M 100 --times
    """
    from rfbench import files, slices
    from rfbench.cli.progress import progress
    from rfbench.experiment import runner
    from rfbench.experiment.run_plan import plan_run
    from rfbench.leaderboard import figure, quick
    from rfbench.leaderboard.rank import MEDIAN, experiments, place, published
    from rfbench.leaderboard.rows import baseline_of
    from rfbench.leaderboard.rule import NEEDED
    from rfbench.pages.templates import render
    from rfbench.results import reader
    from rfbench.results.store import Store

    named = _target(target, dict(settings), label, allow_imports)
    others, stale = published(_published())
    if stale:
        echo(f"left out: {stale} published rows of other settings than today's", err=True)
    if named.label in set(others["method"]):
        named = replace(named, label=f"{named.label}-here")
    baseline, few = str(baseline_of(others)), tables == "quick"
    here = others[(others["M"] == M) & (others["table"].isin(quick.QUICK) | (not few))]
    every = here.loc[here["method"] == baseline, "table"].unique()
    asked = experiments(named, M, sorted(every), times=times, allow_imports=allow_imports)
    if asked[0].bandwidth == MEDIAN:
        why = "it has none, it is given, or this is no sampler of rfbench's interface"
        echo(f"its bandwidth is not searched: {why}", err=True)
    folder = out / f"rank-{named.label}"
    plan = plan_run(asked, folder)
    done = Store(folder).done()
    missing = sum(trial.id not in done for trial in plan.trials)
    if missing:
        for line in slices.ask("check", named.thing, named.parameters):
            echo(line, err=True)
        echo(_forecast(here, baseline, (1 + times) * missing / len(plan.trials)), err=True)
    workers = jobs or os.cpu_count() or 1
    with progress(folder.name, missing, len(plan.trials) - missing) as ended:
        summary = runner.run(plan, n_jobs=workers, on_row=ended)
    for text in list(dict.fromkeys(summary.messages))[:3]:
        echo(text, err=True, mark="failed: ")
    if summary.interrupted:
        echo("interrupted: the same command resumes", err=True)
        raise click.exceptions.Exit(1)
    found = place(others, reader.read(folder), named.label, M)
    for form in ("png", "pdf"):
        files.replace(folder / f"rank.{form}", figure.costs([found.size], named.label, form))
    files.replace(folder / "rank.tex", f"{_row(found)}\n".encode())
    echo(
        render(
            "leaderboard/rank.txt.j2",
            p=found,
            baseline=baseline,
            needed=NEEDED,
            row=_row(found),
            folder=folder,
            quick=quick if few else None,
            flag=" --allow-imports" if allow_imports else "",
            code=f" and {target.partition(':')[0]}" if ".py:" in target else "",
        ),
        nl=False,
    )


def _target(
    target: str, parameters: dict[str, Any], label: str | None, allow_imports: bool
) -> Ranked:
    from rfbench import plugins
    from rfbench.leaderboard.rank import Ranked
    from rfbench.parameters import is_path
    from rfbench.permissions import check_permission
    from rfbench.registry import KERNELS, SAMPLERS

    if is_path(target):
        check_permission(target, parameters, anything=allow_imports)
        thing = plugins.load_class(target)
    else:
        thing = KERNELS[target] if target in KERNELS else SAMPLERS.find(target)
    return Ranked(target, thing, parameters, label or target.split(".")[-1].split(":")[-1])


def _published() -> Path:
    from rfbench import shipped

    configs, below = shipped.folder(), Path("results") / "published"
    beside = configs.parent / below if configs else below
    return beside if beside.is_dir() else below


def _forecast(rows: pd.DataFrame, baseline: str, share: float) -> str:
    """Say how long it takes: a share of what methods took where they were measured."""
    from rfbench.pages.words import seconds

    spent = share * (rows["search"] + rows["cpu_test"]).groupby(rows["method"]).sum()
    dearest = str(spent.idxmax())
    return (
        f"about {seconds(spent[baseline])} of CPU time if it is as fast as {baseline}, "
        f"{seconds(spent[dearest])} if it is as slow as {dearest}"
    )


def _row(found: Standing) -> str:
    from rfbench.escaping import in_latex
    from rfbench.leaderboard.page import words
    from rfbench.pages.words import DASH

    numbers = words(found.plain).replace(DASH, "--")
    ranked = f"{found.place} of {len(found.size.methods)}"
    return rf"{in_latex(found.own.method)} & {numbers} & {ranked} & {found.plain.datasets} \\"
