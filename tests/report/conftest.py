"""Hand-made results folders."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.results import write_folder

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a results folder from dictionaries that say how a row differs from the usual one."""

    def write(
        rows: list[dict[str, Any]], name: str = "quickstart", smoke: bool = False, **config: Any
    ) -> Path:
        manifest = {"config": {"name": name, **config}, "smoke": smoke}
        return write_folder(tmp_path / "results" / name, rows, manifest)

    return write
