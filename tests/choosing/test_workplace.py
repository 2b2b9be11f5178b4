"""What `choose` finds in OUT, leaves there and replaces; what a run that is cut off leaves."""

import json
from contextlib import suppress

import pytest

from rfbench.choosing import choice as choosing
from rfbench.choosing import workplace
from rfbench.choosing.choice import choose
from rfbench.errors import ConfigError, ResultsError, RfbenchError
from rfbench.results import manifest
from tests.choosing.conftest import towns
from tests.support.results import write_folder

CARD = json.dumps({"model_sha256": "0", "take": {}})
THEIRS = {"rows/paper.txt": "theirs", "predictions/a.csv": "theirs", "notes.md": "theirs"}


def filled(folder, texts):
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def table_and_target(rows):
    table = towns(rows)
    return table, table.pop("price").to_numpy()


def listed(folder):
    files = (file for file in folder.rglob("*") if file.is_file())
    return {file.relative_to(folder).as_posix(): file.read_text() for file in files}


@pytest.mark.parametrize("allow_rows", [True, False])
def test_failed_choose_leaves_all_files_unchanged(tmp_path, allow_rows):
    out = filled(tmp_path / "out", {**THEIRS, "model.json": CARD, "trials.csv": ""})
    before = listed(tmp_path)
    with pytest.raises(ConfigError, match="metric"):
        choose(*table_and_target(60), metric="none", out=out, allow_rows=allow_rows)
    assert listed(tmp_path) == before


@pytest.mark.parametrize("name", workplace.NAMED[2:])
def test_choose_rejects_output_of_another_command_before_measuring(tmp_path, monkeypatch, name):
    monkeypatch.setattr(choosing, "make_labeled_table", lambda *_, **__: pytest.fail("it was read"))
    out = filled(tmp_path / "out", {name: "{}"})
    with pytest.raises(ResultsError, match="output of another command would be overwritten"):
        choose(*table_and_target(60), out=out, allow_rows=False)
    assert listed(tmp_path) == {f"out/{name}": "{}"}


ROWS = [{"trial_id": f"{number:016x}", "trial": number} for number in range(2)]


def test_choose_replaces_only_its_own_output_files(tmp_path):
    """Those of others stay where they are, and what was measured goes with `--no-rows`."""
    out = filled(tmp_path / "out", THEIRS)
    predicted = f"predictions/{ROWS[0]['trial_id']}.npz"
    made = {"rows.npz": "", "model.joblib": "", "model.json": CARD, "more.txt": "is not named"}
    with workplace.make_working_folder(out) as place:
        place.rmdir()
        filled(write_folder(place, ROWS, {}), {**made, predicted: ""})
    del made["more.txt"]
    measured = {"trials.csv", "manifest.json", predicted}
    assert listed(out).keys() == {*THEIRS, *made, *measured}
    with workplace.make_working_folder(out, allow_rows=False) as place:
        filled(place, made)
    assert listed(out).keys() == {*THEIRS, *made, "manifest.json"}
    assert [file.name for file in tmp_path.iterdir()] == ["out"]


def test_interrupted_working_folder_is_reused_by_the_next_run(tmp_path):
    out = tmp_path / "out"
    with suppress(KeyboardInterrupt), workplace.make_working_folder(out) as place:
        place.rmdir()
        write_folder(place, ROWS, {})
        raise KeyboardInterrupt
    assert [*out.iterdir()] == []
    with workplace.make_working_folder(out) as place:
        for name in ("model.joblib", "model.json"):
            (place / name).write_text(CARD)
    assert (out / "trials.csv").read_text().count("\n") == 3
    assert not place.parent.exists()


def test_measurements_of_an_earlier_run_are_kept(tmp_path):
    out = filled(tmp_path / "out", {"model.json": CARD, manifest.MANIFEST: "{}", "trials.csv": "a"})
    with workplace.make_working_folder(out) as place:
        assert listed(place) == {"trials.csv": "a", manifest.MANIFEST: "{}"}
        with (
            pytest.raises(ResultsError, match="Another `rfbench choose`"),
            workplace.make_working_folder(out),
        ):
            pass
    with suppress(OSError), workplace.make_working_folder(out, allow_rows=False) as place:
        assert listed(place) == {}
        raise OSError("cut")
    assert listed(out)["trials.csv"] == "a"


def test_symbolic_link_is_not_followed(tmp_path):
    theirs = filled(tmp_path / "theirs", {"a": "theirs"})
    (tmp_path / ".out.choosing").symlink_to(theirs)
    with (
        pytest.raises(RfbenchError, match="is a link"),
        workplace.make_working_folder(tmp_path / "out"),
    ):
        pass
    assert listed(theirs) == {"a": "theirs"}
