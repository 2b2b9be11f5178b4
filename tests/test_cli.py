import os
import re
import shutil
import subprocess

import click
import pytest

from rfbench import shipped, yamlfile
from rfbench.cli import main
from rfbench.cli.verify import render_rules
from rfbench.errors import DataError
from rfbench.results.store import Store
from tests.support import forked
from tests.support.command_line import call
from tests.support.methods import BAD

SMALL = """\
title: A tiny try
dataset: digits
rows: 200
split: {test_size: 0.3}
M: [5, 10]
samplers: [rks, {eerf: {pool_size: 30}}]
solver: {alphas: 0.1}
trials: 2
"""


@pytest.fixture
def here(tmp_path, monkeypatch, no_pictures):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tiny.yaml").write_text(SMALL)
    return tmp_path


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """Return the results of a run of the configuration."""
    top = tmp_path_factory.mktemp("finished")
    (top / "tiny.yaml").write_text(SMALL)
    output = call("run", top / "tiny.yaml", "--out", top / "results", "--jobs", 1)
    assert "A tiny try" in output
    assert "8 run, 0 failed" in output
    return top / "results"


@pytest.fixture
def done(here, finished):
    """Return a folder with the configuration and the results of its run."""
    shutil.copytree(finished, here / "results")
    return here


