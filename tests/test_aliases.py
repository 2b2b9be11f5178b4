"""An alias and its key give the same configuration, identities and files of results."""

import csv
import json
import re
from pathlib import Path
from typing import NamedTuple

import pytest

from rfbench import aliases, config, papers, shipped
from rfbench.aliases import CONFIGURATION, KEYS, PAPER, PROTOCOL_NAMES
from rfbench.api import read_config
from rfbench.errors import ConfigError
from rfbench.experiment.plan import list_known_columns
from rfbench.experiment.run_plan import filter_trials, make_manifest, plan_run
from tests.support.command_line import call


class Alias(NamedTuple):
    """An alias, and the key of the mapping that contains it."""

    place: str
    alias: str
    key: str


def list_all(file: str) -> list[Alias]:
    """Return the aliases of the keys of a file."""
    return [
        Alias(".".join(place), alias, key)
        for place, keys in KEYS[file].items()
        for alias, key in keys.items()
    ]


BASE = """\
dataset: {sklearn: iris}
split: {test_size: 0.3}
M: 4
samplers: [lkrf: {pool_size: 20}]
trials: 1
"""
# The line of the configuration that has the key of an alias, with `%s` instead of the key.
LINES = {
    "max_train_rows": "%s: 100",
    "max_test_rows": "%s: 50",
    "save_selected_features": "%s: true",
    "assertions": "%s: [{column: error, below: 99}]",
    "custom": "protocol: %s",
    "extend_grid": "bandwidth: {cv: [median], %s: true}",
    "fixed_test_size": "split: {%s: 0.3}",
    "group_test_size": "split: {%s: 0.3}",
    "n_blocks": "split: {%s: 10, test_size: 0.3}",
}
OF_KEYS, OF_PAPERS = list_all(CONFIGURATION), list_all(PAPER)
OF_CONFIGURATIONS = [*OF_KEYS, *(Alias("protocol", *names) for names in PROTOCOL_NAMES.items())]
each_key = pytest.mark.parametrize("alias", OF_KEYS, ids=lambda alias: alias.alias)
each_alias = pytest.mark.parametrize("alias", OF_CONFIGURATIONS, ids=lambda alias: alias.alias)


def write(folder: Path, alias: Alias, name: str) -> Path:
    """Write a configuration that uses a name; the file name is the same for both names."""
    base = BASE.replace("split: {test_size: 0.3}\n", "") if alias.place == "split" else BASE
    if alias.key == "leave_groups":
        (folder / "rows.csv").write_text("a,g,y\n" + "1,0,1\n2,1,0\n3,2,1\n4,3,0\n" * 5)
        base = base.replace(
            "{sklearn: iris}", f"{{file: {folder / 'rows.csv'}, target: y, groups: g}}"
        )
    path = folder / "try.yaml"
    path.write_text(f"{base}{LINES[alias.alias] % name}\n")
    return path


@each_alias
def test_configuration_key_and_its_alias_give_the_same_trials_and_manifest(
    alias: Alias, tmp_path: Path
) -> None:
    found = []
    for name in (alias.alias, alias.key):
        experiment = read_config(write(tmp_path, alias, name))
        plan = plan_run([experiment], tmp_path / experiment.name)
        manifest = make_manifest(plan)
        assert alias.key in json.dumps(manifest["config"])
        assert alias.alias not in json.dumps(manifest["config"])
        rows = [list_known_columns(trial) for trial in plan.trials]
        found.append((plan.folder, rows, manifest["config"], manifest["trials"]))
    assert found[0] == found[1]


@each_key
def test_alias_of_a_key_is_not_ignored(alias: Alias, tmp_path: Path) -> None:
    """The comparison above would also hold for an alias that is ignored."""
    path = tmp_path / "plain.yaml"
    path.write_text(BASE)
    with_alias = read_config(write(tmp_path, alias, alias.alias))
    top = alias.place or alias.key
    assert getattr(with_alias, top) != getattr(read_config(path), top)


