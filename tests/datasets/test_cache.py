import json
import os
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
    np.testing.assert_array_equal(found.groups, parsed.groups)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    ("parsed", "files"), [(DENSE, ["x.npy", "x.npz"]), (SPARSE, ["x.npz"])], ids=["dense", "sparse"]
)
def test_what_is_stored_comes_back(tmp_path, parsed, files, dtype):
    place = tmp_path / "deep" / "x"
    same(cache.store(place, parsed, dtype), parsed, dtype)
    same(cache.load(place), parsed, dtype)
    assert names(place.parent) == files


def test_dense_rows_come_back_as_a_read_only_map(tmp_path):
    X = cache.store(tmp_path / "x", DENSE, "float64").X
    assert isinstance(X.base, np.memmap)
    with pytest.raises(ValueError, match="read-only"):
        X[0, 0] = 1


def tear(path):
    path.write_bytes(path.read_bytes()[:-3])


def flip(word):
    """Change the last byte before which a word stands."""

    def damage(path):
        content = bytearray(path.read_bytes())
        content[len(content) - 1 if word is None else content.index(word) + 160] ^= 1
        path.write_bytes(bytes(content))

    return damage


def with_changed(name, change):
    """Write the file anew, and right, with another content of one array; None: without it."""

    def damage(path):
        with np.load(path) as kept:
            arrays = {key: kept[key] for key in kept}
        if name == "facts":
            facts = json.loads(str(arrays["facts"]))
            arrays["facts"] = np.array(json.dumps(change(facts)))
        else:
            arrays[name] = change
        np.savez(path, **{key: array for key, array in arrays.items() if array is not None})

    return damage


def without(key):
    return with_changed("facts", lambda facts: {k: v for k, v in facts.items() if k != key})


@pytest.mark.parametrize(
    ("parsed", "file", "damage"),
    [
        (DENSE, "x.npy", tear),
        (DENSE, "x.npy", os.remove),
        (DENSE, "x.npy", lambda path: path.write_bytes(b"")),
        (DENSE, "x.npy", flip(None)),
        (DENSE, "x.npz", tear),
        (DENSE, "x.npz", lambda path: path.write_bytes(b"")),
        (DENSE, "x.npz", lambda path: path.write_bytes(b"[]")),
        (DENSE, "x.npz", flip(b"y.npy")),
        (DENSE, "x.npz", flip(b"groups.npy")),
        (SPARSE, "x.npz", flip(b"data.npy")),
        (DENSE, "x.npz", without("n_given_train")),
        (DENSE, "x.npz", without("shape")),
        (DENSE, "x.npz", without("sha256")),
        (DENSE, "x.npz", with_changed("y", np.zeros(2))),
        (DENSE, "x.npz", with_changed("y", None)),
        (SPARSE, "x.npz", with_changed("indices", np.array([1, 9]))),
        (SPARSE, "x.npz", with_changed("data", np.array([1, "a"], dtype=object))),
    ],
)
def test_a_torn_cache_is_not_used_and_made_anew(tmp_path, parsed, file, damage):
    place = tmp_path / "x"
    cache.store(place, parsed, "float64")
    left = names(tmp_path)
    damage(tmp_path / file)
    assert cache.load(place) is None
    same(cache.store(place, parsed, "float64"), parsed, "float64")
    assert names(tmp_path) == left


def test_a_place_that_cannot_be_written_is_passed_over(tmp_path, caplog):
    (tmp_path / "cache").write_text("a file in the way")
    assert cache.store(tmp_path / "cache" / "x", DENSE, "float64") is None
    cache.add_json(tmp_path / "cache" / "hashes.json", "a", "b")
    assert caplog.text.count("cannot be written") == 2


def test_a_disk_that_fills_up_leaves_nothing_that_is_read(tmp_path, monkeypatch):
    def full(*arguments, **arrays):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez", full)
    assert cache.store(tmp_path / "x", DENSE, "float64") is None
    assert cache.load(tmp_path / "x") is None
    assert cache.store(tmp_path / "y", SPARSE, "float64") is None
    assert names(tmp_path) == ["x.npy"]


def test_what_killed_writers_left_is_swept_when_it_is_old(tmp_path):
    old, new, others = tmp_path / f".x-{'0' * 32}", tmp_path / f".x-{'1' * 32}", tmp_path / ".m-1"
    for path in (old, new, others):
        path.write_bytes(b"half")
    for path in (old, others):
        os.utime(path, (0, 0))
    cache.store(tmp_path / "x", SPARSE, "float64")
    assert set(names(tmp_path)) == {new.name, ".m-1", "x.npz"}


def test_checksums_are_compared_once(tmp_path, monkeypatch):
    cache.store(tmp_path / "x", DENSE, "float64")
    monkeypatch.setattr(cache, "sha256_of", lambda path: pytest.fail("was read again"))
    same(cache.load(tmp_path / "x"), DENSE, "float64")


def test_many_writers_at_once_leave_one_good_copy(tmp_path):
    place, found = tmp_path / "x", []
    threads = [
        threading.Thread(target=lambda: found.append(cache.store(place, DENSE, "float64")))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for each in [*found, cache.load(place)]:
        same(each, DENSE, "float64")
    assert len(found) == 8
    assert names(tmp_path) == ["x.npy", "x.npz"]


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