def test_run_table_and_plot_write_their_output(done):
    for name in ("trials.csv", "manifest.json", "error_vs_M.png"):
        assert (done / "results" / "tiny" / name).stat().st_size > 0
    assert not list((done / "results").rglob("*.pdf"))
    output = call("run", "tiny.yaml", "--jobs", 1)
    assert "results/tiny/trials.csv" in output
    assert "8 measured before" in output
    assert "results/figures/tiny/error_vs_time.png" in call("plot", "results")
    assert "results/tiny/error_vs_time.png" in call("plot", "results/tiny")
    assert "drawn/tiny/error_vs_time.png" in call("plot", "results/tiny", "--out", "drawn")
    assert "drawn/results/tiny/error_vs_time.png" in call("plot", ".", "--out", "drawn")
    files = call("plot", "results/tiny", "--format", "svg, pdf,svg").split()
    assert [file[-3:] for file in files] == ["svg", "pdf"] * (len(files) // 2)
    assert "'gif' is not one of the formats png, pdf, svg" in call(
        "plot", "results", "--format=gif", code=2
    )
    assert "tiny/error_vs_M.png" in call("plot", "results/tiny", "--style", "ggplot")
    assert "2 trials" in call("table", "results/tiny")
    assert "\\toprule" in call("table", "results/tiny", "--format", "latex")
    lines = call("table", "results/", "--format", "csv").splitlines()
    assert len(lines) == 1 + 4


def test_table_of_many_folders_prints_one_line_per_folder(done):
    tiny = done / "results" / "tiny"
    others = [tiny.with_name(name) for name in ("b", "c", "d")]
    for other in others:
        shutil.copytree(tiny, other)
    lines = call("table", "results").splitlines()
    assert [line.split()[0] for line in lines[1:5]] == [
        f"results/{n}" for n in ("b", "c", "d", "tiny")
    ]
    assert not any("2 trials" in line for line in lines)
    assert call("table", "results", "--all").count("2 trials") == 4
    assert call("table", tiny, *others).count("2 trials") == 4
    shutil.rmtree(others[0])
    assert call("table", "results").count("2 trials") == 3


def times(folder):
    """Return when each file was written, the log and hidden files apart."""
    files = [path for path in folder.iterdir() if path.name[0] != "." and path.suffix != ".log"]
    return {path: path.stat().st_mtime_ns for path in files}


def test_run_with_nothing_to_do_writes_only_figures(done):
    tiny = done / "results" / "tiny"
    before = times(tiny)
    for file in tiny.iterdir():
        os.utime(file, (1, 1))
    assert "tiny/error_vs_M.png" in call("run", "tiny.yaml", "--jobs", 1)
    after = times(tiny)
    assert after.keys() == before.keys()
    assert {time for file, time in after.items() if file.suffix != ".png"} == {10**9}


def test_quiet_prints_only_errors(done):
    assert call("run", "tiny.yaml", "--jobs", 1, "-q") == ""
    # Somewhere else there are trials to run, and workers to start.
    assert call("run", "tiny.yaml", "--jobs", 2, "-q", "--out", "elsewhere") == ""
    assert (done / "elsewhere/tiny/trials.csv").exists()
    assert call("run", "missing.yaml", "-q", code=2)


def test_dry_run_writes_nothing(here):
    output = call("run", "tiny.yaml", "--dry-run")
    assert "8 trials of rks, eerf on digits. 0 are measured, 0 failed, and 8 would run" in output
    assert sorted(path.name for path in here.iterdir()) == ["tiny.yaml"]


def test_dry_run_counts_existing_failed_and_missing_trials(done):
    store = Store(done / "results" / "tiny")
    first, *rows, last = store.read_rows()
    store.csv.unlink()
    for row in ({**first, "status": "failed"}, *rows):
        store.append(row)
    output = call("run", "tiny.yaml", "--dry-run")
    assert "8 trials of rks, eerf on digits. 7 are measured, 1 failed, and 1 would run" in output
    again = call("run", "tiny.yaml", "--dry-run", "--retry", "failed")
    assert "7 are measured, 1 failed, and 2 would run" in again
    call("run", "tiny.yaml", "--jobs", 1, "--retry", "failed")
    assert {row["trial_id"] for row in store.read_rows()} == {
        row["trial_id"] for row in (first, *rows, last)
    }


def test_dry_run_lists_downloads(here, monkeypatch):
    monkeypatch.delenv("RFBENCH_DATA", raising=False)
    words = ("--set", "dataset=covtype", "--set", "rows=100000", "--dry-run", "--only", "label=rks")
    output = call("run", "tiny.yaml", *words)
    assert "would first download covtype" in output


def test_offline_run_leaves_out_data_to_download(here, monkeypatch):
    monkeypatch.setattr("rfbench.datasets.is_on_disk", lambda name: name != "letter")
    (here / "far.yaml").write_text(SMALL.replace("digits", "letter"))
    output = call("run", "far.yaml", "tiny.yaml", "--offline", "--dry-run")
    assert "left out: far: The data of letter are not on this machine." in output
    assert "tiny: 8 trials" in output
    assert "far:" not in output.replace("left out: far:", "")
    assert "`rfbench data fetch letter`" in call("run", "far.yaml", "--offline", code=2)
    assert not (here / "results").exists()


def test_data_that_fail_to_download_are_left_out_if_others_remain(here, monkeypatch):
    def fetch(name, progress):
        if name == "letter":
            raise DataError("'letter.zip' is missing.", "The download failed.", "Get it.")

    monkeypatch.setattr("rfbench.datasets.is_on_disk", lambda name: name != "letter")
    monkeypatch.setattr("rfbench.datasets.fetch", fetch)
    for name in ("far", "farther"):
        (here / f"{name}.yaml").write_text(SMALL.replace("digits", "letter"))
    one = ("--only", "trial=0", "--only", "label=rks", "--jobs", 1)
    output = call("run", "far.yaml", "tiny.yaml", *one)
    assert "left out: far: 'letter.zip' is missing." in output
    assert (here / "results" / "tiny" / "trials.csv").exists()
    assert "letter.zip' is missing" in call("run", "far.yaml", "farther.yaml", code=2)


def test_smoke_run_has_its_own_folder_and_is_labeled(here):
    output = call("run", "tiny.yaml", "--smoke", "--jobs", 1)
    assert "SMOKE RUN" in output
    assert (here / "results" / "smoke" / "tiny" / "trials.csv").exists()
    assert not (here / "results" / "tiny").exists()


def test_sweep_has_its_own_folder(here):
    output = call("sweep", "tiny.yaml", "--M", "4:6", "--set", "bandwidth=5,9", "--jobs", 1)
    folder = here / "results" / "tiny-sweep-M=4..6_bandwidth=5+9"
    assert (folder / "trials.csv").exists()
    assert "24 run" in output
    assert "bandwidth=9" in (folder / "trials.csv").read_text()


def test_failed_trials_exit_with_code_1(here):
    (here / "bad.py").write_text(BAD)
    text = SMALL.replace("[rks, ", "[{class: 'bad.py:Bad', label: bad}, ")
    (here / "bad.yaml").write_text(text)
    assert "not imported" in call("run", "bad.yaml", code=2)
    output = call("run", "bad.yaml", "--allow-imports", "--jobs", 1, code=1)
    assert "ValueError: on purpose" in output
    assert "8 run, 4 failed" in output


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["run", "missing.yaml"], "cannot be read: no such file"),
        (["run", "tiny.yaml", "--set", "samplers.eerf.pool_size=5"], "from a pool of 5"),
        (["run", "tiny.yaml", "tiny.yaml"], "Two runs have the name tiny"),
        (["run", "tiny.yaml", "--set", "M"], "does not have the form `key.path=value`"),
        (["run", "tiny.yaml", "--trials", "0"], "not in the range"),
        (["sweep"], "Name the key to sweep"),
        (["sweep", "--M", "9:1"], "the end of the range is below its start"),
        (["plot", "nowhere"], "nowhere"),
        (["plot", "."], "does not contain results"),
        (["plot", ".", "--style", "no such"], "no such"),
        (["plot", ".", "--width", "3.3km"], "3.3km"),
        (["table", "tiny.yaml"], "tiny.yaml"),
        (["data", "fetch", "digitz"], "Did you mean 'digits'"),
        (["list", "nothing"], "is not one of"),
        (["list", "samplers", "erf"], "Did you mean 'eerf'?"),
        (["rnu"], "No such command"),
    ],
)
def test_wrong_usage_exits_with_one_sentence_and_code_2(here, words, sentence):
    assert sentence in call(*words, code=2)


