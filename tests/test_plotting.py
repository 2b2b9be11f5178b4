"""The environments in which matplotlib is imported: each in a process of its own."""

import json
import os
import subprocess
import sys

import pytest

from rfbench import interpreter, plotting
from rfbench.errors import ConfigError

SHOW = """
import json, os, logging
from rfbench.errors import RfbenchError
from rfbench.plotting import import_matplotlib
logging.basicConfig(format="%(message)s")
before = dict(os.environ), os.getcwd()
try:
    mpl = import_matplotlib()
    said = [mpl.rcParams["lines.linewidth"], str(mpl.rcParams._get("backend"))]
except RfbenchError as error:
    said = [str(error), ""]
assert os.getcwd() == before[1]
for name in ("MPLBACKEND", "MATPLOTLIBRC", "HOME", "XDG_CONFIG_HOME"):
    assert os.environ.get(name) == before[0].get(name), name
print(json.dumps(said))
"""
USUAL, OWN = 1.5, 7.25  # of matplotlib; of the user's settings
NOWHERE = "/nonexistent"


def imported(folder, code=SHOW, shell="", **variables):
    """Return the width of lines and the backend after the import in a folder, and the log."""
    environment = interpreter.build_environment() | {
        "MPLCONFIGDIR": str(folder / "own"),
        **variables,
    }
    done = subprocess.run(
        ["sh", "-c", f'"$0" "$@" {shell}', *interpreter.build_command(code)],
        env={name: value for name, value in environment.items() if value is not None},
        cwd=folder, capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    return *json.loads(done.stdout), done.stderr


@pytest.fixture
def folder(tmp_path):
    """Return a folder with the user's settings in the folder `own`."""
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "matplotlibrc").write_text(f"lines.linewidth: {OWN}\n")
    return tmp_path


DRAWS = "; from matplotlib.figure import Figure"


@pytest.mark.parametrize(
    ("backend", "shell"), [("module://matplotlib_inline.absent", ""), ("nonsense", "2>&-")]
)
def test_figures_are_drawn_under_any_user_backend(folder, backend, shell):
    code = SHOW.replace("import_matplotlib()", f"import_matplotlib(){DRAWS}")
    assert imported(folder, code, shell, MPLBACKEND=backend, PYTHONWARNINGS="error")[0] == OWN


def test_backend_chosen_by_the_user_remains_for_pyplot(folder):
    assert imported(folder, MPLBACKEND="svg")[1] == "svg"


def test_matplotlib_settings_in_the_current_folder_are_not_read(folder):
    """The fault: one that is no text ended every command, and a pipe of that name never ended."""
    here = folder / "matplotlibrc"
    here.write_bytes(b"\xff\xfe\x00lines.linewidth: 3\n")
    assert imported(folder)[0] == OWN
    here.unlink()
    os.mkfifo(here)
    assert imported(folder, MPLCONFIGDIR="own", MPLBACKEND="")[0] == OWN


def test_named_matplotlib_settings_file_is_read(folder):
    """From the current folder as well, if MATPLOTLIBRC names it."""
    (folder / "matplotlibrc").write_text("lines.linewidth: 3\n")
    assert imported(folder, MATPLOTLIBRC="matplotlibrc")[0] == 3


def test_invalid_matplotlib_settings_file_gives_one_sentence(folder):
    own = folder / "own" / "matplotlibrc"
    own.write_bytes(b"\xff\xfe\x00lines.linewidth: 3\n")
    text, _, log = imported(folder)
    assert "matplotlib cannot read its settings" in text
    assert str(own) in text
    assert log == ""
    own.write_text(f"no.such.key: 1\nlines.linewidth: {OWN}\n")
    width, _, log = imported(folder)
    assert width == OWN
    assert len(log.splitlines()) == 1
    assert str(own) in log


def test_pipe_as_user_settings_file_is_rejected(tmp_path, monkeypatch):
    """The fault: matplotlib waited for somebody to write into it."""
    variables = ("MATPLOTLIBRC", "MPLCONFIGDIR", "XDG_CONFIG_HOME", "HOME")
    monkeypatch.delitem(sys.modules, "matplotlib", raising=False)
    for name, place in zip(variables, ("", "", "matplotlib", ".config/matplotlib"), strict=True):
        folder = tmp_path / name / place
        folder.mkdir(parents=True)
        os.mkfifo(folder / "matplotlibrc")
        for other in variables:
            monkeypatch.delenv(other, raising=False)
        monkeypatch.setenv(name, str(tmp_path / name))
        with pytest.raises(ConfigError, match=f"{folder / 'matplotlibrc'} is not a regular file"):
            plotting.import_matplotlib()
    # What matplotlib does not come to read is nobody's matter, nor is the file without content.
    for named in (os.devnull, str(tmp_path / "settings")):
        (tmp_path / "settings").touch()
        monkeypatch.setenv("MATPLOTLIBRC", named)
        plotting._refuse_a_pipe()


def test_user_without_a_home_folder_gets_the_default_settings(folder):
    missing = dict.fromkeys(("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"))
    assert imported(folder, MPLCONFIGDIR=NOWHERE, **missing)[0] == USUAL


def test_matplotlib_settings_made_in_python_are_kept(folder):
    """If matplotlib is imported already, nothing of it changes."""
    (folder / "matplotlibrc").write_text("lines.linewidth: 3\n")
    assert imported(folder, f"import matplotlib\n{SHOW}", MPLBACKEND="svg")[:2] == (3, "svg")
