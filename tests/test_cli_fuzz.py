"""Random words on the command line: an exit code and a sentence, never a traceback or a hang."""

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rfbench.cli import main
from rfbench.results import reader

WORDS = [
    "run", "sweep", "plot", "table", "merge", "replay", "data", "list", "verify",
    "fetch", "path", "add", "samplers", "kernels", "configs", "digits", "sphere", "tiny.yaml",
    "broken.yaml", "missing.yaml", ".", "results", "--M", "50:1000", "log:1:10:3", "9:1", "--set",
    "M=5", "M", "seed=x", "samplers.rks.kernel=cauchy", "samplers.0.a=1", "a.b.c.d=1", "--trials",
    "3", "0", "-1", "nan", "--jobs", "--out", "--smoke", "--dry-run", "--format", "csv", "latex",
    "--only", "M=5", "sampler=rks", "--memory", "10%", "lots", "--timeout", "--retry", "failed",
    "--help", "--version", "-h", "--debug", "", " ", "é", "\u2603", "=", "==", "--", "--nothing",
]  # fmt: skip
SAFE = ("run", "sweep")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with a good and a broken configuration and no results."""
    top = tmp_path_factory.mktemp("fuzz")
    (top / "tiny.yaml").write_text(
        "dataset: digits\nsplit: {test_size: 0.3}\nM: [5]\nsamplers: [rks]\n"
    )
    (top / "broken.yaml").write_text("dataset: [")
    (top / "results").mkdir()
    return top


@settings(
    max_examples=50,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(words=st.lists(st.sampled_from(WORDS) | st.text(max_size=6), max_size=6))
def test_any_words(folder, monkeypatch, words):
    monkeypatch.chdir(folder)
    monkeypatch.setenv("RFBENCH_DATA", str(folder))
    if words and words[0] in SAFE:
        words = [words[0], "--dry-run", *words[1:]]
    if "fetch" in words:
        words = [word for word in words if word != "fetch"]
    result = CliRunner().invoke(main, words)
    assert result.exception is None or isinstance(result.exception, SystemExit), words
    assert result.exit_code in (0, 1, 2)
    assert "Traceback" not in result.output
    assert not list(folder.rglob(reader.TRIALS))
