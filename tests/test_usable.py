"""Cores and memory that a process may use: made-up control groups, and a real affinity."""

import os
import subprocess

import joblib
import psutil
import pytest

from rfbench import interpreter, memory, platforms, usable
from rfbench.errors import ConfigError
from rfbench.experiment import environment, fanout

CORES, GIB = 8, 2**30
V2 = {"/proc/self/cgroup": "0::/user/job\n"}
V1 = {"/proc/self/cgroup": "5:cpu,cpuacct:/docker/x\n4:memory:/docker/x\n1:name=systemd:/\n"}


@pytest.fixture(autouse=True)
def machine(monkeypatch):
    """Return the files of the system, for a machine of 8 cores and 16 GiB, 12 of them free."""
    files = {}
    for name in usable.VARIABLES:
        monkeypatch.delenv(name, raising=False)
    facts = type("Memory", (), {"total": 16 * GIB, "available": 12 * GIB})
    monkeypatch.setattr(platforms, "read_system_file", lambda path: files.get(str(path), ""))
    monkeypatch.setattr(psutil, "virtual_memory", lambda: facts)
    monkeypatch.setattr(joblib, "cpu_count", lambda: CORES)
    monkeypatch.setattr(os, "cpu_count", lambda: CORES)
    return files


def test_machine_limits_apply_without_cgroup_quotas():
    assert usable.count_usable_cores() == CORES
    assert usable.measure_usable_memory() == (16 * GIB, 12 * GIB)


@pytest.mark.parametrize(
    ("files", "cores"),
    [
        ({"/user/job/cpu.max": "250000 100000\n"}, 3),
        ({"/user/job/cpu.max": "max 100000\n", "/user/cpu.max": "100000 100000\n"}, 1),
        ({"/user/job/cpu.max": "10000 100000\n"}, 1),
        ({"/cpu.max": "400000 100000\n", "/user/cpu.max": "600000 100000\n"}, 4),
        ({"/user/job/cpu.max": "max 100000\n"}, CORES),
        ({"/user/job/cpu.max": "unreadable"}, CORES),
        ({"/other/cpu.max": "100000 100000\n"}, CORES),
        ({"/user/job/cpu.max": "9900000 100000\n"}, CORES),
    ],
)
def test_smallest_cpu_quota_of_a_cgroup_and_its_parents_applies(machine, files, cores):
    machine |= V2 | {f"/sys/fs/cgroup{name}": text for name, text in files.items()}
    assert usable.count_usable_cores() == cores


@pytest.mark.parametrize("group", ["/docker/x", ""])
def test_version_1_of_control_groups_is_supported(machine, group):
    """In a container the group of the host may not be there, and the top is the container's."""
    cpu, own = f"/sys/fs/cgroup/cpu{group}", f"/sys/fs/cgroup/memory{group}"
    machine |= V1 | {f"{cpu}/cpu.cfs_quota_us": "150000\n", f"{cpu}/cpu.cfs_period_us": "100000\n"}
    machine |= {
        f"{own}/memory.limit_in_bytes": f"{4 * GIB}\n",
        f"{own}/memory.usage_in_bytes": f"{3 * GIB}\n",
        f"{own}/memory.stat": f"cache {GIB}\ntotal_inactive_file {2 * GIB}\n",
    }
    assert usable.count_usable_cores() == 2
    assert usable.measure_usable_memory() == (4 * GIB, 3 * GIB)
    machine[f"{cpu}/cpu.cfs_quota_us"] = "-1\n"
    machine[f"{own}/memory.limit_in_bytes"] = f"{2**63 - 4096}\n"
    assert usable.count_usable_cores() == CORES
    assert usable.measure_usable_memory() == (16 * GIB, 12 * GIB)


def test_usable_memory_is_the_minimum_of_machine_and_cgroup_limit(machine):
    own = "/sys/fs/cgroup/user/job/memory"
    machine |= V2 | {f"{own}.max": f"{2 * GIB}\n", f"{own}.current": f"{GIB}\n"}
    machine[f"{own}.stat"] = f"anon 5\ninactive_file {GIB // 2}\n"
    assert usable.measure_usable_memory() == (2 * GIB, 1.5 * GIB)
    assert memory.count_free_bytes() == 1.5 * GIB
    machine[f"{own}.current"] = f"{3 * GIB}\n"
    assert usable.measure_usable_memory().available == 0
    machine[f"{own}.max"] = "max\n"
    assert usable.measure_usable_memory() == (16 * GIB, 12 * GIB)


def test_environment_variables_lower_the_number_of_usable_cores(monkeypatch):
    monkeypatch.setenv("SLURM_CPUS_PER_TASK", "3")
    assert fanout.find_executor() == (3, None)
    monkeypatch.setenv("LOKY_MAX_CPU_COUNT", "2")
    assert fanout.find_executor() == (2, None)
    monkeypatch.setenv("SLURM_CPUS_PER_TASK", "99")
    assert usable.count_usable_cores() == 2
    assert fanout.find_executor(n_jobs=5) == (5, None)
    for wrong in ("0", "-1", "two", "1.5"):
        monkeypatch.setenv("SLURM_CPUS_PER_TASK", wrong)
        with pytest.raises(ConfigError, match=f"SLURM_CPUS_PER_TASK={wrong} is not a valid number"):
            usable.count_usable_cores()


def test_machine_hash_ignores_the_recorded_core_limit(monkeypatch):
    monkeypatch.setenv("SLURM_CPUS_PER_TASK", "2")
    facts = environment.describe_machine()
    assert (facts["cores"], facts["usable_cores"]) == (CORES, 2)
    without = {name: value for name, value in facts.items() if name != "usable_cores"}
    assert environment.manifest.hash_machine(facts) == environment.manifest.hash_machine(without)


def test_process_affinity_limits_the_cores():
    """As `taskset` sets it; the number of cores of the machine stays."""
    code = (
        "import os; os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])\n"
        "from rfbench import usable; print(usable.count_usable_cores())"
    )
    said = subprocess.run(
        interpreter.build_command(code), capture_output=True, text=True, check=True
    )
    assert said.stdout == "1\n"
