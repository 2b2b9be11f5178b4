"""`rfbench verify --cell`: one published number, measured within a budget."""

import re
from pathlib import Path

import pytest

from rfbench.experiment import runner
from rfbench.papers import list_published_numbers, read_known_papers
from rfbench.papers.cells import find_published_cell
from rfbench.results import read_results_folder
from tests.support.command_line import call
from tests.support.invented import write

CONFIG = """\
paper: doe2030
item: table7
protocol: {protocol}
dataset: digits
split: {{test_size: 0.3}}
M: 40,80
samplers: [rks, orf]
solver: {{alphas: 0.1}}
trials: 3
"""
CELL = "doe2030, Table 7, digits, rks, 40"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RFBENCH_DATA", str(tmp_path / "data"))
    (tmp_path / "data").mkdir()
    folder = write(Path("theirs")) / "doe2030"
    (folder / "a.yaml").write_text(CONFIG.format(protocol="printed"))


def cell(*words: object, code: int = 0, name: str = CELL) -> str:
    said = call("verify", "--cell", name, "--papers", "theirs", *words, code=code)
    return " ".join(said.split())


def test_published_number_is_found_by_the_names_of_its_paper() -> None:
    wanted = [
        n for n in list_published_numbers() if (n.item, n.dataset, n.M) == ("table3", "EEG", "224")
    ]
    wanted = [n for n in wanted if n.method == "surrogate-leverage"]
    for table, data, method in (
        ("Table 3", "EEG", "SLS-RFF"),
        ("table3", "eeg", "surrogate-leverage"),
        ("TABLE 3", "EEG", "Ours"),
    ):
        named = f"liu2020, {table}, {data}, {method}, 224"
        assert find_published_cell(named, read_known_papers()) == wanted


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("doe203, Table 7, digits, rks, 40", "Did you mean 'doe2030'"),
        ("doe2030, Tabel 7, digits, rks, 40", "Did you mean 'Table 7'"),
        ("doe2030, Table 7, digit, rks, 40", "Did you mean 'Digits'"),
        ("doe2030, Table 7, digits, rkss, 40", "Did you mean 'RKS'"),
        ("doe2030, Table 7, digits, rks, 400", "Did you mean '40'"),
        ("doe2030, Table 7, digits, rks", "There is no size"),
        ("doe2030, Table 7", "2 parts instead of 5. Write"),
    ],
)
def test_error_for_a_wrong_cell_name_suggests_the_nearest(name: str, said: str) -> None:
    assert said in cell(code=2, name=name)


def test_verify_cell_measures_missing_trials_and_reports_the_verdict() -> None:
    said = cell("--trials", "2")
    assert "printed: 2 trials to run, expected time" in said
    assert re.search(
        r"error: measured [\d.]+ \(90 % interval [\d.]+ to [\d.]+\), 2 trials; "
        r"measured minus published -[\d.]+ ± [\d.]+: differs",
        said,
    )
    assert "t_total: measured" in said
    assert "rfbench run theirs/doe2030/a.yaml" not in said
    assert re.search(r"rfbench run \S*/doe2030/a.yaml --only dataset=digits --only label=rks", said)
    rows = read_results_folder("results/cells/a_digits_rks_40").rows
    assert set(zip(rows["label"], rows["M"], strict=True)) == {("rks", 40)}
    again = cell("--trials", "2")
    assert "trials to run" not in again
    assert again in said, "nothing is measured, and the same is printed"
    assert "1 trials to run, expected time" in cell("--trials", "3")
    assert len(read_results_folder("results/cells/a_digits_rks_40").rows) == 3


def test_published_number_without_unit_or_feature_count_is_found() -> None:
    with Path("theirs/doe2030/published.csv").open("a") as file:
        file.write("table8,Digits,orf,,error,5.0,,,1,,\n")
    path = Path("theirs/doe2030/a.yaml")
    path.write_text(path.read_text().replace("table7", "table7, table8"))
    said = cell("--trials", "2", name="doe2030, Table 8, Digits, ORF")
    assert "ORF, no size stated - Published error: 5." in said
    assert re.search(r"measured minus published \+[\d.]+( ± [\d.]+)?: (differs|undecided)", said)


def test_two_published_numbers_of_one_run_are_both_measured() -> None:
    with Path("theirs/doe2030/published.csv").open("a") as file:
        file.write("table7,Digits,orf,40,error,9.0,,,%,,\n")
    other = CELL.replace("rks", "ORF")
    assert "2 trials to run" in cell("--trials", "2")
    assert "2 trials to run" in cell("--trials", "2", name=other)
    for name in (CELL, other):
        assert "trials to run" not in cell("--trials", "2", name=name)
        assert ", 2 trials; measured minus" in cell("--trials", "2", name=name)


def test_failed_trial_does_not_stop_the_other_protocols() -> None:
    path = Path("theirs/doe2030/a.yaml")
    Path("theirs/doe2030/broken.py").write_text("def draw(X, M, seed):\n    return 1 / 0\n")
    text = path.read_text().replace("[rks, orf]", '[{class: "broken.py:draw", label: rks}]')
    path.write_text(text)
    assert "not imported" in cell("--trials", "1", code=2)
    Path("theirs/doe2030/b.yaml").write_text(CONFIG.format(protocol="matched"))
    said = cell("--trials", "1", "--allow-imports", code=1)
    assert "failed: " in said
    assert re.search(r"matched - error: measured [\d.]+, 1 trial; measured minus", said)


def test_verify_cell_uses_trials_of_an_existing_run() -> None:
    call("run", "theirs/doe2030", "--only", "M=40", "--only", "label=rks", "--jobs", "1")
    said = cell()
    assert "trials to run" not in said
    assert ", 3 trials; measured minus" in said
    assert not Path("results/cells").exists()


def test_verify_cell_stops_at_the_time_budget_and_resumes_later() -> None:
    said = cell("--budget", "1ms")
    assert "Nothing is measured" in said
    assert "3 trials are missing. The command at the end measures them" in said
    assert "missing" not in cell()


def test_interrupted_run_reports_existing_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    cell("--trials", "2")
    stopped = runner.Summary(Path(), interrupted=True)
    monkeypatch.setattr(runner, "run_plan", lambda *_, **__: stopped)
    said = cell("--trials", "3", code=1)
    assert ", 2 trials; measured minus" in said
    assert "1 trial is missing" in said


def test_cell_is_measured_under_each_protocol_with_available_data(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    Path("theirs/doe2030/b.yaml").write_text(CONFIG.format(protocol="matched"))
    said = cell("--trials", "1")
    assert "printed: 1 trials" in said
    assert "matched: 1 trials" in said
    assert "Settings: tuned to match" in said
    assert "one has its table" not in said
    monkeypatch.setattr("rfbench.shipped.find_published_folder", lambda: None)
    said = " ".join(call("verify", "--cell", "liu2020, Table 3, EEG, RFF, 14").split())
    assert (
        said.count(
            "Nothing is measured: the data set eeg is not on this machine. To download it: rfbench "
            "data fetch"
        )
        == 4
    )
    missing = cell(name="doe2030, Table 7, digits, rks, 40", code=0)
    assert "Nothing" not in missing


def test_number_without_a_configuration_is_rejected() -> None:
    Path("theirs/doe2030/a.yaml").unlink()
    assert "No configuration measures" in cell(code=2)
