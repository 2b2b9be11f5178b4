"""Data sets of some dozens of rows in the original formats."""

import itertools

import numpy as np

from rfbench.datasets import catalog
from tests.support.data_files import delimited, numbers, put_in_place, svmlight

ROWS = 90


def _table(labels):
    """Rows of numbers with the label last."""

    def make(entry):
        X = numbers(ROWS, entry.columns)
        return [delimited([*X.T, _cycle(labels)])], None

    return make


def _cycle(labels, count=ROWS):
    return [labels[number % len(labels)] for number in range(count)]


def _cod_rna(entry):
    X, half = numbers(ROWS, entry.columns), ROWS // 2
    return [svmlight(part, _cycle(["1", "-1"], half)) for part in (X[:half], X[half:])], half


def _har(entry):
    X, third, contents = numbers(ROWS, 561), ROWS // 3, []
    for part in (slice(2 * third), slice(2 * third, ROWS)):
        lines = [" ".join(f"{value: .7e}" for value in row) for row in X[part]]
        contents.append(("\n".join(lines) + "\n").encode())
        contents.append(delimited([_cycle("123456")[part]]))
        contents.append(delimited([np.arange(ROWS)[part] // 10]))
    return contents, 2 * third


def _news(entry):
    Z = np.abs(numbers(ROWS, 59))
    header = ["url", " timedelta", *(f" c{number}" for number in range(1, 59)), " shares"]
    columns = [["http://a/"] * ROWS, [9] * ROWS, *Z.T]
    return [delimited(columns, header=header)], None


def _year(entry):
    return [delimited([_cycle([2001, 1999, 1922, 2011]), *numbers(ROWS, 90).T])], 60


def _slice(entry):
    Z = numbers(ROWS, 385)
    header = ["patientId", *(f"value{number}" for number in range(384)), "reference"]
    return [delimited([np.arange(ROWS) // 10, *Z.T], header=header)], None


def _rcv1(entry):
    generator = np.random.default_rng(0)
    lines, topics = [], []
    for number in range(ROWS):
        columns = np.sort(generator.choice(np.arange(1, 47237), 20, replace=False))
        values = [f"{value:.6f}" for value in generator.random(20)]
        pairs = " ".join(map(":".join, zip(map(str, columns), values, strict=True)))
        lines.append(f"{2286 + number} {pairs}\n")
        topics.append(f"{'CCAT' if number % 2 else 'E11'} {2286 + number} 1\n")
    ends = (0, 50, 60, 70, 80, ROWS)
    contents = ["".join(lines[a:b]).encode() for a, b in itertools.pairwise(ends)]
    return [*contents, "".join(topics).encode()], 50


FORMATS = {
    "buzz": _table(["1.0", "0.0", "1"]),
    "cod-rna": _cod_rna,
    "covtype": _table([1, 2, 5, 2, 7]),
    "har": _har,
    "news": _news,
    "rcv1": _rcv1,
    "slice": _slice,
    "year": _year,
}


def write(name, folder):
    """Write the data set's files below a folder; return its entry with the counts of these rows."""
    entry = catalog.entry(name)
    contents, n_train = FORMATS[name](entry)
    return put_in_place(entry, contents, folder, ROWS, n_train)
