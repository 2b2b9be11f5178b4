"""What a table says: how its rows are held out, what tells the target, and what a target is."""

import pickle
import struct

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rfbench.choosing.choice import choose
from rfbench.choosing.table import LEAST_ROWS, make_labeled_table, remove_row_values
from rfbench.datasets.preparation import Preparation
from rfbench.datasets.scaling import RankScaler, SmoothClipScaler
from rfbench.solvers.kernel_model import KernelRegressor
from tests.choosing.conftest import towns


def visits(n=700, patients=267, seed=0):
    """Return rows of which several are of one patient."""
    random = np.random.default_rng(seed)
    table = pd.DataFrame(random.standard_normal((n, 3)), columns=["a", "b", "y"])
    return table.assign(patient=[f"P{i:04}" for i in random.permutation(n) % patients])


def said(table):
    return " ".join(table.notes)


class TestHeldOut:
    def test_rows_sorted_by_date_are_held_out_by_time(self):
        X = towns(100).sort_values("day", ignore_index=True)
        y = X.pop("price")
        for rows in (X, X[::-1], X.assign(day=X["day"].dt.strftime("%d.%m.%Y"))):
            table = make_labeled_table(rows, y.to_numpy())
            assert table.time is not None
            assert table.notes[0].startswith("The rows are sorted by day")
            assert "--time none" in table.notes[0]
            assert "day" in table.X
        assert make_labeled_table(X, y.to_numpy(), time="none").time is None
        times = np.r_[np.arange(99.0), np.nan]
        assert len(make_labeled_table(X, y.to_numpy(), time=times).y) == 99
        assert make_labeled_table(X.sample(frac=1, random_state=0), y.to_numpy()).time is None
        assert make_labeled_table(X.assign(day=X["day"].iloc[0]), y.to_numpy()).time is None

    def test_rows_with_a_repeated_id_are_held_out_together(self, tmp_path):
        visits().to_csv(tmp_path / "v.csv", index=False)
        table = make_labeled_table(tmp_path / "v.csv", target="y")
        assert len(np.unique(table.groups)) == 267
        assert "patient" not in table.X
        assert "267 different values in 700 rows" in table.notes[0]
        assert "--groups none" in table.notes[0]
        at_random = make_labeled_table(tmp_path / "v.csv", target="y", groups="none")
        assert at_random.groups is None
        assert "patient" in at_random.X

    @pytest.mark.parametrize(
        ("name", "values", "groups"),
        [
            ("customer_id", np.arange(200) % 40 + 5000, 40),
            ("size", np.arange(200) % 40 + 5000, None),  # a number
            ("customer_id", np.arange(200), None),  # it names rows
            ("customer_id", np.arange(200) % 3, None),  # it is a kind
            ("town", [f"town {i % 15}" for i in range(200)], None),
            ("who", [f"{chr(65 + i % 26)}. {i % 39}" for i in range(390)][:200], 190),
            ("shop", [f"town {i % 20}" for i in range(200)], 20),
        ],
    )
    def test_group_column_is_detected(self, name, values, groups):
        X = pd.DataFrame({"a": np.random.default_rng(0).random(200), name: values})
        if groups == 190:
            X[name] = [f"{chr(65 + i % 19)}. {i % 38}" for i in range(200)]
            groups = X[name].nunique()
        table = make_labeled_table(X, np.random.default_rng(1).random(200))
        assert (table.groups is None) == (groups is None)
        if groups:
            assert len(np.unique(table.groups)) == groups

    def test_exact_duplicates_are_held_out_together(self):
        random = np.random.default_rng(0)
        X, y = np.tile(random.random((60, 3)), (4, 1)), np.tile(random.random(60), 4)
        table = make_labeled_table(X, y)
        assert len(np.unique(table.groups)) == 60
        assert (np.unique(table.groups, return_counts=True)[1] == 4).all()
        assert "180 rows are exact duplicates" in table.notes[0]
        assert "determines" not in said(table)
        assert make_labeled_table(X, y, groups="none").groups is None
        few = np.r_[np.arange(600), 0, 1, 2] / 7  # three of 603 are too few to count
        assert make_labeled_table(few[:, None], few).groups is None

    def test_equal_rows_of_few_categories_are_not_treated_as_duplicates(self):
        random = np.random.default_rng(0)
        X = pd.DataFrame(
            {"sex": random.choice(["f", "m"], 300), "class": random.choice(list("abc"), 300)}
        )
        assert make_labeled_table(X, random.choice(["yes", "no"], 300)).groups is None

    def test_class_with_one_group_is_reported_and_left_out(self, tmp_path):
        random = np.random.default_rng(0)
        table = pd.DataFrame(random.standard_normal((240, 2)), columns=["a", "b"])
        table["shop"] = np.arange(240) // 6
        table["y"] = np.where(table["a"] > 0, "up", "down")
        table.loc[table["shop"] == 7, "y"] = "odd"
        made = choose(
            table[["a", "b"]],
            table["y"],
            groups=table["shop"],
            budget=0.001,
            out=tmp_path,
            n_jobs=1,
        )
        assert made.card["classes"] == ["down", "up"]
        assert made.card["left_out"] == {"odd": 6}

    def test_class_with_one_row_is_reported_and_left_out(self, tmp_path):
        y = np.array(["a"] * 20 + ["b"] * 20 + ["c"])
        X = np.random.default_rng(0).random((41, 2))
        made = choose(X, y, budget=0.001, out=tmp_path, n_jobs=1)
        assert made.card["classes"] == ["a", "b"]
        assert made.card["left_out"] == {"c": 1}


