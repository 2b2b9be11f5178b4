"""Checks of promises, which are properties that every feature map must have.

An example of a promise is equal features for equal seeds. A feature map is a sampler, a
transformer, or a function f(X, M, seed). A check is a function of a map that raises
`CheckFailedError` if the map does not keep a promise. The name of a check is a short form of the
promise. The docstring of a check is printed as advice if the check fails.
"""

from __future__ import annotations

import inspect
import pickle
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone

from rfbench.checking.bias import BANDWIDTH, CheckFailedError, KernelClaim
from rfbench.checking.closed_forms import find_kernel_by_name
from rfbench.errors import MethodError
from rfbench.kernels import make, to_dense
from rfbench.registry import KERNELS
from rfbench.samplers.base import RandomFeatures, uses_target
from rfbench.samplers.elsewhere import SEED_NAMES, TO_STATE, Method, measure_bandwidth_exponent

Check = Callable[..., None]

# Training rows, target and new rows with which maps are checked. About half of CHECK_TARGET is 1,
# because the norm of five normal variables has the median 2.1. NEW_ROWS are not among the training
# rows. The values are arbitrary. With twice as many rows, every check needs about twice the time.
CHECK_ROWS = np.random.default_rng(7).standard_normal((60, 5))
CHECK_TARGET = np.where(np.linalg.norm(CHECK_ROWS, axis=1) > 2.0, 1.0, -1.0)
NEW_ROWS = np.random.default_rng(8).standard_normal((20, 5))
for _rows in (CHECK_ROWS, NEW_ROWS):
    _rows.setflags(write=False)  # code that writes into these rows raises an error
MAPS = ("offset", "paired")
WIDTHS = ("bandwidth", "length_scale", "lengthscale", "sigma", "gamma")
POLYNOMIAL = ("gamma", "degree", "coef0")


