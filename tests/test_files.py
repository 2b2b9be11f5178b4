"""What lies in a folder of ours leads nowhere else; files are replaced whole."""

import os
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from click.testing import CliRunner

from rfbench import files
from rfbench.cli import main
from rfbench.errors import ResultsError, WriteError
from rfbench.results import store
from tests.support import forked
from tests.support.command_line import call
from tests.support.nightly import nightly
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


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """Return a configuration and a folder of its results, with figures."""
    top = tmp_path_factory.mktemp("measured")
    config = top / "small.yaml"
    config.write_text(SMALL)
    call("run", config, "--out", top / "r", "--jobs", "1")
    return config, top / "r" / "small"


def listed(folder):
    """Return every file below a folder with its content."""
    return {p.relative_to(folder): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_links_in_a_results_folder_are_not_followed(measured, tmp_path):
    """Neither the rows nor a log that is a link are read, written or shown."""
    config, ready = measured
    secret = tmp_path / "secret"
    secret.write_text(SECRET)
    for name in ("trials.csv", "rfbench.log"):
        folder = tmp_path / name / "small"
        shutil.copytree(ready, folder)
        (folder / name).unlink()
        (folder / name).symlink_to(secret)
        for words in (
            ("run", config, "--out", folder.parent, "--jobs", "1", "--trials", "3"),
            ("report", folder, "--out", tmp_path / name / "pages"),
        ):
            result = CliRunner().invoke(main, [str(word) for word in words])
            assert result.exit_code in (0, 1, 2), result.exception
            assert "secret line" not in result.output
        assert secret.read_text() == SECRET
        pages = listed(tmp_path / name).values()
        assert not any(b"secret line" in page for page in pages if page != SECRET.encode())


def test_figures_are_not_written_into_a_linked_folder(measured, tmp_path, no_pictures):
    """RESULTS may be that of somebody else; a link that the person names is followed."""
    (tmp_path / "theirs").mkdir()
    shutil.copytree(measured[1], tmp_path / "r" / "small")
    (tmp_path / "r" / "figures").symlink_to(tmp_path / "theirs")
    assert "figures is a link" in call("plot", tmp_path / "r", code=2)
    assert list((tmp_path / "theirs").iterdir()) == []
    call("plot", tmp_path / "r", "--out", tmp_path / "r" / "figures")
    assert [file.name for file in (tmp_path / "theirs").iterdir()] == ["small"]


@pytest.mark.parametrize("name", ["../theirs", "deep/../../theirs", "/etc/hostname", ".."])
def test_file_paths_outside_the_folder_are_rejected(tmp_path, name):
    top = tmp_path / "ours"
    (top / "deep").mkdir(parents=True)
    (tmp_path / "theirs").write_bytes(b"theirs")
    for act in (
        lambda file: files.read(file, top),
        lambda file: files.replace(file, b"a", top),
        lambda file: files.remove(file, top),
        lambda file: files.remove_folder(file, top),
        lambda file: files.move(tmp_path / "theirs", file, top),
    ):
        with pytest.raises(ResultsError, match="is not in"):
            act(top / name)
    assert (tmp_path / "theirs").read_bytes() == b"theirs"


def test_file_with_a_second_hard_link_is_not_extended(tmp_path):
    """As a log in a folder of somebody else that is a hard link."""
    theirs, log = tmp_path / "theirs", tmp_path / "ours" / "rfbench.log"
    theirs.write_bytes(b"theirs")
    log.parent.mkdir()
    log.hardlink_to(theirs)
    with pytest.raises(ResultsError, match="hard link"):
        files.append(log, b"a")
    store.append_to_log(log.parent, "an event")
    files.replace(log, b"ours")
    assert theirs.read_bytes() == b"theirs"


def test_folder_is_filled_completely_or_not_at_all(tmp_path):
    with suppress(KeyError), files.stage_folder(tmp_path / "a") as stage:
        (stage / "file").write_bytes(b"half")
        raise KeyError
    assert list(tmp_path.iterdir()) == []
    for content in (b"whole", b"another"):
        with suppress(OSError), files.stage_folder(tmp_path / "a") as stage:
            (stage / "file").write_bytes(content)
    assert listed(tmp_path) == {Path("a/file"): b"whole"}
    assert [file.name for file in tmp_path.iterdir()] == ["a"]


@pytest.mark.parametrize(
    "make", [lambda place, end: place.symlink_to(end), lambda place, _: os.mkfifo(place)]
)
def test_link_or_pipe_is_neither_read_nor_written(make, tmp_path):
    place, end = tmp_path / "ours", tmp_path / "theirs"
    end.write_bytes(b"theirs")
    make(place, end)
    for act in (
        files.read,
        lambda file: files.append(file, b"a"),
        lambda file: files.replace(file, b"a"),
    ):
        with pytest.raises(ResultsError, match="regular file, but rfbench"):
            act(place)
    assert end.read_bytes() == b"theirs"


def test_file_is_replaced_completely_or_not_at_all(tmp_path, monkeypatch):
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


def test_linked_subfolder_is_rejected(tmp_path):
    (tmp_path / "theirs").mkdir()
    top = tmp_path / "ours"
    top.mkdir()
    (top / "papers").symlink_to(tmp_path / "theirs")
    for act in (files.replace, lambda file, _, top: files.read(file, top)):
        with pytest.raises(ResultsError, match="papers is a link, or"):
            act(top / "papers" / "a.md", b"text", top)
    assert list((tmp_path / "theirs").iterdir()) == []


def test_appended_file_has_its_header_once(tmp_path):
    file = tmp_path / "rows"
    for line in (b"a\n", b"b\n"):
        files.append(file, line, b"head\n")
    assert file.read_bytes() == b"head\na\nb\n"


def test_file_named_by_the_user_may_be_a_link_or_a_device(tmp_path):
    files.write_user_file(tmp_path / "new" / "a", b"1")
    (tmp_path / "link").symlink_to(tmp_path / "new" / "a")
    files.write_user_file(tmp_path / "link", b"2")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "new" / "a").read_bytes() == b"2"
    files.write_user_file(tmp_path / "null", b"")
    files.write_user_file(type(tmp_path)(os.devnull), b"gone")
    with pytest.raises(WriteError):
        files.write_user_file(tmp_path / "new", b"a folder")


