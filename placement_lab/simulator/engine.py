"""The event loop: deterministic, ordered by (time, priority, sequence).

At one instant ends come first, then arrivals, then starts. A policy decides when a job
arrives, when a task with one predecessor becomes ready, and when a join has gathered
its inputs; it sees a `View` and never the world. What happened is a `Schedule`.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from placement_lab.errors import PlanError
from placement_lab.policy import Profile
from placement_lab.simulator.calendar import (
    ARRIVAL,
    INPUT,
    JOB,
    MEMORY,
    NEVER,
    QUEUE,
    RUN,
    Calendar,
    Event,
)
from placement_lab.simulator.live_view import LiveView
from placement_lab.simulator.reach import Reach
from placement_lab.simulator.worker import WorkerState
from placement_lab.simulator.world import Log, World

if TYPE_CHECKING:
    from collections.abc import Iterator

    from placement_lab.caching import EvictionPolicy
    from placement_lab.policy import Policy
    from placement_lab.problem import InstanceArrays

__all__ = ["Simulation"]


class Simulation:
    """One run: the state of everything, and what each event does to it.

    Parameters
    ----------
    arrays : InstanceArrays
        The world.
    policy : Policy
    estimates : InstanceArrays or None
        What the policy believes; None: the truth.
    victims : EvictionPolicy
    load_ahead : int
    seed : int

    Attributes
    ----------
    world : World
        Its log holds what happened.
    """

    def __init__(
        self,
        arrays: InstanceArrays,
        policy: Policy,
        *,
        estimates: InstanceArrays | None,
        victims: EvictionPolicy,
        load_ahead: int,
        seed: int,
    ) -> None:
        self.policy = policy
        self.truth = truth = Profile(arrays)
        profile = truth if estimates is None else Profile(estimates)
        self.calendar = Calendar(first_sequence=arrays.n_jobs)
        self.world = World(
            truth=truth,
            profile=profile,
            calendar=self.calendar,
            log=Log(),
            policy=victims,
            telemetry=policy.telemetry,
            load_ahead=load_ahead,
            blocking=not arrays.overlap,
            timed_evictions=bool(arrays.evict_s.any()),
        )
        if policy.decides_at == "start":
            self.world.on_turn = self._decide_successors
        self.workers = _workers(arrays, self.world)
        self.reach = Reach(arrays, truth)
        self.view = LiveView(profile, self.workers, self.reach)
        self.touched: dict[int, None] = {}
        self.asked_s = _asked_s(arrays)
        # Per task: planned worker, predecessors that run or wait, last input's arrival.
        self.planned = [-1] * arrays.n_tasks
        self.missing = np.diff(arrays.pred_ptr).tolist()
        self.ready_s = arrays.release_s.tolist()
        self.ended_s = [0.0] * arrays.n_tasks
        self.policy.begin(profile, seed)

    def run(self) -> None:
        """Handle every event; between two instants, start what can start."""
        handle = {
            JOB: self._job_arrives,
            RUN: self._run_ends,
            MEMORY: self._memory_action_ends,
            INPUT: self._inputs_arrive,
            QUEUE: self._enqueue,
        }
        calendar, view = self.calendar, self.view
        next_job = self._jobs()
        job = next(next_job, NEVER)
        while True:
            event = calendar.peek()
            is_job = job < event
            if is_job:
                event = job
            if self.touched and event.time_s > view.now_s:
                self._start()
                continue
            if event is NEVER:
                return
            if is_job:
                job = next(next_job, NEVER)
            else:
                calendar.pop()
            view.now_s = event.time_s
            handle[event.kind](event.subject)

    def _jobs(self) -> Iterator[Event]:
        """Yield the releases in order; equal times in declared order."""
        order = np.argsort(self.asked_s, kind="stable").tolist()
        for sequence, job in enumerate(order):
            yield Event(float(self.asked_s[job]), ARRIVAL, sequence, JOB, job)

    def _start(self) -> None:
        touched, self.touched = self.touched, {}
        for worker in touched:
            self.workers[worker].advance(self.view.now_s)

    # Events.

    def _job_arrives(self, job: int) -> None:
        truth, view = self.truth, self.view
        if not self.reach.is_free:
            self.reach.admit(job, view.queue_wait_s())
        view.here = truth.job_ingress[job]
        first, last = truth.job_ptr[job : job + 2]
        chosen: Any = self.policy.on_job(job, view)
        if chosen is None or len(chosen) != last - first:
            n = 0 if chosen is None else len(chosen)
            raise PlanError(
                f"policy {self.policy.name!r}, on_job({job}): {n} workers "
                f"for {last - first} tasks; return one worker per task"
            )
        for task, worker in zip(range(first, last), chosen, strict=True):
            self.planned[task] = self._checked(worker, task, "on_job")
        for task in range(first, last):
            row = truth.task_row[task]
            if not truth.row_preds[row]:
                moved_s = truth.input_transfer_s(row, view.here, self.planned[task])
                arrival_s = self.ready_s[task] + moved_s
                self.calendar.push(arrival_s, ARRIVAL, QUEUE, task)

    def _run_ends(self, task: int) -> None:
        truth = self.truth
        worker = self.planned[task]
        self.workers[worker].end_run(task)
        self.touched[worker] = None
        self.ended_s[task] = self.view.now_s
        self.reach.leave(task)
        if self.world.on_turn is None:
            self._decide_successors(task, worker)
        for distance, edge in truth.row_succs[truth.task_row[task]]:
            successor = task + distance
            moved_s = truth.transfer_s(edge, worker, self.planned[successor])
            arrival_s = self.view.now_s + moved_s
            self.ready_s[successor] = max(self.ready_s[successor], arrival_s)
            self.missing[successor] -= 1
            if not self.missing[successor]:
                self.calendar.push(self.ready_s[successor], ARRIVAL, INPUT, successor)

    def _memory_action_ends(self, worker: int) -> None:
        self.workers[worker].memory.end_action()
        self.touched[worker] = None

    def _inputs_arrive(self, task: int) -> None:
        truth, worker = self.truth, self.planned[task]
        if len(truth.row_preds[truth.task_row[task]]) > 1:
            self.view.here = worker
            chosen = self.policy.on_gathered(task, worker, self.view)
            if chosen != worker:
                self._hop(task, worker, self._checked(chosen, task, "on_gathered"))
                return
        self._enqueue(task)

    def _enqueue(self, task: int) -> None:
        worker = self.planned[task]
        self.workers[worker].enqueue(task)
        self.touched[worker] = None

    # Decisions.

    def _decide_successors(self, task: int, worker: int) -> None:
        """Ask for the worker of every successor that waits for this task only."""
        truth, view = self.truth, self.view
        view.here = worker
        for distance, _ in truth.row_succs[truth.task_row[task]]:
            successor = task + distance
            if len(truth.row_preds[truth.task_row[successor]]) == 1:
                planned = self.planned[successor]
                chosen = self.policy.on_task_end(task, successor, planned, view)
                if chosen != planned:
                    chosen = self._checked(chosen, successor, "on_task_end")
                    self.planned[successor] = chosen

    def _hop(self, task: int, src: int, dst: int) -> None:
        """Send the gathered inputs on; no input is there sooner than directly sent."""
        truth = self.truth
        arrival_s = now_s = self.view.now_s
        for distance, edge in truth.row_preds[truth.task_row[task]]:
            producer = self.planned[task + distance]
            if producer != dst:
                hop_s = now_s + truth.transfer_s(edge, src, dst)
                direct_s = self.ended_s[task + distance] + truth.transfer_s(
                    edge, producer, dst
                )
                arrival_s = max(arrival_s, hop_s, direct_s)
        self.planned[task] = dst
        self.calendar.push(arrival_s, ARRIVAL, QUEUE, task)

    def _checked(self, worker: Any, task: int, decision: str) -> int:
        """Return a worker as a policy chose it, if the task can be placed there."""
        row = self.truth.task_row[task]
        try:
            index = operator.index(worker)
        except TypeError:
            index = -1
        is_able = 0 <= index < self.truth.n_workers and (
            self.truth.runtime_s[row][index] != float("inf")
            if self.reach.is_free
            else index in self.reach.workers_for(task)
        )
        if not is_able:
            name = self.truth.task_names[task]
            allowed = list(self.reach.workers_for(task))
            raise PlanError(
                f"policy {self.policy.name!r}, {decision}: worker {worker!r} for task "
                f"{name!r} is none of its workers {allowed}; choose from workers_for()"
            )
        return index


def _workers(arrays: InstanceArrays, world: World) -> list[WorkerState]:
    ptr, models = arrays.resident_ptr.tolist(), arrays.resident_model.tolist()
    return [
        WorkerState(world, w, slots, models[ptr[w] : ptr[w + 1]])
        for w, slots in enumerate(arrays.worker_slots.tolist())
    ]


def _asked_s(arrays: InstanceArrays) -> Any:
    """Return when each job is placed: when the first of its entry tasks is released."""
    first = np.full(arrays.n_jobs, np.inf)
    entries = np.flatnonzero(np.diff(arrays.pred_ptr) == 0)
    np.minimum.at(first, arrays.job[entries], arrays.release_s[entries])
    return first
