"""Ctrl-C once: no further trial begins. Twice: stop now."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator


@contextlib.contextmanager
def interrupts(
    say: Callable[[], None] | None = None,
) -> Iterator[tuple[threading.Event, threading.Event]]:
    """Handle SIGINT and SIGTERM, in the main thread; yield the events `stopping` and `asked`.

    The first signal sets both; the second one is a KeyboardInterrupt.
    """
    stopping, asked = threading.Event(), threading.Event()
    signals = 0  # an event that is being set cannot be asked by a second signal

    def on_signal(number: int, frame: object) -> None:
        nonlocal signals
        signals += 1
        if signals > 1:
            raise KeyboardInterrupt
        asked.set()
        stopping.set()
        if say:
            say()

    main = threading.current_thread() is threading.main_thread()
    numbers = (signal.SIGINT, signal.SIGTERM) if main else ()
    before = {number: signal.signal(number, on_signal) for number in numbers}
    try:
        yield stopping, asked
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
