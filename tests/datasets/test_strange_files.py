"""Files of strangers: each is taken at the first command, and the next month's file as well."""

import json
import sys
from dataclasses import asdict

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from rfbench import datasets
from rfbench.datasets import files
from rfbench.datasets.preparation import Preparation
from rfbench.errors import DataError
from tests.support.command_line import call
from tests.support.strange_files import WRITTEN, N, rooms


def prepared(path, **more):
    """Return the training and test rows that a trial with this file has."""
    data = datasets.load("d", parameters={"file": str(path), "target": "price", **more})
    return datasets.prepare(
        data, split={"last": 15}, scaling="standard", generator=np.random.default_rng(0)
    )


@pytest.mark.parametrize(("options", "encoding"), WRITTEN.values(), ids=WRITTEN)
def test_all_file_layouts_give_the_same_rows(home, tmp_path, options, encoding):
    table = rooms()
    (tmp_path / "plain.csv").write_bytes(table.to_csv().encode())
    (tmp_path / "other.csv").write_bytes(table.to_csv(**options).encode(encoding))
    expected, other = (prepared(tmp_path / name) for name in ("plain.csv", "other.csv"))
    assert_array_equal(other.X_train, expected.X_train)
    assert_array_equal(other.X_test, expected.X_test)
    assert_array_equal(other.y_train, expected.y_train)
    assert expected.X_train.shape == (45, 10)  # area 2, sold 3, town 4, heated 1


@pytest.mark.parametrize(
    ("text", "separator", "decimal"),
    [
        ("a,b\nx;y,2\nz;w,3\n", ",", "."),
        ("1,5;2,5;3,5\n1,5;2,5;3,5\n", ";", ","),
        ('a,b\n"1,5","2,25"\n', ",", ","),
        ('a,b\n"1,234",2\n', ",", "."),
        ("a;b\n1.234,5;2\n", ";", ","),
        ("a;t\n1,5;hello, world\n2,5;x\n", ";", ","),
        ('name,note\nx,"one; two; three"\ny,"a;b;c"\n', ",", "."),
        ('a;b\n"two\nlines";2\nx;3\n', ";", "."),
        ("day,p\n2020-01-01 10:00,3\n2020-01-01 10:00,3\n", ",", "."),
        ("a;b\n1.5;2,5\n", ";", "."),
        ("x\n1\n2\n", ",", "."),
    ],
)
def test_separator_decimal_and_encoding_are_detected(tmp_path, text, separator, decimal):
    (tmp_path / "a.csv").write_text(text)
    how = files.detect_read_options(tmp_path / "a.csv")
    assert (how.separator, how.decimal) == (separator, decimal)
    how = files.detect_read_options(
        tmp_path / "a.csv", separator="#", decimal="'", encoding="latin-1"
    )
    assert (how.separator, how.decimal, how.encoding) == ("#", "'", "latin-1")


def test_wide_tables_many_classes_and_large_value_ranges_are_accepted(home, tmp_path):
    random = np.random.default_rng(0)
    wide = pd.DataFrame(random.normal(size=(300, 1500))).assign(price=random.normal(size=300))
    files_of = {
        "wide.csv": wide.round(3),
        "classes.csv": pd.DataFrame(
            {"a": random.normal(size=800), "price": [f"c{i % 40}" for i in range(800)]}
        ),
        "decades.csv": pd.DataFrame(
            {"a": random.normal(size=300), "price": 10 ** random.uniform(-2, 4, 300)}
        ),
    }
    shapes = {}
    for name, table in files_of.items():
        table.to_csv(tmp_path / name, index=False)
        rows = prepared(tmp_path / name)
        shapes[name] = (rows.X_train.shape[1], len(rows.classes))
    assert shapes == {"wide.csv": (1500, 0), "classes.csv": (1, 40), "decades.csv": (1, 0)}


def test_excel_file_without_its_package_raises_error(tmp_path, monkeypatch):
    rooms().to_excel(tmp_path / "flats.xlsx", index=False)
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(DataError, match=r"flats\.xlsx cannot be read.*openpyxl"):
        files.read_data_file(tmp_path / "flats.xlsx")


def test_excel_file_equals_csv(home, tmp_path):
    table = rooms()
    table["price"] = table["price"].round(3)  # Excel holds 15 digits
    table.to_csv(tmp_path / "flats.csv", index=False)
    table.to_excel(tmp_path / "flats.xlsx", index=False)
    expected, found = (prepared(tmp_path / f"flats.{suffix}") for suffix in ("csv", "xlsx"))
    assert_array_equal(found.X_train, expected.X_train)
    assert_array_equal(found.X_test, expected.X_test)
    assert_array_equal(found.y_test, expected.y_test)


