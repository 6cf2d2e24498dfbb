from __future__ import annotations

import pytest

from placement_lab import InstanceBuilder
from placement_lab.schedulers.heft import Heft
from placement_lab.schedulers.heft_cache import HeftCache

BOTH = pytest.mark.parametrize("loading", ["overlap", "blocking"])


@BOTH
def test_a_load_counts_when_the_worker_is_chosen(loading: str):
    build = InstanceBuilder(loading=loading)
    build.model("m", 5, load_s=100)
    build.worker("cold", 10)
    build.worker("warm", 10, resident=("m",))
    build.workflow("f").task("x", {"cold": 1, "warm": 2}, model="m")
    build.job("j", "f")
    [run] = HeftCache().schedule(build.build()).runs
    assert (run.worker, run.end_s) == ("warm", 2)


@BOTH
def test_a_second_task_finds_the_model_that_the_first_one_loaded(loading: str):
    build = InstanceBuilder(loading=loading)
    build.model("m", 5, load_s=10)
    build.worker("a", 10)
    build.worker("b", 10)
    build.workflow("f").task("x", 1, model="m").task("y", 1, model="m")
    build.job("j", "f")
    instance = build.build()
    # Elsewhere y would end at 11 as well as x; beside x at 12.
    assert {run.worker for run in HeftCache().schedule(instance).runs} == {"a", "b"}
    build.workflow("g").task("x", 1, model="m").task("y", 1, model="m").edge("x", "y")
    build.job("k", "g", release_s=100)
    schedule = HeftCache().schedule(build.build())
    assert schedule.makespan_s == pytest.approx(102)
    assert len(schedule.loads) == 2


def test_a_model_that_was_evicted_must_be_loaded_again():
    build = InstanceBuilder()
    for name in ("m", "n"):
        build.model(name, 6, load_s=10)
    build.worker("a", 10)
    flow = build.workflow("f").task("x", 1, model="m").task("y", 1, model="n")
    flow.task("z", 1, model="m").chain("x", "y", "z")
    build.job("j", "f")
    instance = build.build()
    plan = HeftCache().plan(instance)
    # Each load waits for the run before it, whose model has to leave.
    assert plan.end_s.tolist() == [11, 22, 33]
    assert HeftCache().schedule(instance).makespan_s == pytest.approx(33)


@pytest.mark.parametrize(
    ("prefetch", "end_s"),
    [("clairvoyant", 9), ("after_release", 11), ("on_demand", 12)],
)
def test_rule_r6_says_when_a_planned_load_may_start(prefetch: str, end_s: float):
    build = InstanceBuilder(prefetch=prefetch)
    build.model("m", 5, load_s=3)
    build.worker("a", 10)
    build.workflow("f").task("x", 1, model="m", release_s=1)
    build.job("j", "f", release_s=7)
    instance = build.build()
    assert HeftCache().plan(instance).end_s.tolist() == [end_s]
    assert HeftCache().schedule(instance).makespan_s == end_s


def test_an_earlier_gap_is_used_for_load_and_run():
    build = InstanceBuilder(loading="blocking")
    for name in ("m", "n"):
        build.model(name, 5, load_s=2)
    build.worker("a", 10)
    build.workflow("long").task("x", 9, model="m")
    build.workflow("short").task("x", 1, model="n")
    build.job("late", "long", release_s=20)
    build.job("early", "short")
    plan = HeftCache().plan(build.build())
    assert plan.start_s.tolist() == [22, 2]


@BOTH
def test_a_gap_is_left_alone_where_a_later_run_would_lose_its_model(loading: str):
    build = InstanceBuilder(loading=loading)
    build.model("m", 6, load_s=5)
    build.model("n", 6, load_s=1)
    build.worker("a", 10, resident=("m",))
    build.workflow("long").task("x", 9, model="m")
    build.workflow("short").task("x", 1, model="n")
    build.job("late", "long", release_s=20)
    build.job("early", "short")
    plan = HeftCache().plan(build.build())
    assert plan.start_s.tolist() == [20, 30]


def test_on_a_shared_cluster_it_beats_blind_heft():
    build = InstanceBuilder()
    for name in ("m", "n", "o"):
        build.model(name, 5, load_s=4)
    for name in ("a", "b"):
        build.worker(name, 11)
    flow = build.workflow("f").task("x", 1, model="m").task("y", 1, model="n")
    flow.task("z", 1, model="o").edge("x", "y").edge("x", "z")
    build.default_link(1e9)
    for j in range(6):
        build.job(f"j{j}", "f", release_s=float(j))
    instance = build.build()
    blind, aware = Heft().schedule(instance), HeftCache().schedule(instance)
    assert aware.makespan_s < blind.makespan_s
