"""`rfbench slurm`: a job array for a cluster."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from rfbench.cli.options import ALLOW_IMPORTS, CONFIG, OUT, WHOLE
from rfbench.cli.terminal import echo

SCRIPT = """\
#!/bin/sh
# Submits a job array of {shards} parts, and what joins their rows once all have ended.
set -e
array=$(sbatch --parsable --job-name={name} --array=1-{shards} --cpus-per-task=1{extra} <<'PART'
#!/bin/sh
exec {run} --jobs 1 --shard "$SLURM_ARRAY_TASK_ID/{shards}"
PART
)
sbatch --job-name={name}-merge --dependency="afterany:$array"{extra} <<'MERGE'
#!/bin/sh
{merge}
MERGE
"""


@click.command(context_settings={"ignore_unknown_options": True})
@CONFIG
@click.argument("options", nargs=-1, type=click.UNPROCESSED)
@click.option("--shards", type=WHOLE, default=20, show_default=True, help="Parts.")
@OUT
@click.option("--sbatch", default="", metavar="WORDS", help="More for sbatch: '--time=2:00:00'.")
@ALLOW_IMPORTS
def slurm(
    config: Path,
    options: tuple[str, ...],
    shards: int,
    out: Path,
    sbatch: str,
    allow_imports: bool,
) -> None:
    """Print the script that runs CONFIG as a job array, with OPTIONS of `rfbench run`.

    The parts share no file; the last job merges them. The same script goes on where parts failed.

    \b
    Example:
      rfbench slurm configs/quickstart.yaml --shards 20 --trials 50 --sbatch "--time=1:00:00" | sh
    """
    from rfbench import config as configuration

    names = [e.name for e in configuration.read_all(config, [], allow_imports=allow_imports)]
    allowed = ["--allow-imports"] if allow_imports else []
    run = ["rfbench", "run", str(config), "--out", str(out), *allowed, *options]
    echo(
        SCRIPT.format(
            name=shlex.quote(config.stem),
            shards=shards,
            extra=f" {sbatch}" if sbatch else "",
            run=shlex.join(run),
            merge="\n".join(shlex.join(["rfbench", "merge", str(out / name)]) for name in names),
        ),
        nl=False,
    )
