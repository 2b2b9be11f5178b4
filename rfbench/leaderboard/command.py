"""`rfbench rank`: where does a method of one's own stand?"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rfbench.cli.options import FOLDER, OUT, WHOLE, setting
from rfbench.cli.terminal import echo

if TYPE_CHECKING:
    from rfbench.leaderboard.rank import Ranked, Standing


@click.command()
@click.argument("target", metavar="NAME|FILE.PY:CLASS")
@click.option("--M", "M", type=WHOLE, default=400, show_default=True, help="Number of features.")
@click.option(
    "--tables",
    type=click.Choice(["all", "quick"]),
    default="all",
    show_default=True,
    help="quick: ten that stand for all, in about a minute.",
)
@setting("settings", "KEY=VALUE", "A parameter of it")
@click.option("--label", help="What it is called; default: the name of the class.")
@click.option("--times", is_flag=True, help="Measure the baseline here too, and compare times.")
@click.option("--no-check", is_flag=True, help="Leave out the checks of `rfbench test`.")
@click.option(
    "--against",
    type=FOLDER,
    default=None,
    help="The published rows; default: results/published of the checkout, or from here.",
)
@click.option("--jobs", type=WHOLE, envvar="RFBENCH_JOBS", help="Workers; default: one per core.")
@OUT
@click.option("--allow-imports", is_flag=True, help="Import any class: that runs its code.")
def rank(
    target: str,
    M: int,
    tables: str,
    settings: tuple[str, ...],
    label: str | None,
    times: bool,
    no_check: bool,
    against: Path | None,
    jobs: int | None,
    out: Path,
    allow_imports: bool,
) -> None:
    """Say where a sampler, a kernel or a solver stands among the published methods.

    It is checked, then measured alone on the leaderboard's tables, splits and trials, with its
    search; the others are the published rows. A kernel is measured with plain random features,
    a solver on them. Interrupted, the same command goes on.

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
    from rfbench.leaderboard.board import known
    from rfbench.leaderboard.rank import MEDIAN, experiments, place, published
    from rfbench.pages.templates import render
    from rfbench.results import reader
    from rfbench.results.store import Store

    named = _target(target, settings, label, allow_imports)
    for line in [] if no_check else slices.ask("check", named.thing, named.parameters):
        echo(line, err=True)
    others = published(against or _published(), facts := known())
    if others.stale:
        echo(f"left out: {others.stale} published rows of other settings than today's", err=True)
    if named.label in set(others.rows["method"]):
        named = replace(named, label=f"{named.label}-here")
    here = others.tables(M)
    here = [name for name in here if name in quick.QUICK] if tables == "quick" else here
    asked = experiments(named, M, here, times=times, allow_imports=allow_imports)
    if asked[0].bandwidth == MEDIAN:
        echo("its bandwidth is not searched for: it has none, or one that is given", err=True)
    folder = out / f"rank-{named.label}"
    plan = plan_run(asked, folder)
    done = Store(folder).done()
    missing = sum(trial.id not in done for trial in plan.trials)
    if missing:
        share = (1 + times) * missing / len(plan.trials)
        echo(_forecast(others.seconds(M, here), others.baseline, share), err=True)
    workers = jobs or os.cpu_count() or 1
    with progress(folder.name, missing, len(plan.trials) - missing) as ended:
        summary = runner.run(plan, n_jobs=workers, on_row=ended)
    for text in list(dict.fromkeys(summary.messages))[:3]:
        echo(text, err=True, mark="failed: ")
    if summary.interrupted:
        echo("interrupted: the same command goes on", err=True)
        raise click.exceptions.Exit(1)
    found = place(others, reader.read(folder), named.label, M, facts)
    for form in ("png", "pdf"):
        files.replace(folder / f"rank.{form}", figure.costs([found.size], named.label, form))
    files.replace(folder / "rank.tex", f"{_row(found)}\n".encode())
    echo(
        render(
            "leaderboard/rank.txt.j2",
            p=found,
            baseline=others.baseline,
            row=_row(found),
            folder=folder,
            few_tables=tables == "quick",
            quality=others.quality(M) if tables == "quick" else None,
            flag=" --allow-imports" if allow_imports else "",
            code=f" and {target.partition(':')[0]}" if ".py:" in target else "",
        ),
        nl=False,
    )


def _target(
    target: str, settings: tuple[str, ...], label: str | None, allow_imports: bool
) -> Ranked:
    from rfbench import plugins, yamlfile
    from rfbench.leaderboard.rank import Ranked
    from rfbench.parameters import is_path
    from rfbench.permissions import check_permission
    from rfbench.registry import KERNELS, SAMPLERS

    parameters: dict[str, Any] = {}
    for text in settings:
        key, sign, value = text.partition("=")
        if not sign:
            raise click.UsageError(f"--set {text} is not KEY=VALUE.")
        parameters[key] = yamlfile.scalar(value)
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


def _forecast(seconds: Mapping[str, float], baseline: str, share: float) -> str:
    """Say how long it takes: a share of what methods took where they were measured."""
    from rfbench.pages.words import seconds as written

    dearest = max(seconds, key=lambda name: seconds[name])
    fast, slow = (share * seconds[name] for name in (baseline, dearest))
    return (
        f"about {written(fast)} of CPU time if it is as fast as {baseline}, {written(slow)} if it "
        f"is as slow as {dearest}"
    )


def _row(found: Standing) -> str:
    from rfbench.escaping import in_latex

    numbers = f"{found.plain.ratio:.2f} ({found.plain.low:.2f}--{found.plain.high:.2f})"
    ranked = f"{found.place} of {found.methods}"
    return rf"{in_latex(found.label)} & {numbers} & {ranked} & {found.plain.datasets} \\"
