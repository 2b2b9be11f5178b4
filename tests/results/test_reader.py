from pathlib import Path

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rfbench.errors import ResultsError
from rfbench.results import find_results_folders, read_results_folder, read_results_folders, reader
from rfbench.results.lines import compute_checksum
from rfbench.results.schema import SCHEMA
from tests.support.results import line, with_cell, write_folder

MANIFEST = {"config": {"name": "quickstart"}}


def folder_of(top: Path, *rows, name="quickstart"):
    return write_folder(top / name, rows, MANIFEST)


def content(folder: Path) -> bytes:
    return (folder / "trials.csv").read_bytes()


def rewrite(folder: Path, content: bytes) -> Path:
    (folder / "trials.csv").write_bytes(content)
    return folder


def with_cell_in_second_row(folder: Path, old: bytes, new: bytes) -> Path:
    lines = content(folder).split(b"\n")
    lines[2] = with_cell(lines[2], old, new)
    return rewrite(folder, b"\n".join(lines))


def test_results_folders_are_found_at_any_depth_without_duplicates(tmp_path):
    b, a = folder_of(tmp_path, {}, name="deep/b"), folder_of(tmp_path, {}, name="a")
    assert find_results_folders([tmp_path]) == [a, b]
    assert find_results_folders([b, b / "trials.csv", str(tmp_path / "deep")]) == [b]


def test_missing_path_or_folder_without_results_raises_error(tmp_path):
    with pytest.raises(ResultsError, match=r"There is no .*nowhere"):
        find_results_folders([tmp_path / "nowhere"])
    with pytest.raises(ResultsError, match=r"does not contain results\. .*trials\.csv"):
        find_results_folders([tmp_path])


def test_result_columns_have_the_types_of_the_schema(tmp_path):
    cells = {"kept": "", "columns": "200", "rmse": None, "seed": "007", "intercept": False}
    rows = read_results_folder(folder_of(tmp_path, cells)).rows
    dtypes = {"text": "str", "integer": "Int64", "number": "float64", "boolean": "boolean"}
    assert {name: str(rows[name].dtype) for name in rows} == {
        name: dtypes[column.kind] for name, column in SCHEMA.items()
    }
    assert rows["kept"].isna().all()
    assert rows["columns"].iloc[0] == 200
    assert pd.isna(rows["rmse"].iloc[0])
    assert not rows["intercept"].iloc[0]
    assert rows["seed"].iloc[0] == "007"
    assert rows["data_hash"].iloc[0] == "1e5"


def test_commas_quotes_and_line_feeds_in_cells_are_preserved(tmp_path):
    parameters = '{"pool_size": 2000, "rule": "a,b"}'
    rows = read_results_folder(
        folder_of(tmp_path, {"parameters": parameters, "message": 'a "b"\nc'}, {"trial": 1})
    ).rows
    assert rows["parameters"].iloc[0] == parameters
    assert rows["message"].iloc[0] == 'a "b" c'
    assert len(rows) == 2


def test_windows_line_endings_and_byte_order_marks_are_accepted(tmp_path):
    folder = folder_of(tmp_path, {}, {"trial": 1})
    expected = read_results_folder(folder).rows
    rewrite(folder, b"\xef\xbb\xbf" + content(folder).replace(b"\n", b"\r\n"))
    pd.testing.assert_frame_equal(read_results_folder(folder).rows, expected)


def test_unknown_columns_are_kept_and_missing_ones_filled(tmp_path):
    header = b"trial_id,protocol,dataset,d,sampler,M,trial,status,colour,check"
    text = b"0123456789abcdef,own,digits,64,rks,100,0,ok,blue"
    (tmp_path / "trials.csv").write_bytes(
        header + b"\n" + text + b"," + compute_checksum(text) + b"\n"
    )
    rows = read_results_folder(tmp_path).rows
    assert rows["colour"].iloc[0] == "blue"
    assert rows["label"].iloc[0] == "rks"
    assert pd.isna(rows["error"].iloc[0])


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        (b"sampler,", b"smplr,", "has no column sampler"),
        (b",check\n", b"\n", "has no column check"),
        (b"variant,", b"label,", "two columns label"),
        (b"protocol,", b"\xff,", "has no column protocol"),
        (b"error,accuracy,", b"accuracy,error,", "not in the order"),
    ],
)
def test_invalid_header_of_a_results_file_is_rejected(tmp_path, old, new, why):
    folder = folder_of(tmp_path, {})
    with pytest.raises(ResultsError, match=why):
        read_results_folder(rewrite(folder, content(folder).replace(old, new, 1)))


