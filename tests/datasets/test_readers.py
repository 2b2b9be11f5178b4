import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rfbench.datasets import adult, catalog, readers
from rfbench.datasets.columns import Parsed
from rfbench.datasets.readers import READERS
from rfbench.errors import DataError
from tests.support import data_files

FILES = list(data_files.EXAMPLES)
ONE_OF_EACH = ["adult", "a9a", "letter", "eeg", "mnist", "ujiindoorloc", "har-train", "rcv1"]
TEXT = [name for name in FILES if name not in ("mnist", "rcv1")]


def read(entry, contents):
    return READERS[entry.reader](entry, data_files.held(entry, contents))


@pytest.mark.parametrize("name", FILES)
def test_the_format_of_every_data_set_is_read(name):
    entry, contents, X, y, n_given_train, groups = data_files.example(name)
    parsed = read(entry, contents)
    assert parsed.X.shape == (len(y), entry.columns)
    if X is not None:
        found = parsed.X if isinstance(parsed.X, np.ndarray) else parsed.X.toarray()
        np.testing.assert_array_equal(found, X)
    assert isinstance(parsed.X, np.ndarray) != entry.sparse
    np.testing.assert_array_equal(parsed.y, y)
    assert parsed.y.dtype == (np.int64 if entry.classes else np.float64)
    assert parsed.n_given_train == n_given_train
    assert (parsed.groups is None) == (groups is None)
    if groups is not None:
        np.testing.assert_array_equal(parsed.groups, groups)


def test_every_format_has_its_example():
    files = {n for n in catalog.names() if catalog.entry(n).kind == "files"}
    assert files - set(catalog.names("tables")) == set(FILES)


@pytest.mark.parametrize("name", ["chess", "abalone"])
def test_words_become_a_column_per_value_behind_the_numbers(name):
    """Values are in the order of their texts; labels and a target of numbers come as ever."""
    columns, target = [["1", "0", "1"], ["n", "b", "w"], ["2.5", "3", "4"]], ["1", "0", "0"]
    fields = {"fields": 4, "words": [1], "target": 3}
    if name == "chess":
        options = fields | {"header": True, "separator": "\t", "target": "y", "words": ["word"]}
        content = data_files.delimited([*columns, target], "\t", ["a", "word", "b", "y"])
    else:
        options = fields
        kinds = ["NUMERIC", "{w, n, b}", "NUMERIC", "NUMERIC"]
        top = "".join(f"@ATTRIBUTE c{at} {kind}\n" for at, kind in enumerate(kinds))
        content = f"@RELATION x\n{top}@DATA\n".encode() + data_files.delimited([*columns, target])
    entry = catalog.entry(name).model_copy(update={"options": options})
    parsed = read(entry, [content])
    expected = [[1, 2.5, 0, 1, 0], [0, 3, 1, 0, 0], [1, 4, 0, 0, 1]]
    np.testing.assert_array_equal(parsed.X, expected)
    np.testing.assert_array_equal(parsed.y, [1, 0, 0])


def test_rows_that_an_entry_leaves_out_are_gone():
    entry, contents, X, y, *_ = data_files.example("eeg")
    part = entry.model_copy(update={"options": {**entry.options, "leave_out": [0]}})
    parsed = read(part, contents)
    np.testing.assert_array_equal(parsed.X, X[1:])
    np.testing.assert_array_equal(parsed.y, y[1:])


def test_adult_has_one_column_for_each_category_and_numbers_keep_their_place():
    entry, contents, *_ = data_files.example("adult")
    X = read(entry, contents).X
    starts = np.cumsum([0, *(max(1, len(values)) for values in adult.COLUMNS.values())])
    place = dict(zip(adult.COLUMNS, starts, strict=False))
    assert starts[-1] == entry.columns
    np.testing.assert_array_equal(X[:, place["age"]], [39, 52, 25])
    np.testing.assert_array_equal(X[:, place["capital-gain"]], [2174, 0, 0])
    for column, values in adult.COLUMNS.items():
        if values:
            block = X[:, place[column] : place[column] + len(values)]
            np.testing.assert_array_equal(block.sum(axis=1), 1)
    unknown = place["workclass"] + adult.COLUMNS["workclass"].index("?")
    np.testing.assert_array_equal(X[:, unknown], [0, 1, 0])


def change_last(content, change, separator):
    """Return a file whose last row is another one."""
    *before, last = content.rstrip(b"\r\n").split(b"\n")
    return b"\n".join([*before, separator.join(change(last.split(separator))), b""])


def with_field(value):
    """Put a value into the last pair of a sparse row, or into the third field of another."""

    def change(fields):
        if b":" in fields[-1]:
            return [*fields[:-1], fields[-1].split(b":")[0] + b":" + value]
        return [*fields[:2], value, *fields[3:]]

    return change


BREAKS = {
    "short": lambda fields: fields[:-1],
    "long": lambda fields: [*fields, b"1"],
    "text": with_field(b"x1"),
    "empty field": with_field(b""),
    "nan": with_field(b"nan"),
    "infinite": with_field(b"-inf"),
    "too large": with_field(b"1e999"),
    "zero byte": with_field(b"1\x002"),
}
SEPARATORS = {"letter": b",", "adult": b",", "eeg": b",", "cpu": b"\t", "har": b" ", "a9a": b" "}


# A sparse row may be of any length; where blanks separate, an empty field is a short row.
@pytest.mark.parametrize(
    ("name", "how"),
    [
        (name, how)
        for name in SEPARATORS
        for how in BREAKS
        if (name, how) not in [("a9a", "short"), ("har", "empty field")]
    ],
)
def test_a_broken_row_is_refused_and_its_file_named(name, how):
    entry, contents, *_ = data_files.example(name)
    contents[0] = change_last(contents[0], BREAKS[how], SEPARATORS[name])
    with pytest.raises(DataError) as caught:
        read(entry, contents)
    assert entry.files[0].name in caught.value.what


