"""What the pages of documentation show runs, and says what the rows say.

Every command line is run in a folder that has what the page speaks of. Measurements are planned
(`--dry-run`), but for those of `SHORTER`. What would need a network, minutes, or another machine is
only parsed: the command, its options and their values have to be right.
"""

import importlib.util
import json
import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
import tomllib
from glob import glob
from pathlib import Path
from urllib.parse import unquote

import click
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from rfbench import config
from rfbench.cli import main

ROOT = Path(__file__).parents[1]
PAGES = {
    name: (ROOT / name).read_text(encoding="utf-8")
    for name in (
        *("README.md", "CONTRIBUTING.md", "configs/README.md", "data/README.md"),
        *(f"rfbench/{file.parent.name}/README.md" for file in ROOT.glob("rfbench/*/README.md")),
        *("scripts/README.md", "CHANGELOG.md"),
        *(f"results/{file.name}" for file in sorted(ROOT.glob("results/*.md"))),
    )
}
# Commands of slices, which may be absent: their lines are then left out.
SLICE_OF = {
    "audit": "audit", "choose": "choosing", "predict": "choosing", "rank": "leaderboard",
    "test": "checking",
}  # fmt: skip
ABSENT = {name for name in SLICE_OF.values() if not (ROOT / "rfbench" / name).is_dir()}
FENCED = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)
COMMAND = re.compile(r"^    ((?:rfbench|scripts/|python|pip|dask|source) ?(?:\\\n|.)*)$", re.M)

# When the form of a claim was committed.
WHEN = {
    "before": "committed before the measured rows",
    "same commit": "committed with the measured rows",
    "after": "committed after the measured rows",
}

# Only parsed, and why.
PARSED = {
    "rfbench choose": "it takes its budget; tests/choosing runs it",
    "rfbench rank": "it measures many tables; tests/leaderboard runs it",
    "rfbench predict": "its model is that of choose; tests/choosing runs it",
    "rfbench data fetch": "a network",
    "rfbench verify --cell": "it measures; tests/papers runs it",
    "rfbench replay": "the machine that measured the row",
}
# Run, but with less to do.
SHORTER = {
    "run flats.yaml": ["--set", "M=20", "--jobs", "1"],
    "run mine.yaml": ["--set", "M=20", "--trials", "2", "--jobs", "1"],
}


def blocks(language):
    return [
        text for page in PAGES.values() for kind, text in FENCED.findall(page) if kind == language
    ]


def commands(*first):
    """Return the commands of all pages that begin so, as words and without what follows a pipe."""
    lines = (line for page in PAGES.values() for line in COMMAND.findall(FENCED.sub("", page)))
    words = (shlex.split(line.replace("\\\n", " "), comments=True) for line in lines)
    found = [line[: line.index("|")] if "|" in line else line for line in words]
    shown = (line for line in found if line[0].startswith(first) and not is_absent(line[1:]))
    return sorted({*map(shlex.join, shown)})


def is_absent(words):
    """Tell whether the words after `rfbench` are a command, or an option, of an absent slice."""
    named = [SLICE_OF.get(word) for word in words[:1]] + ["audit"] * ("--audits" in words)
    return not ABSENT.isdisjoint(named)


def parsed(command, words):
    """Parse words as the command would, without running it."""
    with command.make_context(str(command.name), list(words)) as context:
        if isinstance(command, click.Group):
            name, *rest = words
            found = command.get_command(context, name)
            assert found is not None, name
            parsed(found, rest)
        return context


