"""`Timeline`: the idle gaps of one worker, for planners that insert.

A worker with several slots has one lane per slot. Gaps are half-open and sorted; the
last one of a lane never ends.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Fit", "Timeline"]

INF = float("inf")


class Fit(NamedTuple):
    """A place for a run: its start, the lane, and the gap's number there."""

    start_s: float
    lane: int
    gap: int


class Timeline:
    """Idle gaps of a worker.

    Parameters
    ----------
    slots : int
    keep_empty : bool
        Keep gaps without length, into which runs without length fit.
    """

    def __init__(self, slots: int, *, keep_empty: bool = False) -> None:
        self.starts = [[0.0] for _ in range(slots)]
        self.ends = [[INF] for _ in range(slots)]
        self._keep_empty = keep_empty

    def earliest(self, ready_s: float, duration_s: float) -> Fit:
        """Return the earliest place at or after a time; ties go to the first lane."""
        best = Fit(INF, -1, -1)
        for lane, ends in enumerate(self.ends):
            starts = self.starts[lane]
            gap = bisect_left(ends, ready_s)
            start_s = max(starts[gap], ready_s)
            while start_s + duration_s > ends[gap]:
                gap += 1
                start_s = max(starts[gap], ready_s)
            if start_s < best.start_s:
                best = Fit(start_s, lane, gap)
        return best

    def gaps_from(self, lane: int, ready_s: float) -> Iterator[int]:
        """Yield the gaps of a lane that end at or after a time, in order."""
        ends = self.ends[lane]
        return iter(range(bisect_left(ends, ready_s), len(ends)))

    def book(self, lane: int, gap: int, start_s: float, end_s: float) -> None:
        """Take ``[start_s, end_s)`` out of a gap that contains it."""
        starts, ends = self.starts[lane], self.ends[lane]
        opens, closes = starts[gap], ends[gap]
        if opens == start_s == end_s == closes:
            return
        left = [(opens, start_s)] if start_s > opens or self._keep_empty else []
        right = [(end_s, closes)] if closes > end_s or self._keep_empty else []
        rest = left + right
        starts[gap : gap + 1] = [one[0] for one in rest]
        ends[gap : gap + 1] = [one[1] for one in rest]
