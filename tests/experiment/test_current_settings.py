"""Which rows the shipped configurations still ask for."""

import json
from dataclasses import replace
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from rfbench import config, shipped
from rfbench.analysis import frame
from rfbench.analysis.selection import Selection
from rfbench.analysis.verification import build_verification as hold_against
from rfbench.experiment import current_settings, today_cache
from rfbench.experiment.plan import Trial
from rfbench.registry import SAMPLERS
from rfbench.results import Results
from tests.support.frames import results

NAME = "liu2020_table3_eeg.matched"
RUN = config.build_experiment(
    config.read_run_documents(shipped.locate_configuration("liu2020_table3"))[NAME], NAME
)  # fmt: skip


def rows(**changes: Any) -> list[dict[str, Any]]:
    """Rows of every sampler of the run, as they are planned today for data of a made-up hash."""
    (dataset,) = RUN.dataset
    return [
        {"dataset": "eeg", "d": 14, "data_hash": "abc", "n_train": 7490, "n_test": 7490,
         "protocol": "matched", "sampler": spec.name, "label": spec.label, "M": 14, "trial": trial,
         "accuracy": 70.0 + trial, "error": "",
         "setting": Trial(RUN, dataset, "abc", spec, 14, trial).setting, **changes}
        for spec in RUN.samplers
        for trial in range(6)
    ]  # fmt: skip


def read(made: list[dict[str, Any]], name: str = NAME) -> Results:
    return results(made, name, paper="liu2020", item="table3")


def test_rows_of_the_current_plan_are_not_stale_and_need_no_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RFBENCH_DATA", str(tmp_path))
    one = read(rows())
    assert current_settings.find_current_settings(one) == frozenset(one.rows["setting"])
    assert (
        frame.build_collection(
            [one], today=current_settings.find_current_settings_of_each
        ).stale_row_counts
        == {}
    )


