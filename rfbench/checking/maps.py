"""What is promised of every map, and maps from elsewhere: transformers, and f(X, M, seed)."""

from __future__ import annotations

import inspect
import pickle
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone

from rfbench.checking.bias import BANDWIDTH, MapClaim
from rfbench.checking.closed_forms import kernel_of
from rfbench.checking.promises import NotApplicable, checks_of, expect, expect_finite, expect_same

ROWS = np.random.default_rng(7).standard_normal((60, 5))
TARGET = np.where(np.linalg.norm(ROWS, axis=1) > 2.0, 1.0, -1.0)
NEW_ROWS = np.random.default_rng(8).standard_normal((20, 5))
SIZES = ("n_components", "n_features", "M")
SEEDS = ("random_state", "seed")
WIDTHS = ("bandwidth", "length_scale", "lengthscale", "sigma", "gamma")
POLYNOMIAL = ("gamma", "degree", "coef0")


def dense(rows: Any) -> Any:
    """Return rows as an array."""
    return rows.toarray() if hasattr(rows, "toarray") else np.asarray(rows)


def exponent(kernel: str, s: float) -> float:
    """Return scikit-learn's gamma of a bandwidth."""
    return {"gaussian": 0.5 / s**2, "gaussian-unhalved": 1 / s**2}.get(kernel, 1 / s)


@dataclass(frozen=True)
class MapSubject:
    """A class or function, and what it is built with beside the number of features and the seed."""

    thing: Any
    options: Mapping[str, Any] = field(default_factory=dict)
    float32_tolerance: float = 1e-3
    must_take_sparse = False

    def make(self, M: int = 8, seed: Any = 0) -> Any:
        """Build the transformer with those of the usual names that it takes."""
        taken = inspect.signature(self.thing).parameters
        usual = {**dict.fromkeys(SIZES, M), **dict.fromkeys(SEEDS, seed)}
        usual = {name: value for name, value in usual.items() if name in taken}
        return self.thing(**{**usual, **self.options})

    def fitted(self, X: Any = ROWS) -> Any:
        """Build the transformer and fit it."""
        if not isinstance(self.thing, type):
            raise NotApplicable("it is a function")
        return self.make().fit(X, TARGET)

    def features(self, X: Any = ROWS, new: Any = NEW_ROWS) -> Any:
        """Return the features of new rows after a fit."""
        if isinstance(self.thing, type):
            return dense(self.fitted(X).transform(new))
        return np.asarray(self.thing(new, 8, 0, **self.options))


@dataclass(frozen=True)
class ForeignMap(MapSubject):
    """A transformer or function from elsewhere, and the kernel that it claims.

    `bandwidth` is that of the kernel; by default it is that of the options, or `BANDWIDTH` where
    it can be asked for.
    """

    kernel: str = "gaussian"
    bandwidth: float = BANDWIDTH

    @classmethod
    def of(cls, thing: Any, options: Mapping[str, Any], kernel: str, s: float | None) -> ForeignMap:
        """Find the parameter that says the bandwidth, among those called so (`WIDTHS`)."""
        options, taken = dict(options), inspect.signature(thing).parameters
        name = next((name for name in WIDTHS if name in taken), None)
        if name is None or kernel == "polynomial":
            return cls(thing, options, kernel=kernel, bandwidth=s or 1.0)
        if name not in options:
            s = s or BANDWIDTH
            options[name] = exponent(kernel, s) if name == "gamma" else s
        elif s is None:
            s = float(options[name])
            if name == "gamma":
                s = float((exponent(kernel, 1.0) / s) ** (0.5 if "gaussian" in kernel else 1.0))
        return cls(thing, options, kernel=kernel, bandwidth=s)

    def claims(self) -> list[MapClaim]:
        """Return the kernel that it claims."""
        of_kernel = {}
        if self.kernel == "polynomial":
            taken = inspect.signature(self.thing).parameters
            names = [name for name in POLYNOMIAL if name in taken]
            of_kernel = {name: self.options.get(name, taken[name].default) for name in names}

        def draw(X: Any, M: int, seed: int) -> Any:
            if not isinstance(self.thing, type):
                return self.thing(X, M, seed, **self.options)
            return dense(self.make(M, seed).fit(X, np.arange(len(X)) % 2).transform(X))

        return [MapClaim("", draw, kernel_of(self.kernel, self.bandwidth, **of_kernel))]


