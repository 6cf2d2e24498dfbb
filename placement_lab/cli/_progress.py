"""What is going on, on standard error: live on a terminal, else lines if asked."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

from placement_lab.report.formatting import format_fraction, format_objective

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

    from rich.console import RenderableType
    from rich.live import Live

__all__ = ["Display"]

PATIENCE_S = 1.0
"""Work that takes less than this shows nothing."""


class Display:
    """Shows one stage of work at a time, with the solver's incumbent, bound and gap.

    Parameters
    ----------
    asked : bool or None
        ``--progress``, ``--no-progress`` or neither.
    objective : str
        For the units of incumbent and bound.
    """

    def __init__(self, asked: bool | None, objective: str = "latency") -> None:
        self._is_live = sys.stderr.isatty() and asked is not False
        self._is_plain = bool(asked) and not self._is_live
        self._objective = objective
        self._live: Live | None = None
        self._begun = time.monotonic()
        self._printed_s = 0.0
        self._stage("", 0.0)

    def __enter__(self) -> Self:
        if self._is_live:
            from rich.console import Console
            from rich.live import Live

            console = Console(stderr=True)
            self._live = Live(
                get_renderable=self._render,
                console=console,
                refresh_per_second=5,
                transient=True,
            )
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def _stage(self, name: str, limit_s: float) -> None:
        self._name, self._limit_s = name, limit_s
        self._stage_begun = time.monotonic()
        self._incumbent: float | None = None
        self._bound: float | None = None

    def update(
        self,
        name: str,
        *,
        limit_s: float = 0.0,
        objective: float | None = None,
        bound: float | None = None,
    ) -> None:
        """Say what is being done; with the same name, what has been found."""
        is_new = name != self._name
        if is_new:
            self._stage(name, limit_s)
        self._incumbent, self._bound = objective, bound
        if self._is_plain:
            self._print(is_new=is_new)

    def _print(self, *, is_new: bool) -> None:
        now_s = time.monotonic() - self._begun
        if is_new or now_s - self._printed_s >= PATIENCE_S:
            self._printed_s = now_s
            found = self._found()
            line = f"{now_s:6.1f} s  {self._name}{'  ' + found if found else ''}"
            print(f"placement-lab: {line}", file=sys.stderr, flush=True)

    def _found(self) -> str:
        from placement_lab.compare.results import gap_of

        if self._incumbent is None and self._bound is None:
            return ""
        gap = gap_of(self._incumbent, self._bound)
        return (
            f"incumbent {format_objective(self._incumbent, self._objective)}  "
            f"bound {format_objective(self._bound, self._objective)}  "
            f"gap {format_fraction(gap)}"
        )

    def _render(self) -> RenderableType:
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        if time.monotonic() - self._begun < PATIENCE_S:
            return Text("")
        elapsed_s = time.monotonic() - self._stage_begun
        grid = Table.grid(padding=(0, 1))
        cells: list[RenderableType] = [Text(self._name, style="bold")]
        if self._limit_s > 0:
            done_s = min(elapsed_s, self._limit_s)
            cells.append(ProgressBar(self._limit_s, done_s, width=10))
            left_s = self._limit_s - done_s
            cells.append(Text(f"{elapsed_s:.0f} s, ETA {left_s:.0f} s"))
        else:
            cells.append(Text(f"{elapsed_s:.0f} s"))
        cells.append(Text(self._found()))
        for _ in cells:
            grid.add_column(no_wrap=True)
        grid.add_row(*cells)
        return grid
