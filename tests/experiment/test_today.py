"""Which rows the shipped configurations still ask for."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rfbench import config, shipped
from rfbench.analysis import frame
from rfbench.analysis.selection import Selection
from rfbench.analysis.verification import build_verification as hold_against
from rfbench.experiment import today
from rfbench.experiment.plan import Trial
from rfbench.registry import SAMPLERS
from rfbench.results import Results
from tests.support.frames import results

NAME = "liu2020_table3_eeg.matched"
RUN = config.from_document(
    config.read_documents(shipped.locate("liu2020_table3"))[NAME], NAME
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
    assert today.find_settings(one) == frozenset(one.rows["setting"])
    assert frame.build_collection([one], today=today.find_settings).stale == {}


def test_rows_of_another_revision_are_stale_and_in_no_verdict(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = read(rows())
    cls = SAMPLERS.find("leverage-rff")
    monkeypatch.setattr(cls, "revision", cls.revision + 1, raising=False)
    collection = frame.build_collection([made], today=today.find_settings)
    assert collection.stale == {NAME: 6}
    stale = collection.groups[collection.groups["stale"]]
    assert list(stale["method"]) == ["leverage-rff"]
    bearing = Selection(collection).bearing
    assert "leverage-rff" not in set(bearing["method"])
    assert "rks" in set(bearing["method"])
    fresh = collection.without_stale(made)
    assert len(fresh.rows) == len(made.rows) - 6
    assert "leverage-rff" not in set(fresh.rows["label"])
    numbers = hold_against(Selection(collection)).own
    measured = numbers[numbers["trials"] > 0]
    assert "leverage-rff" not in set(measured["method"])


def test_user_results_are_never_stale() -> None:
    own = read([row | {"setting": "0123"} for row in rows()], "mine")
    assert today.find_settings(own) is None
    assert frame.build_collection([own], today=today.find_settings).stale == {}
    named = read([row | {"setting": "0123"} for row in rows()])
    assert frame.build_collection([named], today=today.find_settings).stale == {NAME: len(rows())}
    assert frame.build_collection([named]).stale == {}


def test_invalid_shipped_configuration_makes_no_row_stale(monkeypatch):
    broken = config.read_documents(shipped.locate("liu2020_table3"))[NAME]
    broken = replace(broken, value={**broken.value, "trails": 3})
    monkeypatch.setattr(today, "_documents", lambda path: {NAME: broken})
    monkeypatch.setattr(today, "_read", today._read.__wrapped__)
    assert today.find_settings(read(rows())) is None


def test_current_settings_are_computed_once(monkeypatch) -> None:
    """Of each folder of a report: no class is looked up again, and no configuration read again."""
    here = read(rows())
    asked = today.find_settings(here)
    looked_up, checked = [], []
    monkeypatch.setattr("pkgutil.resolve_name", looked_up.append)
    monkeypatch.setattr(config, "from_document", lambda *words, **more: checked.append(words))
    assert today.find_settings(here) == asked
    assert (looked_up, checked) == ([], [])
