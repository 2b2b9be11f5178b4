"""What all samplers share: a scikit-learn transformer whose subclass writes only `_draw`.

The public `fit` and `transform` do the book-keeping (checks, bandwidth, random generators, dtype),
as the public `random` of scipy's QMCEngine does; a method returns its `FeatureMap`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted, validate_data

from rfbench import bandwidths
from rfbench.arrays import Array, FloatArray, Rows
from rfbench.errors import MethodError
from rfbench.kernels import Kernel
from rfbench.parameters import (
    IMPORT_PATH,
    RANDOM_STATE,
    Checked,
    estimator,
    make_rule_metadata,
    one_of,
    parameter,
    whole,
)
from rfbench.registry import KERNELS
from rfbench.rows import RowSource
from rfbench.samplers.declaration import Declaration
from rfbench.samplers.feature_map import (
    OFFSET,
    PAIRED,
    PLAIN,
    FeatureMap,
    FittedMap,
    FormedFeatures,
    Projection,
)

RandomState = int | np.random.Generator | np.random.RandomState | np.random.SeedSequence | None


@dataclass(frozen=True)
class Streams:
    """Independent random generators, one per purpose.

    Because frequencies and offsets come from streams of their own, a larger M or a larger pool
    with the same seed begins with the smaller one. In another order, every published number
    changes.
    """

    frequencies: np.random.Generator
    offsets: np.random.Generator
    rows: np.random.Generator
    selection: np.random.Generator
    bandwidth: np.random.Generator


def streams(random_state: RandomState) -> Streams:
    """Return the generators that a sampler uses, from whatever names a random state."""
    if isinstance(random_state, np.random.RandomState):
        random_state = int(random_state.randint(2**31 - 1))
    return Streams(*np.random.default_rng(random_state).spawn(5))


@dataclass(frozen=True)
class Shared:
    """Results and permissions that a caller gives to one fit, beside its rows.

    Attributes
    ----------
    metrics : dict or None
        The metrics that other fits have learnt, by the content of their rows; a fit adds its own.
        None: each fit learns its metric.
    keeps_columns : bool
        Hold in `formed_` the features of the rows where scoring makes them all, and where they fit
        (see `rfbench.memory.can_hold`). A solver that is fitted on the same rows reads them there.
    delays_root : bool
        Leave the inverse root of a kernel matrix, O(m^3), until rows go through.
    """

    metrics: dict[str, Any] | None = None
    keeps_columns: bool = False
    delays_root: bool = False


NOTHING_SHARED = Shared()


class FittedFeatures(ABC):
    """Base of everything that a model is fitted on: samplers, adapted transformers, no features.

    Attributes
    ----------
    notes_ : list of str
        What a reader of the results has to know about this fit.
    kernel_ : Kernel
        The kernel that is approximated, where one is.
    """

    # z(x)'z(y) estimates k(x, y): of any kernel that is served, not the Gaussian one alone.
    approximates_kernel: ClassVar[bool] = False
    keeps_some: ClassVar[bool] = False  # of what it draws; then it has `kept_`

    notes_: list[str]
    kernel_: Any

    @property
    @abstractmethod
    def n_kept(self) -> int | None:
        """Number of candidates that are kept; None of features that keep all of theirs."""

    @property
    @abstractmethod
    def n_columns(self) -> int | None:
        """Number of real columns; None where rows are seen as they are."""

    @abstractmethod
    def bytes_per_row(self, itemsize: int) -> int | None:
        """Return the bytes of one row's features, see `FittedMap.bytes_per_row`."""

    @property
    @abstractmethod
    def kernel_constant(self) -> float:
        """What the products of features lack to estimate the kernel, see `FittedMap`."""

    @abstractmethod
    def transform(self, X: Rows) -> FloatArray:
        """Return the features of the rows X, shape (n, n_columns)."""

    def kept_features(self) -> tuple[NDArray[np.intp], FeatureMap, Array]:
        """Return the candidates that are kept: numbers, features and weights, heaviest first."""
        raise MethodError(f"{type(self).__name__} keeps all that it draws.")


class NoFeatures(FittedFeatures):
    """The place of features where a solver is fitted on the rows themselves."""

    n_kept = n_columns = None
    kernel_constant = 0.0

    def __init__(self) -> None:
        self.notes_ = []

    def bytes_per_row(self, itemsize: int) -> None:
        """Return None: nothing is stored."""

    def transform(self, X: Rows) -> FloatArray:
        """Raise MethodError: there are no features."""
        raise MethodError("The solver is fitted on the rows themselves: there are no features.")


