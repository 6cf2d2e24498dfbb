"""A complete hint for formulation B: a value for every variable."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ortools.sat.python import cp_model

if TYPE_CHECKING:
    from collections.abc import Callable

    from placement_lab.solvers.epochs import EpochModel
    from placement_lab.solvers.tick_schedule import Stay, TickSchedule

__all__ = ["add_hint"]


def add_hint(problem: EpochModel, schedule: TickSchedule) -> None:
    """Give the solver a complete schedule to start from."""
    hint: dict[int, tuple[Any, int]] = {}

    def put(variable: Any, value: int) -> None:
        if isinstance(variable, cp_model.IntVar):
            hint[variable.index] = (variable, value)

    _hint_tasks(problem, schedule, put)
    _hint_epochs(problem, schedule, put)
    _hint_objective(problem, schedule, put)
    problem.model.clear_hints()
    for variable, value in hint.values():
        problem.model.add_hint(variable, value)


def _hint_tasks(
    problem: EpochModel, schedule: TickSchedule, put: Callable[[Any, int], None]
) -> None:
    for i, (w, start) in enumerate(zip(schedule.worker, schedule.start, strict=True)):
        length = int(problem.costs.run[i, w])
        put(problem.start[i], start)
        put(problem.end[i], start + length)
        put(problem.duration[i], length)
        for v, on in problem.on[i].items():
            if len(problem.on[i]) > 1:
                put(on, int(v == w))


def _hint_epochs(
    problem: EpochModel, schedule: TickSchedule, put: Callable[[Any, int], None]
) -> None:
    left: dict[tuple[int, int, bool], list[Stay]] = {}
    for stay in schedule.stays:
        key = (stay.model, stay.worker, stay.is_initial)
        left.setdefault(key, []).append(stay)
    for epoch in problem.residency.epochs:
        stays = left.get((epoch.model, epoch.worker, epoch.is_initial), [])
        served: Stay | None = stays.pop(0) if stays else None
        put(epoch.used, int(served is not None))
        first = 0 if epoch.is_initial else epoch.start.proto.domain[0]
        put(epoch.start, first if served is None else served.start)
        put(epoch.end, first if served is None else served.end)
        tasks = () if served is None else served.tasks
        for i, serves in epoch.serves.items():
            put(serves, int(i in tasks))
        users = [int(problem.costs.release[problem.arrays.job[i]]) for i in tasks]
        for moment, has_user in epoch.has_user.items():
            put(has_user, int(any(release <= moment for release in users)))


def _hint_objective(
    problem: EpochModel, schedule: TickSchedule, put: Callable[[Any, int], None]
) -> None:
    ends = [
        start + int(problem.costs.run[i, w])
        for i, (w, start) in enumerate(
            zip(schedule.worker, schedule.start, strict=True)
        )
    ]
    last = [
        max(ends[i] for i in problem.sinks(j)) for j in range(problem.arrays.n_jobs)
    ]
    if problem.objective.name == "makespan":
        put(problem.makespan, max(last))
    elif problem.objective.name == "late":
        for j, late in problem.late.items():
            put(late, int(last[j] > problem.costs.due[j]))
    else:
        for j, completion in problem.completion.items():
            put(completion, last[j])
