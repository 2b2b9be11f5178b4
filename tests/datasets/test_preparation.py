"""The transformer that makes rows of numbers of a table: learnt from training rows alone."""

import datetime
import io

import joblib
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline

from rfbench.datasets.files import EXACT
from rfbench.datasets.preparation import Note, Preparation, describe_column_treatments
from rfbench.errors import DataError

N = 60


def a_table(n=N, seed=0):
    """Return a table with a column of each kind."""
    random = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "Unnamed: 0": np.arange(n),
            "customerId": random.permutation(n) + 1000,
            "area": random.normal(size=n),
            "town": random.choice(["Bonn", "Kiel", "Ulm"], n),
            "sold": pd.Timestamp("2024-01-01") + pd.to_timedelta(random.integers(0, 900, n), "D"),
            "sex": random.choice(["f", "m"], n),
        }
    )
    table.loc[::7, "area"] = np.nan
    table.loc[::11, "town"] = None
    return table


def columns_of(preparation, X):
    return dict(zip(preparation.get_feature_names_out(), np.asarray(X).T, strict=True))


class TestColumns:
    def test_missing_values_are_imputed_by_the_mean_with_an_indicator(self):
        table = pd.DataFrame({"a": [1.0, np.nan, 3.0, np.inf], "b": [4, 5, 6, 7]})
        preparation = Preparation()
        X = columns_of(preparation, preparation.fit_transform(table))
        assert_array_equal(X["a"], [1, 2, 3, 2])
        assert_array_equal(X["a=missing"], [0, 1, 0, 1])
        assert_array_equal(X["b"], [4, 5, 6, 7])
        assert Note("a", "gaps", 2) in preparation.notes_
        assert Note("a", "not numbers", 1) in preparation.notes_

    def test_categories_are_one_hot_and_two_categories_use_one_column(self):
        table = pd.DataFrame({"town": ["Ulm", "Kiel", None, "Bonn"] * 5, "sex": ["m", "f"] * 10})
        preparation = Preparation()
        X = columns_of(preparation, preparation.fit_transform(table))
        for word in ("Bonn", "Kiel", "Ulm"):
            assert_array_equal(X[f"town={word}"], table["town"] == word)
        assert_array_equal(X["town=missing"], table["town"].isna())
        assert_array_equal(X["sex=m"], table["sex"] == "m")
        assert len(X) == 5

    def test_date_is_expanded_into_days_month_weekday_and_hour(self):
        moments = [datetime.datetime(2000, 1, 1, 6), datetime.datetime(2024, 2, 29, 18, 30)]
        X = Preparation().fit_transform(pd.DataFrame({"day": pd.Series(moments)}))
        days = (datetime.date(2024, 2, 29) - datetime.date(2000, 1, 1)).days
        assert_array_equal(X, [[0, 1, 5, 6], [days, 2, 3, 18.5]])  # a Saturday, a Thursday

    @pytest.mark.parametrize(
        "day",
        [
            ["2024-02-01", "2024-03-13"],
            ["01.02.2024", "13.03.2024"],
            ["1/2/2024", "13/3/2024"],
            ["2/1/2024", "3/13/2024"],
            [datetime.date(2024, 2, 1), datetime.date(2024, 3, 13)],
            pd.to_datetime(["2024-02-01", "2024-03-13"]).tz_localize("UTC"),
        ],
    )
    def test_each_date_format_is_parsed(self, day):
        preparation = Preparation()
        X = columns_of(preparation, preparation.fit_transform(pd.DataFrame({"d": pd.Series(day)})))
        assert_array_equal(X["d month"], [2, 3])
        assert np.diff(X["d days"]) == [41]

    def test_date_format_of_the_training_rows_is_used(self):
        preparation = Preparation().fit(pd.DataFrame({"d": ["1/2/2024", "13/3/2024"]}))
        X = columns_of(preparation, preparation.transform(pd.DataFrame({"d": ["5/6/2024"]})))
        assert_array_equal(X["d month"], [6])

    @pytest.mark.parametrize(
        ("text", "numbers"),
        [
            (["1", "2.5", "n/k", "4"], [1, 2.5, 2.5, 4]),
            (["1,5", "2,25", "3"], [1.5, 2.25, 3]),
            (["1.234,5", "2,5"], [1234.5, 2.5]),
            (["1,234", "999"], [1234, 999]),
            (["1,234.5", "-2"], [1234.5, -2]),
        ],
    )
    def test_numbers_written_as_text_are_parsed(self, text, numbers):
        assert_array_equal(Preparation().fit_transform(pd.DataFrame({"a": text}))[:, 0], numbers)

    def test_identifier_and_constant_columns_are_dropped_and_reported(self):
        table = a_table().assign(one="x", nothing=None, code=[f"K{i}" for i in range(N)])
        preparation = Preparation().fit(table)
        reasons = {note.column: note.done for note in preparation.notes_ if not note.detail}
        assert reasons == {
            "Unnamed: 0": "index", "customerId": "identifier", "code": "identifier",
            "sold": "date", "one": "constant", "nothing": "empty",
        }  # fmt: skip
        names = set(preparation.get_feature_names_out())
        assert not any(name.startswith(("Unn", "cust", "code", "one", "not")) for name in names)
        assert all(
            column in " ".join(describe_column_treatments(preparation.notes_)) for column in reasons
        )

    @pytest.mark.parametrize(
        ("name", "values"), [("id", [1, 1, 2]), ("width", [1, 2, 3]), ("paid", [4, 5, 6])]
    )
    def test_numbers_that_resemble_identifiers_are_kept(self, name, values):
        preparation = Preparation().fit(pd.DataFrame({name: values}))
        assert preparation.kinds_ == {name: "number"}

    def test_rare_categories_share_a_column(self):
        table = pd.DataFrame({"w": ["a"] * 1500 + ["b"] * 10 + ["c"] * 9 + ["d"]})
        preparation = Preparation()
        X = columns_of(preparation, preparation.fit_transform(table))
        assert {name: x.sum() for name, x in X.items()} == {"w=a": 1500, "w=b": 10, "w=other": 10}
        many = pd.DataFrame({"w": [f"w{i % 300}" for i in range(6000)]})
        X = columns_of(preparation, preparation.fit_transform(many))
        assert (len(X), X["w=other"].sum()) == (255, 46 * 20)

    def test_table_without_usable_columns_raises_an_explained_error(self):
        with pytest.raises(DataError, match="No column remains.*constant are left out: a"):
            Preparation().fit(pd.DataFrame({"a": [1, 1]}))
        with pytest.raises(DataError, match="two columns 'a'"):
            Preparation().fit(pd.DataFrame([[1, 2]], columns=["a", " a"]))

    def test_array_is_accepted_as_a_table(self):
        X = np.random.default_rng(0).normal(size=(20, 3))
        assert_array_equal(Preparation().fit_transform(X), X)


