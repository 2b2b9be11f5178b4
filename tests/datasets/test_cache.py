import hashlib
import os
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal
from scipy import sparse

from rfbench.datasets import cache
from rfbench.datasets.archives import FoundFiles
from rfbench.datasets.columns import Parsed

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
    return cache.kept(SOURCE, lambda: parsed)


def place():
    return cache.user_folder() / "rows" / SOURCE


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
def test_what_is_kept_comes_back_and_is_read_once(parsed):
    same(kept(parsed), parsed)
    same(cache.kept(SOURCE, lambda: pytest.fail("was read again")), parsed)
    assert [path.name for path in place().parent.iterdir()] == [SOURCE]


def test_dense_rows_come_back_as_a_read_only_map():
    X = kept(DENSE).X
    assert isinstance(X, np.memmap)
    with pytest.raises(ValueError, match="read-only"):
        X[0, 0] = 1


def empty(path):
    path.write_bytes(b"")


@pytest.mark.parametrize("damage", [lambda path: os.truncate(path, 20), empty, os.remove])
@EACH
def test_a_torn_cache_is_not_used_and_made_anew(parsed, damage):
    kept(parsed)
    damage(place())
    assert cache.found(SOURCE) is None
    same(kept(parsed), parsed)
    same(cache.found(SOURCE), parsed)


def test_a_place_that_cannot_be_written_is_passed_over(caplog):
    place().parent.write_text("a file in the way")
    same(kept(DENSE), DENSE)
    assert "cannot be written" in caplog.text


def test_a_hash_is_computed_once_while_the_file_stays_the_same(tmp_path, monkeypatch):
    path = tmp_path / "a"
    path.write_bytes(b"12")
    first = cache.content_sha256(FoundFiles((path,), "a"))
    assert first == cache.file_sha256(path)
    read = FoundFiles.read
    monkeypatch.setattr(FoundFiles, "read", lambda source: pytest.fail("was read again"))
    assert cache.content_sha256(FoundFiles((path,), "a")) == first
    monkeypatch.setattr(FoundFiles, "read", read)
    path.write_bytes(b"13")
    os.utime(path, ns=(1, 1))
    assert cache.content_sha256(FoundFiles((path,), "a")) != first


@pytest.mark.parametrize("damage", [empty, os.remove])
def test_a_memory_of_a_hash_that_is_gone_is_made_anew(tmp_path, damage):
    path = tmp_path / "a"
    path.write_bytes(b"12")
    first = cache.file_sha256(path)
    (memory,) = (cache.user_folder() / "hashes").iterdir()
    damage(memory)
    assert cache.recall(cache.state(path)) is None
    assert cache.file_sha256(path) == first


def test_a_change_right_after_the_hash_is_noticed(tmp_path):
    path = tmp_path / "a"
    for content in (b"12", b"13", b"14", b"15"):
        path.write_bytes(content)
        assert cache.file_sha256(path) == hashlib.sha256(content).hexdigest()


def test_the_hash_of_several_files_depends_on_names_and_contents(tmp_path):
    def digest(files):
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        folder.mkdir()
        for name, content in files.items():
            (folder / name).write_bytes(content)
        paths = tuple(sorted(folder.iterdir()))
        return cache.content_sha256(FoundFiles(paths, "*", len(paths)))

    first = digest({"a": b"1", "b": b"2"})
    assert digest({"b": b"2", "a": b"1"}) == first
    assert digest({"a": b"2", "b": b"1"}) != first
    assert digest({"a": b"1", "c": b"2"}) != first
