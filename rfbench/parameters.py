"""Rules for the values of the parameters of methods, and functions that check them."""

from __future__ import annotations

import functools
import inspect
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from numbers import Integral, Real
from typing import Any, TypeVar, dataclass_transform

import numpy as np

from rfbench.errors import MethodError, suggest_nearest_name

# Largest signed 32-bit integer, by definition. Whole-number parameters are limited to this value,
# because BLAS and scikit-learn use 32-bit indices.
LARGEST_WHOLE = 2**31 - 1
COUNTS = ("n_components", "pool_size", "score_rows", "base_size")
_EXPRESSION = re.compile(r"(?:((?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e-?[0-9]+)?)\s*\*\s*)?([Mdn])")
Class = TypeVar("Class")


@dataclass(frozen=True)
class Rule:
    """A rule for the values of a parameter: a description in `words` and a test `holds`.

    The error message for an invalid value is "The value has to be", followed by `words`. For a
    misspelled value, the message suggests the nearest of the `choices`.
    """

    words: str
    holds: Callable[[Any], bool]
    choices: tuple[str, ...] = ()

    def __or__(self, other: Rule) -> Rule:
        """Return a rule that is satisfied if at least one of the two rules is satisfied."""
        return Rule(
            f"{self.words}, or {other.words}",
            lambda value: self.holds(value) or other.holds(value),
            (*self.choices, *other.choices),
        )


def number(*, least: float = -math.inf, above: float = -math.inf, most: float = math.inf) -> Rule:
    """Return a rule for a finite number within the given bounds.

    The number has to be at least `least`, above `above` and at most `most`.
    """

    def holds(value: Any) -> bool:
        if not isinstance(value, Real) or isinstance(value, bool):
            return False
        try:
            given = float(value)
        except OverflowError:  # the integer is larger than all floats
            return False
        return math.isfinite(given) and least <= given <= most and given > above

    bound = f" above {above:g}" if above > least else f" of at least {least:g}"
    return Rule(f"a number{bound}{f' and at most {most:g}' if most < math.inf else ''}", holds)


def whole(least: int) -> Rule:
    """Return a rule for an integer of at least `least`."""

    def holds(value: Any) -> bool:
        return (
            isinstance(value, Integral)
            and not isinstance(value, bool)
            and least <= int(value) <= LARGEST_WHOLE
        )

    return Rule(f"a whole number of at least {least} and below 2^31", holds)


def _is_random_state(value: Any) -> bool:
    if isinstance(value, Integral):
        return int(value) >= 0 and not isinstance(value, bool)
    seeds = np.random.Generator | np.random.RandomState | np.random.SeedSequence | None
    return isinstance(value, seeds)


NONE = Rule("nothing", lambda value: value is None)
BOOLEAN = Rule("true or false", lambda value: isinstance(value, bool | np.bool_))
RANDOM_STATE = Rule(
    "a whole number of at least 0, or a random generator of numpy", _is_random_state
)


def one_of(*choices: Any) -> Rule:
    """Return a rule that allows only the given values. 1 and True are different values."""
    texts = tuple(str(choice) for choice in choices)

    def holds(value: Any) -> bool:
        return isinstance(value, str | Real | np.bool_) and any(
            value == choice and isinstance(value, bool | np.bool_) == isinstance(choice, bool)
            for choice in choices
        )

    return Rule(f"{'one of ' if len(texts) > 1 else ''}{', '.join(texts)}", holds, texts)


def is_path(value: Any) -> bool:
    """Return True if a value is an import path: a string with a dot or a colon.

    A name with parameters in brackets is not an import path.
    """
    return (
        isinstance(value, str)
        and bool(set(value) & set(".:"))
        and not has_bracketed_parameters(value)
    )


def has_bracketed_parameters(value: Any) -> bool:
    """Return True if a value is a name with parameters in brackets: polynomial[degree=3]."""
    return isinstance(value, str) and "[" in value and value.endswith("]")


IMPORT_PATH = Rule("the import path of a class", is_path)
WITH_PARAMETERS = Rule("a name with parameters (polynomial[degree=3])", has_bracketed_parameters)


def parameter(default: Any, rule: Rule) -> Any:
    """Return a dataclass field for a parameter with a default value and a rule."""
    return field(default=default, metadata=make_rule_metadata(rule))


