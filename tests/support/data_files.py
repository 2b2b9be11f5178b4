"""Small files in the original formats."""

import hashlib
import io
import struct
import zipfile
from dataclasses import dataclass

import numpy as np

from rfbench.datasets import catalog

LETTERS = b"A," + b",".join([b"1"] * 16) + b"\nB," + b",".join([b"2"] * 16) + b"\n"


def sha256(content):
    return hashlib.sha256(content).hexdigest()


def letters(urls=(), member=None, whole=None, archive=True, **change):
    """Return an entry with one file, by default inside of a zip."""
    name = "letters.zip" if archive else "letters.data"
    download = {"name": name, "sha256": whole, "urls": list(urls)}
    file = {"name": "letters.data", "source": name, "sha256": member}
    fields = catalog.find_entry("letter").model_dump() | {
        "name": "letters",
        "folder": "letters",
        "downloads": [download] if urls else [],
        "files": [file if urls else file | {"source": None}],
        "rows": 2,
        "task": "binary",
        "classes": {"A": 1, "B": 1},
    }
    return catalog.Entry.model_validate(fields | change)


def zipped(members):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return stream.getvalue()


@dataclass
class Held:
    """A source whose files are in memory."""

    files: dict
    count: int = 1

    def read(self):
        return self.files


def held(entry, contents):
    """Return one source per file of the entry; a list of contents stands for several files."""
    sources = []
    for member, content in zip(entry.files, contents, strict=True):
        if isinstance(content, list):
            names = [member.name.replace("*", f"{number:02}") for number in range(len(content))]
            sources.append(Held(dict(zip(names, content, strict=True)), len(content)))
        else:
            sources.append(Held({member.name: content}))
    return sources


def put_in_place(entry, contents, folder, rows, n_given_train):
    """Write an entry's files below a folder; return the entry with the counts of these rows."""
    (folder / entry.folder).mkdir(parents=True)
    files = []
    for file, source in zip(entry.files, held(entry, contents), strict=True):
        for name, content in source.files.items():
            (folder / entry.folder / name).write_bytes(content)
        change = {"sha256": None, "also": (), "count": source.count}
        files.append(file.model_copy(update=change))
    return entry.model_copy(
        update={
            "rows": rows,
            "train_rows": n_given_train,
            "classes": dict.fromkeys(entry.classes),
            "arrays": "",
            "files": tuple(files),
            "downloads": (),
        }
    )


def numbers(rows, columns, seed=0):
    return np.random.default_rng(seed).normal(size=(rows, columns)).round(6)


def delimited(columns, separator=",", header=None, end="\n"):
    """Join columns (sequences of anything) to lines."""
    lines = [separator.join(map(str, row)) for row in zip(*columns, strict=True)]
    top = [separator.join(header)] if header else []
    return (end.join(top + lines) + end).encode()


def svmlight(X, labels):
    lines = []
    for row, label in zip(X.tolist(), labels, strict=True):
        pairs = [f"{index}:{value!r}" for index, value in enumerate(row, 1) if value]
        lines.append(" ".join([label, *pairs]))
    return ("\n".join(lines) + "\n").encode()


def idx(values):
    values = np.asarray(values, np.uint8)
    top = struct.pack(f">{1 + values.ndim}I", 0x800 + values.ndim, *values.shape)
    return top + values.tobytes()


ADULT = (
    b"39, State-gov, 77516, Bachelors, 13, Never-married, Adm-clerical, Not-in-family, White, "
    b"Male, 2174, 0, 40, United-States, <=50K\n"
    b"52, ?, 209642, HS-grad, 9, Married-civ-spouse, ?, Husband, Black, "
    b"Male, 0, 0, 45, ?, >50K\n\n"
)
ADULT_TEST = (
    b"|1x3 Cross validator\n"
    b"25, Private, 226802, 11th, 7, Never-married, Machine-op-inspct, Own-child, Black, "
    b"Female, 0, 0, 40, Peru, >50K.\n"
)


def example(name):
    """Return contents, X, y, n_given_train and groups of a small file of a data set's format."""
    entry = catalog.find_entry(name)
    return entry, *EXAMPLES.get(name, _suite)(entry)