@given(cut=st.integers(1, 200))
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
def test_truncated_last_row_is_left_out_with_its_line(tmp_path_factory, cut):
    folder = folder_of(tmp_path_factory.mktemp("cut"), *({"trial": t} for t in range(3)))
    rewrite(folder, content(folder)[:-cut])
    results = read_results_folder(folder)
    assert list(results.rows["trial"]) == [0, 1]
    assert "line 4" in results.notes[0]


@pytest.mark.parametrize(
    ("old", "new"),
    [(b",10.0,", b",10.1,"), (b"gaussian", b"\xff"), (b"gaussian", b"gaus\nian"), (b",64", b"")],
)
def test_modified_row_is_left_out_with_its_line(tmp_path, old, new):
    folder = folder_of(tmp_path, {}, {"trial": 1}, {"trial": 2})
    lines = content(folder).split(b"\n")
    lines[2] = lines[2].replace(old, new, 1)
    results = read_results_folder(rewrite(folder, b"\n".join(lines)))
    assert list(results.rows["trial"]) == [0, 2]
    assert "line 3" in results.notes[0]


@pytest.mark.parametrize(
    ("old", "new", "column"),
    [
        (b",10.0,", b",ten,", "error"),
        (b",10.0,", b",inf,", "error"),
        (b",10.0,", b",0_.8,", "error"),
        (b",10.0,", b",1_0,", "error"),
        (b",3.25,", b",nan,", "bandwidth"),
        (b",100,", b",100.5,", "M"),
        (b",100,", b",1" + b"0" * 30 + b",", "M"),
        (b",100,", b",9223372036854775807,", "M"),
        (b",100,", b",9007199254740993,", "M"),
        (b",true,", b",maybe,", "intercept"),
    ],
)
def test_row_with_a_cell_of_wrong_type_is_left_out_with_a_note(tmp_path, old, new, column):
    folder = folder_of(tmp_path, {}, {"trial": 1}, {"trial": 2})
    results = read_results_folder(with_cell_in_second_row(folder, old, new))
    assert list(results.rows["trial"]) == [0, 2]
    assert f"line 3: Column {column} has the value" in results.notes[0]


@pytest.mark.parametrize(
    ("old", "new"), [(b"gaussian,", b""), (b",gaussian", b',"gaus"sian'), (b"rks", b"r" * 200_000)]
)
def test_row_with_wrong_number_of_cells_is_left_out(tmp_path, old, new):
    folder = folder_of(tmp_path, {}, {"trial": 1}, {"trial": 2})
    results = read_results_folder(with_cell_in_second_row(folder, old, new))
    assert {0, 2} <= set(results.rows["trial"])


def test_empty_missing_and_header_only_files_are_handled(tmp_path):
    folder = folder_of(tmp_path)
    results = read_results_folder(folder)
    assert results.rows.empty
    assert results.notes == ["trials.csv has a header but no trials yet."]
    with pytest.raises(ResultsError, match=r"trials\.csv is empty"):
        read_results_folder(rewrite(folder, b"\n"))
    with pytest.raises(ResultsError, match=r"cannot be read\. .*nowhere does not exist"):
        read_results_folder(tmp_path / "nowhere")
    with pytest.raises(ResultsError, match=r"trials\.csv cannot be read\. No such file"):
        read_results_folder(tmp_path)


def test_last_row_of_a_trial_id_is_used(tmp_path):
    results = read_results_folder(folder_of(tmp_path, line(error=1), line(error=2)))
    assert list(results.rows["error"]) == [2]
    assert "1 rows have the trial_id of an earlier row" in results.notes[0]


