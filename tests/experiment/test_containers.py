"""Small containers, and the scripts of the documentation for SLURM."""

import ast
import os
import re
import subprocess
import sys
from glob import glob
from pathlib import Path

from rfbench.cli import main
from rfbench.experiment import fanout
from tests.support.command_line import call
from tests.support.runs import command, rows_of, without_times

CONTAINER = Path(__file__).parents[1] / "support" / "container"  # importing it changes the process
README = Path(fanout.__file__).with_name("README.md").read_text()
ARRAY, CLUSTER = (
    next(text for text in re.findall(rf"```{language}\n(.*?)```", README, re.S))
    for language in ("bash", "python")
)


def test_quickstart_runs_in_a_small_container(tmp_path):
    """Its home cannot be written, it has no shared memory, one processor and 1 GB.

    A notebook started it, and the window is narrow. The fault: after all trials a variable of the
    notebook ended the run in a traceback.
    """
    (tmp_path / "matplotlibrc").write_bytes(b"\xff")
    given = {
        **{"MPLBACKEND": "module://absent", "COLUMNS": "20"},
        "PYTHONPATH": str(CONTAINER),
        "HOME": f"{os.devnull}/home",
    }
    absent = ("RFBENCH_CACHE", "XDG_CACHE_HOME", "MPLCONFIGDIR")
    variables = {name: value for name, value in os.environ.items() if name not in absent}
    done = subprocess.run(
        command("quickstart", tmp_path / "out", "--trials", "1", "--set", "M=20,50"),
        env=variables | given, cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    assert (tmp_path / "out" / "quickstart" / "error_vs_M.png").is_file()
    rows = rows_of(tmp_path / "out" / "quickstart")
    assert [(row["status"], row["workers"]) for row in rows] == [("ok", "1")] * 4


def test_array_job_gives_the_rows_of_a_single_run(finished, tmp_path, monkeypatch):
    """The script runs as SLURM runs it, with another rfbench that notes its words."""
    (tmp_path / "tiny.yaml").write_text((finished.parent / "tiny.yaml").read_text())
    (tmp_path / "rfbench" / ".venv" / "bin").mkdir(parents=True)
    activate = f"rfbench() {{ {sys.executable} -c 'import sys; print(*sys.argv[1:])' \"$@\"; }}\n"
    (tmp_path / "rfbench" / ".venv" / "bin" / "activate").write_text(activate)
    monkeypatch.chdir(tmp_path)
    script = ARRAY.replace("run quickstart", "run tiny.yaml").replace("quickstart", "tiny")
    assert len(ARRAY.splitlines()) == 10
    for number in ("0", "1"):
        done = subprocess.run(
            ["bash", "-c", script],
            env=os.environ | {"HOME": str(tmp_path), "SLURM_ARRAY_TASK_ID": number},
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        assert done.stdout.startswith("run tiny.yaml --only trial=")
        call(*done.stdout.split(), "--quiet", "--jobs", "1")
    (line,) = re.findall("rfbench (merge .*)", script)
    call(*(found for word in line.split() for found in (sorted(glob(word)) or [word])))
    assert without_times(tmp_path / "parts" / "0" / "tiny") == without_times(finished)


def test_documented_slurm_script_with_dask_workers_is_valid():
    """It is parsed, and so is the command that it runs."""
    tree = ast.parse(CLUSTER)
    (words,) = (
        [word.value if isinstance(word, ast.Constant) else "dask:x" for word in node.value.elts]
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.List)
    )
    name, command_name, *rest = words
    assert name == "rfbench"
    found = main.get_command(None, command_name)
    with found.make_context(command_name, rest) as context:
        assert context.params["executor"] == "dask:x"
