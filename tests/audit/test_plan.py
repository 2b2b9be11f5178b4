"""What an audit measures, before anything is run."""

import pytest

from rfbench import shipped
from rfbench.audit import choices
from rfbench.audit.plan import AuditRequest, plan_audit
from rfbench.audit.target import parse_target
from rfbench.config import sweeps
from tests.audit.invented import planned


def test_audit_measures_no_control_samplers_and_no_kernel_errors(invented):
    for experiment in planned(invented).experiments:
        assert [spec.label for spec in experiment.samplers] == ["rks", "orf", "eerf"]
        assert experiment.kernel_error_rows is None


def test_invalid_options_of_a_setting_are_dropped_and_reported(invented, monkeypatch):
    known = dict([choices.parse_choice("scaling=none,sideways,standard", {})])
    monkeypatch.setattr("rfbench.audit.plan.list_choice_options", lambda target, gaps: known)
    audit = planned(invented, [], most=2)
    assert [experiment.scaling for experiment in audit.experiments] == ["none", "standard"]
    assert [line.partition(":")[0] for line in audit.refused] == ["scaling sideways"]
    assert list(audit.choices["scaling"]) == ["none", "standard"]


def test_unchanged_configuration_is_one_of_the_audited_combinations(invented):
    audit = planned(invented)
    own = audit.grid.loc[audit.as_it_stands].to_dict()
    assert own == {"bandwidth": "20", "feature_map": "offset"}
    assert planned(invented, ["bandwidth=2,4"]).as_it_stands is None


def test_settings_with_one_option_are_part_of_each_combination(invented):
    audit = planned(invented, ["bandwidth=2,20", "feature_map=offset"], overrides=["scaling=none"])
    assert audit.grid.loc[audit.as_it_stands, "bandwidth"] == "20"
    assert audit.variants == [f"bandwidth={b}, feature_map=offset" for b in (2, 20)]


def test_setting_fixed_on_the_command_line_is_not_varied():
    target = parse_target("liu2020/table3/EEG")
    words = ["scaling=standard", "M=14,28"]
    path = shipped.locate_configuration("liu2020_table3")
    audit = plan_audit(AuditRequest(path, target, overrides=words, most=5, run="eeg.printed"))
    assert "scaling" not in audit.choices
    assert {experiment.scaling for experiment in audit.experiments} == {"standard"}
    assert {n.size for n in audit.target.numbers} == {14, 28}
    assert sweeps.count_combinations(audit.choices) == 192


def test_unstated_settings_exclude_settings_that_the_paper_states():
    target = parse_target("liu2020/table3/EEG")
    path, words = shipped.locate_configuration("liu2020_table3"), ["M=14,28"]
    audit = plan_audit(AuditRequest(path, target, overrides=words, run="eeg.printed", gaps=True))
    varied = {name for name, options in audit.choices.items() if len(options) > 1}
    # Section 5.1 has a deterministic sequence, so that scrambling is none of them.
    assert varied == {
        "solver.intercept", "samplers.leverage-rff.alpha", "scaled", "rows", "features_in_folds",
    }  # fmt: skip
    assert {experiment.kernel for experiment in audit.experiments} == {"gaussian-unhalved"}
    assert {experiment.scaling for experiment in audit.experiments} == {"minmax", "minmax-all"}
    assert {each.dataset[0].name for each in audit.experiments} == {"eeg", "eeg-clean"}
    assert audit.as_it_stands is not None
    assert audit.folder == "gaps_liu2020_table3_EEG"
    assert not {"scaled", "rows"} & set(choices.list_choice_options(target))


@pytest.mark.parametrize(
    ("config", "run", "aim"),
    [
        ("liu2020_table3", "eeg.printed", "liu2020/table3/EEG"),
        ("eerf2018_table3", "mnist.printed", "eerf2018/table3,table5/mnist"),
        ("eerf2018_table5", "har-train.printed", "eerf2018/table5/har"),
        ("eerf2018_table3", "news-14k.printed", "eerf2018/table3,table5/news"),
        ("lkrf2016_figure3", "adult.printed", "lkrf2016/table1/adult"),
        ("lkrf2016_table2", "adult-joint.printed", "lkrf2016/table2/adult"),
    ],
)
def test_known_choices_are_valid_for_the_shipped_configurations(config, run, aim):
    audit = plan_audit(
        AuditRequest(shipped.locate_configuration(config), parse_target(aim), most=20, run=run)
    )
    assert audit.choices
    assert audit.refused == []
    assert audit.target.numbers


@pytest.mark.parametrize(
    ("name", "aim", "run", "fixed"),
    [
        ("eerf2018_table3", "eerf2018/table5/adult", "adult.printed", ["solver.intercept=false"]),
        ("lkrf2016_table2", "lkrf2016/table2/adult", "adult-joint.printed", []),
        ("liu2020_table3", "liu2020/table3/EEG", "eeg.printed", []),
    ],
)
def test_combinations_of_unstated_settings_include_our_interpretation(name, aim, run, fixed):
    path = shipped.locate_configuration(name)
    audit = plan_audit(AuditRequest(path, parse_target(aim), run=run, gaps=True, overrides=fixed))
    assert audit.as_it_stands is not None
    assert len(audit.grid) == sweeps.count_combinations(audit.choices)
