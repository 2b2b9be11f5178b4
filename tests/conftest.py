"""Settings of the whole suite."""

import numpy as np
import pytest
from hypothesis import settings

from rfbench import figures

# The same examples in every run; `pytest --hypothesis-profile=default` looks for new ones.
settings.register_profile("same", derandomize=True, database=None, deadline=None)
settings.load_profile("same")


@pytest.fixture
def no_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make figures without writing them: what `tests/figures` does not test takes seconds."""
    monkeypatch.setattr(figures, "save", lambda *_: None)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)
