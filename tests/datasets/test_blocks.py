"""Large files of text are read block by block, and give what one read of the whole file gives."""

import gzip
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from rfbench.datasets import files
from rfbench.errors import DataError

LINES = [f"{i},{i / 7!r},{(i * 7) % 11}.5,{'ab'[i % 2]}" for i in range(60)]
NUMBERS = [line.rpartition(",")[0] for line in LINES]
HEAD = "id,x,y"


def changed(at, line, lines=NUMBERS):
    return [HEAD, *lines[:at], line, *lines[at:]]


FILES = {
    "numbers": [HEAD, *NUMBERS],
    "decimals alone": ["x,z,y", *(f"{i / 7!r},{-i / 3!r},{i}" for i in range(60))],
    "words": [f"{HEAD},w", *LINES],
    "decimals at the end": changed(55, "0.5,1.5,2.5"),
    "whole numbers at the end": [HEAD, *NUMBERS[:30], *(f"{i},{i},{i}" for i in range(30))],
    "minus zero before": changed(3, "-0,1.5,2.5")[:40] + ["0.5,1.5,2.5"] * 20,
    "minus zero after": [HEAD, *NUMBERS[:30], *["1,-0,2.5"] * 20],
    "gaps": changed(50, ",1.5,"),
    "question marks": changed(50, "?,1.5,?"),
    "a word at the end": changed(58, "7,none,3"),
    "large numbers": changed(50, f"{2**63},1.5,2.5"),
    "larger numbers": changed(50, f"{2**70},1.5,2.5"),
    "quotes": changed(50, '"7",1.5,2.5'),
    "a line feed in quotes": changed(50, '"7\n8",1.5,2.5'),
    "too many fields": changed(50, "7,1.5,2.5,9"),
    "too many fields at first": changed(0, "7,1.5,2.5,9"),
    "too many fields in all": [HEAD, *(f"{line},1" for line in NUMBERS)],
    "too few fields": changed(50, "7,1.5"),
    "blank lines": changed(20, "\n\n  \n"),
    "no header": NUMBERS,
    "no header, too many fields": [*NUMBERS[:50], "7,1.5,2.5,9", *NUMBERS[50:]],
    "truth values": [f"{HEAD},t", *(f"{line},{i % 2 == 0}" for i, line in enumerate(NUMBERS))],
    "comments": ["# made by hand", HEAD, *NUMBERS],
    "a comment below": changed(40, "# a comment"),
    "decimal commas": [line.replace(",", ";").replace(".", ",") for line in [HEAD, *NUMBERS]],
    "spaces": [line.replace(",", "  ") for line in [HEAD, *NUMBERS]],
    "NUL": changed(50, "7\0,1.5,2.5"),
}


def outcome(path, **options):
    try:
        table, how, notes = (
            (read := files.read_data_file(path, target="y", **options)).X,
            read.how,
            read.notes,
        )
    except DataError as error:
        return str(error)
    cells = [
        (name, str(column.dtype), column.isna().tolist(), *signs(column))
        for name, column in table.items()
    ]
    return cells, how, notes


def signs(column):
    """Return the values, with the signs of zeros."""
    if column.dtype == np.float64:
        return column.fillna(7.0).tolist(), np.signbit(column).tolist()
    return (column.astype(str).tolist(),)


CASES = [
    *((name, "utf-8") for name in FILES),
    *(("numbers", each) for each in ("utf-8-sig", "latin-1", "utf-16", "gzip", "CRLF")),
    ("too many fields", "gzip"),
    ("blank lines", "CRLF"),
]


@pytest.mark.parametrize(("name", "encoding"), CASES)
def test_reading_in_blocks_equals_a_single_read(tmp_path, monkeypatch, name, encoding):
    text = "\n".join(FILES[name]) + "\n"
    if encoding == "CRLF":
        text = text.replace("\n", "\r\n")
    if encoding == "latin-1":
        text = text.replace("x", "größe", 1)
    path = tmp_path / ("t.csv.gz" if encoding == "gzip" else "t.csv")
    data = text.encode("utf-8" if encoding in ("gzip", "CRLF") else encoding)
    path.write_bytes(gzip.compress(data) if encoding == "gzip" else data)
    whole = outcome(path)
    read, blocks = [], files._read_blocks
    monkeypatch.setattr(
        files, "_read_blocks", lambda *words: read.append(blocks(*words)) or read[-1]
    )
    monkeypatch.setattr(files, "LEAST_BYTES", 0)
    for size in (300, 10_000):
        monkeypatch.setattr(files, "BLOCK_BYTES", size)
        assert outcome(path) == whole, size
    if name == "numbers" and encoding != "utf-16":
        assert all(table is not None for table in read)
        assert len(read) == 4


READ = """
import re, sys
from pathlib import Path
from rfbench.datasets import user_data
def memory(key):  # ru_maxrss begins with the memory of the process that started this one
    return 1024 * int(re.search(key + r":\\s*(\\d+)", Path("/proc/self/status").read_text())[1])
folder = Path(sys.argv[1])
user_data.read_user_data("small", {"file": "small.csv", "target": "y"}, folder)
before = memory("VmRSS")
parsed = user_data.read_user_data("large", {"file": "large.csv", "target": "y"}, folder)[1]
print((memory("VmHWM") - before) / parsed.X.nbytes, parsed.X.shape[0], parsed.X.shape[1])
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_reading_a_large_table_uses_at_most_twice_its_matrix_memory(tmp_path):
    """One read of the whole file takes five times the matrix: its text stays beside the columns."""
    X = np.random.default_rng(0).standard_normal((10_000, 20))
    lines = pd.DataFrame(X).add_prefix("c").assign(y=np.arange(len(X)) % 2).to_csv(index=False)
    head, _, rows = lines.partition("\n")
    (tmp_path / "small.csv").write_text(f"{head}\n{rows[:100_000].rpartition(chr(10))[0]}\n")
    with (tmp_path / "large.csv").open("w") as stream:
        stream.write(f"{head}\n")
        for _ in range(20):
            stream.write(rows)
    done = subprocess.run(
        [sys.executable, "-c", READ, tmp_path], capture_output=True, text=True, check=True
    )
    share, n, d = done.stdout.split()
    assert (int(n), int(d)) == (200_000, 20)
    assert float(share) < 2
