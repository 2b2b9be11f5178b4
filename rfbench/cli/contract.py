"""`rfbench test`: does a class keep its contract?"""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import click

from rfbench.cli.options import setting
from rfbench.cli.terminal import echo
from rfbench.errors import ConfigError

if TYPE_CHECKING:
    from rfbench.testing import Promise


@click.command("test")
@click.argument("path", metavar="FILE.PY:NAME")
@setting("settings", "KEY=VALUE", "A parameter that it is built with, say a small pool")
@click.option("--allow-imports", is_flag=True, help="Import it: that runs its code.")
def test(path: str, settings: tuple[str, ...], allow_imports: bool) -> None:
    """Test whether a sampler, solver, transformer or function that loads data keeps its contract.

    Named is a class or function of a file, or package.module.Name. Each promise is a line; one
    that is not kept says what was expected, what came instead and what to do. Exit code 1 if one
    is not kept. The contracts are the classes of rfbench.testing, which your own tests can inherit.

    \b
    Examples:
      rfbench test mine.py:Antithetic --allow-imports
      rfbench test mine.py:Pooled --set pool_size=30 --allow-imports
      rfbench test sklearn.kernel_approximation.Nystroem
    """
    from rfbench import plugins, yamlfile
    from rfbench.permissions import check_permission
    from rfbench.testing.run import check_class, kernels_of, untested_of

    options = {}
    for text in settings:
        key, sign, value = text.partition("=")
        if not sign:
            raise ConfigError(f"--set {text} is not KEY=VALUE.", "", "Write --set pool_size=30.")
        options[key] = yamlfile.scalar(value)
    check_permission(path, options, anything=allow_imports)
    thing = plugins.load_object(path)
    checks = check_class(thing, options)
    for check in checks:
        _say(check)
    if len(checks) > 1 and (served := kernels_of(thing)):
        echo(f"Tested with the kernels that it says it serves: {', '.join(served)}.")
        if untested := untested_of(thing):
            echo(f"Not tested: {untested}.")
    failed = sum(bool(check.got) for check in checks)
    echo(f"{path}: {len(checks) - failed} of {len(checks)} promises are kept")
    if failed:
        raise click.exceptions.Exit(1)


def _say(check: Promise) -> None:
    if not check.got:
        word, colour = ("passed", "green") if check.cases else ("skipped", None)
        echo(check.name, mark=f"{word:8}", colour=colour)
        return
    cases = f" ({len(check.got)} of {check.cases} cases)" if check.cases > 1 else ""
    echo(check.name + cases, mark=f"{'FAILED':8}")
    for word, fact in (("expected", check.expected), ("got", check.got[0]), ("to do", check.todo)):
        lines = [part for line in fact.splitlines() for part in textwrap.wrap(line, 78)]
        for number, line in enumerate(lines):
            echo(f"    {f'{word}:' if not number else '':10}{line}")