def make_rule_metadata(rule: Rule) -> dict[str, Rule]:
    """Return metadata for a dataclass field, which store the rule for its values."""
    return {"rule": rule}


@dataclass_transform(eq_default=False, kw_only_default=True, field_specifiers=(field,))
def estimator(cls: type[Class]) -> type[Class]:
    """Turn the annotated fields of a class into keyword arguments of its constructor.

    The class decorator makes the class a dataclass, but keeps the comparison and the representation
    of scikit-learn's BaseEstimator. Fields of base classes come first.
    """
    return dataclass(eq=False, repr=False, kw_only=True)(cls)


def describe_parameters(cls: type[Any]) -> list[str]:
    """Return a string for each parameter of an `estimator` class: its name, default and rule."""
    lines = []
    for declared in fields(cls):
        if declared.init:
            default = "" if declared.default is MISSING else f" = {declared.default!r}"
            rule = declared.metadata.get("rule")
            lines.append(f"{declared.name}{default}{f': {rule.words}' if rule else ''}")
    return lines


class Checked:
    """Base class of estimators whose parameters are checked by rules."""

    def check_parameters(self) -> None:
        """Raise MethodError if the value of a parameter violates its rule."""
        for declared in fields(self):  # type: ignore[arg-type]
            rule, value = declared.metadata.get("rule"), getattr(self, declared.name)
            if rule is not None and not rule.holds(value):
                raise MethodError(
                    f"{declared.name} is {value!r}."
                    + suggest_nearest_name(str(value), list(rule.choices)),
                    f"The value has to be {rule.words}.",
                )


@functools.cache  # results are cached, because this function is called for every trial
def list_init_parameters(constructor: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    """Return the parameters of the `__init__` method of a class, including `self`."""
    return inspect.signature(constructor).parameters


def build_checked_object(cls: type[Any], name: str, parameters: Mapping[str, Any]) -> Any:
    """Create an object of a class with the given parameters, and check their values.

    `name` is the name of the class in error messages. Raise MethodError if a parameter is unknown,
    missing or invalid.
    """
    empty, several = inspect.Parameter.empty, inspect.Parameter.VAR_POSITIONAL
    declared = dict(list_init_parameters(cls.__init__))
    declared.pop("self", None)
    rest = [word for word, own in declared.items() if own.kind is inspect.Parameter.VAR_KEYWORD]
    allowed = [word for word in declared if word not in rest]
    required = [w for w in allowed if declared[w].default is empty and declared[w].kind != several]
    for word in parameters:
        if word not in allowed and not rest:
            raise MethodError(
                f"{name} has no parameter '{word}'.{suggest_nearest_name(word, allowed)}",
                f"It has {', '.join(allowed)}.",
            )
    missing = [word for word in required if word not in parameters]
    if missing:
        raise MethodError(
            f"{name} needs the parameter '{missing[0]}'.",
            "Its constructor does not have a default for this parameter.",
            f"Write the parameter next to the class: `{missing[0]}: VALUE`.",
        )
    try:
        built = cls(**parameters)
    except MethodError:
        raise
    except (Exception, SystemExit) as error:
        raise MethodError(
            f"{name} cannot be created with these parameters.", f"{type(error).__name__}: {error}."
        ) from error
    if isinstance(built, Checked):
        built.check_parameters()
    elif hasattr(built, "_parameter_constraints"):  # this object is an estimator of scikit-learn
        try:
            built._validate_params()
        except ValueError as error:
            raise MethodError(f"{name}: {error}") from None
    return built


def resolve_parameters(parameters: Mapping[str, Any], *, M: int, d: int, n: int) -> dict[str, Any]:
    """Replace `M`, `d`, `n` and multiples such as `10*M` or `0.01*d` in parameters by numbers.

    M is the number of features, d the number of columns, and n the number of training rows.
    Parameters that are counts, such as the size of a pool, are rounded. All other strings are
    unchanged.
    """
    numbers = {"M": M, "d": d, "n": n}

    def value_of(key: str, value: Any) -> Any:
        match = _EXPRESSION.fullmatch(value) if isinstance(value, str) else None
        if match is None:
            return value
        product = float(match[1] or 1) * numbers[match[2]]
        if not math.isfinite(product):
            return value
        return round(product) if key in COUNTS or product == int(product) else product

    return {key: value_of(key, value) for key, value in parameters.items()}
