"""Errors that the person, the data or the machine can cause: what, why, what to do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import ClassVar


class RfbenchError(Exception):
    """An error that a person can act on.

    Parameters
    ----------
    what : str
        What happened, as a sentence.
    why : str
        The reason, if it is known.
    todo : str
        What the person can do now.
    """

    # Of the command that it ends: 2 where the person asked for something that cannot be, 1 where
    # the machine could not do it.
    exit_code: ClassVar[int] = 2

    def __init__(self, what: str, why: str = "", todo: str = "") -> None:
        super().__init__(what, why, todo)
        self.what, self.why, self.todo = what, why, todo

    def __str__(self) -> str:
        return " ".join(part for part in (self.what, self.why, self.todo) if part)


class ConfigError(RfbenchError):
    """A configuration that cannot be run: unknown key, wrong type, impossible combination."""


class DataError(RfbenchError):
    """A data set that is missing, broken, or not what the catalogue says."""


class MethodError(RfbenchError, ValueError):
    """A sampler, solver or kernel cannot work with its parameters or rows.

    Parameters
    ----------
    what : str
        What happened, as a sentence.
    why : str
        The reason, if it is known.
    todo : str
        What the person can do now.
    """


class MemoryLimit(MethodError):
    """Work that would not fit into the memory allowed."""


class ExecutorError(RfbenchError):
    """Workers that cannot be had, or differ from this machine."""

    exit_code = 1


class ResultsError(RfbenchError):
    """A results folder that cannot be read, or that another run is at work on."""


class WriteError(ResultsError):
    """A row or a file that could not be written: no room, no permission."""

    exit_code = 1


@contextmanager
def raise_as_write_error(what: str, kept: str = "", todo: str = "") -> Iterator[None]:
    """Make a WriteError of what the system refuses inside.

    `what` cannot be done, without a full stop: the system's reason follows; `kept` says what is
    safe all the same.
    """
    try:
        yield
    except OSError as error:
        reason = error.strerror or error
        texts = (f"{what}: {reason}.", kept) if kept else (f"{what}.", f"{reason}.")
        raise WriteError(*texts, todo) from error


def suggest_nearest(word: str, allowed: list[str]) -> str:
    """Return ``" Did you mean 'x'?"`` for the closest allowed word, or an empty string.

    Capital and small letters are alike.
    """
    import difflib

    folded = {other.casefold(): other for other in allowed}
    close = difflib.get_close_matches(word.casefold(), folded, n=1, cutoff=0.6)
    return f" Did you mean '{folded[close[0]]}'?" if close else ""


def make_unknown_error(
    kind: str,
    name: object,
    known: Iterable[str],
    error: type[RfbenchError] = MethodError,
    todo: str = "",
) -> RfbenchError:
    """Return the error of a name that nothing has, with the nearest one and all there are."""
    names = list(known)
    return error(
        f"There is no {kind} '{name}'.{suggest_nearest(str(name), names)}",
        f"There are {', '.join(names)}.",
        todo,
    )
