from pathlib import Path

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rfbench.errors import ResultsError
from rfbench.report.results import INTEGER, NUMBER, TEXT, find, read

from .conftest import HEADER, Write, line


def rewrite(folder: Path, content: bytes) -> Path:
    (folder / "trials.csv").write_bytes(content)
    return folder


def content(folder: Path) -> bytes:
    return (folder / "trials.csv").read_bytes()


def test_find_names_folders_at_any_depth_once_and_sorted(write: Write, tmp_path: Path) -> None:
    b, a = write([{}], name="deep/b"), write([{}], name="a")
    root = tmp_path / "results"
    assert find([root]) == [a, b]
    assert find([b, b / "trials.csv", str(root / "deep")]) == [b]


def test_find_says_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(ResultsError, match=r"There is no .*nowhere"):
        find([tmp_path / "nowhere"])
    with pytest.raises(ResultsError, match=r"holds no results\. .*trials\.csv"):
        find([tmp_path])


def test_types(write: Write) -> None:
    cells = {"kept": "", "columns": "200", "rmse": "NaN", "r2": "-inf", "seed": "007"}
    rows = read(write([cells])).rows
    assert all(str(rows[name].dtype) == "Int64" for name in INTEGER)
    assert all(rows[name].dtype == "float64" for name in NUMBER)
    assert all(isinstance(rows[name].iloc[0], str) for name in TEXT)
    assert rows["kept"].isna().all()
    assert rows["columns"].iloc[0] == 200
    assert pd.isna(rows["rmse"].iloc[0])
    assert rows["r2"].iloc[0] == -float("inf")
    assert rows["seed"].iloc[0] == "007"
    assert rows["data_hash"].iloc[0] == "1e5"


def test_commas_quotes_and_line_feeds_in_cells(write: Write) -> None:
    parameters = '{"pool_size": 2000, "rule": "a,b"}'
    results = read(write([{"parameters": parameters, "message": 'a "b"\nc'}, {"trial": 1}]))
    assert results.rows["parameters"].iloc[0] == parameters
    assert results.rows["message"].iloc[0] == 'a "b"\nc'
    assert len(results.rows) == 2


def test_unknown_columns_are_kept_and_optional_ones_filled(tmp_path: Path) -> None:
    header = "trial_id,protocol,dataset,d,sampler,M,trial,status,colour"
    (tmp_path / "trials.csv").write_text(f"{header}\na,own,digits,64,rks,100,0,ok,blue\n")
    rows = read(tmp_path).rows
    assert rows["colour"].iloc[0] == "blue"
    assert rows["label"].iloc[0] == "rks"
    assert pd.isna(rows["error"].iloc[0])


def test_a_required_column_is_missed_by_name(write: Write) -> None:
    folder = write([{}])
    rewrite(folder, content(folder).replace(b"sampler,", b"smplr,", 1))
    with pytest.raises(ResultsError, match="has no column sampler"):
        read(folder)


def test_a_repeated_column_is_named(write: Write) -> None:
    folder = write([{}])
    rewrite(folder, content(folder).replace(b"variant,", b"label,", 1))
    with pytest.raises(ResultsError, match="two columns label"):
        read(folder)


@given(cut=st.integers(1, 200))
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
def test_a_cut_last_row_is_left_out_with_its_line(
    tmp_path_factory: pytest.TempPathFactory, cut: int
) -> None:
    folder = tmp_path_factory.mktemp("cut")
    rows = [",".join(str(line(trial=t).get(name, "")) for name in HEADER) for t in range(3)]
    whole = "\n".join([",".join(HEADER), *rows[:2], ""]).replace("{}", "")
    rewrite(folder, (whole + rows[2].replace("{}", "")[:cut]).encode())
    results = read(folder)
    assert list(results.rows["trial"]) == [0, 1]
    assert results.notes[0] == "trials.csv, line 4: the row was cut in the middle; it is left out."


def test_a_cut_in_the_middle_of_a_character(write: Write) -> None:
    folder = write([{}, {"trial": 1, "message": "ü"}])
    data = content(folder)
    rewrite(folder, data[: data.index("ü".encode()) + 1])
    assert len(read(folder).rows) == 1


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        (b",10.0,", b",ten,", "Column error holds 'ten', which is no number"),
        (b",100,", b",100.5,", "Column M holds '100.5', which is no whole number"),
        (b"gaussian,", b"", "cells, the header"),
        (b",gaussian", b',"gaus"sian', "It is not CSV"),
        (b"gaussian", b"\xff", "It is not UTF-8 text"),
    ],
)
def test_a_broken_row_is_named_with_file_and_line(
    write: Write, old: bytes, new: bytes, why: str
) -> None:
    folder = write([{}, {"trial": 1}, {"trial": 2}])
    lines = content(folder).split(b"\n")
    lines[2] = lines[2].replace(old, new, 1)
    rewrite(folder, b"\n".join(lines))
    with pytest.raises(ResultsError, match=r"trials\.csv, line 3: the row is broken") as error:
        read(folder)
    assert why in error.value.why


def test_empty_missing_and_header_only(write: Write, tmp_path: Path) -> None:
    folder = write([])
    results = read(folder)
    assert results.rows.empty
    assert results.notes == ["trials.csv has a header but no trials yet."]
    with pytest.raises(ResultsError, match=r"trials\.csv is empty"):
        read(rewrite(folder, b"\n"))
    with pytest.raises(ResultsError, match=r"cannot be read\. .*nowhere is not there"):
        read(tmp_path / "nowhere")
    with pytest.raises(ResultsError, match=r"trials\.csv cannot be read\. No such file"):
        read(tmp_path)


def test_of_rows_with_one_id_the_last_counts(write: Write) -> None:
    results = read(write([{"trial_id": "a", "error": 1}, {"trial_id": "a", "error": 2}]))
    assert list(results.rows["error"]) == [2]
    assert "1 rows repeat an earlier trial_id" in results.notes[0]


@pytest.mark.parametrize(
    ("manifest", "note"),
    [(None, "There is no manifest"), ("{", "cannot be read"), ("[]", "not a JSON object")],
)
def test_a_poor_manifest_is_noted(write: Write, manifest: str | None, note: str) -> None:
    folder = write([{}])
    (folder / "manifest.json").unlink()
    if manifest is not None:
        (folder / "manifest.json").write_text(manifest)
    results = read(folder)
    assert (results.name, results.config, results.smoke) == ("quickstart", {}, False)
    assert note in results.notes[0]
