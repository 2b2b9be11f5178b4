import csv
import os
import subprocess
import sys

import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rfbench.errors import ResultsError
from rfbench.results import manifest, reader
from rfbench.results.lines import with_checksum
from rfbench.results.schema import COLUMNS, SCHEMA
from rfbench.results.store import TORN, Store, encode_row

A, B = "a" * 16, "b" * 16  # identities
X, Y = {"trial_id": A, "status": "ok"}, {"trial_id": B, "status": "ok"}


def store_of(folder, *rows):
    store = Store(folder)
    for row in rows:
        store.append(row)
    return store


def test_rows_are_read_as_written(tmp_path):
    store = Store(tmp_path / "a")
    assert store.read_statuses() == {}
    row = {
        **X,
        "alpha": 0.1 + 0.2,
        "error": float("nan"),
        "intercept": True,
        "message": 'two\nlines, "quoted", \udc80',
    }
    store.append(row)
    store.append({"trial_id": B, "status": "failed"})
    assert store.read_statuses() == {A: "ok", B: "failed"}
    with store.csv.open(newline="") as file:
        first = next(csv.DictReader(file))
    assert tuple(first) == COLUMNS
    assert float(first["alpha"]) == 0.1 + 0.2
    assert first["error"] == ""
    assert first["intercept"] == "true"
    assert first["message"] == 'two lines, "quoted", \\udc80'


@pytest.mark.parametrize(
    ("column", "value"),
    [("kept", "many"), ("M", 2.5), ("r2", -float("inf")), ("d", 10**30), ("colour", "red")],
)
def test_value_of_another_type_fails_only_its_trial(tmp_path, column, value):
    store = store_of(tmp_path, X | {column: value}, Y)
    first, second = store.read_rows()
    assert (first["status"], first.get(column, ""), second["status"]) == ("failed", "", "ok")
    assert column in first["message"]


def test_cells_are_limited_to_the_csv_field_size(tmp_path):
    limit = 131_072  # its default; scipy's reader of ARFF raises it for the whole process
    (row,) = store_of(tmp_path, X | {"message": "a" * 2 * limit}).read_rows()
    assert set(row["message"]) == {"a"}
    assert len(row["message"]) < limit


def test_last_row_of_a_trial_is_used(tmp_path):
    store = store_of(tmp_path, X | {"status": "failed"}, Y, X)
    assert [(row["trial_id"], row["status"]) for row in store.read_rows()] == [(A, "ok"), (B, "ok")]


def test_traceback_that_is_not_text_is_stored(tmp_path):
    Store(tmp_path).save_traceback("x", "ValueError: \udc80")
    assert (tmp_path / "failures" / "x.txt").read_text() == "ValueError: \\udc80"


def test_truncated_last_line_is_set_aside(tmp_path):
    store = store_of(tmp_path, X, Y)
    whole = store.csv.read_bytes()
    store.csv.write_bytes(whole[:-7])
    assert store.read_statuses() == {A: "ok"}
    assert store.csv.read_bytes() == whole[:-7]
    store.repair()
    store.append(Y)
    assert store.csv.read_bytes() == whole
    assert (tmp_path / TORN).read_bytes().startswith(B.encode())


@pytest.mark.parametrize("keep", [0, 5])
def test_truncated_header_is_rewritten(tmp_path, keep):
    store = store_of(tmp_path, X)
    whole = store.csv.read_bytes()
    store.csv.write_bytes(whole[:keep])
    assert store.read_statuses() == {}
    store.repair()
    store.append(X)
    assert store.csv.read_bytes() == whole


def test_each_flipped_byte_of_a_row_is_detected(tmp_path):
    store = store_of(tmp_path, X | {"r2": 0.25, "message": "ü"}, Y)
    header, x, y = store.csv.read_bytes().splitlines(keepends=True)
    for place in range(len(x)):
        flipped = bytearray(x)
        flipped[place] ^= 1 << place % 8
        store.csv.write_bytes(header + bytes(flipped) + y)
        assert A not in store.read_statuses(), place
        assert store.read_statuses().get(B, "joined") == ("ok" if place < len(x) - 1 else "joined")


def test_modified_row_is_set_aside_and_measured_again(tmp_path, caplog):
    store = store_of(tmp_path, X, Y)
    whole = store.csv.read_bytes()
    changed = whole.replace(b"\na", b"\n\xff", 1)
    store.csv.write_bytes(changed)
    store.repair()
    assert store.read_statuses() == {B: "ok"}
    assert (tmp_path / TORN).read_bytes() == changed.splitlines(keepends=True)[1]
    assert "trials.csv, line 2" in caplog.text
    store.append(X)
    assert store.read_statuses() == {A: "ok", B: "ok"}


