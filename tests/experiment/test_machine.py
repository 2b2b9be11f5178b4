"""Which machine measured a row."""

import json

import pytest

from rfbench.experiment import runner
from rfbench.experiment.run_plan import plan_run
from rfbench.results import manifest, read_results_folder
from rfbench.results.manifest import hash_machine
from rfbench.results.merging import merge, read_valid_rows
from rfbench.results.store import Store
from tests.support.results import named, write_folder

from .conftest import SMALL

CORE = {"library": "openblas", "version": "0.3", "core": "Haswell", "threads": 2}
FACTS = {
    **{"system": "Linux x86_64", "cpu": "AMD EPYC", "cores": 2, "memory_gib": 23.5},
    **{"free_memory_gib": 3.0, "blas": [CORE, CORE | {"version": "0.4"}], "blas_variables": {}},
}
GOOD = {
    "config": {"name": "a"},
    "settings": ["s"],
    "trials": [named("a"), named("b")],
    "data": {},
}


def row(word, **changes):
    return {"trial_id": word, "setting": "s", **changes}


@pytest.mark.parametrize(
    "change",
    [
        {"free_memory_gib": 1.0},
        {"blas": FACTS["blas"][::-1]},
        {"blas": [library | {"threads": 1} for library in FACTS["blas"]]},
        {"blas": [*FACTS["blas"], CORE]},
        {"blas_variables": {"OMP_NUM_THREADS": "1"}},
    ],
)
def test_facts_that_vary_between_runs_do_not_change_the_machine_hash(change):
    assert hash_machine(FACTS | change) == hash_machine(FACTS)


def test_other_hardware_or_libraries_change_the_machine_hash():
    other_core = [CORE | {"core": "Zen"}, FACTS["blas"][1]]
    changes = [
        *({name: "other"} for name in ("system", "cpu", "cores", "memory_gib")),
        *({"blas": blas} for blas in (None, [CORE], other_core)),
    ]
    assert len({hash_machine(FACTS | change) for change in [{}, *changes]}) == len(changes) + 1


def older(folder, **changes):
    """Return a folder as it was written before rows had a machine."""
    write_folder(folder, [row("a")], GOOD | {"machine": FACTS} | changes)
    return folder


def test_rows_without_machine_column_get_the_machine_of_their_manifest(tmp_path):
    results = read_results_folder(older(tmp_path / "r"))
    assert list(results.rows["machine"]) == [hash_machine(FACTS)]
    assert results.machine == FACTS
    assert results.notes == []
    assert [one["machine"] for one in read_valid_rows(tmp_path / "r")] == [hash_machine(FACTS)]


def test_rows_without_machine_column_and_manifest_have_no_machine(tmp_path):
    folder = older(tmp_path / "r")
    (folder / "manifest.json").unlink()
    assert list(read_results_folder(folder).rows["machine"]) == [""]
    assert read_results_folder(folder).machine == {}


def test_merged_rows_keep_their_machines(tmp_path):
    elsewhere = FACTS | {"cpu": "Xeon"}
    target = older(tmp_path / "t")
    other = write_folder(tmp_path / "o", [row("b")], GOOD | {"machine": elsewhere})
    assert merge(target, [other]).added == 1
    results = read_results_folder(target)
    assert list(results.rows["machine"]) == [hash_machine(FACTS), hash_machine(elsewhere)]
    assert results.machines == {hash_machine(each): each for each in (FACTS, elsewhere)}
    assert "2 machines" in results.notes[0]


def test_run_resumed_elsewhere_reports_both_machines(experiment_of, tmp_path):
    folder = tmp_path / "tiny"
    runner.run_plan(plan_run([experiment_of(SMALL, "trials=1")], folder))
    (here,) = json.loads((folder / "manifest.json").read_text())["machines"]
    content = manifest.read(folder)
    manifest.write(folder, content | {"machines": {"0" * 8: FACTS}})
    lines = [one | {"machine": "0" * 8} for one in read_valid_rows(folder)]
    Store(folder).csv.unlink()
    for one in lines:
        Store(folder).append(one)
    runner.run_plan(plan_run([experiment_of(SMALL, "trials=2")], folder))
    results = read_results_folder(folder)
    assert "2 machines" in results.notes[0]
    assert list(results.rows.groupby("machine").size().items()) == sorted(
        [("0" * 8, len(lines)), (here, len(lines))]
    )
    assert results.machines.keys() == {"0" * 8, here}
