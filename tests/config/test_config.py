import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rfbench import config, samplers
from rfbench.api import read_config
from rfbench.config.schema import Experiment
from rfbench.config.specs import SameSizeAs
from rfbench.errors import ConfigError, RfbenchError
from rfbench.parameters import resolve_parameters

GOOD = """\
dataset: digits
split: {test_size: 0.3}
M: 10:30:10
samplers:
  - rks
  - eerf: {pool_size: 100}
solver:
  alphas: log:1e-2:1e2:5
  selection: cv5
"""


def read(tmp_path, text, *overrides, **keywords):
    path = tmp_path / "try.yaml"
    path.write_text(text)
    return read_config(path, overrides, **keywords)


def changed(line, new):
    assert line in GOOD
    return GOOD.replace(line, new)


def test_valid_file_is_read(tmp_path):
    experiment = read(tmp_path, GOOD)
    assert experiment.name == "try"
    assert experiment.M == [10, 20, 30]
    assert [s.label for s in experiment.samplers] == ["rks", "eerf"]
    assert experiment.samplers[1].parameters == {"pool_size": 100}
    assert experiment.solver.alphas == pytest.approx([0.01, 0.1, 1, 10, 100])
    assert experiment.solver.intercept is True


def test_removed_timing_key_is_accepted_only_with_the_value_isolated(tmp_path):
    """The key of earlier versions may say so."""
    experiment = read(tmp_path, GOOD)
    assert read(tmp_path, f"{GOOD}timing: isolated\n") == experiment
    with pytest.raises(
        ConfigError, match="every trial is timed separately: remove the key `timing`"
    ):
        read(tmp_path, f"{GOOD}timing: shared\n")


def test_each_value_of_a_generator_parameter_becomes_a_data_set(tmp_path):
    text = "dataset: {sphere: {d: '2:4', n_train: 50}}\nM: 5\nsamplers: rks\n"
    experiment = read(tmp_path, text)
    assert [spec.parameters["d"] for spec in experiment.dataset] == [2, 3, 4]


def test_keys_of_earlier_versions_are_accepted_only_in_manifests(tmp_path):
    experiment = read(tmp_path, GOOD)
    content = experiment.model_dump(mode="json") | {"device": "cuda", "timing": "shared"}
    known = config.build_experiment_from_manifest(content, "manifest.json")
    assert known.model_dump() == experiment.model_dump()
    with pytest.raises(ConfigError, match="device"):
        read(tmp_path, GOOD + "device: cuda\n")
    with pytest.raises(ConfigError, match="dtype"):
        read(tmp_path, GOOD + "dtype: tf32\n")


def test_number_of_features_kept_by_requires_the_label_of_a_sampler(tmp_path):
    text = changed("M: 10:30:10", "M: {kept_by: lkrf}").replace("- rks", "- lkrf")
    assert read(tmp_path, text).M == SameSizeAs(kept_by="lkrf")
    with pytest.raises(
        ConfigError, match=r"no sampler for kept_by called 'lkr'\. Did you mean 'lkrf'"
    ):
        read(tmp_path, text.replace("kept_by: lkrf", "kept_by: lkr"))


def test_overrides_replace_file_values_and_select_samplers_by_name(tmp_path):
    experiment = read(
        tmp_path, GOOD, "M=5,7", "samplers.eerf.pool_size=50", "solver.alphas=1", "seed=3",
        "solver.selection=fixed",
    )  # fmt: skip
    assert experiment.M == [5, 7]
    assert experiment.samplers[1].parameters["pool_size"] == 50
    assert experiment.solver.alphas == [1.0]
    assert experiment.seed == 3


