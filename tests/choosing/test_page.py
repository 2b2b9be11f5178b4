"""The page of a folder of `choose`, for a regression and for classes."""

import json
import re

import numpy as np
import pytest

from rfbench.choosing import page
from rfbench.choosing.choice import choose
from rfbench.pages.html import write_page
from tests.choosing.conftest import FOREVER, towns
from tests.support.command_line import call


@pytest.fixture(scope="module")
def folder(short, tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    towns(200).to_csv(folder / "towns.csv", index=False)
    choose(folder / "towns.csv", target="price", budget=FOREVER, out=folder / "out", n_jobs=1)
    return folder / "out"


def test_report_page_shows_the_values_of_the_model_card(folder, tmp_path):
    card = json.loads((folder / "model.json").read_text())
    call("report", folder, "--html", tmp_path / "page.html")
    html = (tmp_path / "page.html").read_text()
    text = re.sub(r"<[^>]*>|\s+", " ", html)
    for fact in (
        f"SELECTED: {card['take']['label']}",
        "with 95 % intervals",
        "predicted and true values",
        "increase of the rmse if a column is permuted",
        "rfbench predict",
        *(part["label"] for part in card["take"]["parts"]),
    ):
        assert fact in text, fact
    assert html.count("data:image/png") == 3
    assert "rfbench run" not in text


def test_model_card_has_errors_and_importances_on_held_out_rows(folder):
    card = json.loads((folder / "model.json").read_text())
    explained = card["explained"]
    assert sum(group["rows"] for group in explained["groups"]) == card["n_test"] == 50
    ordered = [each["column"] for each in explained["importances"]]
    assert {*ordered} == {"a", "b", "town", "day"}
    assert {*ordered[:2]} == {"a", "town"}
    assert explained["importances"][0]["increase"] > card["take"]["error"]
    assert sum(part["weight"] for part in card["take"]["parts"]) == pytest.approx(1, abs=0.01)


def test_report_page_names_left_out_classes_columns_and_models(folder, tmp_path):
    card = json.loads((folder / "model.json").read_text())
    card |= {
        "left_out": {"rarer": 2},
        "unused": ["z1"],
        "excluded": ["extra trees, setting 3"],
        "failed": {"boosting, setting 4": "no memory"},
        "rows": 1000,
        "classes": ["no", "<b>"],
        "shares": [0.5, 0.5],
    }
    reason = "a fit on the training rows alone would need 9.0 s"
    card["explained"] |= {"importances": [], "reason": reason, "confusion": [[20, 5], [1, 24]]}
    (tmp_path / "model.json").write_text(json.dumps(card))
    write_page([tmp_path], tmp_path / "page.html")
    html = (tmp_path / "page.html").read_text()
    for fact in (
        "Class rarer, because its 2 rows", "z1",
        "was not sufficient: extra trees, setting 3", "no memory",
        "800 of 1000 rows", reason, "true class and predicted class", "share of right predictions",
        '<td class="short number">24</td>',
    ):  # fmt: skip
        assert fact in html, fact
    assert "<b>" not in html
    empty = {"preparation": [], "left_out": {}, "unused": [], "excluded": [], "failed": {}}
    (tmp_path / "model.json").write_text(json.dumps({**card, **empty, "rows": 200}))
    assert "Nothing was left out." in page.render_chosen_model(tmp_path, "")[0]
    assert "Nothing was left out." not in html


def test_invalid_model_card_gives_no_section_on_the_report_page(folder, tmp_path):
    assert page.render_chosen_model(tmp_path, "") is None
    for content in ("[", "[]", "{}"):
        (tmp_path / "model.json").write_text(content)
        assert page.render_chosen_model(tmp_path, "") is None


def test_error_bars_of_the_figure_equal_the_error_intervals(folder):
    card = json.loads((folder / "model.json").read_text())
    first = next(iter(page._draw(card).values()))
    intervals, bars = first.axes[0].containers
    widths = [bar.get_width() for bar in bars.patches]
    assert widths == sorted((c["error"] for c in card["contenders"]), reverse=True)
    halves = [np.ptp(s[:, 0]) / 2 for s in intervals.lines[2][0].get_segments()]
    errors = {c["error"]: c["standard_error"] for c in card["contenders"]}
    assert halves == pytest.approx([1.96 * errors[w] for w in widths], rel=1e-4)
