"""Data of one's own in a configuration: what may stand there, and what becomes of it."""

import contextlib
import json
import sys

import numpy as np
import pytest

from rfbench.api import read_config
from rfbench.datasets import user_data
from rfbench.errors import ConfigError
from rfbench.experiment.context import Context
from rfbench.experiment.plan import plan_trials
from tests.support.command_line import call

CODE = """
import numpy as np
def rows(n=30):
    X = np.arange(3.0 * n).reshape(n, 3) % 7
    return X, np.arange(n) / 2
"""


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """A folder with a CSV and code; return what reads a configuration there."""
    monkeypatch.delenv("RFBENCH_DATA", raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "mine.py").write_text(CODE)
    write(folder)

    def read(dataset, split="{test_size: 0.3}", **options):
        text = f"dataset: {dataset}\nsplit: {split}\nM: 4\nsamplers: [rks]\ntrials: 2\n"
        (folder / "c.yaml").write_text(text)
        return read_config(folder / "c.yaml", **options)

    read.folder = folder
    return read


def write(folder, factor=2.0, name="prices.csv"):
    lines = [
        f"{i},{(i * 7) % 11},{'test' if i % 3 == 0 else 'train'},{i // 5},{factor * i + 0.5}\n"
        for i in range(30)
    ]
    (folder / name).write_text("a,b,part,who,price\n" + "".join(lines))


FILE = "{file: prices.csv, target: price, drop: [part, who]}"
WORDS = "{file: words.csv, target: y, groups: who}"
_opened = []


def _note(event, arguments):
    if event == "open" and _opened:
        _opened[-1].append(str(arguments[0]))


sys.addaudithook(_note)  # it stays until the process ends


@contextlib.contextmanager
def opening():
    """Yield the names of the files that are opened within, in their order."""
    _opened.append([])
    try:
        yield _opened[-1]
    finally:
        _opened.pop()


def rows_of(experiment):
    return [Context().prepare(trial) for trial in plan_trials(experiment)]


def test_data_paths_are_relative_to_the_configuration_file(mine):
    (spec,) = mine(FILE).dataset
    assert (spec.name, spec.is_user_data) == ("prices.csv", True)
    assert (spec.entry.rows, spec.entry.columns, spec.entry.task) == (30, 2, "regression")


@pytest.mark.parametrize(
    ("dataset", "match"),
    [
        ("{file: prices.csv, target: prise}", "line 1.*Did you mean 'price'"),
        ("{file: price.csv, target: price}", "Did you mean 'prices.csv'"),
        ("{file: prices.csv, traget: price}", "Did you mean 'target'"),
        ("{file: prices.csv, load: mine.py:rows}", "cannot have a key"),
        ("{sklearn: wine, header: false}", "cannot have a key 'header'"),
        ("{file: prices.csv, target: price, header: 1}", "header is 1"),
        ("{file: prices.csv, target: price, name: eeg}", "of the catalog"),
        ("{openml: abc}", "openml is 'abc'"),
    ],
)
def test_invalid_data_set_is_reported_with_its_line(mine, dataset, match):
    with pytest.raises(ConfigError, match=match):
        mine(dataset)


def test_function_that_loads_data_needs_permission_and_gets_arguments(mine):
    with pytest.raises(ConfigError, match="--allow-imports"):
        mine("{load: mine.py:rows, n: 24}")
    experiment = mine("{load: mine.py:rows, n: 24}", allow_imports=True)
    assert experiment.dataset[0].entry.rows == 24
    assert rows_of(experiment)[0].X_train.shape == (17, 3)


def test_split_column_selects_the_test_rows(mine):
    experiment = mine("{file: prices.csv, target: price, drop: who}", "{column: part}")
    first, second = rows_of(experiment)
    assert first.X_train.shape == (20, 2)
    np.testing.assert_array_equal(first.X_test, second.X_test)
    again = type(experiment).model_validate(experiment.model_dump(mode="json"))
    assert again.dataset[0].parameters["part"] == "part"
    with pytest.raises(ConfigError, match="data of your own"):
        mine("eeg", "{column: part}")


