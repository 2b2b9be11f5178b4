"""`table` and `plot` show the trials that the pages count; all of them only if asked."""

import io
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

from rfbench import figures
from rfbench.analysis.frame import build_collection, drop_added_trials
from rfbench.cli import main
from rfbench.results import read_results_folder
from tests.support.frames import results
from tests.support.papers import trials

FOLDER = Path(__file__).parents[2] / "results" / "published" / "eerf2018_table3_mnist.matched"


def trials_at_450(*options: str) -> "pd.Series[int]":
    done = CliRunner().invoke(main, ["table", str(FOLDER), "--format", "csv", *options])
    table = pd.read_csv(io.StringIO(done.stdout))
    return table[table["M_max"] == 450].set_index("sampler")["trials"]


def test_summary_table_excludes_added_trials_like_the_pages() -> None:
    rows = build_collection([read_results_folder(FOLDER)]).rows
    rows = rows[rows["counts"] & (rows["M"] == 450)]
    assert trials_at_450().to_dict() == rows.groupby("sampler").size().to_dict()
    assert trials_at_450("--all-trials")["rks"] == 114


@pytest.mark.parametrize(("all_trials", "most"), [(False, 10), (True, 114)])
def test_figures_exclude_added_trials_like_the_pages(
    all_trials, most, monkeypatch, tmp_path
) -> None:
    given = []
    monkeypatch.setattr(
        figures, "draw_results", lambda results, *_: given.append(results) or ([], [])
    )
    figures.draw_folder(FOLDER, all_trials, tmp_path)
    assert given[0].rows.groupby(["sampler", "M"]).size().max() == most


def test_no_trials_are_dropped_from_results_without_a_paper() -> None:
    own = results(trials(70.0), FOLDER.name)
    assert drop_added_trials(own) is own
