"""Groups of methods whose average ranks do not differ."""

import pandas as pd

from rfbench.analysis.ranking import groups


def test_groups_are_as_large_as_the_difference_allows_and_none_is_inside_another() -> None:
    ranks = pd.Series({"a": 1.0, "b": 1.5, "c": 2.5, "d": 4.0})
    assert groups(ranks, 1.2) == [["a", "b"], ["b", "c"]]
    assert groups(ranks, 1.6) == [["a", "b", "c"], ["c", "d"]]
    assert groups(ranks, 0.1) == []
    assert groups(ranks, 3.0) == [["a", "b", "c", "d"]]
