import json

import pytest

from rfbench import shipped
from rfbench.analysis import contents, data_issues
from rfbench.errors import ResultsError
from rfbench.pages import index_page
from rfbench.results import manifest, read_results_folder, reader
from tests.support.manifests import read_damaged
from tests.support.results import write_folder

GOOD = {"config": {"name": "a"}, "settings": ["s"], "trials": ["t"], "data": {"digits": "0"}}


def deep(levels):
    return '{"config": ' + "[" * levels + "]" * levels + "}"


BAD = {
    "cut": "{",
    "list": "[]",
    "nothing": "",
    "no text": b"\xff\xfe",
    "deep": deep(1000),
    "digits": "1" * 5000,
    "config": json.dumps(GOOD | {"config": [1]}),
    "settings": json.dumps(GOOD | {"settings": "s"}),
    "data": json.dumps(GOOD | {"data": ["digits"]}),
    "machine": json.dumps(GOOD | {"machine": "laptop"}),
    "smoke": json.dumps(GOOD | {"smoke": "no"}),
    "name": json.dumps(GOOD | {"config": {"name": True}}),
    "settings within": json.dumps(GOOD | {"settings": [["s"]]}),
    "trials within": json.dumps(GOOD | {"trials": [{}]}),
    "variants within": json.dumps(GOOD | {"variants": ["a"]}),
}


@pytest.mark.parametrize("what", BAD)
def test_invalid_manifest_raises_error_or_is_noted_when_reading_rows(tmp_path, what):
    folder = write_folder(tmp_path / "quickstart", [{}], {})
    text = BAD[what]
    (folder / "manifest.json").write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ResultsError, match=r"manifest\.json cannot be read"):
        manifest.read(folder)
    results = read_results_folder(folder)
    assert (results.name, results.config, results.is_smoke_run) == ("quickstart", {}, False)
    assert len(results.rows) == len(results.notes) == 1


def test_changed_manifest_is_detected(tmp_path):
    folder = write_folder(tmp_path / "quickstart", [{}], {})
    manifest.write(folder, GOOD)
    file = folder / "manifest.json"
    text = file.read_text()
    file.write_text(json.dumps(json.loads(text)))  # its layout plays no part
    assert manifest.read(folder) == GOOD
    file.write_text(text.replace('"s"', '"z"'))
    with pytest.raises(ResultsError, match="does not match its checksum"):
        manifest.read(folder)
    assert "checksum" in read_results_folder(folder).notes[0]


def test_manifest_of_an_earlier_version_has_no_checksum(tmp_path):
    (tmp_path / "manifest.json").write_text(json.dumps(GOOD))
    assert manifest.read(tmp_path) == GOOD


def test_missing_manifest_is_reported(tmp_path):
    folder = write_folder(tmp_path / "quickstart", [{}], {})
    (folder / "manifest.json").unlink()
    with pytest.raises(ResultsError):
        manifest.read(folder)
    assert "There is no manifest" in read_results_folder(folder).notes[0]


@pytest.mark.parametrize("key", ["config", "settings", "trials"])
def test_missing_required_key_is_named(tmp_path, key):
    manifest.write(tmp_path, {k: v for k, v in GOOD.items() if k != key})
    with pytest.raises(ResultsError, match=f"does not have the keys {key}"):
        manifest.read(tmp_path)


def test_manifest_is_replaced_atomically_and_read_as_written(tmp_path):
    manifest.write(tmp_path, {"a": 1})
    content = GOOD | {"config": {"title": "ü \udc80"}}
    manifest.write(tmp_path, content)
    assert manifest.read(tmp_path) == content
    assert [path.name for path in tmp_path.iterdir()] == ["manifest.json"]


def test_data_are_keyed_by_name_and_parameters():
    assert manifest.make_data_key("digits", {}) == "digits"
    keys = {manifest.make_data_key("sphere", {"d": d, "n_train": 9}) for d in range(14)}
    assert len(keys) == 14
    assert manifest.make_data_key("a", {"x": 1, "b": 2}) == manifest.make_data_key(
        "a", {"b": 2, "x": 1}
    )


PUBLISHED = shipped.find_configurations_folder().parent / "results" / "published"


def test_manifest_with_arbitrary_content_causes_no_error_in_readers(tmp_path):
    def read_all(results):
        assert isinstance(results.config.get("name", ""), str)
        reader._of_the_last_configuration(results.rows, results.manifest, [])
        manifest.find_machine_of_older_rows(results.manifest)
        index_page.format_machine(results)
        contents.count_missing_trials(results)
        data_issues.evaluate_checks(results)

    read_damaged(read_all, tmp_path)


def test_each_published_manifest_is_readable():
    for file in PUBLISHED.rglob("manifest.json"):
        assert manifest.read(file.parent)