@dataclass(frozen=True)
class FeatureMapUnderTest:
    """A feature map that is checked, with its parameters and its declared properties.

    Attributes
    ----------
    thing : type or callable
        A sampler, a transformer, or a function ``f(X, M, seed)``.
    options : mapping
        Parameters of the map, except the number of features and the seed.
    kernels_served : sequence of str
        Names of the kernels that the map claims to approximate. A sampler must reject all other
        kernels.
    float32_tolerance : float
        Absolute tolerance for features of rows in float32.
    kernel_sizes : tuple of int
        Two numbers of features with which the kernel estimates are measured.
    unbiased : bool
        False if the map declares that its kernel estimates are biased with these parameters.
    """

    thing: Any
    options: Mapping[str, Any] = field(default_factory=dict)
    kernels_served: Sequence[str] = ("gaussian",)
    float32_tolerance: float = 1e-3
    kernel_sizes: tuple[int, int] = (16, 256)
    unbiased: bool = True

    @property
    def is_sampler(self) -> bool:
        """True if the map is a sampler with rfbench's interface."""
        return isinstance(self.thing, type) and issubclass(self.thing, RandomFeatures)

    @property
    def checks(self) -> tuple[Check, ...]:
        """Checks that apply to this kind of map."""
        if self.is_sampler:
            seeded = [each for each in OF_EVERY_MAP if each != another_seed_other_features]
            return (*seeded, *SAMPLER_CHECKS)
        skipped = [] if self._takes_seed else [another_seed_other_features]
        # The check `clones_and_copies` is omitted for functions, because only transformers can be
        # cloned and pickled.
        if not self.method.is_sklearn_transformer:
            skipped.append(clones_and_copies)
        return tuple(each for each in OF_EVERY_MAP if each not in skipped)

    @property
    def _takes_seed(self) -> bool:
        """True if the map accepts a seed and does not declare that it is deterministic."""
        seeded = self.method.is_feature_function or any(
            name in SEED_NAMES for name in self.method.parameter_names
        )
        return seeded and not getattr(self.thing, "deterministic", False)

    @property
    def reason_for_no_claims(self) -> str:
        """Reason why the map claims no kernel; an empty string if the map claims a kernel."""
        if self.is_sampler and not self.thing.approximates_kernel:
            what = "the method declares that it does not estimate a kernel"
            return f"{what} (its `approximates_kernel` is False)"
        if self.is_sampler and not (self.thing.unbiased and self.unbiased):
            return "the method declares that its estimates are biased (its `unbiased` is False)"
        return ""

    @cached_property
    def method(self) -> Method:
        """The map as a `Method`, the class with which `rfbench run` calls feature maps."""
        return Method(self.thing, getattr(self.thing, "__name__", repr(self.thing)), self.options)

    def _find_bandwidth_options(
        self, kernel: str, bandwidth: float | None = None
    ) -> tuple[dict[str, Any], float]:
        """Return the parameter of the map that sets the bandwidth, and the bandwidth.

        The parameter is returned as a dictionary of keyword arguments. The user can declare its
        name. By default, the parameter has a usual name such as ``gamma``, and its relation to the
        bandwidth is measured. The dictionary is empty if the user has set this parameter, or if the
        map has no such parameter.
        """
        # Without a parameter, the bandwidth is 1, unless it is given.
        method = self.method
        if not self.is_sampler and method.formula is not None:
            s = bandwidth or BANDWIDTH
            return {str(method.bandwidth_name): method.formula(s)}, s
        foreign = kernel == "polynomial" and not self.is_sampler
        if foreign or (name := self._width_name) is None:
            return {}, bandwidth or 1.0
        given, s = self.options.get(name), bandwidth or BANDWIDTH
        factor, power = self._reading(name, kernel)
        if given is None:
            return {name: factor * s**power}, s
        return {}, bandwidth or float((given / factor) ** (1 / power))

    @cached_property
    def _width_name(self) -> str | None:
        """Name of the parameter that sets the bandwidth, such as ``gamma``; None if there is none.

        Raises MethodError if several parameters could set the bandwidth.
        """
        names = [
            n for n in WIDTHS[: 1 if self.is_sampler else None] if n in self.method.parameter_names
        ]
        names = [name for name in names if name in self.options] or names
        if len(names) > 1:
            why = "Each of these parameters could be the bandwidth."
            raise MethodError(
                f"{self.method.name} has the parameters {' and '.join(names)}.", why, TO_STATE
            )
        return names[0] if names else None

    def _reading(self, name: str, kernel: str) -> tuple[float, float]:
        """Return f and p in the formula f * s^p for the value of a parameter with bandwidth s.

        `name` is the name of the parameter. The factor f is as in scikit-learn. The exponent p is
        measured, or derived from the name if a measurement is not possible.
        """
        usual = (-2.0 if "gaussian" in kernel else -1.0) if name == "gamma" else 1.0
        power = self._power or usual
        return (0.5 if kernel == "gaussian" and power == -2 else 1.0), power

    @cached_property
    def _power(self) -> float | None:
        """Measured exponent p of a bandwidth parameter, which is proportional to s^p.

        Here s is the bandwidth of the kernel. The exponent is None if it cannot be measured.
        """
        name = self._width_name
        # The bandwidth parameter of a sampler is the bandwidth of the kernel, so the exponent is
        # not measured.
        if self.is_sampler or name is None:
            return None
        try:
            power = measure_bandwidth_exponent(self.method, name, self.options.get(name, 1.0))
        except Exception:  # the checks report this error later
            return None
        # In common packages, a bandwidth parameter is proportional to s^p with |p| of at least 1. A
        # smaller measured exponent means that the map squares its bandwidth by mistake. Such an
        # exponent is not used.
        return power if abs(power) >= 1 else None

    @property
    def bandwidth_note(self) -> str:
        """Sentence that describes how the bandwidth is derived from a parameter of the map.

        The sentence is empty if the relation between parameter and bandwidth was not measured.
        """
        kernel = self.kernels_served[0]
        if kernel == "polynomial" or self.method.formula is not None or not self._power:
            return ""
        factor, power = self._reading(str(self._width_name), kernel)
        return (
            f"{self._width_name} is interpreted as {factor:g} * s^{power:g}, with a "
            "measured exponent"
        )

    def make(self, M: int = 8, seed: Any = 0, **options: Any) -> Any:
        """Return an object with the methods ``fit`` and ``transform`` that computes the features.

        `M` is the number of features. `M` and `seed` are passed only to maps with such parameters.
        """
        options = {**self._find_bandwidth_options(self.kernels_served[0])[0], **options}
        if not self.is_sampler:
            return self.method.make(M, seed, **options)
        usual = {"n_components": M, "random_state": seed}
        usual = {
            name: value for name, value in usual.items() if name in self.method.parameter_names
        }
        return self.thing(**{**usual, **self.options, **options})

    def fit(self, made: Any, X: Any = CHECK_ROWS, y: Any = CHECK_TARGET) -> Any:
        """Fit the object `made` to rows X; return the fitted object.

        The target y is passed only if the object declares that it uses the target.
        """
        return made.fit(X, *((y,) if uses_target(made) else ()))

    def compute_features(
        self, X: Any = CHECK_ROWS, new_rows: Any = NEW_ROWS, **options: Any
    ) -> Any:
        """Return the features of the rows `new_rows`, after a fit to the rows `X`."""
        return np.asarray(to_dense(self.fit(self.make(**options), X).transform(new_rows)))

    def list_kernel_claims(
        self, kernel: str | None = None, bandwidth: float | None = None
    ) -> list[KernelClaim]:
        """Return the kernels that the map claims to approximate, as a list of `KernelClaim`.

        If `kernel` is given, only this kernel is returned. For a sampler with frequencies, the list
        has two entries per kernel: for cosines with an offset, and for pairs of cosine and sine.
        """
        return [
            self._claim(name, each, bandwidth)
            for each in ([KERNELS.find_published_name(kernel)] if kernel else self.kernels_served)
            for name in (
                MAPS if self.is_sampler and KERNELS.find(each).feature == "wave" else ("",)
            )
        ]

    def _claim(self, name: str, kernel: str, bandwidth: float | None) -> KernelClaim:
        width, s = self._find_bandwidth_options(kernel, bandwidth)
        own = {"kernel": kernel, "feature_map": name or MAPS[0]} if self.is_sampler else {}
        words: dict[str, Any] = {**self.method.own_parameters, **width, **own}
        of_kernel: dict[str, Any] = {}
        if kernel == "polynomial" and not self.is_sampler:
            method = self.method
            of_kernel = {
                each: words.get(each, method.get_default(each))
                for each in POLYNOMIAL
                if each in method.parameter_names
            }

        def draw(X: Any, M: int, seed: int) -> Any:
            made = self.fit(self.make(M, seed, **words), X, np.arange(len(X)) % 2)
            constant = getattr(getattr(made, "feature_map_", None), "kernel_constant", 0.0)
            return to_dense(made.transform(X)), constant

        claimed = (
            make(kernel, s) if self.is_sampler else find_kernel_by_name(kernel, s, **of_kernel)
        )
        return KernelClaim(name, draw, claimed, self.kernel_sizes)


