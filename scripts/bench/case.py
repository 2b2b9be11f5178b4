"""A measured case and its bars."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

RECORDED = (
    "case",
    "n",
    "d",
    "M",
    "seconds",
    "reference",
    "reference_seconds",
    "ratio",
    "limit_seconds",
    "limit_ratio",
)


@dataclass(frozen=True)
class Bar:
    """Bound that a case has to reach.

    Attributes
    ----------
    number : int
        Number of the bar, from 1 to 8.
    measure : {'ratio', 'limit_ratio', 'seconds', 'gigabytes'}
        Attribute of the case that is bounded.
    least, most : float or None
        The bounds that apply.
    """

    number: int
    measure: str
    least: float | None = None
    most: float | None = None

    def __str__(self) -> str:
        unit = {"ratio": "x", "limit_ratio": "x limit", "seconds": "s", "gigabytes": "GB"}
        sign, bound = ("<=", self.most) if self.least is None else (">=", self.least)
        return f"{sign} {bound:g} {unit[self.measure]}"


@dataclass(frozen=True)
class Case:
    """One measurement.

    Attributes
    ----------
    case : str
        Name of the case.
    seconds : float
        Measured time.
    n, d, M : int or None
        Rows, columns, features (the size of the pool, for a pool).
    reference : str or None
        Name of the reference, whose time is `reference_seconds`.
    limit_seconds : float or None
        Smallest possible time for the same work, see `scripts.bench.limit` (for a pool, the time of
        its projection).
    gigabytes : float or None
        Peak resident memory.
    note : str
        Remark in the printed line.
    bars : tuple of Bar
        Bounds to reach.
    sound : bool
        False if the work did not give the required result; then every bar is missed.
    """

    case: str
    seconds: float
    n: int | None = None
    d: int | None = None
    M: int | None = None
    reference: str | None = None
    reference_seconds: float | None = None
    limit_seconds: float | None = None
    gigabytes: float | None = None
    note: str = ""
    bars: tuple[Bar, ...] = ()
    sound: bool = True

    @property
    def ratio(self) -> float | None:
        """Time of the reference divided by the measured time."""
        if self.reference_seconds is None:
            return None
        return self.reference_seconds / self.seconds

    @property
    def limit_ratio(self) -> float | None:
        """Measured time divided by the limit."""
        return None if self.limit_seconds is None else self.seconds / self.limit_seconds

    def reaches(self, bar: Bar) -> bool:
        """Return True if the case reaches a bar."""
        value = getattr(self, bar.measure)
        if value is None or not self.sound:
            return False
        high = bar.least is None or value >= bar.least
        return bool(high and (bar.most is None or value <= bar.most))

    def record(self) -> dict[str, Any]:
        """Return the entry of the JSON file, with numbers rounded to 6 digits."""
        facts = {key: _rounded(getattr(self, key)) for key in RECORDED}
        return {**facts, "bars": [asdict(bar) for bar in self.bars]}


def _rounded(value: Any) -> Any:
    return float(f"{value:.6g}") if isinstance(value, float) else value
