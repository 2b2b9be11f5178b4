import numpy as np
import pytest
from sklearn.datasets import load_digits

from rfbench import datasets
from rfbench.datasets import readers
from rfbench.errors import DataError
from tests.support import data_files


@pytest.fixture
def letters(home, catalogue):
    """The Letter entry over a file of three rows, in its place."""
    entry, contents, *_ = data_files.example("letter")
    catalogue(data_files.put_in_place(entry, contents, home, 3, None))
    return home


def test_digits_equal_those_of_scikit_learn():
    dataset, (X, y) = datasets.load("digits"), load_digits(return_X_y=True)
    np.testing.assert_array_equal(dataset.X, X)
    np.testing.assert_array_equal(dataset.y, y)


def test_explicit_default_does_not_change_the_identity():
    assert datasets.hash_data("sphere", {"d": 10}) == datasets.hash_data("sphere")


def test_second_load_does_not_read_the_file(letters, monkeypatch):
    first = datasets.load("letter")
    assert (first.y.tolist(), first.X.dtype) == ([19, 8, 0], np.float64)
    monkeypatch.setitem(readers.READERS, "table", lambda *_: pytest.fail("read"))
    second = datasets.load("letter")
    np.testing.assert_array_equal(first.X, second.X)
    np.testing.assert_array_equal(first.X, data_files.numbers(3, 16))
    assert first.sha256 == second.sha256 == datasets.hash_data("letter")


def test_changed_reader_changes_the_data_identity(letters, catalogue):
    before = datasets.hash_data("letter")
    catalogue(datasets.find_entry("letter").model_copy(update={"reader": "table2"}))
    assert datasets.hash_data("letter") != before


def test_changed_file_is_read_again(letters):
    before = datasets.load("letter").sha256
    file = letters / "letter" / "letter-recognition.data"
    file.write_bytes(file.read_bytes().replace(b"T,", b"I,0").replace(b"\nI,", b"\nT,"))
    after = datasets.load("letter")
    assert after.y.tolist() == [8, 19, 0]
    assert after.sha256 != before


def test_file_changed_after_planning_is_rejected(letters):
    planned = datasets.hash_data("letter")
    assert datasets.load("letter", sha256=planned).sha256 == planned
    with pytest.raises(DataError, match="have changed during the run"):
        datasets.load("letter", sha256="0" * 64)
