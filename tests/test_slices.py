"""Each slice can be taken away: the core works on, and what it would have said is left out."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import rfbench
from rfbench import slices
from tests.support.nightly import at_night
from tests.support.runs import MOST_SECONDS

ROOT = Path(rfbench.__file__).parents[1]
PUBLISHED = ROOT / "results" / "published"
ROWS = ("quickstart", "liu2020_table3_eeg.printed")
AUDITS = ("audits/audit_liu2020_table3_EEG", "audits/gaps_liu2020_table3_EEG")
# What the core does, and by slice what it says with that slice and without it no more.
COMMANDS = (
    "run quickstart --smoke --jobs 1 --out mine",
    "plot mine/smoke/quickstart",
    "table mine/smoke/quickstart",
    "verify results",
    "report results --out pages",
    "--help",
)
SAID = {
    "checking": ("- [maps.md](maps.md)",),
    "leaderboard": ("- [which_method.md](which_method.md)", "  rank "),
    "choosing": ("  choose ", "  predict "),
    "audit": ("  audit ", "## Audits", "range over the unprinted keys |"),
}


def ran(place: Path, package: Path) -> str:
    """Run the commands with a copy of the package, and return what they said and wrote."""
    environment = os.environ | {"PYTHONPATH": str(package), "HOME": str(place)}
    # An installation that can be edited finds what the copy lacks: its finder goes first.
    script = (
        "import sys\n"
        "sys.meta_path[:] = [f for f in sys.meta_path if 'editable' not in f.__module__]\n"
        "from rfbench.cli import main\n"
        "for words in sys.argv[1:]:\n"
        "    print(words)\n"
        "    if code := main(words.split(), standalone_mode=False):\n"
        "        sys.exit(code)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, *COMMANDS],
        cwd=place, env=environment, capture_output=True, text=True, timeout=MOST_SECONDS,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    pages = sorted((place / "pages").rglob("*.md"))
    return "\n".join([done.stdout, *(page.read_text(encoding="utf-8") for page in pages)])


@pytest.mark.parametrize("absent", [slices.SLICES, *at_night(*((s,) for s in slices.SLICES))])
def test_core_commands_work_without_optional_subpackages(
    absent: tuple[str], tmp_path: Path
) -> None:
    package = tmp_path / "package"
    shutil.copytree(ROOT / "rfbench", package / "rfbench")
    (package / "rfbench" / "configs").mkdir()  # as in a wheel
    shutil.copy(ROOT / "configs" / "quickstart.yaml", package / "rfbench" / "configs")
    for name in absent:
        shutil.rmtree(package / "rfbench" / name)
    for rows in ROWS:
        shutil.copytree(PUBLISHED / rows, tmp_path / "results" / rows)
    shutil.copytree(PUBLISHED / "maps", tmp_path / "results" / "maps")
    for audit in AUDITS:
        shutil.copytree(PUBLISHED / audit, tmp_path / audit)
    said = ran(tmp_path, package)
    assert (tmp_path / "mine/smoke/quickstart/trials.csv").exists()
    assert list((tmp_path / "mine/smoke/quickstart").glob("*.png"))
    assert (tmp_path / "pages" / "papers" / "liu2020.md").exists()
    for other in slices.SLICES:
        texts = SAID[other]
        assert [text for text in texts if text in said] == ([] if other in absent else list(texts))


def test_slice_list_contains_each_optional_subpackage() -> None:
    assert {file.parent.name for file in (ROOT / "rfbench").glob("*/slice.py")} == {*slices.SLICES}


def test_import_error_in_an_optional_subpackage_is_raised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "__init__.py").touch()
    (tmp_path / "broken" / "slice.py").write_text("import no_such_module")
    monkeypatch.setattr(rfbench, "__path__", [*rfbench.__path__, str(tmp_path)])
    monkeypatch.setattr(slices, "SLICES", ("nowhere", "broken"))
    with pytest.raises(ModuleNotFoundError, match="no_such_module"):
        slices.call_hooks("list_commands")
    (tmp_path / "broken" / "slice.py").write_text("def list_commands():\n    return {'a': 'b:c'}\n")
    sys.modules.pop("rfbench.broken.slice", None)
    assert slices.call_hooks("list_commands") == [{"a": "b:c"}]
    assert slices.call_hooks("render_report_files", None) == []
