import math
from pathlib import Path

import pytest

from rfbench.analysis.data_issues import DataIssue, compute_wall_to_cpu_ratio, find_data_issues
from rfbench.results import read_results_folder
from tests.support.results import Write


def rows(write: Write, cpu: float | str, **changes: object) -> Path:
    cpus = {f"cpu_{name}": cpu for name in ("pp", "features", "train", "test")}
    return write([{**cpus, **changes}, {**cpus, **changes, "trial": 1}], name=f"cpu-{cpu}")


def test_wall_to_cpu_ratio_is_the_ratio_of_sums(write: Write) -> None:
    found = read_results_folder(rows(write, 0.25))
    ratio = (0.25 + 0.5 + 1.25 + 0.125) / (4 * 0.25)
    assert compute_wall_to_cpu_ratio(found.rows) == pytest.approx(ratio)
    assert find_data_issues(found) == [DataIssue("busy", pytest.approx(ratio))]


@pytest.mark.parametrize("changes", [{"threads": 4}, {"status": "failed"}])
def test_wall_to_cpu_ratio_uses_only_successful_single_thread_rows(
    write: Write, changes: dict[str, str]
) -> None:
    found = read_results_folder(rows(write, 0.25, **changes))
    assert math.isnan(compute_wall_to_cpu_ratio(found.rows))
    assert "busy" not in {fault.kind for fault in find_data_issues(found)}


def test_rows_without_times_are_reported_if_other_rows_have_times(write: Write) -> None:
    parts = ("pp", "features", "train", "test")
    timed = {f"cpu_{name}": 0.5 for name in parts}
    untimed = {f"{kind}_{name}": "" for kind in ("cpu", "t") for name in parts}
    made = [{**timed}, {**untimed, "sampler": "orf"}, {**untimed, "sampler": "orf", "trial": 1}]
    assert DataIssue("untimed", 2, "orf") in find_data_issues(
        read_results_folder(write(made, name="some"))
    )
    assert find_data_issues(read_results_folder(write([untimed], name="none"))) == []


def test_idle_machine_and_rows_of_old_versions_get_no_warning(write: Write) -> None:
    assert find_data_issues(read_results_folder(rows(write, 0.5))) == []
    assert find_data_issues(read_results_folder(rows(write, ""))) == []
