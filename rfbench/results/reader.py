"""Finding and reading results folders: the one parser of ``trials.csv``."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from rfbench.errors import ResultsError
from rfbench.results import manifest as manifests
from rfbench.results.schema import CHECK, REQUIRED, SCHEMA, check_of

TRIALS = "trials.csv"
SHARDS = "shards"
NAMED_LINES = 5


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
        One row per trial. Every column of `rfbench.results.schema` is there with its type:
        numbers are float64 with NaN, whole numbers Int64 with NA, texts str with ``""`` for empty
        cells. Unknown columns are kept as text. ``variant`` names no setting of another sampler.
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
    def path(self) -> str:
        """The folder as text; bytes that are no text are escaped."""
        return _text(str(self.folder))

    @property
    def config(self) -> dict[str, Any]:
        """The resolved configuration, or an empty dictionary."""
        return dict(self.manifest.get("config", {}))

    @property
    def machines(self) -> dict[str, dict[str, Any]]:
        """What the manifest says of the machines that the column ``machine`` names."""
        return manifests.machines(self.manifest)

    @property
    def machine(self) -> dict[str, Any]:
        """What the manifest says of the machine of most rows, or an empty dictionary."""
        older = manifests.machine_of_older_rows(self.manifest)
        of_most = self.rows["machine"].replace("", older).mode()
        return self.machines.get(older if of_most.empty else of_most[0], {})

    @property
    def smoke(self) -> bool:
        """Whether this was a smoke run, whose numbers mean nothing."""
        return bool(self.manifest.get("smoke"))


@dataclass(frozen=True)
class TrialRows:
    """The rows of one ``trials.csv``."""

    header: list[str]
    rows: list[list[str]]  # the cells of each row that is whole, as they are written
    values: dict[str, Any]  # the same cells, as an array per column of the schema
    # Number of a line in the file: its bytes and what is wrong with them.
    broken: dict[int, tuple[bytes, str]]

    def named(self) -> list[dict[str, str]]:
        """Return the rows by column name."""
        return [dict(zip(self.header, cells, strict=True)) for cells in self.rows]

    def last(self) -> list[dict[str, str]]:
        """Return the rows by column name; of those with one trial_id the last counts."""
        return list({row["trial_id"]: row for row in self.named()}.values())

    def notes(self) -> list[str]:
        """Say which lines are left out, and why."""
        found = [
            f"{TRIALS}, line {n}: {why} It is left out." for n, (_, why) in self.broken.items()
        ]
        more = len(found) - NAMED_LINES
        return found[:NAMED_LINES] + ([f"{TRIALS}: {more} more lines like these."] * (more > 0))


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
        if path.name == TRIALS and path.is_file():
            found = [path]
        else:  # what is in shards counts once it is merged
            every = path.rglob(TRIALS)
            found = [file for file in every if SHARDS not in file.relative_to(path).parts[:-2]]
        if not found:
            raise ResultsError(
                f"{path} holds no results.",
                f"Neither it nor a folder below it has a {TRIALS}.",
                "Name a folder that 'rfbench run' wrote, for example results/quickstart.",
            )
        folders.update(file.parent for file in found)
    return sorted(folders)


def read(folder: str | Path) -> Results:
    """Read one results folder, with the rows of the manifest's configuration.

    A row that is cut, does not fit its checksum or has a cell of another type is left out with a
    note; of rows with the same ``trial_id`` the last one counts. Raises ResultsError if the folder
    or ``trials.csv`` is missing or empty, or its columns are not ours.
    """
    folder = Path(folder)
    notes: list[str] = []
    rows = read_rows(folder, notes)
    manifest = manifests.read_if_sound(folder, notes)
    rows = _of_the_last_configuration(with_machine(rows, manifest), manifest, notes)
    if (machines := rows.loc[rows["machine"] != "", "machine"].nunique()) > 1:
        notes.append(f"The rows are of {machines} machines: their times cannot be compared.")
    name = manifest.get("config", {}).get("name") or folder.resolve().name
    return Results(folder, _text(name), rows, manifest, notes)


def _text(name: str) -> str:
    """Return the name of a file, which may be any bytes, as text."""
    return name.encode(errors="backslashreplace").decode()


def read_rows(folder: Path, notes: list[str]) -> pd.DataFrame:
    """Return all rows of a folder with their types, those of earlier configurations as well.

    Raises ResultsError, see `read`.
    """
    table = parse(folder / TRIALS)
    notes += table.notes()
    rows = pd.DataFrame(table.values)
    if (unnamed := rows["label"] == "").any():
        rows["label"] = rows["label"].mask(unnamed, rows["sampler"])
    if rows["variant"].any():
        named = zip(rows["variant"], rows["label"], rows["sampler"], strict=True)
        rows["variant"] = pd.Series([_own(*names) for names in named], rows.index, dtype="str")
    repeated = rows["trial_id"].duplicated(keep="last")
    if repeated.any():
        notes.append(
            f"{TRIALS}: {repeated.sum()} rows repeat an earlier trial_id; the last one counts."
        )
        rows = rows[~repeated].reset_index(drop=True)
    if rows.empty:
        notes.append(f"{TRIALS} has a header but no trials yet.")
    return rows


def with_machine(rows: pd.DataFrame, manifest: dict[str, Any]) -> pd.DataFrame:
    """Fill the column ``machine`` of rows that were written before there was one."""
    older = manifests.machine_of_older_rows(manifest)
    return rows.assign(machine=rows["machine"].mask(rows["machine"] == "", older))


def no_rows() -> pd.DataFrame:
    """Return the rows of a file that has none yet."""
    return pd.DataFrame(_values([], []))


def parse(file: Path) -> TrialRows:
    """Split a ``trials.csv`` into its rows; those that are broken are set apart.

    A row is one line, and ends with a line feed: bytes after the last one are a row cut short.
    Raises ResultsError if the file cannot be read or is empty, or its columns are not ours.
    """
    first, *lines = _content(file).split(b"\n")
    header = first.removeprefix(b"\xef\xbb\xbf").rstrip(b"\r").decode(errors="replace").split(",")
    _check_header(file, header)
    rows: dict[int, list[str]] = {}
    broken: dict[int, tuple[bytes, str]] = {}
    for number, line in enumerate(lines, 2):
        text, _, check = line.rstrip(b"\r").rpartition(b",")
        if number == len(lines) + 1:
            why = "The row was cut in the middle."
        elif check_of(text) != check:
            why = "The row does not fit its checksum: it was changed after it was written."
        else:
            cells = _cells(line)
            if len(cells) == len(header):
                rows[number] = cells
                continue
            why = f"The row has {len(cells)} cells, the header {len(header)}."
        if line.strip():
            broken[number] = (line, why)
    try:
        values = _values(header, list(rows.values()))
    except (ValueError, OverflowError):
        for number in list(rows):
            if why := _wrong_cell(header, rows[number]):
                broken[number] = (lines[number - 2], why)
                del rows[number]
        values = _values(header, list(rows.values()))
    return TrialRows(header, list(rows.values()), values, broken)


def _cells(line: bytes) -> list[str]:
    try:
        return next(csv.reader([line.decode(errors="replace")]))
    except csv.Error:
        return []


def _content(file: Path) -> bytes:
    try:
        content = file.read_bytes()
    except OSError as error:
        why = f"{file.parent} is not there." if not file.parent.is_dir() else f"{error.strerror}."
        raise ResultsError(
            f"{file} cannot be read.", why, "Name a folder that 'rfbench run' wrote."
        ) from error
    if not content.strip() or b"\n" not in content:
        raise ResultsError(
            f"{file} is empty.",
            "The run was probably stopped before its first trial ended.",
            "Delete the folder and run the configuration again.",
        )
    return content


def _check_header(file: Path, header: list[str]) -> None:
    absent = [column for column in REQUIRED if column not in header]
    twice = sorted({column for column in header if header.count(column) > 1})
    if absent:
        what = f"{file} has no column {', '.join(absent)}."
    elif twice:
        what = f"{file} has two columns {', '.join(twice)}."
    elif header[-1] != CHECK:
        what = f"The last column of {file} is not {CHECK}."
    else:
        return
    raise ResultsError(
        what,
        "It was not written by this rfbench, or its first line was changed.",
        "Restore the file, or run the configuration again into another folder.",
    )


def _values(header: list[str], rows: list[list[str]]) -> dict[str, Any]:
    """Return the columns with the types of the schema; those that are not there are empty.

    Raises ValueError, OverflowError: a cell is of another type.
    """
    cells = dict(zip(header, zip(*rows, strict=True), strict=False))
    nothing = ("",) * len(rows)
    typed = {name: column.values(cells.get(name, nothing)) for name, column in SCHEMA.items()}
    return typed | {name: cells[name] for name in cells if name not in typed}


def _wrong_cell(header: list[str], cells: list[str]) -> str:
    """Say which cell of a row is of another type than its column, if one is."""
    for name, cell in zip(header, cells, strict=True):
        column = SCHEMA.get(name)
        if column is not None and not column.accepts([cell]):
            return f"Column {name} holds '{cell[:40]}', which is no {column.kind}."
    return ""


def _own(variant: str, *names: str) -> str:
    """Drop the swept settings of other samplers: ``samplers.eerf.pool_size`` is none of rks's."""
    terms = [term.strip() for term in variant.split(",")]
    return ", ".join(t for t in terms if t[:9] != "samplers." or t.split(".")[1] in names)


def _of_the_last_configuration(
    rows: pd.DataFrame, manifest: dict[str, Any], notes: list[str]
) -> pd.DataFrame:
    """Return the rows that the manifest's configuration measures; the others are kept apart.

    What it calls its protocol holds for all of them: a trial is the same under any name.
    """
    if not manifest.get("settings"):
        return rows
    current = rows["setting"].isin(manifest["settings"])
    if not current.all():
        notes.append(
            f"{(~current).sum()} rows of earlier configurations are in {TRIALS} and not shown: "
            "they measure something else."
        )
        rows = rows[current].reset_index(drop=True)
    protocol = manifest.get("config", {}).get("protocol")
    return rows.assign(protocol=protocol) if protocol else rows
