"""A tiny list scheduler that makes valid schedules, for tests that must not trust ours.

One task after the other, in a random topological order, onto a random worker that can
run it: evict what was used least recently, load, run, each as early as a few careful
bounds allow. It knows nothing of plans and shares no code with the package.
"""

from __future__ import annotations

import itertools
import random
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from placement_lab.schedule import Eviction, Load, Run, Schedule

if TYPE_CHECKING:
    from placement_lab.problem import Instance, Job, Task, Worker

__all__ = ["list_schedule"]

ACTIVE_JOBS = 20


@dataclass
class Copy:
    """A resident model: usable from, and in use until."""

    usable_s: float = 0.0
    busy_until_s: float = 0.0


@dataclass
class State:
    """What is going on at one worker, as far as it has been planned."""

    worker: Worker
    copies: dict[str, Copy]  # least recently used first
    slots: list[float]
    engine_s: float = 0.0
    last_run_s: float = 0.0  # start of the latest run; runs start in order
    last_move_s: float = 0.0  # the same of loads and evictions
    evicted_s: float = 0.0  # end of the latest eviction
    own_memory_s: float = 0.0  # end of the latest run with memory of its own


class Open:
    """A job of which some tasks wait to be scheduled."""

    def __init__(self, job: Job, maker: Maker) -> None:
        self.job, self.places = job, maker.place(job)
        flow = maker.flows[job.workflow]
        self.waiting = list(flow.tasks)
        self.edges = [(edge.src, edge.dst) for edge in flow.edges]

    def take(self, rng: random.Random) -> Task:
        """Return a task whose predecessors have all been taken."""
        names = {task.id for task in self.waiting}
        blocked = {dst for src, dst in self.edges if src in names}
        task = rng.choice([task for task in self.waiting if task.id not in blocked])
        self.waiting.remove(task)
        return task