def make_map_under_test(
    feature_map: Any,
    parameters: Mapping[str, Any] | None = None,
    kernel: str | None = None,
    **differs: Any,
) -> FeatureMapUnderTest:
    """Return an object with a feature map and its properties, to which checks can be applied.

    Parameters
    ----------
    feature_map : type or callable
        A sampler, a transformer, or a function ``f(X, M, seed)``.
    parameters : mapping, optional
        Parameters of the map, except the number of features and the seed.
    kernel : str, optional
        Kernel that the map claims to approximate. By default, all kernels of a sampler, and the
        Gaussian kernel for any other map.
    **differs
        Further attributes of the returned object, which replace the declaration of a sampler.

    Returns
    -------
    FeatureMapUnderTest
        The map and its properties.

    Raises
    ------
    MethodError
        If `feature_map` is not a sampler, a transformer or a function, if a sampler does not
        support the kernel, or if a bandwidth is not a positive number.
    """
    kernels = [kernel or "gaussian"]
    for name, given in (parameters or {}).items():
        if name in WIDTHS and not (isinstance(given, int | float) and given > 0):
            raise MethodError(
                f"{name} is {given!r}.",
                "With this value, the bandwidth of the kernel is unknown.",
                "Write a number above 0.",
            )
    if isinstance(feature_map, type) and issubclass(feature_map, RandomFeatures):
        if kernel:
            feature_map(kernel=kernel).check_parameters()
        kernels = [name for name, each in KERNELS.items() if feature_map.serves(each)]
        declared = getattr(feature_map, "declaration", None)
        differs = {**(declared.contract if declared else {}), **differs}
    subject = FeatureMapUnderTest(
        feature_map, parameters or {}, **{"kernels_served": kernels, **differs}
    )
    subject.method  # noqa: B018 - raises MethodError if it is not a map
    return subject


class PromiseCheck(NamedTuple):
    """Result of the check of a promise, a property that every feature map must have.

    `name` is the name of the promise, and `help` is advice for a map that does not keep it. `fault`
    describes the failure. `fault` is an empty string if the check passed.
    """

    name: str
    help: str
    fault: str = ""

    def __str__(self) -> str:
        return f"{self.name}: {self.fault}\n{self.help}"