@pytest.mark.parametrize("word", ["a\0b", "a\udc80b"])
def test_undecodable_arguments_exit_with_code_2_and_a_one_sentence_error(here, word):
    for words in ([], ["run"], ["run", "tiny.yaml", "--set"], ["sweep", "--M"], ["data", "fetch"]):
        assert "is not UTF-8 text" in call(*words, word, code=2)


MATRIX = """
protocols: {printed: , tuned: {M: 8}}
datasets: {digits: , more: {dataset: digits, trials: 1}}
"""


def test_each_run_of_a_configuration_file_is_executed(here):
    (here / "two.yaml").write_text(SMALL.replace("dataset: digits\n", "") + MATRIX)
    words = ["run", "two.yaml", "--jobs", 1]
    call(*words, "--run", "more.tuned")
    assert [path.name for path in (here / "results").iterdir()] == ["two_more.tuned"]
    output = call(*words, "--dry-run", "--only", "protocol=tuned", "--only", "M=8")
    assert re.findall(r"two_\S+(?=:)", output) == ["two_digits.tuned", "two_more.tuned"]
    both = call(*words, "--dry-run", "--only", "protocol=tuned", "--only", "protocol=printed")
    assert set(re.findall(r"two_\S+(?=:)", both)) > set(re.findall(r"two_\S+(?=:)", output))
    some = ("--only", "protocol=tuned", "--only", "protocol=tunde")  # one of two is not there
    assert "No trial has protocol tunde" in call(*words, *some, code=2)
    assert "with a key of trials" in call(*words, "--only", "protocoll=tuned", code=2)
    assert "tuned" in call(*words, "--only", "protocol=tunde", code=2)
    assert "called 'more'" in call(*words, "--run", "more", code=2)
    assert "digits.printed" in call("sweep", "two.yaml", "--M", 5, code=2)
    named = ("--run", "more.printed", "--run", "more.tuned")
    assert re.findall(r"two_\S+(?=:)", call(*words, "--dry-run", *named)) == [
        "two_more.printed",
        "two_more.tuned",
    ]
    assert "A sweep varies one run" in call("sweep", "two.yaml", "--M", 5, *named, code=2)
    call("sweep", "two.yaml", "--M", "4,5", "--run", "more.printed", "--jobs", 1)
    assert (here / "results" / "two_more.printed-sweep-M=4+5" / "trials.csv").exists()


