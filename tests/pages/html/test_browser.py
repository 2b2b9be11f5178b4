"""The page in a real browser."""

import csv
import io
import os
import re
from pathlib import Path

import pandas as pd
import pytest

from tests.pages.html.conftest import HOSTILE
from tests.support.runs import MOST_SECONDS

TABLE = "#table tbody tr"
AXE = os.environ.get("RFBENCH_AXE")


def table(screen):
    heads = screen.locator("#table thead th").all_inner_texts()
    cells = [row.locator("td").all_inner_texts() for row in screen.locator(TABLE).all()]
    return pd.DataFrame(cells, columns=[head.split(" ▲")[0].split(" ▼")[0] for head in heads])


def traces(screen):
    return screen.evaluate("document.getElementById('figure').data")


def layout(screen, axis):
    return screen.evaluate(f"document.getElementById('figure').layout.{axis}.type")


def test_the_numbers_are_those_of_the_csv(screen, folders):
    shown = table(screen).astype({"M": int, "mean": float, "se": float, "sd": float})
    rows = pd.read_csv(folders / "mine" / "trials.csv")
    rows = rows[rows["status"] == "ok"]
    for (label, M), group in rows.groupby(["label", "M"]):
        (_, line), = shown[(shown["method"] == label) & (shown["M"] == M)].iterrows()  # fmt: skip
        assert line["mean"] == pytest.approx(group["error"].mean(), rel=1e-4)
        assert line["sd"] == pytest.approx(group["error"].std(), rel=1e-4)
        assert line["se"] == pytest.approx(group["error"].std() / 2, rel=1e-4)
        assert line["trials"] == str(len(group))
        total = group[["t_pp", "t_features", "t_train"]].sum(axis=1).mean()
        assert float(line["time (s)"]) == pytest.approx(total, rel=1e-4)
    assert len(shown) == 6
    assert sorted(y for one in traces(screen) for y in one["y"]) == pytest.approx(
        sorted(shown["mean"]), rel=1e-4
    )


def test_methods_are_hidden_and_shown(screen):
    assert len(traces(screen)) == 2
    screen.get_by_label("rks", exact=True).uncheck()
    assert len(traces(screen)) == 1
    assert "rks" not in set(table(screen)["method"])
    screen.click("#none")
    assert traces(screen) == []
    assert "No values" in screen.inner_text("#said")
    screen.click("#all")
    assert len(traces(screen)) == 2


def test_axes_are_logarithmic_on_request(screen):
    assert (layout(screen, "xaxis"), layout(screen, "yaxis")) == ("log", "linear")
    screen.uncheck("#logx")
    screen.check("#logy")
    assert (layout(screen, "xaxis"), layout(screen, "yaxis")) == ("linear", "log")


def test_single_trials_are_drawn_on_request(screen, folders):
    screen.check("#trials")
    drawn = sorted(y for one in traces(screen) if one["mode"] == "markers" for y in one["y"])
    rows = pd.read_csv(folders / "mine" / "trials.csv")
    assert drawn == pytest.approx(sorted(rows["error"].dropna()), rel=1e-4)


def test_many_trials_are_thinned_with_a_word(chromium, file):
    text = file.read_text(encoding="utf-8").replace("const DRAWN = 5000;", "const DRAWN = 12;")
    assert "const DRAWN = 12;" in text
    opened = chromium.new_page()
    opened.set_default_timeout(1000 * MOST_SECONDS)
    opened.set_content(re.sub(r"<meta http-equiv[^>]*>", "", text))
    opened.select_option("#experiment", label="mine")
    opened.check("#trials")
    assert "12 of 24" in opened.inner_text("#said")
    assert sum(len(one["x"]) for one in traces(opened) if one["mode"] == "markers") == 12
    opened.close()


def test_the_frontier_is_what_no_point_beats(screen):
    screen.select_option("#axis", "t_total")
    (edge,) = [one for one in traces(screen) if one.get("name") == "frontier"]
    points = [(float(x), float(y)) for x, y in table(screen)[["time (s)", "mean"]].to_numpy()]
    best = sorted((x, y) for x, y in points if not any(a <= x and b < y for a, b in points))
    found = list(zip(edge["x"], edge["y"], strict=True))
    assert len(best) == len(found) > 1
    for one, other in zip(found, best, strict=True):
        assert one == pytest.approx(other, rel=1e-3)