@pytest.mark.parametrize(
    ("name", "place", "at", "separator"),
    [("letter", 0, 0, b","), ("magic04", 0, 10, b","), ("adult", 1, -1, b","), ("a9a", 1, 0, b" "),
     ("har", 4, 0, b","), ("ujiindoorloc", 0, 523, b","), ("eeg", 0, -1, b",")],
)  # fmt: skip
def test_an_unknown_label_is_refused(name, place, at, separator):
    entry, contents, *_ = data_files.example(name)

    def change(fields):
        fields[at] = b"7"
        return fields

    contents[place] = change_last(contents[place], change, separator)
    with pytest.raises(DataError, match=f"{entry.files[place].name}: .*(label|not one of)"):
        read(entry, contents)


@pytest.mark.parametrize("name", TEXT)
def test_an_empty_file_is_refused(name):
    entry, contents, *_ = data_files.example(name)
    contents[0] = b"\n \n"
    with pytest.raises(DataError, match=r"no rows|names where|no line"):
        read(entry, contents)


@pytest.mark.parametrize(
    ("name", "place", "change", "reason"),
    [
        ("news", 0, (b"shares", b"clicks"), "no column is named 'shares'"),
        ("slice", 0, (b"patientId", b"more,patientId"), "387 names where 386"),
        ("adult", 0, (b"Husband", b"Partner"), r"adult\.data: 'Partner'"),
        ("har-train", 1, (b"1\n", b""), r"y_train\.txt: 1 rows, but X_train\.txt has 2"),
        ("har-train", 2, (b"1\r\n1", b"1\r\n1.5"), r"subject_train\.txt: 1\.5"),
        ("rcv1", -1, (b"X 2291 1\n", b""), "document 2291 has no topic"),
        ("rcv1", -1, (b"X 2291 1\n", b"CCAT x 1\n"), r"rcv1v2\.topics\.qrels: "),
    ],
)
def test_what_does_not_fit_together_is_named(name, place, change, reason):
    entry, contents, *_ = data_files.example(name)
    assert change[0] in contents[place]
    contents[place] = contents[place].replace(*change)
    with pytest.raises(DataError, match=reason):
        read(entry, contents)


@pytest.mark.parametrize(
    ("place", "content", "reason"),
    [
        (0, b"", "too few"),
        (0, data_files.idx(range(9)), "magic number is 0x801, not 0x803"),
        (0, data_files.idx(np.zeros((3, 28, 28)))[:-1], "values where the shape"),
        (0, data_files.idx(np.zeros((2, 28, 28))), "2 images and 3 labels"),
        (1, data_files.idx([1, 2, 10]), "label 10 of row 3"),
        (1, data_files.idx([1, 2, 3]) + b"\0", "values where the shape"),
        (0, data_files.idx(np.zeros((0, 28, 28))), "values where the shape"),
    ],
)
def test_a_broken_idx_file_is_refused(place, content, reason):
    entry, contents, *_ = data_files.example("mnist")
    contents[place] = content
    with pytest.raises(DataError, match=reason):
        read(entry, contents)


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (b"1 0:1", "index 0"),
        (b"1 3:1 2:1", "sorted and unique"),
        (b"1 3:1 3:1", "sorted and unique"),
        (b"1 124:1", "123.*124 features"),
        (b"1 99999999999:1", "too large"),
        (b"1 3:", "float"),
        (b"1 3", "unpack"),
        (b"1 3:1_0", "not of the form"),
        (b"1 qid:1 3:1", "not of the form"),
        (b"nan 3:1", "nan is not a finite number"),
        (b"1 3:inf", "inf is not a finite number"),
    ],
)
def test_a_broken_svmlight_row_is_named(row, reason):
    entry, contents, *_ = data_files.example("a9a")
    contents[0] = contents[0] + row + b"\n"
    with pytest.raises(DataError, match=f"a9a: .*{reason}"):
        read(entry, contents)


def test_numbers_keep_every_digit():
    values = np.random.default_rng(0).normal(size=200) * 10.0 ** np.arange(-100, 100)
    content = "\n".join(map(repr, values.tolist())).encode()
    np.testing.assert_array_equal(readers._table(content, 1)[0], values)


def test_an_underscore_makes_no_number():
    with pytest.raises(ValueError, match="float"):
        readers._table(b"1,2\n1,1_0\n", 2)


def mutations():
    piece = st.one_of(
        st.binary(max_size=4),
        st.sampled_from([b"\n", b",", b":", b" ", b'"', b"\r", b"nan", b"1e999", b"#", b"\xff"]),
    )
    return st.lists(st.tuples(st.floats(0, 1), st.integers(0, 40), piece), min_size=1, max_size=4)


@pytest.mark.parametrize("name", ONE_OF_EACH)
@given(place=st.integers(0, 5), changes=mutations())
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck), database=None)
def test_any_bytes_are_read_or_refused(name, place, changes):
    entry, contents, *_ = data_files.example(name)
    place %= len(contents)
    for where, removed, piece in changes:
        at = int(where * len(contents[place]))
        contents[place] = contents[place][:at] + piece + contents[place][at + removed :]
    try:
        parsed = read(entry, contents)
    except DataError:
        return
    assert isinstance(parsed, Parsed)
    assert parsed.X.shape[0] == len(parsed.y)
    values = parsed.X if isinstance(parsed.X, np.ndarray) else parsed.X.data
    assert np.isfinite(values).all()
