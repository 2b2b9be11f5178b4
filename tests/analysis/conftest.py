"""Hand-made results folders."""

from tests.support.results import Write, write

__all__ = ["Write", "write"]
