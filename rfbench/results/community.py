"""`community.json` beside `trials.csv`: whose rows these are, and how they were checked.

Results that somebody else measured stand in folders of their own below ``results/community``.
"""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from rfbench import files
from rfbench.errors import ResultsError, WriteError
from rfbench.results import kept_features
from rfbench.results.lines import opened, sealed
from rfbench.results.manifest import MANIFEST
from rfbench.results.reader import TRIALS

FOLDER, FILE = "community", "community.json"

Line = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f\x7f]+$")]


class Origin(BaseModel):
    """Who measured the rows of a folder, and what was measured again."""

    model_config = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)

    author: Line
    method: Line
    source: str = ""  # where the method's code is
    labels: list[str]  # of the methods in the rows
    rows: int  # that ended well
    failed: int  # that did not
    replayed: int  # rows that were measured again, and came out as they stand
    seed: int  # of the choice of these rows
    version: str  # of rfbench that measured them again


def folder_name(method: str, author: str) -> str:
    """Return the name of the folder of somebody's method: letters, digits and ``._-``."""
    plain = re.sub(r"[^A-Za-z0-9.]+", "-", f"{method}_{author}".replace("_", " ")).strip("-.")
    return plain.lower() or "unnamed"


def add(folder: Path, results: Path, origin: Origin) -> Path:
    """Copy somebody's rows below ``results/community``; return their folder there.

    Raises ResultsError: there is such a folder already; WriteError: it cannot be written.
    """
    name = folder_name(origin.method, origin.author)
    target = results / FOLDER / name / folder.resolve().name
    if target.exists():
        raise ResultsError(
            f"{target} is there already.",
            "Rows of this method, author and configuration were taken in before.",
            "Remove that folder first, or give another --method.",
        )
    try:
        target.mkdir(parents=True)
        for file in (TRIALS, MANIFEST, kept_features.FILE):
            if (folder / file).exists():
                shutil.copyfile(folder / file, target / file)
    except OSError as error:
        shutil.rmtree(target, ignore_errors=True)
        raise WriteError(
            f"{target} cannot be written: {error.strerror or error}.",
            "Nothing was taken in.",
            "Make room, or name another folder with --into.",
        ) from error
    text = json.dumps(sealed(origin.model_dump()), indent=1, ensure_ascii=False) + "\n"
    files.replace(target / FILE, text.encode())
    return target


def origin_of(folder: Path) -> Origin | None:
    """Return whose rows a folder holds; None of our own, which have no such file.

    Raises ResultsError: the file cannot be read, or was changed.
    """
    file = folder / FILE
    if not file.exists():
        return None
    try:
        content = json.loads(file.read_bytes())
        if not isinstance(content, dict):
            raise ValueError("It is no JSON object.")
        return Origin.model_validate(opened(content))
    except (OSError, ValueError, RecursionError, ValidationError) as error:
        raise ResultsError(
            f"{file} cannot be read.",
            f"{str(error).splitlines()[0]}",
            "Take the rows in again with `rfbench accept`.",
        ) from error
