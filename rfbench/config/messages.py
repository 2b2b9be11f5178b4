"""Error messages for invalid configurations, with line, allowed values and nearest valid name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rfbench import aliases, yamlfile
from rfbench.config.axes import AXES
from rfbench.errors import ConfigError, RfbenchError, suggest_nearest_name

if TYPE_CHECKING:
    from pydantic import BaseModel, ValidationError

# Maximum number of errors in one message. With twice this number, the first errors would scroll off
# the screen.
MAX_SHOWN = 8
# Keys with the same value for all samplers of a configuration.
SHARED_KEYS = ("kernel", "bandwidth", "feature_map")


def format_location(document: yamlfile.Document, path: tuple[Any, ...]) -> str:
    """Return the file and the line of a key, as a string for error messages.

    If the option ``--set`` has set the key, the option is returned instead. `path` contains the
    nested keys.
    """
    position = document.find_location(path)
    if position.startswith("--set"):
        return position
    return f"{document.source}, {position}" if position else document.source


def explain_validation_error(error: ValidationError, document: yamlfile.Document) -> str:
    """Return one sentence per mistake in a configuration, with the line and the allowed values."""
    # Import the schema in this function, so that commands that only list names start faster.
    from rfbench.config.specs import SolverSpec

    sentences = []
    for problem in error.errors():
        path = tuple(part for part in problem["loc"] if not _is_branch(part))
        key = ".".join(map(str, path))
        kind, message = problem["type"], problem["msg"].removeprefix("Value error, ")
        if kind == "extra_forbidden":
            allowed = sorted(_keys_at(problem["loc"][:-1]))
            word = str(problem["loc"][-1])
            top = len(problem["loc"]) == 1
            others = aliases.list_aliases(aliases.CONFIGURATION) if top else []
            hint = suggest_nearest_name(word, [*allowed, *others])
            if top and word in SolverSpec.model_fields:
                hint = " It belongs under `solver:`."
            message = f"there is no key '{key}'.{hint} Allowed: {', '.join(allowed)}"
        elif kind == "missing":
            message = f"the key '{key}' is missing"
        elif kind == "literal_error":
            expected = problem["ctx"]["expected"].replace(" or ", ", ").replace("'", "")
            parts = [word.strip() for word in expected.split(",")]
            shown = problem["input"]
            message = (
                f"{key} is {_short(shown)}; allowed: {', '.join(parts)}."
                f"{suggest_nearest_name(str(shown), parts)}"
            )
        elif key:
            if message[1:2].islower():
                message = message[0].lower() + message[1:]
            message = f"{key} is {_short(problem['input'])}: {message}"
        end = "" if message.endswith((".", "?")) else "."
        sentences.append(f"{format_location(document, path)}: {message}{end}")
    unique = list(dict.fromkeys(sentences))
    more = [f"... and {len(unique) - MAX_SHOWN} more."] if len(unique) > MAX_SHOWN else []
    return "\n".join(unique[:MAX_SHOWN] + more)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) < 60 else text[:57] + "..."


def _is_branch(part: Any) -> bool:
    """Return True if a part of pydantic's error location is a type in a union, and not a key."""
    return isinstance(part, str) and (
        part in ("SameSizeAs", "int", "float", "str", "none") or "[" in part
    )


def _keys_at(path: tuple[Any, ...]) -> list[str]:
    from rfbench.config.schema import Experiment
    from rfbench.config.specs import CheckSpec, SameSizeAs, SolverSpec

    models: dict[str, type[BaseModel]] = {
        "solver": SolverSpec,
        "checks": CheckSpec,
        "M": SameSizeAs,
    }
    if path:
        return list(models.get(str(path[0]), Experiment).model_fields)
    return [key for key in (*Experiment.model_fields, *AXES) if key != "name"]


@contextmanager
def raise_as_config_error(document: yamlfile.Document, *path: Any) -> Iterator[None]:
    """Convert an error in a block of code to a ConfigError that contains the line of the cause.

    If the message names a parameter below the key `path` or a key that all samplers share, the line
    is the line of this parameter or key. Otherwise, the location is a ``--set`` option below
    `path`, or the line of `path`.
    """
    try:
        yield
    except RfbenchError as error:
        terms = re.findall(r"[\w-]+", error.what)
        below = {
            path + rest: position for rest, position in document.find_locations_below(path).items()
        }
        named = [p for word in terms for p in below if p[-1] == word]
        named = named or [
            (key,) for key in SHARED_KEYS if key in terms and (key,) in document.places
        ]
        changed = next((p for p, position in below.items() if position.startswith("--set")), path)
        position = format_location(document, max(named, key=len, default=changed))
        raise ConfigError(f"{position}: {error.what}", error.why, error.todo) from None
