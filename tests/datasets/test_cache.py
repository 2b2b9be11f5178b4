import hashlib
import json
import os
import shutil
import threading

import numpy as np
import pytest
from scipy import sparse

from rfbench.datasets import cache
from rfbench.datasets.archives import FoundFiles
from rfbench.datasets.readers import Parsed

DENSE = Parsed(
    np.arange(6, dtype=np.uint8).reshape(3, 2), np.array([0, 1, 1]), 2, np.array([4, 4, 5])
)
SPARSE = Parsed(sparse.csr_array(np.array([[0, 1.5], [0, 0], [2, 0]])), np.array([0.5, 1, 2]))


def same(found, parsed, dtype):
    X, Y = (
        each.X if isinstance(each.X, np.ndarray) else each.X.toarray() for each in (found, parsed)
    )
    assert found.X.dtype == dtype
    np.testing.assert_array_equal(X, Y)
    np.testing.assert_array_equal(found.y, parsed.y)
    assert found.y.dtype == parsed.y.dtype
    assert found.n_given_train == parsed.n_given_train
    assert (found.groups is None) == (parsed.groups is None)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("parsed", [DENSE, SPARSE], ids=["dense", "sparse"])
def test_what_is_stored_comes_back(tmp_path, parsed, dtype):
    folder = tmp_path / "deep" / "x"
    same(cache.store(folder, parsed, dtype), parsed, dtype)
    same(cache.load(folder), parsed, dtype)
    assert list(folder.parent.iterdir()) == [folder]


def test_dense_rows_come_back_as_a_read_only_map(tmp_path):
    X = cache.store(tmp_path / "x", DENSE, "float64").X
    assert isinstance(X.base, np.memmap)
    with pytest.raises(ValueError, match="read-only"):
        X[0, 0] = 1


def tear(path):
    path.write_bytes(path.read_bytes()[:-3])


def flip(path):
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(bytes(content))
    os.utime(path, ns=(1, 1))


def without(key):
    def damage(path):
        facts = json.loads(path.read_text())
        del facts[key]
        path.write_text(json.dumps(facts))

    return damage


def tear_header(path):
    path.write_bytes(path.read_bytes().replace(b"'shape': (", b"'shape': ((", 1))
    facts = path.with_name("facts.json")
    content = json.loads(facts.read_text())
    content["sha256"][path.name] = hashlib.sha256(path.read_bytes()).hexdigest()
    facts.write_text(json.dumps(content))
    os.utime(path, ns=(1, 1))


@pytest.mark.parametrize(
    ("parsed", "file", "damage"),
    [
        (DENSE, "X.npy", tear),
        (DENSE, "y.npy", tear),
        (DENSE, "groups.npy", os.remove),
        (DENSE, "X.npy", os.remove),
        (DENSE, "X.npy", lambda path: path.write_bytes(b"")),
        (DENSE, "facts.json", tear),
        (DENSE, "facts.json", lambda path: path.write_text("{}")),
        (DENSE, "facts.json", lambda path: path.write_text("[]")),
        (DENSE, "X.npy", flip),
        (DENSE, "y.npy", flip),
        (DENSE, "groups.npy", flip),
        (SPARSE, "data.npy", flip),
        (DENSE, "X.npy", tear_header),
        (DENSE, "y.npy", tear_header),
        (DENSE, "facts.json", without("n_given_train")),
        (DENSE, "facts.json", without("sha256")),
        (DENSE, "y.npy", lambda path: np.save(path, np.zeros(2))),
        (SPARSE, "indptr.npy", tear),
        (SPARSE, "indices.npy", lambda path: np.save(path, np.array([1, 9]))),
    ],
)
def test_a_torn_cache_is_not_used_and_made_anew(tmp_path, parsed, file, damage):
    folder = tmp_path / "x"
    cache.store(folder, parsed, "float64")
    damage(folder / file)
    assert cache.load(folder) is None
    same(cache.store(folder, parsed, "float64"), parsed, "float64")
    assert list(tmp_path.iterdir()) == [folder]


