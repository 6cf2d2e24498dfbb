"""`CachePlanner`: placing tasks one by one, with an eye on models and memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from placement_lab.schedulers._planning import (
    Placement,
    inputs_ready_s,
    planning_input,
)
from placement_lab.schedulers._residency import Need, Offer, PlannedWorker

if TYPE_CHECKING:
    from placement_lab.problem import InstanceArrays
    from placement_lab.schedulers._domains import Choices

__all__ = ["CachePlanner"]


class CachePlanner:
    """The plan so far of all workers, and of which tasks are ready to be placed.

    Parameters
    ----------
    arrays : InstanceArrays
    choices : Choices
    append_only : bool
        Whether runs are only appended, or also put into gaps.
    """

    def __init__(
        self, arrays: InstanceArrays, choices: Choices, *, append_only: bool
    ) -> None:
        n = arrays.n_tasks
        self.placed = Placement(np.full(n, -1), np.zeros(n), np.zeros(n))
        self._arrays = arrays
        self._choices = choices
        self._problem = planning_input(arrays)
        self._workers = [
            PlannedWorker(arrays, worker, append_only=append_only)
            for worker in range(arrays.n_workers)
        ]
        self._waiting = np.diff(arrays.pred_ptr).tolist()

    @property
    def entries(self) -> list[int]:
        """Tasks without predecessors."""
        return np.flatnonzero(np.diff(self._arrays.pred_ptr) == 0).tolist()

    @property
    def free_s(self) -> float:
        """When the first slot of all is free for good."""
        return min(worker.free_s for worker in self._workers)

    def known_s(self, task: int) -> float:
        """Return when a ready task is released and its predecessors have ended."""
        first, last = self._arrays.pred_ptr[task : task + 2]
        ends_s = self.placed.end_s[self._arrays.pred_task[first:last]]
        return max(float(self._arrays.release_s[task]), float(ends_s.max(initial=0.0)))

    def place(self, task: int) -> list[int]:
        """Place a task where it ends first; return the tasks that became ready.

        Ties go to the shorter load, then to the first worker.

        Raises
        ------
        DeadEndError
            If no worker is left for it.
        """
        needs = self._needs(task)
        offers = {w: self._workers[w].offer(need) for w, need in needs.items()}
        ranked = sorted(offers, key=lambda w: (offers[w].end_s, offers[w].load_s, w))
        worker = self._choices.first_that_goes(task, ranked)
        self._workers[worker].book(needs[worker], offers[worker])
        self._note(task, worker, offers[worker])
        return self._now_ready(task)

    def _needs(self, task: int) -> dict[int, Need]:
        arrays = self._arrays
        arrived_s = inputs_ready_s(self._problem, task, self.placed).tolist()
        runtime_s = arrays.row_runtime_s[arrays.row[task]].tolist()
        released_s = float(arrays.job_release_s[arrays.job[task]])
        rule = arrays.prefetch
        return {
            worker: Need(
                arrived_s=arrived_s[worker],
                load_from_s=(
                    arrived_s[worker]
                    if rule == "on_demand"
                    else released_s
                    if rule == "after_release"
                    else 0.0
                ),
                runtime_s=runtime_s[worker],
                model=int(arrays.model[task]),
                memory_bytes=int(arrays.memory_bytes[task]),
            )
            for worker in self._choices.workers(task)
        }

    def _note(self, task: int, worker: int, offer: Offer) -> None:
        self.placed.worker[task] = worker
        self.placed.start_s[task] = offer.start_s
        self.placed.end_s[task] = offer.end_s

    def _now_ready(self, task: int) -> list[int]:
        first, last = self._arrays.succ_ptr[task : task + 2]
        ready = []
        for successor in self._arrays.succ_task[first:last].tolist():
            self._waiting[successor] -= 1
            if self._waiting[successor] == 0:
                ready.append(successor)
        return ready
