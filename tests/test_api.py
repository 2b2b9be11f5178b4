"""rfbench from Python: the public names, and what a script or a notebook does with them."""

import ast
import inspect
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import stats

import rfbench
from rfbench import shipped
from rfbench.errors import ConfigError, ResultsError
from rfbench.registry import KERNELS, SAMPLERS, SOLVERS
from tests.support.command_line import call
from tests.support.methods import BAD
from tests.support.runs import MOST_SECONDS

TINY = {
    "dataset": "digits",
    "rows": 200,
    "split": {"test_size": 0.25},
    "M": np.array([5, 10]),
    "samplers": ["rks", {"eerf": {"pool_size": 30}}],
    "solver": {"alphas": 0.1},
    "trials": 4,
}
PUBLIC = {
    *("RfbenchError", "RunResults", "compare", "datasets", "kernels", "plot"),
    *("read_config", "read_results", "report", "run", "samplers", "solvers", "summarize"),
}


def python(code, **words):
    environment = {**os.environ, "PYTHONPATH": str(Path(rfbench.__file__).parents[1])}
    return subprocess.run(
        [sys.executable, *([code] if str(code).endswith(".py") else ["-c", code])],
        capture_output=True,
        text=True,
        timeout=MOST_SECONDS,
        env=environment,
        **words,
    )


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    return rfbench.run(TINY, name="tiny", out=tmp_path_factory.mktemp("out"), n_jobs=1)


def test_summarise_is_an_alias_of_summarize():
    assert rfbench.summarise is rfbench.summarize


def test_public_names_are_the_documented_ones():
    assert set(rfbench.__all__) == PUBLIC
    for name in rfbench.__all__:
        assert inspect.getdoc(getattr(rfbench, name)), name
        assert name in dir(rfbench)
    with pytest.raises(AttributeError, match="runn"):
        rfbench.runn  # noqa: B018


def test_names_visible_to_type_checkers_are_the_public_names():
    tree = ast.parse(Path(rfbench.__file__).read_text())
    (typed,) = (node for node in tree.body if isinstance(node, ast.If))
    names = {alias.asname or alias.name for node in typed.body for alias in node.names}
    assert names == PUBLIC


def test_no_public_function_has_the_name_of_a_module():
    folder = Path(rfbench.__file__).parent
    for name in PUBLIC:
        module = (folder / name).is_dir() or (folder / f"{name}.py").exists()
        assert module == inspect.ismodule(getattr(rfbench, name)), name


def test_importing_the_package_does_not_import_numpy_or_scikit_learn():
    heavy = ["numpy", "pandas", "scipy", "sklearn", "numba", "pydantic", "matplotlib", "rich"]
    done = python(
        "import sys, rfbench, rfbench.cli; from rfbench.registry import SAMPLERS, SOLVERS, KERNELS;"
        "assert list(SAMPLERS) and list(SOLVERS) and list(KERNELS);"
        f"print(sorted({{*{heavy}, 'rfbench.samplers'}} & set(sys.modules)))"
    )
    assert done.stdout == "[]\n", done.stderr


def test_listing_names_does_not_import_numpy_or_scikit_learn():
    """They are read from the registry and the files of the methods, which are not imported."""
    heavy = ["numpy", "pandas", "scipy", "sklearn", "numba", "pydantic", "matplotlib"]
    done = python(
        "import sys; from rfbench.cli import main\n"
        "for what in ('samplers', 'kernels', 'solvers', 'configs'):\n"
        "    for form in ('text', 'json'):\n"
        "        main(['list', what, '--format', form], standalone_mode=False)\n"
        f"print('brought', sorted({{*{heavy}, 'scipy.stats'}} & set(sys.modules)))"
    )
    assert done.stdout.endswith("brought []\n"), done.stderr
    assert "quickstart" in done.stdout


def test_trial_imports_only_the_scikit_learn_modules_that_it_calls():
    done = python(
        "import sys; import rfbench.experiment.trial, rfbench.samplers.rks, rfbench.solvers.ridge\n"
        "rare = ('metrics', 'model_selection', 'preprocessing', 'linear_model', 'ensemble')\n"
        "print([name for name in rare if f'sklearn.{name}' in sys.modules])"
    )
    assert done.stdout == "[]\n", done.stderr


@pytest.mark.parametrize("registry", [SAMPLERS, KERNELS, SOLVERS], ids=lambda each: each.kind)
def test_registry_list_shows_the_docstrings_of_its_classes(registry):
    listed = json.loads(call("list", f"{registry.kind}s", "--format", "json"))
    for name, thing in registry.items():
        cls = next(iter(thing.values())) if isinstance(thing, dict) else thing
        (about,) = [line["about"] for line in listed if line["name"] == name]
        words = re.sub(r":[a-z ]* :math:`[^`]*`|``", "", inspect.getdoc(cls).split("\n\n")[0])
        assert about == words.replace("\n", " ")


