"""A measured case and the bars that it is held against."""

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
    """What a case has to reach.

    Attributes
    ----------
    number : int
        Of the bar, from 1 to 8.
    measure : {'ratio', 'limit_ratio', 'seconds', 'gigabytes'}
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
        What was measured.
    seconds : float
    n, d, M : int or None
        Rows, columns, features (the size of the pool, for a pool).
    reference : str or None
        What it is compared with, and its time `reference_seconds`.
    limit_seconds : float or None
        The least time that the same work can take, see `scripts.bench.limit` (of a pool: the time
        of projecting it).
    gigabytes : float or None
        Peak resident memory.
    note : str
        What else a reader of the printed line should know.
    bars : tuple of Bar
    sound : bool
        False where the work was done, but not as it should have been; every bar is missed then.
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
        """How many times as fast as the reference."""
        if self.reference_seconds is None:
            return None
        return self.reference_seconds / self.seconds

    @property
    def limit_ratio(self) -> float | None:
        """How many times the limit."""
        return None if self.limit_seconds is None else self.seconds / self.limit_seconds

    def reaches(self, bar: Bar) -> bool:
        """Tell whether the case reaches a bar."""
        value = getattr(self, bar.measure)
        if value is None or not self.sound:
            return False
        high = bar.least is None or value >= bar.least
        return bool(high and (bar.most is None or value <= bar.most))

    def record(self) -> dict[str, Any]:
        """Return what the JSON file says, numbers rounded to 6 digits."""
        facts = {key: _rounded(getattr(self, key)) for key in RECORDED}
        return {**facts, "bars": [asdict(bar) for bar in self.bars]}


def _rounded(value: Any) -> Any:
    return float(f"{value:.6g}") if isinstance(value, float) else value
