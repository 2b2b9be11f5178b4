"""Every command sees the same rows in a file, with the values that the file has."""

import itertools
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.dummy import DummyRegressor

from rfbench.api import read_config
from rfbench.choosing.model import Model
from rfbench.choosing.table import infer_split, make_labeled_table, read_new_rows
from rfbench.datasets import columns, files, user_data
from rfbench.datasets.preparation import Preparation, describe_column_treatments
from rfbench.errors import DataError
from tests.support.command_line import call
from tests.support.nightly import at_night
from tests.support.strange_files import WAYS, WRITTEN, numbers, rooms

N = 72
BY_DAY = ("utf-16 without a mark", "utf-8 with a mark", "german dates")  # of WRITTEN
LETTERS = np.array(["p", "q", "r"])[np.arange(N) % 3]


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("RFBENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)


def frame(**more):
    """Return columns of numbers and words, and what is given."""
    random = np.random.default_rng(3)
    table = pd.DataFrame(random.normal(size=(N, 2)).round(3), columns=["u", "v"])
    return table.assign(**{"y": (table["u"] * 2 + table["v"]).round(3), **more})


def written(table, path):
    """Write a table in the format that the name says."""
    if path.suffix == ".xlsx":
        table.to_excel(path, index=False)
    elif path.suffix == ".parquet":
        table.to_parquet(path)
    elif path.suffix == ".npz":
        np.savez(path, X=table.drop(columns="y").to_numpy(), y=table["y"].to_numpy())
    else:
        path.write_text(table.to_csv(index=False))
    return path


def fitted(table):
    """Return a model that knows how the file of a table was read."""
    model = Model([("prepare", Preparation()), ("predict", DummyRegressor())])
    model.fit(table.X, np.zeros(len(table.X)))
    model.reading_, model.card_ = table.how, {"columns": list(table.X.columns)}
    return model


def seen(path, target="y", task=None, **reading):
    """Return what `run`, `new`, `choose` and `predict` see in a file, which has to be the same."""
    parameters = {"file": path.name, "task": task, "target": target, **reading}
    parameters = {key: value for key, value in parameters.items() if value is not None}
    entry, parsed, _ = user_data.read_user_data("d", parameters, path.parent)
    table = make_labeled_table(path, target=target, task=task, groups="none", **reading)
    assert entry.rows == len(table.y) == len(parsed.y)
    if table.n_classes:
        assert sorted(entry.classes) == sorted(map(str, table.classes))
        names = np.array(list(entry.classes))
        assert_array_equal(names[parsed.y], table.labels.astype(str))
    else:
        assert_array_equal(parsed.y, table.y)
    mine = columns.to_dense_table(parsed.X)
    if isinstance(parsed.X, pd.DataFrame):
        assert list(mine) == list(table.X)
    prepare = Preparation().fit(table.X)
    rows = prepare.transform(table.X)
    assert_array_equal(Preparation().fit_transform(mine), rows)

    words = [f"--{key}={value}" for key, value in reading.items() if key in ("decimal", "encoding")]
    words += ["--no-header"] if reading.get("header") is False else []
    words += [f"--missing={word}" for word in reading.get("missing", ())]
    words += [f"--target={target}"] if target is not None else []
    call("new", path, "--out", "one.yaml", *words, *([f"--task={task}"] if task else []))
    again = read_config(path.parent / "one.yaml").dataset[0].entry
    assert (again.rows, again.task, again.classes) == (entry.rows, entry.task, entry.classes)
    (path.parent / "one.yaml").unlink()

    model = fitted(table)
    new, notes = read_new_rows(path, model)
    special = {"target": target} if target is not None else {}
    there = files.read_table(path, special=special, **reading)[0].y.notna()
    assert_array_equal(prepare.transform(new)[there.to_numpy()], rows)
    assert not prepare.find_schema_changes(new).extra_columns
    return SimpleNamespace(
        entry=entry, table=table, rows=rows, model=model, notes=notes, prepare=prepare,
        said=f"{entry.note} {' '.join(describe_column_treatments(prepare.notes_))}",
    )  # fmt: skip


@pytest.mark.parametrize(
    "way",
    [*BY_DAY, *at_night(*(way for way in WRITTEN if way not in BY_DAY))],
)
def test_unusual_files_are_read_identically_by_all_commands(tmp_path, way):
    """The rows of each are compared by day in tests/datasets/test_strange_files.py."""
    options, encoding = WRITTEN[way]
    (tmp_path / "a.csv").write_bytes(rooms().to_csv(**options).encode(encoding))
    assert seen(tmp_path / "a.csv", "price").entry.rows == len(rooms())


@pytest.mark.parametrize(("write", "target", "reading"), WAYS.values(), ids=WAYS)
def test_each_number_notation_is_read_identically_by_all_commands(tmp_path, write, target, reading):
    found = seen(write(numbers(), tmp_path / "a"), target, **reading)
    np.testing.assert_allclose(found.table.y, numbers()["y"], rtol=1e-12)


FORMATS = ("csv", "parquet", "npz", "xlsx")


class TestLabels:
    @pytest.mark.parametrize("gaps", [True, *at_night(False)])
    @pytest.mark.parametrize("form", FORMATS)
    @pytest.mark.parametrize("first", [2**60 + 4, *at_night(5_000_011)])
    def test_long_numbers_remain_different_classes(self, tmp_path, form, gaps, first):
        gaps = gaps and form != "npz"  # an array of whole numbers has none
        whole = pd.Series(np.arange(N) % 3 + first, dtype="Int64")
        target = whole.astype(str).astype(object) if form == "xlsx" and first > 2**53 else whole
        if gaps:
            target = target.where(np.arange(N) != 7, None)
        elif form == "npz":
            target = target.astype("int64")
        path = written(frame(y=target), tmp_path / f"a.{form}")
        target = None if form == "npz" else "y"
        found = seen(path, target, "classification")
        assert list(found.entry.classes) == [str(first + code) for code in range(3)]
        assert list(found.entry.classes.values()) == [24, 24 - gaps, 24]

    def test_labels_are_compared_by_value_and_written_as_in_the_file(self, tmp_path):
        labels = np.array([".7654321", ".7654322", "2.50", "2.5"])[np.arange(N) % 4]
        found = seen(written(frame(y=labels), tmp_path / "a.csv"), task="classification")
        assert found.entry.classes == {".7654321": 18, ".7654322": 18, "2.50": 36}
        fifteen = np.array(["123456789.123456", "123456789.123457"])[np.arange(N) % 2]
        found = seen(written(frame(y=fifteen), tmp_path / "b.csv"))
        assert list(found.entry.classes) == ["123456789.123456", "123456789.123457"]

    def test_trailing_blanks_do_not_create_a_class(self, tmp_path):
        table = frame(y=np.array(["on ", "on", "off"])[np.arange(N) % 3], w=LETTERS + " ")
        for form in ("csv", "xlsx"):
            found = seen(written(table, tmp_path / f"a.{form}"))
            assert found.entry.classes == {"off": 24, "on": 48}
            assert set(found.table.X["w"]) == set("pqr")


class TestMissing:
    @pytest.mark.parametrize("form", ["csv", *at_night("xlsx")])
    @pytest.mark.parametrize("word", ["NA", "None", "null", "?"])
    def test_missing_markers_in_a_text_target_are_a_class(self, tmp_path, form, word):
        table = frame(y=np.where(LETTERS == "p", word, LETTERS))
        found = seen(written(table, tmp_path / f"a.{form}"))
        assert found.entry.classes == dict.fromkeys(sorted([word, "q", "r"]), 24)
        assert not found.notes

    @pytest.mark.parametrize("form", ["csv", "xlsx"])
    def test_missing_markers_in_a_numeric_column_are_missing_values(self, tmp_path, form):
        words = ["NA", "None", "null", "?", "-", "\u2014"]
        for values in (frame()["y"], np.arange(N) % 2 + 1):
            y = pd.Series(values).astype(object)
            y[: len(words)] = words
            found = seen(written(frame(y=y), tmp_path / f"a.{form}"))
            assert found.entry.rows == N - len(words)
            assert f"the target ({len(words)})" in found.said

    @pytest.mark.parametrize("form", ["csv", "xlsx", "parquet"])
    def test_missing_option_overrides_the_default_markers(self, tmp_path, form):
        table = frame(y=np.where(LETTERS == "p", "NA", LETTERS), u=np.arange(N) % 9 - 8.0)
        path = written(table, tmp_path / f"a.{form}")
        found = seen(path, missing=["q", "-8"])
        assert found.entry.classes == {"NA": 24, "r": 24}
        assert found.table.X["u"].isna().sum() == 8
        assert found.model.reading_.missing == ("q", "-8")
        codes = np.array([1, 2, -9])[np.arange(N) % 3]
        found = seen(written(frame(y=codes), tmp_path / f"b.{form}"), missing=["-9"])
        assert list(found.entry.classes) == ["1", "2"]

    def test_missing_markers_in_text_features_are_counted(self, tmp_path):
        found = seen(written(frame(w=np.where(LETTERS == "p", "NA", LETTERS)), tmp_path / "a.csv"))
        assert "These strings are treated as missing values: w (NA 24)." in found.said


class TestRowNumbers:
    @pytest.mark.parametrize("shuffled", [False, True])
    def test_row_numbers_of_a_frame_saved_three_times_are_dropped(self, tmp_path, shuffled):
        table = frame().sample(frac=1, random_state=0) if shuffled else frame()
        for _ in range(3):
            table.to_csv(tmp_path / "a.csv")
            table = pd.read_csv(tmp_path / "a.csv")
        found = seen(tmp_path / "a.csv")
        assert found.prepare.get_feature_names_out().tolist() == ["u", "v"]
        assert (
            "row numbers without a name are left out: Unnamed: 0.2, Unnamed: 0.1, Unnamed: 0."
            in found.said
        )
        assert not any("Unnamed" in note for note in found.table.notes)


class TestArrays:
    @pytest.mark.parametrize("kind", [">f8", ">f4", ">i4"])
    def test_big_endian_values_are_numbers(self, tmp_path, kind):
        values = (frame().to_numpy() * 50).astype(kind)
        np.save(tmp_path / "a.npy", values)
        assert_array_equal(seen(tmp_path / "a.npy", -1).table.y, values[:, 2])
        np.savez(tmp_path / "a.npz", X=values[:, :2], y=values[:, 2])
        assert_array_equal(seen(tmp_path / "a.npz", None).table.y, values[:, 2])
        (tmp_path / "rows").mkdir()
        np.save(tmp_path / "rows" / "X.npy", values[:, :2])
        np.save(tmp_path / "rows" / "y.npy", values[:, 2])
        _, parsed, _ = user_data.read_user_data("d", {"path": "rows"}, tmp_path)
        assert_array_equal(parsed.y, values[:, 2])
        assert_array_equal(np.asarray(parsed.X[:]), values[:, :2])

    def test_masked_array_value_is_a_missing_value(self):
        values = np.ma.array(frame()[["u", "v"]].to_numpy(), mask=False)
        values[4, 0] = np.ma.masked
        y = np.ma.array(np.arange(N) % 2 + 2**60, mask=np.arange(N) == 5)
        parsed = columns.parse_data("d", *columns.to_table("d", values, y))
        assert list(parsed.about["classes"].items()) == [(str(2**60), 36), (str(2**60 + 1), 35)]
        assert np.flatnonzero(parsed.X[0].isna() if 0 in parsed.X else parsed.X["0"].isna()) == [4]
        table = make_labeled_table(values, y)
        assert (len(table.y), table.X.isna().sum().sum()) == (N - 1, 1)

    @pytest.mark.parametrize("cell", [[1, 2], {"k": 1}, b"ab"])
    def test_columns_with_nested_values_are_left_out(self, tmp_path, cell):
        frame(odd=[cell] * N).to_parquet(tmp_path / "a.parquet")
        found = seen(tmp_path / "a.parquet")
        assert list(found.table.X) == ["u", "v"]
        assert "These columns contain lists or bytes and are left out: odd." in found.said
        with pytest.raises(DataError, match="constant"):
            make_labeled_table(tmp_path / "a.parquet", target="odd")

    def test_time_differences_are_converted_to_seconds(self, tmp_path):
        wait = pd.to_timedelta(np.arange(N) * 90, "s")
        found = seen(written(frame(wait=wait), tmp_path / "a.parquet"))
        assert "Time differences are converted to seconds: wait." in found.said
        assert found.prepare.ranges_["wait"] == (0, 90 * (N - 1))


SIGNS_AND_UNITS = (
    lambda v: str(v).replace("-", "\u2212"),
    lambda v: str(v).replace("-", "\u2013"),
    lambda v: f"({-v})" if v < 0 else str(v),
    lambda v: f"{-v}-" if v < 0 else str(v),
    lambda v: f"{v:.3f}D+00",
    lambda v: f"{v} kg",
    lambda v: f"{v}kmpl",
    lambda v: f"{v} \u00b0C",
)


class TestNumbers:
    @pytest.mark.parametrize(
        "case",
        [
            *itertools.product(["csv"], SIGNS_AND_UNITS),
            ("xlsx", SIGNS_AND_UNITS[0]),
            ("parquet", SIGNS_AND_UNITS[5]),
            *at_night(*itertools.product(["xlsx", "parquet"], SIGNS_AND_UNITS)),
        ],
    )
    def test_signs_and_units_are_parsed_in_features_and_targets(self, tmp_path, case):
        (form, write), table = case, frame()
        odd = table.assign(u=table["u"].map(write), y=table["y"].map(write))
        odd.loc[3, "u"] = "\u2013"  # nothing
        found = seen(written(odd, tmp_path / f"a.{form}"))
        assert_array_equal(found.table.y, table["y"])
        assert_array_equal(np.delete(found.rows[:, 0], 3), np.delete(table["u"], 3))
        assert found.prepare.get_feature_names_out().tolist() == ["u", "v", "u=missing"]

    def test_digit_separators_are_parsed(self, tmp_path):
        whole = (np.arange(N) + 1) * 123_457
        underscore = [f"{value:_}" for value in whole]
        indian = [f"{v // 10**7},{v // 10**5 % 100:02},{v // 1000 % 100:02},{v % 1000:03}"
                  for v in whole + 10**7]  # fmt: skip
        found = seen(written(frame(a=underscore, b=indian), tmp_path / "a.csv"))
        assert_array_equal(found.rows[:, 2:], np.column_stack([whole, whole + 10**7]))

    def test_suffixes_k_m_b_are_parsed_as_factors_only_if_some_values_lack_them(self, tmp_path):
        numbers = [f"{i}.5{'KMB'[i % 3]}" if i % 4 else str(i) for i in range(N)]
        found = seen(written(frame(a=numbers, b=[f"{i}.5K" for i in range(N)]), tmp_path / "a.csv"))
        factors = np.array([1e3, 1e6, 1e9])[np.arange(N) % 3]
        expected = np.where(np.arange(N) % 4, (np.arange(N) + 0.5) * factors, np.arange(N))
        assert_array_equal(found.rows[:, 2], expected)
        assert "b" not in found.prepare.ranges_

    def test_value_with_another_unit_in_a_new_file_is_treated_as_missing(self, tmp_path):
        table = frame(a=[f"{i}.5 kg" for i in range(N)])
        found = seen(written(table, tmp_path / "a.csv"))
        assert "Units were removed from numbers: a (kg)." in found.said
        assert dict(found.model.reading_.units) == {"a": "kg"}
        new = table.assign(a=["3 lb", "4.5 kg", "x"] * (N // 3))
        rows, notes = read_new_rows(written(new, tmp_path / "b.csv"), found.model)
        assert "a: lb (24), no number (24)" in " ".join(notes)
        assert rows["a"].dropna().tolist() == ["4.5"] * (N // 3)

    def test_columns_with_several_units_are_not_parsed_as_numbers(self, tmp_path):
        several = [f"{i}.25 {'km' if i % 2 else 'mi'}" for i in range(N)]
        few = [f"{i % 5} kg" for i in range(N)]
        table = frame(a=several, b=[f"{i % 24} {'km' if i % 2 else 'mi'}" for i in range(N)], c=few)
        found = seen(written(table, tmp_path / "a.csv"))
        assert "identify the rows" not in found.said
        assert "Numbers with several units (km, mi) are left out: a." in found.said
        assert "c" not in found.prepare.ranges_
        assert infer_split(found.table.X, pd.Series(found.table.y), np.arange(N)) is None


class TestNames:
    @pytest.mark.parametrize("form", ["csv", "xlsx", "parquet", "arff"])
    def test_duplicate_column_name_is_rejected_with_positions(self, tmp_path, form):
        path = tmp_path / f"a.{form}"
        table = frame(w=1.0)[["y", "u", "w", "v"]].set_axis(["y", "u", "w", "y"], axis=1)
        if form == "parquet":
            import pyarrow as pa
            from pyarrow import parquet

            parquet.write_table(pa.table(list(table.to_numpy().T), names=list(table)), path)
        elif form == "arff":
            head = "".join(f"@attribute {name} real\n" for name in table)
            path.write_text(f"@relation r\n{head}@data\n1,2,3,4\n")
        else:
            written(table, path)
        for read in (
            lambda: make_labeled_table(path, target="y"),
            lambda: user_data.read_user_data("d", {"file": path.name, "target": "y"}, tmp_path),
            lambda: files.read_data_file(path),
        ):
            with pytest.raises(DataError, match="'y': columns 1 and 4"):
                read()

    def test_columns_dropped_in_training_are_not_reported_as_new(self, tmp_path):
        path = written(frame(w=LETTERS, z=1.5 * np.arange(N)), tmp_path / "a.csv")
        table = make_labeled_table(path, target="y", drop=["z"], groups="w")
        rows, _ = read_new_rows(path, fitted(table))
        assert list(rows) == ["u", "v"]


PLAIN = [(i % 8 + 0.5, i * 5 % 17, i % 9 * 1.25 + i) for i in range(40)]


def lines(form, head=""):
    """Return a header and a line per row of numbers, numbered from 0."""
    return head + "".join(form.format(i=i, n=i + 1, k=i % 3, a=a, b=b, y=y) + "\n"
                          for i, (a, b, y) in enumerate(PLAIN))  # fmt: skip


LAID_OUT = {
    "blanks and tabs": lines('{y}  {a}   {b}\t"the car {i}"'),
    "row names of R": lines('"r{i}" {a} {b} {y}', '"a" "b" "y"\n'),
    "counted rows of R": lines("{n},{a},{b},{y}", "a,b,y\n"),
    "sep": lines("{a};{b};{y}", "sep=;\na;b;y\n"),
    "comments": lines("{a},{b},{y}\n#x", "# a log, of b\n#\na,b,y\n"),
    "savetxt": lines("{a} {b} {y}", "# a b y\n"),
    "single quotes": lines("{a},{b},{y},'p, {k}'", "'a','b','y','w'\n"),
}


@pytest.mark.parametrize("name", LAID_OUT)
def test_text_file_layouts_of_other_programs_are_read(tmp_path, name):
    (tmp_path / "a.txt").write_text(LAID_OUT[name])
    bare = name == "blanks and tabs"
    found = seen(tmp_path / "a.txt", 0 if bare else "y", **({"header": False} if bare else {}))
    assert_array_equal(found.table.y, [y for _, _, y in PLAIN])
    assert_array_equal(found.rows[:, :2], [row[:2] for row in PLAIN])
    if name == "single quotes":
        assert set(found.table.X["w"]) == {"p, 0", "p, 1", "p, 2"}


def test_strings_with_blanks_in_a_tab_separated_file_are_not_split(tmp_path):
    (tmp_path / "a.tsv").write_text(lines("New York {k}\t{y}", "the city\ty\n"))
    cities = seen(tmp_path / "a.tsv").table.X["the city"]
    assert set(cities) == {"New York 0", "New York 1", "New York 2"}


def test_header_longer_than_the_sampled_lines_is_read(tmp_path):
    wide = pd.DataFrame(np.arange(80_000.0).reshape(4, 20_000)).add_prefix("a long column ")
    wide.to_csv(tmp_path / "a.csv")
    X = files.read_data_file(tmp_path / "a.csv").X
    assert X.columns.tolist() == ["Unnamed: 0", *wide]
    assert_array_equal(X.iloc[:, 1:], wide)


def test_bytes_that_are_not_utf8_are_read_as_windows_1252(tmp_path):
    words = ["\u20ac", "\u201cna\u00efve\u201d", "\u00fc"]
    text = "w,y\n" + "".join(f"{words[i % 3]},{y}\n" for i, (_, _, y) in enumerate(PLAIN))
    (tmp_path / "a.csv").write_bytes(text.encode("cp1252") + b"\x81,1.5\n")
    found = seen(tmp_path / "a.csv")
    assert set(found.table.X["w"]) == {*words, "\x81"}
    assert "not in UTF-8, and is read as Windows-1252" in found.said
    assert "Windows" in " ".join(found.notes)


HEAD = "@relation r\n@attribute a numeric\n@attribute {name} {{{words}}}\n@attribute y {{no,yes}}\n"
ARFF = {
    "blanks": ("w", "s , t", "{a} , {w} , {y}", "st"),
    "quoted name": ('"w w"', "s,t", "{a},{w},{y}", "st"),
    "blanks in quotes": ("w", "'s ', ' t'", "{a},{w},{y}", "st"),
    "not ASCII": ("w", "\u00e9,t", "{a},{w},{y}", "\u00e9t"),
    "apostrophe": ("w", r"'s\'s', 't, u'", r"{a},'{w}',{y}", ["s's", "t, u"]),
    "weights": ("w", "s,t", "{a},{w},{y},{{2.5}}", "st"),
    "blanks for commas": ("w", "s,t", "{a}\t{w} {y}", "st"),
}


class TestArff:
    @pytest.mark.parametrize("case", ARFF)
    def test_arff_dialects_are_read(self, tmp_path, case):
        name, words, row, expected = ARFF[case]
        inside = [word.replace("'", r"\'") for word in expected]
        rows = [
            row.format(a=i * 1.5, w=inside[i % 2], y=["no", "yes"][i % 3 > 0]) for i in range(40)
        ]
        text = HEAD.format(name=name, words=words) + "@data\n" + "\n".join(rows)
        (tmp_path / "a.arff").write_text(text, encoding="utf-8")
        found = seen(tmp_path / "a.arff")
        assert found.entry.classes == {"no": 14, "yes": 26}
        assert found.table.X.iloc[:, 1].astype(str).tolist() == list(expected) * 20
        assert ("The weights of 40 rows are not used." in found.said) == (case == "weights")

    def test_keel_file_is_read(self, tmp_path):
        head = HEAD.format(name="w", words="s, t").replace("numeric", "real [0.0, 60.0]")
        rows = "\n".join(f"{i * 1.5}, {'st'[i % 2]}, {['no', 'yes'][i % 3 > 0]}" for i in range(39))
        text = f"{head}@inputs a, w\n@outputs y\n@data\n{rows}\n<null>, s, no\n"
        (tmp_path / "a.arff").write_text(text)
        found = seen(tmp_path / "a.arff")
        assert found.table.X["a"].isna().sum() == 1

    @pytest.mark.parametrize(
        ("old", "new", "match"),
        [
            ("1.5,s,no", "{0 1.5}", "sparse"),
            ("numeric", "relational", "relational"),
            ("1.5,s,no", "1.5,z,no", "'z'"),
            ("1.5,s,no", "1.5,s", "Line 6 has 2 values"),
        ],
    )
    def test_unsupported_features_are_reported_without_advice_on_separators(
        self, tmp_path, old, new, match
    ):
        text = HEAD.format(name="w", words="s,t") + "@data\n1.5,s,no\n"
        (tmp_path / "a.arff").write_text(text.replace(old, new))
        with pytest.raises(DataError, match=match) as caught:
            files.read_data_file(tmp_path / "a.arff")
        assert "separator" not in str(caught.value)


class TestSvmlight:
    def test_svmlight_query_ids_are_groups(self, tmp_path):
        lines = [f"{i % 5 + 0.5} qid:{i // 4} 1:{i % 7} 2:{i * 3 % 11}\n" for i in range(80)]
        (tmp_path / "a.svm").write_text("".join(lines))
        _, parsed, _ = user_data.read_user_data("d", {"file": "a.svm"}, tmp_path)
        table = make_labeled_table(tmp_path / "a.svm")
        assert_array_equal(parsed.groups, np.arange(80) // 4)
        assert_array_equal(table.groups, parsed.groups)
        assert "held out together. There are 20 queries" in " ".join(table.notes)
        call("new", tmp_path / "a.svm", "--out", "a.yaml")
        assert read_config(tmp_path / "a.yaml").split == {"leave_groups": 0.25}
        assert make_labeled_table(tmp_path / "a.svm", groups="none").groups is None

    def test_nonnumeric_values_in_numeric_columns_are_missing_values(self, tmp_path):
        lines = [f"{i % 5 + 0.5} 1:{i % 7 if i % 9 else 'nan'} 3:{i * 3 % 11}\n" for i in range(45)]
        (tmp_path / "a.svm").write_text("".join(lines))
        assert seen(tmp_path / "a.svm", None).table.X["x0"].isna().sum() == 5
