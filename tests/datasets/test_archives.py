import bz2
import gzip

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rfbench.datasets import archives
from rfbench.datasets.archives import FoundFiles
from rfbench.errors import DataError
from tests.support.data_files import zipped
from tests.support.nightly import NIGHTLY


def put(folder, name, content):
    path = folder / name
    path.write_bytes(content)
    return (path,)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.txt", b"12"),
        ("a.txt.gz", gzip.compress(b"12")),
        ("a.txt.bz2", bz2.compress(b"12")),
        ("x.zip", zipped([("in/a.txt", b"12"), ("b.txt", b"no"), ("__MACOSX/in/._a.txt", b"no")])),
        ("x.zip", zipped([("y.zip", zipped([("in/a.txt", b"12")]))])),
        ("x.zip", zipped([("__MACOSX/._c.zip", b"no"), ("c.zip", zipped([("a.txt", b"12")]))])),
        ("x.zip", zipped([("../../a.txt", b"12")])),
    ],
)
def test_data_file_is_read_plain_compressed_or_from_an_archive(tmp_path, name, content):
    source = FoundFiles(put(tmp_path, name, content), "a.txt")
    assert source.read() == {"a.txt": b"12"}
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_pattern_with_folders_distinguishes_members_with_equal_names(tmp_path):
    content = zipped([("UCI/train/X.txt", b"1"), ("UCI/test/X.txt", b"2")])
    paths = put(tmp_path, "x.zip", content)
    assert FoundFiles(paths, "test/X.txt").read() == {"X.txt": b"2"}


def test_members_of_a_pattern_are_sorted_by_name(tmp_path):
    content = zipped([("t-2.csv", b"2"), ("t-1.csv", b"1"), ("train.csv", b"0")])
    found = FoundFiles(put(tmp_path, "x.zip", content), "t-*.csv", 2).read()
    assert list(found.items()) == [("t-1.csv", b"1"), ("t-2.csv", b"2")]


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("x.zip", zipped([("one/a.txt", b"1"), ("two/a.txt", b"2")]), "contains 2 files"),
        ("x.zip", zipped([("b.txt", b"12")]), "contains 0 files"),
        ("x.zip", zipped([("a.txt", b"12")])[:-30], "cannot be read"),
        ("x.zip", b"", "cannot be read"),
        ("a.txt.gz", gzip.compress(b"12")[:-5], "cannot be read"),
        ("a.txt.gz", b"12", "cannot be read"),
        ("a.txt.bz2", bz2.compress(b"12")[:-5], "cannot be read"),
    ],
)
def test_broken_archive_or_missing_member_is_rejected(tmp_path, name, content, reason):
    source = FoundFiles(put(tmp_path, name, content), "a.txt")
    with pytest.raises(DataError) as caught:
        source.read()
    assert reason in str(caught.value)
    assert name in str(caught.value)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("x.zip", zipped([("a.txt", bytes(1001))])),
        ("a.txt.gz", gzip.compress(bytes(1001))),
        ("a.txt", bytes(1001)),
    ],
)
def test_member_above_the_size_limit_is_rejected(tmp_path, monkeypatch, name, content):
    source = FoundFiles(put(tmp_path, name, content), "a.txt")
    monkeypatch.setattr(archives, "MAX_MEMBER_BYTES", 1001)
    assert len(source.read()["a.txt"]) == 1001
    monkeypatch.setattr(archives, "MAX_MEMBER_BYTES", 1000)
    with pytest.raises(DataError, match="more than 1,000 bytes"):
        source.read()


@pytest.mark.parametrize("name", ["x.zip", "a.txt.gz", "a.txt.bz2"])
@given(data=st.data())
@settings(
    max_examples=60 if NIGHTLY else 10,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_corrupted_archive_is_read_or_rejected_with_data_error(tmp_path, name, data):
    whole = {
        "x.zip": zipped([("a.txt", b"12" * 50)]),
        "a.txt.gz": gzip.compress(b"12" * 50),
        "a.txt.bz2": bz2.compress(b"12" * 50),
    }[name]
    at = data.draw(st.integers(0, len(whole)))
    removed = data.draw(st.integers(0, 5))
    content = whole[:at] + data.draw(st.binary(max_size=5)) + whole[at + removed :]
    try:
        found = FoundFiles(put(tmp_path, name, content), "a.txt").read()
    except DataError:
        return
    assert list(found) == ["a.txt"]
