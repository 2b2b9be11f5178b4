"""Exceptions caused by the user, the data or the machine. Messages contain a reason and advice."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import ClassVar


class RfbenchError(Exception):
    """Base class of errors that the user can correct.

    Parameters
    ----------
    what : str
        What happened, as a sentence.
    why : str
        The reason, if it is known.
    todo : str
        What the user can do now.
    """

    # Exit code of the command that raises this error: 2 if the request is invalid, and 1 if the
    # machine could not carry out the request.
    exit_code: ClassVar[int] = 2

    def __init__(self, what: str, why: str = "", todo: str = "") -> None:
        super().__init__(what, why, todo)
        self.what, self.why, self.todo = what, why, todo

    def __str__(self) -> str:
        return " ".join(part for part in (self.what, self.why, self.todo) if part)


class ConfigError(RfbenchError):
    """Exception for a configuration that cannot be run, for example because of an unknown key."""


class DataError(RfbenchError):
    """Exception for a data set that is missing or broken, or that differs from the catalog."""


class MethodError(RfbenchError, ValueError):
    """Exception for a sampler, solver or kernel that cannot use its parameters or the rows.

    A sampler draws random features, and a solver fits a model.

    Parameters
    ----------
    what : str
        What happened, as a sentence.
    why : str
        The reason, if it is known.
    todo : str
        What the user can do now.
    """


class MemoryLimitError(MethodError):
    """Exception for a computation that would not fit into the allowed memory."""


class ExecutorError(RfbenchError):
    """Exception for worker processes that cannot be used, or that have a different environment."""

    exit_code = 1


class ResultsError(RfbenchError):
    """Exception for a results folder that cannot be read, or that another run is using."""


class WriteError(ResultsError):
    """Exception for a file that cannot be written, for example because the disk is full."""

    exit_code = 1


@contextmanager
def raise_as_write_error(what: str, kept: str = "", todo: str = "") -> Iterator[None]:
    """Convert an OSError in a ``with`` block to a WriteError.

    `what` is the start of the message, without a full stop. The reason from the system follows.
    `kept` is a sentence on data that are not lost, and `todo` is advice.
    """
    try:
        yield
    except OSError as error:
        reason = error.strerror or error
        texts = (f"{what}: {reason}.", kept) if kept else (f"{what}.", f"{reason}.")
        raise WriteError(*texts, todo) from error


def suggest_nearest_name(word: str, allowed: list[str]) -> str:
    """Return ``" Did you mean 'x'?"`` for the allowed name x that is most similar to `word`.

    The result is an empty string if no name is similar. The comparison ignores case.
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
    """Return the error for an unknown name, with the most similar name and all known names.

    `kind` is the kind of thing that has the name, such as "kernel". `todo` is advice.
    """
    names = list(known)
    return error(
        f"There is no {kind} '{name}'.{suggest_nearest_name(str(name), names)}",
        f"There are {', '.join(names)}.",
        todo,
    )


MemoryLimit = MemoryLimitError  # earlier name of this error, for existing code of users
