"""What every sampler promises, beside what every map does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rfbench.checking.bias import BANDWIDTH, MapClaim
from rfbench.checking.maps import NEW_ROWS as NEW_ROWS
from rfbench.checking.maps import OF_EVERY_MAP, MapSubject
from rfbench.checking.maps import ROWS as ROWS
from rfbench.checking.maps import TARGET as TARGET
from rfbench.checking.promises import (
    NotApplicable,
    checks_of,
    expect,
    expect_finite,
    expect_refusal,
    expect_same,
)
from rfbench.errors import MethodError
from rfbench.kernels import make
from rfbench.registry import KERNELS
from rfbench.samplers import RandomFeatures

MAPS = ("offset", "paired")


@dataclass(frozen=True)
class SamplerSubject(MapSubject):
    """A sampler, how it is built, and in what it differs from others.

    Attributes
    ----------
    thing : the class
    options : its parameters beside n_components and random_state, small enough for 60 rows
    kernels_served : names of the kernels that it must serve; all others it must refuse
    float32_tolerance : absolute
    sizes : some n_components that it can serve on rows of 5 columns
    refuses : words of its MethodError for rows that the checks of scikit-learn have, if for any
    columns_per_component : of the features, in either map; None: 2 in the paired map, 1 otherwise
    small_components : n_components that it can serve on 10 rows
    random_frequencies : whether another seed draws others, and not other offsets alone
    kernel_sizes : two n_components, at which its estimates of a kernel are measured
    unbiased : whether these options leave its estimates without bias, if the class says so
    """

    kernels_served: Sequence[str] = tuple(KERNELS)
    float32_tolerance: float = 1e-4
    sizes: Sequence[int] = (1, 2, 5, 7, 16)
    refuses: str = ""
    columns_per_component: int | None = None
    small_components: int = 3
    random_frequencies: bool = True
    kernel_sizes: tuple[int, int] = (16, 256)
    unbiased: bool = True
    must_take_sparse = True

    def make(self, M: int = 8, seed: Any = 0, **options: Any) -> RandomFeatures:
        """Build the sampler."""
        kwargs = {"bandwidth": 2.0, **self.options, **options}
        made: RandomFeatures = self.thing(n_components=M, random_state=seed, **kwargs)
        return made

    def fit(self, sampler: RandomFeatures, X: Any = ROWS, y: Any = TARGET) -> RandomFeatures:
        """Fit it, with the target where it needs one."""
        return sampler.fit(X, y) if self.thing.needs_target else sampler.fit(X)

    def fitted(self, X: Any = ROWS, M: int = 8, seed: Any = 0, **options: Any) -> RandomFeatures:
        """Build it and fit it."""
        return self.fit(self.make(M, seed, **options), X)

    def features(self, X: Any = ROWS, new: Any = NEW_ROWS, **kwargs: Any) -> Any:
        """Return the features of new rows after a fit."""
        return self.fitted(X, **kwargs).transform(new)

    def claims(self, kernel: str | None = None, bandwidth: float = BANDWIDTH) -> list[MapClaim]:
        """Return the kernels that it claims, or one of them, in each of its maps.

        Raises
        ------
        NotApplicable
            It says that it claims none.
        """
        if not self.thing.approximates_kernel:
            raise NotApplicable("it says that it estimates no kernel (approximates_kernel)")
        if not (self.thing.unbiased and self.unbiased):
            raise NotApplicable("it says that its estimates have a bias (unbiased)")
        served = [kernel] if kernel else self.kernels_served
        return [
            self.claim(name, feature_map, bandwidth)
            for name in served
            for feature_map in self.maps(name)
        ]

    @staticmethod
    def maps(kernel: str) -> Sequence[str]:
        """Return the maps that differ with a kernel."""
        return MAPS if KERNELS[kernel].feature == "wave" else MAPS[:1]

    def claim(self, kernel: str, feature_map: str, bandwidth: float = BANDWIDTH) -> MapClaim:
        """Return one of its kernels, with the map to be measured."""
        words: Mapping[str, Any] = {"bandwidth": bandwidth, "kernel": kernel}

        def draw(X: Any, M: int, seed: int) -> Any:
            sampler = self.make(M, seed, feature_map=feature_map, **words)
            y = np.arange(len(X)) % 2 if self.thing.needs_target else None
            Z = sampler.fit(X, y).transform(X)
            return Z, getattr(sampler.feature_map_, "kernel_constant", 0.0)

        name = feature_map if KERNELS[kernel].feature == "wave" else ""
        return MapClaim(name, draw, make(kernel, bandwidth), self.kernel_sizes)


def has_exactly_the_columns_asked_for(subject: SamplerSubject) -> None:
    """M frequencies give M columns, twice as many in the paired map.

    To do: return as many frequencies from `_draw` as `n_components` says, or set
    `columns_per_component`.
    """
    for size in subject.sizes:
        for feature_map in MAPS:
            sampler = subject.fitted(M=size, feature_map=feature_map)
            shape = sampler.transform(NEW_ROWS).shape
            per_component = subject.columns_per_component or (2 if feature_map == "paired" else 1)
            expected = (len(NEW_ROWS), size * per_component)
            expect(shape == expected, f"M = {size} gives the shape {shape} in place of {expected}")
            columns = sampler.feature_map_.n_columns
            expect(columns == expected[1], f"with M = {size} feature_map_.n_columns is {columns}")
            names = len(sampler.get_feature_names_out())
            expect(names == expected[1], f"with M = {size} there are {names} names of features")


def seeds_of_any_kind_decide_the_features(subject: SamplerSubject) -> None:
    """A SeedSequence or a generator as random_state is a seed too, and another gives others.

    To do: draw from the generators that `_draw` is given.
    """
    for feature_map in MAPS:
        for kind in (np.random.SeedSequence, np.random.default_rng, np.random.RandomState):
            one, other = (subject.features(seed=kind(3), feature_map=feature_map) for _ in range(2))
            expect_same(one, other, f"the features of two fits with {kind.__name__}(3)")
        first, second = (subject.features(seed=s, feature_map=feature_map) for s in (0, 1))
        if feature_map == "paired" and not subject.random_frequencies:
            expect_same(first, second, "the features of seeds 0 and 1, which draw offsets alone")
        else:
            differ = np.mean(np.abs(first - second)) > 1e-3
            expect(differ, "the features of seeds 0 and 1 are the same")


def float32_stays_float32(subject: SamplerSubject) -> None:
    """Rows in float32 give features in float32, and sparse rows dense features.

    To do: let `fit` convert the map.
    """
    features = subject.features(ROWS, NEW_ROWS.astype(np.float32))
    expect(features.dtype == np.float32, f"rows in float32 give features in {features.dtype}")


def finite_on_constant_columns(subject: SamplerSubject) -> None:
    """Columns without any spread give finite features.

    To do: look for divisions by a standard deviation or a distance of 0.
    """
    for constant in (slice(1, 2), slice(None)):
        rows = ROWS.copy()
        rows[:, constant] = 3.0
        expect_finite(subject.features(rows, rows))


def serves_a_kernel_or_refuses_it_without_data(subject: SamplerSubject) -> None:
    """Each kernel is served, or refused before any data are seen.

    To do: name what `_draw` can make in `features_served`, or override `serves`.
    """
    for kernel in KERNELS:
        for feature_map in MAPS:
            words = {"kernel": kernel, "feature_map": feature_map}
            sampler = subject.make(max(4, subject.sizes[0]), **words)
            if kernel in subject.kernels_served:
                sampler.check_parameters()
                features = subject.fit(sampler).transform(NEW_ROWS)
                columns = sampler.feature_map_.n_columns
                wide = features.shape[1]
                expect(wide == columns, f"{kernel}: {wide} columns, not {columns}")
                expect_finite(features)
            else:
                with expect_refusal(MethodError, f"{kernel} is not supported", f"'{kernel}'"):
                    sampler.check_parameters()


def target_is_asked_for_where_it_is_needed(subject: SamplerSubject) -> None:
    """A target is asked for with `needs_target` and changes the features, and has no
    influence without it.

    To do: set `needs_target = True` if `_draw` uses its targets, and only then.
    """
    if not subject.thing.needs_target:
        features = subject.make().fit(ROWS, TARGET).transform(NEW_ROWS)
        expect_same(features, subject.features(), "the features with a target and without one")
        return
    shuffled = np.random.default_rng(9).permutation(TARGET)
    features = subject.make().fit(ROWS, shuffled).transform(NEW_ROWS)
    expect_finite(features)
    expect(
        not np.array_equal(features, subject.features()),
        "the features are the same with shuffled labels: the target is not used",
    )
    unusable = {
        "requires y": (),
        "59 values for 60 rows": (TARGET[:-1],),
        "NaN": (np.where(ROWS[:, 0] > 0, np.nan, TARGET),),
    }
    for words, target in unusable.items():
        with expect_refusal(MethodError, "a target that cannot be used", words):
            subject.make().fit(ROWS, *target)


CONTRACT = [*OF_EVERY_MAP, *checks_of(SamplerSubject)]