@each_key
def test_configuration_with_a_key_and_its_alias_is_rejected(alias: Alias, tmp_path: Path) -> None:
    path = write(tmp_path, alias, alias.alias)
    line = LINES[alias.alias]
    text = path.read_text()
    if alias.place:
        _, _, value = re.findall(r"(\{(?:.*, )?(%s): ([\w.]+))", line)[0]
        twice = text.replace(f"{alias.alias}: ", f"{alias.key}: {value}, {alias.alias}: ")
    else:
        twice = f"{text}{line % alias.key}\n"
    path.write_text(twice)
    both = f"line \\d+: '{alias.key}' and '{alias.alias}' are two names"
    swapped = f"line \\d+: '{alias.alias}' and '{alias.key}' are two names"
    with pytest.raises(ConfigError, match=f"{both}|{swapped}"):
        read_config(path)


@each_alias
def test_alias_in_a_command_line_override_replaces_the_key(alias: Alias, tmp_path: Path) -> None:
    """An override replaces the key of the file, whichever name either of them has."""
    path = write(tmp_path, alias, alias.key)
    expected = read_config(path)
    key, _, value = (LINES[alias.alias] % alias.alias).partition(": ")
    assert read_config(path, [f"{key}={value}"]) == expected
    if alias.place in ("bandwidth", "split"):
        value = re.findall(rf"{alias.alias}: ([\w.]+)", LINES[alias.alias] % alias.alias)[0]
        assert read_config(path, [f"{alias.place}.{alias.alias}={value}"]) == expected


def test_override_by_an_alias_replaces_the_value_of_its_key(tmp_path: Path) -> None:
    path = tmp_path / "try.yaml"
    path.write_text(f"{BASE}rows: 100\n")
    assert read_config(path, ["max_train_rows=30"]).rows == 30
    with pytest.raises(ConfigError, match="'rows' and 'max_train_rows' are two names"):
        read_config({**config.read_run_documents(path)["try"].value, "max_train_rows": 30})
    with pytest.raises(ConfigError, match="'held_out' and 'fixed_test_size' are two names"):
        read_config(path, ["split={held_out: 0.3, fixed_test_size: 0.3}"])


def test_alias_in_a_protocol_overrides_the_key_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "table1.yaml"
    text = f"{BASE}rows: 100\nprotocols:\n  custom: {{max_train_rows: 30}}\n  printed:\n"
    path.write_text(text)
    custom, printed = config.read_runs(path)
    assert (custom.name, custom.protocol, custom.rows) == ("table1.own", "own", 30)
    assert (printed.protocol, printed.rows) == ("printed", 100)
    path.write_text(
        f"{BASE}protocols:\n  printed:\n    split.fixed_test_size: 0.3\n    split.x: 1\n"
    )
    with pytest.raises(ConfigError, match="split is {'test_size': 0.3, 'held_out': 0.3"):
        config.read_runs(path)
    path.write_text(text.replace("max_train_rows: 30", "max_train_rows: 30, rows: 30"))
    with pytest.raises(ConfigError, match="line 8: 'max_train_rows' and 'rows' are two names"):
        config.read_runs(path)


def test_error_in_the_value_of_an_alias_names_its_line(tmp_path: Path) -> None:
    path = tmp_path / "try.yaml"
    path.write_text(f"{BASE}max_train_rows: -1\n")
    with pytest.raises(ConfigError, match=r"line 6 \('max_train_rows'\): rows is -1"):
        read_config(path)
    path.write_text(BASE)
    with pytest.raises(ConfigError, match="--set max_train_rows: rows is -1"):
        read_config(path, ["max_train_rows=-1"])
    assert read_config(path, ["max_train_rows=30"]).changed_settings == ["rows = 30"]
    path.write_text(f"{BASE}max_train_row: 10\n")
    with pytest.raises(ConfigError, match="Did you mean 'max_train_rows'"):
        read_config(path)


def test_protocol_given_by_its_name_and_its_alias_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "table1.yaml"
    path.write_text(f"{BASE}protocols:\n  own: {{rows: 20}}\n  custom: {{rows: 30}}\n")
    with pytest.raises(ConfigError, match="line 8: 'own' and 'custom' are two names"):
        config.read_runs(path)
    text = "datasets:\n  iris: {dataset: {sklearn: iris}}\nprotocols:\n  custom:\n"
    base = BASE.replace("dataset: {sklearn: iris}\n", "")
    path.write_text(f"{base}{text}exceptions:\n  iris.custom: {{rows: 30}}\n")
    (run,) = config.read_runs(path)
    assert (run.name, run.protocol, run.rows) == ("table1_iris.own", "own", 30)


