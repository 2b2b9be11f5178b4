import hashlib
import os
import tempfile
from dataclasses import replace
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pandas.testing import assert_frame_equal
from scipy import sparse

from rfbench import home as home_of_user
from rfbench.compute import check_numba_settings
from rfbench.datasets import cache, stored
from rfbench.datasets.archives import FoundFiles
from rfbench.datasets.columns import Parsed
from rfbench.errors import ConfigError
from tests.support.command_line import call

DENSE = Parsed(
    np.arange(6, dtype=np.uint8).reshape(3, 2), np.array([0, 1, 1]), 2, np.array([4, 4, 5])
)
SPARSE = Parsed(sparse.csr_array(np.array([[0, 1.5], [0, 0], [2, 0]])), np.array([0.5, 1, 2]))
WORDS = pd.Series(["b", None, "a"], dtype=object)
TABLE = replace(
    DENSE, X=pd.DataFrame({"a": [1.5, np.nan, 3], "w": WORDS, "c": pd.Categorical(list("xyx"))})
)
SOURCE = "5" * 64


@pytest.fixture(autouse=True)
def _home(home):
    """Hashes and rows are remembered in a folder of the test."""


def kept(parsed):
    return cache.load_cached_rows_or_read(SOURCE, lambda: parsed)


def place():
    return cache.find_user_folder() / "arrays" / SOURCE


def same(found, parsed):
    if isinstance(parsed.X, pd.DataFrame):
        assert_frame_equal(found.X, parsed.X, check_categorical=False)
    else:
        rows = [each.X.toarray() if sparse.issparse(each.X) else each.X for each in (found, parsed)]
        np.testing.assert_array_equal(*rows)
        assert found.X.dtype == parsed.X.dtype
    np.testing.assert_array_equal(found.y, parsed.y)
    np.testing.assert_array_equal(found.groups, parsed.groups)
    assert (found.y.dtype, found.n_given_train) == (parsed.y.dtype, parsed.n_given_train)


EACH = pytest.mark.parametrize("parsed", [DENSE, SPARSE, TABLE], ids=["dense", "sparse", "table"])


@EACH
def test_cached_data_are_returned_and_read_once(parsed):
    same(kept(parsed), parsed)
    same(cache.load_cached_rows_or_read(SOURCE, lambda: pytest.fail("was read again")), parsed)
    assert [path.name for path in place().parent.iterdir()] == [SOURCE]


def test_dense_rows_are_returned_as_a_read_only_memory_map():
    X = kept(DENSE).X
    assert isinstance(X, np.memmap)
    with pytest.raises(ValueError, match="read-only"):
        X[0, 0] = 1


def empty(path):
    path.write_bytes(b"")


@pytest.mark.parametrize("damage", [lambda path: os.truncate(path, 20), empty, os.remove])
@pytest.mark.parametrize("number", [0, -1])
@EACH
def test_truncated_cache_is_discarded_and_rebuilt(parsed, number, damage):
    kept(parsed)
    damage(sorted(place().iterdir())[number])
    assert cache.find_cached_rows(SOURCE) is None
    same(kept(parsed), parsed)
    same(cache.find_cached_rows(SOURCE), parsed)


def test_unwritable_cache_folder_is_skipped(caplog):
    place().parent.write_text("a file in the way")
    same(kept(DENSE), DENSE)
    assert "cannot be written" in caplog.text


def test_hash_is_computed_once_while_the_file_is_unchanged(tmp_path, monkeypatch):
    path = tmp_path / "a"
    path.write_bytes(b"12")
    first = cache.hash_content(FoundFiles((path,), "a"))
    assert first == cache.hash_file(path)
    read = FoundFiles.read
    monkeypatch.setattr(FoundFiles, "read", lambda source: pytest.fail("was read again"))
    assert cache.hash_content(FoundFiles((path,), "a")) == first
    monkeypatch.setattr(FoundFiles, "read", read)
    path.write_bytes(b"13")
    os.utime(path, ns=(1, 1))
    assert cache.hash_content(FoundFiles((path,), "a")) != first


@pytest.mark.parametrize("damage", [empty, os.remove])
def test_deleted_hash_record_is_rebuilt(tmp_path, damage):
    path = tmp_path / "a"
    path.write_bytes(b"12")
    first = cache.hash_file(path)
    (memory,) = (cache.find_user_folder() / "hashes").iterdir()
    damage(memory)
    assert cache.load_cached_text(cache.describe_file_state(path)) is None
    assert cache.hash_file(path) == first


def test_change_immediately_after_hashing_is_detected(tmp_path):
    path = tmp_path / "a"
    for content in (b"12", b"13", b"14", b"15"):
        path.write_bytes(content)
        assert cache.hash_file(path) == hashlib.sha256(content).hexdigest()


