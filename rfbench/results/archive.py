"""The rows and manifests of many results folders as one archive: Parquet and JSON."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from rfbench.errors import ResultsError
from rfbench.results import community, kept_features
from rfbench.results import manifest as manifests
from rfbench.results.reader import read_rows, with_machine
from rfbench.results.schema import BOOLEAN, INTEGER, NUMBER, SCHEMA, TEXT

ROWS = "rows.parquet"
ZSTD_LEVEL = 19


def names_of(folders: Sequence[Path]) -> dict[Path, str]:
    """Return the name of each folder in the archive: its path below what all have in common."""
    resolved = {folder: folder.resolve() for folder in folders}
    top = Path(os.path.commonpath([path.parent for path in resolved.values()]))
    return {folder: path.relative_to(top).as_posix() for folder, path in resolved.items()}


def files_of(folders: Mapping[Path, str]) -> dict[str, bytes]:
    """Return the manifests, kept features and origins of folders, by path in the archive."""
    files = {}
    for folder, name in folders.items():
        for file in (manifests.MANIFEST, kept_features.FILE, community.FILE):
            if (folder / file).exists():
                files[str(PurePosixPath("results", name, file))] = (folder / file).read_bytes()
    return files


def write_rows(folders: Mapping[Path, str], file: Path) -> tuple[int, list[str]]:
    """Write all rows of folders as one Parquet file; return their number and what was left out.

    Its columns are ``folder`` and those of `rfbench.results.schema`, with their types, each with
    its meaning and unit; a row group per folder. Rows of earlier configurations are there as well.

    Raises ResultsError: pyarrow is not installed, or a file cannot be read.
    """
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise ResultsError(
            "An archive is written as Parquet, and pyarrow is not installed.",
            "It is left out by default: it is larger than all of rfbench, for one format.",
            "Run `pip install 'rfbench[parquet]'`.",
        ) from None
    types = {
        TEXT: pyarrow.string(),
        INTEGER: pyarrow.int64(),
        NUMBER: pyarrow.float64(),
        BOOLEAN: pyarrow.bool_(),
    }
    schema = pyarrow.schema(
        [
            pyarrow.field("folder", pyarrow.string(), metadata={"meaning": "results folder"}),
            *(
                pyarrow.field(name, types[c.kind], metadata={"meaning": c.meaning, "unit": c.unit})
                for name, c in SCHEMA.items()
            ),
        ]
    )
    number, notes = 0, []
    with parquet.ParquetWriter(
        file, schema, compression="zstd", compression_level=ZSTD_LEVEL
    ) as writer:
        for folder, name in folders.items():
            own: list[str] = []
            rows = with_machine(read_rows(folder, own), manifests.read_if_sound(folder, own))
            arrays: list[Any] = [pyarrow.array([name] * len(rows), pyarrow.string())]
            arrays += [
                pyarrow.array(rows[column], types[SCHEMA[column].kind], from_pandas=True)
                for column in SCHEMA
            ]
            writer.write_table(pyarrow.Table.from_arrays(arrays, schema=schema))
            number += len(rows)
            notes += [f"{name}: {note}" for note in own]
    return number, notes


def written(folders: Iterable[Path]) -> str:
    """Return when the last of the folders' manifests was written, or an empty text."""
    return max((manifests.read_if_sound(f, []).get("written", "") for f in folders), default="")
