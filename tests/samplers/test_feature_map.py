"""Each kind of fitted feature map keeps the promises of all."""

from typing import Any

import numpy as np
from numpy.testing import assert_allclose

from rfbench.samplers import RKS, SORF, SSR, TEFMG, Circulant, CompactFeatures, Nystroem
from rfbench.samplers.feature_map import FeatureMap, FittedMap
from rfbench.testing.samplers import NEW_ROWS, ROWS

from .feature_map_contract import EXACT, FeatureMapContract, FittedMapContract


def map_of(cls: Any, **words: Any) -> Any:
    return cls(9, bandwidth=2.0, random_state=0, **words).fit(ROWS).feature_map_


class TestOffset(FeatureMapContract):
    def make(self) -> FeatureMap:
        return map_of(RKS)

    def test_a_column_is_a_cosine(self, fitted: Any) -> None:
        phases = NEW_ROWS @ fitted.frequencies + fitted.offsets
        assert_allclose(fitted.transform(NEW_ROWS), np.sqrt(2 / 9) * np.cos(phases), atol=1e-12)


class TestPaired(FeatureMapContract):
    def make(self) -> FeatureMap:
        return map_of(RKS, feature_map="paired")

    def test_the_cosines_come_before_the_sines(self, fitted: Any) -> None:
        phases = NEW_ROWS @ fitted.frequencies
        expected = np.hstack([np.cos(phases), np.sin(phases)]) / 3
        assert_allclose(fitted.transform(NEW_ROWS), expected, atol=1e-12)


class TestWeighted(FeatureMapContract):
    def make(self) -> FeatureMap:
        return map_of(RKS, feature_map="paired").weighted_by(np.linspace(0.5, 2.0, 9))


class TestArcCosine(FeatureMapContract):
    def make(self) -> FeatureMap:
        return map_of(RKS, kernel="arc-cosine-1")


class TestCoordinates(FeatureMapContract):
    def make(self) -> FeatureMap:
        return map_of(RKS, kernel="linear")


class TestStructured(FeatureMapContract):
    def make(self) -> FeatureMap:
        return map_of(SORF)


class TestStructuredPairs(FeatureMapContract):
    def make(self) -> FeatureMap:
        return map_of(SORF, feature_map="paired")


class TestCirculant(FeatureMapContract):
    def make(self) -> FeatureMap:
        return map_of(Circulant)


class TestQuadrature(FeatureMapContract):
    def make(self) -> FeatureMap:
        return map_of(SSR, feature_map="paired")

    def test_the_constant_of_some_is_their_own(self, fitted: Any) -> None:
        for numbers in (np.array([4, 1]), np.arange(9)):
            taken = fitted.take(numbers)
            constant = 1 - np.mean(fitted.weights[numbers] ** 2)
            assert_allclose(taken.kernel_constant, constant, atol=EXACT)
            assert_allclose(taken.astype(np.float32).kernel_constant, constant, atol=1e-6)


class TestProjected(FittedMapContract):
    def make(self) -> FittedMap:
        return map_of(TEFMG)


class TestHadamard(FittedMapContract):
    def make(self) -> FittedMap:
        return map_of(CompactFeatures, projection="srht")


class TestNystroem(FittedMapContract):
    def make(self) -> FittedMap:
        return map_of(Nystroem)
