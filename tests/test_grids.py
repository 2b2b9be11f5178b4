import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rfbench import grids
from rfbench.errors import ConfigError


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("50:1000", list(range(50, 1001, 50))),
        ("2:15", list(range(2, 16))),
        ("50:1000:50", list(range(50, 1001, 50))),
        ("10:25:10", [10, 20]),
        ("0.1:0.5:0.1", [0.1, 0.2, 0.3, 0.4, 0.5]),
        ("50,100,200", [50, 100, 200]),
        ("50, 100:102", [50, 100, 101, 102]),
        ("log:1e-5:1e5:11", [float(f"1e{k}") for k in range(-5, 6)]),
        ("log:50:1000:8", [50, 77, 118, 181, 277, 425, 652, 1000]),
        ("7", [7]),
        ("knn50", ["knn50"]),
        ("true,false", [True, False]),
    ],
)
def test_grid_expression_expands_to_its_values(text, values):
    assert grids.expand_grid_text(text) == values


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("1000:50", "the end of the range is below its start"),
        ("1:5:0", "step has to be positive"),
        ("1:2:3:4", "two or three numbers"),
        ("1,,2", "between two commas"),
        ("a:b", "'a' is not a number"),
        ("log:0:10:3", "positive and in ascending order"),
        ("log:1:10", "a start, an end and a number of values"),
        ("0:1e9:1e-9", "more than"),
        ("1:inf", "not a number"),
    ],
)
def test_invalid_grid_is_rejected_with_the_reason(text, reason):
    with pytest.raises(ConfigError, match=reason):
        grids.expand_grid_text(text)


@given(st.integers(1, 10_000), st.integers(0, 10_000))
def test_integer_range_grid_is_increasing_and_includes_both_ends(first, width):
    values = grids.expand_grid_text(f"{first}:{first + width}")
    assert values[0] == first
    assert values[-1] == first + width
    assert len(values) <= grids.DEFAULT_POINTS
    assert (np.diff(values) > 0).all()


def test_grid_length_is_limited():
    assert len(grids.expand_grid_text("1:5000:1,5001:10000:1")) == grids.MAX_POINTS
    with pytest.raises(ConfigError, match="more than 10000 values"):
        grids.expand_grid_text(",".join(["1:10000:1"] * 10_000))
