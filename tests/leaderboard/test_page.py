"""The page on methods: what it says of few data sets, of many, of none."""

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np

from rfbench.analysis.frame import build_collection
from rfbench.datasets import catalog
from rfbench.leaderboard import page as which_method
from rfbench.leaderboard.board import compute_leaderboard
from rfbench.leaderboard.facts import Leaderboard
from rfbench.leaderboard.rule import MIN_DATASETS
from rfbench.registry import find_displayed_name
from rfbench.results import Results
from tests.leaderboard.comparisons import rows
from tests.support.frames import results

ROOT = Path(__file__).parents[2]


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
        row["at_edge"] = row["trial"] == 0
    return results(made, name)


def boosting(n: int) -> Results:
    errors = {(f"d{i}", "boosting", 1): 8.0 + i for i in range(n)}
    return results(rows(errors, scaling="standard"), "leaderboard_references_b")


def board(*folders: Results) -> Leaderboard:
    made = compute_leaderboard(build_collection(folders))
    assert made is not None
    return made


def page(*folders: Results) -> str:
    return which_method.render_page(board(*folders), Path())


def test_leader_is_named_with_its_command() -> None:
    text = page(folder(30, 0.5), boosting(30))
    assert "**Use ORF.** With 100 features, ORF is significantly better than every other" in text
    assert "--only label=orf`" in text
    assert "At M = 100, 30 data sets were measured" in text
    (line,) = [line for line in text.splitlines() if line.startswith("| 100 ")]
    assert [cell.strip() for cell in line.strip("|").split("|")][4:] == ["yes", "30"]


def test_page_names_a_smaller_m_with_a_best_method_if_the_largest_has_none() -> None:
    made = board(folder(30, 0.5))
    assert made.sizes[0].leader == "orf"
    none = replace(made.largest, apart=())
    text = which_method.render_page(replace(made, sizes=(*made.sizes[:-1], none)), Path())
    assert "**There is no clear winner at M = 100.**" in text
    assert "With 50 features, ORF is the best method." in text
    lines = {line.split()[1]: line for line in text.splitlines() if line.startswith("| ")}
    assert "| yes " in lines["50"]
    assert "| no: not better than " in lines["100"]


def test_page_with_too_few_data_sets_names_no_method() -> None:
    text = page(folder(6, 0.5), boosting(6))
    assert "**Not enough data sets yet.**" in text
    assert f"there are 6 data sets, but the rule needs {MIN_DATASETS}" in text
    assert "Use ORF" not in text


def test_recommendation_is_tested_on_held_out_data_sets() -> None:
    errors = {("new", "rks", 100): 10.0, ("new", "orf", 100): 5.0, ("old", "rks", 100): 8.0,
              ("old", "orf", 100): 6.0}  # fmt: skip
    made = rows(errors, 2, scaling="standard")
    made = [row for row in made if (row["dataset"], row["trial"]) != ("old", 1)]
    text = page(folder(30, 0.5), results(made, "leaderboard_held_out_x"))
    assert "On 2 held-out data sets, ORF has a 3" in text
    assert "`rfbench run leaderboard_held_out`" in text
    other = [row for row in made if row["sampler"] == "rks"]
    text = page(folder(30, 0.5), results(other, "leaderboard_held_out_x"))
    assert "held-out data sets, ORF" not in text


def test_best_method_with_a_short_tuning_time_is_named() -> None:
    made = board(folder(30, 0.5))

    def render(search: float, apart: tuple[tuple[str, str], ...]) -> str:
        lines = tuple(
            replace(line, search=1.0 if line.method == "rks" else search)
            for line in made.largest.lines
        )
        size = replace(made.largest, lines=lines, apart=apart, timed=30)
        return which_method.render_page(replace(made, sizes=(*made.sizes[:-1], size)), Path())

    named = "at most 2 times the tuning time of RKS, ORF has the smallest median error at M = 100."
    assert named in render(2.0, made.largest.apart)
    assert "do not differ significantly" not in render(2.0, made.largest.apart)
    assert "The errors of ORF and the errors of QMC, RKS do not differ significantly." in render(
        2.0, ()
    )
    late = render(2.1, made.largest.apart)
    assert "No method with at most 2 times the tuning time of RKS has a smaller median" in late
    assert "Limited time" not in page(folder(6, 0.5))


def test_tie_between_best_methods_is_reported() -> None:
    text = page(folder(30, 1.0))
    assert "**There is no clear winner at M = 100.** The command `rfbench run" in text
    assert text.count("| no: not better than ") == 2


def test_times_have_two_significant_digits() -> None:
    made = board(folder(30, 0.5))
    lines = tuple(replace(line, search=66.152) for line in made.largest.lines)
    last = replace(made.largest, lines=lines)
    grids = [which_method._winners([last]), which_method._errors([last], "rks")]
    for grid in grids:
        place = list(grid.head).index("tuning time")
        assert {row[place] for row in grid.rows} - {"\N{EN DASH}"} == {"66"}


def test_each_published_method_and_each_exclusion_is_explained() -> None:
    text = (ROOT / "results" / "which_method.md").read_text(encoding="utf-8")
    board_ = json.loads((ROOT / "results" / "leaderboard.json").read_text())
    tables = re.findall(r"^\| (.+?) +\|(.*)\|$", text, re.M)
    for line in board_["sizes"][-1]["lines"]:
        name = find_displayed_name(line["method"])
        assert [said for method, said in tables if method == name and said.strip().endswith(".")]
    rows = dict(tables)
    for name, why in catalog.list_excluded_data_sets().items():
        assert rows[name].split("|")[0].strip() == why


def test_selection_rule_on_the_page_is_a_numbered_list() -> None:
    rule = page(folder(30, 0.5)).split("\n## The rule\n")[1].split("\n## ")[0].strip()
    lines = rule.splitlines()
    assert [line.partition(".")[0] for line in lines] == [str(i + 1) for i in range(len(lines))]
    assert max(len(line.split()) for line in lines) <= 50


def test_without_rows_the_page_shows_the_command_that_creates_them() -> None:
    text = which_method.render_page(None, Path())
    command = "rfbench run leaderboard leaderboard_references leaderboard_boosting"
    assert f"{command} --trial-by-trial" in text


def test_table_marks_methods_that_differ_from_the_baseline() -> None:
    grid = which_method._errors(board(folder(30, 0.5)).sizes, "rks")
    cells = {row[0]: row[1:] for row in grid.rows}
    assert all(cell.endswith(" +") for cell in cells["ORF"][:2])
    assert not any(cell.endswith((" +", "\N{MINUS SIGN}")) for cell in cells["QMC"])
    assert cells["data sets"] == ["30", "30", *["\N{EN DASH}"] * 4]
    assert cells["RKS"][2:] == [
        "0",
        "1.00",
        "1.00",
        "1.0",
    ]  # the last one is the cost at the largest M


def test_leaderboard_results_are_written_as_json() -> None:
    made = board(folder(6, 0.5))
    files = which_method.render_files(made, Path())
    assert files == which_method.render_files(made, Path())
    written = json.loads(files["leaderboard.json"])
    assert [size["M"] for size in written["sizes"]] == [50, 100]