def test_overlong_line_in_a_results_file_is_rejected(measured, tmp_path, monkeypatch):
    from rfbench.results import reader

    folder = tmp_path / "r"
    shutil.copytree(measured[1], folder)
    with (folder / "trials.csv").open("ab") as file:
        file.write(b"\0" * 5000)
    monkeypatch.setattr(reader, "LONGEST_LINE", 4000)
    with pytest.raises(ResultsError, match="a line of more than"):
        reader.read_results_folder(folder)


def test_numba_settings_in_the_current_folder_are_rejected(tmp_path):
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
        assert "The current folder contains .numba_config.yaml." in ended.stderr
        assert ("Traceback" in ended.stderr) == ("-c" in words)
    assert sorted(p.name for p in tmp_path.iterdir()) == [".numba_config.yaml", "small.yaml"]


KILLS = 60
COMMANDS = ("run", "plot", "table", "report")
POINTS = {"run": (2, 4), "report": (1, 3)}  # of the fsyncs of a command: see `forked.kill_at`


@pytest.mark.parametrize(
    ("name", "point", "seconds"),
    [
        *((name, point, None) for name, points in POINTS.items() for point in points),
        *(
            pytest.param(COMMANDS[number % 4], 0, 0.6 + 0.17 * (number // 4), marks=nightly)
            for number in range(KILLS)
        ),
    ],
)
def test_kill_leaves_no_partial_file(name, point, seconds, measured, tmp_path):
    """Whatever has its name is whole: as before the command, or as after it.

    By day a command is killed while it forces a file to the disk, at night after some time.
    """
    config, ready = measured
    out = tmp_path / "pages"
    shutil.copytree(ready, tmp_path / "r" / "small")
    words = {
        "run": command(config, tmp_path / "r", "--trials", "4", "--jobs", "1"),
        "report": [*forked.COMMAND, "report", tmp_path / "r", "--out", out],
    }.get(name, [*forked.COMMAND, name, tmp_path / "r"])
    words = forked.prepare(f"from tests.support.forked import kill_at; kill_at({point})", words)
    process = forked.Forked(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with suppress(subprocess.TimeoutExpired):
        process.wait(seconds)  # where it is killed, not what is expected
    process.kill()
    assert process.wait() == -9 or seconds
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