def test_a_place_that_cannot_be_written_is_passed_over(tmp_path, caplog):
    (tmp_path / "cache").write_text("a file in the way")
    assert cache.store(tmp_path / "cache" / "x", DENSE, "float64") is None
    cache.add_json(tmp_path / "cache" / "hashes.json", "a", "b")
    assert caplog.text.count("cannot be written") == 2


def test_a_disk_that_fills_up_leaves_nothing(tmp_path, monkeypatch):
    def full(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "save", full)
    assert cache.store(tmp_path / "x", DENSE, "float64") is None
    assert list(tmp_path.iterdir()) == []


def test_what_killed_writers_left_is_swept_when_it_is_old(tmp_path):
    old, new, others = tmp_path / f".x-{'0' * 32}", tmp_path / f".x-{'1' * 32}", tmp_path / ".mine"
    for folder in (old, new, others):
        folder.mkdir()
        (folder / "X.npy").write_bytes(b"half")
    for folder in (old, others):
        os.utime(folder, (0, 0))
    cache.store(tmp_path / "x", DENSE, "float64")
    assert {path.name for path in tmp_path.iterdir()} == {new.name, ".mine", "x"}


def test_checksums_are_compared_once(tmp_path, monkeypatch):
    cache.store(tmp_path / "x", DENSE, "float64")
    monkeypatch.setattr(cache, "_file_digest", lambda path: pytest.fail("was read again"))
    same(cache.load(tmp_path / "x"), DENSE, "float64")


def test_many_writers_at_once_leave_one_good_copy(tmp_path):
    folder, found = tmp_path / "x", []
    threads = [
        threading.Thread(target=lambda: found.append(cache.store(folder, DENSE, "float64")))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    for each in found:
        same(each, DENSE, "float64")
    assert list(tmp_path.iterdir()) == [folder]


def test_a_writer_that_is_too_late_takes_the_copy_that_is_there(tmp_path, monkeypatch):
    folder = tmp_path / "x"
    write = cache._write

    def other_first(stage, parsed, dtype):
        write(stage, parsed, dtype)
        if not folder.exists():
            shutil.copytree(stage, folder)

    monkeypatch.setattr(cache, "_write", other_first)
    same(cache.store(folder, DENSE, "float64"), DENSE, "float64")
    assert list(tmp_path.iterdir()) == [folder]


def test_a_hash_is_computed_once_while_the_file_stays_the_same(tmp_path, monkeypatch):
    path, memory = tmp_path / "a", tmp_path / "hashes.json"
    path.write_bytes(b"12")
    first = cache.content_sha256(FoundFiles((path,), "a"), memory)
    assert first == cache.file_sha256(path, memory)
    monkeypatch.setattr(FoundFiles, "read", lambda source: pytest.fail("was read again"))
    assert cache.content_sha256(FoundFiles((path,), "a"), memory) == first
    monkeypatch.undo()
    path.write_bytes(b"13")
    os.utime(path, ns=(1, 1))
    assert cache.content_sha256(FoundFiles((path,), "a"), memory) != first


def test_a_torn_memory_of_hashes_is_begun_anew(tmp_path):
    path, memory = tmp_path / "a", tmp_path / "hashes.json"
    path.write_bytes(b"12")
    memory.write_text('{"torn')
    cache.file_sha256(path, memory)
    assert len(json.loads(memory.read_text())) == 1


def test_the_hash_of_several_files_depends_on_names_and_contents(tmp_path):
    def digest(files):
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        folder.mkdir()
        for name, content in files.items():
            (folder / name).write_bytes(content)
        paths = tuple(sorted(folder.iterdir()))
        return cache.content_sha256(FoundFiles(paths, "*", len(paths)), tmp_path / "hashes.json")

    first = digest({"a": b"1", "b": b"2"})
    assert digest({"b": b"2", "a": b"1"}) == first
    assert digest({"a": b"2", "b": b"1"}) != first
    assert digest({"a": b"1", "c": b"2"}) != first
