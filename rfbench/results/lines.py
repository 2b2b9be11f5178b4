"""Checksums of CSV lines and of JSON documents, which reveal later changes."""

from __future__ import annotations

import csv
import io
import json
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

CHECK = "check"


def compute_checksum(text: bytes) -> bytes:
    """Return the CRC-32 checksum of bytes as 8 hexadecimal digits."""
    return b"%08x" % zlib.crc32(text)


def encode_cells(cells: Sequence[str]) -> bytes:
    """Encode strings as one line of CSV, and return the bytes without the line end."""
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(cells)
    return text.getvalue().encode(errors="backslashreplace")


def with_checksum(cells: Sequence[str]) -> bytes:
    """Encode strings as one line of CSV that ends with the checksum of the line."""
    text = encode_cells(cells)
    return text + b"," + compute_checksum(text)


def has_valid_checksum(line: bytes) -> bool:
    """Return True if a line of CSV ends with its correct checksum."""
    text, _, check = line.rpartition(b",")
    return compute_checksum(text) == check


def parse_cells(line: bytes) -> list[str]:
    """Return the strings in one line of CSV, or an empty list if the line is not valid CSV."""
    try:
        return next(csv.reader([line.decode(errors="replace")]), [])
    except csv.Error:
        return []


def add_checksum(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy of a JSON object with an additional key for its checksum.

    The checksum does not depend on the layout of the JSON text.
    """
    return {**content, CHECK: _check_of_json(content)}


def remove_valid_checksum(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return a JSON object without its checksum. Raise ValueError if the checksum is wrong.

    An object without a checksum is returned unchanged.
    """
    rest = {key: value for key, value in content.items() if key != CHECK}
    if CHECK in content and content[CHECK] != _check_of_json(rest):
        raise ValueError(
            "The content does not match its checksum, so it was changed after it was written."
        )
    return rest


def _check_of_json(content: Mapping[str, Any]) -> str:
    return compute_checksum(json.dumps(content, sort_keys=True).encode()).decode()