def test_hash_of_several_files_depends_on_names_and_contents(tmp_path):
    def digest(files):
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        folder.mkdir()
        for name, content in files.items():
            (folder / name).write_bytes(content)
        paths = tuple(sorted(folder.iterdir()))
        return cache.hash_content(FoundFiles(paths, "*", len(paths)))

    first = digest({"a": b"1", "b": b"2"})
    assert digest({"b": b"2", "a": b"1"}) == first
    assert digest({"a": b"2", "b": b"1"}) != first
    assert digest({"a": b"1", "c": b"2"}) != first


class Payload:
    """A pickle that writes a file when it is loaded."""

    def __init__(self, file):
        self.file = file

    def __reduce__(self):
        return os.mkdir, (str(self.file),)


@EACH
def test_reading_the_cache_never_unpickles_objects(parsed, tmp_path):
    """Neither what an earlier version kept nor an array of objects."""
    kept(parsed)
    ran, old = tmp_path / "ran", cache.find_user_folder() / "rows" / SOURCE
    old.parent.mkdir()
    joblib.dump(Payload(ran), old)
    for file in place().glob("*.npy"):
        np.save(file, np.array([Payload(ran)] * len(parsed.y), dtype=object), allow_pickle=True)
    assert cache.find_cached_rows(SOURCE) is None
    same(kept(parsed), parsed)
    assert not ran.exists()


odd = st.text(st.characters(codec=None), max_size=4)


@settings(max_examples=20)
@given(st.lists(st.tuples(st.none() | odd, odd, st.none() | st.floats()), min_size=1))
def test_each_cached_table_is_returned_unchanged(lines):
    words, labels, numbers = zip(*lines, strict=True)
    X = pd.DataFrame(
        {
            "w": pd.Series(list(words), dtype=object),
            "c": pd.Series(list(labels), dtype=object).astype("category"),
            "n": pd.Series(list(numbers), dtype=float),
        }
    )
    about = {"classes": {"a": 2}, "note": "\udc80", "task": None}
    for rows in (X, X.iloc[::-1]):
        parsed = Parsed(rows, np.arange(len(X)), about=about)
        with tempfile.TemporaryDirectory() as folder:
            stored.write_stored_data(Path(folder) / "a", *stored.split_into_json_and_arrays(parsed))
            found = stored.read_stored_data(Path(folder) / "a")
            assert_frame_equal(found.X, rows)
            assert found.about == about


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([1, "a", None], dtype=object),
        pd.Series(["a", np.nan, "b"], dtype=object),
        pd.Categorical([1, 2, 1]),
        pd.date_range("2024-01-01", periods=3),
    ],
)
def test_table_with_other_objects_is_not_cached(column):
    parsed = replace(DENSE, X=pd.DataFrame({"x": column}))
    assert kept(parsed) is parsed
    assert not place().exists()


@pytest.mark.parametrize("name", ["RFBENCH_CACHE", "XDG_CACHE_HOME", "HOME", "NUMBA_CACHE_DIR"])
def test_cache_in_the_current_folder_is_rejected(name, monkeypatch):
    for each in ("RFBENCH_CACHE", "XDG_CACHE_HOME", "NUMBA_CACHE_DIR"):
        monkeypatch.delenv(each, raising=False)
    monkeypatch.setenv(name, "here")
    with pytest.raises(ConfigError, match=f"{name} is the relative folder here"):
        check_numba_settings()
    assert f"{name} is the relative folder" in call("list", "samplers", code=2)


def test_without_a_home_folder_nothing_is_cached_in_the_current_folder(
    monkeypatch, tmp_path, caplog
):
    """A container that runs as a user without an entry in its list of users has none."""
    for name in ("RFBENCH_CACHE", "XDG_CACHE_HOME", "NUMBA_CACHE_DIR"):
        monkeypatch.setenv(name, "")
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    monkeypatch.setattr(home_of_user, "_temporary", [])
    monkeypatch.delenv("HOME")
    monkeypatch.chdir(tmp_path)
    assert not is_relative(cache.find_user_folder())
    assert home_of_user.is_temporary_folder()
    assert len([r for r in caplog.records if "not have a home folder" in r.message]) == 1
    home_of_user.check_cache_folder()
    assert os.environ["NUMBA_CACHE_DIR"].startswith(str(cache.find_user_folder()))
    same(kept(DENSE), DENSE)
    assert [file.name for file in tmp_path.iterdir()] == ["data"]
    home_of_user._temporary[-1].cleanup()


def is_relative(folder):
    return not folder.is_absolute() or folder.is_relative_to(Path.cwd())
