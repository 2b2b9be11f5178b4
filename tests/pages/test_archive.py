import hashlib
import json
import shutil

import numpy as np
import pandas as pd
import pytest

from rfbench.errors import ResultsError
from rfbench.pages import archive
from rfbench.results.reader import read_rows
from rfbench.results.schema import BOOLEAN, INTEGER, NUMBER, SCHEMA
from tests.support.command_line import call


@pytest.fixture
def folders(write):
    write([{"trial": t, "M": 5, "rmse": 0.1 * t, "at_edge": t == 1} for t in range(3)], name="a")
    write([{"trial": t, "error": "", "status": "failed"} for t in range(2)], name="b")
    return write([{"trial": 0}], name="c").parent


def test_the_rows_come_back_with_their_types(folders, tmp_path):
    written = archive.write([folders], tmp_path / "out")
    frame = pd.read_parquet(tmp_path / "out" / "rows.parquet", dtype_backend="numpy_nullable")
    assert written.rows == len(frame) == 6
    assert list(frame) == ["folder", *SCHEMA]
    assert frame["folder"].tolist() == ["a"] * 3 + ["b"] * 2 + ["c"]
    own = pd.concat([read_rows(folders / name, []) for name in "abc"], ignore_index=True)
    for name, column in SCHEMA.items():
        if column.kind in (INTEGER, NUMBER):
            there, here = (f[name].to_numpy("float64", na_value=np.nan) for f in (frame, own))
            np.testing.assert_array_equal(there, here)
        elif column.kind == BOOLEAN:
            assert frame[name].isna().tolist() == own[name].isna().tolist()
            assert frame[name].fillna(False).tolist() == own[name].fillna(False).tolist()
        else:
            assert frame[name].tolist() == own[name].tolist()


def test_the_same_results_give_the_same_bytes(folders, tmp_path):
    first, second = (archive.write([folders], tmp_path / name) for name in ("one", "two"))
    assert first.files == second.files
    for name in first.files:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_the_metadata_are_those_of_an_ro_crate(folders, tmp_path):
    """RO-Crate 1.1: the descriptor, the root with its four properties, every file described."""
    written = archive.write([folders], tmp_path / "out")
    metadata = json.loads((tmp_path / "out" / "ro-crate-metadata.json").read_text())
    assert metadata["@context"] == "https://w3id.org/ro/crate/1.1/context"
    entities = {entity["@id"]: entity for entity in metadata["@graph"]}
    assert len(entities) == len(metadata["@graph"])
    assert all("@type" in entity for entity in entities.values())
    descriptor, root = entities["ro-crate-metadata.json"], entities["./"]
    assert descriptor["@type"] == "CreativeWork"
    assert descriptor["about"] == {"@id": "./"}
    assert descriptor["conformsTo"] == {"@id": "https://w3id.org/ro/crate/1.1"}
    assert root["@type"] == "Dataset"
    for name in ("name", "description", "datePublished", "license"):
        assert root[name]
    parts = [part["@id"] for part in root["hasPart"]]
    assert sorted([*parts, "ro-crate-metadata.json"]) == sorted(written.files)
    on_disk = {
        path.relative_to(tmp_path / "out").as_posix()
        for path in (tmp_path / "out").rglob("*")
        if path.is_file()
    }
    assert on_disk == set(written.files)
    for name in parts:
        content = (tmp_path / "out" / name).read_bytes()
        assert entities[name]["@type"] == "File"
        assert entities[name]["contentSize"] == str(len(content))
        assert entities[name]["sha256"] == hashlib.sha256(content).hexdigest()

    def references(value):
        if isinstance(value, dict) and set(value) == {"@id"}:
            yield value["@id"]
        elif isinstance(value, dict | list):
            for each in value.values() if isinstance(value, dict) else value:
                yield from references(each)

    web = {name for name in references(metadata["@graph"]) if name.startswith("https://w3id")}
    assert set(references(metadata["@graph"])) - web <= set(entities)


def test_the_date_is_that_of_the_last_rows(folders, tmp_path):
    file = folders / "a" / "manifest.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"written": "2026-02-03T04:05:06"}))
    archive.write([folders], tmp_path / "out")
    metadata = json.loads((tmp_path / "out" / "ro-crate-metadata.json").read_text())
    root = next(entity for entity in metadata["@graph"] if entity["@id"] == "./")
    assert root["datePublished"] == "2026-02-03T04:05:06"


def test_a_folder_of_something_else_is_left_alone(folders, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").touch()
    with pytest.raises(ResultsError, match="something else"):
        archive.write([folders], tmp_path / "out")


def test_lines_that_are_left_out_are_named(folders, tmp_path):
    with (folders / "a" / "trials.csv").open("a") as file:
        file.write("half a row")
    output = call("archive", folders, "--out", tmp_path / "out")
    assert "note: a: trials.csv, line 5" in output
    assert "6 rows" in output
    shutil.rmtree(folders)
    assert "no" in call("archive", folders, "--out", tmp_path / "out", code=2)
