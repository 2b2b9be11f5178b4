"""What is damaged, or somebody else's, is noticed: no other number, no traceback."""

import json
import shutil

import numpy as np
import pandas as pd
import pytest

from rfbench import datasets, memory
from rfbench.datasets import hashes, own, packed
from rfbench.datasets.columns import Parsed
from rfbench.errors import DataError
from tests.support.command_line import call
from tests.support.data_files import LETTERS, letters, sha256, svmlight
from tests.support.nightly import at_night

UNPINNED = letters()
OWN = {"file": "own.csv", "target": "y"}


@pytest.fixture
def data(home, catalogue):
    """A data set of the catalogue with its cache, beside a file of one's own with its cache."""
    (home / "letters").mkdir()
    (home / "letters" / "letters.data").write_bytes(LETTERS)
    catalogue(letters(member=sha256(LETTERS)))
    table = pd.DataFrame({"a": np.arange(12) / 7, "b": list("uvw") * 4, "y": np.arange(12) % 2})
    table.to_csv(home.parent / "own.csv", index=False)
    rows()
    return home


def rows():
    """Load everything; what is told apart is each data set's hash with its numbers."""
    found = []
    for name, parameters in (("letters", None), ("own", OWN)):
        data = datasets.load(name, parameters=parameters)
        found.append((data.sha256, np.asarray(data.X).tolist(), data.y.tolist(), data.classes))
    return found


class TestAStrangersCache:
    """A clone with the right source and a cache of reversed rows."""

    @staticmethod
    def reverse(cache):
        np.save(cache / "X.npy", np.load(cache / "X.npy")[::-1])

    @pytest.mark.parametrize(("place", "user"), [("there", "same"), ("cloned", "new")])
    def test_its_rows_are_never_measured(self, data, tmp_path, monkeypatch, user, place):
        before = rows()
        for cache in (data / "cache").iterdir():
            self.reverse(cache)
        if place == "cloned":
            shutil.copytree(data, tmp_path / "clone" / "data")
            shutil.copy(tmp_path / "own.csv", tmp_path / "clone")
            monkeypatch.chdir(tmp_path / "clone")
        if user == "new":
            monkeypatch.setenv("RFBENCH_CACHE", str(tmp_path / "somebody"))
        assert rows() == before
        assert rows() == before  # and from the cache that was written in its place

    def test_a_right_one_of_somebody_else_is_kept(self, data, tmp_path, monkeypatch):
        before, files = rows(), sorted((data / "cache").rglob("*"))
        states = [path.stat().st_mtime_ns for path in files if path.is_file()]
        monkeypatch.setenv("RFBENCH_CACHE", str(tmp_path / "somebody"))
        assert rows() == before
        assert states == [path.stat().st_mtime_ns for path in files if path.is_file()]

    def test_where_the_data_folder_is_read_only_the_users_own_is_taken(self, data, monkeypatch):
        monkeypatch.setattr(packed.os, "access", lambda path, mode: False)
        assert packed.cache_folder() == hashes.user_folder() / "cache"


class TestPins:
    @pytest.mark.parametrize("content", ['{"torn', "[]", '{"a": 1}', '{"a": "short"}', "\xff"])
    def test_a_broken_file_of_pins_is_an_error(self, data, catalogue, content):
        catalogue(UNPINNED)
        (data / "pins.json").write_text(content, encoding="latin-1")
        with pytest.raises(DataError, match=r"pins\.json cannot be read"):
            datasets.load("letters")


ABOUT = {"task": "binary", "classes": {"a": 2, "b": 2}, "note": ""}


