import pytest

from rfbench.errors import ResultsError
from rfbench.results import manifest, read_results_folder
from rfbench.results.manifest import make_data_key
from rfbench.results.merging import merge, read_valid_rows
from rfbench.results.store import Store
from tests.support.command_line import call
from tests.support.results import named, with_cell, write_folder

SPHERES = {make_data_key("sphere", {"d": d}): f"{d:064}" for d in range(2, 16)}
MANIFEST = {
    "config": {"seed": 0},
    "settings": ["s"],
    "trials": [*map(named, "abcd")],
    "data": SPHERES,
}


def row(word, **changes):
    return {"trial_id": word, "setting": "s", "data_hash": f"{2:064}", **changes}


def folder_of(top, *rows, **changes):
    return write_folder(top, rows, MANIFEST | changes)


def test_merge_adds_missing_and_locally_failed_trials(tmp_path):
    target = folder_of(tmp_path / "t", row("a"), row("b", status="failed"), row("c"))
    other = folder_of(
        tmp_path / "o", row("a"), row("b"), row("c", status="failed"), row("d", error=0.1 + 0.2)
    )
    assert merge(target, [other]).added == 2
    found = {one["trial_id"]: one for one in read_valid_rows(target)}
    assert {name: one["status"] for name, one in found.items()} == dict.fromkeys(
        map(named, "abcd"), "ok"
    )
    assert found[named("d")] in read_valid_rows(other)
    assert merge(target, [other]).added == 0
    assert "0 rows added" in call("merge", target, other)


def test_merge_rejects_itself_and_another_experiment(tmp_path):
    target = folder_of(tmp_path / "t", row("a"))
    with pytest.raises(ResultsError, match="with itself"):
        merge(target, [target])
    with pytest.raises(ResultsError, match="differ in seed"):
        merge(target, [folder_of(tmp_path / "o", row("b"), config={"seed": 1}, settings=["z"])])
    assert len(read_valid_rows(target)) == 1


@pytest.mark.parametrize("sphere", list(SPHERES)[::13])
def test_merge_rejects_rows_measured_on_different_data(tmp_path, sphere):
    target = folder_of(tmp_path / "t", row("a"))
    other = folder_of(tmp_path / "o", row("b"), data=SPHERES | {sphere: "f" * 64})
    with pytest.raises(ResultsError, match="different data"):
        merge(target, [other])
    assert len(read_valid_rows(target)) == 1


def test_merge_skips_a_damaged_row_of_the_other_folder(tmp_path):
    target, other = folder_of(tmp_path / "t", row("a")), folder_of(tmp_path / "o", row("b"))
    csv = Store(other).csv
    csv.write_bytes(csv.read_bytes().replace(b",10.0,", b",10.1,", 1) + b"torn")
    with pytest.raises(ResultsError, match="does not contain trials"):
        merge(target, [other])
    assert len(read_results_folder(target).rows) == 1


def test_merge_rejects_a_column_of_another_version(tmp_path):
    target, other = folder_of(tmp_path / "t", row("a")), folder_of(tmp_path / "o", row("b"))
    csv = Store(other).csv
    header, line = csv.read_bytes().splitlines()
    line = with_cell(line, b"ok,", b"7,ok,")
    csv.write_bytes(header.replace(b"status,", b"colour,status,") + b"\n" + line + b"\n")
    with pytest.raises(ResultsError, match="column colour"):
        merge(target, [other])
    assert [each["status"] for each in read_valid_rows(target)] == ["ok"]


