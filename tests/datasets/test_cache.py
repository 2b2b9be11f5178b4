import hashlib
import os
import threading

import numpy as np
import pytest
from scipy import sparse

from rfbench.datasets import hashes, packed
from rfbench.datasets.archives import FoundFiles
from rfbench.datasets.columns import Parsed

DENSE = Parsed(
    np.arange(6, dtype=np.uint8).reshape(3, 2), np.array([0, 1, 1]), 2, np.array([4, 4, 5])
)
SPARSE = Parsed(sparse.csr_array(np.array([[0, 1.5], [0, 0], [2, 0]])), np.array([0.5, 1, 2]))


SOURCE = "5" * 64


def store(folder, parsed, source=SOURCE):
    return packed.store(folder, parsed, source)


def cached(folder, source=SOURCE):
    return packed.cached(folder, source)


@pytest.fixture(autouse=True)
def _home(home):
    """Hashes are remembered in a folder of the test."""


def same(found, parsed, dtype="float64"):
    X, Y = (
        each.X if isinstance(each.X, np.ndarray) else each.X.toarray() for each in (found, parsed)
    )
    assert found.X.dtype == dtype
    np.testing.assert_array_equal(X, Y)
    np.testing.assert_array_equal(found.y, parsed.y)
    assert found.y.dtype == parsed.y.dtype
    assert found.n_given_train == parsed.n_given_train
    np.testing.assert_array_equal(found.groups, parsed.groups)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


BOTH = pytest.mark.parametrize(
    ("parsed", "files"),
    [
        (DENSE, {"X.npy", "groups.npy"}),
        (SPARSE, {"X.npz"}),
    ],
    ids=["dense", "sparse"],
)


@BOTH
def test_what_is_stored_comes_back(tmp_path, parsed, files):
    place = tmp_path / "deep" / "x"
    same(store(place, parsed), parsed)
    same(cached(place), parsed)
    assert set(names(place)) == {"facts.json", "y.npy", *files}
    assert names(place.parent) == ["x"]


def test_dense_rows_come_back_as_a_read_only_map(tmp_path):
    X = store(tmp_path / "x", DENSE).X
    assert isinstance(X.base, np.memmap)
    with pytest.raises(ValueError, match="read-only"):
        X[0, 0] = 1


def tear(path):
    path.write_bytes(path.read_bytes()[:-3])


def flip(path):
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(bytes(content))


def empty(path):
    path.write_bytes(b"")


@pytest.mark.parametrize("damage", [tear, flip, empty, os.remove])
@BOTH
def test_a_torn_cache_is_not_used_and_made_anew(tmp_path, parsed, files, damage):
    place = tmp_path / "x"
    for file in ("facts.json", "y.npy", *files):
        store(place, parsed)
        damage(place / file)
        assert cached(place) is None
    same(store(place, parsed), parsed)


def test_a_place_that_cannot_be_written_is_passed_over(tmp_path, caplog):
    (tmp_path / "cache").write_text("a file in the way")
    same(store(tmp_path / "cache" / "x", DENSE), DENSE, DENSE.X.dtype)
    hashes.write(tmp_path / "cache" / "a", "b")
    assert "cannot be written" in caplog.text
    assert "could not be written" in caplog.text


def test_a_disk_that_fills_up_leaves_nothing(tmp_path, monkeypatch):
    def full(*arguments, **arrays):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "save", full)
    same(store(tmp_path / "x", SPARSE), SPARSE)
    assert names(tmp_path) == ["data"]


def test_what_killed_writers_left_is_swept_when_it_is_old(tmp_path):
    old, new, others = tmp_path / f".x-{'0' * 32}", tmp_path / f".x-{'1' * 32}", tmp_path / ".x-1"
    for path in (old, new, others):
        path.mkdir()
        os.utime(path, None if path == new else (0, 0))
    store(tmp_path / "x", SPARSE)
    assert set(names(tmp_path)) == {new.name, ".x-1", "x", "data"}


def test_checksums_are_compared_once(tmp_path, monkeypatch):
    store(tmp_path / "x", DENSE)
    monkeypatch.setattr(hashes, "sha256_of", lambda path: pytest.fail("was read again"))
    same(cached(tmp_path / "x"), DENSE)


def test_many_writers_at_once_leave_one_good_copy(tmp_path):
    place, found = tmp_path / "x", []
    threads = [threading.Thread(target=lambda: found.append(store(place, DENSE))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for each in [*found, cached(place)]:
        same(each, DENSE)
    assert len(found) == 8
    assert names(tmp_path) == ["data", "x"]


def test_a_hash_is_computed_once_while_the_file_stays_the_same(tmp_path, monkeypatch):
    path = tmp_path / "a"
    path.write_bytes(b"12")
    first = hashes.content_sha256(FoundFiles((path,), "a"))
    assert first == hashes.file_sha256(path)
    read = FoundFiles.read
    monkeypatch.setattr(FoundFiles, "read", lambda source: pytest.fail("was read again"))
    assert hashes.content_sha256(FoundFiles((path,), "a")) == first
    monkeypatch.setattr(FoundFiles, "read", read)
    path.write_bytes(b"13")
    os.utime(path, ns=(1, 1))
    assert hashes.content_sha256(FoundFiles((path,), "a")) != first


@pytest.mark.parametrize("damage", [tear, flip, empty, os.remove])
def test_a_damaged_memory_of_a_hash_is_made_anew(tmp_path, damage):
    path = tmp_path / "a"
    path.write_bytes(b"12")
    first = hashes.file_sha256(path)
    (memory,) = (hashes.user_folder() / "hashes").iterdir()
    damage(memory)
    assert hashes.recall(hashes.state(path)) is None
    assert hashes.file_sha256(path) == first
    memory.write_text(memory.read_text().replace(first[:8], "01234567"))
    assert hashes.file_sha256(path) == first


def test_a_memory_speaks_of_its_own_file_alone(tmp_path):
    for name in "ab":
        (tmp_path / name).write_text(name)
        hashes.file_sha256(tmp_path / name)
    first, other = sorted((hashes.user_folder() / "hashes").iterdir())
    os.replace(first, other)
    assert {hashes.recall(hashes.state(tmp_path / name)) for name in "ab"} == {None}


def test_a_change_right_after_the_hash_is_noticed(tmp_path):
    path = tmp_path / "a"
    for content in (b"12", b"13", b"14", b"15"):
        path.write_bytes(content)
        assert hashes.file_sha256(path) == hashlib.sha256(content).hexdigest()


def test_the_hash_of_several_files_depends_on_names_and_contents(tmp_path):
    def digest(files):
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        folder.mkdir()
        for name, content in files.items():
            (folder / name).write_bytes(content)
        paths = tuple(sorted(folder.iterdir()))
        return hashes.content_sha256(FoundFiles(paths, "*", len(paths)))

    first = digest({"a": b"1", "b": b"2"})
    assert digest({"b": b"2", "a": b"1"}) == first
    assert digest({"a": b"2", "b": b"1"}) != first
    assert digest({"a": b"1", "c": b"2"}) != first
