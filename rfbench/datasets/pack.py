"""Turn a table of any size into packed data, in two passes over its file, three with a `part`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from rfbench.arrays import FloatArray
from rfbench.datasets import columns, files, packed
from rfbench.datasets.tables import ColumnCodes
from rfbench.errors import DataError

SAMPLE_BYTES = 2**26  # of the rows that say how many columns a table becomes


def pack(
    source: Path,
    folder: Path,
    *,
    dtype: str = "float64",
    header: bool = True,
    separator: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    task: str | None = None,
    missing: str = "mean",
    rows: int = files.ROWS_AT_ONCE,
    **chosen: Any,
) -> dict[str, Any]:
    """Pack a file into a folder, see `rfbench.datasets.packed`; return what is known of the data.

    The rows are those that the file gives as data of one's own; the size of the pieces, `rows` at a
    time, changes nothing. The target, the groups and the column `part` are held in memory.
    `header`, `separator`, `decimal`, `encoding`, `task`, `missing` and `chosen` (target, drop,
    groups and part) are those of `rfbench.config.schema.OwnData`. DataError if the file cannot be
    read or used, or the folder cannot be written.
    """
    name = source.name
    if folder.exists():
        raise DataError(
            f"{folder} is there already.", "Packed data are never changed.", "Name a new folder."
        )

    how = {"separator": separator, "decimal": decimal, "encoding": encoding}
    reading: dict[str, Any] = {"header": header, **how}

    def read() -> Iterator[columns.Table]:
        first = 1
        for X, y in files.pieces(source, rows=rows, **reading):
            what = f"{name}, rows {first:,} to {first + X.shape[0] - 1:,},"
            first += X.shape[0]
            piece = columns.chosen(what, X, y, **chosen)
            piece.complete(missing)
            if piece.X.shape[0]:
                yield piece

    coding, held = ColumnCodes(name), 0
    special: list[dict[str, pd.Series[Any]]] = []
    sample: list[pd.DataFrame] = []
    for piece in read():
        special.append({"": piece.y, **piece.special})
        if isinstance(piece.X, pd.DataFrame):
            coding.add(piece.X)
            if held < SAMPLE_BYTES:
                sample.append(piece.X)
                held += 8 * piece.X.size
    if sum(len(apart[""]) for apart in special) < 2:
        raise DataError(f"{name} has less than two rows.", "Nothing can be learnt.")
    joined = {
        key: pd.concat([apart[key] for apart in special], ignore_index=True) for key in special[0]
    }
    table = columns.Table(name, None, joined.pop(""), joined)
    codes, classes, kind = table.target_codes(task, ())
    schema = coding.schema() if sample else None
    facts = {}
    if sample:
        width, done = coding.outcome(coding.coded(pd.concat(sample), schema), schema)
        table.notes += done
        facts = {} if schema is None else {"columns": width}
    subjects, n_given_train, order = table.arranged()
    codes = codes[order]
    side = np.ones(len(codes))  # one side where none is given
    side[order[: n_given_train or 0]] = 0

    def blocks() -> Iterator[FloatArray]:
        """Yield the rows, those of the training part first where there is one."""
        for wanted in (1,) if n_given_train is None else (0, 1):
            first = 0
            for piece in read():
                X: Any = piece.X
                n = X.shape[0]
                block = coding.coded(X, schema) if sample else X.toarray().astype(np.float64)
                yield block[side[first : first + n] == wanted]
                first += n

    about = {**columns.about(codes, classes, kind, table.notes), **facts}
    data = columns.Parsed(blocks(), codes, n_given_train, subjects, about, schema)
    try:
        packed.write(folder, data, dtype=dtype)
    except OSError as error:
        raise DataError(f"{folder} cannot be written.", f"{error}.") from error
    return {**about, "rows": len(codes)}
