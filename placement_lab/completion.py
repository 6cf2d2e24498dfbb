"""From a bare placement to a full plan, and from a schedule back to its plan.

`complete` takes what most list schedulers decide (which worker runs which tasks, in
which order) and adds the loads and evictions that this order needs. `plan_of` reads the
decisions out of a schedule, so that they can be replayed.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

import numpy as np

from placement_lab.caching import ModelCache, get_policy
from placement_lab.errors import InfeasiblePlanError, PlanError
from placement_lab.plan import Action, Plan
from placement_lab.problem.arrivals import arrivals_s
from placement_lab.units import time_slack_s

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from placement_lab.caching import EvictionPolicy
    from placement_lab.problem import Instance, InstanceArrays
    from placement_lab.schedule import Run, Schedule

__all__ = ["complete", "plan_of"]


def complete(
    instance: Instance,
    order: Mapping[str, Sequence[str]],
    evict: str | EvictionPolicy = "lru",
) -> Plan:
    """Add loads and evictions to a bare placement.

    Before each run, its model is loaded if it is not resident there at that place of
    the order, and models leave as ``evict`` says until it fits.

    Parameters
    ----------
    instance : Instance
    order : mapping of str to sequence of str
        By worker id, the tasks ``job/task`` it runs, in order.
    evict : str or EvictionPolicy
        ``fifo``, ``lru``, ``lookahead`` or ``belady``.

    Returns
    -------
    Plan

    Raises
    ------
    PlanError
        If a name is unknown.
    InfeasiblePlanError
        If a task's model and own memory can never fit its worker.
    """
    arrays = instance.arrays
    policy = get_policy(evict)
    workers = {}
    for worker, tasks in order.items():
        if worker not in arrays.worker_index:
            raise PlanError(f"unknown worker {worker!r} in the order; name a worker")
        sequence = [_task_number(arrays, worker, name) for name in tasks]
        workers[worker] = _complete_worker(arrays, worker, sequence, policy)
    return Plan(workers, instance.sha256)


def _task_number(arrays: InstanceArrays, worker: str, name: str) -> int:
    if name not in arrays.task_index:
        raise PlanError(f"unknown task {name!r} on worker {worker!r}; name a job/task")
    return arrays.task_index[name]


def _complete_worker(
    arrays: InstanceArrays, worker: str, sequence: list[int], policy: EvictionPolicy
) -> tuple[Action, ...]:
    w = arrays.worker_index[worker]
    names, model_ids = arrays.task_names, arrays.model_ids
    first, last = arrays.resident_ptr[w : w + 2].tolist()
    cache = ModelCache(
        int(arrays.worker_memory_bytes[w]),
        arrays.model_size_bytes.tolist(),
        policy,
        arrays.resident_model[first:last].tolist(),
    )
    models = arrays.model[sequence].tolist() if sequence else []
    extra = arrays.memory_bytes[sequence].tolist() if sequence else []
    upcoming = _Upcoming(models, policy.horizon)
    actions: list[Action] = []
    for position, task in enumerate(sequence):
        model = models[position]
        next_use = upcoming.after(position)
        if model >= 0:
            is_new = model not in cache
            need = extra[position] + (cache.size_bytes[model] if is_new else 0)
            leaving = cache.victims(need, keep=(model,), next_use=next_use)
        else:
            is_new = False
            leaving = cache.victims(extra[position], next_use=next_use)
        if leaving is None:
            raise InfeasiblePlanError(
                f"worker {worker!r}, run {names[task]}: its model and own memory do "
                f"not fit {cache.memory_bytes} bytes; place the task on a larger worker"
            )
        for victim in leaving:
            cache.remove(victim)
            actions.append(Action("evict", model_ids[victim]))
        if is_new:
            cache.add(model)
            actions.append(Action("load", model_ids[model]))
        elif model >= 0:
            cache.touch(model)
        actions.append(Action("run", names[task]))
    return tuple(actions)


class _Upcoming:
    """Next use of every model after a position of a known order of runs."""

    def __init__(self, models: Sequence[int], horizon: int | None) -> None:
        self._horizon = horizon
        self._uses: dict[int, list[int]] = {}
        if horizon != 0:
            for position in range(len(models) - 1, -1, -1):
                self._uses.setdefault(models[position], []).append(position)

    def after(self, position: int) -> dict[int, int]:
        """Return how many runs ahead each model is used next; positions only grow."""
        ahead = {}
        for model, uses in self._uses.items():
            while uses and uses[-1] <= position:
                uses.pop()
            if uses and (self._horizon is None or uses[-1] - position <= self._horizon):
                ahead[model] = uses[-1] - position
        return ahead


def plan_of(instance: Instance, schedule: Schedule) -> Plan:
    """Return the decisions of a schedule: every worker's actions by start time.

    At one instant evictions come first (rule R0), then runs, then loads, except where
    an action without length needs another order.

    Parameters
    ----------
    instance : Instance
    schedule : Schedule
        Valid; see `placement_lab.verify`.

    Returns
    -------
    Plan
    """
    arrays = instance.arrays
    rank = _ranks(arrays, schedule)
    needs = _Needs(arrays, _models_of(instance, schedule.runs))
    loaded_s = _latest_loads_s(schedule, needs.model_of)
    steps: dict[str, list[_Step]] = {}
    place: tuple[float, ...]
    for run in schedule.runs:
        arrival_s, topological = rank[run.task]
        place = (-loaded_s[run.task], arrival_s, topological)
        if run.end_s <= run.start_s:
            place = (topological,)  # may start together with its successors
        step = _Step("run", run.task, run.start_s, run.end_s, place)
        steps.setdefault(run.worker, []).append(step)
    for kind, records in (("load", schedule.loads), ("evict", schedule.evictions)):
        for record in records:
            step = _Step(kind, record.model, record.start_s, record.end_s, ())
            steps.setdefault(record.worker, []).append(step)
    return Plan(
        {
            worker.id: _sequence(steps[worker.id], set(worker.resident), needs)
            for worker in instance.workers
            if worker.id in steps
        },
        instance.sha256,
    )


def _ranks(arrays: InstanceArrays, schedule: Schedule) -> dict[str, tuple[float, int]]:
    """Return what orders runs that start together: inputs first come, then topology."""
    worker = np.zeros(arrays.n_tasks, np.int64)
    end_s = np.zeros(arrays.n_tasks)
    for run in schedule.runs:
        task = arrays.task_index[run.task]
        worker[task], end_s[task] = arrays.worker_index[run.worker], run.end_s
    arrival_s = arrivals_s(arrays, worker, end_s).tolist()
    place = np.empty(arrays.n_tasks, np.int64)
    place[arrays.topological] = np.arange(arrays.n_tasks)
    names = zip(arrays.task_names, arrival_s, place.tolist(), strict=True)
    return {name: (time_s, number) for name, time_s, number in names}


def _latest_loads_s(
    schedule: Schedule, model_of: Mapping[str, str]
) -> dict[str, float]:
    """Return when the copy that serves each run was loaded; -inf for residents.

    Of runs that start together, the one whose model has just arrived goes first: it is
    the one that an on-demand load was for.
    """
    ends: dict[tuple[str, str], list[float]] = {}
    for load in schedule.loads:
        ends.setdefault((load.worker, load.model), []).append(load.end_s)
    for times in ends.values():
        times.sort()
    loaded_s = {}
    for run in schedule.runs:
        times = ends.get((run.worker, model_of.get(run.task, "")), [])
        place = bisect_right(times, run.start_s + time_slack_s(run.start_s))
        loaded_s[run.task] = times[place - 1] if place else -inf
    return loaded_s


@dataclass(frozen=True)
class _Needs:
    """What must be there before a run: its model, its predecessors."""

    arrays: InstanceArrays
    model_of: Mapping[str, str]

    def waits_for_one_of(self, step: _Step, others: list[_Step]) -> bool:
        """Return whether a predecessor of a run is among the others."""
        arrays = self.arrays
        task = arrays.task_index[step.target]
        first, last = arrays.pred_ptr[task : task + 2].tolist()
        before = {arrays.task_names[i] for i in arrays.pred_task[first:last].tolist()}
        return any(one.kind == "run" and one.target in before for one in others)


def _models_of(instance: Instance, runs: Iterable[Run]) -> dict[str, str]:
    arrays = instance.arrays
    models = arrays.model.tolist()
    found = ((run.task, models[arrays.task_index[run.task]]) for run in runs)
    return {task: arrays.model_ids[m] for task, m in found if m >= 0}


def _class(kind: str, *, has_length: bool) -> int:
    """Return the usual place among actions that start together.

    Room is made before it is taken; what has no length takes no time from the others,
    so it goes before them; and a run comes before a load, so that on demand no other
    run stands between a load and its own.
    """
    if not has_length:
        return {"evict": 0, "run": 1, "load": 4}[kind]
    return {"evict": 2, "run": 3, "load": 5}[kind]


class _Step:
    """One timed action of a worker, with the key that orders it."""

    __slots__ = ("end_s", "key", "kind", "start_s", "target")

    def __init__(
        self,
        kind: str,
        target: str,
        start_s: float,
        end_s: float,
        place: tuple[float, ...],
    ) -> None:
        self.kind, self.target = kind, target
        self.start_s, self.end_s = start_s, end_s
        self.key = (_class(kind, has_length=end_s > start_s), start_s, *place)

    @property
    def has_no_length(self) -> bool:
        return self.end_s <= self.start_s


def _sequence(
    steps: list[_Step], resident: set[str], needs: _Needs
) -> tuple[Action, ...]:
    ordered: list[_Step] = []
    for together in _instants(steps):
        for step in _in_turn(together, resident, needs):
            if step.kind == "load":
                resident.add(step.target)
            elif step.kind == "evict":
                resident.discard(step.target)
            ordered.append(step)
    return tuple(Action(step.kind, step.target) for step in ordered)  # type: ignore[arg-type]


def _instants(steps: list[_Step]) -> Iterator[list[_Step]]:
    """Yield the steps that start at one instant together (rule R0's tolerance)."""
    together: list[_Step] = []
    for step in sorted(steps, key=lambda step: step.start_s):
        if together:
            first_s = together[0].start_s
            if step.start_s - first_s > time_slack_s(step.start_s):
                yield together
                together = []
        together.append(step)
    if together:
        yield together


def _in_turn(together: list[_Step], resident: set[str], needs: _Needs) -> list[_Step]:
    """Order actions of one instant."""
    usual = sorted(together, key=lambda step: step.key)
    if len(usual) > 1 and any(step.has_no_length for step in usual):
        return _untangle(usual, resident, needs)
    return usual


def _untangle(together: list[_Step], resident: set[str], needs: _Needs) -> list[_Step]:
    """Order actions of one instant, some without length, by what each one needs.

    Repeatedly takes the first action, in the usual order, that can go now: a run whose
    model is resident and whose predecessors have gone, a load of a model that is not,
    an eviction of one that is and that no remaining run without length could otherwise
    use.
    """
    here = set(resident)
    left = list(together)
    ordered: list[_Step] = []
    while left:
        step = _first_to_go(left, here, needs)
        left.remove(step)
        if step.kind == "load":
            here.add(step.target)
        elif step.kind == "evict":
            here.discard(step.target)
        ordered.append(step)
    return ordered


def _first_to_go(left: list[_Step], here: set[str], needs: _Needs) -> _Step:
    """Return the next action; what runs without length wait for cannot wait itself."""
    able = [one for one in left if _can_go(one, left, here, needs)]
    wanted = {
        needs.model_of.get(one.target)
        for one in left
        if one.kind == "run" and one.has_no_length
    }
    urgent = [
        one
        for one in able
        if one.has_no_length and (one.kind != "load" or one.target in wanted)
    ]
    return (urgent or able or left)[0]


def _can_go(step: _Step, left: list[_Step], here: set[str], needs: _Needs) -> bool:
    if step.kind == "run":
        model = needs.model_of.get(step.target)
        is_there = model is None or model in here
        return is_there and not needs.waits_for_one_of(step, left)
    if step.kind == "load":
        return step.target not in here
    reloaded = any(
        one.kind == "load" and one.has_no_length and one.target == step.target
        for one in left
    )
    still_used = any(
        one.kind == "run"
        and one.has_no_length
        and needs.model_of.get(one.target) == step.target
        for one in left
    )
    return step.target in here and (reloaded or not still_used)
