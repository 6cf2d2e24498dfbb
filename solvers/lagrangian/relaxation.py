"""The Lagrangian relaxation of an instance: its subproblems, value and slopes.

Workers that nothing distinguishes form one *type*: by symmetry they get one price, one
history counts for all of them, and a task need not choose among them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from placement_lab.solvers.bounds import heads
from placement_lab.solvers.lagrangian import _kernels
from placement_lab.solvers.lagrangian._kernels import Histories, Jobs, Prices, Sums

if TYPE_CHECKING:
    import numpy.typing as npt

    from placement_lab.problem import Instance, InstanceArrays
    from placement_lab.solvers.objectives import Objective
    from placement_lab.solvers.ticks import Quantities

    Floats = npt.NDArray[np.float64]

__all__ = ["MOST_MODELS", "PRICE_UNIT", "Evaluation", "Relaxation"]

MOST_MODELS = 10
"""The cache subproblem looks at every set of models."""

PRICE_UNIT = 2.0**-16
"""Prices and weights are multiples of this, so that sums of them are exact."""


@dataclass(frozen=True)
class Evaluation:
    """The relaxation at some prices.

    Attributes
    ----------
    value : float
        Lower bound on the sum of weight x completion tick.
    slope : Prices
        A supergradient: what more of each price would add.
    """

    value: float
    slope: Prices


class Relaxation:
    """Jobs on one side, workers' memories on the other, joined by prices.

    Parameters
    ----------
    instance : Instance
    costs : Quantities
        In whole ticks.
    objective : Objective
        A weighted sum of latencies.
    latest : list of int
        Jobs' windows: the bound holds for schedules that keep them.
    """

    def __init__(
        self,
        instance: Instance,
        costs: Quantities,
        objective: Objective,
        latest: list[int],
    ) -> None:
        self.arrays, self.costs = instance.arrays, costs
        self.horizon = max(latest) + 1
        self.unit = max(objective.weights)
        weights = np.array(objective.weights) / self.unit
        self.weights = np.floor(weights / PRICE_UNIT) * PRICE_UNIT
        self.types = _types(self.arrays, costs)
        self.count = np.array([len(workers) for workers in self.types], np.float64)
        self.slots = self.arrays.worker_slots[[w[0] for w in self.types]]
        self.models = self._priced_models()
        self.jobs = self._jobs(latest)
        self.histories = [self._history(workers) for workers in self.types]
        self.constant = float(self.weights @ costs.release)

    @property
    def is_small_enough(self) -> bool:
        """Whether all sets of models can be looked at."""
        return len(self.models) <= MOST_MODELS

    @property
    def shape(self) -> tuple[int, int, int]:
        """Types, models and ticks."""
        return len(self.types), len(self.models), self.horizon

    def _priced_models(self) -> list[int]:
        """Return the models that some worker may have to load and that takes time."""
        used = np.unique(self.arrays.model[self.arrays.model >= 0]).tolist()
        return [m for m in used if not self._is_free(m)]

    def _is_free(self, model: int) -> bool:
        load = self.costs.load[model]
        return bool((load[np.isfinite(load)] == 0).any())

    def _jobs(self, latest: list[int]) -> Jobs:
        arrays, costs = self.arrays, self.costs
        first_of = [workers[0] for workers in self.types]
        ends = heads(arrays, costs)
        first = np.full((arrays.n_tasks, len(self.types)), self.horizon + 1, np.int64)
        run = np.zeros((arrays.n_tasks, len(self.types)), np.int64)
        for g, workers in enumerate(self.types):
            earliest = ends[:, workers].min(axis=1)
            can = np.isfinite(earliest)
            run[can, g] = costs.run[can, first_of[g]]
            first[can, g] = np.minimum(earliest[can] - run[can, g], self.horizon + 1)
        shapes = [_shape(arrays, j) for j in range(arrays.n_jobs)]
        local = {m: at for at, m in enumerate(self.models)}
        load = costs.load[self.models][:, first_of]
        return Jobs(
            ptr=arrays.job_ptr,
            order=np.array([i for order, _, _ in shapes for i in order], np.int64),
            n_head=np.array([n for _, n, _ in shapes], np.int64),
            n_middle=np.array([n for _, _, n in shapes], np.int64),
            release=costs.release.astype(np.int64),
            weight=self.weights,
            model=np.array([local.get(m, -1) for m in arrays.model.tolist()], np.int64),
            run=run,
            first=first,
            last=np.array([latest[j] for j in arrays.job.tolist()], np.int64),
            load=_whole(load, self.horizon),
        )

    def _history(self, workers: list[int]) -> Histories:
        costs, w = self.costs, workers[0]
        load = costs.load[self.models, w]
        first = np.zeros(len(self.models))
        if self.arrays.prefetch == "after_release":
            for at, m in enumerate(self.models):
                users = self.arrays.job[self.arrays.model == m]
                first[at] = costs.release[users].min()
        resident = costs.resident[self.models, w]
        return Histories(
            size=costs.size[self.models],
            capacity=int(costs.capacity[w]),
            load=np.where(np.isfinite(load), load, 0).astype(np.int64),
            first_load=_whole(first, self.horizon),
            initial=sum(1 << at for at in np.flatnonzero(resident).tolist()),
            slots=int(self.arrays.worker_slots[w]),
            blocking=not self.arrays.overlap,
        )

    def zero_prices(self) -> Prices:
        """Return prices of zero."""
        types, models, horizon = self.shape
        return Prices(
            np.zeros((types, horizon)),
            np.zeros((types, models, horizon)),
            np.zeros((types, models, horizon)),
        )

    def evaluate(self, prices: Prices) -> Evaluation:
        """Return the dual value and its slopes at non-negative snapped prices."""
        sums = Sums(_summed(prices.busy), _summed(prices.resident))
        total, starts, kinds, triggers = _kernels.cheapest_jobs(self.jobs, prices, sums)
        value = total - self.constant
        slope = self.zero_prices()
        if np.isinf(value):
            return Evaluation(value, slope)
        for g, count in enumerate(self.count.tolist()):
            slots = count * int(self.slots[g])
            value -= slots * sums.busy[g, -1]
            slope.busy[g] -= slots
            earned, resident, loads = _kernels.best_history(
                self.histories[g], sums.busy[g], sums.resident[g], prices.load[g]
            )
            value -= count * earned
            slope.resident[g] -= slots * resident
            slope.load[g] += count * loads
            if self.histories[g].blocking:
                _add_loading(slope.busy[g], count, loads, self.histories[g].load)
        self._add_runs(slope, starts, kinds, triggers)
        return Evaluation(value, slope)

    def _add_runs(
        self, slope: Prices, starts: np.ndarray, kinds: np.ndarray, triggers: np.ndarray
    ) -> None:
        for i, (s, g) in enumerate(zip(starts.tolist(), kinds.tolist(), strict=True)):
            until, m = s + self.jobs.run[i, g], self.jobs.model[i]
            slope.busy[g, s:until] += 1
            if m >= 0:
                slope.resident[g, m, s:until] += 1
                if triggers[i] >= 0:
                    slope.load[g, m, triggers[i]] -= 1


def _whole(values: np.ndarray, most: int) -> np.ndarray:
    return np.minimum(np.where(np.isfinite(values), values, most), most).astype(
        np.int64
    )


def _summed(values: Floats) -> Floats:
    sums = np.zeros((*values.shape[:-1], values.shape[-1] + 1))
    np.cumsum(values, axis=-1, out=sums[..., 1:])
    return sums


def _add_loading(
    busy: Floats, count: float, loads: np.ndarray, length: np.ndarray
) -> None:
    for m, t in np.argwhere(loads).tolist():
        busy[t : t + length[m]] += count


def _types(arrays: InstanceArrays, costs: Quantities) -> list[list[int]]:
    """Return the workers in groups of the same costs, memory and slots.

    When inputs arrive may differ: a type's earliest starts are those of its soonest.
    """
    groups: dict[bytes, list[int]] = {}
    for w in range(arrays.n_workers):
        parts = (
            costs.run[:, w],
            costs.can_run[:, w].astype(np.float64),
            costs.load[:, w],
            costs.resident[:, w].astype(np.float64),
            [float(costs.capacity[w]), float(arrays.worker_slots[w])],
        )
        groups.setdefault(np.concatenate(parts).tobytes(), []).append(w)
    return list(groups.values())


def _shape(arrays: InstanceArrays, j: int) -> tuple[list[int], int, int]:
    """Split a job into head chain, middle and tail chain; return order and counts.

    A unique source precedes all other tasks, and so does the unique source of what is
    left; likewise sinks. Arcs inside the middle are dropped, which only lowers the
    bound.
    """
    left = list(range(int(arrays.job_ptr[j]), int(arrays.job_ptr[j + 1])))
    head: list[int] = []
    tail: list[int] = []
    while len(left) > 1:
        sources = [
            i for i in left if not _has(arrays.pred_ptr, arrays.pred_task, i, left)
        ]
        if len(sources) > 1:
            break
        head.append(sources[0])
        left.remove(sources[0])
    while len(left) > 1:
        sinks = [
            i for i in left if not _has(arrays.succ_ptr, arrays.succ_task, i, left)
        ]
        if len(sinks) > 1:
            break
        tail.insert(0, sinks[0])
        left.remove(sinks[0])
    return head + left + tail, len(head), len(left)


def _has(ptr: np.ndarray, neighbour: np.ndarray, i: int, among: list[int]) -> bool:
    return any(k in among for k in neighbour[ptr[i] : ptr[i + 1]].tolist())
