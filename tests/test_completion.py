"""`complete` adds what an order needs; `plan_of` reads decisions out of schedules."""

import pytest

from placement_lab import InstanceBuilder, complete, plan_of
from placement_lab.errors import InfeasiblePlanError, PlanError
from placement_lab.schedule import Eviction, Load, Run, Schedule


def three_models(memory_bytes=10, **fields):
    build = InstanceBuilder("three")
    build.worker("w0", memory_bytes, load_bandwidth_bytes_per_s=1, **fields)
    flow = build.workflow("f")
    for name in "abc":
        build.model(name, 5)
        flow.task(name, 1, model=name)
    flow.task("plain", 1)
    flow.task("big", 1, memory_bytes=8)
    build.job("j", "f")
    build.job("k", "f")
    return build.build()


def words(plan, worker="w0"):
    return [str(action) for action in plan.workers[worker]]


def test_loads_and_evictions_stand_right_before_the_run_that_needs_them():
    order = {"w0": ["j/a", "j/b", "k/a", "j/plain", "j/c"]}
    assert words(complete(three_models(), order)) == [
        *("load a", "run j/a", "load b", "run j/b", "run k/a", "run j/plain"),
        *("evict b", "load c", "run j/c"),
    ]


@pytest.mark.parametrize(
    ("policy", "victim"), [("fifo", "a"), ("lru", "b"), ("belady", "b")]
)
def test_the_policy_chooses_the_victim(policy, victim):
    order = {"w0": ["j/a", "j/b", "k/a", "j/c", "j/plain", "k/b"]}
    if policy == "belady":
        order = {"w0": ["j/b", "j/a", "j/c", "k/a", "k/b"]}
    assert f"evict {victim}" in words(complete(three_models(), order, policy))


def test_residents_count_as_least_recently_used_first():
    instance = three_models(resident=["b", "a"])
    assert words(complete(instance, {"w0": ["j/c"]}))[0] == "evict b"


def test_room_for_a_tasks_own_memory_is_made_even_without_a_model():
    plan = complete(three_models(resident=["a"]), {"w0": ["j/big"]})
    assert words(plan) == ["evict a", "run j/big"]


def test_unknown_names_and_what_cannot_fit_are_refused():
    instance = three_models()
    with pytest.raises(PlanError, match="unknown worker 'w7'"):
        complete(instance, {"w7": []})
    with pytest.raises(PlanError, match="unknown task 'j/z' on worker 'w0'"):
        complete(instance, {"w0": ["j/z"]})
    build = InstanceBuilder("small")
    build.worker("w0", 4)
    build.worker("w1", 9)
    build.workflow("f").task("t", 1, memory_bytes=8)
    build.job("j", "f")
    with pytest.raises(InfeasiblePlanError, match=r"worker 'w0', run j/t: .* 4 bytes"):
        complete(build.build(), {"w0": ["j/t"]})


def test_a_plan_of_a_schedule_puts_evictions_before_what_they_make_room_for():
    schedule = Schedule(
        runs=(Run("j/a", "w0", 5, 6), Run("j/c", "w0", 11, 12)),
        loads=(Load("a", "w0", 0, 5), Load("c", "w0", 6, 11)),
        evictions=(Eviction("a", "w0", 6, 6),),
    )
    plan = plan_of(three_models(), schedule)
    assert words(plan) == ["load a", "run j/a", "evict a", "load c", "run j/c"]
    assert plan.instance_sha256 == three_models().sha256
