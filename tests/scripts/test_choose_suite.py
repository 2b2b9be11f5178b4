"""The tables of both halves, the portfolio, and the summary of the comparison with FLAML."""

import hashlib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from rfbench.choosing.rounds import CONTENDERS
from rfbench.choosing.table import make_labeled_table
from scripts.bench import choose_portfolio, choose_suite
from scripts.bench.tables import APART, DEVELOPED, TWINS, SuiteTable, list_tables

ROOT = Path(__file__).parents[2]


def test_benchmark_tables_are_split_by_name_hash_with_near_duplicates():
    tables = {table.file: table for table in list_tables()}
    assert len(tables) == 62
    assert {*DEVELOPED, *TWINS, *TWINS.values(), *APART} <= tables.keys()
    for file, table in tables.items():
        first = tables[TWINS.get(file, file)]
        assert table.is_developed == first.is_developed
        if file == first.file and file not in DEVELOPED:
            last = hashlib.sha256(file.encode()).hexdigest()[-1]
            assert table.is_developed == (last in "02468ace")
    assert tables["krkopt"].is_apart


def test_settings_of_the_portfolio_complement_each_other():
    losses = pd.DataFrame(
        {"default": [1.0, 1.0, 1.0], "mean": [0.8, 0.8, 1.1], "same": [0.8, 0.9, 1.1],
         "other": [1.5, 1.5, 0.7], "bad": [2.0, 2.0, 2.0]}
    )  # fmt: skip
    every = choose_portfolio.choose_settings(losses)
    assert [text for text, *_ in every] == ["mean", "other"]
    assert every[0] == choose_portfolio.choose_settings(losses, 1)[0]
    assert every[1][1:] == pytest.approx(((1.5**2 * 0.7) ** (1 / 3), (0.8**2 * 0.7) ** (1 / 3)))
    settings = choose_portfolio.list_settings()
    assert next(iter(settings)) == "boosting {}"
    assert len(settings) == 27


def test_suite_summary_uses_medians_over_seeds_and_counts_duplicates_once():
    """Medians over seeds, a floor, twins as one table, and large tables alone for the share."""
    files, ratios = ["a", "a2", "b", "c", "d"], [0.5, 2.0, 0.9, 1.2, 1.0]
    tables = [SuiteTable(f, f, "a" if f == "a2" else f, False, False) for f in files]
    others = {"flaml": 1.0, "boosting": 2.0, "constant": 9.0}
    rows = [
        {"table": f, "n_test": n, "choose": r * factor} | others
        for f, r, n in zip(files, ratios, [5000, 5000, 5000, 5000, 10], strict=True)
        for factor in (1.0, 0.1, 7.0)
    ]  # fmt: skip
    found = choose_suite.compute_ratios(pd.DataFrame(rows), tables)
    np.testing.assert_allclose(found["to flaml"], ratios)
    made = choose_suite.summarize(found)
    assert made["flaml"] == pytest.approx((1.0 * 0.9 * 1.2 * 1.0) ** 0.25)
    assert made["boosting"] == pytest.approx(made["flaml"] / 2)
    assert made["flaml without two"] == pytest.approx(1.2**0.5)
    assert made["share above 1.05"] == 0.5
    tiny = [{**row, "choose": 0.0, "flaml": 0.0} for row in rows]
    floored = choose_suite.compute_ratios(pd.DataFrame(tiny), tables)
    np.testing.assert_allclose(floored["choose"], 0.009)
    np.testing.assert_allclose(floored["to flaml"], 1.0)


def test_every_method_is_measured_on_the_same_unseen_rows(monkeypatch):
    """The stand-ins know the two classes, or the target, of each row from its first column."""
    random = np.random.default_rng(0)
    X = random.standard_normal((200, 2))
    y = (X[:, 0] > 0).astype(int)
    seen = []

    class Knows:
        classes_ = np.array([0, 1])

        def predict_proba(self, X):
            return np.eye(2)[(X.to_numpy()[:, 0] > 0).astype(int)] * 0.8 + 0.1

    def chosen(X, y, **_):
        seen.append(X)
        return type("Choice", (), {"model": Knows(), "card": {"take": {"label": "knows"}}})

    def flaml(python, X, y, test, metric, args):
        seen.append(X)
        return np.eye(2)[(test[:, 0] > 0).astype(int)], np.array([0, 1]), "lgbm"

    monkeypatch.setattr(choose_suite, "choose", chosen)
    monkeypatch.setattr(choose_suite, "fit_flaml", flaml)
    line = choose_suite.measure(make_labeled_table(X, y), 1.0, 0, 1, None)
    assert {*line, "table", "seed", "budget"} == {*choose_suite.COLUMNS}
    assert (line["n_test"], line["choose_wrong"], line["flaml"]) == (50, 0.0, 0.0)
    assert line["choose"] == pytest.approx(-np.log(0.9))
    assert line["boosting"] < line["constant"]
    np.testing.assert_array_equal(seen[0], seen[1])
    assert len(seen[0]) == 150


def test_shipped_portfolio_equals_the_one_chosen_from_stored_losses():
    settings = choose_portfolio.list_settings()
    losses = choose_portfolio.read_losses(ROOT / choose_portfolio.OUT)
    chosen = [settings[text] for text, *_ in choose_portfolio.choose_settings(losses)]
    assert chosen == choose_portfolio.CONTENDERS["portfolio"]
    files = {t.file for t in list_tables() if t.is_developed and not t.is_apart}
    assert {*losses.index} <= files


def test_shipped_portfolio_is_selected_from_the_committed_losses():
    settings = choose_portfolio.list_settings()
    losses = choose_portfolio.read_losses(ROOT / choose_portfolio.OUT)
    chosen = choose_portfolio.choose_settings(losses)
    assert [settings[text] for text, *_ in chosen] == CONTENDERS["portfolio"]
    shipped = (ROOT / "rfbench/choosing/contenders.yaml").read_text()
    for _, alone, best in chosen:
        assert f"  # {alone:.3f}, {best:.3f}\n" in shipped


def test_documented_ratios_equal_the_committed_rows():
    rows = pd.read_csv(ROOT / "results/bench/choose_suite.csv")
    ratios = choose_suite.compute_ratios(rows, list_tables())
    half = ratios[~ratios["is_apart"] & ~ratios["is_developed"]]
    facts, medians = choose_suite.summarize(half), half[["to boosting", "to flaml"]].median()
    text = " ".join((ROOT / "rfbench/choosing/README.md").read_text().split())
    whole = [t for t in list_tables() if not (t.is_developed or t.is_apart)]
    assert f"{len(half)} of the {len(whole)} tables" in text
    assert f"is {facts['flaml']:.2f} (median {medians['to flaml']:.2f})" in text
    assert f"and {facts['flaml without two']:.2f} without the two smallest ratios" in text
    assert f"is {facts['boosting']:.2f} (median {medians['to boosting']:.2f})" in text