def run_checks(tested_map: Any, checks: Sequence[Check]) -> list[PromiseCheck]:
    """Run the given checks on a feature map, and return the result of each check.

    If the first check fails, the remaining checks are not run.
    """
    # The first check uses the map in the simplest way. If it fails, all other checks would fail
    # with the same exception.
    promises: list[PromiseCheck] = []
    for check in checks:
        fault = catch_error_message(partial(check, tested_map))
        name = check.__name__.replace("_", " ")
        promises.append(PromiseCheck(name, inspect.getdoc(check) or "", fault))
        if promises[0].fault:
            break
    return promises


def catch_error_message(function: Callable[[], Any]) -> str:
    """Call a function, and return the message of the exception that the function raises.

    The result is an empty string if no exception is raised.
    """
    try:
        function()
    except CheckFailedError as error:
        return str(error)
    except Exception as error:
        at = traceback.extract_tb(error.__traceback__)[-1]
        where = f"({Path(at.filename).name}, line {at.lineno}: {at.line})"
        return f"{type(error).__name__}: {error} {where}"
    return ""


def expect_true(condition: Any, message: str) -> None:
    """Raise CheckFailedError with `message` unless `condition` is true."""
    if not condition:
        raise CheckFailedError(message)


def expect_equal(actual: Any, expected: Any, what: str, tolerance: float = 0.0) -> None:
    """Raise CheckFailedError unless two arrays are equal within an absolute tolerance.

    `what` names the compared arrays in the error message.
    """
    actual, expected = np.asarray(actual), np.asarray(expected)
    same = partial(assert_allclose, atol=tolerance) if tolerance else assert_array_equal
    try:
        same(actual, expected)
    except AssertionError as error:
        told = ("(shapes", "nan location", "Mismatched elements", "Max absolute")
        facts = "; ".join(line for line in str(error).splitlines() if line.startswith(told))
        raise CheckFailedError(f"{what}: {facts}") from None


def expect_finite_columns(features: Any) -> None:
    """Raise CheckFailedError if a column of `features` contains NaN or infinity.

    The message has the indices of these columns.
    """
    bad = np.flatnonzero(~np.isfinite(features).all(axis=0)).tolist()
    expect_true(
        not bad,
        f"{features.shape[1]} columns were checked, and these contain NaN or infinity: {bad}",
    )


def features_are_a_matrix_of_finite_numbers(subject: FeatureMapUnderTest) -> None:
    """Check that the features are a matrix of finite numbers with one line per row.

    Correct this first. Rows are read-only: copy them before you center or scale.
    """
    features = subject.compute_features()
    right = features.ndim == 2 and len(features) == len(NEW_ROWS)
    expect_true(right, f"{len(NEW_ROWS)} rows give the shape {features.shape}")
    expect_finite_columns(features)


def same_seed_same_features(subject: FeatureMapUnderTest) -> None:
    """Check that two fits with the same seed compute the same features.

    Draw from a generator with the given seed in `fit`, never from numpy's global generator.
    """
    expect_equal(subject.compute_features(), subject.compute_features(), "the features of two fits")


def another_seed_other_features(subject: FeatureMapUnderTest) -> None:
    """Check that two seeds lead to different features.

    Draw from the given seed, or declare `deterministic = True` if nothing is drawn. A map without
    randomness has no mean over seeds, so its error is tested instead of its bias.
    """
    first, second = subject.compute_features(), subject.compute_features(seed=1)
    expect_true(not np.array_equal(first, second), "the features are the same for two seeds")


def features_are_a_function_of_each_row(subject: FeatureMapUnderTest) -> None:
    """Check that the features of a row do not depend on other rows in the call of `transform`.

    Learn means, scales and ranks in `fit`.
    """
    few, all_rows = (
        subject.compute_features(new_rows=NEW_ROWS[3:9]),
        subject.compute_features()[3:9],
    )
    expect_equal(few, all_rows, "the features of six rows alone and among twenty", 1e-9)


def clones_and_copies(subject: FeatureMapUnderTest) -> None:
    """Check that the map can be cloned before a fit, and pickled after a fit.

    Inherit from sklearn.base.BaseEstimator, let the constructor only store its parameters, and do
    not keep lambdas or open files.
    """
    fitted = subject.fit(clone(subject.make()))
    copy = pickle.loads(pickle.dumps(fitted))
    results, expected = (to_dense(made.transform(NEW_ROWS)) for made in (copy, fitted))
    expect_equal(results, expected, "the features of a pickle")


