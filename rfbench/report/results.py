"""Finding and reading results folders: ``trials.csv`` and ``manifest.json``."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from rfbench.errors import ResultsError
from rfbench.report.columns import INTEGER, MISSING, NUMBER, REQUIRED, TEXT

TRIALS = "trials.csv"
MANIFEST = "manifest.json"


@dataclass(frozen=True)
class Results:
    """One results folder in memory.

    Parameters
    ----------
    folder : Path
        Where ``trials.csv`` lies.
    name : str
        The name of the experiment: the manifest's, else the folder's.
    rows : DataFrame
        One row a (sampler, M, trial). Every column of the documented format is there: numbers
        are float64 with NaN, whole numbers Int64 with NA, texts str with ``""`` for empty cells.
        Unknown columns are kept as text. ``variant`` names no setting of another sampler.
    manifest : dict
        ``manifest.json``, or an empty dictionary.
    notes : list of str
        What was left out while reading, and why; to be shown beneath what is made of the rows.
    """

    folder: Path
    name: str
    rows: pd.DataFrame
    manifest: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @property
    def config(self) -> dict[str, Any]:
        """The resolved configuration, or an empty dictionary."""
        config = self.manifest.get("config")
        return config if isinstance(config, dict) else {}

    @property
    def smoke(self) -> bool:
        """Whether this was a smoke run, whose numbers mean nothing."""
        return bool(self.manifest.get("smoke"))


def find(paths: Iterable[str | Path]) -> list[Path]:
    """List the results folders at or below the given paths.

    Parameters
    ----------
    paths : iterable of path
        Results folders, folders that hold some at any depth, or ``trials.csv`` files.

    Returns
    -------
    list of Path
        Sorted, without repetition.

    Raises
    ------
    ResultsError
        If a path is not there, or nothing below it holds a ``trials.csv``.
    """
    folders: set[Path] = set()
    for path in map(Path, paths):
        if not path.exists():
            raise ResultsError(
                f"There is no {path}.",
                "Results are looked for where the command line says.",
                "Check the path, or make results with 'rfbench run CONFIG'.",
            )
        found = [path] if path.name == TRIALS and path.is_file() else list(path.rglob(TRIALS))
        if not found:
            raise ResultsError(
                f"{path} holds no results.",
                f"Neither it nor a folder below it has a {TRIALS}.",
                "Name a folder that 'rfbench run' wrote, for example results/quickstart.",
            )
        folders.update(file.parent for file in found)
    return sorted(folders)


def read(folder: str | Path) -> Results:
    """Read one results folder.

    A last row that was cut short (the run was killed while writing) is left out with a note;
    of rows with the same ``trial_id`` the last one counts.

    Raises
    ------
    ResultsError
        If the folder or ``trials.csv`` is missing or empty, a required column is missing, or a
        row other than a cut last one is broken; file and line are named.
    """
    folder = Path(folder)
    file = folder / TRIALS
    content = _content(file)
    notes: list[str] = []
    header, records, lines = _records(file, content, notes)
    absent = [column for column in REQUIRED if column not in header]
    if absent:
        raise ResultsError(
            f"{file} has no column {', '.join(absent)}.",
            "Without it a row cannot be told from the others.",
            "Was the file edited? Restore it, or run the configuration again into another folder.",
        )
    twice = sorted({column for column in header if header.count(column) > 1})
    if twice:
        raise ResultsError(
            f"{file} has two columns {', '.join(twice)}.",
            "Which of them counts cannot be known.",
            "Was the file edited? Restore it.",
        )
    rows = _typed(file, pd.DataFrame(records, columns=header, dtype=str), lines)
    repeated = rows["trial_id"].duplicated(keep="last")
    if repeated.any():
        notes.append(
            f"{TRIALS}: {repeated.sum()} rows repeat an earlier trial_id; the last one counts."
        )
        rows = rows[~repeated].reset_index(drop=True)
    if rows.empty:
        notes.append(f"{TRIALS} has a header but no trials yet.")
    manifest = _manifest(folder, notes)
    rows = _of_the_last_configuration(rows, manifest, notes)
    results = Results(folder, folder.resolve().name, rows, manifest, notes)
    name = results.config.get("name")
    return Results(folder, str(name), rows, manifest, notes) if name else results


def _of_the_last_configuration(
    rows: pd.DataFrame, manifest: dict[str, Any], notes: list[str]
) -> pd.DataFrame:
    """Return the rows that the manifest's configuration measures; the others are kept apart.

    What it calls its protocol holds for all of them: a trial is the same under any name.
    """
    settings = manifest.get("settings")
    if not settings or "setting" not in rows:
        return rows
    current = rows["setting"].isin(settings)
    if not current.all():
        notes.append(
            f"{(~current).sum()} rows of earlier configurations are in {TRIALS} and not shown: "
            "they measure something else."
        )
        rows = rows[current].reset_index(drop=True)
    config = manifest.get("config")
    protocol = config.get("protocol") if isinstance(config, dict) else None
    return rows.assign(protocol=protocol) if protocol else rows


def _content(file: Path) -> bytes:
    try:
        content = file.read_bytes()
    except OSError as error:
        why = f"{file.parent} is not there." if not file.parent.is_dir() else f"{error.strerror}."
        raise ResultsError(
            f"{file} cannot be read.", why, "Name a folder that 'rfbench run' wrote."
        ) from error
    if not content.strip():
        raise ResultsError(
            f"{file} is empty.",
            "The run was probably stopped before its first trial ended.",
            "Delete the folder and run the configuration again.",
        )
    return content


def _records(
    file: Path, content: bytes, notes: list[str]
) -> tuple[list[str], list[list[str]], list[int]]:
    """Split the file into header, rows and the line each row starts on; drop a cut last row.

    The store ends every row with a line feed, so bytes after the last one are a row cut short,
    even where the number of cells happens to be right.
    """
    whole, feed, rest = content.rpartition(b"\n")
    if rest.strip() and feed:
        cut = content.count(b"\n") + 1
        notes.append(f"{TRIALS}, line {cut}: the row was cut in the middle; it is left out.")
    try:
        text = ((whole + feed) or content).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise _broken(file, line, "It is not UTF-8 text.") from error
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    header: list[str] = []
    records: list[list[str]] = []
    lines: list[int] = []
    line = 1
    try:
        for record in reader:
            if not header:
                header = record
            elif record:
                if len(record) != len(header):
                    why = f"It has {len(record)} cells, the header {len(header)}."
                    raise _broken(file, line, why)
                records.append(record)
                lines.append(line)
            line = reader.line_num + 1
    except csv.Error as error:
        raise _broken(file, line, f"It is not CSV: {error}.") from error
    return header, records, lines


def _typed(file: Path, raw: pd.DataFrame, lines: list[int]) -> pd.DataFrame:
    """Give every documented column its type; columns that are not there are empty."""
    typed: dict[str, Any] = {}
    for column in dict.fromkeys([*TEXT, *INTEGER, *NUMBER, *raw.columns]):
        if column not in raw:
            empty: Any = "" if column in TEXT else np.nan
            values = pd.Series(empty, index=raw.index, dtype="str" if column in TEXT else "float64")
        else:
            if column in INTEGER or column in NUMBER:
                values = _numbers(file, raw[column], lines, column in INTEGER)
            else:
                values = raw[column].str.strip()
        typed[column] = values.astype("Int64") if column in INTEGER else values
    rows = pd.DataFrame(typed, index=raw.index)
    rows["label"] = rows["label"].where(rows["label"] != "", rows["sampler"])
    named = zip(rows["variant"], rows["label"], rows["sampler"], strict=True)
    rows["variant"] = pd.Series([_own(*names) for names in named], rows.index, dtype="str")
    return rows


def _numbers(file: Path, texts: pd.Series[str], lines: list[int], whole: bool) -> pd.Series[float]:
    """Return a column of numbers, NaN for empty cells; the first wrong cell is an error."""
    try:
        cells = texts.to_list()
        found = np.array([float(cell) if cell else np.nan for cell in cells])
        if not (whole and (found % 1 > 0).any()) and "_" not in "".join(cells):
            return pd.Series(found, index=texts.index)
    except ValueError:
        pass
    values = texts.str.strip()
    values = values.mask(values.str.lower().isin(MISSING))
    numbers = pd.to_numeric(values, errors="coerce").astype("float64")
    wrong = values.notna() & numbers.isna()
    if whole:
        wrong |= numbers.notna() & (numbers % 1 != 0)
    for place in np.flatnonzero(wrong.to_numpy())[:1]:
        kind = "whole number" if whole else "number"
        why = f"Column {texts.name} holds '{values.iloc[place]}', which is no {kind}."
        raise _broken(file, lines[place], why)
    return numbers


def _own(variant: str, *names: str) -> str:
    """Drop the swept settings of other samplers: ``samplers.eerf.pool_size`` is none of rks's."""
    terms = [term.strip() for term in variant.split(",")]
    return ", ".join(t for t in terms if t[:9] != "samplers." or t.split(".")[1] in names)


def _broken(file: Path, line: int, why: str) -> ResultsError:
    return ResultsError(
        f"{file}, line {line}: the row is broken.",
        why,
        "Delete that line and run the configuration again; only the missing trial is repeated.",
    )


def _manifest(folder: Path, notes: list[str]) -> dict[str, Any]:
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except FileNotFoundError:
        notes.append(f"There is no {MANIFEST}: configuration and machine are unknown.")
    except (OSError, ValueError):
        notes.append(f"{MANIFEST} cannot be read: configuration and machine are unknown.")
    else:
        if isinstance(manifest, dict):
            return manifest
        notes.append(f"{MANIFEST} is not a JSON object: configuration and machine are unknown.")
    return {}