def features_are_a_matrix_of_finite_numbers(subject: MapSubject) -> None:
    """It returns one line of finite numbers per row.

    To do: return an array of shape (n, columns), without NaN or infinity; correct this first.
    """
    features = subject.features()
    right = features.ndim == 2 and len(features) == len(NEW_ROWS)
    expect(right, f"{len(NEW_ROWS)} rows give the shape {features.shape}")
    expect_finite(features)


def same_seed_same_features(subject: MapSubject) -> None:
    """The same seed gives the same features.

    To do: draw from a generator made of the seed in `fit`, never from numpy's global one.
    """
    expect_same(subject.features(), subject.features(), "the features of two fits")


def rows_are_left_alone(subject: MapSubject) -> None:
    """It does not write into the rows.

    To do: copy before you centre or scale.
    """
    X, new = ROWS.copy(), NEW_ROWS.copy()
    subject.features(X, new)
    expect_same(X, ROWS, "the rows after `fit`")
    expect_same(new, NEW_ROWS, "the rows after `transform`")


def features_are_a_function_of_each_row(subject: MapSubject) -> None:
    """The features of a row do not depend on the rows beside it.

    To do: learn in `fit` whatever is a mean, a scale or a rank over rows.
    """
    fitted = subject.fitted()
    few, all_rows = dense(fitted.transform(NEW_ROWS[3:9])), dense(fitted.transform(NEW_ROWS))[3:9]
    expect_same(few, all_rows, "the features of six rows alone and among twenty", 1e-9)


def clones_and_copies(subject: MapSubject) -> None:
    """It can be cloned unfitted and pickled fitted.

    To do: inherit sklearn.base.BaseEstimator, let the constructor only store its parameters,
    and keep no lambdas or open files.
    """
    subject.fitted()
    fitted = clone(subject.make()).fit(ROWS, TARGET)
    copy = pickle.loads(pickle.dumps(fitted))
    results, expected = (dense(made.transform(NEW_ROWS)) for made in (copy, fitted))
    expect_same(results, expected, "the features of a pickle")


def sparse_rows_give_the_features_of_dense_ones(subject: MapSubject) -> None:
    """CSR rows give the features of the same dense rows; a map from elsewhere may refuse them.

    To do: use products that take both; do not index X with a dense mask.
    """
    subject.fitted()
    rows, new = (np.where(np.abs(part) > 0.8, part, 0.0) for part in (ROWS, NEW_ROWS))
    for of in (sparse.csr_array, sparse.csr_matrix):
        try:
            features = subject.features(of(rows), of(new))
        except (TypeError, ValueError) as error:
            if subject.must_take_sparse:
                raise
            raise NotApplicable(f"it refuses sparse rows ({type(error).__name__})") from None
        what = f"the features of {of.__name__}"
        expect_same(features, subject.features(rows, new), what, 1e-9)


def float32_gives_nearly_the_features_of_float64(subject: MapSubject) -> None:
    """Rows in float32 give nearly the features of float64.

    To do: draw and decide in float64.
    """
    subject.fitted()
    narrow, new = ROWS.astype(np.float32), NEW_ROWS.astype(np.float32)
    for rows, what in ((ROWS, "new rows in float32"), (narrow, "all rows in float32")):
        features = subject.features(rows, new)
        tolerance = subject.float32_tolerance
        expect_same(features, subject.features(), f"the features of {what}", tolerance)


OF_EVERY_MAP = checks_of(MapSubject)