class TestTells:
    @pytest.mark.parametrize(
        ("column", "told"),
        [
            (lambda y, r: y, True),
            (lambda y, r: -3 * y + 7, True),
            (lambda y, r: np.exp(y), True),
            (lambda y, r: np.round(y, 1), True),
            (lambda y, r: y + 0.1 * r.standard_normal(len(y)), False),
            (lambda y, r: r.permutation(len(y)), False),
            (lambda y, r: np.where(y > 0, 1, 0), False),
        ],
    )
    def test_column_that_determines_a_numeric_target_is_reported_as_leak(self, column, told):
        random = np.random.default_rng(0)
        y = random.standard_normal(120)
        X = pd.DataFrame({"a": random.random(120), "leak": column(y, random)})
        table = make_labeled_table(X, y)
        assert ("Column leak determines the target" in table.notes[0]) == told
        assert not told or "--drop leak" in table.notes[0]
        assert "leak" in table.X

    @pytest.mark.parametrize(
        ("column", "told"),
        [
            (lambda y: y, True),
            (lambda y: np.char.add("code ", np.char.add(y, y)), True),
            (lambda y: (y == "c") + np.linspace(0, 0.9, len(y)) + 2.0 * (y == "b"), True),
            (lambda y: np.arange(len(y)), False),
            (lambda y: np.where(np.arange(len(y)) == 5, "a", y), False),
        ],
    )
    def test_column_that_determines_the_class_is_reported_as_leak(self, column, told):
        random = np.random.default_rng(0)
        y = random.choice(["a", "b", "c"], 90, p=[0.6, 0.2, 0.2])
        X = pd.DataFrame({"a": random.random(90), "leak": column(y)})
        assert ("Column leak determines" in said(make_labeled_table(X, y))) == told

    def test_column_that_agrees_with_the_target_within_groups_is_not_a_leak(self):
        random = np.random.default_rng(0)
        age, ill = random.random(40).round(3), random.choice(["yes", "no"], 40)
        patient = np.repeat(np.arange(40), 5)
        X = pd.DataFrame({"a": random.random(200), "age": age[patient], "patient": patient})
        table = make_labeled_table(X, ill[patient])
        assert len(np.unique(table.groups)) == 40
        assert "determines" not in said(table)

    def test_column_that_agrees_with_rare_classes_by_chance_is_not_a_leak(self):
        """Of 200 columns of pairs, where one of 30 rows is of the other class, none is named."""
        random = np.random.default_rng(0)
        y = np.where(np.arange(60) < 2, "rare", "usual")
        X = {f"c{i}": random.permutation(np.repeat(np.arange(30), 2)) for i in range(200)}
        assert "determines" not in said(make_labeled_table(pd.DataFrame(X), y))


