"""Adapters that turn feature maps from outside rfbench into samplers.

Three kinds of feature maps are accepted: subclasses of `RandomFeatures`, transformers with
scikit-learn's interface (a class or an instance), and functions ``f(X, M, seed)`` that return M
features of the rows X. `Method` describes such a feature map and builds a sampler from it.
`adapted` converts a torch module or a JAX function to a function ``f(X, M, seed)``. By default,
the rows are divided by a number such that the length scale of the features is the bandwidth s (see
`rfbench.samplers.length_scale`).
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone

from rfbench.arrays import Array, FloatArray, Rows
from rfbench.errors import MethodError
from rfbench.parameters import (
    build_checked_object,
    estimator,
    list_init_parameters,
    resolve_parameters,
)
from rfbench.rows import RowSource
from rfbench.samplers.base import NOTHING_SHARED, RandomFeatures, RandomStreams, Shared, uses_target
from rfbench.samplers.feature_map import FittedMap, check_columns, to_feature_matrix
from rfbench.samplers.length_scale import PAIRS, compute_feature_products, measure_length_scale

# Parameter names that different packages use for the number of features and for the seed. The first
# name that a method accepts is used.
SIZES = ("n_components", "n_features", "M")
SEED_NAMES = ("random_state", "seed")
# PARAMETER and FORMULA are the names of two settings with which users describe the bandwidth of a
# method. The first setting is the name of the method's bandwidth parameter. The second setting is
# the value of this parameter, as a formula in the bandwidth s. Instead of a parameter name, the
# first setting can be 'none' (rows are not changed) or 'rows' (rows are divided by s).
PARAMETER, FORMULA = "bandwidth_parameter", "bandwidth_formula"
NOT_VARIED, ROWS_VARIED = "none", "rows"
TO_STATE = (
    f"State `{PARAMETER}: NAME` and `{FORMULA}: 1/(2*s^2)` (or s, 1/s, 0.5*s^2) among the "
    f"parameters of the method, or `{PARAMETER}: {ROWS_VARIED}` to divide the rows."
)
# Note that is added to a result row if the length scale of the method could not be measured.
UNKNOWN_SCALE = "the method's parameters are assumed to be for bandwidth 1"
# In earlier versions of rfbench, the note UNKNOWN_SCALE in result rows started with this text.
EARLIER_UNKNOWN_SCALE = "own parameters are taken for bandwidth 1"
_SIZE = re.compile(r"(.*\*\s*)?M")
_COEFFICIENT = r"([0-9]*\.?[0-9]+(?:e[+-]?[0-9]+)?)"
_POWER = r"s(?:\s*(?:\^|\*\*)\s*([0-9.]+))?"
_PRODUCT = re.compile(rf"(?:{_COEFFICIENT}\s*\*\s*)?{_POWER}")
_QUOTIENT = re.compile(rf"{_COEFFICIENT}\s*/\s*(\(?)\s*(?:{_COEFFICIENT}\s*\*\s*)?{_POWER}\s*(\)?)")

ADAPTER = (
    "Write two lines, `from rfbench.samplers.elsewhere import adapted` and "
    "`mine = adapted(lambda d, M, seed: Net(d, M, seed))`, and name `mine`."
)
OTHERWISE = (
    "Name a sampler, a transformer or a function. For solvers and "
    "estimators, use scikit-learn's check_estimator instead."
)


@dataclass(frozen=True)
class Formula:
    """Formula factor * s^power for a parameter that depends on the bandwidth s of a kernel."""

    factor: float
    power: float

    def __call__(self, s: float) -> float:
        """Return the value factor * s^power of the parameter for the bandwidth `s`."""
        return float(self.factor * s**self.power)

    @classmethod
    def parse(cls, text: Any) -> Formula:
        """Return the formula that is written in `text`, for example ``2*s^2`` or ``1/(2*s^2)``.

        Raise MethodError if the text is not a number multiplied by a power of s.
        """
        if match := _PRODUCT.fullmatch(str(text).strip()):
            return cls(float(match[1] or 1), float(match[2] or 1))
        match = _QUOTIENT.fullmatch(str(text).strip())
        # A product in the denominator must be in brackets. Without brackets, 1/2*s could mean s/2
        # or 1/(2*s).
        if match is None or (match[3] and not match[2]) or bool(match[2]) != bool(match[5]):
            raise MethodError(
                f"{FORMULA} is {text!r}.", "The formula has to be a power of s.", TO_STATE
            )
        return cls(float(match[1]) / float(match[3] or 1), -float(match[4] or 1))


@dataclass(frozen=True)
class Method:
    """A feature map of the user, from which a sampler can be built.

    Attributes
    ----------
    thing : type, transformer or callable
        The feature map: a subclass of `RandomFeatures`, a scikit-learn transformer (class or
        instance), or a function f(X, M, seed) that returns M features of the rows X.
    name : str
        Name of the feature map in messages.
    parameters : mapping
        Parameters of the feature map. Two further keys may specify which parameter depends on the
        bandwidth of the kernel, and by which formula.

    Raises
    ------
    MethodError
        If `thing` is not a feature map.
    """

    thing: Any
    name: str
    parameters: Mapping[str, Any]
    _length_scales: dict[int, tuple[float, str]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        """Raise MethodError if the attribute `thing` is not a feature map."""
        if self.is_sklearn_transformer or self.is_feature_function:
            return
        called = callable(self.thing) and not isinstance(self.thing, type)
        raise MethodError(
            f"{self.name} is not a feature map.",
            "A feature map has the methods `fit` and `transform`, or is a function f(X, M, seed).",
            ADAPTER if called or hasattr(self.thing, "forward") else OTHERWISE,
        )

    @property
    def is_sampler(self) -> bool:
        """True if `thing` is a subclass of `RandomFeatures` and thus uses the bandwidth itself.

        False if the user has specified how the bandwidth is passed to the feature map.
        """
        own = isinstance(self.thing, type) and issubclass(self.thing, RandomFeatures)
        return own and PARAMETER not in self.parameters

    @property
    def is_sklearn_transformer(self) -> bool:
        """True if `thing` has the methods `fit` and `transform`."""
        return hasattr(self.thing, "fit") and hasattr(self.thing, "transform")

    @property
    def is_feature_function(self) -> bool:
        """True if `thing` is a function of rows, a number of features and a seed."""
        if isinstance(self.thing, type) or not callable(self.thing) or self.is_sklearn_transformer:
            return False
        return _fault_of_call(self.thing, {}) is None

    @property
    def own_parameters(self) -> dict[str, Any]:
        """Parameters of the feature map, without the two keys that describe its bandwidth."""
        return {k: v for k, v in self.parameters.items() if k not in (PARAMETER, FORMULA)}

    @property
    def bandwidth_name(self) -> str | None:
        """Name of the parameter that depends on the bandwidth, as specified by the user, or None.

        Instead of a name, the user may specify ``rows`` (the rows are divided by the bandwidth) or
        ``none`` (the bandwidth is not used).
        """
        return self.parameters.get(PARAMETER)

    @property
    def _has_size_parameter(self) -> bool:
        """True if a parameter of the feature map sets the number of features."""
        named = any(isinstance(v, str) and _SIZE.fullmatch(v) for v in self.own_parameters.values())
        return (
            self.is_feature_function or named or any(name in SIZES for name in self.parameter_names)
        )

    @property
    def has_bandwidth(self) -> bool:
        """True if the features may depend on the bandwidth of the kernel.

        By default, the result is False for a transformer without a parameter for the number of
        features, such as a scaler. Its rows are then not divided by the bandwidth.
        """
        if self.is_sampler:
            return bool(self.thing.has_bandwidth)
        return self.bandwidth_name != NOT_VARIED and (
            self._has_size_parameter or self.bandwidth_name is not None
        )

    @functools.cached_property
    def formula(self) -> Formula | None:
        """Formula that computes the value of a parameter from the bandwidth.

        None if no parameter depends on the bandwidth. If the user has specified a parameter
        without a formula, the exponent of the formula is measured by computing features.
        """
        if self.bandwidth_name in (None, NOT_VARIED, ROWS_VARIED):
            return None
        if (text := self.parameters.get(FORMULA)) is not None:
            return Formula.parse(text)
        value = self.own_parameters.get(self.bandwidth_name, self.get_default(self.bandwidth_name))
        return Formula(float(value), measure_bandwidth_exponent(self, self.bandwidth_name, value))

    def find_length_scale(self, d: int) -> tuple[float, str]:
        """Return the length scale of the features for rows with d columns, and a remark for users.

        The length scale is the distance of two rows at which the product of their features becomes
        small, and is measured once for each d. The result is 1 if the length scale cannot be
        measured, or does not need to be measured.
        """
        if not self.has_bandwidth or self.is_sampler or FORMULA in self.parameters:
            return 1.0, ""
        if d not in self._length_scales:
            own = resolve_parameters(self.own_parameters, M=2 * PAIRS, d=d, n=2 * PAIRS)
            make = functools.partial(self.make, 2 * PAIRS, **own)
            try:
                if uses_target(make(0)):
                    raise MethodError("The method uses the target.")
                found = measure_length_scale(make, d)
                self._length_scales[d] = (
                    found,
                    f"length scale of the method with its own parameters: {found:.4g}",
                )
            except Exception as error:
                why = getattr(error, "what", f"{type(error).__name__}: {error}")
                self._length_scales[d] = 1.0, f"{UNKNOWN_SCALE}: {why}"
        return self._length_scales[d]

    @property
    def parameter_names(self) -> list[str]:
        """Names of the parameters that the feature map accepts."""
        if isinstance(self.thing, type):
            cls: Any = self.thing
            return [name for name in list_init_parameters(cls.__init__) if name != "self"]
        if hasattr(self.thing, "get_params"):
            return list(self.thing.get_params(deep=False))
        return (
            list(inspect.signature(self.thing).parameters)[3:] if self.is_feature_function else []
        )

    def get_default(self, name: str) -> Any:
        """Return the default value of the parameter `name`, or None if no such parameter exists."""
        if isinstance(self.thing, type) or self.is_feature_function:
            found = inspect.signature(self.thing).parameters.get(name)
            return None if found is None else found.default
        return self.thing.get_params(deep=False).get(name)

    def make(self, M: int, seed: Any, /, **own: Any) -> Any:
        """Return a new, unfitted transformer with M features.

        `seed` is the random seed. The keyword arguments override the attribute `parameters`. Raise
        MethodError if a parameter does not exist.
        """
        words = {**self.own_parameters, **own}
        if self.is_feature_function:
            if (fault := _fault_of_call(self.thing, words)) is not None:
                raise MethodError(f"{self.name} does not have this parameter.", f"{fault}.")
            return FunctionFeatures(self.thing, M, seed, words)
        for names, value in ((SIZES, M), (SEED_NAMES, seed)):
            if first := next((name for name in names if name in self.parameter_names), None):
                words.setdefault(first, value)
        if isinstance(self.thing, type):
            return build_checked_object(self.thing, self.name, words)
        try:
            return clone(self.thing).set_params(**words)
        except (TypeError, ValueError) as error:
            raise MethodError(
                f"{self.name} cannot be copied: {error}",
                "Each fit gets a fresh copy from scikit-learn's `clone`.",
                "Inherit from sklearn.base.BaseEstimator, or name the class, not an object.",
            ) from error

    def build(self, shared: Mapping[str, Any], own: Mapping[str, Any]) -> RandomFeatures:
        """Return an unfitted sampler that computes the features.

        Parameters
        ----------
        shared : mapping
            Parameters that all samplers have: ``n_components``, ``random_state``, ``kernel``,
            ``bandwidth`` and ``feature_map``.
        own : mapping
            Parameters of this feature map. Formulas such as ``5*M`` are already replaced by
            numbers.
        """
        if self.is_sampler:
            taken = list_init_parameters(self.thing.__init__)
            words = {word: value for word, value in shared.items() if word in taken}
            sampler: RandomFeatures = build_checked_object(self.thing, self.name, {**words, **own})
            return sampler
        own = {name: value for name, value in own.items() if name in self.own_parameters}
        made = ForeignFeatures(**{**shared, "method": self, "own": own})
        made.make_unfitted()  # raise an error for a wrong parameter before anything is fitted
        made.check_parameters()
        return made


def _fault_of_call(function: Callable[..., Any], words: Mapping[str, Any]) -> str | None:
    """Return the message of the error that ``function(X, M, seed, **words)`` would raise.

    Only the signature of the function is checked. The function is not called. The result is None
    if the arguments match the signature.
    """
    try:
        inspect.signature(function).bind("X", "M", "seed", **words)
    except TypeError as error:
        return str(error)
    except ValueError:  # a builtin function has no signature
        return None
    return None


class FunctionFeatures:
    """Transformer whose features are computed by a function ``f(X, M, seed)``."""

    def __init__(
        self, function: Callable[..., Any], M: int, seed: int, words: Mapping[str, Any]
    ) -> None:
        self.function, self.M, self.seed, self.words = function, M, seed, words

    def fit(self, X: Rows, y: Any = None) -> FunctionFeatures:
        """Do nothing and return self, because a function has no parameters to fit."""
        return self

    def transform(self, X: Rows) -> Any:
        """Return the features that the function computes for the rows X."""
        return self.function(X, self.M, self.seed, **self.words)


@estimator
class ForeignFeatures(RandomFeatures):
    """Sampler that computes the features of a feature map from outside rfbench.

    The parameters `kernel` and `feature_map` of the base class `RandomFeatures` have no effect.

    Parameters
    ----------
    method : Method
        The feature map.
    own : mapping
        Parameters of the feature map that override the parameters in `method`.
    """

    unbiased: ClassVar[bool] = False

    method: Any = field(default=None)
    own: Any = field(default=None)

    @property
    def has_bandwidth(self) -> bool:  # type: ignore[override]
        """True if the features may depend on the bandwidth of the kernel."""
        return bool(self.method.has_bandwidth)

    @property
    def approximates_kernel(self) -> bool:  # type: ignore[override]
        """True if the feature map declares that products of its features estimate a kernel."""
        return bool(getattr(self.method.thing, "approximates_kernel", False))

    @property
    def needs_target(self) -> bool:  # type: ignore[override]
        """True if the feature map declares that its `fit` uses the target."""
        return uses_target(self.make_unfitted())

    def make_unfitted(self, **own: Any) -> Any:
        """Return a new, unfitted transformer. Keyword arguments override its parameters."""
        return self.method.make(self.n_components, self.random_state, **{**self.own, **own})

    def _draw(self, X: Rows, targets: Array | None, random: RandomStreams) -> ForeignMap:
        return self._draw_sharing(X, targets, targets, random, NOTHING_SHARED)

    def _draw_sharing(
        self, X: Rows, y: Any, targets: Array | None, random: RandomStreams, shared: Shared
    ) -> ForeignMap:
        """Fit the user's transformer on the rows X, and return its feature map.

        If the transformer uses the target, the original target y is passed to it.
        """
        formula = self.method.formula
        length_scale, note = self.method.find_length_scale(X.shape[1])
        self.notes_ += [note] if note else []
        s = self.bandwidth_ / length_scale
        scale = s if self.has_bandwidth and formula is None else 1.0
        varied = {} if formula is None else {self.method.bandwidth_name: formula(s)}
        fitted = self.make_unfitted(**varied)
        # Rows that are stored on disk (`RowSource`) are passed to the method without a division by
        # the bandwidth. A method that needs all rows in memory then raises an error with advice.
        rows = X if isinstance(X, RowSource) else _divided(X, scale)
        fitted.fit(rows, *(() if targets is None else (y,)))
        # Methods create their kernel during `fit`, and store the kernel in the attribute `kernel_`.
        if self.approximates_kernel:
            self.kernel_ = fitted.kernel_
        return ForeignMap._from_fitted(fitted, scale, X)


@dataclass(frozen=True, eq=False)
class ForeignMap(FittedMap):
    """Feature map of a fitted transformer from outside rfbench.

    The rows are divided by `scale` before they are transformed to `width` features.
    """

    fitted: Any
    scale: float
    width: int

    @classmethod
    def _from_fitted(cls, fitted: Any, scale: float, X: Rows) -> ForeignMap:
        """Return the feature map of a fitted transformer.

        Raise MethodError if the features of a row depend on the other rows that are transformed in
        the same call, because rows are later transformed in blocks of any size.
        """
        some = _divided(X[:16], scale)
        width = to_feature_matrix(fitted.transform(some[:1]), 1).shape[1]
        whole = to_feature_matrix(fitted.transform(some), some.shape[0])
        alone = to_feature_matrix(fitted.transform(some[:5]), some[:5].shape[0])
        for block in (whole, alone):
            check_columns(block.shape[1], width)
        # Features in float32 have rounding errors that depend on the number of rows in the block.
        # The tolerance is larger than these errors.
        tolerance = 1e-4 * np.abs(whole).max()
        if not np.allclose(whole[:5], alone, rtol=0.0, atol=tolerance, equal_nan=True):
            raise MethodError(
                "The features of a row depend on the other rows of its block.",
                "Features are computed in blocks of rows, and separately for test rows.",
                "Learn means, scales and ranks in the method `fit` of a transformer. "
                "Draw random numbers from the seed.",
            )
        return cls(fitted, scale, width)

    @property
    def n_columns(self) -> int:
        """Number of columns of the feature matrix."""
        return self.width

    def astype(self, dtype: Any) -> ForeignMap:
        """Return the feature map unchanged, because its author chooses the dtypes."""
        return self

    def transform_into(self, rows: Rows, out: FloatArray) -> None:
        """Compute the features of the n rows, and write them into `out`, shape (n, n_columns)."""
        block = to_feature_matrix(self.fitted.transform(_divided(rows, self.scale)), rows.shape[0])
        check_columns(block.shape[1], self.width)
        out[...] = block


def _divided(rows: Any, scale: float) -> Any:
    return rows if scale == 1.0 else rows / scale


class adapted:
    """Function f(X, M, seed) that returns M features, from a torch module or a JAX function.

    Parameters
    ----------
    build : callable
        Function ``build(d, M, seed)``. For rows with d columns it returns a torch module with M
        outputs, or a function of JAX or numpy that computes M features of rows.

    Examples
    --------
    >>> import numpy as np
    >>> def net(d, M, seed):
    ...     W = np.random.default_rng(seed).standard_normal((d, M))
    ...     return lambda X: np.cos(X @ W)
    >>> adapted(net)(np.zeros((2, 3)), 4, 0).shape
    (2, 4)
    """

    def __init__(self, build: Callable[[int, int, Any], Any]) -> None:
        self.build = build
        self._last: tuple[Any, Any] = (None, None)

    def __call__(self, X: Any, M: int, seed: Any) -> Any:
        """Return the features of the rows X, shape (n, d), as a numpy array."""
        key = (X.shape[1], M, seed)
        if self._last[0] != key:
            self._last = (key, self.build(*key))
        made = self._last[1]
        call = made if callable(made) else made.forward
        if hasattr(made, "state_dict"):  # a torch module needs rows of its own dtype and device
            import torch

            arrays = [*made.parameters(), *made.buffers()]
            rows = torch.as_tensor(np.array(X))
            like = next((each for each in arrays if each.is_floating_point()), rows)
            with torch.no_grad():
                return call(rows.to(like)).cpu().numpy()
        return np.asarray(call(X))


# The functions below measure two properties of a method: if its features depend on the bandwidth,
# and with which power of the bandwidth a parameter of the method changes.

# Numbers of row pairs, columns, features and seeds for measuring the bandwidth formula of a method.
# The values were chosen without a measurement. With twice the SEED_COUNT, the check needs twice the
# time, but can distinguish two formulas whose results differ by 30 % less. With half the
# SEED_COUNT, several formulas may fit the results.
N_PAIRS, COLUMNS, FEATURES, SEED_COUNT = 20, 5, 16, 40

# About half of the LABELS are 1, because the norm of five normal variables has the median 2.1.
# POWERS are the powers of the bandwidth s that occur in scikit-learn, torch and papers, for example
# -2 for gamma = 1 / (2 * s^2). PROBE_PARAMETERS contain a fixed seed, so that rows with doubled
# values get the same random numbers.
PROBE_ROWS = np.random.default_rng(11).standard_normal((2 * N_PAIRS, COLUMNS))
LABELS = (np.linalg.norm(PROBE_ROWS, axis=1) > 2.0).astype(int)
POWERS = (-2.0, -1.0, -0.5, 0.5, 1.0, 2.0)
PROBE_PARAMETERS = {"n_components": FEATURES, "random_state": 0}

# Two products of features count as equal if their difference, divided by the largest product, is at
# most this value. The value is about 100 times the rounding error of float32, which is 2^-23
# by definition.
UNCHANGED = 1e-5
# Two means count as equal if their difference is at most this number of standard errors. By chance,
# the difference exceeds 4 standard errors in 1 of 16,000 cases. With the value halved, a correct
# formula would be rejected in 1 of 20 cases.
ERRORS = 4.0


def _resolved(method: Method) -> dict[str, Any]:
    return resolve_parameters(method.own_parameters, M=FEATURES, d=COLUMNS, n=2 * N_PAIRS)


def _products(fitted: Callable[[], Any], rows: Array) -> Array:
    """Return the product of the features of the two rows of each pair, shape (N_PAIRS,)."""
    made = fitted()
    return compute_feature_products(made, rows, *((LABELS,) if uses_target(made) else ()))[0]


def has_scale_dependent_features(method: Method) -> bool:
    """Return True if the products of features change when all rows are divided by 4.

    A feature map for which the products do not change has no bandwidth. The features are computed
    for a fixed set of random rows.
    """

    def made() -> Any:
        if not method.is_sampler:
            return method.make(FEATURES, 0, **_resolved(method))
        return method.build({**PROBE_PARAMETERS, "bandwidth": 1.0}, _resolved(method))

    before, after = (_products(made, rows) for rows in (PROBE_ROWS, PROBE_ROWS / 4))
    return bool((np.abs(after - before) > UNCHANGED * np.abs(before).max()).any())


def measure_bandwidth_exponent(method: Method, name: str, value: Any) -> float:
    """Return the exponent p if the parameter `name` has to be proportional to s^p.

    Here s is the bandwidth of the kernel. To test an exponent p, all rows are multiplied by 2 and
    the parameter by 2^p. If p is right, the mean products of the features of pairs of rows do not
    change by more than their standard errors. The tested exponents are `POWERS`. The kernel has to
    depend only on x - y.

    Raises
    ------
    MethodError
        If `value` is not a number above 0, if the feature map uses the target, if its kernel does
        not depend only on x - y, or if no exponent or more than one exponent passes the test.
    """

    def unknown(why: str) -> MethodError:
        return MethodError(f"It is not known how {name} depends on the bandwidth.", why, TO_STATE)

    if not isinstance(value, int | float) or isinstance(value, bool) or not value > 0:
        raise unknown(f"The value is {value!r}, which is not a number above 0.")
    if uses_target(method.make(FEATURES, 0, **_resolved(method))):
        raise unknown("The method uses the target.")

    def mean_products(rows: Array, times: float = 1.0, count: int = SEED_COUNT) -> Array:
        words = {**_resolved(method), name: float(value) * times}
        make = functools.partial(method.make, FEATURES, **words)
        return np.array([_products(functools.partial(make, s), rows) for s in range(count)])

    # The rows are scaled to distances at which the kernel is about half of its value at distance 0.
    # At much smaller or larger distances, the kernel would hardly depend on the bandwidth.
    def off(scale: float) -> float:
        pairs, itself = scale * PROBE_ROWS, scale * np.tile(PROBE_ROWS[:N_PAIRS], (2, 1))
        near, same = (float(mean_products(rows, count=8).mean()) for rows in (pairs, itself))
        return abs(near / same - 0.5) if same > 0 else np.inf

    rows = min(4.0 ** np.arange(-12, 13), key=off) * PROBE_ROWS
    base = mean_products(rows)

    def fits(other: Array) -> bool:
        differences = other - base
        error = differences.std(axis=0, ddof=1) / np.sqrt(SEED_COUNT)
        limit = ERRORS * error + UNCHANGED * np.abs(base).max()
        return bool((np.abs(differences.mean(axis=0)) <= limit).all())

    if not fits(mean_products(rows + 3.0 * np.std(rows))):
        raise unknown(
            "The kernel of the method depends on the position of the rows, not only "
            "on their differences."
        )
    fitting = [p for p in POWERS if fits(mean_products(2.0 * rows, 2.0**p))]
    if len(fitting) != 1:
        words = ", ".join(f"s^{p:g}" for p in fitting) or "no power of s"
        raise unknown(f"For the same pairs and seeds, the measurements agree with {words}.")
    return fitting[0]
