"""Work beside the search, in another thread; its errors come back."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Background"]


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

    def join(self) -> None:
        """Wait for the end; raise what went wrong."""
        if self._thread is not None:
            self._thread.join()
        if self._error is not None:
            raise self._error