def _suite(entry):
    """Three rows of a table of numbers; a target by name stands in the middle."""
    X, target = numbers(3, entry.columns), entry.options["target"]
    codes = [0, 1, 1] if entry.classes else [1.5, 0.0, 3.0]
    y = [list(entry.codes)[code] for code in codes] if entry.classes else codes
    header = [f"c{number}" for number in range(entry.columns)]
    at = entry.columns // 2 if entry.options.get("header") else target
    columns = [*X.T[:at], y, *X.T[at:]]
    names = [*header[:at], target, *header[at:]] if entry.options.get("header") else None
    return [delimited(columns, entry.options.get("separator", ","), names)], X, codes, None, None


def _adult(entry):
    return [ADULT, ADULT_TEST], None, [0, 1, 1], 2, None


def _svmlight(labels, codes, parts=1):
    def make(entry):
        X = numbers(2 * parts, entry.columns) * (numbers(2 * parts, entry.columns, 1) > 0)
        X[-1, -1] = 0
        contents = [svmlight(X[i : i + 2], labels) for i in range(0, 2 * parts, 2)]
        return contents, X, codes * parts, 2 if parts > 1 else None, None

    return make


def _labelled(labels, codes, train=None, first=False):
    """Rows of numbers with their labels in the last column, or in the first one."""

    def make(entry):
        X = numbers(len(labels), entry.columns)
        columns = [labels, *X.T] if first else [*X.T, labels]
        return [delimited(columns)], X, codes, train, None

    return make


def _arff(entry):
    X = numbers(3, 14)
    top = "@RELATION x\n\n" + "".join(f"@ATTRIBUTE a{at} NUMERIC\n" for at in range(14))
    top += "@ATTRIBUTE eye {0,1}\n\n@DATA\n"
    rows = delimited([*X.T, [0, 1, 1]]).replace(b"\n", b"\n% a remark\n", 1)
    return [top.encode() + rows.rstrip()], X, [0, 1, 1], None, None


def _idx(entry):
    pixels = np.random.default_rng(0).integers(0, 256, (5, 28, 28))
    labels = [3, 0, 9, 1, 1]
    contents = [idx(pixels[:3]), idx(labels[:3]), idx(pixels[3:]), idx(labels[3:])]
    return contents, pixels.reshape(5, -1), labels, 3, None


def _uji(entry):
    signals = np.round(-50 + 10 * numbers(4, 520))
    signals[1, 5] = 100
    header = [f"WAP{number:03}" for number in range(1, 521)]
    header += ["LONGITUDE", "LATITUDE", "FLOOR", "BUILDINGID", "SPACEID"]
    header += ["RELATIVEPOSITION", "USERID", "PHONEID", "TIMESTAMP"]
    rest = [[-7541.26] * 4, [4864920.7] * 4, [2] * 4, [1, 2, 0, 1], *([[7] * 4] * 5)]
    columns = [*signals.astype(int).T, *rest]
    contents = [
        delimited([column[part] for column in columns], header=header)
        for part in (slice(3), slice(3, 4))
    ]
    X = signals.copy()
    X[1, 5] = -105
    return contents, X, [1, 2, 0, 1], 3, None


def _blog(entry):
    Z = np.abs(numbers(5, 281))
    parts = [delimited(Z[part].T) for part in (slice(2), slice(2, 4), slice(4, 5))]
    return [parts[0], parts[1:]], Z[:, :-1], Z[:, -1], 2, None


def _har(sides):
    def make(entry):
        X, subjects, labels = numbers(2 * sides, 561), [1, 1, 3, 4], [5, 1, 6, 2]
        contents = []
        for start in range(0, 2 * sides, 2):
            part = slice(start, start + 2)
            lines = [" ".join(f"{value: .7e}" for value in row) for row in X[part]]
            contents.append(("\n".join(lines) + "\n").encode())
            contents.append(delimited([labels[part]]))
            contents.append(delimited([subjects[part]], end="\r\n"))
        codes = [label - 1 for label in labels[: 2 * sides]]
        return contents, X, codes, 2 if sides > 1 else None, subjects[: 2 * sides]

    return make


def _news(entry):
    Z = numbers(3, 59)
    header = ["url", *(f" c{number}" for number in range(59)), " shares"]
    header[1] = " timedelta"
    columns = [["http://a/", "http://b/", "http://c/"], [9, 8, 7], *Z[:, :58].T, Z[:, 58]]
    return [delimited(columns, header=header)], Z[:, :58], Z[:, 58], None, None


