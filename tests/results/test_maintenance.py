import pytest

from rfbench.errors import ResultsError
from rfbench.results import read
from rfbench.results.maintenance import merge, rows_of, status_of
from rfbench.results.manifest import data_key
from rfbench.results.schema import check_of
from rfbench.results.store import Store
from tests.support.command_line import call
from tests.support.results import write_folder

SPHERES = {data_key("sphere", {"d": d}): f"{d:064}" for d in range(2, 16)}
MANIFEST = {
    "config": {"seed": 0},
    "settings": ["s"],
    "trials": ["a", "b", "c", "d"],
    "data": SPHERES,
}


def row(trial_id, **changes):
    return {"trial_id": trial_id, "setting": "s", **changes}


def folder_of(top, *rows, **changes):
    return write_folder(top, rows, MANIFEST | changes)


def test_status_counts_by_hand(tmp_path):
    rows = [row("a"), row("b", status="memory"), row("old", setting="before"), row("c", t_pp=1.25)]
    found = status_of(folder_of(tmp_path / "r", *rows))
    assert (found.planned, found.missing, found.older) == (4, 1, 1)
    assert found.counts == {"ok": 2, "memory": 1}
    # One trial is missing; those that ended well took .25 + .5 + 1.25 + .125 s, and 1 s more.
    assert found.seconds_left == 2.625
    assert found.notes == []


def test_status_counts_a_damaged_row_as_missing_and_names_it(tmp_path):
    folder = folder_of(tmp_path / "r", row("a"), row("b"))
    csv = Store(folder).csv
    csv.write_bytes(csv.read_bytes().replace(b",10.0,", b",10.1,", 1))
    found = status_of(folder)
    assert (found.missing, found.counts) == (3, {"ok": 1})
    assert "line 2" in found.notes[0]


def test_merge_adds_what_is_missing_and_what_failed_here(tmp_path):
    target = folder_of(tmp_path / "t", row("a"), row("b", status="failed"), row("c"))
    other = folder_of(
        tmp_path / "o", row("a"), row("b"), row("c", status="failed"), row("d", error=0.1 + 0.2)
    )
    assert merge(target, [other]) == 2
    found = {one["trial_id"]: one for one in rows_of(target)}
    assert {name: one["status"] for name, one in found.items()} == dict.fromkeys("abcd", "ok")
    assert found["d"] in rows_of(other)
    assert merge(target, [other]) == 0
    assert "0 rows added" in call("merge", target, other)


def test_merge_refuses_itself_and_another_experiment(tmp_path):
    target = folder_of(tmp_path / "t", row("a"))
    with pytest.raises(ResultsError, match="with itself"):
        merge(target, [target])
    with pytest.raises(ResultsError, match="differ in seed"):
        merge(target, [folder_of(tmp_path / "o", row("b"), config={"seed": 1}, settings=["z"])])
    assert len(rows_of(target)) == 1


@pytest.mark.parametrize("sphere", SPHERES)
def test_merge_compares_the_data_of_every_name_and_parameters(tmp_path, sphere):
    target = folder_of(tmp_path / "t", row("a"))
    other = folder_of(tmp_path / "o", row("b"), data=SPHERES | {sphere: "f" * 64})
    with pytest.raises(ResultsError, match="other data"):
        merge(target, [other])
    assert len(rows_of(target)) == 1


def test_merge_leaves_a_damaged_row_of_the_other_folder(tmp_path):
    target, other = folder_of(tmp_path / "t", row("a")), folder_of(tmp_path / "o", row("b"))
    csv = Store(other).csv
    csv.write_bytes(csv.read_bytes().replace(b",10.0,", b",10.1,", 1) + b"torn")
    with pytest.raises(ResultsError, match="holds no trials"):
        merge(target, [other])
    assert len(read(target).rows) == 1


def test_merge_refuses_a_column_of_another_version(tmp_path):
    target, other = folder_of(tmp_path / "t", row("a")), folder_of(tmp_path / "o", row("b"))
    csv = Store(other).csv
    header, line = csv.read_bytes().splitlines()
    text = line.rpartition(b",")[0] + b",7"
    line = text + b"," + check_of(text)
    csv.write_bytes(header.replace(b",check", b",colour,check") + b"\n" + line + b"\n")
    with pytest.raises(ResultsError, match="column colour"):
        merge(target, [other])
    assert [each["status"] for each in rows_of(target)] == ["ok"]


def test_status_takes_what_ended_well_as_merge_will(tmp_path):
    target = folder_of(tmp_path / "t", row("a", status="failed"))
    folder_of(target / "shards" / "1", row("a"))
    before = status_of(target).counts
    merge(target, [])
    assert before == status_of(target).counts == {"ok": 1}


def test_status_of_a_folder_whose_first_row_is_not_there_yet(tmp_path):
    found = status_of(folder_of(tmp_path / "t"))
    assert (found.counts, found.missing) == ({}, found.planned)
