"""Ctrl-C once: no further trial begins. Twice: stop now."""

from __future__ import annotations

import signal
import threading
from types import FrameType
from typing import Any


class Interrupts:
    """Handles SIGINT and SIGTERM while it is entered (in the main thread).

    The first signal sets `stopping` and `asked`.
    """

    def __init__(self, say: Any = None) -> None:
        self.stopping = threading.Event()
        self.asked = False
        self._say = say
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Interrupts:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                self._before[number] = signal.signal(number, self._on_signal)
        return self

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True
        self.stopping.set()
        if self._say:
            self._say()

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
