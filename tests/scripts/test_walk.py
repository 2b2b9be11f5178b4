"""The acceptance walk: its judgement of steps, and the commands that it reads from README.md."""

import re
import shlex
import shutil
import sys

import pytest

from scripts import walk


@pytest.fixture
def here(tmp_path):
    return walk.Walk(tmp_path)


def python(code):
    return [sys.executable, "-c", code]


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("raise SystemExit(2)", "exit code 2, not 0"),
        ("print('other')", "has no 'rows'"),
        (
            "import traceback; print('rows')\ntry: 1/0\nexcept Exception: traceback.print_exc()",
            "tra",
        ),
    ],
)
def test_command_with_unexpected_output_or_exit_code_is_a_failed_step(here, capsys, code, message):
    here.step("bad", lambda: here.call(python(code), has=["rows"]))
    here.step("good", lambda: here.call(python("print('rows'); exit(2)"), has=["rows"], code=2))
    assert (here.failed, here.passed) == (1, 1)
    bad, *_, good = capsys.readouterr().out.splitlines()
    assert bad.startswith("FAILED bad")
    assert message in bad
    assert good.startswith("ok     good")


def test_installation_walk_does_not_inherit_environment_variables(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", "somewhere")
    monkeypatch.setenv("RFBENCH_CACHE", "somewhere")
    assert {"PYTHONPATH", "RFBENCH_CACHE"}.isdisjoint(walk.Walk(tmp_path).variables)


def test_installation_walk_reads_each_command_of_the_readme(here):
    text = (walk.ROOT / "README.md").read_text(encoding="utf-8")
    indented = re.findall(r"^    (rfbench .*|scripts/.*|python .*|source .*)$", text, re.MULTILINE)
    commands = [shlex.join(shlex.split(line, comments=True)) for line in indented]
    assert [shlex.join(shlex.split(line)) for line in here.readme()] == list(
        dict.fromkeys(commands)
    )
    assert len(commands) > 15


def test_installation_walk_is_skipped_without_a_package_index(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(walk.subprocess, "run", lambda *_, **__: None)
    monkeypatch.setattr(walk.Walk, "has_index", lambda _: False)
    assert walk.walk(tmp_path) == walk.NOT_RUN
    assert "not run" in capsys.readouterr().out


@pytest.mark.parametrize("torch", [False, True])
def test_installation_walk_tests_runs_and_ranks_external_methods(
    tmp_path, monkeypatch, capsys, torch
):
    def copy_examples(here):
        examples = "scripts/examples"
        shutil.copytree(walk.ROOT / examples, here.source / examples)

    steps = []
    monkeypatch.setenv(walk.DATA_VARIABLE, str(tmp_path))
    monkeypatch.setattr(walk.subprocess, "run", lambda *_, **__: None)
    monkeypatch.setattr(walk.Walk, "has_index", lambda _: True)
    monkeypatch.setattr(walk.Walk, "copy_source", copy_examples)
    monkeypatch.setattr(walk.Walk, "step", lambda _, name, function: steps.append(name))
    assert walk.walk(tmp_path, torch=torch) == 0
    printed = capsys.readouterr().out
    for package, target in {
        "": "methods.py:function",
        **{package: target for package, (target, _) in walk.PACKAGES.items()},
    }.items():
        asked = torch or "torch" not in package
        for command in ("test", "run", "rank"):
            named = [s for s in steps if s.startswith(f"rfbench {command} ") and target in s]
            assert len(named) == asked, named
        assert (f"not run: {package}: " in printed) == (not asked)


def test_csv_rows_are_counted_without_the_header(tmp_path):
    file = tmp_path / "trials.csv"
    assert walk.count_rows(file) == 0
    file.write_text('a,b\n1,"two\nlines"\n3,4\n')
    assert walk.count_rows(file) == 2
