"""What an audit measures, before anything is run."""

import pytest

from rfbench import config, shipped
from rfbench.audit import choices
from rfbench.audit.plan import Question, idle, plan
from rfbench.audit.target import Target, find
from rfbench.config import sweeps
from rfbench.errors import ConfigError
from tests.audit.invented import AIM, TWO, number, planned
from tests.audit.invented import CONFIG as INVENTED

CONFIG = """\
dataset: digits
split: {test_size: 0.4}
M: [10]
samplers: [rks, {lkrf: {pool_size: 20}}, {eerf: {pool_size: 20}}]
trials: 4
"""


def test_controls_and_kernel_errors_are_not_measured(invented):
    for experiment in planned(invented).experiments:
        assert [spec.label for spec in experiment.samplers] == ["rks", "orf", "eerf"]
        assert experiment.kernel_error_rows is None


def test_known_options_that_cannot_be_run_are_dropped(invented, monkeypatch):
    known = dict([choices.given("scaling=none,sideways,standard", {})])
    monkeypatch.setattr("rfbench.audit.plan.known", lambda target, gaps: known)
    audit = planned(invented, [], most=2)
    assert [experiment.scaling for experiment in audit.experiments] == ["none", "standard"]
    assert [line.partition(":")[0] for line in audit.refused] == ["scaling sideways"]
    assert (list(audit.choices["scaling"]), audit.drawn) == (["none", "standard"], False)


def test_the_configuration_as_it_stands_has_its_place(invented):
    audit = planned(invented)
    own = audit.grid.loc[audit.as_it_stands].to_dict()
    assert own == {"bandwidth": "20", "feature_map": "offset"}
    assert planned(invented, ["bandwidth=2,4"]).as_it_stands is None


def test_a_fixed_key_is_part_of_the_configuration_as_it_stands(invented):
    audit = planned(invented, ["bandwidth=2,20"], overrides=["scaling=none"], trials=1)
    assert audit.grid.loc[audit.as_it_stands].to_dict() == {"bandwidth": "20"}
    assert audit.fixed == ["scaling=none"]


def test_a_single_option_is_fixed_and_no_open_choice(invented):
    audit = planned(invented, ["bandwidth=2,20", "feature_map=offset"])
    assert audit.varied == ["bandwidth"]
    assert audit.fixed == ["feature_map=offset"]
    assert audit.variants == [f"bandwidth={b}, feature_map=offset" for b in (2, 20)]


def test_what_is_never_drawn_is_absent(invented):
    audit = planned(invented, most=1)
    (own,) = audit.grid.to_dict("records")
    assert audit.drawn
    assert set(audit.absent) == {
        (name, option)
        for name, options in audit.choices.items()
        for option in options
        if option != own[name]
    }


def test_a_fixed_key_is_no_open_choice():
    target = find("liu2020/table3/EEG")
    words = ["scaling=standard", "M=14,28"]
    path = shipped.locate("liu2020_table3")
    audit = plan(Question(path, target, overrides=words, most=5, run="eeg.printed"))
    assert "scaling" not in audit.choices
    assert {experiment.scaling for experiment in audit.experiments} == {"standard"}
    assert {n.size for n in audit.target.numbers} == {14, 28}
    assert sweeps.size(audit.choices) == 192


def test_of_several_runs_the_only_one_that_fits_is_taken(tmp_path, invented):
    text = INVENTED.replace("dataset: digits\n", "")
    assert text != INVENTED
    path = tmp_path / "several.yaml"
    runs = "datasets: {digits: , letter: }\n"
    path.write_text(f"{text}{runs}")
    target = find(AIM)
    (first, *_) = plan(Question(path, target, most=3)).experiments
    assert (first.name, first.dataset[0].name) == ("several_digits", "digits")
    path.write_text(f"{text}{runs}protocols: {{printed: , tuned: }}\n")
    with pytest.raises(ConfigError, match=r"digits\.printed, digits\.tuned\."):
        plan(Question(path, target))
    audit = plan(Question(path, target, most=3, run="digits.tuned"))
    assert audit.experiments[0].name == "several_digits.tuned"


def test_gaps_leave_alone_what_the_paper_prints():
    target = find("liu2020/table3/EEG")
    path, words = shipped.locate("liu2020_table3"), ["M=14,28"]
    audit = plan(Question(path, target, overrides=words, run="eeg.printed", gaps=True))
    assert set(audit.varied) == {
        "solver.intercept", "samplers.qmc.scramble", "samplers.leverage-rff.alpha", "scaled",
        "rows", "features_in_folds",
    }  # fmt: skip
    assert {experiment.kernel for experiment in audit.experiments} == {"gaussian-unhalved"}
    assert {experiment.scaling for experiment in audit.experiments} == {"minmax", "minmax-all"}
    assert {each.dataset[0].name for each in audit.experiments} == {"eeg", "eeg-clean"}
    assert audit.as_it_stands is not None
    assert audit.folder == "gaps_liu2020_table3_EEG"
    assert not {"scaled", "rows"} & set(choices.known(target))


def test_a_choice_is_idle_when_it_concerns_no_sampler_that_chooses(tmp_path):
    path = tmp_path / "made.yaml"
    path.write_text(CONFIG)
    target = Target("p", ("t",), "D", TWO)
    texts = [
        "scaling=none,standard",
        "samplers.lkrf.estimator=top,draw",
        "samplers.eerf.pool_size=20,30",
    ]
    varied = dict(choices.given(text, {}) for text in texts)
    assert idle(varied, target, config.read(path)) == ["samplers.lkrf.estimator"]
    many = Target("p", ("t",), "D", (*TWO, number("eerf", 20), number("lkrf", 20)))
    assert idle(varied, many, config.read(path)) == []
    kept = config.read(path, ["M={kept_by: lkrf}"])
    assert idle(varied, target, kept) == []  # lkrf says how many features eerf has
    both = {
        str(yes): {f"samplers.{name}.center_target": yes for name in ("eerf", "lkrf")}
        for yes in (False, True)
    }
    assert idle({"centred": both}, target, config.read(path)) == []


@pytest.mark.parametrize(
    ("config", "run", "aim"),
    [
        ("liu2020_table3", "eeg.printed", "liu2020/table3/EEG"),
        ("liu2020_table3", "cod-rna.printed", "liu2020/table3/cod-RNA"),
        ("eerf2018_table3", "adult.printed", "eerf2018/table3,table5/adult"),
        ("eerf2018_table3", "mnist.printed", "eerf2018/table3,table5/mnist"),
        ("eerf2018_table5", "letter.printed", "eerf2018/table5/letter"),
        ("eerf2018_table5", "har-train.printed", "eerf2018/table5/har"),
        ("eerf2018_table3", "news-14k.printed", "eerf2018/table3,table5/news"),
        ("lkrf2016_figure3", "adult.printed", "lkrf2016/table1/adult"),
        ("lkrf2016_table2", "adult-joint.printed", "lkrf2016/table2/adult"),
        ("lkrf2016_table2", "adult.printed", "lkrf2016/table2/adult"),
    ],
)
def test_the_known_choices_fit_the_shipped_configurations(config, run, aim):
    audit = plan(Question(shipped.locate(config), find(aim), most=20, run=run))
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
def test_our_reading_is_among_the_gaps(name, aim, run, fixed):
    path = shipped.locate(name)
    audit = plan(Question(path, find(aim), run=run, gaps=True, overrides=fixed))
    assert audit.as_it_stands is not None
    assert not audit.drawn