def test_variant_label_is_listed_with_its_base_sampler():
    shown = call("list", "samplers", "nystroem-kmeans")
    assert shown.startswith("nystroem-kmeans: as nystroem, with the centers of k-means")
    assert call("list", "samplers", "nystroem") in shown


def test_configurations_are_listed_with_their_runs():
    assert "eeg.printed" in call("list", "configs")
    assert "protocols:" in call("list", "configs", "liu2020_table3")
    said = yamlfile.parse_yaml(call("list", "configs", "liu2020_table3_eeg.printed"), "said").value
    assert (said["dataset"], said["protocol"], "protocols" in said) == ("eeg", "printed", False)
    assert "quickstart" in call("list", "configs", "quickstrat", code=2)


def test_installation_without_configurations_is_reported(monkeypatch):
    monkeypatch.setattr(shipped, "list_configurations", list)
    for words in (["list", "configs"], ["list", "configs", "quickstart"]):
        assert "Install" in call(*words, code=2)


def test_configuration_is_run_by_name_if_no_such_file_exists(here):
    assert "quickstart: 50 trials of" in call("run", "quickstart", "--dry-run")
    assert "quickstart" in call("run", "quikstart", "--dry-run", code=2)
    (here / "quickstart").write_text(SMALL)
    assert "quickstart: 8 trials of" in call("run", "quickstart", "--dry-run")


@pytest.mark.parametrize(
    ("what", "name", "words"),
    [
        ("columns", "t_pp", ["(s)", "number"]),
        ("samplers", "rff", ["RKS\n", "n_components = 100"]),
        (
            "samplers",
            "lkrf",
            ["estimator = 'top': one of draw", "pool_size = 1000", "Largest allowed distance of q"],
        ),
        ("solvers", "ridge", ["multiclass = 'one-vs-rest'", "RidgeClassifier\n"]),
        ("kernels", "gaussian", ["exp(-|x - y|^2 / (2 s^2))"]),
        ("datasets", "eeg", ["rows: 14980", "files: EEG Eye State.arff"]),
        ("configs", "quickstart", ["dataset: digits"]),
    ],
)
def test_list_command_shows_the_details_of_a_named_item(what, name, words):
    said = call("list", what, name)
    assert all(word in said for word in words)


def test_each_command_has_one_line_in_one_help_group():
    lines = call("--help").splitlines()
    commands = main.list_commands(click.Context(main))
    described = [line.split()[0] for line in lines if re.match("  [a-z]+ +[A-Z]", line)]
    assert sorted(described) == commands
    for line in lines:
        name, _, text = line.strip().partition(" ")
        if name in described:
            assert len(text.strip()) <= 62
            assert text.endswith(".")
    assert max(map(len, lines)) <= 80


def test_help_of_each_option_begins_with_a_phrase():
    """The name of an option is not part of its description: "Of this kernel" names no noun."""

    def options(command, words):
        if isinstance(command, click.Group):
            for name in command.list_commands(click.Context(command)):
                yield from options(
                    command.get_command(click.Context(command), name), [*words, name]
                )
        for option in command.params:
            if isinstance(option, click.Option):
                yield [*words, option.opts[0]], option.help

    for words, text in options(main, []):
        assert text, words
        assert text.split()[0] not in {"Of", "Default:", "Where", "Those"}, words
        assert text.endswith("."), words


def test_verify_prints_its_rules_without_a_results_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert call("verify", "--rules") == render_rules()
    assert render_rules().splitlines()[4] not in call("verify", "--help")


def test_help_has_examples():
    for command in ("run", "sweep", "plot", "table"):
        assert "Example" in call(command, "--help")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
def test_full_output_device_gives_an_error_without_traceback():
    with open("/dev/full", "w") as full:
        found = forked.run(
            [*forked.COMMAND, "list", "samplers"], stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert found.returncode == 1
    assert "No space left" in found.stderr
    assert "Traceback" not in found.stderr
    assert "Exception ignored" not in found.stderr
