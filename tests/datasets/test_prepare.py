import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose
from scipy import sparse

from rfbench.datasets import Dataset, prepare, split_rows
from rfbench.datasets.scaling import RankScaler, SmoothClipScaler
from rfbench.errors import DataError

TRAIN = np.array([[1.0, 5, 0, 7], [3, 5, 2, 7], [2, 5, 7, 7]])
TEST = np.array([[5.0, 6, -1, 7], [0, 5, 1, 8]])


def rng(seed=0):
    return np.random.default_rng(seed)


def dataset(X=None, y=None, task="binary", n_train=3, classes=("a", "b")):
    X = np.vstack([TRAIN, TEST]) if X is None else X
    y = np.array([0, 1, 1, 0, 1]) if y is None else np.asarray(y)
    return Dataset("d", X, y, task, classes, n_train, None, "0")


def regression(y, n_train=3):
    return dataset(y=np.asarray(y, float), task="regression", n_train=n_train, classes=())


def given_split(data, **options):
    return prepare(data, split="given", generator=rng(), **options)


SD = np.array([2 / 3, 1, 26 / 3, 1]) ** 0.5
SCALED = {  # constant columns become 0; only those called all look at the test rows
    "none": (TRAIN, TEST),
    "standard": (
        np.array([[-1, 0, -3, 0], [1, 0, -1, 0], [0, 0, 4, 0]]) / SD,
        np.array([[3, 0, -4, 0], [-2, 0, -2, 0]]) / SD,
    ),
    "minmax": (
        [[0, 0, 0, 0], [1, 0, 2 / 7, 0], [0.5, 0, 1, 0]],
        [[2, 0, -1 / 7, 0], [-0.5, 0, 1 / 7, 0]],
    ),
    "minmax-all": (
        [[0.2, 0, 1 / 8, 0], [0.6, 0, 3 / 8, 0], [0.4, 0, 1, 0]],
        [[1, 1, 0, 0], [0, 0, 2 / 8, 1]],
    ),
    "/max": (TRAIN / TRAIN.max(), TEST / TRAIN.max()),
    "standard/max": (
        np.array([[-1, 0, -3, 0], [1, 0, -1, 0], [0, 0, 4, 0]]) / SD / (4 / SD[2]),
        np.array([[3, 0, -4, 0], [-2, 0, -2, 0]]) / SD / (4 / SD[2]),
    ),
}


def test_standard_all_scaling_uses_mean_and_deviation_of_all_rows():
    X = rng().standard_normal((30, 4)) * [1, 5, 9, 0]
    data = dataset(X, np.arange(30) % 2, n_train=20)
    prepared = given_split(data, scaling="standard-all/max")
    Z = (X - X.mean(axis=0)) / np.where(X.std(axis=0) == 0, np.inf, X.std(axis=0))
    both = np.vstack([prepared.X_train, prepared.X_test])
    np.testing.assert_allclose(both, Z / Z[:20].max(), rtol=1e-12, atol=1e-15)


def test_scaling_by_a_nonpositive_maximum_is_rejected():
    with pytest.raises(DataError, match="largest value"):
        given_split(dataset(X=-np.ones((5, 2))), scaling="/max")


def test_clipped_all_scaling_uses_mean_and_deviation_of_all_rows():
    X = rng().standard_t(2, size=(60, 3))
    data = dataset(X, X[:, 0], task="regression", n_train=40, classes=())
    expected = np.clip((X - X.mean(axis=0)) / (X.std(axis=0) + 1e-5), -3, 3)
    assert (np.abs(expected) == 3).any()
    prepared = given_split(data, scaling="clipped-all", target="clipped-all", dtype="float32")
    both = np.vstack([prepared.X_train, prepared.X_test])
    assert both.dtype == np.float32
    assert_allclose(both, expected, rtol=1e-6)
    assert_allclose(np.concatenate([prepared.y_train, prepared.y_test]), expected[:, 0], rtol=1e-9)


