"""What lies in a folder of ours leads nowhere else; files are replaced whole."""

import os
import shutil
import signal
import subprocess
import sys
import time

import pytest
from click.testing import CliRunner

from rfbench import files
from rfbench.cli import main
from rfbench.errors import ResultsError, RfbenchError, WriteError
from tests.support.command_line import call
from tests.support.nightly import NIGHTLY, at_night, nightly
from tests.support.runs import command, rows_of

SMALL = """
dataset: digits
split: {train_size: 80, test_size: 40}
kernel: gaussian
bandwidth: 4.0
M: 4,8
samplers: [rks]
solver: {name: ridge, alphas: [0.1]}
trials: 2
"""
SECRET = "0 secret line, x$(touch PWN)\n"
OURS = (
    "trials.csv", "manifest.json", "rfbench.log", "trials.csv.torn", ".owner", ".lock", "kept.csv",
    "error_vs_M.png", "error_vs_time.png", "audit.md", "audit.csv",
    "failures", ".begun",
)  # fmt: skip
BY_DAY = ("trials.csv", "manifest.json", "rfbench.log", "kept.csv", "error_vs_M.png", "failures")
PAGES = ("README.md", "which_method.md", "verdicts.json", "papers")


@pytest.fixture
def hangs():
    """Fail a test that waits for a pipe."""

    def rang(*_):
        raise AssertionError("It hangs.")

    before = signal.signal(signal.SIGALRM, rang)
    signal.alarm(120)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """Return a configuration and a folder of its results, with figures."""
    top = tmp_path_factory.mktemp("measured")
    config = top / "small.yaml"
    config.write_text(SMALL)
    call("run", config, "--out", top / "r", "--jobs", "1")
    return config, top / "r" / "small"


def plant(place, kind, outside):
    """Put a link to a file outside, a link to nothing, or a pipe where a file of ours belongs."""
    if place.is_dir() and not place.is_symlink():
        shutil.rmtree(place)
    place.unlink(missing_ok=True)
    place.parent.mkdir(parents=True, exist_ok=True)
    if kind == "pipe":
        os.mkfifo(place)
    else:
        place.symlink_to(outside / ("folder" if place.suffix == "" else "file"))


def outside_of(tmp_path, kind):
    outside = tmp_path / "outside"
    (outside / "folder").mkdir(parents=True)
    (outside / "folder" / "theirs.txt").write_text(SECRET)
    if kind == "link":
        (outside / "file").write_text(SECRET)
    return outside


def answer(*words):
    """Return what a command says, be it done or refused."""
    result = CliRunner().invoke(main, [str(word) for word in words])
    assert result.exit_code in (0, 1, 2), result.exception
    assert "Traceback" not in result.output
    assert result.exc_info[0] is not AssertionError
    return result.output


def listed(folder):
    """Return every file below a folder with its content."""
    return {p.relative_to(folder): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@pytest.mark.parametrize(
    ("name", "kind"),
    [(name, "link") for name in BY_DAY]
    + [("trials.csv", "pipe"), ("manifest.json", "pipe")]
    + [pytest.param(name, "link", marks=nightly) for name in OURS if name not in BY_DAY]
    + [pytest.param(name, "pipe", marks=nightly) for name in OURS[2:]]
    + [pytest.param(name, "dangling", marks=nightly) for name in OURS],
)
def test_what_lies_in_a_results_folder_leads_nowhere(name, kind, measured, tmp_path, hangs):
    config, ready = measured
    folder = tmp_path / "r" / "small"
    outside = outside_of(tmp_path, kind)
    shutil.copytree(ready, folder)
    plant(folder / name, kind, outside)
    before = listed(outside)
    other = tmp_path / "other"
    shutil.copytree(ready, other)
    pages = tmp_path / "pages"
    of_pages = (("verify", folder), ("report", folder, "--out", pages))
    for words in (
        ("run", config, "--out", folder.parent, "--jobs", "1", "--trials", "3"),
        ("plot", folder),
        ("table", folder),
        *of_pages,
        ("merge", folder, other),
    ):
        output = answer(*words)
        assert "secret" not in output, words
        assert listed(outside) == before, words
    assert b"secret" not in b"".join(listed(pages).values())


@pytest.mark.parametrize("kind", ["link", *at_night("pipe")])
@pytest.mark.parametrize("name", PAGES)
def test_pages_are_not_written_through_links(name, kind, measured, tmp_path, hangs):
    out, outside = tmp_path / "pages", outside_of(tmp_path, kind)
    plant(out / name, kind, outside)
    before = listed(outside)
    answer("report", measured[1], "--out", out)
    assert listed(outside) == before


def test_folders_above_may_be_links(measured, tmp_path):
    config, ready = measured
    shutil.copytree(ready, tmp_path / "disk" / "here")
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "small").symlink_to(tmp_path / "disk" / "here")
    call("run", config, "--out", tmp_path / "results", "--jobs", "1", "--trials", "3")
    call("plot", tmp_path / "results" / "small")
    assert len(rows_of(tmp_path / "disk" / "here")) == 6


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path, monkeypatch):
    file = tmp_path / "deep" / "a.csv"
    files.replace(file, b"old", tmp_path)

    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(WriteError, match="No space left"):
            files.replace(file, b"new")
    assert listed(tmp_path) == {file.relative_to(tmp_path): b"old"}
    files.replace(file, b"new")
    assert file.read_bytes() == b"new"
    assert file.stat().st_mode & 0o777 == 0o644