def test_merge_compares_trials_present_in_both(tmp_path):
    target = folder_of(tmp_path / "t", row("a"), row("b"), row("c", r2=0.5))
    other = folder_of(
        tmp_path / "o", row("a", error=10.0 + 1e-10), row("b", error=10.1), row("c", t_pp=9.0)
    )
    before = Store(target).csv.read_bytes()
    result = merge(target, [other])
    assert (result.added, result.both, len(result.differ)) == (0, 3, 2)
    assert f"{named('b')}: error 10 here, 10.1 in" in result.differ[0]
    assert Store(target).csv.read_bytes() == before
    output = call("merge", target, other, code=1)
    assert "3 trials are in both folders, and 2 of them differ" in output


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"version": "0.0.9"}, "version 0.0.9"),
        ({"data_hash": "f" * 64}, "a different hash"),
        ({"trial_id": "z"}, "not planned by the configuration"),
    ],
)
def test_merge_rejects_rows_that_the_target_does_not_plan(tmp_path, change, why):
    versions = {"versions": {"rfbench": "0.1.0"}}
    target = folder_of(tmp_path / "t", row("a"), **versions)
    other = folder_of(tmp_path / "o", row("b"), row("c") | change, **versions)
    assert "1 rows added" in (output := call("merge", target, other, code=1))
    assert "1 rows were not added" in output
    assert why in output
    assert [one["trial_id"] for one in read_valid_rows(target)] == [*map(named, "ab")]


def test_merge_rejects_other_versions_of_measuring_code(tmp_path):
    target = folder_of(tmp_path / "t", row("a"), versions={"numpy": "2.4.0", "pandas": "1"})
    other = folder_of(tmp_path / "o", row("b"), versions={"numpy": "2.4.1", "pandas": "2"})
    assert "numpy 2.4.1" in call("merge", target, other, code=2)
    assert len(read_valid_rows(target)) == 1


@pytest.mark.parametrize("named", ["p{n}/quickstart", "p{n}"])
def test_merge_finds_results_folders_in_any_location(tmp_path, named):
    for n, name in ((1, "a"), (2, "b")):
        folder_of(tmp_path / f"p{n}" / "quickstart", row(name))
        folder_of(tmp_path / f"p{n}" / "other", row(name, setting="z"), settings=["z"])
    target = folder_of(tmp_path / "r" / "quickstart")
    parts = [tmp_path / named.format(n=n) for n in (1, 2)]
    assert merge(target, parts).added == 2
    if "quickstart" in named:  # then a target that is not there yet knows what it is
        assert merge(tmp_path / "new", parts).added == 2
        assert read_results_folder(tmp_path / "new").manifest["trials"] == MANIFEST["trials"]


def test_merge_adds_the_merged_trials_to_the_plan_of_the_manifest(tmp_path):
    target = folder_of(tmp_path / "t", row("a"))
    more = [*MANIFEST["trials"], named("e")]
    other = folder_of(tmp_path / "o", row("e"), trials=more)
    assert merge(target, [other]).added == 1
    assert read_results_folder(target).manifest["trials"] == more


@pytest.mark.parametrize("path", ["../../outside/x", "../outside/x", "/outside/x", "A" * 16, ""])
def test_merge_does_not_access_paths_in_trial_identities(tmp_path, path):
    """A row whose identity is a path, in a plan that has it, with predictions and features."""
    target, other = folder_of(tmp_path / "t", row("a")), folder_of(tmp_path / "o", row("b"))
    csv = Store(other).csv
    header, line = csv.read_bytes().splitlines()
    line = with_cell(line, named("b").encode(), path.encode())
    csv.write_bytes(header + b"\n" + line + b"\n")
    manifest.write(other, MANIFEST | {"trials": [path]})
    for folder in (tmp_path / "outside", tmp_path / "o" / "outside", other / "predictions"):
        folder.mkdir()
        (folder / "x.npz").write_bytes(b"theirs")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(ResultsError, match="does not contain trials"):
        merge(target, [other])
    assert [file for file in sorted(tmp_path.rglob("*")) if file not in before] == [
        tmp_path / "t" / ".lock"
    ]
    assert f"Column trial_id has the value '{path}'" in read_results_folder(other).notes[0]


def test_merge_of_a_folder_without_rows_is_rejected(tmp_path):
    (tmp_path / "empty").mkdir()
    target = folder_of(tmp_path / "t", row("a"))
    assert "does not contain results" in call("merge", target, tmp_path / "empty", code=2)
