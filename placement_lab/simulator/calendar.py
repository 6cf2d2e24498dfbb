"""`Calendar`: what will end or arrive, in the one order that runs agree on."""

from __future__ import annotations

import heapq
from typing import NamedTuple

__all__ = ["ARRIVAL", "END", "INPUT", "JOB", "MEMORY", "NEVER", "QUEUE", "RUN", "Event"]
__all__ += ["Calendar"]

END, ARRIVAL = 0, 1
"""Priorities: at one instant ends come before arrivals (and starts after both)."""

JOB, RUN, MEMORY, INPUT, QUEUE = range(5)
"""Kinds: a job is released; a run ends; a load or eviction ends; the last input of a
task arrives; a task joins its worker's queue after one more hop."""


class Event(NamedTuple):
    """Ordered by time, priority, sequence; the sequence makes the order unique.

    ``subject`` is a job, a task, or for the end of a load or an eviction the worker.
    """

    time_s: float
    priority: int
    sequence: int
    kind: int
    subject: int


NEVER = Event(float("inf"), ARRIVAL, 0, JOB, -1)


class Calendar:
    """A heap of events that keeps the order in which equal ones were pushed."""

    def __init__(self, first_sequence: int) -> None:
        self._heap: list[Event] = []
        self._sequence = first_sequence

    def push(self, time_s: float, priority: int, kind: int, subject: int) -> None:
        """Enter an event."""
        self._sequence += 1
        event = Event(time_s, priority, self._sequence, kind, subject)
        heapq.heappush(self._heap, event)

    def peek(self) -> Event:
        """Return the next event, or `NEVER`."""
        return self._heap[0] if self._heap else NEVER

    def pop(self) -> Event:
        """Remove and return the next event."""
        return heapq.heappop(self._heap)
