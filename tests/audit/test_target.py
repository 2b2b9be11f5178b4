from types import SimpleNamespace

import pytest

from rfbench import papers
from rfbench.audit import target
from rfbench.errors import ConfigError

EVERY = sorted(
    {(n.paper, n.item, n.dataset) for n in papers.list_published_numbers() if n.unit == "%"}
)


def test_published_numbers_are_divided_into_two_halves_of_equal_size():
    for paper, item, dataset in EVERY:
        found = target.parse_target(f"{paper}/{item}/{dataset}")
        choosing, confirming = found.split_numbers_into_halves()
        assert sorted(choosing + confirming) == list(range(len(found.numbers)))
        assert abs(len(choosing) - len(confirming)) <= 2  # 2: one number has no size
        assert all(number.unit == "%" for number in found.numbers)


def test_both_halves_of_a_table_contain_each_method_and_size():
    found = target.parse_target("liu2020/table3/EEG")
    assert len(found.numbers) == 32
    for half in found.split_numbers_into_halves():
        assert {found.numbers[i].method for i in half} == set(found.methods)
        assert len({found.numbers[i].M for i in half}) == 8


def test_number_in_several_tables_is_counted_once():
    found = target.parse_target("eerf2018/table3,table5/mnist")
    assert sorted(found.methods) == ["eerf", "lkrf", "rks"]
    assert len(found.numbers) == 3


def test_published_target_can_be_limited_to_methods_and_sizes():
    found = target.parse_target("liu2020/table3/EEG").restrict(["rks", "qmc"], [14, 28])
    assert {(number.method, number.size) for number in found.numbers} == {
        ("rks", 14),
        ("rks", 28),
        ("qmc", 14),
        ("qmc", 28),
    }
    best = target.parse_target("lkrf2016/table1/adult").restrict(["rks"], [7])
    assert [number.M for number in best.numbers] == ["best"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("liu2020/table3", "does not have the form PAPER/ITEM/DATASET"),
        ("liu2021/table3/EEG", "Did you mean 'liu2020'"),
        ("liu2020/table4/EEG", "Did you mean 'table3'"),
        ("liu2020/table3/cod-rna", "Did you mean 'cod-RNA'"),
    ],
)
def test_invalid_or_unpublished_audit_target_is_rejected(text, said):
    with pytest.raises(ConfigError, match=said):
        target.parse_target(text)


def test_choices_are_used_only_for_their_table_and_data_set(monkeypatch):
    places = ["all", "table3", "table3/EEG", "figure1,table3", "table3/magic04", "figure1"]
    folder = SimpleNamespace(open_choices={place: {place: [1]} for place in places})
    monkeypatch.setattr(papers, "find_paper_files", lambda name: folder)
    left_open = papers.list_open_choices("liu2020", ["table3"], "EEG")
    assert list(left_open) == ["all", "table3", "figure1,table3", "table3/EEG"]
    assert papers.list_open_choices("liu2020", ["table3", "figure9"], "EEG") == left_open
