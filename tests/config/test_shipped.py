"""The configurations that come with rfbench: valid, named after what they are, and they run."""

import functools
import json
import re

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from rfbench import config, datasets, shipped, solvers, yamlfile
from rfbench.config import BandwidthGrid
from rfbench.datasets import Dataset, catalog
from rfbench.experiment.run_plan import with_enough_features
from rfbench.registry import SAMPLERS
from tests.golden import numbers
from tests.support.trials import measured

PAPERS = ("eerf2018", "liu2020", "lkrf2016", "tefm2015")
EXTRA_ITEMS = ("controls", "pool", "sorf")
NAMED_AFTER_NOTHING = {"lkrf2016_figure1": ("figure1b", "printed")}
CALLED = {"adult": "a9a", "reuters": "rcv1"}
RUNS = {name: run for path in shipped.every() for name, run in config.documents(path).items()}
OF_PAPERS = [
    name
    for name in RUNS
    if name.startswith(PAPERS) and name not in (*NAMED_AFTER_NOTHING, "eerf2018_adult")
]
# Runs of which some published rows are to be measured anew: their features had seen the folds that
# chose, their folds cut groups, or their grids of bandwidths were cut.
MEASURED_BEFORE_0_2 = {"eerf2018_table3_mnist.tuned"}
LARGE = [name for name in catalog.names() if catalog.entry(name).kind == "files"]


@functools.cache
def read(name):
    return config.from_document(RUNS[name], name)


@pytest.mark.parametrize("name", RUNS)
def test_it_says_what_it_is_and_its_samplers_differ(name):
    """The largest weights of lkrf have a label of their own beside its draws."""
    run = read(name)
    assert run.title
    assert run.description
    same = [(spec.name, sorted(spec.parameters.items(), key=str)) for spec in run.samplers]
    assert all(same.count(one) == 1 for one in same)
    for spec in run.samplers:
        if spec.name == "lkrf":
            assert (spec.label == "lkrf-top") == (spec.parameters["estimator"] == "top")


@pytest.mark.parametrize("path", shipped.every(), ids=lambda path: path.stem)
def test_it_begins_with_what_it_is_and_its_choices_have_sources(path):
    text = path.read_text()
    assert text.startswith("# ")
    if yamlfile.load(path).value.get("paper"):
        assert len(re.findall(r"# ", text.partition("\nM:")[2] or text)) >= 4
        assert re.search(r"our reading|ours|found|not printed|the example", text, re.IGNORECASE)


def before_0_2(run):
    """Return a run as it was measured before 0.2.0.

    Features were fitted once for all folds, and grids of bandwidths stayed as they were.
    """
    update = {"features_in_folds": "once"}
    if isinstance(run.bandwidth, BandwidthGrid):
        update["bandwidth"] = run.bandwidth.model_copy(update={"widen": False})
    return run.model_copy(update=update)


@pytest.mark.parametrize("folder", numbers.folders(), ids=lambda folder: folder.name)
def test_it_plans_the_trials_that_were_published(folder):
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    measured = config.from_manifest(manifest["config"], "manifest.json")  # it asks nobody
    run = read(folder.name).model_copy(update={"trials": measured.trials})
    before = folder.name in MEASURED_BEFORE_0_2
    trials = numbers.trials(folder, [before_0_2(run) if before else run])
    ids = [trial.id for trial in trials]
    assert ids == numbers.planned(folder, [measured])
    changed = set(ids) - set(numbers.planned(folder, [run]))
    groups = [trial for trial in trials if trial.folds_of_groups]
    assert before == bool(changed or (before and groups))
    # Of a method with another revision, the rows are to be measured anew; of folds that cut groups,
    # too.
    own = [spec for spec in run.samplers if spec.name in list(SAMPLERS)]
    old = [spec for spec in own if SAMPLERS.find(spec.name).revision == 1]
    if own and solvers.revision(run.solver.name) == 1 and not groups:
        names = {spec.label for spec in old}
        of_old = [trial for trial in trials if trial.sampler.label in names]
        # Sizes that a sampler cannot serve are left out; in older runs they are rows that failed.
        needed = {trial.id for trial in with_enough_features(of_old)[0]}
        # The leaderboard is measured trial by trial, over more than one sitting.
        goes_on = folder.name.startswith("leaderboard_")
        published = set(manifest["trials"])
        if goes_on:
            published = set(pd.read_csv(folder / "trials.csv", usecols=["trial_id"])["trial_id"])
        assert goes_on or needed <= published
        assert published <= set(ids) or old != run.samplers
    told = ("paper", "item", "protocol", "metric")
    assert [getattr(run, key) for key in told] == [getattr(measured, key) for key in told]


