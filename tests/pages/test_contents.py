"""Every table and figure of the seed papers is on the front page, with what is missing of it."""

from rfbench import papers
from rfbench.pages.front import contents_grid
from rfbench.pages.words import DASH

SEEDS = ("eerf2018", "liu2020", "lkrf2016", "tefm2015")


def test_twelve_tables_and_ten_figures_are_listed_each_once():
    items = [
        (paper.name, content.item)
        for paper in map(papers.find_paper, papers.list_papers())
        for content in paper.contents
    ]
    assert len(items) == len(set(items))
    assert {name for name, _ in items} == set(SEEDS)
    kinds = [item.rstrip("0123456789") for _, item in items]
    assert (kinds.count("table"), kinds.count("figure")) == (12, 10)


def test_what_holds_measurements_says_what_is_missing(every_published):
    """A table with published numbers of data that were not run, or on stand-ins, is in part."""
    held = every_published
    own = held.own[held.own["unit"] != "s"]
    lines = {tuple(row[:2]): row[2:] for row in contents_grid(held.selection).rows}
    for name in SEEDS:
        for content in papers.find_paper(name).contents:
            state, text = lines[name, content.item]
            assert text
            assert state in ("complete", "in part", "nothing to measure")
            if content.nothing:
                assert not {n for n in papers.find_folder(name).published if n.item == content.item}
            numbers = own[(own["paper"] == name) & (own["item"] == content.item)]
            if len(numbers):
                run = numbers[numbers["trials"] > 0]["dataset"].unique()
                lacking = set(numbers["dataset"]) - set(run)
                assert state == ("in part" if lacking else "complete"), (name, content.item)
                assert all(data.lower() in text.lower() for data in lacking)
    assert DASH not in {state for state, _ in lines.values()}
