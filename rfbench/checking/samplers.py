"""What every sampler promises."""

from __future__ import annotations

import inspect
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline

from rfbench.checking.promises import (
    Contract,
    NotApplicable,
    expect,
    expect_finite,
    expect_refusal,
    expect_same,
    failed_of_scikit_learn,
)
from rfbench.errors import MethodError
from rfbench.registry import KERNELS
from rfbench.rows import RowSource
from rfbench.samplers import RandomFeatures

ROWS = np.random.default_rng(7).standard_normal((60, 5))
TARGET = np.where(np.linalg.norm(ROWS, axis=1) > 2.0, 1.0, -1.0)
NEW_ROWS = np.random.default_rng(8).standard_normal((20, 5))
FEWEST_CHECKS = 45
MAPS = ("offset", "paired")
# Of the tests of kernel estimates: one entry in 150,000 lies above this limit by chance.
LIMIT = 4.5
SEEDS, FEW_SEEDS = 400, 20
NEAR_ROWS = 0.4 * NEW_ROWS[:5]  # positive features have a large variance further out
# Two bandwidths (of `make`) apart, along all columns alike: there an error that all columns share
# adds up, such as lengths of frequencies on the wrong axis. Near rows do not show it.
FAR_ROWS = np.array([[1.0], [-1.0]]) * np.full(5, 2.0 / np.sqrt(5))


