"""The base class of all samplers, which are scikit-learn transformers for random features.

The public methods `fit` and `transform` of the base class check the input, choose the bandwidth,
create random generators and convert types. A subclass defines only the method `_draw`, which draws
the random features and returns them as a `FeatureMap`.
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
from rfbench.kernels import Kernel, ScaleMixture
from rfbench.parameters import (
    IMPORT_PATH,
    RANDOM_STATE,
    WITH_PARAMETERS,
    Checked,
    estimator,
    make_rule_metadata,
    one_of,
    parameter,
    whole,
)
from rfbench.registry import KERNELS
from rfbench.rows import RowSource
from rfbench.samplers.declaration import SamplerInfo
from rfbench.samplers.feature_map import (
    OFFSET,
    PAIRED,
    PLAIN,
    FeatureMap,
    FittedMap,
    PrecomputedFeatures,
    Projection,
)

RandomState = int | np.random.Generator | np.random.RandomState | np.random.SeedSequence | None


@dataclass(frozen=True)
class RandomStreams:
    """Independent random generators of a sampler, one for each kind of random number.

    For example, frequencies and offsets have separate generators. With the same seed, a sampler
    with few features therefore has the first features of a sampler with many features.
    """

    # Changing the order of the fields would change every published result.
    frequencies: np.random.Generator
    offsets: np.random.Generator
    rows: np.random.Generator
    selection: np.random.Generator
    bandwidth: np.random.Generator


def make_streams(random_state: RandomState) -> RandomStreams:
    """Return the random generators of a sampler.

    `random_state` is a seed, a generator, or None for a random seed.
    """
    if isinstance(random_state, np.random.RandomState):
        random_state = int(random_state.randint(2**31 - 1))
    return RandomStreams(*np.random.default_rng(random_state).spawn(5))


@dataclass(frozen=True)
class Shared:
    """Options of a sampler's fit, and a cache of results that several fits share.

    Attributes
    ----------
    metrics : dict or None
        Cache of the metrics (distance functions) that earlier fits have learned. The keys are
        hashes of the data, and each fit adds its own metric. None: fits do not share metrics.
    keeps_columns : bool
        If True, a fit that computes the features of all training rows stores these features in the
        attribute `formed_`, provided that they fit into memory. A solver that is fitted on the same
        rows then reuses them.
    delays_root : bool
        If True, the inverse square root of the m x m kernel matrix of the Nystroem method, which
        costs O(m^3), is computed only when rows are transformed.
    """

    metrics: dict[str, Any] | None = None
    keeps_columns: bool = False
    delays_root: bool = False


NOTHING_SHARED = Shared()


class FittedFeatures(ABC):
    """Base class of objects that compute the features of rows for a solver.

    A solver is a regression or classification method that is fitted on the features. Subclasses are
    the samplers of random features, adapters of other transformers, and `NoFeatures`.

    Attributes
    ----------
    notes_ : list of str
        Remarks about the fit, which are stored with the results.
    kernel_ : Kernel
        The kernel that the features approximate, if there is one.
    """

    # True if the product z(x)'z(y) of the features of two rows estimates k(x, y) for every
    # supported kernel. False for all other methods, also if the product estimates only the Gaussian
    # kernel.
    approximates_kernel: ClassVar[bool] = False
    # True if the method itself decides how many of its candidate features are kept. The attribute
    # `kept_` contains this number after the fit.
    keeps_some: ClassVar[bool] = False

    notes_: list[str]
    kernel_: Any

    @property
    @abstractmethod
    def n_kept(self) -> int | None:
        """Number of drawn features that the method keeps, or None if it keeps all of them."""

    @property
    @abstractmethod
    def n_columns(self) -> int | None:
        """Number of columns of the feature matrix.

        None if there are no features, because the solver uses the rows of the data themselves.
        """

    @abstractmethod
    def bytes_per_row(self, itemsize: int) -> int | None:
        """Return the number of bytes that the features of one row need.

        `itemsize` is the number of bytes of a floating-point number. The result is None if no
        features are stored.
        """

    @property
    @abstractmethod
    def kernel_constant(self) -> float:
        """Constant c of the kernel estimate z(x)'z(y) + c, where z(x) are the features of a row x.

        The constant is 0 for most methods.
        """

    @abstractmethod
    def transform(self, X: Rows) -> FloatArray:
        """Return the features of the n rows X, an array of shape (n, n_columns)."""

    def kept_features(self) -> tuple[NDArray[np.intp], FeatureMap, Array]:
        """Return the indices, the features and the weights of the drawn features that are kept.

        The feature with the largest weight is first.
        """
        raise MethodError(f"{type(self).__name__} keeps all candidate features that it draws.")


class NoFeatures(FittedFeatures):
    """Placeholder for a solver that is fitted on the rows of the data instead of on features."""

    n_kept = n_columns = None
    kernel_constant = 0.0

    def __init__(self) -> None:
        self.notes_ = []

    def bytes_per_row(self, itemsize: int) -> None:
        """Return None, because no features are stored."""

    def transform(self, X: Rows) -> FloatArray:
        """Raise MethodError, because there are no features."""
        raise MethodError("The solver is fitted on the rows themselves, so there are no features.")


@estimator
class RandomFeatures(
    FittedFeatures,
    Checked,
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]
    TransformerMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    """Base class of all samplers, the transformers that map rows to random features.

    A subclass uses the decorator `sampler` and may add parameters to the parameters below.

    Parameters
    ----------
    n_components : int, default=100
        M, the number of frequencies. A frequency has one column, or two in the paired map.
    kernel : str, default='gaussian'
        Name of a kernel in `rfbench.registry.KERNELS`.
    bandwidth : float or {'median', 'knn50', 'knn50-sample'}, default='median'
        Bandwidth (length scale) of the kernel, or the rule that computes the bandwidth from the
        training set.
    feature_map : {'offset', 'paired'}, default='offset'
        'offset': the columns are sqrt(2/M) cos(w'x + b) for frequencies w and random offsets b.
        'paired': the columns are the pairs sqrt(1/M) [cos w'x, sin w'x]. Ignored for arc-cosine and
        linear kernels.
    random_state : int, Generator, RandomState, SeedSequence or None, default=None
        Random seed or generator. None uses a new seed in every fit.

    Attributes
    ----------
    kernel_ : Kernel
        The kernel with its bandwidth.
    bandwidth_ : float
        The bandwidth.
    feature_map_ : FittedMap
        The random features, which transform rows.
    notes_ : list of str
        Remarks about the fit, which are stored with the results.
    formed_ : PrecomputedFeatures or None
        Features of the training rows, if they were computed during the fit and stored.
    """

    declaration: ClassVar[SamplerInfo]  # the decorator `sampler` sets this attribute
    # True if `_draw` uses the target. In cross-validation, the features are then fitted again for
    # each fold, without the rows of the fold. Otherwise the targets of held-out rows would be used.
    needs_target: ClassVar[bool] = False
    approximates_kernel: ClassVar[bool] = True
    # True if the kernel estimate is unbiased: its mean over all seeds is k(x, y) for every number M
    # of features. The parameters have their default values.
    unbiased: ClassVar[bool] = True
    has_bandwidth: ClassVar[bool] = True
    # The sampler supports the subclasses of `kernels_served` that have one of these types of
    # features (`Kernel.feature`).
    kernels_served: ClassVar[Any] = Kernel
    features_served: ClassVar[tuple[str, ...]] = ("wave", "arc-cosine", "coordinate")
    # Version number of the method. The number is increased when the features of the method change,
    # so that results of an earlier version are not reused.
    revision: ClassVar[int] = 1
    # New values of the parameters whose default has changed. These values are included in the key
    # under which a result is stored, so that a result with the old default is not reused.
    changed_defaults: ClassVar[Mapping[str, Any]] = MappingProxyType({})

    n_components: int = field(default=100, kw_only=False, metadata=make_rule_metadata(whole(1)))
    kernel: str = parameter("gaussian", one_of(*KERNELS) | WITH_PARAMETERS | IMPORT_PATH)
    bandwidth: float | str = parameter("median", bandwidths.ALLOWED)
    feature_map: str = parameter(OFFSET, one_of(OFFSET, PAIRED))
    random_state: RandomState = parameter(None, RANDOM_STATE)

    def check_parameters(self) -> None:
        """Raise MethodError if a parameter is not valid, or if the kernel is not supported."""
        super().check_parameters()
        cls = KERNELS.find(self.kernel)
        if not self.serves(cls):
            served = [name for name, other in KERNELS.items() if self.serves(other)]
            raise MethodError(
                f"{type(self).__name__} does not support the kernel '{self.kernel}'.",
                f"It supports {', '.join(served)}.",
            )

    @classmethod
    def serves(cls, kernel: type[Kernel]) -> bool:
        """Return True if the sampler can compute features of the given class of kernels."""
        # A registered kernel is supported only if the declaration of the class lists the kernel.
        # `vars` ignores inherited declarations, because a subclass may support kernels that its
        # base class does not support.
        declared = vars(cls).get("declaration")
        name = next((name for name, known in KERNELS.items() if known is kernel), None)
        if declared and name and name not in declared.kernels:
            return False
        return issubclass(kernel, cls.kernels_served) and kernel.feature in cls.features_served

    def fit(self, X: Rows, y: Any = None) -> RandomFeatures:
        """Draw the random features for a training set X.

        Parameters
        ----------
        X : array or CSR matrix of shape (n, d)
        y : array of shape (n,) or (n, k), optional
            Target of each row: class labels, real numbers, or several columns of numbers. Only
            samplers that select features with the target use it.
        """
        return self._fit_drawing(X, y, NOTHING_SHARED)

    def _fit(self, X: Rows, y: Any, shared: Shared) -> RandomFeatures:
        """Fit the sampler like `fit`, with the options and the cache of `shared`."""
        # If a subclass overrides `fit`, its own `fit` is called, and results in `shared` are not
        # reused.
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
                    "The sampler selects its features with the target.",
                )
            targets = make_target_columns(y, X.shape[0])
        random = make_streams(self.random_state)
        rule = self.bandwidth if self.has_bandwidth else 1.0
        self.kernel_: Any = bandwidths.make_kernel(X, self.kernel, rule, random.bandwidth)
        self.bandwidth_ = self.kernel_.bandwidth
        self.notes_: list[str] = []
        self.formed_: PrecomputedFeatures | None = None
        self.feature_map_ = self._draw_sharing(X, y, targets, random, shared).astype(X.dtype)
        self._n_features_out = self.feature_map_.n_columns
        return self

    def _draw_sharing(
        self, X: Rows, y: Any, targets: Array | None, random: RandomStreams, shared: Shared
    ) -> FittedMap:
        """Draw the random features and return them as a feature map.

        A subclass overrides this method instead of `_draw` if it uses the original target `y` or
        the options in `shared`.
        """
        return self._draw(X, targets, random)

    @abstractmethod
    def _draw(self, X: Rows, targets: Array | None, random: RandomStreams) -> FittedMap:
        """Draw the random features and return them as a feature map.

        `targets` contains the k target columns of the n rows X, shape (n, k), or None for a sampler
        that does not use the target.
        """

    @property
    def n_kept(self) -> int | None:
        """Number of drawn features that the method keeps, or None if it keeps all of them."""
        return int(self.kept_) if self.keeps_some else None

    @property
    def n_columns(self) -> int:
        """Number of columns of the feature matrix."""
        return self.feature_map_.n_columns

    def bytes_per_row(self, itemsize: int) -> int:
        """Return the number of bytes that the features of one row need.

        `itemsize` is the number of bytes of a floating-point number. A method that rounds its
        features to a few bits needs fewer bytes.
        """
        return self.feature_map_.bytes_per_row(itemsize)

    @property
    def kernel_constant(self) -> float:
        """Constant c of the kernel estimate z(x)'z(y) + c, with the features z(x) of a row x."""
        return self.feature_map_.kernel_constant

    def transform(self, X: Rows) -> FloatArray:
        """Return the features of the n rows X, shape (n, n_columns), in the dtype of X."""
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

    def draw_unit_map(self, random: RandomStreams, d: int, m: int) -> FeatureMap:
        """Draw m independent random features of the kernel for rows with `d` columns.

        The features are not divided by sqrt(m), so that the product of a single feature z for two
        rows has the mean ``E[z(x) z(y)] = k(x, y)``. In the paired map, z is a pair of a cosine and
        a sine.
        """
        return self._unit_map(self.kernel_.frequencies(random.frequencies, d, m), random, None)

    def unit_map(
        self, frequencies: NDArray[Any], random: RandomStreams, projection: Projection | None = None
    ) -> FeatureMap:
        """Return the feature map with the given frequencies, shape (m, d).

        Offsets are drawn if the map needs them. If `projection` is given, it contains the
        frequencies, and `frequencies` contains the m indices of the frequencies to use. Without a
        projection, each frequency is multiplied by a random scale if the kernel is a mixture of
        Gaussian kernels (for example Matern).
        """
        if isinstance(self.kernel_, ScaleMixture) and projection is None:
            frequencies = (
                frequencies * self.kernel_.draw_scales(random.rows, len(frequencies))[:, None]
            )
        return self._unit_map(frequencies, random, projection)

    def _unit_map(
        self, frequencies: NDArray[Any], random: RandomStreams, projection: Projection | None
    ) -> FeatureMap:
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
        """Return the scikit-learn tags of the sampler, for example that it accepts sparse rows."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = self.needs_target
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def uses_target(transformer: Any) -> bool:
    """Return True if the `fit` of a transformer uses the target.

    A transformer, or a step of a pipeline, declares the use of the target by the attribute
    `needs_target` or by scikit-learn's tag `target_tags.required`. The result is also True for all
    feature selectors of scikit-learn, because most of them need a target but do not set the tag.
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
    """Return the target `y` of `n` rows as an array with k columns of numbers, shape (n, k).

    If `y` contains two different class labels (integers, strings or booleans), the labels become -1
    and +1 in one column. More than two labels become one column of 0 and 1 per label. Floats and a
    two-dimensional `y` are not changed.
    """
    values = np.asarray(y)
    if len(values) != n:
        raise MethodError(
            f"y has {len(values)} values, but X has {n} rows.", "", "Pass one value per row."
        )
    if values.dtype.kind == "f" or values.ndim == 2:
        columns = values.astype(np.float64).reshape(n, -1)
        if not np.isfinite(columns).all():
            raise MethodError("The target y contains NaN or infinity.", "", "Remove these rows.")
        return columns
    classes, codes = np.unique(values, return_inverse=True)
    if len(classes) <= 2:
        return np.where(codes == len(classes) - 1, 1.0, -1.0).reshape(n, 1)
    return np.asarray(codes[:, None] == np.arange(len(classes)), dtype=np.float64)