def test_alias_that_occurs_in_a_text_value_is_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "try.yaml"
    path.write_text(BASE.replace("{test_size: 0.3}", "n_blocks"))
    with pytest.raises(ConfigError, match="'n_blocks'"):
        read_config(path)


def test_only_option_accepts_the_alias_of_a_protocol(tmp_path: Path) -> None:
    path = tmp_path / "try.yaml"
    path.write_text(BASE)
    trials = plan_run([read_config(path)], tmp_path).trials
    assert filter_trials(trials, ["protocol=custom"]) == trials


def test_sweep_over_an_alias_has_the_folder_of_its_key(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("rows", "max_train_rows"):
        call("sweep", "quickstart", "--M", "4", "--set", f"{name}=60,80", "--trials", "1")
    (folder,) = (tmp_path / "results").iterdir()
    assert folder.name == "quickstart-sweep-M=4_rows=60+80"
    with (folder / "trials.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 4  # two samplers and two values, each measured once
    assert {row["variant"] for row in rows} == {"rows=60", "rows=80"}
    call("sweep", "quickstart", "--M", "4", "--set", "protocol=custom", "--trials", "1")
    assert (tmp_path / "results" / "quickstart-sweep-M=4_protocol=own").is_dir()


def test_configuration_reference_lists_each_alias_once() -> None:
    page = (shipped.find_configurations_folder() / "README.md").read_text(encoding="utf-8")
    lines = re.findall(r"^\| `(\w+)` \| `(\w+)` \| (?:the configuration|`(\w+)`) \|$", page, re.M)
    assert {Alias(place, alias, key) for alias, key, place in lines} == {*OF_CONFIGURATIONS}
    assert len(lines) == len(OF_CONFIGURATIONS)
    for alias in OF_CONFIGURATIONS:
        assert page.count(f"`{alias.alias}`") == 1


@pytest.fixture
def paper(tmp_path: Path) -> Path:
    """Return the folder of a paper with each key that has an alias."""
    folder = tmp_path / "mine2026"
    folder.mkdir()
    (folder / "paper.yaml").write_text(
        "title: A\nauthors: [A B]\nvenue: V\nyear: 2026\nabout: a\n"
        "datasets:\n  eeg: {dataset: eeg, stand_ins: [eeg-clean]}\n"
        "doubts: [{item: table1, text: a}]\n"
        "beside: [{rows: a, experiments: [b], method: c, differs: d}]\n"
        f"rows_source: {{repository: a/b, commit: {'a' * 40}, path: p, licence: MIT}}\n"
    )
    return folder


@pytest.mark.parametrize("alias", OF_PAPERS, ids=lambda alias: alias.alias)
def test_paper_file_with_an_alias_equals_the_one_with_its_key(alias: Alias, paper: Path) -> None:
    expected = papers.reader.read_paper_folder(paper)
    file = paper / "paper.yaml"
    text = file.read_text()
    file.write_text(text.replace(f"{alias.key}:", f"{alias.alias}:"))
    assert papers.reader.read_paper_folder(paper) == expected
    readme = (Path(papers.__file__).parent / "README.md").read_text(encoding="utf-8")
    assert readme.count(f"`{alias.alias}`") == 1
    line = next(line for line in text.splitlines() if f"{alias.key}:" in line)
    if alias.place:
        twice = text.replace(f"{alias.key}:", f"{alias.alias}: [], {alias.key}:")
    else:
        twice = f"{text}{line.replace(alias.key, alias.alias)}\n"
    file.write_text(twice)
    with pytest.raises(ConfigError, match="are two names of the same key") as caught:
        papers.reader.read_paper_folder(paper)
    assert alias.key in str(caught.value)
    assert alias.alias in str(caught.value)


def test_aliases_differ_from_all_configuration_keys() -> None:
    for every in (OF_CONFIGURATIONS, OF_PAPERS):
        names = {(alias.place, alias.alias) for alias in every}
        assert not {(alias.place, alias.key) for alias in every} & names
    assert aliases.resolve_path("split.n_blocks") == "split.blocks"
    assert aliases.resolve_path("samplers.rks.rows") == "samplers.rks.rows"