@dataclass(frozen=True)
class SamplerSubject:
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
    kernel_sizes : two n_components, at which its estimates of a kernel are compared
    unbiased : whether these options leave its estimates without bias, if the class says so
    """

    thing: type[RandomFeatures]
    options: Mapping[str, Any] = field(default_factory=dict)
    kernels_served: Sequence[str] = tuple(KERNELS)
    float32_tolerance: float = 1e-4
    sizes: Sequence[int] = (1, 2, 5, 7, 16)
    refuses: str = ""
    columns_per_component: int | None = None
    small_components: int = 3
    random_frequencies: bool = True
    kernel_sizes: tuple[int, int] = (16, 256)
    unbiased: bool = True

    def make(self, n_components: int = 8, random_state: Any = 0, **options: Any) -> RandomFeatures:
        """Build the sampler."""
        kwargs = {"bandwidth": 2.0, **self.options, **options}
        return self.thing(n_components=n_components, random_state=random_state, **kwargs)

    def small(self) -> RandomFeatures:
        """Build one that 10 to 80 rows, as the checks of scikit-learn have them, can serve."""
        usual = {"pool_size": 12, "bandwidth": "median"}
        kwargs = {"n_components": self.small_components, **usual, **self.options}
        signature = inspect.signature(self.thing).parameters
        return self.thing(**{name: value for name, value in kwargs.items() if name in signature})

    def expected_columns(self, n_components: int, feature_map: str) -> int:
        """Return how many columns so many frequencies have."""
        return n_components * (self.columns_per_component or (2 if feature_map == "paired" else 1))

    def fit(self, sampler: RandomFeatures, X: Any = ROWS, y: Any = TARGET) -> RandomFeatures:
        """Fit it, with the target where it needs one."""
        return sampler.fit(X, y) if self.thing.needs_target else sampler.fit(X)

    def features(self, X: Any = ROWS, new: Any = NEW_ROWS, **kwargs: Any) -> Any:
        """Return the features of new rows after a fit."""
        return self.fit(self.make(**kwargs), X).transform(new)

    def kernel_estimates(
        self, kernel: str, M: int, seeds: int, feature_map: str, rows: Any = NEAR_ROWS
    ) -> Any:
        """Return z(x)'z(y) of k rows for each seed, shape (seeds, k, k), and the kernel.

        Raises
        ------
        NotApplicable
            It refuses these parameters.
        """
        estimates = []
        for seed in range(seeds):
            sampler = self.make(M, seed, kernel=kernel, feature_map=feature_map)
            try:
                Z = self.fit(sampler).transform(rows)
            except MethodError as error:
                raise NotApplicable(str(error)) from None
            constant = getattr(sampler.feature_map_, "kernel_constant", 0.0)
            estimates.append(Z @ Z.T + constant)
        return np.array(estimates), sampler.kernel_(rows, rows)

    def maps_to_estimate(self, kernel: str) -> Sequence[str]:
        """Return the maps of a kernel whose estimates are tested.

        Raises
        ------
        NotApplicable
            There are none.
        """
        if not self.thing.approximates_kernel:
            raise NotApplicable("it says that it estimates no kernel (approximates_kernel)")
        if not (self.thing.unbiased and self.unbiased):
            raise NotApplicable("it says that its estimates have a bias (unbiased)")
        if kernel not in self.kernels_served:
            raise NotApplicable("it does not serve this kernel")
        return MAPS if KERNELS[kernel].feature == "wave" else MAPS[:1]


def one_plain_fit(subject: SamplerSubject) -> None:
    """It can be built and fitted on 60 rows, and its features are finite.

    To do: correct this first; the other promises are tested once it works.
    """
    expect_finite(subject.features())


def passes_the_checks_of_scikit_learn(subject: SamplerSubject) -> None:
    """It passes scikit-learn's `check_estimator`: clone, pickle, shapes, wrong rows.

    To do: let `fit` and `transform` of RandomFeatures run, and decorate a class that has
    parameters of its own with `@estimator`.
    """
    failed = failed_of_scikit_learn(subject.small(), FEWEST_CHECKS, {})
    for name, why in failed.items():
        expect(subject.refuses and subject.refuses in why, f"{name}: {why}")


def works_in_a_pipeline_with_frames_and_a_grid(subject: SamplerSubject) -> None:
    """In a Pipeline it takes and gives DataFrames, and GridSearchCV finds its parameters.

    To do: name columns by `get_feature_names_out`, and keep the constructor's parameters.
    """
    frame = pd.DataFrame(ROWS, columns=list("abcde"), index=range(100, 160))
    steps = [("features", subject.small().set_output(transform="pandas")), ("ridge", Ridge())]
    grid = {"features__n_components": [max(3, subject.sizes[0])]}
    search = GridSearchCV(Pipeline(steps), grid, cv=3, error_score="raise").fit(frame, TARGET)
    fitted = search.best_estimator_[0]
    features = fitted.transform(frame)
    expect_same(features.columns, fitted.get_feature_names_out(), "the names of the columns")
    expect_same(features.index, frame.index, "the index of the features")
    expect_finite(search.predict(frame)[:, None])


def has_exactly_the_columns_asked_for(subject: SamplerSubject, feature_map: str) -> None:
    """M frequencies give M columns, twice as many in the paired map.

    To do: Return as many frequencies from `_draw` as `n_components` says, or set
    `columns_per_component`.
    """
    for size in subject.sizes:
        sampler = subject.fit(subject.make(size, feature_map=feature_map))
        shape = sampler.transform(NEW_ROWS).shape
        expected = (len(NEW_ROWS), subject.expected_columns(size, feature_map))
        expect(shape == expected, f"M = {size} gives the shape {shape} in place of {expected}")
        columns = sampler.feature_map_.n_columns
        expect(columns == expected[1], f"with M = {size} feature_map_.n_columns is {columns}")
        names = len(sampler.get_feature_names_out())
        expect(names == expected[1], f"with M = {size} there are {names} names of features")


def same_seed_of_any_kind_same_features(subject: SamplerSubject, feature_map: str) -> None:
    """The same random_state gives the same features, be it a number, a SeedSequence
    or a generator.

    To do: Draw from the generators that `_draw` is given, never from numpy's global
    one.
    """
    for kind in (int, np.random.SeedSequence, np.random.default_rng, np.random.RandomState):
        first, second = (
            subject.features(random_state=kind(3), feature_map=feature_map) for _ in range(2)
        )
        expect_same(first, second, f"the features of two fits with {kind.__name__}(3)")


def different_seeds_different_features(subject: SamplerSubject, feature_map: str) -> None:
    """Another random_state gives other features.

    To do: Draw from the generators that `_draw` is given.
    """
    first, second = (
        subject.features(feature_map=feature_map, random_state=seed) for seed in (0, 1)
    )
    if feature_map == "paired" and not subject.random_frequencies:
        expect_same(first, second, "the features of seeds 0 and 1, which draw offsets alone")
    else:
        differ = np.mean(np.abs(first - second)) > 1e-3
        expect(differ, "the features of seeds 0 and 1 are the same")


def rows_on_disk_give_the_same_features(subject: SamplerSubject, feature_map: str) -> None:
    """Rows that are read block by block give the features of rows in memory.

    To do: read rows as `X[picked]` alone, or say by `holds_rows` that all are needed.
    """
    sampler = subject.make(feature_map=feature_map)
    if sampler.holds_rows:
        raise NotApplicable("it needs all rows in memory")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "rows.npy")
        np.save(file, ROWS)
        rows = RowSource(file, ROWS.shape[1], np.arange(len(ROWS)))
        features = subject.fit(sampler, rows).transform(NEW_ROWS)
    expect_same(features, subject.features(feature_map=feature_map), "the features")


def float32_in_float32_out(subject: SamplerSubject, feature_map: str) -> None:
    """Rows in float32 give features in float32, nearly those of float64.

    To do: Draw and decide in float64; `fit` converts the map.
    """
    exact = subject.features(feature_map=feature_map)
    narrow, new = ROWS.astype(np.float32), NEW_ROWS.astype(np.float32)
    for rows, what in ((ROWS, "new rows in float32"), (narrow, "all rows in float32")):
        features = subject.features(rows, new, feature_map=feature_map)
        expect(features.dtype == np.float32, f"{what} give features in {features.dtype}")
        expect_same(features, exact, f"the features of {what}", subject.float32_tolerance)


def finite_on_constant_columns(subject: SamplerSubject, feature_map: str) -> None:
    """Columns without any spread give finite features.

    To do: Look for divisions by a standard deviation or a distance of 0.
    """
    for constant in (slice(1, 2), slice(None)):
        rows = ROWS.copy()
        rows[:, constant] = 3.0
        expect_finite(subject.features(rows, rows, feature_map=feature_map))


def fits_a_single_row(subject: SamplerSubject, feature_map: str) -> None:
    """A fit on one row works and is finite.

    To do: Draw no more rows than there are, or raise MethodError that says how many are
    needed.
    """
    sampler = subject.fit(subject.make(feature_map=feature_map), ROWS[:1], TARGET[:1])
    features = sampler.transform(NEW_ROWS)
    expected = (len(NEW_ROWS), subject.expected_columns(8, feature_map))
    expect(features.shape == expected, f"the shape is {features.shape} in place of {expected}")
    expect_finite(features)


def sparse_rows_give_the_features_of_dense_ones(subject: SamplerSubject, feature_map: str) -> None:
    """CSR rows give the dense features of the same rows.

    To do: Use `rfbench.compute` or `X @ W`, which take both; do not index X with a
    dense mask.
    """
    rows, new = (np.where(np.abs(part) > 0.8, part, 0.0) for part in (ROWS, NEW_ROWS))
    dense = subject.features(rows, new, feature_map=feature_map)
    for of in (sparse.csr_array, sparse.csr_matrix):
        features = subject.features(of(rows), of(new), feature_map=feature_map)
        expect(not sparse.issparse(features), f"the features of {of.__name__} are sparse")
        expect_same(features, dense, f"the features of {of.__name__}", 1e-9)


def serves_a_kernel_or_refuses_it_without_data(subject: SamplerSubject, kernel: str) -> None:
    """Each kernel is served, or refused before any data are seen.

    To do: Name what `_draw` can make in `features_served`, or override `serves`.
    """
    for feature_map in MAPS:
        sampler = subject.make(max(4, subject.sizes[0]), kernel=kernel, feature_map=feature_map)
        if kernel in subject.kernels_served:
            sampler.check_parameters()
            features = subject.fit(sampler).transform(NEW_ROWS)
            columns = sampler.feature_map_.n_columns
            expect(features.shape[1] == columns, f"{features.shape[1]} columns, not {columns}")
            expect_finite(features)
        else:
            with expect_refusal(MethodError, "it is not served", f"'{kernel}'"):
                sampler.check_parameters()


def the_mean_over_seeds_is_the_kernel(subject: SamplerSubject, kernel: str) -> None:
    """The products of the features average to the kernel that it says it serves.

    To do: Divide frequencies by the bandwidth (`self.kernel_`), and features by the root of M.
    Set `unbiased = False` where the method has a bias, `approximates_kernel = False` where its
    features estimate no kernel, and name in `serves` the kernels that it is made for.
    """
    M = subject.kernel_sizes[0]
    rows = np.vstack([NEAR_ROWS, FAR_ROWS])
    for feature_map in subject.maps_to_estimate(kernel):
        estimates, exact = subject.kernel_estimates(kernel, M, SEEDS, feature_map, rows)
        mean, spread = estimates.mean(axis=0), estimates.std(axis=0, ddof=1)
        # The diagonal of the paired map does not vary: it has to be exact.
        error = np.maximum(spread / np.sqrt(SEEDS), 1e-9 * np.abs(exact).max())
        z = (mean - exact) / error
        worst = np.unravel_index(np.abs(z).argmax(), z.shape)
        expect(
            abs(z[worst]) < LIMIT,
            f"with M = {M} and the map {feature_map} the mean over {SEEDS} seeds is "
            f"{mean[worst]:.4g} ± {error[worst]:.2g} (standard error) "
            f"where the kernel is {exact[worst]:.4g}",
        )


def the_error_of_the_kernel_falls_with_M(subject: SamplerSubject, kernel: str) -> None:
    """The error of the kernel falls with M, at least half as fast as 1 / sqrt(M).

    To do: Draw the frequencies independently, or so that they fill all directions: on one line
    more of them add nothing.
    """
    errors = []
    feature_map = subject.maps_to_estimate(kernel)[0]
    for M in subject.kernel_sizes:
        estimates, exact = subject.kernel_estimates(kernel, M, FEW_SEEDS, feature_map)
        errors.append(np.sqrt(np.mean((estimates - exact) ** 2)))
    (small, large), bound = subject.kernel_sizes, 2 * np.sqrt(np.divide(*subject.kernel_sizes))
    expect(
        errors[1] <= max(bound * errors[0], 1e-9),
        f"the root mean square error over {FEW_SEEDS} seeds is "
        f"{errors[0]:.3g} with M = {small} and {errors[1]:.3g} with M = {large}",
    )


def wrong_parameters_are_refused_by_fit_too(subject: SamplerSubject) -> None:
    """Parameters out of range are refused by name.

    To do: Let `fit` of RandomFeatures run: override `_draw` alone.
    """
    for wrong in ({"n_components": 0}, {"bandwidth": np.nan}, {"feature_map": "pared"}):
        ((name, value),) = wrong.items()
        with expect_refusal(MethodError, f"{name} = {value!r} is fitted", f"^{name} is"):
            subject.fit(subject.make(**wrong))


def target_is_asked_for_where_it_is_needed(subject: SamplerSubject) -> None:
    """A target is asked for with `needs_target` and changes the features, and has no
    influence without it.

    To do: Set `needs_target = True` if `_draw` uses its targets, and only then.
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


CONTRACT = Contract.of(SamplerSubject, feature_map=MAPS, kernel=tuple(KERNELS))
