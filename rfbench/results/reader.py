"""Search for results folders, and reading of their rows from the files ``trials.csv``."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from rfbench import files
from rfbench.arrays import EXACT
from rfbench.errors import ResultsError
from rfbench.results import manifest as manifests
from rfbench.results.lines import CHECK, has_valid_checksum, parse_cells
from rfbench.results.schema import INTEGER, NUMBER, REQUIRED, ROW_TIMES, SCHEMA, STRING, TEXT

TRIALS = "trials.csv"
KEPT = ("trial_id", "status")  # columns whose values `parse_trials_csv` returns
# Maximum number of invalid lines that a message lists. With twice this number, the message would
# fill half a screen.
NAMED_LINES = 5
# Number of bytes that are read from a file at once (4 MiB). Most files are smaller. Chosen without
# a measurement. With twice the value, reading a large file needs 8 MiB of memory.
PIECE = 1 << 22
# Maximum number of bytes of a line in trials.csv. Rows have at most a few hundred thousand bytes
# (see `MAX_MESSAGE_LENGTH`). With twice the limit, a file without line ends would need twice the
# memory before it is rejected.
LONGEST_LINE = 1 << 24
# Create the dtype once. Looking it up by name needs as much time as reading a small file.
AS_NUMBER = np.dtype("float64")
# Regular expression for the value nan in lower case. Letters before or after nan, as in the data
# set name banana, do not match. The search is fast because the expression starts with a literal
# string.
NAN = re.compile(rb"nan(?<![a-z]nan)(?![a-z])")
CHECKSUM_DIFFERS = "The row does not match its checksum, so it was changed after it was written."


@dataclass(frozen=True)
class Results:
    """Rows and manifest of one results folder.

    Parameters
    ----------
    folder : Path
        Folder that contains ``trials.csv``.
    name : str
        The name of the experiment, from the manifest. Without a manifest, the name of the folder.
    rows : DataFrame
        One row per trial. The table has every column of `rfbench.results.schema` with its type:
        numbers are float64 with NaN, whole numbers Int64 with NA, strings str with ``""`` for empty
        cells. Unknown columns are kept as strings. The column ``variant`` has only the swept
        settings that affect the sampler of the row.
    manifest : dict
        The content of ``manifest.json``, or an empty dictionary.
    notes : list of str
        Messages about rows that were omitted while reading, with reasons. They are shown below
        tables.
    """

    folder: Path
    name: str
    rows: pd.DataFrame
    manifest: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @property
    def path(self) -> str:
        """Path of the results folder as text, in which invalid bytes are escaped."""
        return _text(str(self.folder))

    @property
    def config(self) -> dict[str, Any]:
        """Configuration of the run with all defaults, or an empty dictionary without a manifest."""
        return dict(self.manifest.get("config", {}))

    @property
    def machines(self) -> dict[str, dict[str, Any]]:
        """Facts about each machine that is in the manifest.

        The keys are the values in the column ``machine`` of the rows.
        """
        return manifests.list_machines(self.manifest)

    @property
    def machine(self) -> dict[str, Any]:
        """Facts about the machine that measured most rows, or an empty dictionary."""
        older = manifests.find_machine_of_older_rows(self.manifest)
        of_most = self.rows["machine"].replace("", older).mode()
        return self.machines.get(older if of_most.empty else of_most[0], {})

    def list_data(self) -> list[tuple[str, int, str]]:
        """Return the name, number of columns and hash of each data set in the rows."""
        texts = (self.rows[name].to_numpy(dtype=object) for name in ("dataset", "data_hash"))
        columns = self.rows["d"].to_numpy(dtype=np.float64, na_value=np.nan)
        known = ~np.isnan(columns)
        named, hashes = (each[known] for each in texts)
        lines = dict.fromkeys(zip(named, columns[known].astype(int).tolist(), hashes, strict=True))
        return [(str(name).partition("[")[0], d, str(data)) for name, d, data in lines if data]

    @property
    def changed_settings(self) -> tuple[str, ...]:
        """Settings that the option `--set` of the run changed, as ``key = value``."""
        return tuple(self.manifest.get("changed", ()))

    @property
    def is_smoke_run(self) -> bool:
        """True if the results are from a smoke run, a short test whose numbers are meaningless."""
        return bool(self.manifest.get("smoke"))


@dataclass(frozen=True)
class TrialRows:
    """Rows of one file ``trials.csv``, either all rows or some of them."""

    header: list[str]
    lines: list[bytes]  # valid rows of the file as bytes
    values: dict[str, Any]  # cells of the valid rows, as one array per column
    # Invalid lines of the file. Maps the line number to the content and the error of the line.
    broken: dict[int, tuple[bytes, str]]

    def iterate_named(self) -> Iterator[dict[str, str]]:
        """Yield each row as a dictionary whose keys are column names."""
        return (dict(zip(self.header, parse_cells(line), strict=True)) for line in self.lines)


def describe_invalid_lines(broken: Mapping[int, tuple[bytes, str]]) -> list[str]:
    """Return messages about the invalid lines of ``trials.csv`` that were omitted, with reasons.

    `broken` maps line numbers to the content and the error of each line.
    """
    lines = [f"{TRIALS}, line {n}: {why} The row is left out." for n, (_, why) in broken.items()]
    more = len(lines) - NAMED_LINES
    return lines[:NAMED_LINES] + (
        [f"{TRIALS}: {more} more invalid lines are left out."] * (more > 0)
    )


def find_results_folders(paths: Iterable[str | Path]) -> list[Path]:
    """List the results folders among the given paths and in folders below them.

    Parameters
    ----------
    paths : iterable of path
        Results folders, folders that contain results folders at any depth, or ``trials.csv`` files.

    Returns
    -------
    list of Path
        Sorted, without repetition.

    Raises
    ------
    ResultsError
        If a path does not exist, or contains no ``trials.csv`` at any depth.
    """
    folders: set[Path] = set()
    for path in map(Path, paths):
        if not path.exists():
            raise ResultsError(
                f"There is no file or folder '{path}'.",
                "Results are read from this path.",
                "Name a different path, or create results with 'rfbench run CONFIG'.",
            )
        is_file = path.name == TRIALS and path.is_file()
        files = [path] if is_file else list(path.rglob(TRIALS))
        if not files:
            raise ResultsError(
                f"{path} does not contain results.",
                f"Neither the folder nor a sub-folder contains the file {TRIALS}.",
                "Name a folder that 'rfbench run' has written, for example results/quickstart.",
            )
        folders.update(file.parent for file in files)
    return sorted(folders)


def read_results_folder(folder: str | Path) -> Results:
    """Read one results folder, and return its rows and its manifest.

    Only rows that belong to the configuration in the manifest are returned. A row is left out with
    a note if it is truncated, does not match its checksum or has a cell of the wrong type. If
    several rows have the same ``trial_id``, the last row is used. Raise ResultsError if the folder
    or ``trials.csv`` is missing or empty, or has an invalid header.
    """
    folder = Path(folder)
    broken: dict[int, tuple[bytes, str]] = {}
    parts = []
    for piece in iterate_valid_rows_in_pieces(folder / TRIALS):
        broken |= piece.broken
        parts.append(pd.DataFrame(piece.values, copy=False))
    return _make_results(folder, pd.concat(parts, ignore_index=True), broken)


def read_each_folder(folders: Iterable[Path]) -> Iterator[Results | ResultsError]:
    """Read several results folders, and yield the results or the error of each folder in order.

    Small files with the same columns are parsed together, because parsing a file needs a call of
    pandas for each of 80 columns.
    """
    order, read_ones = list(folders), dict[Path, Results | ResultsError]()
    together: dict[tuple[str, ...], list[_Lines]] = {}
    for folder in order:
        try:
            lines = _read_small(folder / TRIALS)
            if lines is None:
                read_ones[folder] = read_results_folder(folder)
                continue
            waiting = together.setdefault(tuple(lines.header), [])
            waiting.append(lines)
            if sum(each.size for each in waiting) > PIECE:
                read_ones |= _read_together(together.pop(tuple(lines.header)))
        except ResultsError as error:
            read_ones[folder] = error
    for waiting in together.values():
        read_ones |= _read_together(waiting)
    yield from (read_ones[folder] for folder in order)


def read_results_folders(folders: Iterable[Path]) -> list[Results]:
    """Read several results folders, and return their results in order.

    Raise ResultsError for the first folder that cannot be read.
    """
    results = []
    for each in read_each_folder(folders):
        if isinstance(each, ResultsError):
            raise each
        results.append(each)
    return results


@dataclass(frozen=True)
class _Lines:
    """Lines of a small file ``trials.csv`` that is parsed together with other files."""

    folder: Path
    header: list[str]
    size: int  # size of the file in bytes
    sound: dict[int, bytes]
    broken: dict[int, tuple[bytes, str]]


def _read_small(file: Path) -> _Lines | None:
    """Return the lines of a file ``trials.csv``, or None if the file is larger than `PIECE`."""
    sound: dict[int, bytes] = {}
    broken: dict[int, tuple[bytes, str]] = {}
    header: list[str] = []
    first, size = 2, 0
    for names, lines, complete in _lines(file):
        header = names
        size += sum(map(len, lines))
        if size > PIECE:
            return None
        more = _split_sound(lines, first, complete)
        sound, broken, first = sound | more[0], broken | more[1], first + len(lines)
    return _Lines(file.parent, header, size, sound, broken)


def _read_together(several: list[_Lines]) -> dict[Path, Results | ResultsError]:
    """Parse several files ``trials.csv`` with the same columns at once.

    Return the results, or the error, for each folder.
    """
    lines = [line for each in several for line in each.sound.values()]
    values = _values(several[0].header, lines) if lines else None
    read_ones: dict[Path, Results | ResultsError] = {}
    # Build a single table for all files, which is split below. All numeric columns of all files are
    # then stored in one block of memory.
    rows = None if values is None else pd.DataFrame(values)
    start = 0
    for each in several:
        stop = start + len(each.sound)
        try:
            if rows is None:
                read_ones[each.folder] = read_results_folder(each.folder)
            else:
                own = rows.iloc[start:stop]
                own.index = pd.RangeIndex(len(own))
                read_ones[each.folder] = _make_results(each.folder, own, each.broken)
        except ResultsError as error:
            read_ones[each.folder] = error
        start = stop
    return read_ones


def _make_results(
    folder: Path, rows: pd.DataFrame, broken: Mapping[int, tuple[bytes, str]]
) -> Results:
    """Build the results of a folder from the valid rows and the invalid lines of ``trials.csv``."""
    notes = describe_invalid_lines(broken)
    rows = _settle_rows(rows, notes)
    manifest = manifests.read_if_valid(folder, notes)
    if (unnamed := rows["machine"] == "").any():
        older = manifests.find_machine_of_older_rows(manifest)
        rows["machine"] = rows["machine"].mask(unnamed, older)
    rows = _of_the_last_configuration(rows, manifest, notes)
    if rows["machine"].nunique() > 1:
        timed = rows[rows.columns.intersection(list(ROW_TIMES))].notna().any(axis=1)
        if (machines := rows.loc[timed & (rows["machine"] != ""), "machine"].nunique()) > 1:
            notes.append(
                f"The rows were measured on {machines} machines, so their times cannot be compared."
            )
    name = manifest.get("config", {}).get("name") or folder.resolve().name
    return Results(folder, _text(name), rows, manifest, notes)


def _text(name: str) -> str:
    """Return a file name as valid text, in which invalid bytes are escaped."""
    return name.encode(errors="backslashreplace").decode()


def _settle_rows(rows: pd.DataFrame, notes: list[str]) -> pd.DataFrame:
    """Select the last row of each trial, and complete its label.

    Settings of other samplers are removed from the column ``variant``. Problems are appended to
    `notes`.
    """
    unknown = [str(name) for name in rows if name not in SCHEMA]
    if unknown:
        notes.append(f"{TRIALS} has columns that this version does not have: {', '.join(unknown)}.")
    if (unnamed := rows["label"] == "").any():
        rows["label"] = rows["label"].mask(unnamed, rows["sampler"])
    if (rows["variant"] != "").any():
        named = zip(rows["variant"], rows["label"], rows["sampler"], strict=True)
        rows["variant"] = pd.Series([_own(*names) for names in named], rows.index, dtype=STRING)
    repeated = rows["trial_id"].duplicated(keep="last")
    if repeated.any():
        notes.append(
            f"{TRIALS}: {repeated.sum()} rows have the trial_id of an earlier row. "
            "The last row is used."
        )
        rows = rows[~repeated].reset_index(drop=True)
    if rows.empty:
        notes.append(f"{TRIALS} has a header but no trials yet.")
    return rows


def parse_trials_csv(file: Path) -> TrialRows:
    """Return all rows of a file ``trials.csv`` as bytes.

    Values are parsed only for the columns `KEPT`.
    """
    header: list[str] = []
    lines: list[bytes] = []
    values: dict[str, list[str]] = {name: [] for name in KEPT}
    broken: dict[int, tuple[bytes, str]] = {}
    for piece in iterate_valid_rows_in_pieces(file):
        header = piece.header
        lines += piece.lines
        broken |= piece.broken
        for name in KEPT:
            values[name].extend(piece.values[name])
    return TrialRows(header, lines, values, broken)


def iterate_valid_rows_in_pieces(file: Path) -> Iterator[TrialRows]:
    """Yield the rows of a file ``trials.csv`` in pieces, with valid and invalid rows separated.

    A row is one line that ends with a line feed. Bytes after the last line feed are a truncated
    row. Raise ResultsError if the file cannot be read, is empty, or has an invalid header.
    """
    for number, (header, lines, complete) in enumerate(_lines(file)):
        if number == 0:
            first, names = 2, header
        yield _checked(names, lines, first, complete)
        first += len(lines)


def _lines(file: Path) -> Iterator[tuple[list[str], list[bytes], bool]]:
    """Yield the lines of a file ``trials.csv`` in pieces.

    Each piece is a tuple: the header, lines without line ends, and True if all of these lines are
    complete.
    """
    try:
        with files.open_checked(file) as stream:
            header = _header(file, stream.readline(LONGEST_LINE))
            rest, empty = b"", True
            while block := stream.read(PIECE):
                *lines, rest = (rest + block).split(b"\n")
                if len(rest) > LONGEST_LINE:
                    raise ResultsError(
                        f"{file} has a line of more than {LONGEST_LINE:,} bytes.",
                        "The file was not written by rfbench.",
                        "Restore the file, or run the configuration again into another folder.",
                    )
                if lines:
                    yield header, lines, True
                    empty = False
            if rest or empty:
                yield header, [rest] if rest else [], False
    except OSError as error:
        why = f"{file.parent} does not exist." if not file.parent.is_dir() else f"{error.strerror}."
        raise ResultsError(
            f"{file} cannot be read.", why, "Name a folder that 'rfbench run' has written."
        ) from error


def _checked(header: list[str], lines: list[bytes], first: int, complete: bool) -> TrialRows:
    """Parse lines of ``trials.csv`` and separate the valid rows from the invalid rows.

    The first line has the line number `first`. The last line is truncated if `complete` is False.
    """
    sound, broken = _split_sound(lines, first, complete)
    values = _values(header, list(sound.values()))
    if values is None:  # a line may be invalid, so each line is checked alone
        for number, line in list(sound.items()):
            if why := _fault(header, parse_cells(line)):
                broken[number] = (line, why)
                del sound[number]
        values = _values(header, list(sound.values()), looked_at=True)
        assert values is not None
    return TrialRows(header, list(sound.values()), values, dict(sorted(broken.items())))


def _split_sound(
    lines: list[bytes], first: int, complete: bool
) -> tuple[dict[int, bytes], dict[int, tuple[bytes, str]]]:
    """Separate the lines with a correct checksum from the other lines.

    Return two dictionaries whose keys are line numbers.
    """
    sound: dict[int, bytes] = {}
    broken: dict[int, tuple[bytes, str]] = {}
    for number, line in enumerate(lines, first):
        if line.endswith(b"\r"):
            line = line.rstrip(b"\r")
        if complete and has_valid_checksum(line):
            sound[number] = line
        elif line.strip():
            broken[number] = (
                line,
                CHECKSUM_DIFFERS if complete else "The row is truncated.",
            )
    return sound, broken


def _values(
    header: list[str], lines: list[bytes], *, looked_at: bool = False
) -> dict[str, Any] | None:
    """Parse lines of ``trials.csv`` into typed columns.

    Return None if pandas might misread the lines. pandas fills short lines, drops extra cells,
    joins lines within an open quote, and interprets NaN. Missing columns are empty. With
    `looked_at`, the lines were already checked by `_fault`.
    """
    text = b"\n".join(lines)
    kinds = {name: SCHEMA[name].kind if name in SCHEMA else TEXT for name in header}
    numbers = [name for name in header if kinds[name] in (INTEGER, NUMBER)]
    if not lines:
        return {name: column.make_missing(0) for name, column in SCHEMA.items()}
    if not looked_at and (b"\0" in text or NAN.search(text.lower())):
        return None
    try:
        with warnings.catch_warnings():
            # Turn pandas' warning about rows with too many cells into an error. The rows are then
            # checked one at a time, so that each invalid row is reported.
            warnings.simplefilter("error", pd.errors.ParserWarning)
            frame = pd.read_csv(
                io.BytesIO(text),
                header=None,
                names=header,
                index_col=False,
                dtype={name: AS_NUMBER if name in numbers else STRING for name in header},
                na_values={name: [""] for name in numbers},
                keep_default_na=False,
                **EXACT,
                lineterminator="\n",
                encoding_errors="replace",
            )
        ends = [line[-8:].decode() for line in lines]
        if len(frame) != len(lines) or list(frame[CHECK]) != ends:
            return None
        read = {
            name: SCHEMA[name].convert(frame[name].array) if name in SCHEMA else frame[name].array
            for name in header
        }
    except (ValueError, pd.errors.ParserWarning):
        return None
    absent = {name: SCHEMA[name].make_missing(len(lines)) for name in SCHEMA.keys() - read}
    return {name: absent.get(name, read.get(name)) for name in SCHEMA} | read


def _header(file: Path, line: bytes) -> list[str]:
    if not line.strip() or not line.endswith(b"\n"):
        raise ResultsError(
            f"{file} is empty.",
            "The run was probably stopped before its first trial finished.",
            "Delete the folder and run the configuration again.",
        )
    text = line.removeprefix(b"\xef\xbb\xbf").rstrip(b"\r\n").decode(errors="replace")
    header = text.split(",")
    absent = [column for column in REQUIRED if column not in header]
    columns = [column for column in header if column in SCHEMA]
    twice = sorted({column for column in header if header.count(column) > 1})
    if absent:
        what = f"{file} has no column {', '.join(absent)}."
    elif twice:
        what = f"{file} has two columns {', '.join(twice)}."
    elif header[-1] != CHECK:
        what = f"The last column of {file} is not {CHECK}."
    # Require the columns in the order of the schema. All versions of rfbench write this order, so a
    # different order means that the header was edited.
    elif sorted(columns, key=list(SCHEMA).index) != columns:
        what = f"The columns of {file} are not in the order of rfbench."
    else:
        return header
    raise ResultsError(
        what,
        "The file was not written by this version of rfbench, or its first line was changed.",
        "Restore the file, or run the configuration again into another folder.",
    )


def _fault(header: list[str], cells: list[str]) -> str:
    """Return a description of the first error in a row of ``trials.csv``, or "" if it is valid."""
    if len(cells) != len(header):
        return f"The row has {len(cells)} cells, but the header has {len(header)}."
    if any("\0" in cell for cell in cells):
        return "The row contains a NUL byte."
    for name, cell in zip(header, cells, strict=True):
        column = SCHEMA.get(name)
        if column is not None and not column.is_valid(cell):
            return f"Column {name} has the value '{cell[:40]}' (expected: {column.form})."
    return ""


def _own(variant: str, *names: str) -> str:
    """Remove the settings of other samplers from a text of swept settings, `variant`.

    An example is ``samplers.eerf.pool_size`` in a row of the sampler rks.
    """
    terms = [term.strip() for term in variant.split(",")]
    return ", ".join(t for t in terms if t[:9] != "samplers." or t.split(".")[1] in names)


def _of_the_last_configuration(
    rows: pd.DataFrame, manifest: dict[str, Any], notes: list[str]
) -> pd.DataFrame:
    """Select the rows that were measured with the configuration in the manifest.

    All returned rows get the protocol of this configuration, because the name of the protocol does
    not affect the identity of a trial.
    """
    if not manifest.get("settings"):
        return rows
    current = rows["setting"].isin(manifest["settings"])
    if not current.all():
        notes.append(
            f"Rows of earlier configurations in {TRIALS} are not shown, because they "
            f"were measured with other settings: {(~current).sum()} rows."
        )
        rows = rows[current].reset_index(drop=True)
    protocol = manifest.get("config", {}).get("protocol")
    if not protocol or (rows["protocol"] == protocol).all():
        return rows
    return rows.assign(protocol=protocol)
