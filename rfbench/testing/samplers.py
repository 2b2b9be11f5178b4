"""What every sampler promises, as one class of tests that the tests of each sampler inherit."""

import inspect
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.utils.estimator_checks import check_estimator

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


def assert_finite(features: Any) -> None:
    """Say which columns are NaN or infinite."""
    bad = np.flatnonzero(~np.isfinite(features).all(axis=0))
    columns = ", ".join(map(str, bad[:5])) + (", ..." if len(bad) > 5 else "")
    verb = "has" if len(bad) == 1 else "have"
    assert not len(bad), (
        f"{len(bad)} of {features.shape[1]} columns {verb} NaN or infinity: {columns}"
    )


class SamplerContract:
    """Inherit, set `sampler` and what differs, and the tests below run.

    Attributes
    ----------
    sampler : the class under test
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

    sampler: ClassVar[type[RandomFeatures]]
    options: ClassVar[dict[str, Any]] = {}
    kernels_served: ClassVar[tuple[str, ...]] = tuple(KERNELS)
    float32_tolerance: ClassVar[float] = 1e-4
    sizes: ClassVar[tuple[int, ...]] = (1, 2, 5, 7, 16)
    refuses: ClassVar[str] = ""
    columns_per_component: ClassVar[int | None] = None
    small_components: ClassVar[int] = 3
    random_frequencies: ClassVar[bool] = True
    kernel_sizes: ClassVar[tuple[int, int]] = (16, 256)
    unbiased: ClassVar[bool] = True

    def make(self, n_components: int = 8, random_state: Any = 0, **options: Any) -> RandomFeatures:
        """Build the sampler."""
        kwargs = {"bandwidth": 2.0, **self.options, **options}
        return self.sampler(n_components=n_components, random_state=random_state, **kwargs)

    def expected_columns(self, n_components: int, feature_map: str) -> int:
        """Return how many columns so many frequencies have."""
        return n_components * (self.columns_per_component or (2 if feature_map == "paired" else 1))

    def fit(self, sampler: RandomFeatures, X: Any = ROWS, y: Any = TARGET) -> RandomFeatures:
        """Fit it, with the target where it needs one."""
        return sampler.fit(X, y) if self.sampler.needs_target else sampler.fit(X)

    def features(self, X: Any = ROWS, new: Any = NEW_ROWS, **kwargs: Any) -> Any:
        """Return the features of new rows after a fit."""
        return self.fit(self.make(**kwargs), X).transform(new)

    def small(self) -> RandomFeatures:
        """Build one that the checks' 10 to 80 rows can serve."""
        usual = {"pool_size": 12, "bandwidth": "median"}
        kwargs = {"n_components": self.small_components, **usual, **self.options}
        signature = inspect.signature(self.sampler).parameters
        return self.sampler(**{name: value for name, value in kwargs.items() if name in signature})

    def test_passes_the_checks_of_scikit_learn(self) -> None:
        """It passes scikit-learn's `check_estimator`: clone, pickle, shapes, wrong rows.

        To do: let `fit` and `transform` of RandomFeatures run, and decorate a class that has
        parameters of its own with `@estimator`.
        """
        results = check_estimator(self.small(), on_skip=None, on_fail=None)
        failed = {c["check_name"]: str(c["exception"]) for c in results if c["status"] == "failed"}
        refused = [name for name, why in failed.items() if self.refuses and self.refuses in why]
        assert {name: why for name, why in failed.items() if name not in refused} == {}
        assert len(results) >= FEWEST_CHECKS

    def test_works_in_a_pipeline_with_frames_and_a_grid(self) -> None:
        """In a Pipeline it takes and gives DataFrames, and GridSearchCV finds its parameters.

        To do: name columns by `get_feature_names_out`, and keep the constructor's parameters.
        """
        frame = pd.DataFrame(ROWS, columns=list("abcde"), index=range(100, 160))
        steps = [("features", self.small().set_output(transform="pandas")), ("ridge", Ridge())]
        search = GridSearchCV(
            Pipeline(steps), {"features__n_components": [max(3, self.sizes[0])]}, cv=3
        )
        fitted = search.fit(frame, TARGET).best_estimator_[0]
        features = fitted.transform(frame)
        assert list(features.columns) == list(fitted.get_feature_names_out())
        assert list(features.index) == list(frame.index)
        assert np.isfinite(search.predict(frame)).all()

    @pytest.fixture(params=MAPS)
    def feature_map(self, request: Any) -> str:
        """Run a check with both maps."""
        return str(request.param)

    def test_has_exactly_the_columns_asked_for(self, feature_map: str) -> None:
        """M frequencies give M columns, twice as many in the paired map.

        To do: Return as many frequencies from `_draw` as `n_components` says, or set
        `columns_per_component`.
        """
        for size in self.sizes:
            sampler = self.fit(self.make(size, feature_map=feature_map))
            columns = self.expected_columns(size, feature_map)
            assert sampler.transform(NEW_ROWS).shape == (len(NEW_ROWS), columns)
            assert sampler.feature_map_.n_columns == columns
            assert len(sampler.get_feature_names_out()) == columns

    def test_same_seed_of_any_kind_same_features(self, feature_map: str) -> None:
        """The same random_state gives the same features, be it a number, a SeedSequence
        or a generator.

        To do: Draw from the generators that `_draw` is given, never from numpy's global
        one.
        """
        for kind in (int, np.random.SeedSequence, np.random.default_rng, np.random.RandomState):
            kwargs = {"feature_map": feature_map}
            first, second = (self.features(random_state=kind(3), **kwargs) for _ in range(2))
            assert_array_equal(first, second)

    def test_different_seeds_different_features(self, feature_map: str) -> None:
        """Another random_state gives other features.

        To do: Draw from the generators that `_draw` is given.
        """
        first, second = (
            self.features(feature_map=feature_map, random_state=seed) for seed in (0, 1)
        )
        if feature_map == "paired" and not self.random_frequencies:
            assert_array_equal(first, second)
        else:
            assert np.mean(np.abs(first - second)) > 1e-3

    def test_rows_on_disk_give_the_same_features(self, feature_map: str, tmp_path: Path) -> None:
        """Rows that are read block by block give the features of rows in memory.

        To do: read rows as `X[picked]` alone, or say by `holds_rows` that all are needed.
        """
        sampler = self.make(feature_map=feature_map)
        if sampler.holds_rows:
            pytest.skip("it needs all rows in memory")
        np.save(tmp_path / "rows.npy", ROWS)
        rows = RowSource(tmp_path / "rows.npy", ROWS.shape[1], np.arange(len(ROWS)))
        features = self.fit(sampler, rows).transform(NEW_ROWS)
        assert_array_equal(features, self.features(feature_map=feature_map))

    def test_float32_in_float32_out(self, feature_map: str) -> None:
        """Rows in float32 give features in float32, nearly those of float64.

        To do: Draw and decide in float64; `fit` converts the map.
        """
        exact = self.features(feature_map=feature_map)
        rows, new = ROWS.astype(np.float32), NEW_ROWS.astype(np.float32)
        across = self.features(new=new, feature_map=feature_map)
        assert across.dtype == np.float32
        assert_allclose(across, exact, atol=self.float32_tolerance)
        throughout = self.features(rows, new, feature_map=feature_map)
        assert throughout.dtype == np.float32
        assert_allclose(throughout, exact, atol=self.float32_tolerance)

    def test_finite_on_constant_columns(self, feature_map: str) -> None:
        """Columns without any spread give finite features.

        To do: Look for divisions by a standard deviation or a distance of 0.
        """
        for constant in (slice(1, 2), slice(None)):
            rows = ROWS.copy()
            rows[:, constant] = 3.0
            assert_finite(self.features(rows, rows, feature_map=feature_map))

    def test_fits_a_single_row(self, feature_map: str) -> None:
        """A fit on one row works and is finite.

        To do: Draw no more rows than there are, or raise MethodError that says how many are
        needed.
        """
        sampler = self.fit(self.make(feature_map=feature_map), ROWS[:1], TARGET[:1])
        features = sampler.transform(NEW_ROWS)
        assert features.shape == (len(NEW_ROWS), self.expected_columns(8, feature_map))
        assert_finite(features)

    def test_sparse_rows_give_the_features_of_dense_ones(self, feature_map: str) -> None:
        """CSR rows give the dense features of the same rows.

        To do: Use `rfbench.compute` or `X @ W`, which take both; do not index X with a
        dense mask.
        """
        rows, new = (np.where(np.abs(part) > 0.8, part, 0.0) for part in (ROWS, NEW_ROWS))
        dense = self.features(rows, new, feature_map=feature_map)
        for of in (sparse.csr_array, sparse.csr_matrix):
            features = self.features(of(rows), of(new), feature_map=feature_map)
            assert not sparse.issparse(features)
            assert_allclose(features, dense, atol=1e-9)

    @pytest.mark.parametrize("kernel", list(KERNELS))
    def test_serves_a_kernel_or_refuses_it_without_data(self, kernel: str) -> None:
        """Each kernel is served, or refused before any data are seen.

        To do: Name what `_draw` can make in `features_served`, or override `serves`.
        """
        for feature_map in MAPS:
            sampler = self.make(max(4, self.sizes[0]), kernel=kernel, feature_map=feature_map)
            if kernel in self.kernels_served:
                sampler.check_parameters()
                features = self.fit(sampler).transform(NEW_ROWS)
                assert features.shape[1] == sampler.feature_map_.n_columns
                assert_finite(features)
            else:
                with pytest.raises(MethodError, match=f"'{kernel}'"):
                    sampler.check_parameters()

    def kernel_estimates(
        self, kernel: str, M: int, seeds: int, feature_map: str, rows: Any = NEAR_ROWS
    ) -> Any:
        """Return z(x)'z(y) of k rows for each seed, shape (seeds, k, k), and the kernel."""
        estimates = []
        for seed in range(seeds):
            sampler = self.make(M, seed, kernel=kernel, feature_map=feature_map)
            try:
                Z = self.fit(sampler).transform(rows)
            except MethodError as error:
                pytest.skip(str(error))
            constant = getattr(sampler.feature_map_, "kernel_constant", 0.0)
            estimates.append(Z @ Z.T + constant)
        return np.array(estimates), sampler.kernel_(rows, rows)

    def maps_to_estimate(self, kernel: str) -> tuple[str, ...]:
        """Return the maps of a kernel whose estimates are tested; skip where none are."""
        if kernel not in self.kernels_served:
            pytest.skip("it does not serve this kernel")
        if not (self.sampler.approximates_kernel and self.sampler.unbiased and self.unbiased):
            pytest.skip("no unbiased estimate of a kernel is claimed")
        return MAPS if KERNELS[kernel].feature == "wave" else MAPS[:1]

    @pytest.mark.parametrize("kernel", list(KERNELS))
    def test_the_mean_over_seeds_is_the_kernel(self, kernel: str) -> None:
        """The products of the features average to the kernel that it says it serves.

        To do: Divide frequencies by the bandwidth (`self.kernel_`), and features by the root of M.
        Set `unbiased = False` where the method has a bias, `approximates_kernel = False` where its
        features estimate no kernel, and name in `serves` the kernels that it is made for.
        """
        M = self.kernel_sizes[0]
        for feature_map in self.maps_to_estimate(kernel):
            near = np.vstack([NEAR_ROWS, FAR_ROWS])
            estimates, exact = self.kernel_estimates(kernel, M, SEEDS, feature_map, near)
            mean, spread = estimates.mean(axis=0), estimates.std(axis=0, ddof=1)
            # The diagonal of the paired map does not vary: it has to be exact.
            error = np.maximum(spread / np.sqrt(SEEDS), 1e-9 * np.abs(exact).max())
            z = (mean - exact) / error
            worst = np.unravel_index(np.abs(z).argmax(), z.shape)
            assert abs(z[worst]) < LIMIT, (
                f"with the kernel {kernel}, M = {M} and the map {feature_map} the mean over "
                f"{SEEDS} seeds is {mean[worst]:.4g} ± {error[worst]:.2g} (standard error) "
                f"where the kernel is {exact[worst]:.4g}"
            )

    @pytest.mark.parametrize("kernel", list(KERNELS))
    def test_the_error_of_the_kernel_falls_with_M(self, kernel: str) -> None:
        """The error of the kernel falls with M, at least half as fast as 1 / sqrt(M).

        To do: Draw the frequencies independently, or so that they fill all directions: on one line
        more of them add nothing.
        """
        errors = []
        feature_map = self.maps_to_estimate(kernel)[0]
        for M in self.kernel_sizes:
            estimates, exact = self.kernel_estimates(kernel, M, FEW_SEEDS, feature_map)
            errors.append(np.sqrt(np.mean((estimates - exact) ** 2)))
        (small, large), bound = self.kernel_sizes, 2 * np.sqrt(np.divide(*self.kernel_sizes))
        assert errors[1] <= max(bound * errors[0], 1e-9), (
            f"with the kernel {kernel} the root mean square error over {FEW_SEEDS} seeds is "
            f"{errors[0]:.3g} with M = {small} and {errors[1]:.3g} with M = {large}"
        )

    def test_wrong_parameters_are_refused_by_fit_too(self) -> None:
        """Parameters out of range are refused by name.

        To do: Let `fit` of RandomFeatures run: override `_draw` alone.
        """
        for wrong in ({"n_components": 0}, {"bandwidth": np.nan}, {"feature_map": "pared"}):
            with pytest.raises(MethodError, match=f"^{next(iter(wrong))} is"):
                self.fit(self.make(**wrong))

    def test_target_is_asked_for_where_it_is_needed(self) -> None:
        """A target is asked for with `needs_target` and changes the features, and has no
        influence without it.

        To do: Set `needs_target = True` if `_draw` uses its targets, and only then.
        """
        if not self.sampler.needs_target:
            assert_array_equal(self.make().fit(ROWS, TARGET).transform(NEW_ROWS), self.features())
            return
        shuffled = np.random.default_rng(9).permutation(TARGET)
        features = self.make().fit(ROWS, shuffled).transform(NEW_ROWS)
        assert_finite(features)
        assert not np.array_equal(features, self.features()), (
            "the features are the same with shuffled labels: the target is not used"
        )
        with pytest.raises(MethodError, match="requires y"):
            self.make().fit(ROWS)
        with pytest.raises(MethodError, match="59 values for 60 rows"):
            self.make().fit(ROWS, TARGET[:-1])
        with pytest.raises(MethodError, match="NaN"):
            self.make().fit(ROWS, np.where(ROWS[:, 0] > 0, np.nan, TARGET))
