"""Data of one's own: each file and function that a person may bring is read or answered."""

import datetime
import gzip
import io
import os
import re
import sys
import zipfile

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from pandas.testing import assert_frame_equal
from scipy import sparse
from sklearn.datasets import load_wine

from rfbench import datasets
from rfbench.datasets import cache, columns, files, user_data
from rfbench.datasets.arff import read_arff
from rfbench.datasets.preparation import Preparation
from rfbench.errors import DataError, RfbenchError
from tests.support.nightly import NIGHTLY

N = 40


def frame(**more):
    number = np.arange(N)
    return pd.DataFrame(
        {
            "area": number + 0.5,
            "rooms": number % 5,
            "town": np.array(["Bonn", "Kiel", "Ulm"])[number % 3],
            "price": number * 1.25,
            **more,
        }
    )


def expected_table(table):
    """Return the features of a frame as they come back from an array."""
    return table.drop(columns="price").astype({"rooms": float})


@pytest.fixture
def put(home, tmp_path):
    """Write a file into the folder of the configuration; return what reads it."""
    folder = tmp_path / "mine"
    folder.mkdir()

    def read(content, name="prices.csv", **parameters):
        if isinstance(content, pd.DataFrame):
            content = content.to_csv(index=False)
        data = content if isinstance(content, bytes) else content.encode()
        (folder / name).write_bytes(data)
        return user_data.read_user_data("d", {"file": name, **parameters}, folder)

    read.folder = folder
    return read


def refused(read, *arguments, match, **parameters):
    with pytest.raises(DataError, match=match) as caught:
        read(*arguments, **parameters)
    assert len(str(caught.value)) < 600
    return caught.value