class TestPrediction:
    def test_encoding_of_a_row_is_independent_of_other_rows(self):
        table = a_table()
        preparation = Preparation().fit(table)
        expected = preparation.transform(table)
        new = pd.concat([table[::2], a_table(5, seed=1).assign(town="Wien")])
        new = new[new.columns[::-1]].assign(extra=1)
        assert_allclose(preparation.transform(new)[: N // 2], expected[::2], rtol=0, atol=1e-9)
        for row in (3, 7, 11):  # alone, a gap or a word has another type
            assert_array_equal(preparation.transform(table[row : row + 1])[0], expected[row])
        as_file = pd.read_csv(io.StringIO(table.to_csv(index=False)), **EXACT)
        assert_array_equal(preparation.transform(as_file), expected)

    def test_absent_columns_and_unseen_categories_are_imputed_by_means(self):
        table = a_table()
        preparation = Preparation()
        X = preparation.fit_transform(table)
        new = table.drop(columns=["sold", "sex"]).assign(town="Wien", extra=0)
        Z, fitted = columns_of(preparation, preparation.transform(new)), columns_of(preparation, X)
        for name in ("sold days", "sold month", "sex=m", "town=Kiel", "town=missing"):
            assert_allclose(Z[name], fitted[name].mean())
        different = preparation.find_schema_changes(new)
        assert different.missing_columns == ("sold", "sex")
        assert different.extra_columns == ("extra",)
        assert different.unseen_words == {"town": {"Wien": N}}

    def test_missing_column_is_encoded_like_missing_training_values(self):
        table = a_table()
        preparation = Preparation().fit(table)
        Z = columns_of(preparation, preparation.transform(table.drop(columns=["area", "town"])))
        assert_array_equal(Z["area=missing"], 1)
        assert_array_equal(Z["town=missing"], 1)
        assert_array_equal(Z["town=Kiel"], 0)

    def test_unseen_categories_are_encoded_as_rare_categories(self):
        table = pd.DataFrame({"w": ["a"] * 1500 + ["b"] * 10 + ["c"] * 9 + ["d"]})
        preparation = Preparation().fit(table)
        new = pd.DataFrame({"w": ["e", "c", None]})
        Z = columns_of(preparation, preparation.transform(new))
        assert_array_equal(Z["w=other"][:2], [1, 1])
        assert_allclose(Z["w=other"][2], 10 / 1520)
        assert preparation.find_schema_changes(new).unseen_words == {"w": {"e": 1}}
        assert preparation.find_schema_changes(new).new_gaps == {"w": 1}

    def test_values_of_another_type_are_reported_and_treated_as_missing(self):
        table = a_table().assign(area=np.arange(N) * 1.0)
        preparation = Preparation().fit(table)
        new = table.assign(area="much", sold="soon", town=3)
        different = preparation.find_schema_changes(new)
        assert different.other_types == {"area": N, "sold": N}
        assert different.unseen_words == {"town": {"3": N}}
        assert_allclose(columns_of(preparation, preparation.transform(new))["area"], (N - 1) / 2)
        assert not preparation.find_schema_changes(table)

    def test_numeric_strings_match_the_training_categories(self):
        preparation = Preparation().fit(pd.DataFrame({"zip": ["1A", "1B", "2A", "3"] * 5}))
        new = pd.DataFrame({"zip": [3, np.nan]})
        assert columns_of(preparation, preparation.transform(new))["zip=3"][0] == 1


class TestTransformer:
    def test_preparation_can_be_cloned_and_pickled_and_is_deterministic(self, tmp_path):
        table = a_table()
        preparation = Preparation()
        X = preparation.fit_transform(table)
        assert_array_equal(clone(preparation).fit(table).transform(table), X)
        joblib.dump(preparation, tmp_path / "p")
        again = joblib.load(tmp_path / "p")
        assert_array_equal(again.transform(table), X)
        assert (again.notes_, again.kinds_) == (preparation.notes_, preparation.kinds_)

    def test_preparation_can_be_the_first_step_of_a_pipeline(self):
        table = a_table()
        y = table["area"].fillna(0) + (table["town"] == "Kiel")
        model = make_pipeline(Preparation(), Ridge(0.1)).fit(table, y)
        X = Preparation().fit_transform(table)
        assert_allclose(model.predict(table), Ridge(0.1).fit(X, y).predict(X))

    def test_preparation_does_not_depend_on_the_row_order(self):
        table = a_table()
        order = np.random.default_rng(0).permutation(N)
        straight, mixed = Preparation().fit(table), Preparation().fit(table.iloc[order])
        assert_allclose(straight.transform(table), mixed.transform(table), atol=1e-12)


ISO, DAY_FIRST, MONTH_FIRST = "%Y-%m-%d", "%d.%m.%Y", "%m/%d/%Y"


@pytest.mark.parametrize("then", [ISO, DAY_FIRST, MONTH_FIRST, "%Y-%m-%dT%H:%M"])
@pytest.mark.parametrize("now", [ISO, DAY_FIRST, MONTH_FIRST])
def test_dates_in_another_notation_are_the_same_days(then, now):
    days = pd.date_range("2023-01-01", periods=90)
    fitted = Preparation().fit(
        pd.DataFrame({"day": days.strftime(then), "a": np.arange(90.0) ** 2})
    )
    new = pd.DataFrame({"day": days.strftime(now), "a": np.arange(90.0) ** 2})
    names = list(fitted.get_feature_names_out())
    assert_array_equal(
        fitted.transform(new)[:, names.index("day days")], (days - pd.Timestamp(2000, 1, 1)).days
    )
    turned = {then, now} == {DAY_FIRST, MONTH_FIRST}
    assert fitted.find_schema_changes(new).turned_dates == (("day",) if turned else ())
    assert not fitted.find_schema_changes(new).other_types


def test_ambiguous_dates_are_read_as_in_training():
    days = pd.date_range("2023-01-01", periods=90)
    table = pd.DataFrame({"day": days.strftime("%d/%m/%Y"), "a": np.arange(90.0) ** 2})
    fitted = Preparation().fit(table)
    april = fitted.transform(pd.DataFrame({"day": ["02/04/2023"], "a": [1.0]}))[0]
    assert april[list(fitted.get_feature_names_out()).index("day month")] == 4