@pytest.mark.parametrize(
    ("override", "sentence"),
    [
        ("M", "does not have the form `key.path=value`"),
        ("samplers.erf.pool_size=5", "the list does not contain 'erf'. Did you mean 'eerf'"),
        ("samplers.eerf=5", "replace a complete entry"),
        ("trails=5", r"--set trails: there is no key 'trails'\. Did you mean 'trials'"),
        ("samplers.eerf.pool_size=5", r"--set samplers\.eerf\.pool_size: M = 10 features"),
        ("samplers.eerf.pool_sise=5", r"--set samplers\.eerf\.pool_sise: eerf has no parameter"),
        ("samplers=rsk", "--set samplers: There is no sampler 'rsk'"),
        ("kernel=gausian", "--set kernel: kernel is 'gausian'"),
        ("solver.selection=cv", "--set solver.selection: selection is 'cv'"),
        ("kernel_error_draws=2", "--set kernel_error_draws: .* requires kernel_error_rows"),
        ("kernel_error_repeats=2", "--set kernel_error_repeats: .* requires kernel_error_rows"),
        ("kept_features=true", "no sampler selects the features that it keeps"),
    ],
)
def test_wrong_override_is_rejected(tmp_path, override, sentence):
    with pytest.raises(ConfigError, match=sentence):
        read(tmp_path, GOOD, override)


