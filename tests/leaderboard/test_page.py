"""The page on methods: what it says of few data sets, of many, of none."""

import json
import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np

from rfbench import shipped, yamlfile
from rfbench.analysis.frame import of
from rfbench.leaderboard import page as which_method
from rfbench.leaderboard.board import gather
from rfbench.leaderboard.facts import Driver, Known, Leaderboard
from rfbench.registry import SAMPLERS
from rfbench.results import Results
from tests.leaderboard.comparisons import rows
from tests.support.frames import results


def folder(n: int, factor: float, name: str = "leaderboard_x", **changes: object) -> Results:
    """Rows of rks, of orf with a part of its error, and of qmc, on n data sets and two sizes."""
    generator = np.random.default_rng(1)
    errors = {
        (f"d{i}", method, M): (10.0 + i) * part * float(np.exp(generator.normal() * 0.05)) * 100 / M
        for i in range(n)
        for method, part in {"rks": 1.0, "orf": factor, "qmc": 1.0}.items()
        for M in (50, 100)
    }
    made = rows(errors, scaling="standard", selection_loss=0.1, **changes)
    for row in made:
        row |= {"cpu_pp": 0.1, "cpu_features": 0.1, "cpu_train": 0.3, "cpu_test": 0.02}
        row |= {"cpu_refit": 0.05, "n_test": 100, "at_edge": row["trial"] == 0}
    return results(made, name)


def boosting(n: int) -> Results:
    errors = {(f"d{i}", "boosting", 1): 8.0 + i for i in range(n)}
    return results(rows(errors, scaling="standard"), "leaderboard_references_b")


def board(*folders: Results, known: Known | None = None) -> Leaderboard:
    made = gather(of(folders), known)
    assert made is not None
    return made


def page(*folders: Results) -> str:
    return which_method.page(board(*folders), Path())


def test_a_leader_is_named_with_its_command() -> None:
    text = page(folder(20, 0.5), boosting(20))
    assert "**Take orf.** With 100 features its error is 0." in text
    assert "told apart from every other method with features" in text
    assert "--only label=orf`" in text
    assert "orf predicts 1,000 rows in 2e+02 ms, rks in 2e+02." in text
    assert re.search(r"boosting has 0.\d\d \(.*\) times the error of rks at M = 100", text)
    assert "3 of 3 trials per data set and method." in text
    once = results(
        rows({("d0", "boosting", 1): 8.0}, 1, scaling="standard"), "leaderboard_references_b"
    )
    assert "3 of 3 trials per data set and method, 1 of the models" in page(folder(20, 0.5), once)
    assert "20 with classes, 0 with numbers to predict" in text
    assert "Are random features enough?" in text
    assert "33 % of the fits that have a bandwidth chose one at an edge" in text
    assert "the method that is best on the others has 0.50 (" in text
    assert "that of orf 0." in text


def test_the_advice_for_fast_predictions_is_no_loser() -> None:
    """Three times as fast as others with a larger error is advice; a twentieth faster is none."""
    made = board(folder(20, 0.5))
    first = made.largest.lines[0]
    lines = [
        replace(first, method=method, predict=predict, ratio=ratio)
        for method, predict, ratio in [("a", 1.0, 1.0), ("b", 1.05, 0.6), ("c", 3.0, 0.5)]
    ]
    assert which_method._fastest(lines) == lines[1]
    assert which_method._fastest([replace(first, predict=math.nan)]) is None
    assert which_method._fastest([]) is None
    assert first.method == made.largest.leader == "orf"
    slower = replace(first, predict=3 * first.predict)
    faster = replace(first, method="qmc", ratio=0.6)
    size = replace(made.largest, lines=(slower, faster, *made.largest.lines[1:]))
    text = which_method.page(replace(made, sizes=(*made.sizes[:-1], size)), Path())
    assert "take qmc: of the methods that are better than rks it has the smallest mean" in text
    assert "among those that predict fastest or nearly so" in text


def test_what_is_cheap_to_train_has_the_smallest_error_of_what_takes_little_longer() -> None:
    made = board(folder(20, 0.5))
    first = made.largest.lines[0]
    best, cheap, plain, fast = (
        replace(first, method=method, search=search, ratio=ratio)
        for method, search, ratio in [
            ("a", 9.0, 0.5), ("b", 1.9, 0.8), ("rks", 1.0, 1.0), ("c", 0.1, 1.1)
        ]
    )  # fmt: skip
    assert which_method._cheapest([best, cheap, plain, fast], plain, best) == cheap
    assert which_method._cheapest([cheap, plain], plain, cheap) is None
    untimed = replace(best, search=math.nan)
    assert which_method._cheapest([untimed, cheap, plain], plain, untimed) is None
    size = replace(made.largest, lines=(replace(first, search=9.0), *made.largest.lines[1:]))
    text = which_method.page(replace(made, sizes=(*made.sizes[:-1], size)), Path())
    assert "qmc has the smallest mean error" in text or "rks has the smallest mean" in text


def test_a_size_at_which_a_method_leads_is_named_where_none_does_at_the_largest() -> None:
    made = board(folder(30, 0.5))
    assert made.sizes[0].leader == "orf"
    none = replace(made.largest, leader="")
    text = which_method.page(replace(made, sizes=(*made.sizes[:-1], none)), Path())
    assert "**No single method leads at M = 100.**" in text
    assert "**With 50 features orf leads**" in text


