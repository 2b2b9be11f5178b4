"""`rfbench test`: does a class keep its contract?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from rfbench.cli.options import setting
from rfbench.cli.terminal import echo
from rfbench.errors import ConfigError

if TYPE_CHECKING:
    from rfbench.checking.promises import Promise


@click.command("test")
@click.argument("path", metavar="FILE.PY:NAME")
@setting("settings", "KEY=VALUE", "A parameter that it is built with, say a small pool")
@click.option("--allow-imports", is_flag=True, help="Import it: that runs its code.")
def test(path: str, settings: tuple[str, ...], allow_imports: bool) -> None:
    """Test whether a sampler, solver, transformer or function that loads data keeps its contract.

    Named is a class or function of a file, or package.module.Name. Each promise is a line; one
    that is not kept says what was expected, what came instead and what to do. Exit code 1 if one
    is not kept. Your own tests can call the same checks: see rfbench.checking.

    \b
    Examples:
      rfbench test mine.py:Antithetic --allow-imports
      rfbench test mine.py:Pooled --set pool_size=30 --allow-imports
      rfbench test sklearn.kernel_approximation.Nystroem
    """
    from rfbench import plugins, yamlfile
    from rfbench.checking.run import kernels_of, promises_of
    from rfbench.permissions import check_permission

    options = {}
    for text in settings:
        key, sign, value = text.partition("=")
        if not sign:
            raise ConfigError(f"--set {text} is not KEY=VALUE.", "", "Write --set pool_size=30.")
        options[key] = yamlfile.scalar(value)
    check_permission(path, options, anything=allow_imports)
    thing = plugins.load_object(path)
    promises = promises_of(thing, options)
    for promise in promises:
        _say(promise)
    if len(promises) > 1 and (served := kernels_of(thing)):
        echo(f"Tested with the kernels that it says it serves: {', '.join(served)}.")
    failed = sum(bool(promise.got) for promise in promises)
    echo(f"{path}: {len(promises) - failed} of {len(promises)} promises are kept")
    if failed:
        raise click.exceptions.Exit(1)


def _say(promise: Promise) -> None:
    if not promise.got:
        if promise.cases:
            echo(promise.name, mark=f"{'passed':8}", colour="green")
        else:
            echo(f"{promise.name}: {promise.why_not}", mark=f"{'skipped':8}")
        return
    first, *others = promise.explanation().splitlines()
    echo(first, mark=f"{'FAILED':8}")
    for line in others:
        echo(line)