class TestPacked:
    @pytest.fixture
    def folder(self, home, tmp_path):
        data = Parsed(np.arange(8.0).reshape(4, 2), np.array([0, 1, 0, 1]), about=ABOUT)
        packed.write(tmp_path / "p", data)
        own.read("d", {"path": str(tmp_path / "p")})
        return tmp_path / "p"

    @pytest.mark.parametrize(
        "change",
        [
            {"train_rows": "1"},
            {"about": []},
            {"about": None},
            {"table": {"names": ["a"]}},
            {"more": 1},
        ],
    )
    def test_facts_of_other_types_are_refused(self, folder, change):
        facts = json.loads((folder / packed.FACTS).read_text())
        (folder / packed.FACTS).write_text(json.dumps({**facts, **change}))
        with pytest.raises(DataError, match="holds no packed|do not fit"):
            own.read("d", {"path": str(folder)})

    @pytest.mark.parametrize("text", ["", "[]", "{", '{"version": 2}'])
    def test_facts_that_are_none_are_refused(self, folder, text):
        (folder / packed.FACTS).write_text(text)
        with pytest.raises(DataError, match=r"holds no packed data\. facts\.json cannot be read"):
            own.read("d", {"path": str(folder)})

    @pytest.mark.parametrize(
        ("name", "array"),
        [
            ("y", np.array([0, 1, 0])),
            ("y", np.array(3)),
            ("X", np.ones(8)),
            ("X", np.ones((3, 2))),
            ("X", np.full((4, 2), "a")),
        ],
    )
    def test_arrays_that_do_not_fit_are_refused(self, folder, name, array):
        np.save(folder / f"{name}.npy", array)
        with pytest.raises(DataError, match="do not fit together"):
            own.read("d", {"path": str(folder)})

    @pytest.mark.parametrize("rows", ["rows", "rows-00000"])
    def test_one_of_an_earlier_version_is_refused_with_what_makes_it_anew(self, tmp_path, rows):
        np.save(tmp_path / f"{rows}.npy", np.ones((3, 2)))
        (tmp_path / "packed.json").write_text('{"version": 2}')
        with pytest.raises(DataError, match="earlier version.*`rfbench data pack FILE NEW_FOLDER"):
            own.read("d", {"path": str(tmp_path)})

    def test_a_cache_of_an_earlier_version_is_passed_over(self, data):
        before = rows()
        for cache in (data / "cache").iterdir():
            (cache / packed.FACTS).rename(cache / "packed.json")
        assert rows() == before


class TestMemory:
    """A file that is small on disk and large in memory."""

    @pytest.mark.parametrize("name", ["zeros.csv.gz", *at_night("zeros.svm")])
    def test_reading_stays_within_what_is_allowed(self, home, name, monkeypatch):
        n, d = 30_000, 100
        X = np.zeros((n, d))
        if name == "zeros.svm":
            pairs = " ".join(f"{column + 1}:0" for column in range(d))
            (home.parent / name).write_text(f"1 {pairs}\n" * n)
        else:
            pd.DataFrame(X, dtype=int).to_csv(name, index=False)
        monkeypatch.setattr("rfbench.memory.free_bytes", lambda: 2e7)
        with pytest.raises(DataError, match=r"does not fit into memory.*data pack FILE FOLDER"):
            own.read("d", {"file": name} if name == "zeros.svm" else {"file": name, "target": 0})
        with memory.within_limit(), pytest.raises(MemoryError):
            np.ones(10**7)
        assert np.ones(10**7).size == 10**7  # the limit is gone again

    def test_a_run_allows_what_its_option_says(self, home, monkeypatch):
        file = home.parent / "own.svm"
        file.write_bytes(svmlight(np.ones((9, 2)), ["0", "1", "1"] * 3))
        allowed, within_limit = [], own.within_limit

        def spy():
            allowed.append(memory.free_bytes())
            return within_limit()

        monkeypatch.setattr(own, "within_limit", spy)
        data = f"dataset={{file: {file}}}"
        call("run", "quickstart", "--set", data, "--memory", "0.5", "--dry-run", code=2)  # constant
        assert 0 <= allowed[0] < 0.5 * memory.GIB