def test_below_the_minimum_the_page_names_no_method_and_says_why() -> None:
    text = page(folder(6, 0.5), boosting(6))
    made = board(folder(6, 0.5), boosting(6))
    assert "**Not enough data sets yet.**" in text
    assert f"there are 6, and the rule needs {made.largest.needed}" in text
    assert "Take orf" not in text
    assert "No single method" not in text
    assert "not data sets enough to say what decides it" in text


def test_a_slow_prediction_is_named_beside_the_best_method() -> None:
    made = board(folder(20, 0.5))
    first = made.largest.lines[0]
    slow = replace(first, method="qmc", predict=5 * first.predict, with_best=True)
    size = replace(made.largest, lines=(first, slow, made.largest.lines[-1]))
    text = which_method.page(replace(made, sizes=(*made.sizes[:-1], size)), Path())
    assert "cannot be told apart from it qmc takes longest, 1e+03 ms" in text
    alone = replace(first, predict=5 * first.predict)
    size = replace(made.largest, lines=(alone, *made.largest.lines[1:]))
    text = which_method.page(replace(made, sizes=(*made.sizes[:-1], size)), Path())
    assert "orf predicts 1,000 rows in 1e+03 ms, rks in 2e+02." in text


def test_the_advice_is_tried_on_tables_that_took_no_part() -> None:
    errors = {("new", "rks", 100): 10.0, ("new", "orf", 100): 5.0, ("old", "rks", 100): 8.0,
              ("old", "orf", 100): 6.0}  # fmt: skip
    made = rows(errors, 2, scaling="standard")
    made = [row for row in made if (row["dataset"], row["trial"]) != ("old", 1)]
    text = page(folder(20, 0.5), results(made, "leaderboard_held_out_x"))
    assert "**On 2 data sets that took no part** orf has 0.6" in text
    assert "`rfbench run leaderboard_held_out`" in text
    other = [row for row in made if row["sampler"] == "rks"]
    assert "took no part** orf" not in page(
        folder(20, 0.5), results(other, "leaderboard_held_out_x")
    )


def test_what_decides_is_named_where_something_does() -> None:
    made = board(folder(20, 0.5), boosting(20))
    assert made.enough is not None
    none = [Driver("rows", 0.1, -0.1, 0.3), Driver("columns", -0.1, -0.3, 0.1)]
    some = [*none, Driver("words", 0.4, 0.1, 0.6)]
    texts = [
        which_method.page(replace(made, enough=replace(made.enough, drivers=tuple(each))), Path())
        for each in (none, some)
    ]
    assert "None of these is seen to decide it: all intervals hold 0." in texts[0]
    assert "Seen to go with it: words." in texts[1]


def test_a_tie_is_said_to_be_one() -> None:
    text = page(folder(30, 1.0))
    assert "**No single method leads.**" in text
    assert re.search(r"told apart as better with \d+ features: none", text)


def test_without_rows_what_makes_them_has_its_command() -> None:
    text = which_method.page(None, Path())
    assert "rfbench run leaderboard leaderboard_references --trial-by-trial" in text


def test_stale_rows_sets_that_stand_apart_and_rows_of_others_are_named() -> None:
    made = board(folder(20, 0.5), known=Known({"d0": "a | twin"}))
    text = which_method.page(made, Path(), ["leaderboard_x"])
    assert "are stale" in text
    assert r"d0 (a \| twin)" in text
    assert "Measured so far: 19 data sets" in text


def test_a_table_has_a_mark_where_the_rule_tells_a_method_from_the_baseline() -> None:
    grid = which_method._errors(board(folder(20, 0.5)).sizes)
    cells = {row[0]: row[1:] for row in grid.rows}
    assert all(cell.endswith(" +") for cell in cells["orf"])
    assert not any(cell.endswith((" +", "\N{MINUS SIGN}")) for cell in cells["qmc"])
    assert cells["data sets"] == ["20", "20"]


def test_the_facts_are_written_as_json() -> None:
    made = board(folder(6, 0.5))
    files = which_method.files(made, Path())
    assert files == which_method.files(made, Path())
    written = json.loads(files["leaderboard.json"])
    assert [size["M"] for size in written["sizes"]] == [50, 100]
    assert written["rule"]["alpha"] == 0.05


def test_every_method_that_is_compared_is_explained_by_its_own_line() -> None:
    """No two forms of a sampler have one description."""
    about: dict[str, str] = {}
    for name, cls in SAMPLERS.items():
        about |= {name: cls.declaration.about} | dict(cls.declaration.labels)
    samplers = yamlfile.load(shipped.locate("leaderboard")).value["samplers"]
    labels = []
    for spec in samplers:
        name, own = next(iter(spec.items())) if isinstance(spec, dict) else (spec, None)
        labels.append((own or {}).get("label", name))
    assert all(about.get(label) for label in labels)
    assert len({about[label] for label in labels}) == len(labels)
    assert "uniform" not in about["nystroem-kmeans"]
    grid = which_method._methods(dict.fromkeys([*labels, "boosting"], "method"))
    assert all(len(row) == 3 and row[2] not in ("", "–") for row in grid.rows)