def test_a_table_is_sorted_by_the_button_in_its_head(screen):
    head = screen.locator("#table th", has_text="mean")
    for direction in ("ascending", "descending"):
        head.get_by_role("button").click()
        assert head.get_attribute("aria-sort") == direction
        means = table(screen)["mean"].astype(float)
        assert list(means) == sorted(means, reverse=direction == "descending")
    assert screen.locator("#table th[aria-sort=descending]").count() == 1


def test_a_table_is_copied_as_csv_and_latex(screen):
    screen.click("#table button:text('Copy as CSV')")
    read = list(csv.DictReader(io.StringIO(screen.input_value("dialog textarea"))))
    assert {row["method"] for row in read} == {"rks", HOSTILE}
    assert len(read) == 6
    screen.keyboard.press("Escape")
    screen.click("#table button:text('Copy as LaTeX')")
    text = screen.input_value("dialog textarea")
    assert text.count(r"\\") == 7
    assert r"\textless{}script" in text


def test_a_square_opens_what_stands_behind_it_by_keyboard(screen):
    cell = screen.locator("#numbers button[aria-label*='rks M 14 accuracy, matched']")
    assert cell.inner_text() in "AC?DG"
    cell.focus()
    screen.keyboard.press("Enter")
    text = screen.inner_text("dialog")
    for word in ("68.45 ± 0.89", "68.5", "Table 3", "Rule", "10 trials"):
        assert word in text
    screen.keyboard.press("Escape")
    assert not screen.locator("dialog").is_visible()
    assert screen.evaluate("document.activeElement.className").startswith("square")
    screen.locator("#claims button").first.click()
    assert "In the paper" in screen.inner_text("dialog")


def test_no_text_becomes_markup_or_a_script(screen):
    assert screen.evaluate("window.bad") is None
    assert HOSTILE in set(table(screen)["method"])
    assert HOSTILE in screen.inner_text("#what")
    assert screen.locator("img:not(#print)").count() == 0
    message = screen.inner_text("#failed td.text:nth-last-child(2)")
    assert message.startswith("<script>window.bad=1</script>mmm")
    assert "(100,000 characters)" in message  # the results keep no more of a message
    assert len(message) < 2100
    screen.hover("#figure .point >> nth=0", force=True)
    assert screen.evaluate("window.bad") is None


def test_the_keyboard_reaches_everything_in_order(screen):
    screen.evaluate("document.activeElement.blur()")
    seen = []
    for _ in range(12):
        screen.keyboard.press("Tab")
        seen.append(screen.evaluate("document.activeElement.id || document.activeElement.hash"))
    assert seen[:5] == ["#main", "#failures", "#curves", "#papers", "#words"]
    assert seen[5:9] == ["experiment", "dataset", "metric", "axis"]


@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_is_wider_than_the_screen(screen, width):
    screen.set_viewport_size({"width": width, "height": 844})
    assert screen.evaluate("document.documentElement.scrollWidth") <= width


def test_paper_gets_a_static_picture(screen):
    screen.wait_for_function("document.getElementById('print').src.startsWith('data:image/svg')")
    screen.emulate_media(media="print")
    screen.set_viewport_size({"width": 700, "height": 1000})
    assert screen.locator("#print").is_visible()
    assert not screen.locator("#figure").is_visible()
    assert screen.evaluate("document.getElementById('print').naturalWidth") > 0
    assert screen.evaluate("document.documentElement.scrollWidth") <= 700


@pytest.mark.skipif(not AXE, reason="axe-core is missing: RFBENCH_AXE names its file")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(screen, scheme):
    """Contrast, names and roles, by axe-core; RFBENCH_AXE names its axe.min.js."""
    screen.emulate_media(color_scheme=scheme)
    screen.evaluate(Path(AXE).read_text(encoding="utf-8"))
    found = screen.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
    assert [(one["id"], one["nodes"][0]["html"][:200]) for one in found] == []