@pytest.fixture
def place(tmp_path, monkeypatch, no_pictures):
    """A folder with the files and results that the pages speak of, and no data of the catalogue."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RFBENCH_DATA", raising=False)
    if "checking" not in ABSENT:  # 200 of 2,800: `rfbench test` runs, its power falls
        monkeypatch.setattr("rfbench.checking.bias.N_SEEDS", 200)
    (tmp_path / "configs").symlink_to(ROOT / "configs")
    rows = ROOT / "results" / "published"
    for folder in ("quickstart", "flats", "published/quickstart"):
        copied(rows / "quickstart", tmp_path / "results" / folder)
    copied(rows / "quickstart", tmp_path / "laptop" / "results" / "quickstart")
    table = "eerf2018_table3_adult.matched"
    copied(rows / table, tmp_path / "results" / "published" / table)
    CliRunner().invoke(main, ["new", "--example"], catch_exceptions=False)  # flats.csv, new.csv
    shutil.copy(ROOT / "scripts/examples/sampler.py", tmp_path / "mine.py")
    CliRunner().invoke(main, ["new", "--paper", "mine2026"], catch_exceptions=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "Downloads").mkdir()
    (tmp_path / "Downloads" / "letter+recognition.zip").touch()
    return tmp_path


def copied(folder, target):
    target.mkdir(parents=True)
    for name in ("trials.csv", "manifest.json"):
        shutil.copy(folder / name, target)


def named(text):
    """Return the configuration of the pages that has this in it."""
    (found,) = [block for block in blocks("yaml") if text in block]
    return found


@pytest.mark.parametrize("line", commands("rfbench"))
def test_rfbench_command_in_the_pages_runs(line, place):
    words = [os.path.expanduser(word) for word in shlex.split(line)[1:]]
    words = [found for word in words for found in (glob(word) or [word])]
    if any(line.startswith(kept) for kept in PARSED):
        parsed(main, words)
        return
    if words[0] == "run":
        (place / "mine.yaml").write_text(named("mine.py:Antithetic"))
        (place / "flats.yaml").write_text(named("flats.csv"))
        (place / "FILE.yaml").write_text(named("protocols:"))
    if words[:2] == ["new", "--paper"]:
        shutil.rmtree(place / words[2])
    if "--replay" in words:
        words[words.index("--replay") + 1] = "1"
    if words[0] in ("run", "sweep", "audit"):
        words += SHORTER.get(" ".join(words[:2]), ["--dry-run"])
    if words[0] == "audit":
        words += ["--most", "20"]  # of hundreds of combinations
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 0, result.output
    assert " failed" not in result.output.replace(" 0 failed", "")


@pytest.mark.parametrize("line", commands("scripts/", "source"))
def test_script_in_the_pages_exists(line):
    script = shlex.split(line)[-1 if line.startswith("source") else 0]
    if script == ".venv/bin/activate":
        assert 'venv="${venv:-$PWD/.venv}"' in (ROOT / "scripts/setup").read_text()
        return
    assert os.access(ROOT / script, os.X_OK)
    subprocess.run(["bash", "-n", ROOT / script], check=True)
    assert all((ROOT / word).exists() for word in shlex.split(line) if word.startswith("tests/"))


@pytest.mark.parametrize("line", commands("python", "pip", "dask"))
def test_other_command_in_the_pages_is_valid(line):
    tool, *words = shlex.split(line)
    if tool == "python" and "-m" not in words:
        assert (ROOT / words[0]).exists()
    elif tool == "python":
        assert importlib.util.find_spec(words[words.index("-m") + 1])
    elif tool == "pip":
        extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
        (extra,) = re.findall(r"\[(\w+)\]", words[-1])
        assert extra in extras["optional-dependencies"]
    else:
        module = importlib.import_module(f"distributed.cli.dask_{words[0]}")
        parsed(module.main, words[1:])


def test_python_code_of_the_readme_runs(place):
    (code,) = [block for block in blocks("python") if "model.predict" in block]
    X = np.random.default_rng(0).standard_normal((200, 3))
    names = {"X": X, "y": (X[:, 0] > 0).astype(int), "X_new": X[:5]}
    exec(code.replace('"trials=2"', '"trials=2", "M=20,50"'), names)
    assert names["model"].predict(X[:5]).shape == (5,)


def test_documented_code_writes_a_table_to_npy_files(place):
    (code,) = [block for block in blocks("python") if "open_memmap" in block]
    exec(code, {})
    found, table = np.load("flats_on_disk/X.npy"), pd.read_csv("flats.csv")
    np.testing.assert_allclose(found, table[["area", "rooms"]], rtol=1e-6)
    np.testing.assert_array_equal(np.load("flats_on_disk/y.npy"), table["price"])


def test_documented_adapter_converts_an_object_to_a_function():
    (code,) = [block for block in blocks("python") if "adapted" in block]
    assert len(code.strip().split("\n\n")) == 2 == len(code.split("\n\n"))
    made = {"Net": lambda d, M, seed: lambda X: np.full((len(X), M), float(d))}
    exec(code, made)
    np.testing.assert_array_equal(made["mine"](np.zeros((2, 3)), 4, 0), np.full((2, 4), 3.0))


def test_number_of_python_blocks_equals_the_number_tested():
    """But for the script of SLURM, which `tests/experiment/test_containers.py` parses."""
    assert len(blocks("python")) == 4


@pytest.mark.parametrize("text", blocks("yaml"), ids=range(len(blocks("yaml"))))
def test_configuration_in_the_pages_is_valid(text, place):
    (place / "page.yaml").write_text(text)
    assert config.read_runs(place / "page.yaml", [], allow_imports=True)


OF_PAPERS = [f"results/papers/{file.name}" for file in (ROOT / "results/papers").glob("*.md")]


@pytest.mark.parametrize("page", [*PAGES, *sorted(OF_PAPERS)])
def test_links_have_targets(page):
    for target in re.findall(r"\]\(([^)]+)\)", (ROOT / page).read_text(encoding="utf-8")):
        if target.startswith("https:"):
            # The paper itself, or the thread that asks.
            assert page in [*OF_PAPERS, "results/answers.md"]
            continue
        if {*Path(target).parts} & ABSENT:
            continue
        file, _, heading = unquote(target).partition("#")
        place = (ROOT / page).parent / file if file else ROOT / page
        assert place.exists(), target
        if heading:
            headings = re.findall(r"^#+ (.*)", place.read_text(), re.M)
            slugs = [re.sub(r"[^\w -]", "", text).lower().replace(" ", "-") for text in headings]
            assert heading in slugs


def near_of(*classes):
    """Return how many of some counts agree or are close, of how many."""
    near, others = (
        sum(each.get(verdict, 0) for each in classes for verdict in verdicts)
        for verdicts in (("agrees", "close"), ("undecided", "differs"))
    )
    return f"{near} of {near + others}"


def test_numbers_in_the_readme_equal_those_computed_from_the_rows():
    """Its totals are of one class each, and every one is in the ledger."""
    text = " ".join(PAGES["README.md"].split())
    ledger = json.loads((ROOT / "results/ledger.json").read_text())
    counts = {(each["source"], each["settings"]): near_of(each) for each in ledger["numbers"]}
    every = {
        of: near_of(
            *(each for each in ledger["numbers"] if (each["source"], each["settings"]) == of),
            *(
                each
                for each in ledger["left out"]
                if (each["source"], each["settings"]) == of and each["group"] != "moved"
            ),
        )
        for of in counts
    }
    for of in (("table", "readings"), ("table", "matched")):
        assert every[of] == counts[of]  # none of these has left its total
    near, _, tested = counts.pop(("table", "readings")).partition(" of ")
    said = (
        f"Of {tested} published numbers in tables, {near} agree with our measurements or are close"
    )
    assert said in text
    near = counts.pop(("table", "matched"))
    assert f"tuned to match the published numbers, {near} numbers agree or are close" in text
    holding: dict[str, list[str]] = {}
    for key, (_, _, order) in ledger["holding"].items():
        holding.setdefault(WHEN[order], []).append(key.partition("/")[2])
    named = "; ".join(f"{', '.join(sorted(ids))} ({when})" for when, ids in holding.items())
    assert (
        f"Claims that hold under every tried combination of unstated settings are {named}." in text
    )
    board = json.loads((ROOT / "results/leaderboard.json").read_text())["sizes"][-1]
    line = next(line for line in board["lines"] if line["method"] == board["best"])
    ratio, names = line["ratio"], ("high", "median", "low")
    low, median, high = (round(100 - 100 * ratio[name], 1) for name in names)
    mean, trimmed = (round(100 - 100 * ratio[name]) for name in ("mean", "trimmed"))
    assert not board["leader"]
    sizes = json.loads((ROOT / "results/leaderboard.json").read_text())["sizes"]
    assert [size["M"] for size in sizes if size["leader"] == "varpro"] == [50, 100]
    assert "With few features, VarPro is best. With 400 features, no method is clearly best" in text
    assert (
        f"in the median the error of `{board['best']}` is {median} % below the error of RKS" in text
    )
    assert f"(90 % interval {low} to {high} %; better on {ratio['better']} of" in text
    assert f"of {board['datasets']} data sets)" in text
    said = f"is {mean} % below RKS, or {trimmed} % without the three most extreme"
    assert f"The geometric mean error of `{board['best']}` {said}" in text
    maps = pd.read_csv(ROOT / "results/published/maps/others.csv")
    maps = maps[maps["verdict"].notna() & maps["apart"].isna()]
    biased = maps[maps["verdict"] == "biased"]
    run = (biased["how"] == "real").sum()
    said = f"Of {len(maps)} public feature maps that claim to approximate a kernel, "
    found = f"{len(biased)} are biased. We ran {run} of the biased feature maps as released."
    assert said + found in text


def test_documented_counts_of_boosting_comparison_equal_the_published_rows():
    few, many = (
        pd.read_csv(ROOT / "results/published" / name / "trials.csv")
        for name in ("leaderboard_references_boosting_classification", "boosting_trees")
    )
    both = many.merge(few, on=["dataset", "trial"], suffixes=("", "_few"), validate="1:1")
    smaller, larger = ((sign * (both.error_few - both.error) > 0).sum() for sign in (1, -1))
    page = (ROOT / "results/which_method.md").read_text()
    counts = f"smaller on {smaller} of {len(many)} data sets, larger on {larger} data sets"
    assert f"{counts} and equal on" in page
    assert f"equal on {len(both) - smaller - larger} data sets ([rows]" in page


def test_readme_is_short_and_begins_with_a_picture():
    before = PAGES["README.md"].partition("    scripts/quickstart")[0]
    assert len(PAGES["README.md"].split()) <= 800
    assert before.index("![") < before.index("- **")
    assert len(re.findall(r"\d+(?:\.\d+)?", re.sub(r"\]\([^)]*\)|3\.11", "", before))) <= 16


EXAMPLES = sorted((ROOT / "scripts" / "examples").glob("*.py"))


@pytest.mark.parametrize("script", EXAMPLES, ids=[script.stem for script in EXAMPLES])
def test_example_script_runs_and_has_at_most_40_lines(script, tmp_path, monkeypatch, capsys):
    assert len(script.read_text().splitlines()) <= 40
    words = ["picture.png"] if script.stem == "features" else []
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [str(script), *words])
    runpy.run_path(str(script), run_name="__main__")
    assert capsys.readouterr().out.strip()
    assert (tmp_path / "picture.png").exists() == bool(words)


def test_documented_ridge_timings_equal_the_benchmark_report():
    measured = (ROOT / "results/bench/bench.md").read_text()
    lines = re.findall(
        r"^\| ([\d,]+), (\d+), ([\d,]+) \| (.*) \|$", PAGES["scripts/README.md"], re.M
    )
    assert len(lines) == 4
    for n, d, M, numbers in lines:
        (line,) = re.findall(rf"^\| rks, ridge path.*\| {n} \| {d} \| {M} \|(.*)$", measured, re.M)
        cells = [float(word) for word in re.findall(r"[\d.]+", line)]
        seconds, ratio, limit = (float(word) for word in re.findall(r"[\d.]+", numbers))
        assert seconds == pytest.approx(cells[0], abs=0.0005)
        assert [ratio, limit] == cells[-4:-2]