class TestScaling:
    @pytest.mark.parametrize("scaling", SCALED)
    def test_scaled_rows_equal_manual_computation_and_input_is_unchanged(self, scaling):
        data = dataset()
        prepared = given_split(data, scaling=scaling)
        (train, test), rtol = SCALED[scaling], 0 if scaling == "none" else 1e-7
        np.testing.assert_allclose(prepared.X_train, train, rtol=rtol)
        np.testing.assert_allclose(prepared.X_test, test, rtol=rtol)
        prepared.X_train[0, 0] = 99
        assert data.X[0, 0] == 1

    @pytest.mark.parametrize("dtype", ["float32", "float64"])
    @pytest.mark.parametrize("scaling", ["standard", "minmax"])
    def test_constant_column_is_detected_despite_rounding(self, scaling, dtype):
        X = np.full((12, 1), 0.1)
        X[11] = 0.2
        data = dataset(X, np.arange(12) % 2, n_train=11)
        prepared = given_split(data, scaling=scaling, dtype=dtype)
        np.testing.assert_array_equal(prepared.X_train, 0)
        np.testing.assert_array_equal(prepared.X_test, 0)

    def test_row_standard_scales_each_row_separately(self):
        X = np.array([[1.0, 2, 3], [5, 5, 5], [-2, 0, 2], [10, 20, 30], [0, 0, 1]])
        prepared = given_split(dataset(X), scaling="row-standard")
        np.testing.assert_allclose(prepared.X_train, [[-1, 0, 1], [0, 0, 0], [-1, 0, 1]])
        np.testing.assert_allclose(prepared.X_test[0], [-1, 0, 1])
        np.testing.assert_allclose(prepared.X_test[1], np.array([-1, -1, 2]) / np.sqrt(3))

    def test_scaling_255_divides_by_255(self):
        X = np.array([[0, 255], [51, 102], [1, 2], [3, 4], [5, 6]], np.uint8)
        prepared = given_split(dataset(X), scaling="/255")
        np.testing.assert_allclose(prepared.X_train, X[:3] / 255)
        np.testing.assert_allclose(prepared.X_test, X[3:] / 255)

    @pytest.mark.parametrize("scaling", ["standard", "minmax", "row-standard"])
    def test_rows_are_scaled_before_they_are_cast(self, scaling):
        X = 1.7e9 + rng().uniform(-100, 100, (200, 3))
        data = dataset(X, np.arange(200) % 2, n_train=150)
        single, double = (
            given_split(data, scaling=scaling, dtype=t) for t in ("float32", "float64")
        )
        assert single.X_train.dtype == np.float32
        np.testing.assert_allclose(single.X_train, double.X_train, atol=1e-6)
        np.testing.assert_allclose(single.X_test, double.X_test, atol=1e-6)

    def test_value_too_large_for_float32_is_rejected(self):
        X = np.full((5, 2), 1e300)
        with pytest.raises(DataError, match="too large"):
            given_split(dataset(X), dtype="float32")

    @pytest.mark.parametrize(
        ("scaling", "scaler"), [("rank", RankScaler), ("robust", SmoothClipScaler)]
    )
    def test_bounded_scalings_are_fitted_on_training_rows(self, scaling, scaler):
        X = np.random.default_rng(0).normal(size=(30, 3)) ** 3
        prepared = given_split(dataset(X, np.arange(30) % 2, n_train=20), scaling=scaling)
        assert_allclose(prepared.X_train, scaler().fit_transform(X[:20]))
        assert_allclose(prepared.X_test, scaler().fit(X[:20]).transform(X[20:]))

    @given(
        X=arrays(float, (12, 3), elements=st.floats(-1e6, 1e6)),
        scaling=st.sampled_from(
            ["none", "standard", "minmax", "row-standard", "/255", "rank", "robust"]
        ),
        dtype=st.sampled_from(["float32", "float64"]),
    )
    def test_every_scaling_of_finite_rows_is_finite(self, X, scaling, dtype):
        data = dataset(X, np.arange(12) % 2, n_train=8)
        prepared = given_split(data, scaling=scaling, dtype=dtype)
        for side, n in ((prepared.X_train, 8), (prepared.X_test, 4)):
            assert side.shape == (n, 3)
            assert side.dtype == dtype
            assert side.flags.c_contiguous
            assert np.isfinite(side).all()

    @pytest.mark.parametrize("dtype", ["float32", "float64"])
    @pytest.mark.parametrize("scaling", ["standard", "minmax"])
    def test_column_nearly_constant_in_training_stays_finite(self, scaling, dtype):
        X = np.zeros((12, 2))
        X[0, 0] = {"float32": 2.6e-36, "float64": 1e-310}[dtype]
        X[11] = 1e6, 3
        prepared = given_split(
            dataset(X, np.arange(12) % 2, n_train=8), scaling=scaling, dtype=dtype
        )
        assert np.isfinite(prepared.X_train).all()
        assert np.isfinite(prepared.X_test).all()

    def test_rows_beyond_one_block_are_scaled_identically(self):
        X = rng(3).normal(5, 2, (10_000, 3))
        data = dataset(X, np.arange(10_000) % 2, n_train=9_000)
        prepared = given_split(data, scaling="standard")
        mean, sd = X[:9_000].mean(axis=0), X[:9_000].std(axis=0)
        np.testing.assert_allclose(prepared.X_train, (X[:9_000] - mean) / sd, atol=1e-12)
        np.testing.assert_allclose(prepared.X_test, (X[9_000:] - mean) / sd, atol=1e-12)

    def test_statistics_of_float32_rows_are_computed_in_float64(self):
        X = (1e4 + rng(3).normal(size=(5_000, 1))).astype(np.float32)
        data = dataset(X, np.arange(5_000) % 2, n_train=4_000)
        prepared = given_split(data, scaling="standard", dtype="float32")
        assert prepared.X_train.mean(dtype=float) == pytest.approx(0, abs=1e-6)
        assert prepared.X_train.std(dtype=float) == pytest.approx(1, abs=1e-6)


