from __future__ import annotations

import numpy as np
from hypothesis import given, settings

from placement_lab import Instance, InstanceBuilder
from placement_lab.schedulers._planning import (
    Placement,
    inputs_ready_s,
    planning_input,
)
from placement_lab.schedulers.min_min import MinMin
from tests.schedulers.random_instances import instances


def test_the_task_that_can_end_first_goes_first():
    build = InstanceBuilder()
    build.worker("a", 1)
    build.worker("b", 1)
    flow = build.workflow("f")
    for name, on_a, on_b in (("x", 8, 9), ("y", 3, 4), ("z", 2, 5)):
        flow.task(name, {"a": on_a, "b": on_b})
    build.job("j", "f")
    runs = {run.task: run for run in MinMin().schedule(build.build()).runs}
    # z ends at 2 on a; then y at 4 on b (5 on a); then x at 10 on a (13 on b).
    assert [runs[f"j/{name}"].worker for name in "zyx"] == ["a", "b", "a"]
    assert [runs[f"j/{name}"].end_s for name in "zyx"] == [2, 4, 10]


def test_a_successor_competes_only_once_its_predecessors_are_placed():
    build = InstanceBuilder()
    build.worker("a", 1)
    build.workflow("f").task("y", 1).task("x", 5).task("z", 6).edge("x", "y")
    build.job("j", "f")
    schedule = MinMin().schedule(build.build())
    assert [run.task for run in schedule.runs] == ["j/x", "j/y", "j/z"]


def test_every_slot_counts_as_a_place():
    build = InstanceBuilder()
    build.worker("a", 1, slots=2)
    build.workflow("f").task("x", 4).task("y", 1).task("z", 2)
    build.job("j", "f")
    ends = {run.task: run.end_s for run in MinMin().schedule(build.build()).runs}
    assert ends == {"j/y": 1, "j/z": 2, "j/x": 5}


def naive(instance: Instance) -> Placement:
    """Min-Min by its definition: every ready task on every worker, at every step."""
    arrays = instance.arrays
    n, n_workers = arrays.n_tasks, arrays.n_workers
    placed = Placement(np.full(n, -1), np.zeros(n), np.zeros(n))
    free_s = [[0.0] * int(slots) for slots in arrays.worker_slots]
    for _ in range(n):
        ends = []
        for task in np.flatnonzero(placed.worker < 0).tolist():
            preds = arrays.pred_task[arrays.pred_ptr[task] : arrays.pred_ptr[task + 1]]
            if (placed.worker[preds] < 0).any():
                continue
            arrived_s = inputs_ready_s(planning_input(arrays), task, placed)
            for w in range(n_workers):
                start_s = max(arrived_s[w], min(free_s[w]))
                end_s = start_s + arrays.row_runtime_s[arrays.row[task], w]
                ends.append((end_s, task, w, start_s))
        end_s, task, w, start_s = min(ends)
        free_s[w][free_s[w].index(min(free_s[w]))] = end_s
        placed.worker[task] = w
        placed.start_s[task], placed.end_s[task] = start_s, end_s
    return placed


@settings(max_examples=60, deadline=None)
@given(instance=instances(linked=True))
def test_it_does_what_the_definition_says(instance: Instance):
    for ours, theirs in zip(MinMin().plan(instance), naive(instance), strict=True):
        np.testing.assert_array_equal(ours, theirs)
