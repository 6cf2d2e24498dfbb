"""`MinMin`: always the task that can end first, where it ends first.

References
----------
O. H. Ibarra, C. E. Kim: Heuristic algorithms for scheduling independent tasks on
nonidentical processors. J. ACM 24(2), 1977, doi:10.1145/322003.322011.
T. D. Braun et al.: A comparison of eleven static heuristics for mapping a class of
independent tasks onto heterogeneous distributed computing systems. JPDC 61(6), 2001,
doi:10.1006/jpdc.2000.1714.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from placement_lab.schedulers._domains import Choices, with_choices
from placement_lab.schedulers._finish import to_schedule
from placement_lab.schedulers._planning import (
    Placement,
    inputs_ready_s,
    planning_input,
)

if TYPE_CHECKING:
    from placement_lab.problem import Instance
    from placement_lab.schedule import Schedule
    from placement_lab.schedulers._planning import PlanningInput

__all__ = ["MinMin"]


@dataclass(frozen=True)
class MinMin:
    """Min-Min over the ready tasks of all jobs; appends, never inserts.

    A task is ready when its predecessors are placed; among the ready ones the smallest
    earliest end goes first (ties by task, then worker). Blind to models, memory and
    residency.

    Parameters
    ----------
    evict : str
        Eviction policy for the loads that are added.
    """

    evict: str = "lru"

    name: ClassVar[str] = "min_min"

    def schedule(self, instance: Instance, *, seed: int = 0) -> Schedule:
        """Return the schedule; ``seed`` has no effect.

        Raises
        ------
        InfeasiblePlanError
            If links are missing so that no assignment exists (or none was found).
        """
        del seed
        return to_schedule(
            instance,
            self.plan(instance),
            evict=self.evict,
            made_by={"scheduler": self.name, "evict": self.evict},
        )

    def plan(self, instance: Instance) -> Placement:
        """Return the placement alone, with the times that Min-Min believes in."""
        arrays = instance.arrays
        return with_choices(
            arrays, lambda choices: _MinMin(planning_input(arrays), choices).run()
        )


class _MinMin:
    """One run of Min-Min."""

    def __init__(self, problem: PlanningInput, choices: Choices) -> None:
        self._problem = problem
        self._choices = choices
        self._row_runtime_s: list[list[float]] = problem.row_runtime_s.tolist()
        n = len(problem.row)
        self._placed = Placement(np.full(n, -1), np.zeros(n), np.zeros(n))
        slots = np.diff(problem.lane_ptr).tolist()
        self._free_s = [[0.0] * count for count in slots]  # heaps of lanes
        # When a task's inputs are at each worker; fixed once it is ready.
        self._arrived_s: dict[int, list[float]] = {}

    def run(self) -> Placement:
        """Place all tasks.

        Workers only become busier and choices fewer, so ends in the heap only grow: one
        that is still true when it comes up is the smallest of all.
        """
        problem = self._problem
        waiting = np.diff(problem.pred_ptr).tolist()
        ready = [self._entry(task) for task, n in enumerate(waiting) if n == 0]
        heapq.heapify(ready)
        while ready:
            end_s, task = heapq.heappop(ready)
            options = self._options(task)
            if options[0][0] > end_s:
                heapq.heappush(ready, (options[0][0], task))
                continue
            worker = self._choices.first_that_goes(task, [one[1] for one in options])
            self._book(task, worker)
            for k in range(problem.succ_ptr[task], problem.succ_ptr[task + 1]):
                successor = int(problem.succ_task[k])
                waiting[successor] -= 1
                if waiting[successor] == 0:
                    heapq.heappush(ready, self._entry(successor))
        return self._placed

    def _entry(self, task: int) -> tuple[float, int]:
        arrived_s = inputs_ready_s(self._problem, task, self._placed)
        self._arrived_s[task] = arrived_s.tolist()
        return self._options(task)[0][0], task

    def _options(self, task: int) -> list[tuple[float, int]]:
        """Return the workers that a task may take, each with its end there."""
        arrived_s, free_s = self._arrived_s[task], self._free_s
        runtime_s = self._runtimes_s(task)
        return sorted(
            (max(arrived_s[worker], free_s[worker][0]) + runtime_s[worker], worker)
            for worker in self._choices.workers(task)
        )

    def _runtimes_s(self, task: int) -> list[float]:
        return self._row_runtime_s[self._problem.row[task]]

    def _book(self, task: int, worker: int) -> None:
        free_s = self._free_s[worker]
        start_s = max(self._arrived_s.pop(task)[worker], free_s[0])
        end_s = start_s + self._runtimes_s(task)[worker]
        heapq.heapreplace(free_s, end_s)
        self._placed.worker[task] = worker
        self._placed.start_s[task], self._placed.end_s[task] = start_s, end_s