class TestTarget:
    def read(self, tmp_path, text, **options):
        (tmp_path / "t.csv").write_text(text)
        return make_labeled_table(tmp_path / "t.csv", target="y", **options)

    def test_na_and_none_are_classes_and_empty_fields_are_missing_values(self, tmp_path):
        rows = [f"{i},{word}" for i, word in enumerate(["NA", "None", "EU", "EU", ""] * 8)]
        table = self.read(tmp_path, "a,y\n" + "\n".join(rows))
        assert list(table.classes) == ["EU", "NA", "None"]
        assert len(table.y) == 32
        assert "3 classes, EU, NA, None" in said(table)
        numbers = [f"{i},{word}" for i, word in enumerate(["NA", "1.5", "2.25", "8", ""] * 8)]
        table = self.read(tmp_path, "a,y\n" + "\n".join(numbers), task="regression")
        assert sorted(set(table.y)) == [1.5, 2.25, 8]

    @pytest.mark.parametrize("gap", ["", "17,\n"])
    def test_labels_with_many_digits_remain_distinct(self, tmp_path, gap):
        labels = [2**53 + i % 3 for i in range(30)]
        text = "a,y\n" + gap + "\n".join(f"{i},{label}" for i, label in enumerate(labels))
        table = self.read(tmp_path, text, task="classification")
        assert list(map(str, table.classes)) == [str(2**53 + i) for i in range(3)]

    def test_numbers_with_currency_and_percent_signs_are_parsed(self, tmp_path):
        random = np.random.default_rng(0)
        price, share = random.integers(900, 9000, 60), random.integers(0, 99, 60)
        rows = [
            f'"${p:,}","{s}%","{p:,}'.replace("$", "$") + f'","{p:_}",{p + s}'.replace("_", " ")
            for p, s in zip(price, share, strict=True)
        ]
        table = self.read(tmp_path, "price,share,plain,spaced,y\n" + "\n".join(rows))
        preparation = Preparation()
        X = preparation.fit_transform(table.X)
        np.testing.assert_array_equal(X, np.column_stack([price, share, price, price]))
        assert [note.column for note in preparation.notes_ if note.done == "text numbers"] == [
            "price", "share", "plain", "spaced",
        ]  # fmt: skip


def secrets(n=300, seed=0):
    """Return a table of rare names, dates and numbers of many digits."""
    random = np.random.default_rng(seed)
    names = [f"Surname{i:03}" for i in range(140)]
    table = pd.DataFrame(
        {
            "age": random.normal(50, 15, n),
            "weight": random.normal(70, 12, n),
            "name": random.choice(names, n),
            "town": random.choice(["Kiel", "Ulm", "Bonn"], n),
            "born": pd.Timestamp("1950-01-01") + pd.to_timedelta(random.integers(0, 25000, n), "D"),
        }
    )
    return table.assign(
        y=np.sin(table["age"] / 9) + table["weight"] / 30 + random.normal(0, 0.1, n)
    )