def test_crash_during_repair_loses_nothing(tmp_path, monkeypatch):
    store = store_of(tmp_path, X, Y)
    broken = store.csv.read_bytes()[:-7]
    store.csv.write_bytes(broken)
    forced = []
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", lambda file: forced.append(os.readlink(f"/proc/self/fd/{file}")))
        patch.setattr(os, "replace", _die)
        with pytest.raises(KeyboardInterrupt):
            store.repair()
    assert forced[0] == str(tmp_path / TORN)
    assert store.csv.read_bytes() == broken
    assert (tmp_path / TORN).read_bytes().startswith(B.encode())


def _die(*arguments):
    raise KeyboardInterrupt


def test_file_without_a_newer_column_is_read_and_continued(tmp_path, monkeypatch):
    older = tuple(name for name in COLUMNS if name != "train_error")
    with monkeypatch.context() as patch:
        patch.setattr("rfbench.results.store.COLUMNS", older)
        patch.setattr("rfbench.results.store._HEADER", ",".join(older).encode() + b"\n")
        store = store_of(tmp_path, X | {"r2": 0.25})
    assert store.read_statuses() == {A: "ok"}
    store.repair()
    store.append(Y)
    assert store.csv.read_text().splitlines()[0] == ",".join(COLUMNS)
    assert [(row["r2"], row["train_error"]) for row in store.read_rows()] == [
        ("0.25", ""),
        ("", ""),
    ]
    assert not (tmp_path / TORN).exists()


@pytest.mark.parametrize("text", ["a,b\n1,2\n", "trial_id,status\nx,ok\n"])
def test_csv_file_without_result_columns_is_not_changed(tmp_path, text):
    store = Store(tmp_path)
    store.csv.write_text(text)
    with pytest.raises(ResultsError, match="has no column"):
        store.repair()
    with pytest.raises(ResultsError, match="has no column"):
        store.read_statuses()
    assert store.csv.read_text() == text


def test_results_file_with_unknown_column_is_read_but_not_appended_to(tmp_path):
    store = store_of(tmp_path, X)
    store.csv.write_bytes(store.csv.read_bytes().replace(b"version,", b"colour,", 1))
    assert store.read_statuses() == {A: "ok"}
    with pytest.raises(ResultsError, match="colour"):
        store.repair()


def test_unwritable_folder_raises_error(tmp_path):
    (tmp_path / "file").write_text("")
    store = Store(tmp_path / "file" / "inside")
    with pytest.raises(ResultsError, match="could not be written"):
        store.append(X)
    with pytest.raises(ResultsError, match="could not be written"):
        manifest.write(store.folder, {})


def test_row_is_synced_to_disk_before_append_returns(tmp_path, monkeypatch):
    forced = []

    def fsync(descriptor):
        forced.append(os.readlink(f"/proc/self/fd/{descriptor}"))
        assert store.csv.read_bytes().endswith(encode_row(X) + b"\n")

    store = Store(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fsync)
        store.append(X)
    assert forced == [str(store.csv)]


def test_lock_of_a_folder_ends_with_its_run(tmp_path):
    with Store(tmp_path).lock():
        assert f"process {os.getpid()}, since" in (tmp_path / ".owner").read_text()
        with pytest.raises(ResultsError, match="Another run is using"), Store(tmp_path).lock():
            raise AssertionError
    with pytest.raises(KeyError), Store(tmp_path).lock():
        raise KeyError
    code = "import sys; from pathlib import Path; from rfbench.results.store import Store\n"
    code += "held = Store(Path(sys.argv[1])).lock(); held.__enter__(); print('held', flush=True)\n"
    code += "sys.stdin.read()"
    command = [sys.executable, "-c", code, tmp_path]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout.readline() == b"held\n"
        with pytest.raises(ResultsError, match=f"process {other.pid}"), Store(tmp_path).lock():
            raise AssertionError
        other.kill()
    with Store(tmp_path).lock():
        assert str(os.getpid()) in (tmp_path / ".owner").read_text()
    assert not (tmp_path / ".owner").exists()


def test_file_is_synced_to_disk_before_it_replaces_another(tmp_path, monkeypatch):
    done = []
    monkeypatch.setattr(os, "fsync", lambda descriptor: done.append("fsync"))
    move = os.replace
    monkeypatch.setattr(os, "replace", lambda *args: (done.append("replace"), move(*args)))
    manifest.write(tmp_path, {})
    assert done == ["fsync", "replace"]


NUMBERS = st.floats(allow_nan=False).map(repr) | st.integers(-(2**60), 2**60).map(str)


@given(name=st.sampled_from(["M", "error", "intercept"]), cell=NUMBERS | st.text(max_size=6))
@example(name="M", cell="1_000")
@example(name="error", cell="nan")
@example(name="error", cell="1e999")
@example(name="error", cell=" 1.")
@example(name="M", cell="inf")
@example(name="intercept", cell="true")
def test_valid_cell_is_read_back_exactly(name, cell):
    if SCHEMA[name].is_valid(cell):
        values = reader._values([name, "check"], [with_checksum([cell])], looked_at=True)[name]
        expected = {"": pd.NA, "true": True, "false": False}
        value = expected[cell] if cell in expected else float(cell)
        assert pd.isna(values[0]) if value is pd.NA else values[0] == value
