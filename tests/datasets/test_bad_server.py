"""A server that misbehaves in every way: one sentence each, and nothing half-written stays."""

import contextlib
import errno
import http.server
import importlib
import os
import signal
import socket
import threading

import pytest

from rfbench import datasets
from rfbench.datasets import archives
from rfbench.errors import DataError
from tests.support.data_files import LETTERS, letters, sha256, zipped
from tests.support.server import serving

BODY = LETTERS * 50
fetch = importlib.import_module("rfbench.datasets.fetch")


def answer(handler, content=b"", status=200, **headers):
    handler.send_response(status)
    for name, value in headers.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()
    handler.wfile.write(content)


def cut_in_the_middle(handler):
    answer(handler, BODY[: len(BODY) // 2], Content_Length=str(len(BODY)))
    handler.wfile.flush()
    handler.connection.shutdown(socket.SHUT_RDWR)


def redirect_to_an_error_page(handler):
    if handler.path.endswith("gone.html"):
        answer(handler, b"<html>This page has moved.</html>")
    else:
        answer(handler, status=302, Location="/gone.html")


def not_found(handler):
    handler.send_error(404)


def other_content(handler):
    answer(handler, BODY + b"x")


def without_end(handler):
    answer(handler)
    with contextlib.suppress(OSError):
        while True:
            handler.wfile.write(bytes(2**16))


def too_much(handler):
    answer(handler, bytes(2**16), Content_Length="100001")


def an_archive_without_it(handler):
    answer(handler, zipped([("x", b"")]))


def a_byte_at_a_time(handler):
    """Send one byte, and no other before the test is over."""
    answer(handler, Content_Length="1000")
    handler.wfile.write(b"x")
    handler.wfile.flush()
    handler.over.wait()


def a_head_without_end(handler):
    """Send the beginning of a head, and no more before the test is over."""
    handler.wfile.write(b"HTTP/1.0 200 OK\r\nX-Slow: ")
    handler.wfile.flush()
    handler.over.wait()


def interrupted_in_the_head(handler):
    os.kill(os.getpid(), signal.SIGINT)
    a_head_without_end(handler)


def interrupted(handler):
    """Let the user press Ctrl-C in the middle."""
    answer(handler, b"x", Content_Length="1000")
    handler.wfile.flush()
    os.kill(os.getpid(), signal.SIGINT)
    handler.over.wait()


WAYS = {
    cut_in_the_middle: "ChunkedEncodingError",
    redirect_to_an_error_page: "download failed",
    not_found: "the server answered 404",
    without_end: "has more than 100,000 bytes",
    too_much: "has more than 100,000 bytes",
    other_content: "cannot be read",
    an_archive_without_it: "contains 0 files",
}


@pytest.fixture
def address(request, monkeypatch):
    """Serve in the way that the test names; returns the address."""

    class Handler(http.server.BaseHTTPRequestHandler):
        over = threading.Event()

        def do_GET(self):
            request.param(self)

        def log_message(self, *words):
            return

    monkeypatch.setattr(fetch, "RETRIES", 0)
    with serving(Handler, monkeypatch) as at:
        yield f"{at}/l.zip"
        Handler.over.set()


def assert_one_sentence(home, address, sentence):
    with pytest.raises(DataError, match=sentence) as caught:
        datasets.fetch("letters")
    text = str(caught.value)
    assert "letters.zip" in text
    assert address in text
    assert str(home / "letters") in text
    assert "Traceback" not in text
    assert "object at 0x" not in text
    folder = home / "letters"
    assert not folder.exists() or list(folder.iterdir()) == []


@pytest.mark.parametrize(
    ("address", "sentence"), WAYS.items(), indirect=["address"], ids=[w.__name__ for w in WAYS]
)
def test_each_server_failure_gives_one_sentence(home, catalogue, address, sentence, monkeypatch):
    monkeypatch.setattr(archives, "MAX_MEMBER_BYTES", 100_000)
    catalogue(letters([address], sha256(BODY)))
    assert_one_sentence(home, address, sentence)


@pytest.mark.parametrize("address", [a_byte_at_a_time, a_head_without_end], indirect=True)
def test_too_slow_server_gives_one_sentence(home, catalogue, address, monkeypatch):
    """The fault: a byte every 2 s is no silence, and such a download never ended."""
    monkeypatch.setattr(fetch, "LEAST_SECONDS", 0.02)
    catalogue(letters([address], sha256(BODY)))
    assert_one_sentence(home, address, r"the server is too slow: [01] bytes in \d s")


@pytest.mark.parametrize("address", [interrupted, interrupted_in_the_head], indirect=True)
def test_ctrl_c_stops_a_download_immediately(home, catalogue, address):
    catalogue(letters([address], sha256(BODY)))
    # A worker of pytest-xdist ignores the signal.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            datasets.fetch("letters")
    finally:
        signal.signal(signal.SIGINT, before)
    folder = home / "letters"
    assert not folder.exists() or list(folder.iterdir()) == []


class Bar:
    """Keeps what a bar shows."""

    def update(self, task, completed, total):
        self.shown = completed


def test_download_speed_is_checked_for_each_minute():
    """1 kB/s on the average of the last minute, not since the beginning."""
    now = [0.0]
    bar = Bar()
    meter = fetch._Meter(bar, None, clock=lambda: now[0])
    meter.count(10_000_000)
    for second in range(1, 120):
        now[0] = float(second)
        meter.count(1)
        meter.check_speed()
    now[0] = 120.0
    meter.count(1)
    with pytest.raises(TimeoutError, match="60 bytes in 60 s"):
        meter.check_speed()
    assert bar.shown == 10_000_120


def serve(handler):
    answer(handler, zipped([("letters.data", BODY)]))


@pytest.mark.parametrize("address", [serve], indirect=True)
@pytest.mark.parametrize(
    ("number", "sentence"),
    [(errno.ENOSPC, "No space left on device"), (errno.EROFS, "Read-only file system")],
)
def test_unwritable_disk_gives_one_sentence(
    home, catalogue, address, monkeypatch, number, sentence
):
    def refuse(*words, **keywords):
        raise OSError(number, os.strerror(number))

    catalogue(letters([address], sha256(BODY)))
    monkeypatch.setattr(fetch.os, "replace", refuse)
    assert_one_sentence(home, address, sentence)