class TestWithoutRows:
    def test_each_bin_and_category_has_at_least_ten_rows(self):
        random = np.random.default_rng(0)
        table = secrets().assign(many=random.integers(0, 4, 300), few=random.integers(0, 90, 300))
        table = table.drop(columns="y").assign(
            here=np.where(np.arange(300) < 9, table["age"], None)
        )
        table.loc[::50, "age"] = np.nan
        preparation = Preparation(LEAST_ROWS)
        made = preparation.fit_transform(table)
        names = list(preparation.get_feature_names_out())
        assert "here" not in names
        for name, column in zip(names, made.T, strict=True):
            assert "born" in name or np.unique(column, return_counts=True)[1].min() >= 6, name
        age, there = made[:, names.index("age")], table["age"].notna().to_numpy()
        assert np.unique(age[there], return_counts=True)[1].min() >= LEAST_ROWS
        assert age[there].mean() == pytest.approx(table["age"].mean())
        assert np.corrcoef(age[there], table["age"].dropna())[0, 1] > 0.99
        assert set(made[:, names.index("many")]) == {0, 1, 2, 3}
        assert not [name for name in names if "Surname" in name]

    @pytest.mark.parametrize("classes", [False, True])
    def test_no_output_file_contains_a_value_of_a_row(self, tmp_path, classes):
        table = secrets()
        if classes:
            table["y"] = np.where(table["y"] > table["y"].median(), "high", "low")
            table.loc[:3, "y"] = "Rarelabel"
        table.to_csv(tmp_path / "secrets.csv", index=False)
        made = choose(
            tmp_path / "secrets.csv", target="y", groups="none", allow_rows=False, budget=0.001,
            n_jobs=1, out=tmp_path / "out",
        )  # fmt: skip
        assert len(made.card["classes"]) == 2 * classes
        written = {f.name: f.read_bytes() for f in (tmp_path / "out").rglob("*") if f.is_file()}
        assert written.keys() >= {"model.joblib", "model.json", "rows.npz"}
        for content in [pickle.dumps(made.model), *written.values()]:
            assert not held(content, table)

    def test_held_out_rows_do_not_affect_the_bins(self, tmp_path):
        """Whatever their values are, what is measured before they are looked at is the same."""
        table = secrets()
        y = table.pop("y").to_numpy()

        def losses():
            seen = []
            choose(
                table, y, groups="none", allow_rows=False, budget=0.001, n_jobs=1, out=tmp_path,
                on_candidate=lambda candidate: seen.append(candidate.loss.value),
            )  # fmt: skip
            return seen

        before = losses()
        held = np.load(tmp_path / "rows.npz")["test"]
        table.loc[held, ["age", "weight"]] = table.loc[held[::-1], ["age", "weight"]].to_numpy()
        table.loc[held, "age"] *= 1.5
        assert losses() == before

    @pytest.mark.parametrize("scaler", [RankScaler(), SmoothClipScaler(), StandardScaler()])
    @pytest.mark.parametrize(
        "model",
        [
            HistGradientBoostingRegressor(max_iter=20, random_state=0),
            KernelRegressor(30, kernel="gaussian", features="frequencies", random_state=0),
            DummyRegressor(strategy="median"),
        ],
    )
    def test_pickle_of_a_model_without_stored_rows_contains_no_row_value(self, scaler, model):
        table = secrets()
        read = remove_row_values(
            make_labeled_table(table.drop(columns="y"), table["y"].to_numpy(), groups="none")
        )
        fitted = make_pipeline(Preparation(LEAST_ROWS), scaler, model).fit(read.X, read.y)
        assert not held(pickle.dumps(fitted), table)

    def test_pickle_of_a_model_that_stores_rows_contains_their_values(self):
        table = secrets()
        fitted = make_pipeline(Preparation(), RankScaler()).fit(table)
        assert len(held(pickle.dumps(fitted), table)) > 400


def held(content, table):
    """Return the values of the table's rows that some bytes hold, as text or to the bit."""
    numbers = [v for c in table if table[c].dtype == float for v in table[c].to_numpy()]
    texts = [*map(repr, map(float, numbers)), *table["name"], *table["born"].dt.date.map(str)]
    values = [text.encode() for text in [*texts, "Rarelabel"]]
    values += [struct.pack(order + "d", v) for order in "<>" for v in numbers]
    return [value for value in values if value in content]
