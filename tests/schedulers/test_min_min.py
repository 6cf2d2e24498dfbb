from __future__ import annotations

from placement_lab import InstanceBuilder
from placement_lab.schedulers.min_min import MinMin


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