def sparse_rows_give_the_features_of_dense_ones(subject: FeatureMapUnderTest) -> None:
    """Check that sparse rows have the same features as dense rows.

    Use products that accept sparse and dense rows. Do not index X with a dense mask. A map that is
    not a sampler of rfbench may reject CSR rows by raising any exception.
    """
    rows, new = (np.where(np.abs(part) > 0.8, part, 0.0) for part in (CHECK_ROWS, NEW_ROWS))
    for of in (sparse.csr_array, sparse.csr_matrix):
        try:
            features = subject.compute_features(of(rows), of(new))
        except Exception:
            if subject.is_sampler:
                raise
            return
        expect_equal(
            features, subject.compute_features(rows, new), f"the features of {of.__name__}", 1e-9
        )


def float32_gives_nearly_the_features_of_float64(subject: FeatureMapUnderTest) -> None:
    """Check that rows in float32 have nearly the same features as rows in float64.

    Draw random numbers and select features in float64. A sampler's `fit` converts the map.
    """
    narrow, new = CHECK_ROWS.astype(np.float32), NEW_ROWS.astype(np.float32)
    for rows, what in ((CHECK_ROWS, "new rows in float32"), (narrow, "all rows in float32")):
        features = subject.compute_features(rows, new)
        tolerance = subject.float32_tolerance
        expect_equal(features, subject.compute_features(), f"the features of {what}", tolerance)
        narrowed = features.dtype == np.float32 or not subject.is_sampler
        expect_true(narrowed, f"rows in float32 give features in {features.dtype}")


def constant_columns_give_finite_features(subject: FeatureMapUnderTest) -> None:
    """Check that the features are finite if columns of the rows are constant.

    Look for divisions by a standard deviation or a distance of 0.
    """
    for constant in (slice(1, 2), slice(None)):
        rows = CHECK_ROWS.copy()
        rows[:, constant] = 3.0
        expect_finite_columns(subject.compute_features(rows, rows))


def serves_its_kernels_with_the_columns_asked_for(subject: FeatureMapUnderTest) -> None:
    """Check that a sampler rejects a kernel, or returns the requested number of columns for it.

    A paired map has two columns per frequency.

    Name the kernels that `_draw` supports: in `kernels` of the decorator `sampler`, in the
    attribute `kernels_served` or `features_served`, or in the method `serves`. Return as many
    frequencies as `n_components`.
    """
    for kernel, each in KERNELS.items():
        for feature_map in MAPS:
            words: dict[str, Any] = {"kernel": kernel, "feature_map": feature_map}
            if kernel not in subject.kernels_served:
                fault = catch_error_message(subject.make(**words).check_parameters)
                refused = fault.startswith("MethodError") and f"'{kernel}'" in fault
                expect_true(refused, f"{kernel} is not rejected: {fault or 'no error is raised'}")
                continue
            pairs = feature_map == "paired" and each.feature == "wave"
            for M in (5, 16) if each.feature != "coordinate" else (5,):
                made = subject.fit(subject.make(M, **words))
                names, fitted = made.get_feature_names_out(), made.feature_map_.n_columns
                wide = made.transform(NEW_ROWS).shape[1], fitted, len(names)
                expect_true(
                    len(set(wide)) == 1 and wide[0] in (M, 2 * M if pairs else M),
                    f"with M = {M} there are {wide[0]} columns; feature_map_.n_columns is "
                    f"{fitted}, and {len(names)} have names",
                )


def the_target_is_used_where_it_is_needed(subject: FeatureMapUnderTest) -> None:
    """Check that the target changes the features if and only if a sampler needs the target.

    Set `needs_target = True` if `_draw` uses its targets, and only then.
    """
    other = np.random.default_rng(9).permutation(CHECK_TARGET)
    features = subject.make().fit(CHECK_ROWS, other).transform(NEW_ROWS)
    same = np.array_equal(features, subject.compute_features())
    if subject.thing.needs_target:
        expect_true(
            not same, "the features are the same with shuffled labels, so the target is not used"
        )
        fault = catch_error_message(lambda: subject.make().fit(CHECK_ROWS))
        expect_true(
            "requires y" in fault,
            f"a fit without y is not rejected: {fault or 'no error is raised'}",
        )
    else:
        expect_true(same, "the features with a target differ from the features without a target")


OF_EVERY_MAP: tuple[Check, ...] = (
    features_are_a_matrix_of_finite_numbers,
    same_seed_same_features,
    another_seed_other_features,
    features_are_a_function_of_each_row,
    clones_and_copies,
    sparse_rows_give_the_features_of_dense_ones,
    float32_gives_nearly_the_features_of_float64,
)
SAMPLER_CHECKS: tuple[Check, ...] = (
    constant_columns_give_finite_features,
    serves_its_kernels_with_the_columns_asked_for,
    the_target_is_used_where_it_is_needed,
)