def _rcv1(entry):
    contents = [b"2286 1:.5 47236:1.5e-1\n2287 7:.25\n"]
    contents += [f"{2288 + part} {part + 2}:1\n".encode() for part in range(4)]
    topics = "E11 2286 1\nCCAT 2286 1\nE11 2287 1\nCCAT 2288 1\nX 2289 1\nCCAT 2290 1\nX 2291 1\n"
    X = np.zeros((6, 47236))
    X[0, [0, 47235]], X[1, 6] = (0.5, 0.15), 0.25
    X[[2, 3, 4, 5], [1, 2, 3, 4]] = 1
    return [*contents, topics.encode()], X, [1, 0, 1, 0, 1, 0], 2, None


def _slice(entry):
    Z = numbers(3, 385)
    header = ["patientId", *(f"value{number}" for number in range(384)), "reference"]
    return [delimited([[0, 0, 7], *Z.T], header=header)], Z[:, :-1], Z[:, -1], None, [0, 0, 7]


def _permuted(entry):
    """Lines of which all but the last are put in order by a seed; 95 % train, words last."""
    seed, n = entry.options["permuted"]
    train, test, width = int(n * (1 - 0.05)), int(n * 0.05), entry.options["fields"]
    words, drop = entry.options.get("words", []), entry.options.get("drop", [])
    plain = [at for at in range(width - 1) if at not in words and at not in drop]
    Z = numbers(n + 1, len(plain))
    columns = {at: Z[:, i] for i, at in enumerate(plain)} | {at: ["a"] * (n + 1) for at in drop}
    values = entry.columns - len(plain) - len(words) + 1  # of the first column of words
    codes = np.arange(n + 1) % max(1, values)
    columns |= {at: ["w"] * (n + 1) for at in words} | {
        at: [f"v{code:03}" for code in codes] for at in words[:1]
    }
    labels = np.arange(n + 1) % len(entry.classes)
    columns[width - 1] = [list(entry.classes)[code] for code in labels]
    one_hot = [np.eye(values)[codes], np.ones((n + 1, len(words) - 1))] if words else []
    order = np.random.default_rng(seed).permutation(n)
    rows = [*order[:train], *order[n - test :]]
    separator = entry.options.get("separator", ",") or " "
    content = delimited([columns[at] for at in range(width)], separator)
    return [content], np.hstack([Z, *one_hot])[rows], labels[rows], train, None


_COVER = _labelled([5, 2, 7], [0, 1, 0])
EXAMPLES = {
    "adult": _adult,
    "a9a": _svmlight(["-1", "+1"], [0, 1], 2),
    "letter": _labelled(["T", "I", "A"], [19, 8, 0], first=True),
    "magic04": _labelled(["g", "h"], [1, 0]),
    "eeg": _arff,
    "eeg-clean": _arff,
    "cod-rna": _svmlight(["1", "-1"], [1, 0], 2),
    "cod-rna-train": _svmlight(["+1", "-1"], [1, 0]),
    "mnist": _idx,
    "ujiindoorloc": _uji,
    "blogfeedback": _blog,
    "cpu": _suite,
    "cpusmall": _svmlight(["90", "12.5"], [90.0, 12.5]),
    "covtype": _COVER,
    "covtype-20k": _COVER,
    "covtype-44k": _COVER,
    "leukemia": _labelled(["ALL", "AML", "ALL"], [0, 1, 0], 38),
    "news-14columns": _suite,
    "har": _har(2),
    "har-train": _har(1),
    "news": _news,
    "news-14k": _news,
    "buzz": _labelled(["1.0", "0.0", "1"], [1, 0, 1]),
    "buzz-14k": _labelled(["1.0", "0.0", "1"], [1, 0, 1]),
    "buzz-regression": _labelled(["1.5", "0", "3"], [1.5, 0.0, 3.0]),
    "year": _labelled([2001, 1999, 1922], [2001.0, 1999.0, 1922.0], 463715, first=True),
    "rcv1": _rcv1,
    "slice": _slice,
    "usps": _svmlight(["10", "1"], [9, 0], 2),
    "powerplant": _suite,
    "insurance": _suite,
    "winequality-white": _suite,
    "parkinsons-ppe": _suite,
    "reuters21578": _svmlight(["-1", "+1"], [0, 1], 2),
    **{name: _permuted for name in catalog.list_names() if name.startswith("simrf-")},
}
