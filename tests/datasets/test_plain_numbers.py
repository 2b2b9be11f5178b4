"""Numbers that are written plainly are recognised at once, as the patterns leave them."""

import random

import pandas as pd
import pytest

from rfbench.datasets import values

SIGNS = "0123456789" * 3 + ".,-+eE ()%$'\u2013dDK\u00a0x"


@pytest.mark.parametrize("comma", [False, True])
def test_fast_number_parser_agrees_with_the_regular_expressions(comma):
    draw = random.Random(0)
    words = {"".join(draw.choices(SIGNS, k=draw.randint(1, 8))).strip() for _ in range(20_000)}
    words |= {repr(draw.gauss(0, 1)) for _ in range(500)} | {"1", "-1", "+2.5", "1.e-3", "\uff11"}
    text = pd.Series(sorted(words), dtype=object)
    plain = values.to_plain_numbers(text, comma=comma)
    assert plain.tolist() == values._rewrite(text, comma=comma).tolist()


def test_regular_expressions_are_not_applied_to_plain_numbers(monkeypatch):
    """Of a million different numbers they take minutes."""
    tried, rewrite = [], values._rewrite
    monkeypatch.setattr(
        values, "_rewrite", lambda words, **more: tried.extend(words) or rewrite(words, **more)
    )
    text = pd.Series(["1.5", "-2", "3e-5", "1,234", None, "1.5"], dtype=object)
    numbers = values.parse_numbers(text, comma=False)
    assert numbers[:4].tolist() == [1.5, -2, 3e-5, 1234]
    assert tried == ["1,234"]


def test_conversion_to_text_does_not_copy_strings():
    text = pd.Series(["a1", None, " b", ""], dtype=object)
    made = values.to_text(text)
    assert made.tolist() == ["a1", None, " b", None]
    assert made[0] is text[0]
