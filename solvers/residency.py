"""The part of formulation B about memory: residency epochs and what they share.

Rules R2, R3 and R6 for loads; see `epochs` for the rest of the model.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ortools.sat.python import cp_model

    from placement_lab.solvers.epochs import EpochModel

__all__ = ["Epoch", "Residency"]


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


class Residency:
    """Adds the epochs of all models on all workers to a model of the tasks.

    Parameters
    ----------
    tasks : EpochModel
        With the variables of its tasks.
    most_epochs : int or None
        See `EpochModel`.

    Attributes
    ----------
    epochs : list of Epoch
    epochs_on : list of list of Epoch
        By worker.
    """

    def __init__(self, tasks: EpochModel, most_epochs: int | None) -> None:
        self.model, self.arrays, self.costs = tasks.model, tasks.arrays, tasks.costs
        self.start, self.end, self.on = tasks.start, tasks.end, tasks.on
        self.runs_on, self.latest_end = tasks.runs_on, tasks.latest_end
        self.horizon, self.most_epochs = tasks.horizon, most_epochs
        self.epochs: list[Epoch] = []
        self.epochs_on: list[list[Epoch]] = [[] for _ in range(self.arrays.n_workers)]
        self._add_epochs()
        self._share_memory()

    def _add_epochs(self) -> None:
        arrays = self.arrays
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