class TestColumns:
    def test_string_columns_are_kept_and_their_encoding_is_reported(self, put):
        entry, parsed, _ = put(frame(), target="price")
        assert_frame_equal(parsed.X, expected_table(frame()), check_dtype=False)
        assert_array_equal(parsed.y, frame()["price"])
        assert (entry.kind, entry.task, entry.rows, entry.columns) == ("own", "regression", N, 5)
        assert "town (3)" in entry.note
        assert entry.preparation == 2

    def test_all_numeric_columns_become_an_array(self, put):
        entry, parsed, _ = put(frame(yes=[True, False] * (N // 2)), target="price", drop="town")
        number = np.arange(N)
        assert_array_equal(parsed.X, np.column_stack([number + 0.5, number % 5, number % 2 == 0]))
        assert entry.preparation == 0

    def test_group_and_split_columns_are_not_features(self, put):
        table = frame(who=np.arange(N) // 4, part=["test", "train"] * (N // 2), day="x")
        entry, parsed, _ = put(
            table, target="price", groups="who", part="part", drop=["day", "town", 1]
        )
        order = np.r_[1:N:2, 0:N:2]
        assert_array_equal(parsed.X[:, 0], order + 0.5)
        assert parsed.X.shape == (N, 1)
        assert_array_equal(parsed.y, order * 1.25)
        assert_array_equal(parsed.groups, order // 4)
        assert parsed.n_given_train == entry.train_rows == N // 2

    @pytest.mark.parametrize("key", ["target", "drop", "groups", "part"])
    def test_wrong_column_name_suggests_the_nearest(self, put, key):
        parameters = {"target": "price", key: "aera"}
        refused(put, frame(), match=f"Did you mean 'area'.*`{key}`", **parameters)

    def test_constant_and_empty_columns_are_dropped_and_reported(self, put):
        table = frame(one=3, country="DE", nothing=None)
        entry, *_ = put(table, target="price")
        assert entry.columns == 5
        assert all(name in entry.note for name in ("one", "country", "nothing"))
        refused(put, frame()[["price"]].assign(a=1), target="price", match="constant")
        refused(put, frame()[["price"]].assign(a="x"), target="price", match="No column.*constant")

    @pytest.mark.parametrize(
        ("column", "note"),
        [
            ([f"2020-01-{1 + i % 28:02}" for i in range(N)], "Dates were replaced.*odd"),
            ([f"12:{i:02}" for i in range(N)], "Dates were replaced.*odd"),
            ([f"{i},5" for i in range(N)], ""),
            ([f"{i}" for i in range(N - 1)] + ["n/k"], r"other than numbers.*odd \(1\)"),
            (["inf", *range(N - 1)], r"other than numbers.*odd \(1\)"),
            ([f"w{i}" for i in range(N)], "identify the rows are left out: odd"),
            ([None, *range(N - 1)], r"Missing values.*odd \(1\)"),
        ],
    )
    def test_unusual_columns_are_accepted_and_reported(self, put, column, note):
        entry, *_ = put(frame(odd=column), target="price")
        assert re.search(note, entry.note)
        data = datasets.load(
            "d", parameters={"file": "prices.csv", "target": "price"}, folder=put.folder
        )
        prepared = datasets.prepare(data, split={"last": 10}, generator=np.random.default_rng(0))
        assert prepared.X_train.dtype == np.float64
        assert np.isfinite(prepared.X_train).all()
        assert np.isfinite(prepared.X_test).all()

    @pytest.mark.parametrize("name", ["id", "Unnamed: 0", "customerId"])
    def test_row_number_column_is_dropped_and_reported(self, put, name):
        entry, *_ = put(frame(**{name: np.arange(N) + 7}), target="price", drop="town")
        assert (entry.columns, entry.preparation) == (2, 2)
        assert name in entry.note

    @pytest.mark.parametrize(
        "day", [datetime.date(2020, 1, 2), pd.Timestamp("2020-01-02"), datetime.time(12)]
    )
    def test_dates_of_a_dataframe_are_encoded_as_dates(self, day):
        later = {"hour": 5} if isinstance(day, datetime.time) else {"day": 5}
        days = [day, *[day.replace(**later)] * (N - 1)]
        parsed = columns.parse_data("d", frame(day=days), None, target="price")
        assert Preparation().fit(parsed.X).kinds_["day"] == "date"

    def test_categories_that_look_like_numbers_remain_categories(self):
        table = frame(code=pd.Categorical(["1", "2", "3", "4"] * (N // 4)))
        parsed = columns.parse_data("d", table, None, target="price")
        assert Preparation().fit(parsed.X).kinds_["code"] == "words"

    def test_error_for_a_table_with_many_columns_lists_only_a_few(self):
        d = 40_000 if NIGHTLY else 1_000
        table = pd.DataFrame(np.random.default_rng(0).normal(size=(4, d)))
        parsed = columns.parse_data("d", table, pd.Series([0, 1, 0, 1]))
        assert parsed.X.shape == (4, d)
        refused(columns.parse_data, "d", table, None, target="y", match=f"{d - 8:,} more")


class TestTarget:
    def test_row_without_target_is_left_out(self, put):
        entry, parsed, _ = put(frame(price=[np.nan, *range(1, N)]), target="price")
        assert parsed.X.shape[0] == N - 1
        assert "1 rows are left out, because values are missing: the target (1)" in entry.note

    @pytest.mark.parametrize(
        ("values", "task"),
        [
            ([0.5 * i for i in range(N)], "regression"),
            (list(range(N)), "regression"),
            ([0, 1] * (N // 2), "binary"),
            ([-1.5, 2.5] * (N // 2), "binary"),
            (["no", "yes"] * (N // 2), "binary"),
            (["a", "b", "c", "d"] * (N // 4), "multiclass"),
            ([True, False] * (N // 2), "binary"),
        ],
    )
    def test_task_is_inferred_and_reported(self, put, values, task):
        entry, parsed, _ = put(frame(price=values), target="price")
        assert entry.task == task
        assert "by its target" in entry.note
        if task != "regression":
            labels = [entry.classes and list(entry.classes)[code] for code in parsed.y]
            assert labels == [format(v, "g") if type(v) in (int, float) else str(v) for v in values]
            assert sum(entry.classes.values()) == N

    @pytest.mark.parametrize(
        ("different", "rows", "task"),
        [
            (3, 40, "multiclass"),  # kinds of iris
            (5, 40, "multiclass"),
            (7, 400, "multiclass"),  # grades of wine
            (18, 400, "multiclass"),  # outcomes of chess
            (20, 100, "multiclass"),
            (20, 99, "regression"),  # fewer than five rows each
            (8, 30, "regression"),
            (21, 4000, "regression"),
            (28, 4000, "regression"),  # rings of abalones
        ],
    )
    def test_task_of_an_integer_target_follows_a_reported_rule(self, different, rows, task):
        y = pd.Series(np.arange(rows) % different * 3.0 - 6, name="grade")
        X = pd.DataFrame({"a": np.arange(rows) % 13})
        about = columns.parse_data("d", X, y).about
        taken, other = "classes", "regression for a quantity"
        if task == "regression":
            taken, other = "a quantity", "classification for classes"
        assert about["task"] == task
        assert about["note"].startswith(
            f"Target grade: {different} different whole numbers, read as {taken} (--task {other})."
        )

    def test_no_inference_is_reported_if_the_task_is_unambiguous(self):
        X = pd.DataFrame({"a": np.arange(120) % 13})
        for task in ("classification", "regression"):
            note = columns.parse_data("d", X, X["a"] % 5, task=task).about["note"]
            assert "read as" not in note
        for y in (X["a"] % 2, X["a"] % 5 / 2, pd.Series(range(120))):
            assert "read as" not in columns.parse_data("d", X, y).about["note"]

    @pytest.mark.parametrize(
        ("values", "task", "match"),
        [
            ([f"id{i}" for i in range(N)], None, "40 different labels"),
            (list(range(N)), "classification", "40 different labels"),
            (["a", "b"] * (N // 2), "regression", "contains strings"),
            ([7] * N, None, "constant"),
            (
                [*["a"] * 8, *range(N - 8)],
                None,
                "8 other strings, read as numbers.*`rfbench run` does not",
            ),
            (["1.2.2024", "2.2.2024"] * (N // 2), None, "dates.*`rfbench run` does not"),
        ],
    )
    def test_invalid_target_is_rejected(self, put, values, task, match):
        parameters = {"task": task} if task else {}
        refused(put, frame(price=values), target="price", match=match, **parameters)

    def test_target_with_too_many_distinct_labels_is_rejected(self):
        who = pd.Series([f"u{i % 20_000}" for i in range(60_000)])
        refused(columns.parse_data, "d", who.to_frame("x"), who, match="20,000 different labels")


class TestFiles:
    def csv(self, **options):
        return frame().to_csv(index=False, **options)

    def test_all_file_formats_give_the_same_table(self, put, tmp_path):
        _, expected, _ = put(frame(), target="price")
        packed = gzip.compress(self.csv().encode())
        for content, name, more in [
            (gzip.compress(self.csv(sep="\t").encode()), "p.tsv.gz", {}),
            (packed, "p.csv.gz", {}),
            (self.csv(sep=";"), "p.txt", {"separator": ";"}),
            (self.csv(sep=" "), "p.dat", {"separator": " "}),
            (self.csv(sep=";", decimal=","), "e.csv", {"separator": ";", "decimal": ","}),
            (self.csv(sep="\t").encode("utf-16-le"), "v.csv", {}),
            (gzip.compress(self.csv().encode("utf-16")), "w.csv.gz", {}),
            (self.csv().encode("cp037"), "x.csv", {"encoding": "cp037"}),
            ("\ufeff" + self.csv().replace("\n", "\r\n"), "bom.csv", {}),
            (self.csv(header=False), "bare.csv", {"header": False, "target": 3}),
            (self.csv(header=False), "bare2.csv", {"header": False, "target": -1}),
        ]:
            _, found, _ = put(content, name, **{"target": "price", **more})
            assert_array_equal(found.X, expected.X)
            assert_array_equal(found.y, expected.y)

    def test_array_files_are_read(self, put):
        X, y = np.arange(60.0).reshape(20, 3), np.arange(20) % 2
        stream = io.BytesIO()
        np.savez(stream, X=X, y=y)
        entry, parsed, _ = put(stream.getvalue(), "a.npz")
        assert_array_equal(parsed.X, X)
        assert (entry.task, list(entry.classes)) == ("binary", ["0", "1"])
        stream = io.BytesIO()
        np.save(stream, X)
        assert_array_equal(put(stream.getvalue(), "a.npy", target=0)[1].y, X[:, 0])

    @pytest.mark.parametrize("name", ["a.svm", "a.svmlight", "a.libsvm", "a"])
    def test_sparse_svmlight_data_stay_sparse(self, put, name):
        lines = "".join(f"{i % 2} {1 + i % 7}:{i + 1}.5 9:1\n" for i in range(20))
        entry, parsed, _ = put(lines, name)
        assert (entry.sparse, parsed.X.shape) == (True, (20, 9))
        assert isinstance(parsed.X, sparse.csr_array)
        assert_array_equal(parsed.X.toarray()[3, [3, 8]], [4.5, 1])
        entry, parsed, _ = put("1 1:1 2:2\n0 1:2 2:3\n" * 3, name)
        assert (entry.sparse, parsed.X.tolist()[:2]) == (False, [[1, 2], [2, 3]])

    def test_arff_file_is_read(self, put):
        head = "@relation x\n@attribute a numeric\n@attribute c {red,blue}\n@attribute y {0,1}\n"
        rows = "".join(f"{i},{'red' if i % 3 else 'blue'},{i % 2}\n" for i in range(9))
        entry, parsed, _ = put(f"{head}@data\n{rows}", "a.arff", target="y")
        number = np.arange(9)
        table = parsed.X
        assert_array_equal(table["a"], number)
        assert_array_equal(table["c"] == "red", number % 3 > 0)
        assert (entry.task, parsed.y.tolist()) == ("binary", (number % 2).tolist())

    def test_arff_attribute_without_values_is_read(self):
        head = "@relation x\n@attribute a {red,blue}\n@attribute b {red,blue}\n@data\n"
        table, _ = read_arff(head + "?,red\n?,?\n")
        assert table["a"].isna().all()
        assert table["b"].tolist()[0] == "red"
        assert table["b"].isna().tolist() == [False, True]

    @pytest.mark.parametrize("form", [
        {}, {"town": "category"}, {"rooms": "Int16", "area": "float32[pyarrow]"},
    ])  # fmt: skip
    def test_parquet_equals_csv(self, put, form):
        _, expected, _ = put(frame(), target="price")
        content = frame().astype(form).to_parquet()
        _, found, _ = put(content, "p.parquet", target="price")
        assert_array_equal(found.X, expected.X)
        assert_array_equal(found.y, expected.y)
        refused(put, content[:-9], "p.parquet", target="price", match="cannot be read")
        odd = frame(day=pd.Timestamp("2020-01-02"), area=pd.array([None, *range(1, N)], "Int64"))
        assert "odd" not in put(odd.to_parquet(), "p.pq", target="price")[0].note

    def test_missing_pyarrow_error_names_the_package_to_install(self, put, monkeypatch):
        monkeypatch.setitem(sys.modules, "pyarrow", None)
        monkeypatch.setitem(sys.modules, "fastparquet", None)
        refused(put, b"PAR1", "p.parquet", target="price", match="pyarrow")

    def test_target_option_is_rejected_if_the_file_has_a_separate_target(self, put):
        stream = io.BytesIO()
        np.savez(stream, X=np.arange(60.0).reshape(20, 3), y=np.arange(20) % 2)
        refused(
            put, "1 1:1 2:2\n0 1:2 2:3\n" * 3, "a.svm", target=0, match="have a separate target"
        )
        refused(put, stream.getvalue(), "a.npz", target="z", match="have a separate target")

    @pytest.mark.parametrize(
        ("content", "name", "match"),
        [
            ("", "a.csv", "is empty"),
            ("\n\n", "a.csv", "is empty"),
            ("x,b\n", "a.csv", "0 rows"),
            ("1,2\n3,4\n", "a.csv", "no column 'x'.*columns are 0, 1"),
            ("a,b\n1,2\n3,4,5\n", "a.csv", "line 3"),
            ("a,b\n1,2,3\n3,4,5\n", "a.csv", "cannot be read"),
            ("a, a\n1,2\n3,4\n", "a.csv", "two columns|no column"),
            (b"no gzip", "a.csv.gz", "cannot be read"),
            (b"no zip", "a.csv.zip", "cannot be read"),
            (b"no numpy", "a.npz", "cannot be read"),
            (b"no numpy", "a.npy", "cannot be read"),
            (b"\x93NUMPY\x01\x00v\x00{'descr': '<f8'", "a.npy", "cannot be read"),
            ("1 2:x\n", "a.svm", "cannot be read"),
            ("@relation x\n@attribute a relational\n@data\nq\n", "a.arff", "cannot be read"),
            ("@relation x\n@attribute a real\n@data\n{0 1}\n", "a.arff", "cannot be read"),
            ("@attribute a real\n@attribute x real\n@data\n1,", "a.arff", "cannot be read"),
        ],
    )
    def test_broken_file_gives_an_error_message(self, put, content, name, match):
        refused(put, content, name, target="x", match=match)

    def test_missing_file_suggests_the_nearest_name(self, put, tmp_path):
        put(frame(), target="price")
        with pytest.raises(DataError, match=r"Did you mean 'prices\.csv'"):
            files.find_data_file("price.csv", tmp_path / "mine")
        with pytest.raises(DataError, match="at this folder"):
            files.find_data_file("nothing.csv", None)
        with pytest.raises(DataError, match="mine is a folder"):
            files.find_data_file("mine", tmp_path)

    @given(st.binary(max_size=200), st.sampled_from(["a.csv", "a.svm", "a.arff", "a.npy", "a"]))
    @settings(
        max_examples=60 if NIGHTLY else 10, deadline=None, suppress_health_check=list(HealthCheck)
    )
    def test_arbitrary_bytes_are_read_or_raise_rfbench_error(self, put, content, name):
        try:
            _, parsed, _ = put(content, name, **({} if name == "a.svm" else {"target": 0}))
        except RfbenchError:
            return
        assert parsed.X.shape[0] == len(parsed.y)


class TestIdentity:
    def test_identity_of_user_data_is_the_content_not_the_path(self, put):
        *_, first = put(frame(), target="price")
        *_, moved = put(frame(), "other.csv", target="price")
        *_, changed = put(frame(area=np.arange(N) + 0.25), target="price")
        *_, otherwise = put(frame(), target="price", drop="town")
        text = frame().to_csv(index=False).encode()
        *_, packed = put(gzip.compress(text), "p.csv.gz", target="price")
        zipped = io.BytesIO()
        with zipfile.ZipFile(zipped, "w") as archive:
            archive.writestr("p.csv", text)
        *_, in_zip = put(zipped.getvalue(), "p.csv.zip", target="price")
        assert first == moved == packed == in_zip
        assert len({first, changed, otherwise}) == 3

    def test_same_bytes_in_another_format_are_different_data(self, put):
        content = "1 1:2 3:4\n0 2:1\n1 1:1\n0 3:1\n"
        svm = put(content, "a.svm")[2]
        assert user_data.hash_user_data({"file": "a.svm"}, put.folder) == svm
        with pytest.raises(DataError):
            put(content, "a.csv", target=0)

    def test_parsed_rows_are_cached(self, put, monkeypatch):
        first = put(frame(), target="price")
        monkeypatch.setattr(columns, "parse_data", None)  # would fail if it were called
        entry, parsed, sha256 = put(frame(), target="price")
        assert (entry, sha256) == (first[0], first[2])
        assert_array_equal(parsed.X, first[1].X)

    def test_file_change_that_keeps_size_and_modification_time_is_detected(self, put):
        put("a,y\n1,2\n3,4\n5,9\n", target="y")
        path = put.folder / "prices.csv"
        was = path.stat()
        path.write_text("a,y\n1,2\n7,4\n5,9\n")
        os.utime(path, ns=(was.st_atime_ns, was.st_mtime_ns))
        assert (
            user_data.read_user_data("d", {"file": "prices.csv", "target": "y"}, put.folder)[1].X[
                1, 0
            ]
            == 7
        )


MINE = """
import numpy as np
import pandas as pd
from sklearn.utils import Bunch

calls = []

def rows(n=20, kind="pair", seed=0):
    calls.append(n)
    X = np.random.default_rng(seed).normal(size=(n, 3))
    y = np.arange(n) % 2
    table = pd.DataFrame(X, columns=list("abc")).assign(y=y)
    return {"pair": (X, y), "frame": table, "bunch": Bunch(data=X, target=y),
            "column": (X, y[:, None]), "list": [1], "long": (X, y[:-1])}[kind]

def broken():
    raise SystemExit("no")
"""


class TestFunctions:
    @pytest.fixture
    def call(self, home, tmp_path):
        (tmp_path / "mine.py").write_text(MINE)

        def call(function="rows", **parameters):
            return user_data.read_user_data(
                "d", {"load": f"mine.py:{function}", **parameters}, tmp_path
            )

        return call

    @pytest.mark.parametrize(
        ("kind", "more"), [("pair", {}), ("bunch", {}), ("column", {}), ("frame", {"target": "y"})]
    )
    def test_each_allowed_return_type_is_accepted(self, call, kind, more):
        entry, parsed, sha256 = call(kind=kind, **more)
        assert_array_equal(parsed.X, np.random.default_rng(0).normal(size=(20, 3)))
        assert (entry.task, parsed.y.tolist(), len(sha256)) == ("binary", [0, 1] * 10, 64)

    def test_identity_of_function_data_is_their_rows_and_it_is_called_once(self, call, tmp_path):
        from rfbench import plugins

        first = call(n=22)[2]
        assert call(n=22)[2] == first != call(n=24)[2]
        function = plugins.load_object("mine.py:rows", tmp_path)
        assert function.__globals__["calls"].count(22) == 1

    @pytest.mark.parametrize(
        ("parameters", "match"),
        [
            ({"kind": "list"}, "returns list"),
            ({"kind": "long"}, "one target per row"),
            ({"wrong": 1}, "wrong"),
            ({"target": "y"}, "have a separate target"),
            ({"function": "broken"}, "SystemExit"),
            ({"function": "nothing"}, "cannot be imported"),
        ],
    )
    def test_invalid_return_value_is_rejected(self, call, parameters, match):
        with pytest.raises(RfbenchError, match=match):
            call(**parameters)


class TestFetchers:
    def test_scikit_learn_data_sets_are_available(self, home):
        entry, parsed, _ = user_data.read_user_data("d", {"sklearn": "wine"})
        assert_array_equal(parsed.X, load_wine().data)
        assert (entry.task, list(entry.classes)) == ("multiclass", list(load_wine().target_names))
        assert user_data.read_user_data("d", {"sklearn": "diabetes"})[0].task == "regression"
        with pytest.raises(DataError, match="Did you mean 'wine'"):
            user_data.read_user_data("d", {"sklearn": "wines"})

    def test_openml_data_are_cached_and_identified_by_their_rows(self, home, monkeypatch):
        asked = []

        def fetch(**words):
            asked.append(words)
            bunch = load_wine(as_frame=True)
            bunch.target = bunch.target.map(str).astype("category")
            return bunch

        monkeypatch.setattr("sklearn.datasets.fetch_openml", fetch)
        first = user_data.read_user_data("d", {"openml": 44136})
        again = user_data.read_user_data("d", {"openml": 44136})
        assert (first[0], first[2]) == (again[0], again[2])
        assert [words["data_id"] for words in asked] == [44136]
        assert asked[0]["data_home"] == str(cache.find_user_folder() / "sklearn")

    def test_error_without_a_network_has_advice(self, home, monkeypatch):
        def fetch(**words):
            raise OSError("no route to host")

        monkeypatch.setattr("sklearn.datasets.fetch_openml", fetch)
        with pytest.raises(DataError, match=r"no route.*once with a network.*file: PATH"):
            user_data.read_user_data("d", {"openml": 44136})