@pytest.mark.parametrize(
    ("line", "new", "sentence"),
    [
        ("samplers:", "smplers:", r"line 4: there is no key 'smplers'\. Did you mean 'samplers'"),
        ("dataset: digits", "dataset: digit", r"line 1: .*'digit'\. Did you mean 'digits'"),
        ("- rks", "- rsk", r"line 5: There is no sampler 'rsk'\. Did you mean 'rks'"),
        ("pool_size", "pool_sise", r"line 6: eerf has no parameter 'pool_sise'\. Did you mean"),
        ("100}", "20}", "line 6: M = 30 features cannot be selected from a pool of 20"),
        ("100}", "-4}", "line 6: pool_size is -4"),
        *(
            ("pool_size: 100", f"pool_size: '{text}'", "line 6: pool_size is")
            for text in ("1.2.3*M", "1e400*M", "..*d")
        ),
        (
            "{pool_size: 100}",
            "\n      pool_size: 100\n      score_rows: -3",
            "line 8: score_rows is -3",
        ),
        ("alphas: log:1e-2:1e2:5", "name: svm\n  max_iter: {}", "line 9: max_iter is"),
        ("cv5", "cv", "line 9: selection is 'cv'"),
        ("cv5", "fixed", "line 8: There are 5 alphas, but selection is 'fixed'"),
        (
            "log:1e-2:1e2:5",
            "log:1e-2:1e2",
            "line 8: solver.alphas .*log: needs a start, an end and a number of values",
        ),
        ("log:1e-2:1e2:5", "-1", "line 8: alphas"),
        ("M: 10:30:10", "M: 0", "line 3: M is 0"),
        ("M: 10:30:10", "M: []", "line 3: M is"),
        ("M: 10:30:10", "M: 1.5", "line 3: M is 1.5"),
        ("M: 10:30:10", "M: 5\nbandwidth: -2", "line 4: bandwidth is -2"),
        ("M: 10:30:10", "M: 5\nbandwidth: knn5", "line 4: .*Did you mean 'knn50'"),
        (
            "M: 10:30:10",
            "M: 5\nkernel: gausian",
            "line 4: kernel is 'gausian'. Did you mean 'gaussian'",
        ),
        ("M: 10:30:10", "M: 5\nscaling: minmx", "line 4: scaling is 'minmx'; .*mean 'minmax'"),
        ("M: 10:30:10", "M: 5\nintercept: true", "It belongs under `solver:`"),
        ("M: 10:30:10", "M: 5\nmetric: eror", "Did you mean 'error'"),
        ("M: 10:30:10", "M: 5\ntrials: ten", "line 4: trials is 'ten'"),
        ("M: 10:30:10", "M: 5\nname: x", "the name of a run is always the name of its file"),
        ("- rks", "- rks\n  - rks", "two samplers have the label 'rks'"),
        ("- rks", "- {rks: {}, orf: {}}", "line 5: .*write `- eerf`"),
        ("split: {test_size: 0.3}", "split: given", "line 2: digits has no predefined split"),
        ("split: {test_size: 0.3}", "split: {test: 0.3}", "line 2: split is"),
        ("dataset: digits", "dataset: reuters21578\nscaling: standard", "is sparse and scaling"),
        ("dataset: digits", "dataset: [digits, cpu]", "regression and classification"),
        (
            "M: 10:30:10",
            "M: {kept_by: rks}",
            "line 3: rks does not determine the number of features",
        ),
        ("split: {test_size: 0.3}", "split: {test_size: 1.5}", "line 2: .*between 0 and 1"),
        ("split: {test_size: 0.3}", "split: {test_size: 0}", "line 2: .*number above 0"),
        ("split: {test_size: 0.3}", "split: {folds: 1, seed: 0}", "line 2: .*of at least 2"),
        (
            "split: {test_size: 0.3}",
            "split: {folds: 2, seed: 4294967296}",
            r"line 2: .*below 2\^32",
        ),
        (
            "solver:\n  alphas: log:1e-2:1e2:5\n  selection: cv5\n",
            "solver: none\n",
            "line 7: The configuration measures nothing: it has neither a solver nor",
        ),
        ("M: 10:30:10", "M: 5\nkernel-error-rows: 5", "no key 'kernel-error-rows'. Did you mean"),
        ("M: 10:30:10", "M: 5\nchecks: [{column: kpt}]", "not have a column 'kpt'"),
        ("M: 10:30:10", "M: 5\ntrials: true", "line 4: trials is True"),
        ("M: 10:30:10", "M: 5\nrows: '20'", "line 4: rows is '20'"),
        ("M: 10:30:10", "M: 5\nbandwidth: 1e-320", "line 4: bandwidth is"),
        ("M: 10:30:10", "M: 5\nbandwidth: {cv: [1, 1e308]}", "line 4: bandwidth is"),
        ("M: 10:30:10", "M: 5\nbandwidth: true", "line 4: bandwidth is True"),
        ("M: 10:30:10", "M: 5\npaper: liu2021", "line 4: .*'liu2021'. Did you mean 'liu2020'"),
        ("  alphas", "  intercept: 0\n  alphas", "line 8: solver.intercept is 0"),
        ("log:1e-2:1e2:5", "[true, 1]", "line 8: solver.alphas.0 is True"),
        ("pool_size: 100", "pool_size: 100, label: 0", "line 6: samplers.1.label is 0"),
        ("pool_size: 100", "pool_size: 100, label: ''", "line 6: samplers.1.label is ''"),
        (
            "dataset: digits",
            "dataset: {digits: {d: 3}}",
            "line 1: digits does not accept parameters",
        ),
        ("dataset: digits", "dataset: {file: a.csv, separator: ab}", "separator is 'ab'"),
        ("dataset: digits", "dataset: {file: a.csv, name: ''}", "name is ''"),
        ("dataset: digits", "dataset: {name: x, parameters: {file: 3}}", "file is 3"),
        (
            "dataset: digits",
            "dataset: {eeg: {file: a.csv}}",
            "'eeg' is a data set of the catalog",
        ),
        ("dataset: digits", "dataset: {sklearn: null}", "`sklearn` has no value"),
        *(
            ("M: 10:30:10", f"M: 5\nchecks:\n- {{column: error, {rest}}}", f"line 5: .*{sentence}")
            for rest, sentence in (
                ("sampler: eer, below: 3", "no sampler 'eer'. Did you mean 'eerf'"),
                ("sampler: eerf", "not have a bound"),
                ("below: 3, at_each: dd", "not have a column 'dd'"),
            )
        ),
        ("M: 10:30:10", "M: 5\nchecks: [{column: label, below: 3}]", "has no numbers"),
    ],
)
def test_invalid_value_is_reported_with_its_line(tmp_path, line, new, sentence):
    with pytest.raises(ConfigError, match=sentence):
        read(tmp_path, changed(line, new))


