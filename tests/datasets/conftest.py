import http.server
from types import SimpleNamespace

import pytest

from rfbench.datasets import catalog
from tests.support.server import serving


@pytest.fixture
def home(tmp_path, tmp_path_factory, monkeypatch):
    """An empty data folder that the lookup finds, no RFBENCH_DATA, and a new user."""
    monkeypatch.delenv("RFBENCH_DATA", raising=False)
    monkeypatch.setenv("RFBENCH_CACHE", str(tmp_path_factory.mktemp("user")))
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "data"
    folder.mkdir()
    return folder


@pytest.fixture
def catalogue(monkeypatch):
    """Return a function that makes entries known in place of the real ones."""

    def install(*entries):
        monkeypatch.setattr(
            catalog, "read_catalog", lambda: {entry.name: entry for entry in entries}
        )

    return install


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A web server on this machine: its folder, its address, and what it was asked for."""
    folder = tmp_path / "site"
    folder.mkdir()
    asked, agents, cut = [], [], []

    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *arguments):
            super().__init__(*arguments, directory=str(folder))

        def log_message(self, *arguments):
            asked.append(self.path)
            agents.append(self.headers["User-Agent"])

        def copyfile(self, source, outputfile):
            """Send a file, or break off after so many bytes."""
            outputfile.write(source.read(cut.pop() if cut else -1))

    with serving(Handler, monkeypatch) as address:
        words = {"asked": asked, "agents": agents, "cut": cut}
        yield SimpleNamespace(folder=folder, address=address, **words)
