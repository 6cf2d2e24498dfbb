"""Work beside the search, in another thread; its errors come back."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Background", "run_interruptibly"]


class Background:
    """A function that runs beside the caller.

    Parameters
    ----------
    work : callable
    """

    def __init__(self, work: Callable[[], None]) -> None:
        self._work = work
        self._error: BaseException | None = None
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin in another thread."""
        self._thread = threading.Thread(target=self.run, daemon=True)
        self._thread.start()

    def run(self) -> None:
        """Do the work here and now; keep an error for `join`."""
        try:
            self._work()
        except BaseException as error:  # noqa: BLE001 (raised again by join)
            self._error = error

    @property
    def is_running(self) -> bool:
        """Whether the other thread is still at work."""
        return self._thread is not None and self._thread.is_alive()

    def wait(self, seconds: float) -> None:
        """Wait for the end, but no longer than this."""
        if self._thread is not None:
            self._thread.join(seconds)

    def join(self) -> None:
        """Wait for the end; raise what went wrong."""
        if self._thread is not None:
            self._thread.join()
        if self._error is not None:
            raise self._error


def run_interruptibly(work: Callable[[], None], stop: Callable[[], None]) -> None:
    """Do long compiled work in another thread, so that Ctrl-C reaches this one.

    Parameters
    ----------
    work : callable
    stop : callable
        Makes ``work`` return soon.

    Raises
    ------
    KeyboardInterrupt
        On Ctrl-C, after the work has stopped.
    """
    background = Background(work)
    background.start()
    try:
        while background.is_running:
            background.wait(0.2)
    except KeyboardInterrupt:
        stop()
        background.join()
        raise
    background.join()
