"""Packing a file of any size: the rows are those of the file as data of one's own."""

import gzip
import io
import zipfile

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from rfbench import datasets
from rfbench.datasets import files, own, packed
from rfbench.datasets.columns import Parsed
from rfbench.datasets.pack import pack
from rfbench.errors import DataError
from rfbench.rows import RowSource
from tests.support.command_line import call

N = 57
NUMBER = np.arange(N)
PIECES = {"rows": 10}


def frame(**more):
    return pd.DataFrame(
        {
            "area": np.sin(NUMBER),
            "town": np.array(["Ulm", "Kiel", "Bonn", "Aue"])[np.minimum(NUMBER // 12, 3)],
            "one": 7,
            "sex": np.where(NUMBER < 30, "m", "f"),
            "rooms": NUMBER % 5,
            "price": NUMBER * 1.25,
            **more,
        }
    )


def written(table, path):
    """Write a table in the format that the name says."""
    if path.suffix == ".parquet":
        table.to_parquet(path)
    elif path.suffix == ".npy":
        np.save(path, table.select_dtypes("number").to_numpy(float))
    elif ".svm" in path.suffixes:
        lines = (
            f"{y} " + " ".join(f"{j + 1}:{x!r}" for j, x in enumerate(row))
            for y, *row in table[["price", "area", "rooms"]].to_numpy(float).tolist()
        )
        compressed(path, "\n".join(lines))
    else:
        compressed(path, table.to_csv(index=False, sep="\t" if ".tsv" in path.suffixes else ","))
    return path


def compressed(path, text):
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    elif path.suffix == ".zip":
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w") as archive:
            archive.writestr(path.stem, text)
        path.write_bytes(stream.getvalue())
    else:
        path.write_bytes(text.encode())


def same(file, folder, **shaping):
    """Hold the packed rows against those of the file; return the former."""
    entry, parsed, _ = own.read("d", {"file": str(file), **shaping})
    found, rows, _ = own.read("d", {"path": str(folder)})
    assert isinstance(rows.X, RowSource)
    assert_array_equal(rows.X[:], parsed.X)
    assert_array_equal(rows.y, parsed.y)
    assert rows.n_given_train == parsed.n_given_train
    assert (rows.groups is None) == (parsed.groups is None)
    if parsed.groups is not None:
        assert_array_equal(rows.groups, parsed.groups)
    assert found.model_dump(exclude={"note"}) == entry.model_dump(exclude={"note"})
    return rows


@pytest.mark.parametrize(
    "name",
    [*("a.csv", "a.csv.gz", "a.csv.zip", "a.tsv", "a.parquet", "a.npy"),
     *("a.svm", "a.svm.gz", "a.svm.zip")],
)  # fmt: skip
def test_packed_rows_are_those_of_the_file(home, tmp_path, name):
    file = written(frame(), tmp_path / name)
    target = {"a.npy": {"target": -1}}.get(name, {} if "svm" in name else {"target": "price"})
    pack(file, tmp_path / "packed", **target, **PIECES)
    same(file, tmp_path / "packed", **target)


def test_labels_groups_and_a_given_split_are_those_of_the_file(home, tmp_path):
    part = np.where(NUMBER % 3 == 0, "test", "train")
    label = np.array(["no", "yes", "perhaps"])[NUMBER % 3]
    file = written(frame(part=part, label=label, who=NUMBER // 4), tmp_path / "a.csv")
    shaping = {"target": "label", "part": "part", "groups": "who", "drop": ["price", 1]}
    pack(file, tmp_path / "packed", **shaping, **PIECES)
    assert same(file, tmp_path / "packed", **shaping).n_given_train == (part == "train").sum()


@pytest.mark.parametrize("name", ["t.csv", "t.npy", "t.parquet", "t.svm"])
def test_pieces_of_wide_rows_are_shorter(tmp_path, monkeypatch, name):
    file = tmp_path / name
    written(frame(), file)
    monkeypatch.setattr(files, "PIECE_BYTES", 300)
    lengths = [X.shape[0] for X, _ in files.pieces(file)]
    assert sum(lengths) == N
    assert max(lengths) < 20


def test_rows_with_gaps_are_left_out_if_asked(home, tmp_path):
    table = frame()
    table.loc[[3, 40], "area"] = np.nan
    table.loc[12, "town"] = None
    table.loc[30:39, "rooms"] = np.nan  # a whole piece
    file = written(table, tmp_path / "a.csv")
    with pytest.raises(DataError, match=r"rows 1 to 10.*missing"):
        pack(file, tmp_path / "packed", target="price", missing="error", **PIECES)
    pack(file, tmp_path / "gaps", target="price", **PIECES)
    same(file, tmp_path / "gaps", target="price")
    pack(file, tmp_path / "packed", target="price", missing="drop", **PIECES)
    same(file, tmp_path / "packed", target="price", missing="drop")


@pytest.mark.parametrize("rows", [10, 100])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_packed_table_is_prepared_like_that_of_the_file(home, tmp_path, rows, dtype):
    day = [f"2020-01-{1 + i % 28:02}" for i in range(N)]
    odd = [*range(N - 1), "n/k"] if rows > N else NUMBER
    table = frame(day=day, odd=odd, id=NUMBER, name=[f"w{i}" for i in range(N)])
    table.loc[3, "area"] = np.nan
    table["area"] = table["area"].astype(np.float32)
    file = written(table, tmp_path / "a.csv")
    pack(file, tmp_path / "packed", target="price", rows=rows, dtype=dtype)
    of_file, of_folder = (
        datasets.prepare(
            datasets.load("d", parameters=parameters),
            split={"test_size": 0.3},
            scaling="standard",
            generator=np.random.default_rng(0),
        )
        for parameters in (
            {"file": str(file), "target": "price"},
            {"path": str(tmp_path / "packed")},
        )
    )
    assert isinstance(of_folder.X_train, RowSource)
    tolerance = {"rtol": 0, "atol": 0} if dtype == "float64" else {"rtol": 1e-4, "atol": 1e-4}
    assert_allclose(of_folder.X_train[:], of_file.X_train, **tolerance)
    assert_allclose(of_folder.X_test[:], of_file.X_test, **tolerance)
    held = datasets.prepare(
        datasets.load("d", parameters={"path": str(tmp_path / "packed")}),
        split={"test_size": 0.3},
        generator=np.random.default_rng(0),
        rows=20,
    )
    assert held.X_train.shape[0] == 20


def test_a_column_that_changes_between_pieces_is_refused(home, tmp_path):
    file = written(frame(odd=[*range(N - 1), "n/k"]), tmp_path / "a.csv")
    with pytest.raises(DataError, match="'odd' of a.csv holds numbers first and words later"):
        pack(file, tmp_path / "packed", target="price", **PIECES)
    assert [path.name for path in tmp_path.iterdir() if "packed" in path.name] == []


def test_sparse_rows_are_refused(home, tmp_path):
    file = tmp_path / "a.svm"
    file.write_text("".join(f"{i % 2} {i + 1}:1\n" for i in range(20)))
    with pytest.raises(DataError, match="sparse"):
        pack(file, tmp_path / "packed")


def test_interrupted_packing_leaves_nothing(home, tmp_path):
    def blocks():
        yield np.ones((5, 2))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        packed.write(tmp_path / "packed", Parsed(blocks(), np.ones(9)))
    assert list(tmp_path.iterdir()) == [home]
    with pytest.raises(DataError, match=r"facts\.json"):
        own.read("d", {"path": str(tmp_path / "packed")})


class TestPacked:
    @pytest.fixture
    def folder(self, home, tmp_path):
        about = {"task": "regression", "classes": {}, "note": ""}
        data = Parsed(iter([np.arange(12.0).reshape(6, 2)]), np.arange(6.0), about=about)
        packed.write(tmp_path / "packed", data)
        return tmp_path / "packed"

    @pytest.mark.parametrize("name", ["X.npy", "y.npy"])
    def test_a_torn_or_missing_file_is_found(self, folder, name):
        datasets.load("d", parameters={"path": str(folder)})
        content = (folder / name).read_bytes()
        for other in (content[:-1], content[:40], b""):
            (folder / name).write_bytes(other)
            with pytest.raises(DataError, match="do not fit together"):
                datasets.load("d", parameters={"path": str(folder)})
        (folder / name).unlink()
        with pytest.raises(DataError, match="do not fit together.*No such file"):
            datasets.load("d", parameters={"path": str(folder)})

    @pytest.mark.parametrize("name", ["X.npy", "y.npy", packed.FACTS])
    def test_the_identity_is_that_of_the_content(self, folder, name):
        before = datasets.data_sha256("d", {"path": str(folder)})
        moved = folder.rename(folder.with_name("elsewhere"))
        assert datasets.data_sha256("e", {"path": str(moved)}) == before
        changed = (moved / name).read_bytes().replace(b'"note": ""', b'"note": "other"')
        changed = changed if name == packed.FACTS else changed[:-1] + b"\x01"
        (moved / name).write_bytes(changed)
        assert datasets.data_sha256("d", {"path": str(moved)}) != before

    def test_nothing_is_unpickled(self, folder):
        np.save(folder / "X.npy", np.array([[{}]] * 6), allow_pickle=True)
        with pytest.raises(DataError, match="do not fit together"):
            datasets.load("d", parameters={"path": str(folder)})

    def test_a_folder_is_not_written_over(self, folder, tmp_path):
        before = (folder / packed.FACTS).read_bytes()
        with pytest.raises(DataError, match="there already"):
            pack(written(frame(), tmp_path / "a.csv"), folder, target="price")
        with pytest.raises(OSError, match="not empty"):
            packed.write(folder, Parsed(np.ones((2, 1)), np.ones(2)))
        assert (folder / packed.FACTS).read_bytes() == before

    def test_what_float32_cannot_hold_is_refused(self, tmp_path):
        data = Parsed(iter([np.full((2, 1), 1e300)]), np.ones(2))
        with pytest.raises(DataError, match="float32"):
            packed.write(tmp_path / "p", data, dtype="float32")


def test_the_command_says_what_it_made_of_the_file(home, tmp_path):
    file = written(frame(), tmp_path / "a.csv")
    words = ["data", "pack", file, tmp_path / "packed", "--target", "price"]
    output = call(*words, "--drop", "sex", "--dtype", "float32")
    assert f"{N} rows" in output
    assert "town (4)" in output
    assert np.load(tmp_path / "packed" / "X.npy").dtype == np.float32
    call(*words, code=2)
