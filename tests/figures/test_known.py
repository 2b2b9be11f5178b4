"""Figures are used again while nothing has changed that they show."""

import json
import shutil
from pathlib import Path

import matplotlib
import pytest

from rfbench import figures
from rfbench.figures import known
from rfbench.results import Results, read
from tests.support.results import Write


@pytest.fixture(autouse=True)
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Return the files that are written; they hold no picture."""
    files: list[Path] = []

    def save(figure: object, file: Path) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
        files.append(file)

    monkeypatch.setattr(figures, "save", save)
    return files


@pytest.fixture
def results(write: Write) -> Results:
    return read(write([{"M": 10}, {"M": 50}]))


def test_a_second_call_draws_nothing(results: Results, drawn: list[Path]) -> None:
    first = figures.plot(results)
    assert first == drawn
    assert first
    assert figures.plot(read(results.folder)) == first
    assert len(drawn) == len(first)


def test_a_copy_of_a_folder_brings_its_figures(results: Results, drawn: list[Path]) -> None:
    first = figures.plot(results)
    copy = results.folder.parent / "elsewhere" / results.folder.name
    shutil.copytree(results.folder, copy)
    assert figures.plot(read(copy)) == [copy / file.name for file in first]
    assert len(drawn) == len(first)


def test_the_formats_the_style_and_the_place_are_drawn_anew(
    results: Results, drawn: list[Path], tmp_path: Path
) -> None:
    count = len(figures.plot(results))
    figures.plot(results, formats=["pdf", "svg"])
    assert len(drawn) == 3 * count
    assert {file.suffix for file in drawn[count:]} == {".pdf", ".svg"}
    figures.plot(results, style="ggplot")
    figures.plot(results, tmp_path / "other")
    assert len(drawn) == 5 * count
    with matplotlib.rc_context({"font.size": 7}):
        figures.plot(results, tmp_path / "other")
    assert len(drawn) == 6 * count


def test_one_changed_digit_of_a_row_is_drawn(
    write: Write, drawn: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write([{"M": 10, "error": 12.5}, {"M": 50, "error": 10.0}])
    count = len(figures.plot(read(folder)))
    other = write([{"M": 10, "error": 12.5}, {"M": 50, "error": 10.5}], name="other")
    shutil.copy(other / "trials.csv", folder)
    figures.plot(read(folder))
    assert len(drawn) == 2 * count
    monkeypatch.setattr(known, "_code", lambda: "another version")
    figures.plot(read(folder))
    assert len(drawn) == 3 * count


@pytest.mark.parametrize(
    "content", ["", "{}", "[]", "3", '{"of": 1, "files": 7}', '{"files": [7]}', '{"of": []}']
)
def test_a_record_that_cannot_be_read_or_a_lost_file_is_drawn_anew(
    results: Results, drawn: list[Path], content: str
) -> None:
    count = len(figures.plot(results))
    (results.folder / known.FILE).write_text(content)
    figures.plot(results)
    assert len(drawn) == 2 * count
    drawn[0].unlink()
    figures.plot(results)
    assert len(drawn) == 3 * count


def test_a_record_names_no_file_elsewhere(results: Results, drawn: list[Path]) -> None:
    count = len(figures.plot(results))
    record = json.loads((results.folder / known.FILE).read_text())
    record["files"] = ["../../secret.png"]
    (results.folder.parent / "secret.png").touch()
    (results.folder / known.FILE).write_text(json.dumps(record))
    figures.plot(results)
    assert len(drawn) == 2 * count