def test_all_mistakes_are_reported_at_once(tmp_path):
    with pytest.raises(ConfigError) as caught:
        read(tmp_path, GOOD.replace("cv5", "cv5\ntrials: 0\nseed: -1\ndtype: int8"))
    assert len(str(caught.value).splitlines()) == 3


def test_importing_external_classes_requires_permission(tmp_path):
    text = changed("- rks", "- {class: 'os.path.exists'}")
    with pytest.raises(ConfigError, match="not imported.*--allow-imports"):
        read(tmp_path, text)
    with pytest.raises(ConfigError, match="exists is not a feature map"):
        read(tmp_path, text, allow_imports=True)
    nystroem = "- {class: sklearn.kernel_approximation.Nystroem, n_components: M}"
    assert read(tmp_path, changed("- rks", nystroem)).samplers[0].label == "Nystroem"


def test_parameter_expressions_are_validated_for_the_data_set_shape(tmp_path):
    text = changed("pool_size: 100", "pool_size: 20*d")
    assert read(tmp_path, text).samplers[1].parameters["pool_size"] == "20*d"
    assert read(tmp_path, changed("pool_size: 100", "pool_size: 0.7*n"))
    with pytest.raises(ConfigError, match="from a pool of 6"):
        read(tmp_path, changed("pool_size: 100", "pool_size: 0.1*d"))


def test_parameter_expressions_in_m_d_and_n_are_evaluated():
    parameters = {"pool_size": "10*M", "rho": "0.01*d", "a": "M", "b": "text", "c": 3}
    resolved = resolve_parameters(parameters, M=20, d=50, n=7)
    assert resolved == {"pool_size": 200, "rho": 0.5, "a": 20, "b": "text", "c": 3}
    assert isinstance(resolved["pool_size"], int)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=6,
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from([*Experiment.model_fields, "other"]), VALUES)
def test_arbitrary_value_of_a_key_is_accepted_or_raises_rfbench_error(key, value):
    from rfbench import yamlfile

    document = yamlfile.parse_yaml(GOOD, "fuzz.yaml")
    document.value[key] = value
    try:
        assert isinstance(config.build_experiment(document, "fuzz"), Experiment)
    except RfbenchError as error:
        assert "fuzz.yaml" in str(error) or "list of values" in str(error)


def test_rff_is_an_alias_of_rks(tmp_path):
    renamed = read(tmp_path, changed("- rks", "- rff"), "samplers.rff.kernel=laplacian")
    ours = read(tmp_path, GOOD, "samplers.rks.kernel=laplacian")
    assert renamed.model_dump() == ours.model_dump()
    assert isinstance(samplers.make("rff", n_components=3), samplers.RKS)
    assert read(tmp_path, changed("- rks", "- {name: rff, label: mine}")).samplers[0].name == "rks"


@pytest.mark.parametrize(
    "text",
    [
        "dataset: {sphere: {d: '2:1000:1', n_train: '1000:2000:1', n_test: '10:1000:1'}}\nM: 5\n",
        "dataset: {sphere: {d: '2:1000:1'}}\nM: '1:10000:1'\n",
        "dataset: digits\nsplit: {test_size: 0.5}\nM: '1:1000:1'\ntrials: 100000\n",
        "a: &a '1:10000:1'\ndataset: digits\nM: [" + "*a, " * 10_000 + "]\n",
    ],
)
def test_configuration_with_too_many_combinations_is_rejected(tmp_path, text):
    with pytest.raises(ConfigError, match="try.yaml.*(more than|too many)"):
        read(tmp_path, text + "samplers: [rks, orf]\n")


def test_solver_without_closed_form_rejects_leave_one_out_selection(tmp_path):
    with pytest.raises(ConfigError, match="does not have a leave-one-out error in closed form"):
        read(tmp_path, changed("selection: cv5", "selection: loo"), "solver.name=logistic")
