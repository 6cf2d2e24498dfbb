"""Missing links: no choice may leave a later task without a worker."""

from __future__ import annotations

import pytest

from placement_lab import Instance, InstanceBuilder, verify
from placement_lab.errors import InfeasiblePlanError
from placement_lab.schedulers import get_scheduler
from placement_lab.schedulers._domains import Choices, DeadEndError, with_choices

OFFLINE = ("heft", "heft_cache", "cpop", "peft", "min_min", "eft")


def cluster(n_workers: int, links: list[tuple[int, int]]) -> InstanceBuilder:
    build = InstanceBuilder()
    for w in range(n_workers):
        build.worker(f"w{w}", 1)
    for a, b in links:
        build.link(f"w{a}", f"w{b}", 1.0)
    return build


def everywhere(n_workers: int, runtimes_s: dict[int, float], other_s: float = 9.0):
    return {f"w{w}": runtimes_s.get(w, other_s) for w in range(n_workers)}


def join_across_islands() -> Instance:
    """Two entry tasks, each fastest on an island of its own, and a task that joins."""
    build = cluster(2, [])
    flow = build.workflow("f")
    flow.task("x", everywhere(2, {0: 1})).task("y", everywhere(2, {1: 1}))
    flow.task("z", everywhere(2, {1: 1})).edge("x", "z").edge("y", "z")
    build.job("j", "f")
    return build.build()


@pytest.mark.parametrize("name", OFFLINE)
def test_tasks_that_join_later_stay_together(name: str):
    instance = join_across_islands()
    schedule = get_scheduler(name).schedule(instance)
    assert verify(instance, schedule) == []
    assert len({run.worker for run in schedule.runs}) == 1


def square() -> Instance:
    """Four tasks in a ring, on the two ends of a chain of workers that lacks a link.

    w0 - w1 - w2 - w3: every step of the ring has a partner, but no choice for all.
    """
    build = cluster(4, [(0, 1), (1, 2), (2, 3)])
    flow = build.workflow("f")
    flow.task("a", {"w0": 1, "w2": 2}).task("b", {"w1": 1, "w3": 1})
    flow.task("c", {"w0": 1, "w2": 1}).task("d", {"w1": 1, "w3": 1})
    for src, dst in (("a", "b"), ("b", "c"), ("a", "d"), ("d", "c")):
        flow.edge(src, dst)
    build.job("j", "f")
    return build.build()


@pytest.mark.parametrize("name", OFFLINE)
def test_a_ring_on_a_chain_of_workers_is_placed(name: str):
    instance = square()
    assert verify(instance, get_scheduler(name).schedule(instance)) == []


def triangle_colouring(n_colours: int) -> Instance:
    """Three tasks in a triangle, each on one of a task's own colours of workers.

    Workers of different tasks are linked where their colours differ: arc-consistent
    from two colours on, but solvable from three on.
    """
    colours = range(n_colours)
    names = [(task, colour) for task in range(3) for colour in colours]
    build = InstanceBuilder()
    for task, colour in names:
        build.worker(f"{task}-{colour}", 1)
    for i, (task, colour) in enumerate(names):
        for other, shade in names[:i]:
            if other != task and shade != colour:
                build.link(f"{other}-{shade}", f"{task}-{colour}", 1.0)
    flow = build.workflow("f")
    for task in range(3):
        flow.task(f"t{task}", {f"{task}-{colour}": 1 + colour for colour in colours})
    flow.edge("t0", "t1").edge("t0", "t2").edge("t1", "t2")
    build.job("j", "f")
    return build.build()


@pytest.mark.parametrize("name", OFFLINE)
def test_what_no_assignment_can_satisfy_is_refused(name: str):
    with pytest.raises(InfeasiblePlanError, match="no assignment of tasks to workers"):
        get_scheduler(name).schedule(triangle_colouring(2))
    instance = triangle_colouring(3)
    assert verify(instance, get_scheduler(name).schedule(instance)) == []


@pytest.mark.parametrize("name", OFFLINE)
def test_a_task_without_any_linked_worker_is_named(name: str):
    build = cluster(2, [])
    flow = build.workflow("f").task("x", {"w0": 1}).task("y", {"w1": 1})
    flow.edge("x", "y")
    build.job("j", "f")
    with pytest.raises(InfeasiblePlanError, match=r"task 'j/[xy]'"):
        get_scheduler(name).schedule(build.build())


def test_an_own_transfer_time_needs_no_link():
    build = cluster(2, [])
    flow = build.workflow("f").task("x", {"w0": 1}).task("y", {"w1": 1})
    flow.edge("x", "y", transfer_s=3)
    build.job("j", "f")
    assert get_scheduler("heft").schedule(build.build()).makespan_s == 5


def test_an_input_binds_its_task_to_workers_linked_with_the_ingress():
    build = cluster(3, [(0, 1)])
    build.workflow("f").task("x", everywhere(3, {2: 1}))
    build.job("j", "f", ingress="w0")
    assert Choices(build.build().arrays).workers(0) == [0, 1]


def test_after_a_dead_end_a_fixed_assignment_is_planned():
    instance = triangle_colouring(3)
    seen = []

    def planner(choices: Choices) -> list[list[int]]:
        seen.append(choices)
        if len(seen) == 1:
            raise DeadEndError
        return [choices.workers(task) for task in range(3)]

    answer = with_choices(instance.arrays, planner)
    assert [len(workers) for workers in answer] == [1, 1, 1]
    assert all(seen[1].take(task, workers[0]) for task, workers in enumerate(answer))


def test_a_refused_choice_changes_nothing():
    instance = join_across_islands()
    choices = Choices(instance.arrays)
    assert choices.take(0, 0)
    before = [choices.workers(task) for task in range(3)]
    assert before == [[0], [0], [0]]
    with pytest.raises(DeadEndError):
        choices.first_that_goes(1, [1])
    assert [choices.workers(task) for task in range(3)] == before
