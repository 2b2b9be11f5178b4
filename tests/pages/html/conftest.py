"""A page with something of everything, and a headless Chromium without a network."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rfbench.pages.html import page
from tests.support.papers import PAPER, eeg, tuned
from tests.support.results import write_folder
from tests.support.runs import MOST_SECONDS

HOSTILE = "</script><script>window.bad=1</script><img src=x onerror=window.bad=1>\"'&<b>{{7*7}}"
MEGABYTE = "<script>window.bad=1</script>" + "m" * 1_000_000
FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip


def rows() -> list[dict[str, Any]]:
    """Return two methods over three sizes, one under a hostile name, and failures."""
    found: list[dict[str, Any]] = [
        {"sampler": "rks", "label": label, "M": M, "columns": M, "trial": t,
         "error": base + 100 / M + t, "t_train": 0.01 * M * factor, "dataset": "digits",
         "parameters": '{"a": "<i>b</i>"}'}
        for label, base, factor in (("rks", 10.0, 1.0), (HOSTILE, 8.0, 3.0))
        for M in (10, 20, 50)
        for t in range(4)
    ]  # fmt: skip
    return [
        *found,
        {"label": "broken", "M": 10, "status": "failed", "message": MEGABYTE, "error": None},
    ]


@pytest.fixture(scope="session")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    top = tmp_path_factory.mktemp("results")
    config = {"name": "mine", "title": HOSTILE, "description": HOSTILE}
    write_folder(top / "mine", rows(), {"config": config, "machine": {"cpu": HOSTILE}})
    numbers = eeg(rks=68.5, qmc=69.2, leverage_rff=60.0, surrogate_leverage=69.0)
    write_folder(top / "paper", numbers, {"config": {"name": "paper", **PAPER}})
    write_folder(top / "many", tuned(), {"config": {"name": "many"}})
    return top


@pytest.fixture(scope="session")
def file(folders: Path) -> Path:
    return page.write([folders], folders / "report.html")


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    api = pytest.importorskip("playwright.sync_api", reason="Playwright is missing: scripts/test")
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        pytest.skip("Chromium is missing: scripts/test says how to get it")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def screen(chromium: Any, file: Path) -> Iterator[Any]:
    """Open the page; whatever it asks for or complains of fails the test."""
    context = chromium.new_context(offline=True, viewport={"width": 1280, "height": 900})
    context.set_default_timeout(1000 * MOST_SECONDS)
    opened, wrong = context.new_page(), []
    opened.on("request", lambda request: wrong.append(request.url))
    opened.on("console", lambda message: wrong.append(message.text))
    opened.on("pageerror", lambda error: wrong.append(str(error)))
    opened.on("dialog", lambda dialog: wrong.append(dialog.message))
    opened.goto(file.as_uri())
    opened.wait_for_function("document.documentElement.dataset.ready === 'yes'")
    opened.select_option("#experiment", label="mine")
    yield opened
    address = opened.url
    context.close()
    wrong = [one for one in wrong if one != address and not one.startswith("data:image/svg")]
    assert wrong == []
