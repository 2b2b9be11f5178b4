"""`rfbench slurm`: job arrays for a cluster."""

from __future__ import annotations

import itertools
import math
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rfbench.cli.experiments import run as run_command
from rfbench.cli.options import ALLOW_IMPORTS, OUT, WHOLE, complete_config, duration
from rfbench.cli.terminal import echo

if TYPE_CHECKING:
    from rfbench.config import Experiment

SPARE = 1.25  # of the estimate: Slurm ends what takes more than it asked for
STEP = 100  # MB
HEAD = "#!/bin/sh\nset -e\n"
SCRIPT = """\
# {name}: a job array of {shards} parts, and what joins their rows once all have ended.
array=$(sbatch --parsable --job-name={name} --array=1-{shards} --cpus-per-task=1{part}{extra} <<'PART'
#!/bin/sh
{activate}exec {run} --jobs 1 --shard "$SLURM_ARRAY_TASK_ID/{shards}"
PART
)
sbatch --job-name={name}-merge --dependency="afterany:$array"{log}{extra} <<'MERGE'
#!/bin/sh
{activate}{merge}
MERGE
"""  # noqa: E501
CONDA = 'eval "$(conda shell.posix hook)"\nconda activate {}\n'


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument(
    "words",
    metavar="CONFIG... [OPTIONS]...",
    nargs=-1,
    required=True,
    type=click.UNPROCESSED,
    shell_complete=complete_config,
)
@click.option("--shards", type=WHOLE, default=20, show_default=True, help="Parts.")
@OUT
@click.option("--time", type=duration, metavar="TIME", help="Longest time of a part: 90m, 2h.")
@click.option(
    "--mem",
    metavar="SIZE",
    help="Memory of a part, as sbatch takes it: 4G; default: what the largest trial is estimated "
    "to need, and a quarter more.",
)
@click.option("--log", metavar="FOLDER", help="Where the output of the jobs goes; it must exist.")
@click.option(
    "--environment",
    metavar="PATH_OR_NAME",
    help="Activated first: the folder of a virtual environment, or the name of one of conda.",
)
@click.option("--sbatch", default="", metavar="WORDS", help="More for sbatch: '--partition=long'.")
@ALLOW_IMPORTS
def slurm(
    words: tuple[str, ...],
    shards: int,
    out: Path,
    time: float | None,
    mem: str | None,
    log: str | None,
    environment: str | None,
    sbatch: str,
    allow_imports: bool,
) -> None:
    """Print the script that runs each CONFIG as a job array, with OPTIONS of `rfbench run`.

    `| sh` submits it. The parts share no file; the last job merges them. The same script goes on
    where parts failed. Configurations come first, then options.

    \b
    Examples:
      rfbench slurm quickstart --shards 20 --trials 50 --time 1h | sh
      rfbench slurm configs/a.yaml configs/b.yaml --log logs --environment ~/envs/rfbench | sh
    """
    from rfbench import config as configuration

    configs = list(itertools.takewhile(lambda word: not word.startswith("-"), words))
    options = words[len(configs) :]
    if not configs:
        raise click.UsageError("Name configurations first, then the options of `rfbench run`.")
    given = run_command.make_context("rfbench run", list(words), resilient_parsing=True).params
    allowed = ["--allow-imports"] if allow_imports else []
    log_option = f" --output={shlex.quote(f'{log}/%x-%A_%a.log')}" if log else ""
    script = HEAD
    for config in configs:
        experiments = configuration.read_all(
            Path(config), given["overrides"], only=given["runs"], allow_imports=allow_imports
        )
        run = ["rfbench", "run", config, "--out", str(out), *allowed, *options]
        memory = mem or _estimated(experiments)
        part = log_option + (f" --mem={shlex.quote(memory)}" if memory else "")
        script += SCRIPT.format(
            name=shlex.quote(Path(config).stem),
            shards=shards,
            part=part + (f" --time={_clock(time)}" if time else ""),
            log=log_option.replace("_%a", ""),
            extra=f" {sbatch}" if sbatch else "",
            activate=_activation(environment),
            run=shlex.join(run),
            merge="\n".join(shlex.join(["rfbench", "merge", str(out / e.name)])
                            for e in experiments),
        )  # fmt: skip
    echo(script, nl=False)


def _estimated(experiments: Sequence[Experiment]) -> str:
    """Return the memory of the largest trial and some to spare; '' where none is estimated."""
    from rfbench.cli.memory import trials_without_data
    from rfbench.experiment.footprint import footprints

    needs = [need for _, need in footprints(trials_without_data(experiments)) if need is not None]
    return f"{STEP * math.ceil(SPARE * max(needs) / 1e6 / STEP)}M" if needs else ""


def _clock(seconds: float) -> str:
    minutes = math.ceil(seconds / 60)
    return f"{minutes // 60}:{minutes % 60:02}:00"


def _activation(environment: str | None) -> str:
    if not environment:
        return ""
    folder = Path(environment).expanduser()
    if (folder / "bin" / "activate").is_file():
        return f". {shlex.quote(str(folder.absolute() / 'bin' / 'activate'))}\n"
    return CONDA.format(shlex.quote(environment))
