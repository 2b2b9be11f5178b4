"""The configurations that come with rfbench: valid, named after what they are, and they run."""

import functools
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from rfbench import config, datasets, papers, shipped, yamlfile
from rfbench.analysis.frame import collect_results
from rfbench.config import build
from rfbench.datasets import Dataset, catalog
from rfbench.experiment import current_settings
from rfbench.pages.templates import render_template
from rfbench.results import manifest
from tests.golden import numbers
from tests.support.nightly import NIGHTLY, at_night
from tests.support.trials import measured

PAPERS = ("eerf2018", "liu2020", "lkrf2016", "tefm2015")
EXTRA_ITEMS = ("controls", "penalties", "pool", "sorf")
CALLED = {"adult": "a9a", "reuters": "rcv1"}
RUNS = {
    name: run
    for path in shipped.list_configurations()
    for name, run in config.read_run_documents(path).items()
}
OF_PAPERS = [
    name
    for name in RUNS
    if name.startswith(PAPERS) and name not in ("lkrf2016_figure1", "eerf2018_adult")
]
LARGE = [name for name in catalog.list_names() if catalog.find_entry(name).kind == "files"]
OF_FILES = [name for name in RUNS if RUNS[name].value["dataset"] in LARGE]
CORRECTED = [name for name in RUNS if RUNS[name].value.get("protocol") == "corrected"]
# Where the data are, CI runs each configuration on them; here one run of each paper, at night all.
BY_DAY = list({name.partition("_")[0]: name for name in OF_FILES}.values())


@functools.cache
def read(name):
    return config.build_experiment(RUNS[name], name)


def lkrf_takes_top(paper, name, label):
    """Whether a label of lkrf stands for its largest weights, and not for its draws.

    Section "Empirical Results" of eerf2018: "the most promising M samples". Drawn features are
    lkrf-drawn there, but on MNIST as matched, which paper.yaml says in `contradicts`.
    """
    if paper != "eerf2018":
        return label == "lkrf-top"
    return label != "lkrf-drawn" and not name.endswith("_mnist.matched")


@pytest.mark.parametrize("name", RUNS)
def test_shipped_configuration_has_a_description_and_distinct_samplers(name):
    """The largest weights of lkrf and its draws never share a label."""
    run = read(name)
    assert run.title
    assert run.description
    same = [(spec.name, sorted(spec.parameters.items(), key=str)) for spec in run.samplers]
    assert all(same.count(one) == 1 for one in same)
    for spec in run.samplers:
        if spec.name == "lkrf":
            takes_top = spec.parameters["estimator"] == "top"
            assert takes_top == lkrf_takes_top(run.paper, name, spec.label)


PLACE = re.compile(
    r"[Ss]ections? \d|Table \d|Figure \d|[Cc]aption|[Ee]quation|[Pp]roblem|[Ee]stimator|\""
)
OURS = re.compile(r"\bours?\b|found|not printed|the example", re.IGNORECASE)
# A paper's configuration has about ten choices. One comment may serve several of them.
FEWEST_SOURCES = 4


def read_comments(text):
    """Return the comments of a configuration; consecutive lines are one comment."""
    return re.findall(r"(?:^ *#.*\n)+|(?<=\S) +#.*\n", text, re.MULTILINE)


def list_missing_sources(text):
    """Return what a paper's configuration lacks: a first comment, or the sources of its choices."""
    first, *others = read_comments(text) or [""]
    missing = [] if text.startswith("# ") and text.startswith(first) else ["a comment at the top"]
    if sum(len(comment.splitlines()) for comment in others) < FEWEST_SOURCES:
        missing.append(f"{FEWEST_SOURCES} comments with the sources of choices")
    if not any(PLACE.search(comment) or OURS.search(comment) for comment in others):
        missing.append("a place in the paper, or a choice of ours")
    return missing


def list_comments_without_a_place(text):
    """Return the comments on settings that the paper does not state which name no place."""
    return [
        comment
        for comment in read_comments(text)
        if re.search(r"not\s+(?:#\s+)?print|\bour\s+(?:#\s+)?reading\b", comment)
        and not PLACE.search(comment)
    ]


@pytest.mark.parametrize("path", shipped.list_configurations(), ids=lambda path: path.stem)
def test_shipped_configuration_states_the_source_of_each_choice(path):
    text = path.read_text()
    assert text.startswith("# ")
    if yamlfile.load_yaml(path).value.get("paper"):
        assert list_missing_sources(text) == []


