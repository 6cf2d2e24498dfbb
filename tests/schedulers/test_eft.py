from __future__ import annotations

import pytest
from hypothesis import given, settings

from placement_lab import Instance, InstanceBuilder
from placement_lab.errors import UnknownNameError
from placement_lab.metrics import OBJECTIVES, objective_value
from placement_lab.schedulers.eft import RULES, Eft
from tests.schedulers.random_instances import instances


def three_jobs() -> Instance:
    """Two short jobs and a long one that came first, on one worker."""
    build = InstanceBuilder()
    build.worker("w", 1)
    build.workflow("long").task("x", 10)
    build.workflow("short").task("x", 1)
    build.job("long", "long", deadline_s=10)
    build.job("short0", "short", weight=4)
    build.job("short1", "short")
    return build.build()


def order(instance: Instance, rule: str) -> list[str]:
    schedule = Eft(rules=(rule,)).schedule(instance)
    return [run.task.removesuffix("/x") for run in schedule.runs]


def test_each_rule_puts_its_own_job_first():
    instance = three_jobs()
    assert order(instance, "fifo") == ["long", "short0", "short1"]
    assert order(instance, "upward_rank") == ["long", "short0", "short1"]
    assert order(instance, "shortest_job") == ["short0", "short1", "long"]
    assert order(instance, "least_remaining") == ["short0", "short1", "long"]
    assert order(instance, "least_slack") == ["long", "short0", "short1"]


def test_fifo_goes_by_release_and_not_by_declared_order():
    build = InstanceBuilder()
    build.worker("w", 1)
    build.workflow("f").task("x", 5)
    for name, release_s in (("a", 0.0), ("c", 2.0), ("b", 1.0)):
        build.job(name, "f", release_s=release_s)
    assert order(build.build(), "fifo") == ["a", "b", "c"]


def test_a_task_that_is_not_yet_released_does_not_hold_the_worker():
    build = InstanceBuilder()
    build.worker("w", 1)
    build.workflow("f").task("x", 5)
    build.job("late", "f", release_s=100)
    build.job("early", "f")
    for rule in RULES:
        assert order(build.build(), rule) == ["early", "late"], rule


def test_the_objective_decides_between_the_rules():
    late = Eft(objective="late").schedule(three_jobs())
    latency = Eft(objective="latency").schedule(three_jobs())
    assert late.runs[0].task == "long/x"
    assert latency.runs[0].task == "short0/x"
    assert late.made_by["objective"] == "late"


def test_belady_is_tried_beside_lru():
    build = InstanceBuilder(loading="blocking")
    for name in ("a", "b", "c"):
        build.model(name, 5, load_s=5)
    build.worker("w", 10)
    flow = build.workflow("f")
    for i, model in enumerate("abcab"):
        flow.task(f"t{i}", 1, model=model)
    flow.chain(*(f"t{i}" for i in range(5)))
    build.job("j", "f")
    assert len(Eft(evict="lru").schedule(build.build()).loads) == 5
    best = Eft().schedule(build.build())
    assert (len(best.loads), best.made_by["evict"]) == (4, "belady")


@settings(max_examples=20, deadline=None)
@given(instance=instances())
def test_the_best_rule_is_kept_for_every_objective(instance: Instance):
    for objective in OBJECTIVES:
        best = Eft(objective=objective).schedule(instance)
        value = objective_value(instance, best, objective)
        for rule in RULES:
            alone = Eft(objective=objective, rules=(rule,)).schedule(instance)
            assert value <= objective_value(instance, alone, objective)


def test_unknown_objectives_and_rules_are_refused():
    with pytest.raises(UnknownNameError, match="unknown objective 'speed'"):
        Eft(objective="speed")
    with pytest.raises(UnknownNameError, match="rule 'lifo'"):
        Eft(rules=("fifo", "lifo"))