def test_rows_of_another_revision_are_stale_and_in_no_verdict(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = read(rows())
    cls = SAMPLERS.find("leverage-rff")
    monkeypatch.setattr(cls, "revision", cls.revision + 1, raising=False)
    collection = frame.build_collection(
        [made], today=current_settings.find_current_settings_of_each
    )
    assert collection.stale_row_counts == {NAME: 6}
    stale = collection.groups[collection.groups["stale"]]
    assert list(stale["method"]) == ["leverage-rff"]
    bearing = Selection(collection).matching_groups
    assert "leverage-rff" not in set(bearing["method"])
    assert "rks" in set(bearing["method"])
    fresh = collection.drop_stale_rows(made)
    assert len(fresh.rows) == len(made.rows) - 6
    assert "leverage-rff" not in set(fresh.rows["label"])
    numbers = hold_against(Selection(collection)).numbers_on_own_data
    measured = numbers[numbers["trials"] > 0]
    assert "leverage-rff" not in set(measured["method"])


def test_user_results_are_never_stale() -> None:
    own = read([row | {"setting": "0123"} for row in rows()], "mine")
    assert current_settings.find_current_settings(own) is None
    assert (
        frame.build_collection(
            [own], today=current_settings.find_current_settings_of_each
        ).stale_row_counts
        == {}
    )
    named = read([row | {"setting": "0123"} for row in rows()])
    assert frame.build_collection(
        [named], today=current_settings.find_current_settings_of_each
    ).stale_row_counts == {NAME: len(rows())}
    assert frame.build_collection([named]).stale_row_counts == {}


def test_invalid_shipped_configuration_makes_no_row_stale(monkeypatch):
    broken = config.read_run_documents(shipped.locate_configuration("liu2020_table3"))[NAME]
    broken = replace(broken, value={**broken.value, "trails": 3})
    monkeypatch.setattr(current_settings, "_documents", lambda path: {NAME: broken})
    monkeypatch.setattr(current_settings, "_read", current_settings._read.__wrapped__)
    assert current_settings.find_current_settings(read(rows())) is None


def test_current_settings_are_computed_once(monkeypatch) -> None:
    """Of each folder of a report: no class is looked up again, and no configuration read again."""
    here = read(rows())
    asked = current_settings.find_current_settings(here)
    looked_up, checked = [], []
    monkeypatch.setattr("pkgutil.resolve_name", looked_up.append)
    monkeypatch.setattr(config, "build_experiment", lambda *words, **more: checked.append(words))
    assert current_settings.find_current_settings(here) == asked
    assert (looked_up, checked) == ([], [])


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("RFBENCH_CACHE", str(tmp_path))
    return tmp_path / today_cache.FILE


def test_cached_current_settings_equal_the_computed_settings(cache, monkeypatch):
    several = [read(rows()), read(rows(), "mine")]
    assert not cache.exists()
    asked = current_settings.find_current_settings_of_each(several)
    assert asked == [frozenset(several[0].rows["setting"]), None]
    assert today_cache.load_current_settings(several) == asked

    def plan(results):
        raise AssertionError(f"{results.name} was planned again")

    monkeypatch.setattr(current_settings, "find_current_settings", plan)
    assert today_cache.load_current_settings(several) == asked


@pytest.mark.parametrize(
    "changed", ["code", "library", "rows", "configuration", "data", "name", "damage"]
)
def test_cached_settings_are_recomputed_after_changes_of_code_or_data(
    changed, cache, tmp_path, monkeypatch
):
    one = read(rows())
    (asked,) = today_cache.load_current_settings([one])
    if changed == "code":
        monkeypatch.setattr(today_cache, "hash_code", lambda: "other")
    elif changed == "library":
        monkeypatch.setattr(metadata, "version", lambda name: f"another {name}")
    elif changed == "rows":
        (tmp_path / "papers" / "any").mkdir(parents=True)
        (tmp_path / "papers" / "any" / "rows.csv").write_text("a\n")
        monkeypatch.setattr(today_cache, "PACKAGE", tmp_path)
    elif changed == "configuration":
        copy = tmp_path / "liu2020_table3.yaml"
        copy.write_bytes(shipped.locate_configuration("liu2020_table3").read_bytes() + b"# more\n")
        monkeypatch.setattr(shipped, "list_configurations", lambda: [copy])
    elif changed == "data":
        one = read(rows(data_hash="other"))
    elif changed == "name":
        one = replace(one, name=NAME.replace("eeg.matched", "letter.matched"))
    else:
        cache.write_text(json.dumps({"code": today_cache._hash_shipped(), "settings": ["no dict"]}))
    planned = []
    monkeypatch.setattr(
        current_settings, "find_current_settings", lambda results: planned.append(results) or asked
    )
    assert today_cache.load_current_settings([one]) == [asked]
    assert planned == [one]


def test_unwritable_cache_folder_of_current_settings_is_no_error(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("RFBENCH_CACHE", str(tmp_path / "file" / "folder"))
    one = read(rows())
    assert today_cache.load_current_settings([one]) == [current_settings.find_current_settings(one)]


@pytest.mark.parametrize("files", ["code", "kernel", "data"])
def test_settings_that_depend_on_user_files_are_not_cached(files, monkeypatch, tmp_path):
    assert current_settings.depends_on_shipped_files(NAME)
    assert current_settings.depends_on_shipped_files("no such run")
    assert current_settings.depends_on_shipped_files("boosting_trees")  # it imports scikit-learn
    (tmp_path / "own.csv").write_text("a,y\n1,2\n3,4\n")
    spec = RUN.samplers[0].model_copy(update={"name": "module.Sampler", "imported": True})
    own = {"file": str(tmp_path / "own.csv")}
    changes = {
        "code": {"samplers": [spec]},
        "kernel": {"kernel": "module.kernel"},
        "data": {"dataset": [RUN.dataset[0].model_copy(update={"parameters": own})]},
    }
    experiment = RUN.model_copy(update=changes[files])
    monkeypatch.setattr(current_settings, "_find_experiment", lambda name: experiment)
    assert not current_settings.depends_on_shipped_files(NAME)
