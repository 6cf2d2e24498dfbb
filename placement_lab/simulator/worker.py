"""`WorkerState`: one worker's queue and slots, and when its models are loaded.

Tasks queue first in, first out. The task at the head is *claimed* when a slot is free:
that is its turn. It then waits for its model and for room for its own memory, and no
other task starts before it.
"""

from __future__ import annotations

import heapq
from collections import deque
from itertools import islice
from typing import TYPE_CHECKING

from placement_lab.simulator.calendar import END, RUN
from placement_lab.simulator.memory import MemoryState

if TYPE_CHECKING:
    from collections.abc import Iterable

    from placement_lab.simulator.world import World

__all__ = ["WorkerState"]


class WorkerState:
    """State of one worker, and what it does next.

    Parameters
    ----------
    world : World
    index : int
    slots : int
    resident : list of int
        Models in memory at time 0, least recently used first.
    """

    __slots__ = (
        "_claimed",
        "_claimed_s",
        "_queue",
        "_queued_s",
        "_running",
        "_slots",
        "_world",
        "index",
        "memory",
    )

    def __init__(
        self, world: World, index: int, slots: int, resident: list[int]
    ) -> None:
        self._world = world
        self.index = index
        self.memory = MemoryState(world, index, resident, self._next_use)
        self._slots = slots
        self._running: dict[int, float] = {}  # task -> estimated end
        self._queue: deque[int] = deque()
        self._claimed = -1
        # Estimated runs of the queue and of the claimed task.
        self._queued_s = self._claimed_s = 0.0

    def enqueue(self, task: int) -> None:
        """Append a task, all of whose inputs are here, to the queue."""
        self._queue.append(task)
        self._queued_s += self._estimate_s(task)
        model = self._model(task)
        if model >= 0:
            self.memory.want(model)

    def end_run(self, task: int) -> None:
        """Give back what a running task held."""
        truth = self._world.truth
        del self._running[task]
        self.memory.free_bytes += truth.row_memory_bytes[truth.task_row[task]]
        model = self._model(task)
        if model >= 0:
            self.memory.release(model)

    def advance(self, now_s: float) -> None:
        """Start whatever can start now."""
        while (self._claimed >= 0 or self._queue) and self._has_slot():
            if self._claimed < 0:
                self._claim()
            if not self._start_claimed(now_s):
                break
        if not self.memory.engine_is_busy:
            self._feed_engine(now_s)

    def _has_slot(self) -> bool:
        """Return whether a slot is free; where loads block, the engine takes one."""
        used = len(self._running)
        if self._world.blocking and self.memory.engine_is_busy:
            used += 1
        return used < self._slots

    def wait_s(self, now_s: float) -> float:
        """Return the estimated wait of a task that joins the queue now.

        A sum: it gives no credit for loads that overlap runs.
        """
        rule = self._world.telemetry
        wait_s = self._work_s(now_s, rule.running)
        if rule.pending_loads:
            memory = self.memory
            wait_s += memory.pending_s
            if memory.engine_is_busy and memory.engine_until_s > now_s:
                wait_s += memory.engine_until_s - now_s
        return wait_s

    def _work_s(self, now_s: float, running: str) -> float:
        """Return when a slot is free for the next task, loads aside, from now."""
        left: list[float] = []
        queued_s = self._queued_s
        if running != "excluded":
            queued_s += self._claimed_s
        if running == "remaining":
            left = [max(end_s - now_s, 0.0) for end_s in self._running.values()]
        elif running == "full":
            left = [self._estimate_s(task) for task in self._running]
        if self._slots == 1:
            return queued_s + left[0] if left else queued_s
        left += [0.0] * (self._slots - len(left))
        heapq.heapify(left)
        for task in self._waiting() if running != "excluded" else self._queue:
            heapq.heapreplace(left, left[0] + self._estimate_s(task))
        return left[0]

    def _estimate_s(self, task: int) -> float:
        profile = self._world.profile
        return profile.runtime_s[profile.task_row[task]][self.index]

    def _model(self, task: int) -> int:
        truth = self._world.truth
        return truth.row_model[truth.task_row[task]]

    def _waiting(self) -> Iterable[int]:
        """Return the claimed task, if any, and the queue."""
        return (self._claimed, *self._queue) if self._claimed >= 0 else self._queue

    def _next_use(self, models: int) -> dict[int, int]:
        """Return the place of some models' first use among the tasks that wait."""
        missing = models & self.memory.wanted
        found: dict[int, int] = {}
        for place, task in enumerate(self._waiting(), start=1):
            if not missing:
                break
            model = self._model(task)
            if model >= 0 and missing >> model & 1:
                found[model] = place
                missing &= ~(1 << model)
        return found

    def _claim(self) -> None:
        """Take the task whose turn it is out of the queue."""
        on_turn = self._world.on_turn
        if on_turn is not None:
            on_turn(self._queue[0], self.index)
        self._claimed = self._queue.popleft()
        self._claimed_s = self._estimate_s(self._claimed)
        # An empty queue waits for exactly nothing, whatever rounding has left over.
        self._queued_s = self._queued_s - self._claimed_s if self._queue else 0.0

    def _start_claimed(self, now_s: float) -> bool:
        """Start the claimed task if its model is here and its own memory fits."""
        truth, memory = self._world.truth, self.memory
        task = self._claimed
        row = truth.task_row[task]
        model = truth.row_model[row]
        keep = 1 << model if model >= 0 else 0
        if keep and not memory.resident & keep:
            return False
        own_bytes = truth.row_memory_bytes[row]
        if own_bytes:
            if not memory.make_room(own_bytes, keep, now_s):
                return False
            memory.free_bytes -= own_bytes
        if keep:
            memory.use(model)
        self._running[task] = now_s + self._claimed_s
        self._claimed, self._claimed_s = -1, 0.0
        end_s = now_s + truth.runtime_s[row][self.index]
        self._world.log.runs.append((task, self.index, now_s, end_s))
        self._world.calendar.push(end_s, END, RUN, task)
        return True

    def _feed_engine(self, now_s: float) -> None:
        """Load, or make room for, the first model that is missing."""
        truth, memory = self._world.truth, self.memory
        keep = 0
        if self._claimed >= 0:
            model = self._model(self._claimed)
            keep = 1 << model if model >= 0 else 0
            if keep and not memory.resident & keep:
                self._load_for_claimed(model, now_s)
                return
        for k, task in enumerate(islice(self._queue, self._world.load_ahead)):
            model = self._model(task)
            if model < 0:
                continue
            keep |= 1 << model
            if not memory.resident >> model & 1:
                size_bytes = truth.model_size_bytes[model]
                if self._fits_beside(k) and memory.make_room(size_bytes, keep, now_s):
                    memory.load(model, now_s)
                return

    def _load_for_claimed(self, model: int, now_s: float) -> None:
        """Load, with room for the task's own memory too where that can be had."""
        truth, memory = self._world.truth, self.memory
        size_bytes = truth.model_size_bytes[model]
        own_bytes = truth.row_memory_bytes[truth.task_row[self._claimed]]
        if self._world.telemetry.cache == "load_first":
            memory.foresee(model, size_bytes + own_bytes, now_s)
        has_room = memory.make_room(size_bytes + own_bytes, 0, now_s)
        if not has_room and own_bytes and not memory.engine_is_busy:
            has_room = memory.make_room(size_bytes, 0, now_s)
        if has_room:
            memory.load(model, now_s)

    def _fits_beside(self, k: int) -> bool:
        """Return whether the model of queued task ``k`` leaves those ahead their room.

        It stays until its run, so every task ahead must be able to run beside it.
        """
        truth = self._world.truth
        bits, own_bytes = self.memory.pinned, 0
        if self._claimed < 0 and k == 0 and not bits:
            return True
        for task in islice(self._waiting(), k + 1 + (self._claimed >= 0)):
            row = truth.task_row[task]
            own_bytes = max(own_bytes, truth.row_memory_bytes[row])
            if truth.row_model[row] >= 0:
                bits |= 1 << truth.row_model[row]
        need_bytes = own_bytes
        for model, size_bytes in enumerate(truth.model_size_bytes):
            if bits >> model & 1:
                need_bytes += size_bytes
        return need_bytes <= truth.worker_memory_bytes[self.index]