def test_a_folder_within_that_is_a_link_is_refused(tmp_path):
    (tmp_path / "theirs").mkdir()
    top = tmp_path / "ours"
    top.mkdir()
    (top / "papers").symlink_to(tmp_path / "theirs")
    for act in (files.replace, lambda file, _, top: files.read(file, top)):
        with pytest.raises(ResultsError, match="papers is a link"):
            act(top / "papers" / "a.md", b"text", top)
    assert list((tmp_path / "theirs").iterdir()) == []


def test_what_is_appended_has_a_header_once(tmp_path):
    file = tmp_path / "rows"
    for line in (b"a\n", b"b\n"):
        files.append(file, line, b"head\n")
    assert file.read_bytes() == b"head\na\nb\n"


def test_a_file_that_is_too_large_is_refused(tmp_path, monkeypatch):
    file = tmp_path / "manifest.json"
    file.write_bytes(b"12345")
    monkeypatch.setattr(files, "LARGEST", 5)
    assert files.read(file) == b"12345"
    monkeypatch.setattr(files, "LARGEST", 4)
    with pytest.raises(ResultsError, match="more than 4 bytes"):
        files.read(file)


def test_a_file_that_the_person_names_may_be_a_link_or_a_device(tmp_path):
    files.write_named(tmp_path / "new" / "a", b"1")
    (tmp_path / "link").symlink_to(tmp_path / "new" / "a")
    files.write_named(tmp_path / "link", b"2")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "new" / "a").read_bytes() == b"2"
    files.write_named(tmp_path / "null", b"")
    files.write_named(type(tmp_path)(os.devnull), b"gone")
    with pytest.raises(WriteError):
        files.write_named(tmp_path / "new", b"a folder")


def test_a_line_without_an_end_is_refused(measured, tmp_path, monkeypatch):
    from rfbench.results import reader

    folder = tmp_path / "r"
    shutil.copytree(measured[1], folder)
    with (folder / "trials.csv").open("ab") as file:
        file.write(b"\0" * 5000)
    monkeypatch.setattr(reader, "LONGEST_LINE", 4000)
    with pytest.raises(ResultsError, match="a line of more than"):
        reader.read(folder)


def test_numbas_settings_in_the_current_folder_are_refused(tmp_path):
    (tmp_path / ".numba_config.yaml").write_text("cache_dir: evil\n")
    (tmp_path / "small.yaml").write_text(SMALL)
    python = (
        "import rfbench; rfbench.samplers.RKS(4, bandwidth=1.0).fit_transform([[0.0, 1.0]] * 9)"
    )
    for words in (
        [sys.executable, "-m", "rfbench", "run", "small.yaml", "--out", "r"],
        [sys.executable, "-c", python],
    ):
        ended = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert ended.returncode != 0
        assert "The current folder holds .numba_config.yaml." in ended.stderr
        assert ("Traceback" in ended.stderr) == ("-c" in words)
    assert sorted(p.name for p in tmp_path.iterdir()) == [".numba_config.yaml", "small.yaml"]


KILLS = 60 if NIGHTLY else 4
COMMANDS = ("run", "plot", "table", "report")


@pytest.mark.parametrize("number", range(KILLS))
def test_a_kill_leaves_no_half_file(number, measured, tmp_path):
    """Whatever has its name is whole: as before the command, or as after it."""
    config, ready = measured
    name = COMMANDS[number % len(COMMANDS)]
    out = tmp_path / "pages"
    shutil.copytree(ready, tmp_path / "r" / "small")
    words = {
        "run": command(config, tmp_path / "r", "--trials", "4", "--jobs", "1"),
        "report": [sys.executable, "-m", "rfbench", "report", tmp_path / "r", "--out", out],
    }.get(name, [sys.executable, "-m", "rfbench", name, tmp_path / "r"])
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(0.6 + 0.17 * (number // len(COMMANDS)))  # where it is killed, not what is expected
    process.kill()
    process.wait()
    for file in (p for p in tmp_path.rglob("*") if p.is_file() and not p.name.startswith(".")):
        content = file.read_bytes()
        if file.suffix == ".png":
            assert content.endswith(b"IEND\xaeB`\x82"), file
        if file.suffix in (".md", ".csv", ".json"):
            assert content.endswith(b"\n"), file
    before = rows_of(ready)
    call("run", config, "--out", tmp_path / "r", "--trials", "4", "--jobs", "1")
    rows = rows_of(tmp_path / "r" / "small")
    assert rows[: len(before)] == before
    assert len({row["trial_id"] for row in rows}) == len(rows) == 8


def test_every_refusal_says_what_to_do(tmp_path):
    (tmp_path / "a").symlink_to(tmp_path / "b")
    with pytest.raises(RfbenchError) as raised:
        files.check(tmp_path / "a")
    assert all((raised.value.what, raised.value.why, raised.value.todo))
