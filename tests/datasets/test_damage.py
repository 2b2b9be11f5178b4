"""What is damaged, or somebody else's, is noticed: no other number, no traceback."""

import json

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from rfbench import datasets, memory
from rfbench.datasets import npy_folder, stored, user_data
from rfbench.datasets.columns import Parsed
from rfbench.errors import DataError
from tests.support.command_line import call
from tests.support.data_files import svmlight
from tests.support.nightly import at_night


class TestPacked:
    @pytest.fixture
    def folder(self, home, tmp_path):
        about = {"task": "binary", "classes": {"a": 2, "b": 2}, "note": ""}
        data = Parsed(np.arange(8.0).reshape(4, 2), np.array([0, 1, 0, 1]), 2, about=about)
        npy_folder.write_npy_folder(tmp_path / "p", data)
        entry, parsed, _ = user_data.read_user_data("d", {"path": str(tmp_path / "p")})
        assert (entry.train_rows, list(entry.classes)) == (2, ["a", "b"])
        assert_array_equal(parsed.X[:], data.X)
        return tmp_path / "p"

    @pytest.mark.parametrize("text", ["", "[]", '{"train_rows": "one"}', '{"about": []}'])
    def test_invalid_metadata_file_of_stored_arrays_is_rejected(self, folder, text):
        (folder / stored.FACTS_FILE).write_text(text)
        with pytest.raises(DataError, match="do not belong together"):
            user_data.read_user_data("d", {"path": str(folder)})

    @pytest.mark.parametrize(
        ("name", "array"),
        [
            ("y", np.array([0, 1, 0])),
            ("y", np.array(3)),
            ("X", np.ones(8)),
            ("X", np.ones((3, 2))),
            ("X", np.full((4, 2), "a")),
            ("X", np.array([[{}]] * 4)),  # nothing is unpickled
            ("groups", np.ones(3)),
        ],
    )
    def test_arrays_of_wrong_shape_or_type_are_rejected(self, folder, name, array):
        np.save(folder / f"{name}.npy", array)
        with pytest.raises(DataError, match="do not belong together"):
            user_data.read_user_data("d", {"path": str(folder)})

    @pytest.mark.parametrize("name", ["X.npy", "y.npy"])
    def test_truncated_or_missing_file_is_detected(self, folder, name):
        content = (folder / name).read_bytes()
        for other in (content[:-1], content[:40], b""):
            (folder / name).write_bytes(other)
            with pytest.raises(DataError, match="do not belong together"):
                datasets.load("d", parameters={"path": str(folder)})
        (folder / name).unlink()
        with pytest.raises(
            DataError, match="does not contain rows|do not belong together.*No such file"
        ):
            datasets.load("d", parameters={"path": str(folder)})

    @pytest.mark.parametrize("name", ["X.npy", "y.npy", stored.FACTS_FILE])
    def test_identity_of_stored_arrays_is_the_hash_of_their_content(self, folder, name):
        before = datasets.hash_data("d", {"path": str(folder)})
        moved = folder.rename(folder.with_name("elsewhere"))
        assert datasets.hash_data("e", {"path": str(moved)}) == before
        changed = (moved / name).read_bytes().replace(b'"note":', b'"note" :')
        changed = changed if name == stored.FACTS_FILE else changed[:-1] + b"\x01"
        (moved / name).write_bytes(changed)
        assert datasets.hash_data("d", {"path": str(moved)}) != before

    def test_existing_folder_is_not_overwritten(self, folder):
        with pytest.raises(OSError, match="not empty"):
            npy_folder.write_npy_folder(folder, Parsed(np.ones((2, 1)), np.ones(2)))
        assert [path.name for path in folder.parent.iterdir() if "p" in path.name] == ["p"]

    def test_task_without_metadata_is_inferred_from_target_or_configuration(self, folder):
        (folder / stored.FACTS_FILE).unlink()
        np.save(folder / "y.npy", np.array([3, 4, 3, 5]))
        assert user_data.read_user_data("d", {"path": str(folder)})[0].task == "regression"
        tasks = {"classification": ["3", "4", "5"], "regression": []}
        for task, classes in tasks.items():
            entry, parsed, _ = user_data.read_user_data("d", {"path": str(folder), "task": task})
            assert list(entry.classes) == classes
            assert parsed.y.tolist() == ([0, 1, 0, 2] if classes else [3, 4, 3, 5])
        assert len({datasets.hash_data("d", {"path": str(folder), "task": t}) for t in tasks}) == 2

    def test_missing_values_in_a_stored_target_are_rejected(self, folder):
        y = np.load(folder / "y.npy").astype(float)
        y[1] = np.nan
        np.save(folder / "y.npy", y)
        for facts in (True, False):
            if not facts:
                (folder / stored.FACTS_FILE).unlink()
            with pytest.raises(DataError, match="the target has missing or infinite values"):
                datasets.load("d", parameters={"path": str(folder)})

    @pytest.mark.parametrize("about", [{}, {"task": 5}, {"task": "regression", "files": 5}])
    def test_metadata_with_invalid_fields_are_rejected(self, folder, about):
        (folder / stored.FACTS_FILE).write_text(json.dumps({"about": about}))
        with pytest.raises(DataError, match="do not belong together"):
            user_data.read_user_data("d", {"path": str(folder)})

    def test_nonfinite_value_is_rejected_when_read(self, folder):
        np.save(folder / "X.npy", np.array([[1, 2], [3, np.nan], [5, 6], [7, 8]]))
        data = datasets.load("d", parameters={"path": str(folder)})
        with pytest.raises(DataError, match="NaN or infinite"):
            datasets.prepare(data, split="given", scaling="standard", generator=None)


class TestMemory:
    """A file that is small on disk and large in memory."""

    @pytest.mark.parametrize("name", ["zeros.csv.gz", *at_night("zeros.svm")])
    def test_reading_stored_arrays_stays_within_the_memory_limit(self, home, name, monkeypatch):
        n, d = 30_000, 100
        X = np.zeros((n, d))
        if name == "zeros.svm":
            pairs = " ".join(f"{column + 1}:0" for column in range(d))
            (home.parent / name).write_text(f"1 {pairs}\n" * n)
        else:
            pd.DataFrame(X, dtype=int).to_csv(name, index=False)
        monkeypatch.setattr("rfbench.memory.count_free_bytes", lambda: 2e7)
        with pytest.raises(DataError, match=r"does not fit into memory.*path: FOLDER"):
            user_data.read_user_data(
                "d", {"file": name} if name == "zeros.svm" else {"file": name, "target": 0}
            )
        with memory.limit_memory_to_free(), pytest.raises(MemoryError):
            np.ones(10**7)
        assert np.ones(10**7).size == 10**7  # the limit is gone again

    def test_run_uses_the_memory_limit_of_its_option(self, home, monkeypatch):
        file = home.parent / "own.svm"
        file.write_bytes(svmlight(np.ones((9, 2)), ["0", "1", "1"] * 3))
        allowed, within_limit = [], user_data.limit_memory_to_free

        def spy():
            allowed.append(memory.count_free_bytes())
            return within_limit()

        monkeypatch.setattr(user_data, "limit_memory_to_free", spy)
        data = f"dataset={{file: {file}}}"
        call("run", "quickstart", "--set", data, "--memory", "0.5", "--dry-run", code=2)  # constant
        assert 0 <= allowed[0] < 0.5 * memory.GIB
