"""Entry point of the command line program `rfbench`, and its handling of errors."""

from __future__ import annotations

import contextlib
import io
import logging
import os
import pkgutil
import re
import sys
from typing import Any

import click

from rfbench import platforms, slices
from rfbench._version import __version__
from rfbench.cli.data import data
from rfbench.cli.experiments import run, sweep
from rfbench.cli.listing import list_
from rfbench.cli.merge_replay import merge, replay
from rfbench.cli.new import new
from rfbench.cli.report import report
from rfbench.cli.show import plot, table
from rfbench.cli.terminal import Printable, echo
from rfbench.cli.verify import verify
from rfbench.compute import check_numba_settings
from rfbench.errors import ExecutorError, RfbenchError, WriteError
from rfbench.escaping import escape_controls, escape_warnings

# Headings of `rfbench --help`, each with its commands. A command that is not installed is skipped.
COMMAND_GROUPS = {
    "Measure": ("run", "sweep", "merge", "replay"),
    "Show results": ("table", "plot", "report"),
    "Check papers": ("verify", "audit"),
    "Check methods, choose models": ("test", "rank", "choose", "predict"),
    "Data and configurations": ("list", "data", "new"),
}
NO_THREAD = "can't start new thread"  # start of Python's error message if no thread can be started


class Commands(click.Group):
    """Group of all commands of `rfbench`, which prints errors as sentences, not as tracebacks."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands in alphabetical order."""
        return sorted({*self.commands, *_of_slices()})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command with the given name, or None.

        Commands of optional components are imported on first use.
        """
        if cmd_name not in self.commands and cmd_name in (places := _of_slices()):
            self.add_command(pkgutil.resolve_name(places[cmd_name]))
        return super().get_command(ctx, cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands in the help text, one line per command, under headings."""
        for title, names in COMMAND_GROUPS.items():
            commands = ((name, self.get_command(ctx, name)) for name in names)
            lines = [(name, each.get_short_help_str(62)) for name, each in commands if each]
            if lines:
                with formatter.section(title):
                    formatter.write_dl(lines)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments of the command line.

        Raise UsageError if an argument is not UTF-8 or contains a null character.
        """
        for word in args:
            if re.search("[\0\ud800-\udfff]", word):
                raise click.UsageError(f"The argument {word!a} is not UTF-8 text.", ctx)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command. Print errors and exit with the exit code of the error."""
        ctx.color = False if os.environ.get("NO_COLOR") else None
        if isinstance(sys.stdout, io.TextIOWrapper):
            # File names in the output may contain bytes that are not valid text. They are printed
            # as escapes.
            sys.stdout.reconfigure(errors="backslashreplace")
        try:
            check_numba_settings()
            result = super().invoke(ctx)
            if sys.stdout:
                sys.stdout.flush()
            return result
        except click.ClickException as wrong:  # click prints this exception
            vars(wrong)["message"] = escape_controls(wrong.message)
            raise
        except BrokenPipeError:
            sys.stderr.close()
            ctx.exit(0)
        except Exception as raised:
            expected = isinstance(raised, RfbenchError | OSError | MemoryError | ImportError)
            if ctx.params.get("debug") or not (expected or _lacks_a_thread(raised)):
                raise
            error = raised if isinstance(raised, RfbenchError) else _refused(raised)
            echo(error.what, err=True, mark="error: ")
            for line in filter(None, (error.why, error.todo)):
                echo(f"  {line}", err=True)
            ctx.exit(error.exit_code)


def _of_slices() -> dict[str, str]:
    return {
        name: place
        for places in slices.call_hooks("list_commands")
        for name, place in places.items()
    }


def _lacks_a_thread(error: BaseException | None) -> bool:
    """Return True if an exception was raised because a thread could not be started.

    The exceptions that led to the exception are also examined, because joblib raises a different
    exception while it stops the threads that it has already started.
    """
    while error and str(error) != NO_THREAD:
        error = error.__context__
    return error is not None


def _refused(error: Exception) -> RfbenchError:
    if _lacks_a_thread(error):
        return ExecutorError(
            "The system cannot start another thread.",
            "The limit of processes and threads for this user is reached. Measured "
            "rows are stored.",
            "End other processes, or raise the limit (see `ulimit -u`).",
        )
    if not isinstance(error, OSError):
        return WriteError(
            f"{type(error).__name__}: {error or 'there is not enough memory'}.",
            "Measured rows are stored.",
            "Allow more memory (see `ulimit -v`), or install what is missing.",
        )
    with contextlib.suppress(OSError, ValueError, AttributeError):
        # The remaining output is discarded, because writing it at exit would raise a second error.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    # `os.getcwd` raises a FileNotFoundError without a file name if the current folder was deleted.
    if isinstance(error, FileNotFoundError) and not error.filename:
        return WriteError(
            "The current folder does not exist any more.", "", "Change to an existing folder."
        )
    where = f": {error.filename}" if error.filename else ""
    what = f"The operating system reported an error: {error.strerror or error}{where}."
    return WriteError(what, "Measured rows are stored.")


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Start with: rfbench run quickstart",
)
@click.version_option(__version__, prog_name="rfbench")
@click.option("--debug", is_flag=True, help="Show tracebacks and debug messages.")
def main(debug: bool) -> None:
    """Measure random-feature methods for kernel learning the way their papers did.

    A YAML file names a data set, samplers, a kernel and a solver. `run` measures the missing
    trials, writes one CSV row per trial, and makes the table and the figures from the CSV.
    """
    escape_warnings()
    os.environ.update(platforms.list_blas_variables())
    handler = logging.StreamHandler()
    handler.setFormatter(Printable("%(levelname)s: %(message)s"))
    logging.basicConfig(level=logging.DEBUG if debug else logging.WARNING, handlers=[handler])
    if debug:
        for name in ("markdown_it", "matplotlib", "numba"):
            logging.getLogger(name).setLevel(logging.INFO)


for command in (run, sweep, plot, table, verify, report, new, merge, replay, data, list_):
    main.add_command(command)
