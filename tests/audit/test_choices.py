import itertools

import pytest

from rfbench.audit import choices, target
from rfbench.audit.choices import Choice, Option
from rfbench.errors import ConfigError


def three_by_two():
    return [choices.given("a=1,2,3", {}), choices.given("b=true,false", {})]


def test_every_combination_once():
    found = choices.combinations(three_by_two(), most=6)
    words = [tuple(option.name for option in combination) for combination in found]
    assert words == list(itertools.product(["1", "2", "3"], ["true", "false"]))
    assert choices.count(three_by_two()) == 6
    assert choices.combinations([], most=5) == [()]


def test_a_random_part_has_no_repetition_and_is_the_same_again():
    many = [choices.given(f"{key}=1:10", {}) for key in "abcd"]
    part = choices.combinations(many, most=50)
    assert len(set(part)) == 50
    assert part == choices.combinations(many, most=50)
    assert part != choices.combinations(many, most=50, seed=1)
    seen = {option.name for combination in part for option in combination}
    assert seen == {str(i) for i in range(1, 11)}


def test_what_cannot_be_run_is_left_out_before_the_draw():
    many = [choices.given(f"{key}=1:10", {}) for key in "ab"]

    def runs(combination):
        return combination[0].name == "1"

    every = choices.combinations(many, 100, runs)
    assert [c[1].name for c in every] == [str(i) for i in range(1, 11)]
    part = choices.combinations(many, 6, runs)
    assert len(set(part)) == 6
    assert set(part) < set(every)
    assert part == choices.combinations(many, 6, runs)
    assert choices.combinations(many, 20, runs) == every
    assert choices.combinations(many, 5, lambda combination: False) == []


def test_the_more_special_place_wins():
    mnist = choices.known(target.find("eerf2018/table3,table5/mnist"))
    adult = choices.known(target.find("eerf2018/table3/adult"))
    assert "solver.multiclass" in mnist
    assert "solver.multiclass" not in adult
    assert [o.name for o in mnist["scaling"].options] == ["standard", "none", "/255"]
    assert [o.name for o in adult["scaling"].options] == ["standard", "none"]
    letter = choices.known(target.find("eerf2018/table5/letter"))
    assert "bandwidth" not in letter  # an empty list takes it away


def test_named_options_are_picked():
    known = choices.known(target.find("liu2020/table3/EEG"))
    picked = choices.given("weights=kept,drawn", known)
    assert [option.name for option in picked.options] == ["kept", "drawn"]
    assert dict(picked.options[0].settings)["samplers.leverage-rff.resample"] is False
    assert choices.given("scaling=standard", known).options[0].settings == (
        ("scaling", "standard"),
    )


def test_settings_of_absent_samplers_are_left_out():
    choice = Choice(
        "centred",
        (
            Option("no", (("samplers.eerf.center_target", False), ("samplers.lkrf.penalty", 1))),
            Option("yes", (("samplers.eerf.center_target", True), ("samplers.lkrf.penalty", 1))),
        ),
    )
    only = choices.about(choice, ["eerf"])
    assert [o.settings for o in only.options] == [
        (("samplers.eerf.center_target", False),),
        (("samplers.eerf.center_target", True),),
    ]
    assert len(choices.about(choice, ["lkrf"]).options) == 1  # the two are then the same
    assert choices.about(choice, ["rks"]) is None
    assert choices.about(choices.given("scaling=none", {}), ["rks"]) is not None


@pytest.mark.parametrize("text", ["scaling", "=none", "scaling="])
def test_what_is_no_choice_is_refused(text):
    with pytest.raises(ConfigError, match="KEY.PATH=VALUES"):
        choices.given(text, {})
