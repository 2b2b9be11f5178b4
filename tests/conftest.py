"""Settings of the whole suite."""

import re

import numpy as np
import pytest
from hypothesis import settings

from rfbench import figures
from tests.support.results import write

__all__ = ["write"]

# The same examples in every run; `pytest --hypothesis-profile=default` looks for new ones.
settings.register_profile("same", derandomize=True, database=None, deadline=None)
settings.load_profile("same")


# Files whose runs find the idle workers of the one before: one process of pytest-xdist runs them
# all. Those on faults and on workers elsewhere start their own, and take as long as all the others.
WITH_WORKERS = re.compile(
    r"tests/(experiment/(?!test_(faults|remote))|audit/|choosing/)"
    r"|test_(api|cli|documentation|invented)\.py"
)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep the tests of a file, or of a contract's form, in one process: they share fixtures."""
    if not config.pluginmanager.hasplugin("xdist"):
        return
    for item in items:
        file = item.path.relative_to(config.rootpath).as_posix()
        group = "workers" if WITH_WORKERS.search(file) else file
        if file.endswith("s/test_contract.py"):  # as many classes as there are forms
            group = item.nodeid.rpartition("::")[0]
        item.add_marker(pytest.mark.xdist_group(group))


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Name bytes by their number: an archive has the time in it, and processes must agree."""
    return f"{argname}-{len(val)}-bytes" if isinstance(val, bytes) else None


@pytest.fixture
def no_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make figures without writing them: what `tests/figures` does not test takes seconds."""
    monkeypatch.setattr(figures, "save", lambda *_: None)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)
