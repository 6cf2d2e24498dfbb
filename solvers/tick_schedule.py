"""Schedules in whole ticks: from true time for a hint, and back to a plan.

`in_ticks` rounds a true schedule down, which gives a complete solution of the rounded
model (see `ticks`). `plan_from` keeps a solution's order and forgets its times.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from placement_lab.plan import Action, Plan

if TYPE_CHECKING:
    from placement_lab.problem import Instance, InstanceArrays
    from placement_lab.schedule import Schedule
    from placement_lab.solvers.ticks import Quantities, Tick

__all__ = ["Stay", "TickSchedule", "in_ticks", "plan_from"]


@dataclass(frozen=True, slots=True)
class Stay:
    """A model's stay on a worker: from the start of its load to its last use.

    Attributes
    ----------
    model, worker : int
    start, end : int
        In ticks; an initial resident's stay starts at 0.
    is_initial : bool
    tasks : tuple of int
        The tasks it serves; at least one.
    """

    model: int
    worker: int
    start: int
    end: int
    is_initial: bool
    tasks: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class TickSchedule:
    """A schedule in whole ticks.

    Attributes
    ----------
    worker, start : list of shape (N,)
        Of each task's run.
    stays : tuple of Stay
        For each model and worker in order of time.
    """

    worker: list[int]
    start: list[int]
    stays: tuple[Stay, ...]


def in_ticks(
    instance: Instance, schedule: Schedule, costs: Quantities, tick: Tick
) -> TickSchedule:
    """Return a valid schedule with all its times rounded down to ticks.

    Loads that no run uses are left out.
    """
    arrays = instance.arrays
    by_task = {run.task: run for run in schedule.runs}
    runs = [by_task[name] for name in arrays.task_names]
    worker = [arrays.worker_index[run.worker] for run in runs]
    true_start = np.array([run.start_s for run in runs])
    start = _rounded(true_start, costs, tick)
    loads: dict[tuple[int, int], list[tuple[float, float]]] = {}
    for load in schedule.loads:
        key = (arrays.model_index[load.model], arrays.worker_index[load.worker])
        loads.setdefault(key, []).append((load.start_s, load.end_s))
    users: dict[tuple[int, int], list[int]] = {}
    for task in np.argsort(true_start, kind="stable").tolist():
        if arrays.model[task] >= 0:
            users.setdefault((int(arrays.model[task]), worker[task]), []).append(task)
    stays = []
    for (m, w), tasks in users.items():
        copies = sorted(loads.get((m, w), []))
        served: dict[int, list[int]] = {}
        for task in tasks:
            slack = 1e-9 * max(1.0, abs(true_start[task]))
            ended = [
                c
                for c, (_, end) in enumerate(copies)
                if end <= true_start[task] + slack
            ]
            served.setdefault(max(ended, default=-1), []).append(task)
        for copy, mine in served.items():
            begin = 0
            if copy >= 0:
                begin = _rounded(np.array([copies[copy][0]]), costs, tick)[0]
            end = max(start[i] + int(costs.run[i, w]) for i in mine)
            stays.append(Stay(m, w, begin, end, copy < 0, tuple(mine)))
    return TickSchedule(worker, start, tuple(stays))


def _rounded(times_s: np.ndarray, costs: Quantities, tick: Tick) -> list[int]:
    counted = np.maximum(0.0, tick.count(times_s) - costs.origin)
    return counted.astype(np.int64).tolist()


def plan_from(instance: Instance, costs: Quantities, found: TickSchedule) -> Plan:
    """Return a solution's order as a plan.

    Models leave only when their room is needed, the one whose next stay is furthest
    away first; a load whose model is still there is left out.
    """
    arrays = instance.arrays
    return Plan(
        {
            name: _Sequencer(arrays, costs, found, w).sequence()
            for w, name in enumerate(arrays.worker_ids)
        },
        instance.sha256,
    )


class _Sequencer:
    """Puts one worker's runs and loads in order and adds the evictions they need."""

    def __init__(
        self, arrays: InstanceArrays, costs: Quantities, found: TickSchedule, w: int
    ) -> None:
        self.arrays, self.costs, self.found, self.w = arrays, costs, found, w
        self.stays = sorted(
            (stay for stay in found.stays if stay.worker == w), key=lambda s: s.start
        )
        # A stay keeps its model until its end; what is resident beyond that may go.
        self.until = {int(m): -1 for m in np.flatnonzero(costs.resident[:, w])}
        for stay in self.stays:
            if stay.is_initial:
                self.until[stay.model] = stay.end
        self.running: list[tuple[int, int]] = []  # end, own memory
        self.actions: list[Action] = []

    def sequence(self) -> tuple[Action, ...]:
        rank = {task: at for at, task in enumerate(self.arrays.topological.tolist())}
        costs, w = self.costs, self.w
        early = self._early()
        steps: list[tuple[int, bool, int, int, int]] = []
        for s, stay in enumerate(self.stays):
            if not stay.is_initial:
                has_length = costs.load[stay.model, w] > 0
                steps.append((stay.start, has_length, 0, stay.model, s))
        for i, v in enumerate(self.found.worker):
            if v == w:
                has_length = costs.run[i, w] > 0
                place = -1 if i in early else 1
                steps.append((self.found.start[i], has_length, place, rank[i], i))
        for now, _, place, _, target in sorted(steps):
            if place:
                self._run(now, target)
            else:
                self._load(now, self.stays[target])
        return tuple(self.actions)

    def _early(self) -> set[int]:
        """Return runs without length that come before the loads of their instant.

        The last use of a copy does, since such a load may take that copy's place, and
        so does what this use waits for.
        """
        arrays, found, w = self.arrays, self.found, self.w
        opened = {i: stay.start for stay in self.stays for i in stay.tasks}
        early = {
            i
            for stay in self.stays
            for i in stay.tasks
            if stay.start < found.start[i] == stay.end and not self.costs.run[i, w]
        }
        waiting = list(early)
        while waiting:
            i = waiting.pop()
            first, last = arrays.pred_ptr[i : i + 2].tolist()
            for before in arrays.pred_task[first:last].tolist():
                is_here = found.worker[before] == w and before not in early
                together = found.start[before] == found.start[i]
                if is_here and together and opened.get(before, -1) < found.start[i]:
                    early.add(before)
                    waiting.append(before)
        return early

    def _load(self, now: int, stay: Stay) -> None:
        if stay.model not in self.until:
            self._make_room(now, int(self.costs.size[stay.model]))
            self.actions.append(Action("load", self.arrays.model_ids[stay.model]))
        self.until[stay.model] = stay.end

    def _run(self, now: int, task: int) -> None:
        own = int(self.costs.own[task])
        if own:
            self._make_room(now, own)
            end = now + int(self.costs.run[task, self.w])
            self.running.append((end, own))
        self.actions.append(Action("run", self.arrays.task_names[task]))

    def _make_room(self, now: int, need: int) -> None:
        size = self.costs.size
        self.running = [(end, own) for end, own in self.running if end > now]
        room = int(self.costs.capacity[self.w]) - sum(own for _, own in self.running)
        room -= sum(int(size[m]) for m in self.until)
        idle = [m for m, end in self.until.items() if end <= now]
        idle.sort(key=lambda m: -self._next_stay(m, now))
        while room < need and idle:
            model = idle.pop(0)
            room += int(size[model])
            del self.until[model]
            self.actions.append(Action("evict", self.arrays.model_ids[model]))

    def _next_stay(self, model: int, now: int) -> float:
        return min(
            (s.start for s in self.stays if s.model == model and s.start >= now),
            default=np.inf,
        )