def test_rows_of_other_configurations_are_left_out(tmp_path):
    rows = [{"setting": "a"}, {"setting": "b", "trial": 1}]
    manifest = {"config": {"protocol": "tuned"}, "settings": ["b"]}
    results = read_results_folder(write_folder(tmp_path / "r", rows, manifest))
    assert list(results.rows["setting"]) == ["b"]
    assert list(results.rows["protocol"]) == ["tuned"]
    assert results.name == "r"
    assert len(results.notes) == 1


def test_long_file_read_in_chunks_equals_a_single_read(tmp_path, monkeypatch):
    lines = [{"trial": t, "error": 1 / (t + 1), "message": "é" * (t % 7)} for t in range(50)]
    folder = folder_of(tmp_path, *lines)
    changed = content(folder).replace(b",own,", b",0wn,", 3).replace(b",0wn,", b",own,", 2)
    whole = read_results_folder(rewrite(folder, changed + b"torn"))
    assert len(whole.rows) == 49
    assert ["line 4" in whole.notes[0], "line 52" in whole.notes[1]] == [True, True]
    for size in (1, 100, 1000, 4096):
        monkeypatch.setattr(reader, "PIECE", size)
        part = read_results_folder(folder)
        pd.testing.assert_frame_equal(part.rows, whole.rows)
        assert part.notes == whole.notes


def test_rows_wider_than_the_header_are_reported(tmp_path):
    folder = folder_of(tmp_path, {}, {"trial": 1})
    results = read_results_folder(rewrite(folder, content(folder).replace(b",version,", b",", 1)))
    assert results.rows.empty
    assert "cells, but the header" in results.notes[0]


@pytest.mark.parametrize("piece", [reader.PIECE, 3000, 1])
@pytest.mark.parametrize(
    "odd", ["none", "changed", "cut", "nan", "NUL", "wide", "empty", "foreign"]
)
def test_folders_read_together_equal_folders_read_separately(tmp_path, monkeypatch, odd, piece):
    folders = [
        folder_of(tmp_path, *({"trial": i, "error": n + i} for i in range(3 + n)), name=f"f{n}")
        for n in range(4)
    ]
    rewrite(folders[1], content(folders[1]).replace(b"train_error", b"colour", 1))
    first = content(folders[2])
    if odd == "changed":
        rewrite(folders[2], first.replace(b"ridge", b"Ridge", 1))
    elif odd == "cut":
        rewrite(folders[2], first[:-7])
    elif odd in ("nan", "NUL"):
        with_cell_in_second_row(folders[2], b"ridge", b"NaN" if odd == "nan" else b"ri\0dge")
    elif odd == "wide":
        with_cell_in_second_row(folders[2], b"ridge", b"ridge,ridge")
    elif odd != "none":
        rewrite(folders[2], b"" if odd == "empty" else b"a,b\n1,2\n")
    alone = []
    for folder in folders:
        try:
            alone.append(read_results_folder(folder))
        except ResultsError as error:
            alone.append(str(error))
    monkeypatch.setattr(reader, "PIECE", piece)
    together = [
        str(x) if isinstance(x, ResultsError) else x for x in reader.read_each_folder(folders)
    ]
    for one, other in zip(alone, together, strict=True):
        assert type(one) is type(other)
        if isinstance(one, str):
            assert one == other
        else:
            pd.testing.assert_frame_equal(one.rows, other.rows, check_exact=True)
            assert (one.folder, one.name) == (other.folder, other.name)
            assert (one.manifest, one.notes) == (other.manifest, other.notes)
    if "" in (odd.replace("empty", ""), odd.replace("foreign", "")):
        with pytest.raises(ResultsError):
            read_results_folders(folders)
    else:
        assert len(read_results_folders(folders)) == 4


def test_small_files_with_the_same_columns_are_parsed_together(tmp_path, monkeypatch):
    folders = [folder_of(tmp_path, {}, {"trial": 1}, name=f"f{n}") for n in range(20)]
    parsed, parse = [], reader._values
    monkeypatch.setattr(
        reader,
        "_values",
        lambda header, lines, **more: parsed.append(len(lines)) or parse(header, lines, **more),
    )
    assert [len(each.rows) for each in read_results_folders(folders)] == [2] * 20
    assert parsed == [40]