@pytest.mark.parametrize("name", RUNS)
def test_what_a_paper_may_have_done_is_done_where_it_does_not_say(name):
    """Papers do not say whether folds saw features of their own; every comparison has these."""
    run = read(name)
    looks = any(config.looks_at_target(run, spec) for spec in run.samplers)
    if looks and config.chooses_on_training_rows(run):
        expected = "once" if run.protocol in ("printed", "matched") else "nested"
        assert run.features_in_folds == expected


@pytest.mark.parametrize("folder", numbers.folders(), ids=lambda folder: folder.name)
def test_rows_of_lkrf_are_labelled_likewise(folder):
    rows = pd.read_csv(folder / "trials.csv", usecols=["sampler", "label", "parameters"])
    rows = rows[rows["sampler"] == "lkrf"]
    top = rows["parameters"].str.contains('"estimator": "top"', regex=False)
    assert (top == (rows["label"] == "lkrf-top")).all()


@pytest.mark.parametrize("name", OF_PAPERS)
def test_the_name_says_paper_item_data_set_and_protocol(name):
    experiment = read(name)
    stem, _, protocol = name.partition(".")
    paper, item, dataset = stem.split("_")
    assert (experiment.paper, experiment.protocol) == (paper, protocol)
    items = re.split(r"[,;\s]+", experiment.item)
    assert item in items
    assert all(re.fullmatch(r"(table|figure)\d+[a-c]?", i) or i in EXTRA_ITEMS for i in items)
    called = dataset.removesuffix("-joint")
    assert {spec.name for spec in experiment.dataset} == {CALLED.get(called, called)}


@pytest.mark.parametrize("name", NAMED_AFTER_NOTHING)
def test_those_with_other_names_say_it_inside(name):
    experiment = read(name)
    item, protocol = NAMED_AFTER_NOTHING[name]
    assert experiment.paper == name.partition("_")[0]
    assert item in experiment.item
    assert experiment.protocol == protocol


@pytest.mark.parametrize("paper", PAPERS)
def test_every_paper_has_its_tables_and_figures(paper):
    items = {
        item
        for experiment in map(read, RUNS)
        if experiment.paper == paper
        for item in re.split(r"[,;\s]+", experiment.item)
    }
    wanted = {
        "eerf2018": {"table3", "table5", "figure1", "figure2", "figure3"},
        "liu2020": {"table3", "figure1"},
        "lkrf2016": {"table1", "table2", "figure1a", "figure1b", "figure2", "figure3"},
        "tefm2015": {"figure1", "figure2", "figure3"},
    }
    assert wanted[paper] <= items


def made_up(name):
    """Return some dozens of rows of a data set's shape; how files are read is tested elsewhere."""
    entry, generator = catalog.entry(name), np.random.default_rng(0)
    X = generator.standard_normal((90, entry.columns))
    if entry.sparse:
        X = sparse.random_array(X.shape, density=20 / entry.columns, format="csr", rng=generator)
    y = np.arange(90) % len(entry.classes) if entry.classes else generator.uniform(1, 9, 90)
    n_given_train = 60 if entry.train_rows else None
    return Dataset(name, X, y, entry.task, tuple(entry.classes), n_given_train, None, "0")


@pytest.mark.parametrize("name", [name for name in RUNS if RUNS[name].value["dataset"] in LARGE])
def test_it_runs_on_rows_of_the_shape_of_its_data(name, monkeypatch):
    experiment = read(name)
    found = made_up(RUNS[name].value["dataset"])
    monkeypatch.setattr(datasets, "load", lambda *words, **keywords: found)
    monkeypatch.setattr(datasets, "fetch", lambda *words, **keywords: [])
    monkeypatch.setattr(datasets, "data_sha256", lambda *words: "0")
    if experiment.split != "given":
        experiment = experiment.model_copy(update={"split": {"test_size": 0.33}})
    rows = measured(experiment, smoke=True)
    assert rows
    assert [row["message"] for row in rows if row["status"] != "ok"] == []
