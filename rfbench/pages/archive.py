"""All results as one archive, described as an RO-Crate.

An RO-Crate is a folder with a file ``ro-crate-metadata.json`` that says in JSON-LD what each other
file is: https://www.researchobject.org/ro-crate/1.1/.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rfbench import __version__, shipped
from rfbench.analysis.frame import Today
from rfbench.analysis.verification import verify_any
from rfbench.errors import ResultsError, writing
from rfbench.pages.html import verdicts
from rfbench.results import archive, find
from rfbench.results.schema import SCHEMA

METADATA = "ro-crate-metadata.json"
PROFILE = "https://w3id.org/ro/crate/1.1"
LICENCE = "https://spdx.org/licenses/BSD-3-Clause"
UNDATED = "1970-01-01"
NAME = "rfbench: trials of random-feature methods"
ABOUT = (
    "Every trial that was measured, one row each, with the verdicts on published numbers and "
    "claims, the manifests (configuration, data, machine, versions) and the configurations."
)
ENCODINGS = {
    ".parquet": "application/vnd.apache.parquet",
    ".json": "application/json",
    ".yaml": "application/yaml",
    ".csv": "text/csv",
}
PURPOSES = {
    archive.ROWS: "All rows: one per trial, with the columns of trials.csv and the folder.",
    verdicts.FILE: "Every published number and claim with its verdict.",
    verdicts.SCHEMA_FILE: "What each field of verdicts.json is.",
}


@dataclass(frozen=True)
class Archive:
    """What was written."""

    folder: Path
    rows: int
    files: tuple[str, ...]
    n_bytes: int
    notes: tuple[str, ...]  # what was left out, and why


def write(folders: Sequence[str | Path], out: str | Path, today: Today | None = None) -> Archive:
    """Write all results at or below some folders as one archive; nothing is run.

    The same results give the same bytes with the same version of pyarrow. In the folder are
    ``rows.parquet``, ``verdicts.json`` with its schema, the manifests below ``results/``, the
    shipped configurations below ``configs/``, and ``ro-crate-metadata.json``.

    Raises ResultsError: there are no results, pyarrow is not installed, or the folder holds
    something else; WriteError: it cannot be written.
    """
    out, paths = Path(out), list(map(Path, folders))
    if out.exists() and any(out.iterdir()) and not (out / METADATA).exists():
        raise ResultsError(
            f"{out} holds something else than an archive.", "", "Name another folder with --out."
        )
    names = archive.names_of(find(paths))
    verdict_files = verdicts.files(verdicts.gather(verify_any(paths, today=today)))
    files = {name: text.encode() for name, text in verdict_files.items()}
    files |= archive.files_of(names)
    files |= {f"configs/{path.name}": path.read_bytes() for path in shipped.every()}
    with writing(f"The archive cannot be written to {out}", todo="Name another folder with --out."):
        for name, content in files.items():
            (out / name).parent.mkdir(parents=True, exist_ok=True)
            (out / name).write_bytes(content)
        rows, notes = archive.write_rows(names, out / archive.ROWS)
        files[archive.ROWS] = (out / archive.ROWS).read_bytes()
        described = crate(files, archive.written(names), rows)
        text = json.dumps(described, indent=1, ensure_ascii=False) + "\n"
        (out / METADATA).write_text(text, encoding="utf-8")
    size = sum(map(len, files.values())) + len(text.encode())
    return Archive(out, rows, (*sorted(files), METADATA), size, tuple(notes))


def crate(files: Mapping[str, bytes], date: str, rows: int) -> dict[str, Any]:
    """Return the metadata of an archive: an RO-Crate 1.1, as JSON-LD.

    Parameters
    ----------
    files : mapping of str to bytes
        By path in the archive.
    date : str
        ISO 8601: when the last rows were written.
    """
    described = [_file(name, files[name], rows) for name in sorted(files)]
    columns = [
        {
            "@id": f"#column-{name}",
            "@type": "PropertyValue",
            "name": name,
            "description": column.meaning,
            **({"unitText": column.unit} if column.unit else {}),
        }
        for name, column in SCHEMA.items()
    ]
    root = {
        "@id": "./",
        "@type": "Dataset",
        "name": NAME,
        "description": ABOUT,
        "datePublished": date or UNDATED,
        "license": {"@id": LICENCE},
        "author": {"@id": "#authors"},
        "hasPart": [{"@id": entity["@id"]} for entity in described],
        "variableMeasured": [{"@id": entity["@id"]} for entity in columns],
    }
    return {
        "@context": f"{PROFILE}/context",
        "@graph": [
            {
                "@id": METADATA,
                "@type": "CreativeWork",
                "conformsTo": {"@id": PROFILE},
                "about": {"@id": "./"},
            },
            root,
            {"@id": LICENCE, "@type": "CreativeWork", "name": "BSD-3-Clause"},
            {"@id": "#authors", "@type": "Organization", "name": "The rfbench developers"},
            {
                "@id": "#rfbench",
                "@type": "SoftwareApplication",
                "name": "rfbench",
                "softwareVersion": __version__,
            },
            *described,
            *columns,
        ],
    }


def _file(name: str, content: bytes, rows: int) -> dict[str, Any]:
    purpose = PURPOSES.get(name)
    if name == archive.ROWS:
        purpose = f"{purpose} {rows} rows."
    return {
        "@id": name,
        "@type": "File",
        "name": name,
        "encodingFormat": ENCODINGS.get(Path(name).suffix, "application/octet-stream"),
        "contentSize": str(len(content)),
        "sha256": hashlib.sha256(content).hexdigest(),
        **({"description": purpose} if purpose else {}),
    }