@estimator
class RandomFeatures(
    FittedFeatures,
    Checked,
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]
    TransformerMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    """Base of all samplers: an `estimator`, whose own parameters come after these.

    Parameters
    ----------
    n_components : int, default=100
        M, the number of frequencies; the paired map has two columns per frequency.
    kernel : str, default='gaussian'
        Name of the kernel, see `rfbench.registry.KERNELS`.
    bandwidth : float or {'median', 'knn50', 'knn50-sample'}, default='median'
        Length scale of the kernel, or the rule that finds it on the rows of `fit`.
    feature_map : {'offset', 'paired'}, default='offset'
        Columns sqrt(2/M) cos(w'x + b), or the pairs sqrt(1/M) [cos w'x, sin w'x]. Ignored by the
        kernels without waves (arc-cosine, linear).
    random_state : int, Generator, RandomState, SeedSequence or None, default=None
        Seed or generator of the random numbers. None draws a new seed in every fit.

    Attributes
    ----------
    kernel_ : Kernel
    bandwidth_ : float
    feature_map_ : FittedMap
    notes_ : list of str
        What a reader of the results has to know about this fit.
    formed_ : FormedFeatures or None
        See `Shared.keeps_columns`.
    """

    declaration: ClassVar[Declaration]  # what the decorator `sampler` says of it
    # `_draw` looks at the target: for folds that choose, the features are fitted without them.
    needs_target: ClassVar[bool] = False
    approximates_kernel: ClassVar[bool] = True
    # Then the mean of the estimate over seeds is k(x, y) at every M, with its default parameters.
    unbiased: ClassVar[bool] = True
    has_bandwidth: ClassVar[bool] = True
    # Classes of kernels and kinds of features (`Kernel.feature`) that it is made for.
    kernels_served: ClassVar[Any] = Kernel
    features_served: ClassVar[tuple[str, ...]] = ("wave", "arc-cosine", "coordinate")
    # One more when the method measures something else: then its trials have new identities.
    revision: ClassVar[int] = 1
    # Defaults that have changed: part of the identity, so that rows of the old default are not
    # taken for those of the new one.
    changed_defaults: ClassVar[Mapping[str, Any]] = MappingProxyType({})

    n_components: int = field(default=100, kw_only=False, metadata=make_rule_metadata(whole(1)))
    kernel: str = parameter("gaussian", one_of(*KERNELS) | IMPORT_PATH)
    bandwidth: float | str = parameter("median", bandwidths.ALLOWED)
    feature_map: str = parameter(OFFSET, one_of(OFFSET, PAIRED))
    random_state: RandomState = parameter(None, RANDOM_STATE)

    def check_parameters(self) -> None:
        """Raise MethodError where the parameters cannot be served, without any data."""
        super().check_parameters()
        cls = KERNELS.find(self.kernel)
        if not self.serves(cls):
            served = [name for name, other in KERNELS.items() if self.serves(other)]
            raise MethodError(
                f"{type(self).__name__} cannot serve the kernel '{self.kernel}'.",
                f"It serves {', '.join(served)}.",
            )

    @classmethod
    def serves(cls, kernel: type[Kernel]) -> bool:
        """Tell whether the sampler has features for this kernel."""
        return issubclass(kernel, cls.kernels_served) and kernel.feature in cls.features_served

    def fit(self, X: Rows, y: Any = None) -> RandomFeatures:
        """Draw the features.

        Parameters
        ----------
        X : array or CSR matrix of shape (n, d)
        y : array of shape (n,) or (n, k), optional
            Class labels, a real target, or target columns (see `make_target_columns`).
        """
        return self._fit_drawing(X, y, NOTHING_SHARED)

    def _fit(self, X: Rows, y: Any, shared: Shared) -> RandomFeatures:
        """Fit as `fit` does, with what a trial shares between its fits."""
        # A class that fits in its own way knows of nothing that is shared.
        if type(self).fit is not RandomFeatures.fit:
            return self.fit(X, y)
        return self._fit_drawing(X, y, shared)

    def _fit_drawing(self, X: Rows, y: Any, shared: Shared) -> RandomFeatures:
        self.check_parameters()
        X = self._validated(X, reset=True)
        targets = None
        if self.needs_target:
            if y is None:
                raise MethodError(
                    f"{type(self).__name__} requires y to be passed, but the target y is None.",
                    "It chooses its features with the target.",
                )
            targets = make_target_columns(y, X.shape[0])
        random = streams(self.random_state)
        rule = self.bandwidth if self.has_bandwidth else 1.0
        self.kernel_: Any = bandwidths.make_kernel(X, self.kernel, rule, random.bandwidth)
        self.bandwidth_ = self.kernel_.bandwidth
        self.notes_: list[str] = []
        self.formed_: FormedFeatures | None = None
        self.feature_map_ = self._draw_sharing(X, y, targets, random, shared).astype(X.dtype)
        self._n_features_out = self.feature_map_.n_columns
        return self

    def _draw_sharing(
        self, X: Rows, y: Any, targets: Array | None, random: Streams, shared: Shared
    ) -> FittedMap:
        """Return the features: those of `_draw`, but for a class that uses y or what is shared."""
        return self._draw(X, targets, random)

    @abstractmethod
    def _draw(self, X: Rows, targets: Array | None, random: Streams) -> FittedMap:
        """Return the features; `targets` has shape (n, k) where the method needs a target."""

    @property
    def n_kept(self) -> int | None:
        """Number of candidates that are kept; None of a sampler that keeps all of its own."""
        return int(self.kept_) if self.keeps_some else None

    @property
    def n_columns(self) -> int:
        """Number of real columns."""
        return self.feature_map_.n_columns

    def bytes_per_row(self, itemsize: int) -> int:
        """Return the bytes of one row's features as the method stores them."""
        return self.feature_map_.bytes_per_row(itemsize)

    @property
    def kernel_constant(self) -> float:
        """What the products of features lack, in every entry alike, to estimate the kernel."""
        return self.feature_map_.kernel_constant

    def transform(self, X: Rows) -> FloatArray:
        """Return the features of the rows X, shape (n, n_columns), in the dtype of X."""
        check_is_fitted(self, "feature_map_")
        return self.feature_map_.transform(self._validated(X, reset=False))

    def _validated(self, X: Rows, *, reset: bool) -> Rows:
        return validate_data(
            self,
            X,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            order="C",
            reset=reset,
            skip_check_array=isinstance(X, RowSource),
        )

    def draw_unit_map(self, random: Streams, d: int, m: int) -> FeatureMap:
        """Draw m i.i.d. features of the kernel with scale sqrt(2) or 1 and no division by M.

        Their products average to the kernel: ``E[z_m(x) z_m(y)] = k(x, y)``, where for the paired
        map z_m is the pair.
        """
        return self.unit_map(self.kernel_.frequencies(random.frequencies, d, m), random)

    def unit_map(
        self, frequencies: NDArray[Any], random: Streams, projection: Projection | None = None
    ) -> FeatureMap:
        """Return the map of given frequencies, shape (m, d), with offsets drawn where needed.

        With a projection, `frequencies` are numbers of its frequencies, shape (m,).
        """
        kernel = self.kernel_
        if kernel.feature == "coordinate":
            return FeatureMap("coordinate", PLAIN, frequencies[:, 0].astype(np.intp))
        columns = np.ascontiguousarray(frequencies.T)
        unit = FeatureMap("wave", PAIRED, columns, projection=projection)
        root = float(np.sqrt(2.0))
        if kernel.feature == "arc-cosine":
            return replace(unit, feature="arc-cosine", layout=PLAIN, scale=root, order=kernel.order)
        if self.feature_map == PAIRED:
            return unit
        offsets = random.offsets.uniform(0.0, 2.0 * np.pi, size=len(frequencies))
        return replace(unit, layout=OFFSET, offsets=offsets, scale=root)

    def __sklearn_tags__(self) -> Any:
        """Describe the sampler to scikit-learn."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = self.needs_target
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def uses_target(transformer: Any) -> bool:
    """Tell whether a transformer's `fit` looks at the target, as far as it says so.

    It says so by an attribute `needs_target`, by scikit-learn's tag `target_tags.required`, or by a
    part of it that does: a step of a pipeline, say. So does what selects columns for scikit-learn,
    most of which needs a target and does not have the tag.
    """
    if (declared := getattr(transformer, "needs_target", None)) is not None:
        return bool(declared)
    parts: dict[str, Any] = {}
    if isinstance(transformer, BaseEstimator):
        from sklearn.feature_selection import SelectorMixin

        if isinstance(transformer, SelectorMixin) or get_tags(transformer).target_tags.required:
            return True
        parts = transformer.get_params()
    return any(uses_target(part) for part in parts.values() if hasattr(part, "fit"))


def make_target_columns(y: Any, n: int) -> Array:
    """Return the target as columns, shape (n, k).

    Labels (integers, strings, booleans) become -1 and +1 when there are two of them, otherwise
    one-hot columns of 0 and 1; floats are a real target (or already coded labels) and are kept;
    a two-dimensional y is taken as columns.
    """
    values = np.asarray(y)
    if len(values) != n:
        raise MethodError(
            f"y has {len(values)} values for {n} rows.", "", "Give one value per row."
        )
    if values.dtype.kind == "f" or values.ndim == 2:
        columns = values.astype(np.float64).reshape(n, -1)
        if not np.isfinite(columns).all():
            raise MethodError("The target y contains NaN or infinity.", "", "Remove those rows.")
        return columns
    classes, codes = np.unique(values, return_inverse=True)
    if len(classes) <= 2:
        return np.where(codes == len(classes) - 1, 1.0, -1.0).reshape(n, 1)
    return np.asarray(codes[:, None] == np.arange(len(classes)), dtype=np.float64)
