"""How much of something is in use, for all workers in one cumulative sum.

Every interval closes again, so a sum that runs on from one worker to the next starts at
zero there. At one instant, what closes comes before what opens.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from placement_lab.verify._records import Floats, Ints

__all__ = ["Timeline", "count_before", "lay_out", "level_inside", "ranges"]


@dataclass(frozen=True)
class Timeline:
    """Openings and closings of intervals, worker by worker, in the order of time.

    Attributes
    ----------
    interval : ndarray of shape (V,)
        Number of the interval that opens or closes.
    sign : ndarray of shape (V,)
        1 where it opens, -1 where it closes.
    """

    interval: Ints
    sign: Ints

    def level(self, weight: Any) -> Any:
        """Return the sum of the open intervals' weights after each event.

        Parameters
        ----------
        weight : ndarray
            One whole number per interval; Python's own numbers (dtype object) where
            64 bits might not hold the sum.
        """
        return np.cumsum(self.sign * weight[self.interval])

    @staticmethod
    def periods(is_over: Any) -> tuple[Ints, Ints]:
        """Return first event, and first event after, of each period of overuse.

        Parameters
        ----------
        is_over : ndarray of bool, shape (V,)
            False once everything of a worker has closed.
        """
        changes = np.flatnonzero(np.diff(is_over, prepend=False))
        return changes[::2], changes[1::2]


def lay_out(worker: Ints, open_s: Floats, close_s: Floats) -> Timeline:
    """Sort the openings and closings of intervals; those of no length are left out."""
    kept = np.flatnonzero(close_s > open_s)
    interval = np.concatenate([kept, kept])
    time_s = np.concatenate([close_s[kept], open_s[kept]])
    sign = np.repeat([-1, 1], len(kept))
    order = np.lexsort((sign, time_s, worker[interval]))
    return Timeline(interval[order], sign[order])


def level_inside(
    at_worker: Ints,
    at_s: Floats,
    *,
    worker: Ints,
    open_s: Floats,
    close_s: Floats,
    weight: Any,
) -> Any:
    """Return the sum of the weights of the intervals that hold each point inside.

    Parameters
    ----------
    at_worker, at_s : ndarray of shape (P,)
        The points.
    worker, open_s, close_s, weight : ndarray of shape (I,)
        The intervals, without their ends.
    """
    kept = np.flatnonzero(close_s > open_s)
    n = len(at_s)
    time_s = np.concatenate([close_s[kept], at_s, open_s[kept]])
    rank = np.repeat([0, 1, 2], [len(kept), n, len(kept)])
    workers = np.concatenate([worker[kept], at_worker, worker[kept]])
    change = np.concatenate([-weight[kept], np.zeros(n, np.int64), weight[kept]])
    order = np.lexsort((rank, time_s, workers))
    level = np.empty_like(change)
    level[order] = np.cumsum(change[order])
    return level[len(kept) : len(kept) + n]


def count_before(
    group: Ints, time_s: Floats, at_group: Ints, at_s: Floats, *, or_at: bool = False
) -> Ints:
    """Return how many of the sorted pairs (group, time) come before each point.

    Parameters
    ----------
    group, time_s : ndarray of shape (I,)
        In any order; the answer counts over all groups up to the point's own.
    at_group, at_s : ndarray of shape (P,)
        The points.
    or_at : bool
        Count equal pairs as well.
    """
    n = len(time_s)
    times = np.concatenate([time_s, at_s])
    groups = np.concatenate([group, at_group])
    is_point = np.repeat([False, True], [n, len(at_s)])
    order = np.lexsort((is_point if or_at else ~is_point, times, groups))
    before = np.empty(len(order), np.int64)
    before[order] = np.cumsum(~is_point[order])
    return before[n:]


def ranges(first: Ints, count: Ints) -> Ints:
    """Return ``first, ..., first + count - 1`` for each pair, one after the other."""
    starts = np.cumsum(count) - count
    each: Ints = np.arange(count.sum()) + np.repeat(first - starts, count)
    return each
