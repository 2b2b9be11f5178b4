"""The frontier, against the definition."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rfbench.figures.panels import find_pareto_frontier

POINTS = st.lists(st.tuples(*[st.integers(0, 5).map(float)] * 2), min_size=1, max_size=12)


@given(POINTS, st.booleans())
def test_frontier_points_are_not_dominated_and_dominate_all_others(
    points: list[tuple[float, float]], larger: bool
) -> None:
    sign = -1 if larger else 1
    every = {(cost, sign * value) for cost, value in points}
    costs, values = find_pareto_frontier(*np.transpose(points), larger_is_better=larger)
    found = list(zip(costs.tolist(), (sign * values).tolist(), strict=True))
    beaten = {p for p in every for q in every if q != p and q[0] <= p[0] and q[1] <= p[1]}
    assert found == sorted(every - beaten)
