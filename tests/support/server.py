"""A web server on this machine."""

import http.server
import threading
from contextlib import contextmanager


@contextmanager
def serving(handler, monkeypatch):
    """Serve with a class of handlers; gives the address."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.handle_error = lambda *words: None
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()
