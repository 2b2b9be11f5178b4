"""The stored totals: no total changes without a new line of the errata."""

from __future__ import annotations

import json

import pytest

from scripts import totals
from scripts.history import git


def stored_in(commit: str) -> dict:
    return json.loads(git.ask("show", f"{commit}:results/totals.json"))


def test_ledger_totals_equal_the_stored_totals() -> None:
    stored = json.loads(totals.STORED.read_text())
    ledger = json.loads((totals.RESULTS / "ledger.json").read_text())
    errata = totals.lines_of((totals.RESULTS / "errata.md").read_text())
    assert stored["totals"] == totals.totals_of(ledger), (
        "a total changed: write a line into results/errata.md, and run python -m scripts.totals"
    )
    assert errata == list(range(1, len(errata) + 1))
    assert stored["errata"] <= len(errata)


def test_no_commit_changes_a_total_without_an_errata_line() -> None:
    """Each version of the stored file beside those of its parents, and the present one."""
    try:
        git.check()
        names = git.ask("log", "--full-history", "--format=%H", "--", "results/totals.json").split()
        head = [stored_in("HEAD")] if names else []
    except git.NoHistory as error:
        pytest.skip(f"the history is not complete: {error}")
    for before in head:
        assert totals.may_replace(before, json.loads(totals.STORED.read_text()))
    for commit in names:
        for parent in git.parents()[commit]:
            if git.ask("ls-tree", "--name-only", parent, "results/totals.json"):
                assert totals.may_replace(stored_in(parent), stored_in(commit)), commit


def test_changed_totals_need_a_new_errata_line() -> None:
    old = {"errata": 3, "totals": {"numbers": [{"agrees": 2}]}}
    other = {"numbers": [{"agrees": 3}]}
    assert totals.may_replace(None, old)
    assert totals.may_replace(old, old)
    assert not totals.may_replace(old, {"errata": 3, "totals": other})
    assert totals.may_replace(old, {"errata": 4, "totals": other})


def test_order_of_classes_and_verdicts_is_not_part_of_the_totals() -> None:
    one = {name: [] for name in totals.KEPT} | {"numbers": [{"a": 1, "b": 2}, {"c": 1}]}
    same = one | {"numbers": [{"c": 1}, {"b": 2, "a": 1}]}
    assert totals.totals_of(one) == totals.totals_of(same)
    assert totals.totals_of(one) != totals.totals_of(one | {"numbers": [{"a": 1, "b": 3}]})