def test_detected_file_format_is_written_into_the_configuration(home, tmp_path):
    file = tmp_path / "a.csv"
    file.write_bytes(rooms().to_csv(sep=";", decimal=",").encode("latin-1"))
    how = ("--separator", ";", "--decimal", ",", "--encoding", "latin-1")
    call("new", file, "--target", "price", *how, "--out", tmp_path / "a.yaml")
    text = (tmp_path / "a.yaml").read_text()
    for part in ('separator: ";"', 'decimal: ","', 'encoding: "latin-1"'):
        assert part in text
    assert text.count("dataset:") == 1


class TestLike:
    """The record of one file by which another one is read in the same way."""

    @staticmethod
    def put(path, text):
        path.write_text(text)
        return path

    def again(self, tmp_path, first, other, name="a.csv", **options):
        """Read a file, then another one like it; return the record, and the other's columns."""
        how = files.read_data_file(self.put(tmp_path / name, first), **options).how
        how = type(how)(**json.loads(json.dumps(asdict(how))))
        return how, files.read_data_file(self.put(tmp_path / f"other-{name}", other), like=how).X

    def test_ambiguous_number_format_of_a_new_file_is_that_of_training(self, tmp_path):
        first = "a;b\n1,5;1.234,5\n2,5;2.345,25\n"
        how, X = self.again(tmp_path, first, "a;b\n1,234;2.345\n")
        assert (how.separator, how.decimal, how.width) == (";", ",", 2)
        preparation = Preparation().fit(files.read_data_file(tmp_path / "a.csv").X)
        assert preparation.transform(X).tolist() == [[1.234, 2345]]
        _, X = self.again(tmp_path, "a;b\n1;x\n2;y\n", "a;b\n1;x,y\n", separator=";")
        assert X["b"].tolist() == ["x,y"]

    def test_dates_are_kept_if_other_columns_have_thousands_separators(self, tmp_path):
        text = "a;day\n1.234,5;31.01.2024\n2.345,5;01.02.2024\n"
        _, X = self.again(tmp_path, text, text)
        assert X["day"].tolist() == ["31.01.2024", "01.02.2024"]
        assert X["a"].tolist() == ["1234.5", "2345.5"]

    @pytest.mark.parametrize(
        ("target", "row", "names"),
        [(0, "6,7", [1, 2]), (-1, "6,7", [0, 1]), (1, "6,0,7", [0, 1, 2])],
    )
    def test_new_file_without_header_may_lack_the_target_column(self, tmp_path, target, row, names):
        how, X = self.again(tmp_path, "1,2,3\n4,5,6\n", f"{row}\n", header=False, target=target)
        assert (how.header, how.width, how.target) == (False, 3, target % 3)
        assert X.columns.tolist() == names
        with pytest.raises(DataError, match="4 columns.*has 3"):
            self.again(tmp_path, "1,2,3\n4,5,6\n", "1,2,3,4\n", header=False, target=target)

    def test_new_svmlight_file_uses_the_index_base_of_the_training_file(self, tmp_path):
        how, X = self.again(tmp_path, "1 1:5 3:7\n0 2:1\n", "0 2:4\n", "a.svm")
        assert (how.index_base, how.width) == (1, 3)
        assert X.toarray().tolist() == [[0, 4, 0]]
        how, X = self.again(tmp_path, "1 0:5 3:7\n0 2:1\n", "0 2:4\n", "a.svm")
        assert (how.index_base, how.width) == (0, 4)
        assert X.toarray().tolist() == [[0, 0, 4, 0]]
        for other in ("0 0:1\n", "0 4:1\n"):
            with pytest.raises(DataError, match="cannot be read"):
                self.again(tmp_path, "1 1:5 3:7\n0 2:1\n", other, "a.svm")

    def test_new_npz_file_may_lack_the_target(self, tmp_path):
        X = np.arange(6.0).reshape(3, 2)
        np.savez(tmp_path / "a.npz", X=X, y=np.arange(3))
        np.savez(tmp_path / "b.npz", X=X)
        how = files.read_data_file(tmp_path / "a.npz").how
        rows, target, *_ = files.read_data_file(tmp_path / "b.npz", like=how)
        assert (rows.to_numpy().tolist(), target) == (X.tolist(), None)
        with pytest.raises(DataError, match="X and y are required"):
            files.read_data_file(tmp_path / "b.npz")

    def test_new_file_in_another_format_uses_its_own_separators(self, tmp_path):
        how = files.read_data_file(self.put(tmp_path / "a.csv", "a;b\n1,5;2\n")).how
        rooms()[["area", "price"]].to_parquet(tmp_path / "b.parquet")
        assert files.read_data_file(tmp_path / "b.parquet", like=how).X.shape == (N, 2)
        assert (
            files.read_data_file(self.put(tmp_path / "c.tsv", "a\tb\n1.5\t2\n"), like=how).X["a"][0]
            == 1.5
        )
