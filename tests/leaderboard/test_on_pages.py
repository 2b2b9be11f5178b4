"""What the core's commands and pages say of the leaderboard."""

import json
from pathlib import Path

import pytest

from rfbench.pages.report import publish_pages
from tests.leaderboard.comparisons import rows
from tests.support.command_line import call
from tests.support.papers import tuned
from tests.support.results import write_folder

FILES = {
    "which_method.md", "leaderboard.json", "which_method_cost.png", "answers.md", "answers.png"
}  # fmt: skip


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_folder(Path("results/many"), tuned(), {"config": {"name": "many"}})


def compared() -> None:
    """Write a comparison over many data sets, gradient boosting among the methods."""
    errors = {}
    for i in range(30):
        for method, M in (("rks", 400), ("orf", 400), ("boosting", 1)):
            errors[f"d{i}", method, M] = (10.0 + i) * (0.5 if method == "orf" else 1.0)
    times = dict.fromkeys(("cpu_pp", "cpu_features", "cpu_train"), 0.1)
    made = rows(errors, scaling="standard", selection_loss=0.1, **times)
    write_folder(Path("results/ours"), made, {"config": {"name": "leaderboard_x"}})


def written() -> set[str]:
    return FILES & {file.name for file in publish_pages(["results"], "pages")}


@pytest.mark.usefixtures("no_pictures")
def test_report_writes_leaderboard_page_json_and_figure() -> None:
    compared()
    assert written() == FILES
    front = Path("pages/README.md").read_text(encoding="utf-8")
    assert "- [which_method.md](which_method.md) names the best method" in front
    assert "(methods)" in front
    size = json.loads(Path("pages/leaderboard.json").read_text())["sizes"][-1]
    assert size["best"] == "orf"
    figure = Path("pages/which_method_cost.png").read_bytes()
    assert figure.startswith(b"\x89PNG")
    Path("results/ours/trials.csv").unlink()
    assert written() == {"which_method.md"}
    assert FILES & {file.name for file in Path("pages").iterdir()} == {"which_method.md"}
    assert "(methods)" not in Path("pages/README.md").read_text(encoding="utf-8")


def test_verify_prints_the_values_of_a_leaderboard_finding() -> None:
    compared()
    assert "ORF" in call("verify", "results", "--finding", "methods")
