import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rfbench.datasets import catalog, readers
from rfbench.datasets.columns import Parsed
from rfbench.errors import DataError
from tests.support import data_files
from tests.support.nightly import NIGHTLY

FILES = list(data_files.EXAMPLES)
ONE_OF_EACH = ["adult", "a9a", "letter", "eeg", "mnist", "har-train", "rcv1"]


def read(entry, contents):
    return readers.read_catalog_data(entry, data_files.held(entry, contents))


@pytest.mark.parametrize("name", FILES)
def test_format_of_each_data_set_is_read(name):
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


def test_each_data_set_read_from_files_has_a_test_example():
    files = {n for n in catalog.list_names() if catalog.find_entry(n).kind == "files"}
    assert files - set(catalog.list_names("tables")) == set(FILES)


@pytest.mark.parametrize("name", ["chess", "abalone"])
def test_one_hot_columns_are_after_the_numbers(name):
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
    entry = catalog.find_entry(name).model_copy(update={"options": options})
    parsed = read(entry, [content])
    expected = [[1, 2.5, 0, 1, 0], [0, 3, 1, 0, 0], [1, 4, 0, 0, 1]]
    np.testing.assert_array_equal(parsed.X, expected)
    np.testing.assert_array_equal(parsed.y, [1, 0, 0])


def test_excluded_rows_of_an_entry_are_dropped():
    entry, contents, X, y, *_ = data_files.example("eeg")
    part = entry.model_copy(update={"options": {**entry.options, "leave_out": [0]}})
    parsed = read(part, contents)
    np.testing.assert_array_equal(parsed.X, X[1:])
    np.testing.assert_array_equal(parsed.y, y[1:])


def test_adult_has_one_column_per_category_and_numbers_keep_their_place():
    entry, contents, *_ = data_files.example("adult")
    X = read(entry, contents).X
    starts = np.cumsum([0, *(max(1, len(values)) for values in readers.ADULT.values())])
    place = dict(zip(readers.ADULT, starts, strict=False))
    assert starts[-1] == entry.columns
    np.testing.assert_array_equal(X[:, place["age"]], [39, 52, 25])
    np.testing.assert_array_equal(X[:, place["capital-gain"]], [2174, 0, 0])
    for column, values in readers.ADULT.items():
        if values:
            block = X[:, place[column] : place[column] + len(values)]
            np.testing.assert_array_equal(block.sum(axis=1), 1)
    unknown = place["workclass"] + readers.ADULT["workclass"].index("?")
    np.testing.assert_array_equal(X[:, unknown], [0, 1, 0])


@pytest.mark.parametrize(
    ("name", "place", "change"),
    [
        ("adult", 0, (b"Husband", b"Partner")),  # a word that is no category
        ("letter", 0, (b"T,", b"7,")),  # an unknown label
        ("a9a", 1, (b"-1 ", b"7 ")),
        ("a9a", 0, (b"1:", b"0:")),  # an index of no column
        ("news", 0, (b"shares", b"clicks")),  # a column that is not there
        ("cpu", 0, (b"\t", b"\tnan\t")),  # a field too many
        ("har-train", 1, (b"1\n", b"")),  # a row less than in the file beside it
        ("mnist", 0, (b"\x00\x00\x08\x03", b"\x00\x00\x08")),
        ("eeg", 0, (b"@DATA", b"@DATE")),
        ("eeg", 0, (b"@DATA\n", b"@DATA\n" + b"nan," * 14 + b"0\n")),  # not finite
    ],
)
def test_broken_file_is_rejected_with_the_data_set_name(name, place, change):
    entry, contents, *_ = data_files.example(name)
    assert change[0] in contents[place]
    contents[place] = contents[place].replace(*change)
    with pytest.raises(DataError, match=f"The files of {name} cannot be read: .+"):
        read(entry, contents)


def test_numbers_keep_full_precision():
    values = np.random.default_rng(0).normal(size=200) * 10.0 ** np.arange(-100, 100)
    content = "\n".join(map(repr, values.tolist())).encode()
    np.testing.assert_array_equal(readers._table(content, 1)[0], values)


def mutations():
    piece = st.one_of(
        st.binary(max_size=4),
        st.sampled_from([b"\n", b",", b":", b" ", b'"', b"\r", b"nan", b"1e999", b"#", b"\xff"]),
    )
    return st.lists(st.tuples(st.floats(0, 1), st.integers(0, 40), piece), min_size=1, max_size=4)


@pytest.mark.parametrize("name", ONE_OF_EACH)
@given(place=st.integers(0, 5), changes=mutations())
@settings(
    max_examples=60 if NIGHTLY else 8,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    database=None,
)
def test_corrupted_data_file_is_read_or_rejected_with_data_error(name, place, changes):
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