def test_repeated_run_of_a_dict_configuration_measures_nothing_again(ran, tmp_path):
    assert len(ran.rows) == 16
    assert (ran.rows["status"] == "ok").all()
    assert ran.failures.empty
    shutil.copytree(ran.folder, tmp_path / "tiny")
    seen = []
    again = rfbench.run(TINY, name="tiny", out=tmp_path, n_jobs=1, on_row=seen.append)
    pd.testing.assert_frame_equal(again.rows, ran.rows)
    assert seen == []
    more = rfbench.run(TINY, ["trials=5"], name="tiny", out=tmp_path, on_row=seen.append)
    assert (len(seen), len(more.rows)) == (4, 20)


def test_run_returns_failed_trials_as_rows(tmp_path):
    (tmp_path / "bad.py").write_text(BAD)
    bad = {"class": f"{tmp_path}/bad.py:Bad", "label": "bad"}
    wrong = {**TINY, "M": 5, "trials": 1, "samplers": [bad, "rks"]}
    with pytest.raises(rfbench.RfbenchError, match="not imported"):
        rfbench.run(wrong, out=tmp_path)
    found = rfbench.run(wrong, out=tmp_path, n_jobs=1, allow_imports=True)
    assert found.folder == tmp_path / "python"
    assert list(found.failures["label"]) == ["bad"]
    assert "on purpose" in found.failures["message"].item()


def test_configurations_are_dicts_names_or_files(tmp_path):
    named = rfbench.read_config("quickstart")
    assert named == rfbench.read_config(shipped.locate_configuration("quickstart"))
    assert rfbench.read_config(named) is named
    assert rfbench.read_config(TINY, ["M=7"], name="x").M == [7]
    assert rfbench.read_config({**TINY, "M": range(5, 20, 5)}).M == [5, 10, 15]
    assert np.ndim(TINY["M"]) == 1, "the dict is left alone"
    several = {**TINY, "protocols": {"printed": {"seed": 1}, "tuned": {"seed": 2}}}
    assert rfbench.read_config(several, run="tuned").seed == 2
    with pytest.raises(ConfigError, match="several runs"):
        rfbench.read_config(several)
    with pytest.raises(ConfigError, match="'trials'"):
        rfbench.read_config({**TINY, "trails": 3})
    with pytest.raises(ConfigError, match="quickstart"):
        rfbench.read_config("quikstart")


def test_read_results_equals_the_return_value_of_run(ran):
    read = rfbench.read_results(ran.folder)
    pd.testing.assert_frame_equal(read.summary(), rfbench.summarize(ran))
    with pytest.raises(ResultsError):
        rfbench.read_results(ran.folder / "nowhere")


def test_compare_gives_the_paired_difference(ran):
    table = rfbench.compare(ran, "eerf", "rks")
    assert list(table["M"]) == [5, 10]
    for M, line in table.set_index("M").iterrows():
        here = ran.rows[ran.rows["M"] == M].pivot(index="trial", columns="label", values="error")
        d = (here["eerf"] - here["rks"]).to_numpy()
        assert (line["trials"], line["metric"]) == (4, "error")
        assert_allclose(line["difference"], d.mean())
        assert_allclose(line["mean_first"] - line["mean_second"], d.mean())
        error = np.sqrt(d.var(ddof=1) / 4)
        low, high = stats.t.interval(0.95, 3, d.mean(), error)
        assert_allclose([line["low"], line["high"]], [low, high])
        assert_allclose(line["p"], 2 * stats.t.sf(abs(d.mean()) / error, 3))
    assert table["p_holm"].min() >= table["p"].min()
    back = rfbench.compare(ran, "rks", "eerf")
    assert_allclose(back["difference"], -table["difference"])
    times = rfbench.compare(ran, "eerf", "rks", "t_total")
    assert_allclose(times["difference"], times["mean_first"] - times["mean_second"])


def test_printed_comparison_shows_both_means_and_the_difference(ran):
    table = rfbench.compare(ran, "EERF", "RKS")  # as their papers print them
    head, line = str(table).splitlines()[:2]
    for name in ("mean_first", "mean_second", "difference", "low", "high", "p"):
        assert name in head.split()
    assert f"{table['mean_first'][0]:.4g}" in line.split()
    assert "..." not in str(table)
    assert isinstance(table["p"], pd.Series)
    assert str(table[["p"]]).split()[0] == "p"


def test_compare_rejects_incomparable_results(ran):
    with pytest.raises(ResultsError, match="eerf"):
        rfbench.compare(ran, "erf", "rks")
    with pytest.raises(ResultsError, match="metric"):
        rfbench.compare(ran, "eerf", "rks", "eror")
    odd = ran.rows["trial"] % 2 == 1
    apart = ran.rows[odd == (ran.rows["label"] == "rks")]
    with pytest.raises(ResultsError, match="no trial in common"):
        rfbench.compare(rfbench.RunResults(ran.folder, "x", apart), "eerf", "rks")
