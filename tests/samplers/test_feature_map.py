"""Each kind of fitted feature map keeps the promises of all."""

import sys
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from rfbench.checking.samplers import CHECK_ROWS, NEW_ROWS
from rfbench.errors import MethodError
from rfbench.samplers import RKS, SORF, SSR, TEFMG, Circulant, Nystroem

EXACT = 1e-12


def map_of(cls: Any, **words: Any) -> Any:
    return cls(9, bandwidth=2.0, random_state=0, **words).fit(CHECK_ROWS).feature_map_


PAIRED = {"feature_map": "paired"}
PARTED = {  # which can be taken apart into their frequencies
    "offset": lambda: map_of(RKS),
    "paired": lambda: map_of(RKS, **PAIRED),
    "weighted": lambda: map_of(RKS, **PAIRED).with_weights(np.linspace(0.5, 2.0, 9)),
    "arc-cosine": lambda: map_of(RKS, kernel="arc-cosine-1"),
    "coordinates": lambda: map_of(RKS, kernel="linear"),
    "structured": lambda: map_of(SORF),
    "structured pairs": lambda: map_of(SORF, **PAIRED),
    "circulant": lambda: map_of(Circulant),
    "quadrature": lambda: map_of(SSR, **PAIRED),
}
WHOLE = {
    "projected": lambda: map_of(TEFMG),
    "nystroem": lambda: map_of(Nystroem),
}


@pytest.fixture(params=[*PARTED, *WHOLE])
def fitted(request: Any) -> Any:
    """Return a map of a sampler that was fitted on rows of 5 columns, in float64."""
    return (PARTED | WHOLE)[request.param]()


@pytest.fixture(params=PARTED)
def parted(request: Any) -> Any:
    return PARTED[request.param]()


def test_feature_map_writes_only_to_the_given_output_array(fitted: Any) -> None:
    expected, width = fitted.transform(NEW_ROWS), fitted.n_columns
    assert expected.shape == (20, width)
    rows, room = NEW_ROWS.copy(), np.full((22, width), 7.0)
    rows.flags.writeable = False
    fitted.transform_into(rows, room[1:21])
    assert_array_equal(room[1:21], expected)
    assert set(np.concatenate([room[0], room[21]])) == {7.0}


def test_selected_frequencies_give_the_columns_of_the_whole_map(parted: Any) -> None:
    whole = parted.transform(NEW_ROWS)
    for chosen in ([5, 1, 1, 3], [0], []):
        numbers = np.array(chosen, dtype=np.intp)
        taken = parted.select(numbers)
        assert taken.n_frequencies == len(chosen)
        expected = whole[:, parted.find_columns(numbers)]
        assert_allclose(taken.transform(NEW_ROWS), expected, atol=EXACT)


def test_split_feature_map_gives_consecutive_columns_of_the_whole_map(parted: Any) -> None:
    whole, total = parted.transform(NEW_ROWS), parted.n_frequencies
    pieces = list(parted.split(4))
    assert [piece.n_frequencies for piece in pieces] == [4] * (total // 4) + [total % 4]
    for start, piece in zip(range(0, total, 4), pieces, strict=True):
        own = parted.find_columns(np.arange(start, start + piece.n_frequencies))
        assert_allclose(piece.transform(NEW_ROWS), whole[:, own], atol=EXACT)


def test_frequency_weights_multiply_the_feature_columns(parted: Any) -> None:
    whole, weights = parted.transform(NEW_ROWS), 1.0 + np.arange(parted.n_frequencies)
    each = np.tile(weights, parted.n_columns // parted.n_frequencies)
    changed = parted.times(3.0).with_weights(weights).with_weights(weights)
    assert_allclose(changed.transform(NEW_ROWS), 3.0 * whole * each**2, rtol=1e-12)


def test_without_torch_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.delitem(sys.modules, "rfbench.samplers.torch_map", raising=False)
    fitted = RKS(3, bandwidth=1.0, random_state=0).fit(np.eye(3)).feature_map_
    with pytest.raises(MethodError, match=r"torch is not installed.*rfbench\[torch\]"):
        fitted.as_torch()
