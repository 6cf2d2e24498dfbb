"""Formulation B: residency epochs, as a CP-SAT model in whole ticks.

An *epoch* is one stay of a model in a worker's memory, from the start of its load (or
from time 0 for an initial resident) to the end of the last run that it serves. Loads
that serve no run, stays beyond the last run, and more epochs than runs are never needed
(the objectives never get better by finishing later), so every best schedule is here.

Each method that adds constraints is named for what it says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from ortools.sat.python import cp_model

from placement_lab.solvers.bounds import heads, tails
from placement_lab.solvers.residency import Residency
from placement_lab.solvers.tick_schedule import Stay, TickSchedule

if TYPE_CHECKING:
    from collections.abc import Callable

    from placement_lab.problem import Instance
    from placement_lab.solvers.objectives import Objective
    from placement_lab.solvers.ticks import Quantities

__all__ = ["EpochModel"]


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
        self.residency = Residency(self, self.most_epochs)
        self._share_workers()
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

    # Shared resources: rules R1, R2 and R3.

    def _share_workers(self) -> None:
        for w, slots in enumerate(self.arrays.worker_slots.tolist()):
            runs = [interval for _, interval in self.runs_on[w]]
            loads = [
                one.load for one in self.residency.epochs_on[w] if one.load is not None
            ]
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

    # The objective, and rows that follow from the rest but help the bound.

    def _job_tasks(self, j: int) -> range:
        return range(int(self.arrays.job_ptr[j]), int(self.arrays.job_ptr[j + 1]))

    def sinks(self, j: int) -> list[int]:
        """Return the tasks of a job that no other waits for."""
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
            for i in self.sinks(j):
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
        sinks = self.sinks(j)
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
                for i in self.sinks(j):
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
            for one in self.residency.epochs_on[w]
            if one.load is not None
        ]
        rows = [runs] if self.arrays.overlap else [runs + loads]
        if self.arrays.overlap or slots > 1:
            self.model.add(self.makespan >= sum(loads))
        for row in rows:
            self.model.add(slots * self.makespan >= sum(row))

    # Out.

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
        for epoch in self.residency.epochs:
            if value(epoch.used):
                first = 0 if epoch.is_initial else int(value(epoch.start))
                tasks = tuple(i for i, serves in epoch.serves.items() if value(serves))
                end = int(value(epoch.end))
                stays.append(
                    Stay(epoch.model, epoch.worker, first, end, epoch.is_initial, tasks)
                )
        return TickSchedule(workers, starts, tuple(stays))
