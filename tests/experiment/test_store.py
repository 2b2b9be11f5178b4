import csv

import pytest

from rfbench.errors import ResultsError
from rfbench.experiment.store import COLUMNS, Store

REQUIRED = """
trial_id config protocol dataset n_train n_test d sampler parameters kernel bandwidth feature_map M
columns trial solver alpha alpha_convention alpha_scale_free error accuracy relative_squared_error
relative_rmse rmse mae_range r2 kernel_error_spectral kernel_error_frobenius t_pp t_features t_train
t_test cpu_pp cpu_features cpu_train cpu_test timing threads peak_rss_mb status message
""".split()  # noqa: SIM905


def test_the_promised_columns_are_there():
    assert set(REQUIRED) <= set(COLUMNS)
    assert len(COLUMNS) == len(set(COLUMNS))


def test_rows_come_back_as_they_were_written(tmp_path):
    store = Store(tmp_path / "a")
    assert store.done() == {}
    row = {
        "trial_id": "x",
        "status": "ok",
        "alpha": 0.1 + 0.2,
        "error": float("nan"),
        "intercept": True,
        "message": 'two\nlines, "quoted"',
    }
    store.append(row)
    store.append({"trial_id": "y", "status": "failed"})
    assert store.done() == {"x": "ok", "y": "failed"}
    with store.csv.open(newline="") as file:
        first = next(csv.DictReader(file))
    assert float(first["alpha"]) == 0.1 + 0.2
    assert first["error"] == ""
    assert first["intercept"] == "true"
    assert first["message"] == 'two lines, "quoted"'


def test_a_torn_last_line_is_set_aside(tmp_path):
    store = Store(tmp_path)
    store.append({"trial_id": "x", "status": "ok"})
    store.append({"trial_id": "y", "status": "ok"})
    whole = store.csv.read_bytes()
    store.csv.write_bytes(whole[:-7])
    assert store.done() == {"x": "ok"}
    assert store.csv.read_bytes() == whole[:-7]
    store.mend()
    store.append({"trial_id": "y", "status": "ok"})
    assert store.csv.read_bytes() == whole
    assert (tmp_path / "trials.csv.torn").read_bytes().startswith(b"y,")


@pytest.mark.parametrize("keep", [0, 5])
def test_a_header_that_was_cut_off_is_written_again(tmp_path, keep):
    store = Store(tmp_path)
    store.append({"trial_id": "x", "status": "ok"})
    whole = store.csv.read_bytes()
    store.csv.write_bytes(whole[:keep])
    assert store.done() == {}
    store.mend()
    store.append({"trial_id": "x", "status": "ok"})
    assert store.csv.read_bytes() == whole


@pytest.mark.parametrize("damage", [b"x,ok\n", b'x,"open quote\n'])
def test_a_broken_row_inside_is_named_before_anything_is_measured(tmp_path, damage):
    store = Store(tmp_path)
    store.append({"trial_id": "x", "status": "ok"})
    header, row = store.csv.read_bytes().splitlines(keepends=True)
    store.csv.write_bytes(header + damage + row)
    with pytest.raises(ResultsError, match=r"trials.csv, line 2: the row has \d+ cells"):
        store.done()


def test_a_foreign_csv_is_not_touched(tmp_path):
    store = Store(tmp_path)
    store.csv.write_text("a,b\n1,2\n")
    with pytest.raises(ResultsError, match="has no column status, trial_id"):
        store.done()
    store.csv.write_text("trial_id,status\nx,ok\n")
    with pytest.raises(ResultsError, match="other columns"):
        store.done()
    assert store.csv.read_text() == "trial_id,status\nx,ok\n"


def test_a_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    store = Store(tmp_path / "file" / "inside")
    with pytest.raises(ResultsError, match="could not be written"):
        store.append({"trial_id": "x", "status": "ok"})
    with pytest.raises(ResultsError, match="cannot be written"):
        store.write_manifest({})


def test_the_manifest_is_replaced_whole(tmp_path):
    store = Store(tmp_path)
    store.write_manifest({"a": 1})
    store.write_manifest({"a": 2})
    assert '"a": 2' in store.manifest.read_text()
    assert [path.name for path in tmp_path.iterdir()] == ["manifest.json"]
