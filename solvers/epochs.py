"""Formulation B: residency epochs, as a CP-SAT model in whole ticks.

An *epoch* is one stay of a model in a worker's memory, from the start of its load (or
from time 0 for an initial resident) to the end of the last run that it serves. Loads
that serve no run, stays beyond the last run, and more epochs than runs are never needed
(the objectives never get better by finishing later), so every best schedule is here.

Each method that adds constraints is named for what it says.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from ortools.sat.python import cp_model

from placement_lab.solvers.bounds import heads, tails
from placement_lab.solvers.tick_schedule import Stay, TickSchedule

if TYPE_CHECKING:
    from collections.abc import Callable

    from placement_lab.problem import Instance
    from placement_lab.solvers.objectives import Objective
    from placement_lab.solvers.ticks import Quantities

__all__ = ["Epoch", "EpochModel"]


@dataclass
class Epoch:
    """One possible stay of a model on a worker: its variables."""

    model: int
    worker: int
    is_initial: bool
    used: cp_model.IntVar
    start: Any
    end: cp_model.IntVar
    load: cp_model.IntervalVar | None
    serves: dict[int, cp_model.IntVar] = field(default_factory=dict)
    has_user: dict[int, cp_model.IntVar] = field(default_factory=dict)


class EpochModel:
    """The CP-SAT model of an instance.

    Parameters
    ----------
    instance : Instance
    costs : Quantities
        In whole ticks.
    objective : Objective
    latest : sequence of int, one per job
        No schedule worth finding ends a job later.
    most_epochs : int or None
        Cap on the epochs of a model on a worker that it is not resident on at time 0;
        None: as many as can be needed, so that bounds are proofs.
    """

    def __init__(
        self,
        instance: Instance,
        costs: Quantities,
        objective: Objective,
        latest: list[int],
        most_epochs: int | None = None,
    ) -> None:
        self.instance, self.arrays, self.costs = instance, instance.arrays, costs
        self.objective, self.latest = objective, latest
        self.most_epochs = most_epochs
        self.model = cp_model.CpModel()
        ends, after = heads(self.arrays, costs), tails(self.arrays, costs)
        self._set_windows(ends, after)
        self.is_empty = any(not workers for workers in self.workers_of)
        if not self.is_empty:
            self._build()

    def _set_windows(self, ends: np.ndarray, after: np.ndarray) -> None:
        """Keep the placements that can end before the job must; note their windows."""
        self.earliest: list[dict[int, int]] = []
        self.latest_end: list[dict[int, int]] = []
        run = self.costs.run
        for task, job in enumerate(self.arrays.job.tolist()):
            first = {
                w: int(ends[task, w] - run[task, w])
                for w in range(self.arrays.n_workers)
                if ends[task, w] + after[task, w] <= self.latest[job]
            }
            self.earliest.append(first)
            self.latest_end.append(
                {w: self.latest[job] - int(after[task, w]) for w in first}
            )
        self.workers_of = [list(first) for first in self.earliest]
        self.horizon = max(self.latest, default=0)

    def _build(self) -> None:
        self._add_tasks()
        self._start_after_predecessors()
        self._add_epochs()
        self._share_workers()
        self._share_memory()
        self._add_objective()
        self._add_redundant_rows()

    # Variables of tasks, and rules R1, R5 and R6 for runs.

    def _add_tasks(self) -> None:
        model, run = self.model, self.costs.run
        self.start, self.end, self.duration = [], [], []
        self.on: list[dict[int, cp_model.IntVar]] = []
        self.runs_on: list[list[tuple[int, cp_model.IntervalVar]]] = [
            [] for _ in range(self.arrays.n_workers)
        ]
        for i, first in enumerate(self.earliest):
            lengths = {w: int(run[i, w]) for w in first}
            last = self.latest_end[i]
            start = model.new_int_var(
                min(first.values()), max(last[w] - lengths[w] for w in first), f"S{i}"
            )
            end = model.new_int_var(
                min(first[w] + lengths[w] for w in first), max(last.values()), f"E{i}"
            )
            on = self._choose_worker(i, list(first))
            duration: Any = next(iter(lengths.values()))
            if len(set(lengths.values())) > 1:
                domain = cp_model.Domain.from_values(sorted(set(lengths.values())))
                duration = model.new_int_var_from_domain(domain, f"p{i}")
                model.add(duration == sum(lengths[w] * on[w] for w in first))
            model.add(end == start + duration)
            for w in first:
                interval = model.new_optional_interval_var(
                    start, lengths[w], end, on[w], f"run{i}@{w}"
                )
                self.runs_on[w].append((i, interval))
                if first[w] > min(first.values()):
                    model.add(start >= first[w]).only_enforce_if(on[w])
                if last[w] < max(last.values()):
                    model.add(end <= last[w]).only_enforce_if(on[w])
            self.start.append(start)
            self.end.append(end)
            self.duration.append(duration)
            self.on.append(on)

    def _choose_worker(self, i: int, workers: list[int]) -> dict[int, cp_model.IntVar]:
        if len(workers) == 1:
            return {workers[0]: self.model.new_constant(1)}
        on = {w: self.model.new_bool_var(f"x{i}@{w}") for w in workers}
        self.model.add_exactly_one(on.values())
        return on

    def _start_after_predecessors(self) -> None:
        arrays = self.arrays
        for i in range(arrays.n_tasks):
            for at in range(arrays.pred_ptr[i], arrays.pred_ptr[i + 1]):
                k, edge = int(arrays.pred_task[at]), int(arrays.pred_edge[at])
                self._follow(k, i, self.costs.delay[edge])

    def _follow(self, k: int, i: int, delay: np.ndarray) -> None:
        """Let i start after k's data came: one row per worker of i."""
        model = self.model
        model.add(self.start[i] >= self.end[k])
        for w, on_w in self.on[i].items():
            waits = []
            for v, on_v in self.on[k].items():
                if np.isinf(delay[v, w]):
                    model.add_implication(on_w, on_v.negated())
                elif delay[v, w] > 0:
                    waits.append(int(delay[v, w]) * on_v)
            if waits:
                row = self.start[i] >= self.end[k] + sum(waits)
                model.add(row).only_enforce_if(on_w)

    # Epochs: rules R2, R3 and R6 for loads.

    def _add_epochs(self) -> None:
        arrays = self.arrays
        self.epochs: list[Epoch] = []
        self.epochs_on: list[list[Epoch]] = [[] for _ in range(arrays.n_workers)]
        for m in range(arrays.n_models):
            for w in range(arrays.n_workers):
                tasks = [
                    i
                    for i in np.flatnonzero(arrays.model == m).tolist()
                    if w in self.on[i]
                ]
                if tasks:
                    self._add_epochs_of(m, w, tasks)

    def _add_epochs_of(self, m: int, w: int, tasks: list[int]) -> None:
        initial = bool(self.costs.resident[m, w])
        loads = self._most_loads(m, w, len(tasks))
        here = [self._initial_epoch(m, w, tasks)] if initial else []
        here += [self._loaded_epoch(m, w, e, tasks) for e in range(loads)]
        for epoch in here:
            for i in tasks:
                self._offer(epoch, i)
            self.model.add_bool_or(epoch.serves.values()).only_enforce_if(epoch.used)
            if not epoch.is_initial and self.arrays.prefetch == "after_release":
                self._load_after_a_release(epoch)
        for i in tasks:
            serving = [epoch.serves[i] for epoch in here]
            self.model.add(sum(serving) == self.on[i][w])
        for one, following in pairwise(here):
            if not one.is_initial:
                self.model.add_implication(following.used, one.used)
            self.model.add(one.end <= following.start).only_enforce_if(
                one.used, following.used
            )
        self.epochs += here
        self.epochs_on[w] += here

    def _most_loads(self, m: int, w: int, n_tasks: int) -> int:
        """Return how many loads of a model a worker can need."""
        if np.isinf(self.costs.load[m, w]):
            return 0
        if self._all_fits(w):
            return 0 if self.costs.resident[m, w] else 1
        return n_tasks if self.most_epochs is None else min(n_tasks, self.most_epochs)

    def _all_fits(self, w: int) -> bool:
        """Return whether nothing ever has to be evicted from a worker."""
        arrays, costs = self.arrays, self.costs
        tasks = [i for i, on in enumerate(self.on) if w in on]
        models = {int(arrays.model[i]) for i in tasks} - {-1}
        own = sorted((int(costs.own[i]) for i in tasks), reverse=True)
        need = sum(int(costs.size[m]) for m in models)
        return need + sum(own[: arrays.worker_slots[w]]) <= costs.capacity[w]

    def _initial_epoch(self, m: int, w: int, tasks: list[int]) -> Epoch:
        name = f"{m}@{w}#0"
        last = max(self.latest_end[i][w] for i in tasks)
        return Epoch(
            model=m,
            worker=w,
            is_initial=True,
            used=self.model.new_bool_var(f"u{name}"),
            start=0,
            end=self.model.new_int_var(0, last, f"Q{name}"),
            load=None,
        )

    def _loaded_epoch(self, m: int, w: int, e: int, tasks: list[int]) -> Epoch:
        model, name = self.model, f"{m}@{w}#{e + 1}"
        length = int(self.costs.load[m, w])
        first = 0
        if self.arrays.prefetch == "after_release":
            first = min(int(self.costs.release[self.arrays.job[i]]) for i in tasks)
        last = max(self.latest_end[i][w] - int(self.costs.run[i, w]) for i in tasks)
        used = model.new_bool_var(f"u{name}")
        start = model.new_int_var(first, max(first, last - length), f"R{name}")
        if last - length < first:
            model.add(used == 0)
        end = model.new_int_var(
            first, max(first, *(self.latest_end[i][w] for i in tasks)), f"Q{name}"
        )
        load = model.new_optional_fixed_size_interval_var(
            start, length, used, f"load{name}"
        )
        return Epoch(m, w, False, used, start, end, load)

    def _offer(self, epoch: Epoch, i: int) -> None:
        """Let an epoch serve a task that runs inside it, after its load."""
        model = self.model
        serves = model.new_bool_var(f"y{i}in{epoch.used.name}")
        length = (
            0 if epoch.is_initial else int(self.costs.load[epoch.model, epoch.worker])
        )
        model.add_implication(serves, epoch.used)
        model.add(self.start[i] >= epoch.start + length).only_enforce_if(serves)
        model.add(self.end[i] <= epoch.end).only_enforce_if(serves)
        epoch.serves[i] = serves

    def _load_after_a_release(self, epoch: Epoch) -> None:
        """Let a load wait for the first release among the jobs that use the copy.

        With the users' releases in order, r1 < r2 < ..., and ``has_user[k]`` true only
        if the copy serves a job of the first k: start >= r1 + (r2 - r1)(1 -
        has_user[1]) + (r3 - r2)(1 - has_user[2]) + ...
        """
        release = self.costs.release
        jobs = {i: int(release[self.arrays.job[i]]) for i in epoch.serves}
        moments = sorted(set(jobs.values()))
        waits: list[Any] = []
        earlier: cp_model.IntVar | None = None
        for moment, following in pairwise(moments):
            name = f"j{moment}in{epoch.used.name}"
            has_user = self.model.new_bool_var(name)
            new = [epoch.serves[i] for i in jobs if jobs[i] == moment]
            old = [] if earlier is None else [earlier]
            self.model.add_bool_or([*new, *old, has_user.negated()])
            for one in (*new, *old):
                self.model.add_implication(one, has_user)
            waits.append((following - moment) * (1 - has_user))
            epoch.has_user[moment] = earlier = has_user
        if waits:
            self.model.add(epoch.start >= moments[0] + sum(waits)).only_enforce_if(
                epoch.used
            )

    # Shared resources: rules R1, R2 and R3.

    def _share_workers(self) -> None:
        for w, slots in enumerate(self.arrays.worker_slots.tolist()):
            runs = [interval for _, interval in self.runs_on[w]]
            loads = [one.load for one in self.epochs_on[w] if one.load is not None]
            if self.arrays.overlap:
                self._at_most(slots, runs)
            else:
                self._at_most(slots, [*runs, *loads])
            if self.arrays.overlap or slots > 1:
                self._at_most(1, loads)

    def _at_most(self, capacity: int, intervals: list[cp_model.IntervalVar]) -> None:
        if len(intervals) <= capacity:
            return
        if capacity == 1:
            self.model.add_no_overlap(intervals)
        else:
            self.model.add_cumulative(intervals, [1] * len(intervals), capacity)

    def _share_memory(self) -> None:
        for w in range(self.arrays.n_workers):
            if not self._all_fits(w):
                self._share_memory_of(w)

    def _share_memory_of(self, w: int) -> None:
        holds = [(epoch.model, self._hold(epoch)) for epoch in self.epochs_on[w]]
        intervals = [hold for _, hold in holds]
        demands = [int(self.costs.size[m]) for m, _ in holds]
        for i, interval in self.runs_on[w]:
            if self.costs.own[i] > 0:
                intervals.append(interval)
                demands.append(int(self.costs.own[i]))
        capacity = int(self.costs.capacity[w])
        self.model.add_cumulative(intervals, demands, capacity)
        # Follows from the above, but for stays of no length, which it overlooks.
        for one, other in combinations(dict.fromkeys(m for m, _ in holds), 2):
            if self.costs.size[one] + self.costs.size[other] > capacity:
                both = [hold for m, hold in holds if m in (one, other)]
                self.model.add_no_overlap(both)

    def _hold(self, epoch: Epoch) -> cp_model.IntervalVar:
        length = self.model.new_int_var(0, self.horizon, f"h{epoch.used.name}")
        return self.model.new_optional_interval_var(
            epoch.start, length, epoch.end, epoch.used, f"hold{epoch.used.name}"
        )

    # The objective, and rows that follow from the rest but help the bound.

    def _job_tasks(self, j: int) -> range:
        return range(int(self.arrays.job_ptr[j]), int(self.arrays.job_ptr[j + 1]))

    def _sinks(self, j: int) -> list[int]:
        ptr = self.arrays.succ_ptr
        return [i for i in self._job_tasks(j) if ptr[i] == ptr[i + 1]]

    def _add_objective(self) -> None:
        if self.objective.name == "makespan":
            self._minimize_makespan()
        elif self.objective.name == "late":
            self._minimize_late_weight()
        else:
            self._minimize_latencies()

    def _minimize_makespan(self) -> None:
        self.makespan = self.model.new_int_var(0, self.horizon, "Z")
        for j in range(self.arrays.n_jobs):
            for i in self._sinks(j):
                self.model.add(self.makespan >= self.end[i])
        self.model.minimize(self.makespan)

    def _minimize_latencies(self) -> None:
        terms = []
        self.completion: dict[int, Any] = {}
        for j, weight in enumerate(self.objective.weights):
            if weight:
                self.completion[j] = self._completion(j)
                release = int(self.costs.release[j])
                terms.append(weight * (self.completion[j] - release))
        self.model.minimize(sum(terms))

    def _completion(self, j: int) -> Any:
        sinks = self._sinks(j)
        if len(sinks) == 1:
            return self.end[sinks[0]]
        first = max(self.end[i].proto.domain[0] for i in sinks)
        completion = self.model.new_int_var(first, self.latest[j], f"C{j}")
        for i in sinks:
            self.model.add(completion >= self.end[i])
        return completion

    def _minimize_late_weight(self) -> None:
        self.late: dict[int, cp_model.IntVar] = {}
        terms = []
        for j, weight in enumerate(self.objective.weights):
            due = self.costs.due[j]
            if weight and np.isfinite(due):
                late = self.late[j] = self.model.new_bool_var(f"late{j}")
                for i in self._sinks(j):
                    self.model.add(self.end[i] <= int(due)).only_enforce_if(
                        late.negated()
                    )
                terms.append(weight * late)
        self.model.minimize(sum(terms))

    def _add_redundant_rows(self) -> None:
        """All workers together are one resource; the makespan holds all work."""
        slots = int(self.arrays.worker_slots.sum())
        if len(self.start) > slots > 1:
            intervals = [
                self.model.new_interval_var(s, p, e, f"all{i}")
                for i, (s, p, e) in enumerate(
                    zip(self.start, self.duration, self.end, strict=True)
                )
            ]
            self.model.add_cumulative(intervals, [1] * len(intervals), slots)
        if self.objective.name == "makespan":
            for w in range(self.arrays.n_workers):
                self._makespan_holds_work(w)

    def _makespan_holds_work(self, w: int) -> None:
        slots = int(self.arrays.worker_slots[w])
        runs = [int(self.costs.run[i, w]) * self.on[i][w] for i, _ in self.runs_on[w]]
        loads = [
            int(self.costs.load[one.model, w]) * one.used
            for one in self.epochs_on[w]
            if one.load is not None
        ]
        rows = [runs] if self.arrays.overlap else [runs + loads]
        if self.arrays.overlap or slots > 1:
            self.model.add(self.makespan >= sum(loads))
        for row in rows:
            self.model.add(slots * self.makespan >= sum(row))

    # In and out.

    def add_hint(self, schedule: TickSchedule) -> None:
        """Give the solver a complete schedule to start from."""
        hint: dict[int, tuple[Any, int]] = {}

        def put(variable: Any, value: int) -> None:
            if isinstance(variable, cp_model.IntVar):
                hint[variable.index] = (variable, value)

        self._hint_tasks(schedule, put)
        self._hint_epochs(schedule, put)
        self._hint_objective(schedule, put)
        self.model.clear_hints()
        for variable, value in hint.values():
            self.model.add_hint(variable, value)

    def _hint_tasks(
        self, schedule: TickSchedule, put: Callable[[Any, int], None]
    ) -> None:
        for i, (w, start) in enumerate(
            zip(schedule.worker, schedule.start, strict=True)
        ):
            length = int(self.costs.run[i, w])
            put(self.start[i], start)
            put(self.end[i], start + length)
            put(self.duration[i], length)
            for v, on in self.on[i].items():
                if len(self.on[i]) > 1:
                    put(on, int(v == w))

    def _hint_epochs(
        self, schedule: TickSchedule, put: Callable[[Any, int], None]
    ) -> None:
        left: dict[tuple[int, int, bool], list[Stay]] = {}
        for stay in schedule.stays:
            key = (stay.model, stay.worker, stay.is_initial)
            left.setdefault(key, []).append(stay)
        for epoch in self.epochs:
            stays = left.get((epoch.model, epoch.worker, epoch.is_initial), [])
            served: Stay | None = stays.pop(0) if stays else None
            put(epoch.used, int(served is not None))
            first = 0 if epoch.is_initial else epoch.start.proto.domain[0]
            put(epoch.start, first if served is None else served.start)
            put(epoch.end, first if served is None else served.end)
            tasks = () if served is None else served.tasks
            for i, serves in epoch.serves.items():
                put(serves, int(i in tasks))
            users = [int(self.costs.release[self.arrays.job[i]]) for i in tasks]
            for moment, has_user in epoch.has_user.items():
                put(has_user, int(any(release <= moment for release in users)))

    def _hint_objective(
        self, schedule: TickSchedule, put: Callable[[Any, int], None]
    ) -> None:
        ends = [
            start + int(self.costs.run[i, w])
            for i, (w, start) in enumerate(
                zip(schedule.worker, schedule.start, strict=True)
            )
        ]
        last = [max(ends[i] for i in self._sinks(j)) for j in range(self.arrays.n_jobs)]
        if self.objective.name == "makespan":
            put(self.makespan, max(last))
        elif self.objective.name == "late":
            for j, late in self.late.items():
                put(late, int(last[j] > self.costs.due[j]))
        else:
            for j, completion in self.completion.items():
                put(completion, last[j])

    def read(self, value: Callable[[Any], int]) -> TickSchedule:
        """Return a solution.

        Parameters
        ----------
        value : callable
            A solver's or callback's ``value``.
        """
        workers = [
            next(w for w, chosen in on.items() if value(chosen)) for on in self.on
        ]
        starts = [int(value(start)) for start in self.start]
        stays = []
        for epoch in self.epochs:
            if value(epoch.used):
                first = 0 if epoch.is_initial else int(value(epoch.start))
                tasks = tuple(i for i, serves in epoch.serves.items() if value(serves))
                end = int(value(epoch.end))
                stays.append(
                    Stay(epoch.model, epoch.worker, first, end, epoch.is_initial, tasks)
                )
        return TickSchedule(workers, starts, tuple(stays))
