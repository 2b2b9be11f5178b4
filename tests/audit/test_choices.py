import itertools

import pytest

from rfbench.audit import choices, target
from rfbench.config import sweeps
from rfbench.errors import ConfigError
from tests.audit.invented import AIM, write_paper
from tests.support.papers import read_from


def grid(*texts):
    return dict(choices.parse_choice(text, {}) for text in texts)


def test_each_combination_occurs_once():
    three_by_two = grid("a=1,2,3", "b=true,false")
    found = sweeps.iterate_combinations(three_by_two, most=6)
    pairs = itertools.product(["1", "2", "3"], ["true", "false"])
    assert found == [{"a": a, "b": b} for a, b in pairs]
    assert sweeps.count_combinations(three_by_two) == 6
    assert three_by_two["b"]["false"] == {"b": False}
    assert sweeps.iterate_combinations({}, most=5) == [{}]


def test_random_subset_of_combinations_is_reproducible_without_repeats():
    many = grid(*(f"{key}=1:10" for key in "abcd"))
    part = sweeps.iterate_combinations(many, most=50)
    assert len({tuple(each.values()) for each in part}) == 50
    assert part == sweeps.iterate_combinations(many, most=50)
    assert {option for each in part for option in each.values()} == {str(i) for i in range(1, 11)}


def test_invalid_combinations_are_removed_before_the_draw():
    many = grid("a=1:10", "b=1:10")

    def runs(combination):
        return combination["a"] == "1"

    every = sweeps.iterate_combinations(many, 100, runs)
    assert every == [{"a": "1", "b": str(i)} for i in range(1, 11)]
    part = sweeps.iterate_combinations(many, 6, runs)
    assert len(part) == 6
    assert [each for each in every if each in part] == part
    assert part == sweeps.iterate_combinations(many, 6, runs)
    assert sweeps.iterate_combinations(many, 20, runs) == every
    assert sweeps.iterate_combinations(many, 5, lambda combination: False) == []


def test_choices_of_a_data_set_override_those_of_its_table_and_paper():
    mnist = choices.list_choice_options(target.parse_target("eerf2018/table3,table5/mnist"))
    adult = choices.list_choice_options(target.parse_target("eerf2018/table3/adult"))
    assert "solver.multiclass" in mnist
    assert "solver.multiclass" not in adult
    assert list(mnist["scaling"]) == ["standard", "none", "/255"]
    assert list(adult["scaling"]) == ["standard", "none"]
    letter = choices.list_choice_options(target.parse_target("eerf2018/table5/letter"))
    assert "bandwidth" not in letter  # an empty list takes it away


def test_options_named_on_the_command_line_are_selected():
    known = choices.list_choice_options(target.parse_target("liu2020/table3/EEG"))
    name, picked = choices.parse_choice("weights=kept,drawn", known)
    assert (name, list(picked)) == ("weights", ["kept", "drawn"])
    assert picked["kept"]["samplers.leverage-rff.resample"] is False
    assert choices.parse_choice("scaling=standard", known)[1] == {
        "standard": {"scaling": "standard"}
    }


def test_settings_of_samplers_that_are_not_audited_are_dropped():
    centred = {
        word: {"samplers.eerf.center_target": yes, "samplers.lkrf.penalty": 1}
        for word, yes in (("no", False), ("yes", True))
    }
    assert choices.drop_options_of_other_samplers(centred, ["eerf"]) == {
        "no": {"samplers.eerf.center_target": False},
        "yes": {"samplers.eerf.center_target": True},
    }
    assert list(choices.drop_options_of_other_samplers(centred, ["lkrf"])) == [
        "no"
    ]  # the two are then the same
    assert choices.drop_options_of_other_samplers(centred, ["rks"]) == {}
    assert choices.drop_options_of_other_samplers({"none": {"scaling": "none"}}, ["rks"]) == {
        "none": {"scaling": "none"}
    }


@pytest.mark.parametrize("text", ["scaling", "=none", "scaling="])
def test_invalid_choice_raises_error(text):
    with pytest.raises(ConfigError, match="KEY.PATH=VALUES"):
        choices.parse_choice(text, {})


def test_open_choices_apply_to_the_named_table_and_data_set(tmp_path):
    root = write_paper(tmp_path, {("rks", 10): 9.0, ("rks", 40): 5.0})
    open_choices = (
        "all: {scaling: [none, standard]}\ntable1/Digits: {feature_map: [offset, paired]}\n"
    )
    (root / "invented2026" / "open_choices.yaml").write_text(open_choices)
    with read_from(root):
        known = choices.list_choice_options(target.parse_target(AIM))
    assert {name: list(options) for name, options in known.items()} == {
        "scaling": ["none", "standard"],
        "feature_map": ["offset", "paired"],
    }
