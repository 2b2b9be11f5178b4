"""Which model to take for one table: what is imported from here is imported when asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rfbench.choosing.choice import Choice, choose
    from rfbench.choosing.table import read_table, table_of

__all__ = ["Choice", "choose", "read_table", "table_of"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'rfbench.choosing' has no attribute '{name}'")
    from rfbench.choosing import choice

    return getattr(choice, name)