def test_rows_of_one_group_are_all_in_training_or_all_in_test(mine):
    experiment = mine(
        "{file: prices.csv, target: price, drop: part, groups: who}", "{leave_groups: 2}"
    )
    for prepared in rows_of(experiment):
        assert not set(prepared.test_rows // 5) & set(prepared.train_rows // 5)
        assert len(prepared.test_rows) == 10


def test_run_reports_inferred_task_and_remeasures_changed_data(mine, no_pictures):
    words = ("run", mine.folder / "c.yaml", "--jobs", 1)
    mine(FILE)
    first = call(*words)
    assert "prices.csv: Regression" in first
    assert "2 run, 0 failed" in first
    assert "2 measured before" in call(*words)
    write(mine.folder, factor=3.0)
    changed = call(*words)
    assert "changed since the last run" in changed
    assert "2 run, 0 failed" in changed
    kept = json.loads((mine.folder.parent / "results" / "c" / "manifest.json").read_text())
    assert kept["config"]["dataset"][0]["name"] == "prices.csv"


def test_held_out_rows_do_not_affect_the_preparation(mine):
    """Whatever stands in the test rows, the training matrix stays the same, bit by bit."""
    lines = [
        f"{'' if i % 7 == 0 else i % 5},{'xyz'[i % 3]},2024-01-{1 + i % 28:02},"
        f"{'test' if i % 3 == 0 else 'train'},{2.0 * i}\n"
        for i in range(60)
    ]
    head = "a,town,day,part,price\n"
    changed = ["1e9,new,1900-05-05 12:00,test,7\n" if ",test," in line else line for line in lines]
    prepared, identities = [], []
    for each in (lines, changed):
        (mine.folder / "prices.csv").write_text(head + "".join(each))
        experiment = mine("{file: prices.csv, target: price}", "{column: part}")
        prepared += rows_of(experiment)[:1]
        identities.append(plan_trials(experiment)[0].id)
    first, second = prepared
    np.testing.assert_array_equal(first.X_train, second.X_train)
    assert first.X_train.shape[1] == second.X_test.shape[1]
    assert np.ptp(second.X_test, axis=0).max() == 0
    assert len(set(identities)) == 2


def test_trial_identity_includes_encoding_revision_only_for_nonnumeric_tables(mine, monkeypatch):
    (mine.folder / "words.csv").write_text(
        "a,b,y\n" + "".join(f"{i},w{i % 3},{i}.5\n" for i in range(30))
    )
    numbers, words = (mine(dataset) for dataset in (FILE, "{file: words.csv, target: y}"))
    before = [plan_trials(experiment)[0].setting for experiment in (numbers, words)]
    monkeypatch.setattr("rfbench.datasets.user_data.REVISION", 3)
    after = [plan_trials(experiment)[0].setting for experiment in (numbers, words)]
    assert before[0] == after[0]
    assert before[1] != after[1]


@pytest.mark.parametrize("trials", [3, 40])
def test_table_is_read_once_for_any_number_of_trials(mine, trials):
    """Words are told from their codes at each reading: 140 ms of 100,000 rows."""
    lines = [f"{trials}.{i},w{i % 3},{i // 5},{i}.5\n" for i in range(30)]
    (mine.folder / "words.csv").write_text("a,b,who,y\n" + "".join(lines))
    (spec,) = mine(WORDS).dataset  # which keeps the rows in the cache
    with opening() as once:
        user_data.read_user_data(spec.name, spec.parameters, spec.folder)
    user_data._entries.clear()
    with opening() as opened:
        experiment = mine(WORDS).model_copy(update={"trials": trials})
        assert len({trial.id for trial in plan_trials(experiment)}) == trials
    rows, again = (
        [name for name in names if name.endswith((".npy", "words.csv"))] for names in (once, opened)
    )
    assert rows
    assert rows == again


@pytest.mark.parametrize("source", ["file", "path", "load"])
def test_cached_data_set_metadata_is_updated_when_the_data_change(mine, source):
    """An entry that is remembered is that of the rows as they are now."""
    datasets = {
        "file": "{file: words.csv, target: y}",
        "path": "{path: rows}",
        "load": "{load: 'mine.py:rows', n: 40}",
    }
    seen = []
    for n in (40, 60):
        lines = "".join(f"{i},w{i % 3},{i}.5\n" for i in range(n))
        (mine.folder / "words.csv").write_text("a,b,y\n" + lines)
        (mine.folder / "rows").mkdir(exist_ok=True)
        np.save(mine.folder / "rows" / "X.npy", np.arange(2.0 * n).reshape(n, 2))
        np.save(mine.folder / "rows" / "y.npy", np.arange(n) + 0.5)
        (mine.folder / "mine.py").write_text(
            CODE.replace("(n=30)", f"(n=30, m={n:<{n}})").replace(
                "arange(3.0 * n)", "arange(3.0 * (n := m))"
            )
        )
        (spec,) = mine(datasets[source], allow_imports=True).dataset
        seen.append((spec.entry.rows, spec.entry is spec.entry))
    assert seen == [(40, True), (60, True)]
