"""Sums of kernel values per class: by brute force, and by features that have the kernel exactly."""

import numpy as np
import pytest

from rfbench.solvers.class_sums import ClassSums

RNG = np.random.default_rng(0)
X, Y = RNG.standard_normal((50, 3)), np.array(list("abc"))[np.arange(50) % 3]
NEW = RNG.standard_normal((20, 3))


@pytest.mark.parametrize("bandwidth", [None, 0.7])
def test_predicted_class_has_the_largest_sum_of_kernel_values(bandwidth, monkeypatch):
    monkeypatch.setattr("rfbench.solvers.class_sums.BATCH_ROWS", 7)
    model = ClassSums(bandwidth).fit(X, Y)
    expected = np.zeros((20, 3))
    for i, x in enumerate(NEW):
        for z, label in zip(X, Y, strict=True):
            k = x @ z if bandwidth is None else np.exp(-np.sum((x - z) ** 2) / 2 / bandwidth**2)
            expected[i, "abc".index(label)] += k
    np.testing.assert_allclose(model.decision_function(NEW), expected, rtol=1e-12, atol=1e-12)
    assert model.predict(NEW).tolist() == ["abc"[code] for code in expected.argmax(axis=1)]