class TestSparse:
    X = sparse.csr_array(np.vstack([TRAIN, TEST]))

    @pytest.mark.parametrize(("scaling", "factor"), [("none", 1), ("/255", 255)])
    @pytest.mark.parametrize("dtype", ["float32", "float64"])
    def test_sparse_rows_stay_sparse(self, scaling, factor, dtype):
        prepared = given_split(dataset(self.X), scaling=scaling, dtype=dtype)
        assert isinstance(prepared.X_train, sparse.csr_array)
        assert prepared.X_train.dtype == dtype
        np.testing.assert_allclose(prepared.X_train.toarray(), TRAIN / factor, rtol=1e-6)
        np.testing.assert_allclose(prepared.X_test.toarray(), TEST / factor, rtol=1e-6)
        np.testing.assert_array_equal(self.X.toarray(), np.vstack([TRAIN, TEST]))

    @pytest.mark.parametrize("scaling", ["standard", "minmax", "row-standard", "rank", "robust"])
    def test_scaling_that_would_densify_is_rejected(self, scaling):
        with pytest.raises(DataError, match="Use the scaling 'none'"):
            given_split(dataset(self.X), scaling=scaling)


class TestTarget:
    def test_class_codes_are_unchanged(self):
        data = dataset(y=[2, 0, 1, 1, 2], task="multiclass", classes=("a", "b", "c"))
        prepared = given_split(data)
        assert prepared.y_train.tolist() == [2, 0, 1]
        assert prepared.y_test.tolist() == [1, 2]

    def test_range_scaling_maps_the_training_range_to_plus_minus_one(self):
        prepared = given_split(regression([10, 20, 15, 25, 5]), target="range")
        assert prepared.y_train.tolist() == [-1, 1, 0]
        assert prepared.y_test.tolist() == [2, -2]

    def test_standard_scaling_uses_only_training_rows(self):
        prepared = given_split(regression([1, 3, 2, 5, 100]), target="standard")
        sd = np.sqrt(2 / 3)
        np.testing.assert_allclose(prepared.y_train, np.array([-1, 1, 0]) / sd)
        np.testing.assert_allclose(prepared.y_test, np.array([3, 98]) / sd)

    def test_raw_target_option_leaves_the_target_unchanged(self):
        prepared = given_split(regression([4, 4, 4, 5, 6]), target="raw")
        assert prepared.y_train.tolist() == [4, 4, 4]
        assert prepared.y_test.tolist() == [5, 6]

    @pytest.mark.parametrize("target", ["range", "standard"])
    def test_constant_target_is_rejected(self, target):
        with pytest.raises(DataError, match="constant"):
            given_split(regression([4, 4, 4, 5, 6]), target=target)

    @pytest.mark.parametrize("place", [1, 4])
    def test_nonfinite_target_is_rejected(self, place):
        y = np.arange(5.0)
        y[place] = np.nan
        with pytest.raises(DataError, match="target of d contains NaN"):
            given_split(regression(y))

    @pytest.mark.parametrize(
        ("y", "classes", "missing"),
        [([0, 0, 0, 1, 1], ("a", "b"), "b"), ([0, 1, 0, 2, 1], ("a", "b", "c"), "c")],
    )
    def test_class_without_training_rows_is_rejected(self, y, classes, missing):
        task = "binary" if len(classes) == 2 else "multiclass"
        with pytest.raises(
            DataError, match=f"Class '{missing}' of d has no rows in the training set"
        ):
            given_split(dataset(y=y, task=task, classes=classes))


