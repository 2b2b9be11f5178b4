"""The page on methods: what it says of few data sets, of many, of none."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np

from rfbench import shipped, yamlfile
from rfbench.analysis.frame import of
from rfbench.leaderboard import page as which_method
from rfbench.leaderboard.board import gather
from rfbench.leaderboard.facts import Known, Leaderboard
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
    assert "significantly better than every other method with features" in text
    assert "--only label=orf`" in text
    assert "3 of 3 trials per data set and method." in text
    once = results(
        rows({("d0", "boosting", 1): 8.0}, 1, scaling="standard"), "leaderboard_references_b"
    )
    assert "3 of 3 trials per data set and method, 1 of the models" in page(folder(20, 0.5), once)
    assert "Are random features enough?" in text
    assert "33 % of the fits that have a bandwidth chose one at an edge" in text
    assert "On half of the data sets the error of orf is more than 0." in text


def test_a_size_at_which_a_method_leads_is_named_where_none_does_at_the_largest() -> None:
    made = board(folder(30, 0.5))
    assert made.sizes[0].leader == "orf"
    none = replace(made.largest, leader="")
    text = which_method.page(replace(made, sizes=(*made.sizes[:-1], none)), Path())
    assert "**There is no clear winner at M = 100.**" in text
    assert "**With 50 features orf leads**" in text


def test_below_the_minimum_the_page_names_no_method_and_says_why() -> None:
    text = page(folder(6, 0.5), boosting(6))
    made = board(folder(6, 0.5), boosting(6))
    assert "**Not enough data sets yet.**" in text
    assert f"there are 6, and the rule needs {made.largest.needed}" in text
    assert "Take orf" not in text
    assert "No single method" not in text


def test_the_advice_is_tried_on_tables_that_took_no_part() -> None:
    errors = {("new", "rks", 100): 10.0, ("new", "orf", 100): 5.0, ("old", "rks", 100): 8.0,
              ("old", "orf", 100): 6.0}  # fmt: skip
    made = rows(errors, 2, scaling="standard")
    made = [row for row in made if (row["dataset"], row["trial"]) != ("old", 1)]
    text = page(folder(20, 0.5), results(made, "leaderboard_held_out_x"))
    assert "**On 2 data sets that were held out** orf has 0.6" in text
    assert "`rfbench run leaderboard_held_out`" in text
    other = [row for row in made if row["sampler"] == "rks"]
    assert "held out** orf" not in page(folder(20, 0.5), results(other, "leaderboard_held_out_x"))


def test_a_tie_is_said_to_be_one() -> None:
    text = page(folder(30, 1.0))
    assert "**There is no clear winner.**" in text
    assert "There is no significant difference from " in text


def test_without_rows_what_makes_them_has_its_command() -> None:
    text = which_method.page(None, Path())
    assert "rfbench run leaderboard leaderboard_references --trial-by-trial" in text


def test_stale_rows_sets_that_stand_apart_and_rows_of_others_are_named() -> None:
    made = board(folder(20, 0.5), known=Known({"d0": "a | twin"}))
    text = which_method.page(made, Path(), ["leaderboard_x"])
    assert "are stale" in text
    assert r"d0 (a \| twin)" in text
    assert "Measured so far: 19 data sets" in text
    assert "this speaks of small tables" in text
    everything = which_method.page(replace(made, planned=(19, 3)), Path())
    assert "small tables" not in everything.split("## What to take")[0]


def test_a_table_has_a_mark_where_the_rule_tells_a_method_from_the_baseline() -> None:
    grid = which_method._errors(board(folder(20, 0.5)).sizes)
    cells = {row[0]: row[1:] for row in grid.rows}
    assert all(cell.endswith(" +") for cell in cells["orf"][:2])
    assert not any(cell.endswith((" +", "\N{MINUS SIGN}")) for cell in cells["qmc"])
    assert cells["data sets"] == ["20", "20", *["\N{EN DASH}"] * 3]
    assert cells["rks"][2:] == ["1.00", "0.5", "200"]  # the costs at the largest M


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
