"""The rules R0-R6 once more, slow and readable: what `verify` is compared with.

Plain Python over dataclasses and names, pair by pair, with the instance's own
accessors instead of its arrays. It says which rules a schedule breaks, not where.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from placement_lab.units import time_slack_s

if TYPE_CHECKING:
    from collections.abc import Iterable

    from placement_lab.problem import Instance, Job, Model, Worker
    from placement_lab.schedule import Schedule

__all__ = ["broken_rules"]


def broken_rules(instance: Instance, schedule: Schedule) -> set[str]:
    """Return the names of the rules that a schedule breaks."""
    return _Twin(instance, schedule).judge()


class Do(NamedTuple):
    """A run, a load or an eviction with names looked up; in order of time."""

    start_s: float
    end_s: float
    kind: str
    item: Any  # (job, task) or model
    worker: Worker

    @property
    def is_instant(self) -> bool:
        return not before(self.start_s, self.end_s)

    def covers(self, time_s: float) -> bool:
        """Tell whether the action goes on just after a time, and not by rounding."""
        if math.isinf(self.end_s):
            return self.start_s <= time_s
        return self.start_s <= time_s < self.end_s - time_slack_s(self.end_s)

    def surrounds(self, time_s: float) -> bool:
        return before(self.start_s, time_s) and before(time_s, self.end_s)


@dataclass(eq=False)
class Copy:
    """A model in memory."""

    worker: Worker
    model: Model
    load: Do | None
    occupied_s: float
    usable_s: float
    unusable_s: float = math.inf
    free_s: float = math.inf
    users: list[Do] = field(default_factory=list)

    @property
    def is_sound(self) -> bool:
        return not before(self.unusable_s, self.usable_s)


def before(a_s: float, b_s: float) -> bool:
    if math.isinf(b_s):
        return not math.isinf(a_s)
    return b_s - a_s > max(time_slack_s(a_s), time_slack_s(b_s))


class _Twin:
    def __init__(self, instance: Instance, schedule: Schedule) -> None:
        self.instance, self.schedule = instance, schedule
        self.broken: set[str] = set()
        self.flows = {flow.id: flow for flow in instance.workflows}
        self.tasks = {
            f"{job.id}/{task.id}": (job, task)
            for job in instance.jobs
            for task in self.flows[job.workflow].tasks
        }
        models = {model.id: model for model in instance.models}
        self.runs = self.read("run", schedule.runs, self.tasks)
        self.loads = self.read("load", schedule.loads, models)
        self.evictions = self.read("evict", schedule.evictions, models)
        self.timed = instance.rules.evict_bandwidth_bytes_per_s is not None
        self.blocking = instance.rules.loading == "blocking"

    def check(self, is_fine: bool, rule: str) -> None:
        if not is_fine:
            self.broken.add(rule)

    def read(
        self, kind: str, records: Iterable[Any], known: dict[str, Any]
    ) -> list[Do]:
        workers = {worker.id: worker for worker in self.instance.workers}
        sound = []
        for name, worker, start_s, end_s in records:
            is_named = name in known and worker in workers
            is_timed = math.isfinite(start_s) and math.isfinite(end_s)
            is_forward = is_timed and not before(end_s, start_s)
            self.check(is_named and is_forward and not before(start_s, 0.0), "R0")
            if is_named and is_forward:
                sound.append(Do(start_s, end_s, kind, known[name], workers[worker]))
        return sound

    def judge(self) -> set[str]:
        named = [run.task for run in self.schedule.runs]
        self.check(all(named.count(name) == 1 for name in self.tasks), "R0")
        for run in self.runs:
            self.check_run(run)
        for load in self.loads:
            if load.item.size_bytes <= load.worker.memory_bytes:
                takes_s = self.instance.load_s(load.item, load.worker)
                self.check(takes_s is not None and lasts(load, takes_s), "R3")
        for eviction in self.evictions:
            self.check(lasts(eviction, self.instance.evict_s(eviction.item)), "R4")
        for worker in self.instance.workers:
            self.check_worker(worker)
        return self.broken

    def check_run(self, run: Do) -> None:
        job, task = run.item
        runtime_s = self.instance.runtime_s(task, run.worker)
        self.check(runtime_s is not None and lasts(run, runtime_s), "R1")
        released_s = job.release_s + task.release_s
        self.check(not before(run.start_s, released_s), "R6")
        for arrival_s in self.arrivals(run):
            self.check(not before(run.start_s, arrival_s), "R5")

    def arrivals(self, run: Do) -> list[float]:
        """Return when the inputs that must travel or be made arrive (inf: never)."""
        job, task = run.item
        edges = [e for e in self.flows[job.workflow].edges if e.dst == task.id]
        times: list[float] = []
        if not edges:
            delay_s = self.instance.input_transfer_s(task, job, run.worker)
            if delay_s != 0:
                released_s = job.release_s + task.release_s
                times.append(math.inf if delay_s is None else released_s + delay_s)
        for edge in edges:
            made = self.first_run(job, edge.src)
            if made is not None:
                delay_s = self.instance.transfer_s(edge, made.worker, run.worker)
                times.append(math.inf if delay_s is None else made.end_s + delay_s)
        return times

    def first_run(self, job: Job, task: str) -> Do | None:
        runs = [
            run for run in self.runs if run.item[0] == job and run.item[1].id == task
        ]
        order = self.instance.workers.index
        return min(runs, key=lambda r: (r.end_s, order(r.worker)), default=None)

    # One worker.

    def check_worker(self, worker: Worker) -> None:
        runs, loads, evictions = (
            [action for action in actions if action.worker == worker]
            for actions in (self.runs, self.loads, self.evictions)
        )
        engine = loads + (evictions if self.timed else [])
        self.check_occupancy(worker, runs, engine)
        copies = [
            copy
            for model in self.instance.models
            for copy in self.copies(worker, model, loads, evictions)
        ]
        for run in runs:
            if run.item[1].model is not None:
                self.find_copy(
                    run, [c for c in copies if c.model.id == run.item[1].model]
                )
        self.check_memory(worker, copies, runs)
        self.check_prefetch(copies, runs, loads, evictions)

    def check_occupancy(self, worker: Worker, runs: list[Do], engine: list[Do]) -> None:
        for action in runs + engine:
            at_once = [
                other
                for other in runs + engine
                if other is action
                or (
                    other.surrounds(action.start_s)
                    if action.is_instant
                    else other.covers(action.start_s)
                )
            ]
            n_runs = sum(other.kind == "run" for other in at_once)
            kinds = {other.kind for other in at_once}
            if action.kind == "run":
                self.check(n_runs <= worker.slots, "R1")
            elif len(at_once) - n_runs > 1:
                # Two evictions are R4; anything else in the engine with a load, R3.
                self.check("load" not in kinds, "R3")
                evictions = [other for other in at_once if other.kind == "evict"]
                self.check(len(evictions) <= 1 or action.kind != "evict", "R4")
            if self.blocking and n_runs + 1 > worker.slots:
                self.check("load" not in kinds or action.kind == "evict", "R3")
                self.check("evict" not in kinds or action.kind == "load", "R4")

    def copies(
        self, worker: Worker, model: Model, loads: list[Do], evictions: list[Do]
    ) -> list[Copy]:
        """Follow one model on one worker through time."""
        loads = sorted(load for load in loads if load.item == model)
        evictions = sorted(eviction for eviction in evictions if eviction.item == model)
        found: list[Copy] = []
        here = (
            Copy(worker, model, None, 0.0, 0.0) if model.id in worker.resident else None
        )
        while loads or evictions:
            load = loads[0] if loads else None
            eviction = evictions[0] if evictions else None
            if here is None and load and not (eviction and precedes(eviction, load)):
                here = Copy(worker, model, load, load.start_s, load.end_s)
                loads.pop(0)
            elif here is None:
                self.broken.add("R4")  # not resident
                evictions.pop(0)
            elif eviction is None or (load and before(load.start_s, eviction.end_s)):
                self.broken.add("R2")  # already there
                loads.pop(0)
            else:
                is_loaded = here.load is None or not before(
                    eviction.start_s, here.load.end_s
                )
                self.check(is_loaded, "R4")
                here.unusable_s, here.free_s = eviction.start_s, eviction.end_s
                found.append(here)
                here = None
                evictions.pop(0)
        return [*found, here] if here else found

    def find_copy(self, run: Do, copies: list[Copy]) -> None:
        """Tell the copies of a run's model that it uses them; any that it may use."""
        sound = [copy for copy in copies if copy.is_sound]
        serving = [
            copy
            for copy in sound
            if not before(run.start_s, copy.usable_s)
            and not before(copy.unusable_s, run.end_s)
        ]
        if not serving:
            earlier = [c for c in sound if not before(run.start_s, c.usable_s)]
            later = [c for c in sound if before(run.start_s, c.usable_s)]
            is_cut = earlier and before(run.start_s, earlier[-1].unusable_s)
            self.broken.add("R4" if is_cut else "R2")
            serving = earlier[-1:] + later[:1]
        for copy in serving:
            copy.users.append(run)

    def check_memory(self, worker: Worker, copies: list[Copy], runs: list[Do]) -> None:
        held: list[tuple[Do, int, Any]] = [
            (
                Do(copy.occupied_s, copy.free_s, "copy", copy, worker),
                copy.model.size_bytes,
                copy,
            )
            for copy in copies
        ]
        held += [(run, run.item[1].memory_bytes, run) for run in runs]
        for action, size, what in held:
            if action.is_instant:
                used = size + sum(
                    other_size
                    for other, other_size, _ in held
                    if other.surrounds(action.start_s)
                )
                used += self.model_aside(what, copies) if size else 0
            else:
                used = sum(s for other, s, _ in held if other.covers(action.start_s))
            self.check(used <= worker.memory_bytes, "R2")

    def model_aside(self, what: Any, copies: list[Copy]) -> int:
        """Return the size of an instant run's model where it only touches its copy."""
        mine = [copy for copy in copies if what in copy.users]
        if any(
            before(copy.occupied_s, what.start_s) and before(what.start_s, copy.free_s)
            for copy in mine
        ):
            return 0
        return max((copy.model.size_bytes for copy in mine), default=0)

    def check_prefetch(
        self, copies: list[Copy], runs: list[Do], loads: list[Do], evictions: list[Do]
    ) -> None:
        prefetch = self.instance.rules.prefetch
        gates: dict[int, float] = {}
        for copy in copies:
            if copy.load is None or prefetch == "clairvoyant":
                continue
            self.check(bool(copy.users) or not copy.is_sound, "R6")
            if not copy.users:
                continue
            gate_s = self.gate_s(copy, prefetch)
            gates[id(copy.load)] = gate_s
            self.check(
                math.isinf(gate_s) or not before(copy.load.start_s, gate_s), "R6"
            )
            if prefetch == "on_demand" and self.blocking:
                first_s = min(run.start_s for run in copy.users)
                between = [
                    run
                    for run in runs
                    if before(copy.load.start_s, run.start_s)
                    and before(run.start_s, first_s)
                ]
                self.check(not between, "R6")
        if prefetch == "on_demand":
            self.check_demanded(loads, evictions, runs, gates)

    def gate_s(self, copy: Copy, prefetch: str) -> float:
        if prefetch == "after_release":
            return min(run.item[0].release_s for run in copy.users)
        first_s = min(run.start_s for run in copy.users)
        return min(
            max([run.item[0].release_s + run.item[1].release_s, *self.arrivals(run)])
            for run in copy.users
            if not before(first_s, run.start_s)
        )

    def check_demanded(
        self,
        loads: list[Do],
        evictions: list[Do],
        runs: list[Do],
        gates: dict[int, float],
    ) -> None:
        waits_s = {id(load): gates.get(id(load), math.inf) for load in loads}
        own = [run for run in runs if run.item[1].memory_bytes > 0]
        for run in own:
            release_s = run.item[0].release_s + run.item[1].release_s
            waits_s[id(run)] = max([release_s, *self.arrivals(run)])
        for eviction in evictions:
            after = [
                one
                for one in (*loads, *own)
                if not before(one.start_s, eviction.start_s)
            ]
            taker = min(
                after, key=lambda one: (one.start_s, waits_s[id(one)]), default=None
            )
            if taker is None or not before(eviction.start_s, taker.start_s):
                continue
            gate_s = waits_s[id(taker)]
            is_early = math.isfinite(gate_s) and before(eviction.start_s, gate_s)
            self.check(not is_early, "R6")


def lasts(action: Do, takes_s: float) -> bool:
    due_s = action.start_s + takes_s
    return not before(action.end_s, due_s) and not before(due_s, action.end_s)


def precedes(eviction: Do, load: Do) -> bool:
    return before(eviction.start_s, load.end_s) and not before(
        load.start_s, eviction.start_s
    )