COMMENTED = [
    *shipped.list_configurations(),
    *sorted(Path(papers.__file__).parent.glob("*/open_choices.yaml")),
]


@pytest.mark.parametrize("path", COMMENTED, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_comments_on_unstated_settings_name_the_section_searched(path):
    """A comment says in which part of the text a statement is missing, or that it is nowhere.

    The text of eerf2018 says how LKRF selects, where a comment had "not printed" without a place.
    """
    assert list_comments_without_a_place(path.read_text()) == []


def test_missing_sources_of_configuration_choices_are_detected():
    lines = [f"key{i}: 1  # Table {i}" for i in range(FEWEST_SOURCES)]
    assert list_missing_sources("\n".join(["# Table 1.", *lines, ""])) == []
    assert len(list_missing_sources("\n".join(["# Table 1.", *lines[1:], ""]))) == 1
    assert len(list_missing_sources("# Table 1.\n" + "key: 1  # a word\n" * 4)) == 1
    assert len(list_missing_sources("key: 1\n")) == 3


def test_configuration_of_a_new_paper_follows_the_rules_of_shipped_ones(tmp_path):
    text = render_template("new_table.yaml.j2", name="mine2026", folder="mine2026")
    assert (list_missing_sources(text), list_comments_without_a_place(text)) == ([], [])
    (tmp_path / "mine2026_table1.yaml").write_text(text)
    (run,) = config.read_run_documents(tmp_path / "mine2026_table1.yaml").values()
    assert run.value["title"]
    assert run.value["description"]


def test_comments_shown_in_the_guide_follow_the_rules():
    guide = (Path(__file__).parents[2] / "CONTRIBUTING.md").read_text()
    shown = [f"key: 1  {comment}\n" for comment in re.findall(r"`(# [^`]+)`", guide)]
    assert len(shown) >= 2
    assert [comment for comment in shown if list_comments_without_a_place(comment)] == []


@pytest.mark.parametrize("path", shipped.list_configurations(), ids=lambda path: path.stem)
def test_configurations_named_in_comments_exist(path):
    """Two comments of eerf2018 sent the reader to eerf2018_lkrf.yaml, which there never was."""
    folders = (path.parent, Path(papers.__file__).parent / path.stem.partition("_")[0])
    named = re.findall(r"\b[\w.-]+\.yaml\b", path.read_text())
    assert [n for n in named if not any((folder / n).exists() for folder in folders)] == []


@pytest.mark.parametrize("name", CORRECTED)
def test_corrected_protocol_differs_from_the_one_contradicting_the_paper(name):
    """The paper says what the earlier rows contradict, and the runs differ in some setting."""
    corrected = read(name)
    provenance = papers.find_paper(corrected.paper).provenance
    earlier = provenance.earlier_protocol
    assert provenance.contradicts[earlier]
    same = name.removesuffix("corrected") + earlier
    of_earlier = read(same if same in RUNS else "lkrf2016_figure1")
    told = {"name", "title", "description", "protocol", "item", "checks"}
    assert of_earlier.protocol == earlier
    assert corrected.model_dump(exclude=told) != of_earlier.model_dump(exclude=told)


def test_all_published_rows_belong_to_current_configurations():
    """Rows that no shipped configuration asks for any more are measured anew, or go."""
    folders = numbers.folders()[:: 1 if NIGHTLY else 5]
    assert (
        collect_results(folders, current_settings.find_current_settings_of_each).stale_row_counts
        == {}
    )


def test_published_manifests_match_their_checksums():
    """One that does not fit its checksum takes its rows off every page."""
    notes = []
    for file in sorted(numbers.PUBLISHED.rglob("manifest.json")):
        manifest.read_if_valid(file.parent, notes)
    assert notes == []


@pytest.mark.parametrize("folder", numbers.folders(), ids=lambda folder: folder.name)
def test_configuration_has_the_protocol_and_metric_of_its_published_rows(folder):
    content = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    measured = config.build_experiment_from_manifest(
        content["config"], "manifest.json"
    )  # it asks nobody
    told = ("paper", "item", "protocol", "metric")
    assert [getattr(read(folder.name), key) for key in told] == [
        getattr(measured, key) for key in told
    ]


@pytest.mark.parametrize("name", RUNS)
def test_features_are_fitted_in_folds_unless_the_paper_states_otherwise(name):
    """Papers do not say whether folds saw features of their own; every comparison has these."""
    run = read(name)
    looks = any(build.get_sampler_properties(run, spec)["looks_at_target"] for spec in run.samplers)
    if looks and build.has_selection_on_training_rows(run):
        expected = "once" if run.protocol in ("printed", "corrected", "matched") else "nested"
        assert run.features_in_folds == expected


@pytest.mark.parametrize("folder", numbers.folders(), ids=lambda folder: folder.name)
def test_lkrf_rows_with_estimator_top_have_the_expected_label(folder):
    rows = pd.read_csv(folder / "trials.csv", usecols=["sampler", "label", "parameters"])
    rows = rows[rows["sampler"] == "lkrf"]
    top = rows["parameters"].str.contains('"estimator": "top"', regex=False)
    paper, _, _ = folder.name.partition("_")
    named = rows["label"].map(functools.partial(lkrf_takes_top, paper, folder.name))
    assert (top == named).all()


def test_lkrf_draws_of_eerf2018_are_listed_as_contradicting_the_text():
    """Rows that count as the paper's LKRF are its largest weights, else `contradicts` names it."""
    drawn = {
        read(name).protocol
        for name in RUNS
        if read(name).paper == "eerf2018"
        for spec in read(name).samplers
        if spec.label == "lkrf" and spec.parameters["estimator"] != "top"
    }
    told = papers.find_paper("eerf2018").provenance.contradicts
    assert drawn == {protocol for protocol, text in told.items() if "LKRF are drawn" in text}


@pytest.mark.parametrize("dataset", ["adult", "letter", "mnist"])
def test_best_penalty_on_test_rows_equals_the_published_penalty(dataset):
    """Of equal mean errors the largest penalty, as on held-out rows."""
    file = numbers.PUBLISHED / f"eerf2018_penalties_{dataset}.printed" / "trials.csv"
    rows = pd.read_csv(file, usecols=["label", "parameters", "error"])
    rows = rows[~rows["label"].str.endswith("unweighted")]
    penalties = rows["parameters"].map(lambda text: json.loads(text)["penalty"])
    means = rows["error"].groupby(penalties).mean()
    best = means.index[np.isclose(means, means.min(), rtol=1e-12)].max()
    option = papers.list_open_choices("eerf2018", ["table5"], dataset)["lkrf"]["test rows weighted"]
    assert option == {"samplers.lkrf.penalty": best, "samplers.lkrf.weighted": True}


@pytest.mark.parametrize("name", OF_PAPERS)
def test_run_name_consists_of_paper_item_data_set_and_protocol(name):
    experiment = read(name)
    stem, _, protocol = name.partition(".")
    paper, item, dataset = stem.split("_")
    assert (experiment.paper, experiment.protocol) == (paper, protocol)
    items = re.split(r"[,;\s]+", experiment.item)
    assert item in items
    assert all(re.fullmatch(r"(table|figure)\d+[a-c]?", i) or i in EXTRA_ITEMS for i in items)
    called = dataset.removesuffix("-joint")
    assert {spec.name for spec in experiment.dataset} == {CALLED.get(called, called)}


def made_up(name):
    """Return some dozens of rows of a data set's shape; how files are read is tested elsewhere."""
    entry, generator = catalog.find_entry(name), np.random.default_rng(0)
    X = generator.standard_normal((90, entry.columns))
    if entry.sparse:
        X = sparse.random_array(X.shape, density=20 / entry.columns, format="csr", rng=generator)
    y = np.arange(90) % len(entry.classes) if entry.classes else generator.uniform(1, 9, 90)
    n_given_train = 60 if entry.train_rows else None
    return Dataset(name, X, y, entry.task, tuple(entry.classes), n_given_train, None, "0")


@pytest.mark.parametrize(
    "name", [*BY_DAY, *at_night(*(name for name in OF_FILES if name not in BY_DAY))]
)
def test_shipped_configuration_runs_on_data_of_the_same_shape(name, monkeypatch):
    experiment = read(name)
    found = made_up(RUNS[name].value["dataset"])
    monkeypatch.setattr(datasets, "load", lambda *words, **keywords: found)
    monkeypatch.setattr(datasets, "fetch", lambda *words, **keywords: [])
    monkeypatch.setattr(datasets, "hash_data", lambda *words: "0")
    if experiment.split != "given":
        experiment = experiment.model_copy(update={"split": {"test_size": 0.33}})
    rows = measured(experiment, smoke=True)
    assert rows
    assert [row["message"] for row in rows if row["status"] != "ok"] == []