@dataclass
class Maker:
    instance: Instance
    rng: random.Random
    runs: dict[str, Run] = field(default_factory=dict)
    loads: list[Load] = field(default_factory=list)
    evictions: list[Eviction] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.states = {
            worker.id: State(
                worker, {name: Copy() for name in worker.resident}, [0.0] * worker.slots
            )
            for worker in self.instance.workers
        }
        self.blocking = self.instance.rules.loading == "blocking"
        self.timed = self.instance.rules.evict_bandwidth_bytes_per_s is not None
        self.flows = {flow.id: flow for flow in self.instance.workflows}
        self.sizes = {model.id: model.size_bytes for model in self.instance.models}

    def make(self) -> Schedule:
        # Few jobs at a time, so that releases far ahead do not hold up a worker.
        coming = iter(self.instance.jobs)
        active = [Open(job, self) for job in itertools.islice(coming, ACTIVE_JOBS)]
        while active:
            i = self.rng.randrange(len(active))
            job, task = active[i].job, active[i].take(self.rng)
            self.schedule(job, task, self.states[active[i].places[task.id]])
            if not active[i].waiting:
                active[i : i + 1] = [
                    Open(job, self) for job in itertools.islice(coming, 1)
                ]
        return Schedule(
            tuple(self.runs.values()),
            tuple(self.loads),
            tuple(self.evictions),
            self.instance.sha256,
        )

    def place(self, job: Job) -> dict[str, str]:
        """Return a worker for each task of a job; the first one can run them all."""
        tasks = self.flows[job.workflow].tasks
        for _ in range(4):
            places = {}
            for task in tasks:
                able = [w for w in self.instance.workers if self.can(task, w)]
                places[task.id] = self.rng.choice(able).id
            if self.is_connected(job, places):
                return places
        return {task.id: self.instance.workers[0].id for task in tasks}

    def can(self, task: Task, worker: Worker) -> bool:
        return self.instance.runtime_s(task, worker) is not None

    def is_connected(self, job: Job, places: dict[str, str]) -> bool:
        flow, find = self.flows[job.workflow], self.instance.worker
        delays = [
            self.instance.transfer_s(e, find(places[e.src]), find(places[e.dst]))
            for e in flow.edges
        ]
        fed = {edge.dst for edge in flow.edges}
        delays += [
            self.instance.input_transfer_s(task, job, find(places[task.id]))
            for task in flow.tasks
            if task.id not in fed
        ]
        return None not in delays

    def ready_s(self, job: Job, task: Task, worker: Worker) -> float:
        flow = self.flows[job.workflow]
        ready_s = job.release_s + task.release_s
        edges = [edge for edge in flow.edges if edge.dst == task.id]
        if not edges:
            delay_s = self.instance.input_transfer_s(task, job, worker)
            assert delay_s is not None
            ready_s += delay_s
        for edge in edges:
            run = self.runs[f"{job.id}/{edge.src}"]
            delay_s = self.instance.transfer_s(
                edge, self.instance.worker(run.worker), worker
            )
            assert delay_s is not None
            ready_s = max(ready_s, run.end_s + delay_s)
        return ready_s

    def schedule(self, job: Job, task: Task, state: State) -> None:
        ready_s = self.ready_s(job, task, state.worker)
        gate_s = {
            "clairvoyant": 0.0,
            "after_release": job.release_s,
            "on_demand": ready_s,
        }[self.instance.rules.prefetch]
        if task.model is not None:
            self.provide(task, state, gate_s)
        start_s = max(ready_s, state.last_run_s, min(state.slots))
        start_s += self.rng.choice([0.0, 0.0, 0.0, 0.25])
        if self.blocking:
            start_s = max(start_s, state.last_move_s)
        if task.model is not None:
            start_s = max(start_s, state.copies[task.model].usable_s)
        if task.memory_bytes:
            start_s = max(start_s, state.own_memory_s, state.evicted_s)
        runtime_s = self.instance.runtime_s(task, state.worker)
        assert runtime_s is not None
        end_s = start_s + runtime_s
        self.take_slot(state, end_s)
        state.last_run_s = start_s
        if task.memory_bytes:
            state.own_memory_s = max(state.own_memory_s, end_s)
        if task.model is not None:
            copy = state.copies.pop(task.model)
            copy.busy_until_s = max(copy.busy_until_s, end_s)
            state.copies[task.model] = copy
        name = f"{job.id}/{task.id}"
        self.runs[name] = Run(name, state.worker.id, start_s, end_s)

    def provide(self, task: Task, state: State, gate_s: float) -> None:
        """Make the task's model resident, with room for the task's own memory."""
        assert task.model is not None
        sizes = self.sizes
        used = sum(sizes[name] for name in state.copies)
        room = state.worker.memory_bytes - task.memory_bytes
        if task.model in state.copies and used <= room:
            return
        # Evictions without a load after them are not for on-demand worlds: reload.
        state.last_move_s = max(state.last_move_s, gate_s, state.own_memory_s)
        if task.model in state.copies:
            for name in list(state.copies):
                self.evict(state, name)
            used = 0
        for name in list(state.copies):
            if used + sizes[task.model] <= room:
                break
            self.evict(state, name)
            used -= sizes[name]
        self.load(state, task.model)

    def evict(self, state: State, name: str) -> None:
        copy = state.copies.pop(name)
        start_s = max(state.last_move_s, copy.usable_s, copy.busy_until_s)
        length_s = self.instance.evict_s(self.instance.model(name))
        if self.timed:
            start_s = self.engine_start_s(state, start_s)
        end_s = start_s + length_s
        if self.timed:
            self.take_engine(state, end_s)
        state.last_move_s = start_s
        state.evicted_s = max(state.evicted_s, end_s)
        self.evictions.append(Eviction(name, state.worker.id, start_s, end_s))

    def load(self, state: State, name: str) -> None:
        length_s = self.instance.load_s(self.instance.model(name), state.worker)
        assert length_s is not None
        start_s = max(state.last_move_s, state.evicted_s)
        start_s += self.rng.choice([0.0, 0.0, 0.25])
        start_s = self.engine_start_s(state, start_s)
        end_s = start_s + length_s
        self.take_engine(state, end_s)
        state.last_move_s = start_s
        state.copies[name] = Copy(end_s)
        self.loads.append(Load(name, state.worker.id, start_s, end_s))

    def engine_start_s(self, state: State, start_s: float) -> float:
        start_s = max(start_s, state.engine_s)
        if self.blocking:
            start_s = max(start_s, min(state.slots), state.last_run_s)
        return start_s

    def take_engine(self, state: State, end_s: float) -> None:
        state.engine_s = end_s
        if self.blocking:
            self.take_slot(state, end_s)

    def take_slot(self, state: State, end_s: float) -> None:
        state.slots[state.slots.index(min(state.slots))] = end_s


def list_schedule(instance: Instance, seed: int = 0) -> Schedule:
    """Return a valid schedule of an instance whose first worker can run everything."""
    return Maker(instance, random.Random(seed)).make()