class TestRows:
    def test_rows_and_targets_stay_aligned(self):
        X = np.arange(40.0).reshape(20, 2)
        data = dataset(X, X[:, 0] * 3, task="regression", classes=())
        prepared = prepare(data, split={"test_size": 0.3}, target="raw", generator=rng())
        assert (len(prepared.y_train), len(prepared.y_test)) == (14, 6)
        for rows, side, y in (
            (prepared.train_rows, prepared.X_train, prepared.y_train),
            (prepared.test_rows, prepared.X_test, prepared.y_test),
        ):
            np.testing.assert_array_equal(side, X[rows])
            np.testing.assert_array_equal(y, 3 * side[:, 0])

    def test_subset_is_drawn_before_statistics_are_computed(self):
        X = rng(1).normal(size=(100, 2))
        data = dataset(X, np.arange(100) % 2, n_train=80)
        prepared = prepare(data, split="given", scaling="standard", generator=rng(), rows=20)
        assert (len(prepared.y_train), len(prepared.y_test)) == (20, 5)
        np.testing.assert_allclose(prepared.X_train.mean(axis=0), 0, atol=1e-12)
        np.testing.assert_allclose(prepared.X_train.std(axis=0), 1)

    @pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
    @pytest.mark.parametrize("form", [np.array, sparse.csr_array])
    def test_nonfinite_value_is_rejected(self, value, form):
        X = np.vstack([TRAIN, TEST])
        X[4, 2] = value
        with pytest.raises(DataError, match="A value of d is NaN or infinite"):
            given_split(dataset(form(X)))

    def test_unused_nonfinite_value_is_accepted(self):
        data = dataset(np.ones((9, 2)), np.arange(9) % 2)
        rule = {"test_size": 3, "train_size": 4}
        used = np.concatenate(split_rows(data, rule, rng()))
        data.X[np.setdiff1d(np.arange(9), used)] = np.nan
        prepared = prepare(data, split=rule, generator=rng())
        np.testing.assert_array_equal(prepared.X_train, 1)

    @pytest.mark.parametrize(
        ("option", "value", "hint"),
        [
            ("scaling", "standrd", "Did you mean 'standard'"),
            ("target", "rnge", "Did you mean 'range'"),
            ("dtype", "float16", "float32"),
        ],
    )
    def test_error_for_an_unknown_scaling_or_split_suggests_the_nearest(self, option, value, hint):
        with pytest.raises(DataError, match=hint):
            given_split(dataset(), **{option: value})
