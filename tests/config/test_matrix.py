"""One file, several runs: what each of them is, what it is called, and whose line is wrong."""

import pytest

from rfbench import config
from rfbench.api import read_config
from rfbench.errors import ConfigError

FILE = """\
title: Table 1
description: Common.
split: {test_size: 0.5}
scaling: minmax
M: 4
samplers:
  - rks
  - eerf: {pool_size: 20}
solver: {name: ridge, alphas: 0.1, intercept: false}
trials: 2
protocols:
  printed:
    description: As printed.
    solver.alphas: 0.5
  tuned:
    for: [small]
    scaling: standard
    samplers: [orf, eerf: {pool_size: 30}]
datasets:
  small: {title: A small one, dataset: digits, samplers.eerf.pool_size: 40}
  sphere:
    split: given
    dataset: {sphere: {d: 3}}
exceptions:
  small.tuned: {M: 5, description: Rare.}
"""


@pytest.fixture
def write(tmp_path):
    def write(text=FILE, name="table1"):
        path = tmp_path / f"{name}.yaml"
        path.write_text(text)
        return path

    return write


def by_name(path, *words, **keywords):
    return {e.name: e for e in config.read_runs(path, *words, **keywords)}


def test_runs_are_named_after_file_data_set_and_protocol(write):
    found = by_name(write())
    assert list(found) == ["table1_small.printed", "table1_small.tuned", "table1_sphere.printed"]
    assert [e.protocol for e in found.values()] == ["printed", "tuned", "printed"]
    assert [e.dataset[0].name for e in found.values()] == ["digits", "digits", "sphere"]


def test_run_name_omits_data_set_or_protocol_if_the_file_has_none(write):
    head, _, rest = FILE.partition("protocols:")
    data = "datasets:" + rest.partition("datasets:")[2].partition("exceptions:")[0]
    assert list(by_name(write(head + data))) == ["table1_small", "table1_sphere"]
    text = f"dataset: digits\n{head}protocols: {{printed: , own: {{}}}}\n"
    assert list(by_name(write(text))) == ["table1.printed", "table1.own"]
    assert list(by_name(write(f"dataset: digits\n{head}"))) == ["table1"]


def test_exceptions_override_data_sets_which_override_protocols(write):
    found = by_name(write())
    printed, tuned, sphere = found.values()
    assert (printed.scaling, tuned.scaling, sphere.scaling) == ("minmax", "standard", "minmax")
    assert (printed.M, tuned.M) == ([4], [5])
    assert (printed.split, sphere.split) == ({"test_size": 0.5}, "given")
    assert [e.solver.alphas for e in found.values()] == [[0.5], [0.1], [0.5]]
    assert not printed.solver.intercept  # a key with a dot changes that one only
    pools = [e.samplers[1].parameters["pool_size"] for e in found.values()]
    assert pools == [40, 40, 20]
    assert [e.samplers[0].name for e in found.values()] == ["rks", "orf", "rks"]


def test_run_joins_titles_and_descriptions_of_data_set_and_protocol(write):
    printed, tuned, sphere = by_name(write()).values()
    assert printed.title == "Table 1, A small one, printed"
    assert sphere.title == "Table 1, sphere, printed"
    assert tuned.description == "Common. Rare."
    assert sphere.description == "Common. As printed."


def test_set_option_overrides_each_part(write):
    found = by_name(write(), ["M=7", "samplers.eerf.pool_size=50"])
    assert {tuple(e.M) for e in found.values()} == {(7,)}
    assert {e.samplers[1].parameters["pool_size"] for e in found.values()} == {50}


@pytest.mark.parametrize("run", ["small.tuned", "table1_small.tuned"])
def test_run_is_selected_by_name_with_or_without_the_file_name(write, run):
    assert read_config(write(), run=run).name == "table1_small.tuned"
    assert list(by_name(write(), only=[run])) == ["table1_small.tuned"]


@pytest.mark.parametrize("run", ["", "small", "small.tunde"])
def test_ambiguous_run_is_rejected_with_the_run_names(write, run):
    with pytest.raises(ConfigError, match=r"small\.printed, small\.tuned, sphere\.printed"):
        read_config(write(), run=run)


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("    solver.alphas: 0.5", "    solver.alphas: -1", 14),
        ("    scaling: standard", "    scaling: standart", 17),
        ("    scaling: standard", "    scalin: standard", 17),
        ("samplers.eerf.pool_size: 40", "samplers.eerv.pool_size: 40", 20),
        ("    split: given", "    split: half", 22),
        ("dataset: {sphere: {d: 3}}", "dataset: spere", 23),
        ("  small.tuned:", "  small.printd:", 25),
        ("dataset: digits, ", "", 20),  # the data set is called small, then
        ("for: [small]", "for: [smal]", 16),
        ("for: [small]", "for: [{small: 1}]", 16),
        ("for: [small]", "for: small", 16),
        ("tuned", "tunde", 15),
    ],
)
def test_error_in_protocols_or_data_sets_is_reported_with_its_line(write, old, new, line):
    assert old in FILE
    with pytest.raises(ConfigError) as error:
        config.read_runs(write(FILE.replace(old, new)))
    assert f"line {line}:" in str(error.value)


@pytest.mark.parametrize(
    "text",
    ["datasets: [a, b]", "datasets: {}", "datasets:", "protocols: {printed: 1}", "exceptions: a"],
)
def test_protocols_and_datasets_have_to_be_mappings_of_mappings(write, text):
    with pytest.raises(ConfigError, match="line 2: .*is not a mapping"):
        config.read_runs(write(f"M: 4\n{text}\n"))
