"""Lines that say whether they were changed after they were written."""

from __future__ import annotations

import csv
import io
import json
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

CHECK = "check"


def compute_check(text: bytes) -> bytes:
    """Return the `check` of bytes: 8 hexadecimal digits of their CRC-32."""
    return b"%08x" % zlib.crc32(text)


def encode_cells(cells: Sequence[str]) -> bytes:
    """Return cells as a line of CSV, without its end."""
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(cells)
    return text.getvalue().encode(errors="backslashreplace")


def with_check(cells: Sequence[str]) -> bytes:
    """Return cells as a line of CSV, the last one of which is the check of what is before it."""
    text = encode_cells(cells)
    return text + b"," + compute_check(text)


def has_valid_check(line: bytes) -> bool:
    """Tell whether a line of CSV is as `with_check` wrote it."""
    text, _, check = line.rpartition(b",")
    return compute_check(text) == check


def parse_cells(line: bytes) -> list[str]:
    """Return the cells of a line of CSV; none if it is no CSV."""
    try:
        return next(csv.reader([line.decode(errors="replace")]), [])
    except csv.Error:
        return []


def seal(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return what will be JSON, with the check of its content; its layout plays no part."""
    return {**content, CHECK: _check_of_json(content)}


def unseal(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return what was sealed without its check; ValueError if it does not fit.

    What was never sealed is returned as it is.
    """
    rest = {key: value for key, value in content.items() if key != CHECK}
    if CHECK in content and content[CHECK] != _check_of_json(rest):
        raise ValueError("It does not fit its checksum: it was changed after it was written.")
    return rest


def _check_of_json(content: Mapping[str, Any]) -> str:
    return compute_check(json.dumps(content, sort_keys=True).encode()).decode()
