"""Compass: golden plans, adjustment, and one test per option."""

from __future__ import annotations

from dataclasses import replace

import pytest

from placement_lab import Instance, InstanceBuilder, Job
from placement_lab.datasets.compass import (
    COMPASS_WORKFLOWS,
    compass_models,
    compass_workers,
    compass_workflow,
)
from placement_lab.errors import UnsupportedError
from placement_lab.policy import FixedView, Profile, Telemetry
from placement_lab.schedulers import get_scheduler
from placement_lab.schedulers._job_plan import plan_job, planning_order
from placement_lab.schedulers.compass import Compass, CompassOptions

CORRECTED, FAITHFUL = CompassOptions(), CompassOptions.faithful()


def compass_profile(kind: int, n_workers: int) -> Profile:
    """Return one job of a Compass workflow, its input already at worker 0."""
    flow = compass_workflow(COMPASS_WORKFLOWS[kind])
    tasks = tuple([replace(task, release_s=0.0) for task in flow.tasks])
    instance = Instance(
        workers=compass_workers(n_workers),
        models=compass_models(),
        workflows=(replace(flow, tasks=tasks),),
        jobs=(Job("j", flow.id, ingress="w0"),),
    )
    return Profile(instance.arrays)


GOLDEN_PLANS = [
    (0, [0, 3, 2, 1, 4], [0, 2, 1, 0, 0], 2124.004, [0, 2, 1, 0, 0], 1365.0),
    (1, [0, 1], [0, 0], 1359.768, [0, 0], 587.0),
    (2, [0, 2, 1, 3], [0, 1, 0, 0], 791.793, [0, 1, 0, 0], 359.2),
    (3, [0, 1, 2, 3], [0, 0, 1, 1], 635.865, [0, 0, 1, 0], 282.6),
]


@pytest.mark.parametrize("options", [CORRECTED, FAITHFUL])
@pytest.mark.parametrize("golden", GOLDEN_PLANS)
def test_golden_plans_on_three_idle_workers(golden, options):
    kind, order, cold, cold_ms, warm, warm_ms = golden
    profile = compass_profile(kind, 3)
    assert planning_order(profile, 0, options) == order
    plan = plan_job(0, FixedView(profile), options)
    assert plan.worker == cold
    assert round(max(plan.finish_s) * 1e3, 3) == cold_ms
    everything = (1 << len(profile.model_size_bytes)) - 1
    plan = plan_job(0, FixedView(profile, resident=[everything] * 3), options)
    assert plan.worker == warm
    assert round(max(plan.finish_s) * 1e3, 3) == warm_ms


@pytest.mark.parametrize(
    ("options", "finish_ms"), [(CORRECTED, 3421.66), (FAITHFUL, 3618.29)]
)
def test_a_corrected_plan_pays_once_for_a_model_on_one_cold_worker(options, finish_ms):
    plan = plan_job(0, FixedView(compass_profile(0, 1)), options)
    assert round(max(plan.finish_s) * 1e3, 2) == finish_ms


def two_workers(**task) -> Profile:
    """Return one task with a model that takes 2 s to load, on two workers of 10."""
    build = InstanceBuilder(evict_bandwidth_bytes_per_s=2.0)
    build.worker("w0", 10, kind="slow", resident=["old"])
    build.worker("w1", 10, kind="fast")
    build.default_link(10.0)
    build.model("m", 8, load_s=2.0)
    build.model("old", 6, load_s=1.0)
    build.workflow("f").task("t", **({"runtime_s": 3.0, "model": "m"} | task))
    build.job("j", "f", ingress="w0")
    return Profile(build.build().arrays)


def finish_s(profile: Profile, options: CompassOptions, **view) -> float:
    return plan_job(0, FixedView(profile, **view), options).finish_s[0]


def test_a_plan_waits_for_the_queue_unless_the_load_term_is_off():
    view = {"wait_s": [9.0, 7.0]}
    assert finish_s(two_workers(), CORRECTED, **view) == 7 + 2 + 3
    off = replace(CORRECTED, load_term=False)
    assert finish_s(two_workers(), off, **view) == 2 + 3


def test_a_plan_pays_for_the_fetch_unless_the_cache_term_is_off():
    assert finish_s(two_workers(), CORRECTED) == 2 + 3
    assert finish_s(two_workers(), replace(CORRECTED, cache_term=False)) == 3


def test_a_plan_prefers_the_worker_that_has_the_model():
    plan = plan_job(0, FixedView(two_workers(), resident=[0, 1]), CORRECTED)
    assert plan.worker == [1]
    assert plan.finish_s == [3.0]


@pytest.mark.parametrize(
    ("penalty", "expected_s"),
    [("zero", 2.0), ("flat2x", 4.0), ("victims", 2.0 + 4 / 2.0)],
)
def test_a_fetch_that_does_not_fit_costs_the_chosen_penalty(penalty, expected_s):
    options = replace(CORRECTED, eviction_penalty=penalty)
    profile = two_workers(runtime_s={"slow": 3.0})
    view = {"resident": [0b10, 0]}  # 6 of 10 bytes are taken, so 4 have to go
    assert finish_s(profile, options, **view) == expected_s + 3.0


def test_earliest_finish_and_earliest_start_differ_on_unequal_workers():
    profile = two_workers(runtime_s={"slow": 9.0, "fast": 3.0})
    view = FixedView(profile, wait_s=[0.0, 1.0])
    assert plan_job(0, view, CORRECTED).worker == [1]
    assert plan_job(0, view, replace(CORRECTED, pick="start")).worker == [0]


def test_equal_finishes_go_to_the_first_declared_worker():
    assert plan_job(0, FixedView(two_workers()), CORRECTED).worker == [0]


def test_the_way_of_the_input_counts_unless_told_otherwise():
    profile = two_workers(input_bytes=40.0)
    view = FixedView(profile, wait_s=[3.5, 0.0])
    assert plan_job(0, view, CORRECTED).worker == [0]
    ignoring = replace(CORRECTED, entry_transfer=False)
    assert plan_job(0, view, ignoring).worker == [1]


def test_topological_order_ignores_ranks():
    profile = compass_profile(0, 3)
    by_declaration = replace(CORRECTED, order="topological")
    assert planning_order(profile, 0, by_declaration) == [0, 1, 2, 3, 4]


def test_a_task_of_no_length_is_planned_after_its_predecessor():
    build = InstanceBuilder()
    build.worker("w0", 1)
    flow = build.workflow("f").task("late", 0.0).task("early", 0.0)
    flow.edge("early", "late")
    build.job("j", "f")
    assert planning_order(Profile(build.build().arrays), 0, CORRECTED) == [1, 0]


def test_used_memory_moves_the_wrong_way_in_the_authors_planner():
    """Quirk Q2: after one fetch, the next seems to fit where it does not."""
    build = InstanceBuilder()
    build.worker("w0", 10, resident=["a"])
    for name in "abc":
        build.model(name, 4, load_s=1.0)
    build.workflow("f").task("t0", 1.0, model="b").task("t1", 0.5, model="c")
    build.job("j", "f")
    view = FixedView(Profile(build.build().arrays), resident=[0b001])
    honest = replace(CORRECTED, eviction_penalty="flat2x")
    assert max(plan_job(0, view, honest).finish_s) == (1 + 1) + (2 + 0.5)
    wrong = replace(honest, subtracts_used=True)
    assert max(plan_job(0, view, wrong).finish_s) == (1 + 1) + (1 + 0.5)


def chain(**second) -> Instance:
    """Return a chain of two tasks on two workers, and jobs that crowd the first."""
    build = InstanceBuilder("chain", prefetch="on_demand")
    build.worker("w0", 10)
    build.worker("w1", 10)
    build.default_link(10.0)
    build.model("m", 4, load_s=0.5)
    flow = build.workflow("f").task("a", 1.0)
    flow.task("b", 1.0, **second).edge("a", "b", bytes=1.0)
    build.workflow("crowd").task("c", {"w0": 5.0})
    build.job("j", "f")
    build.job("k", "crowd", release_s=0.5)
    build.job("l", "crowd", release_s=0.6)
    return build.build()


def ran_on(instance: Instance, policy: Compass) -> dict[str, str]:
    return {run.task: run.worker for run in policy.schedule(instance).runs}


def test_a_successor_leaves_a_worker_that_became_busy():
    assert ran_on(chain(), Compass())["j/b"] == "w1"
    assert ran_on(chain(), Compass(adjust=False))["j/b"] == "w0"


def test_a_successor_stays_below_the_threshold():
    patient = Compass(options=replace(CORRECTED, threshold=10.0))
    assert ran_on(chain(), patient)["j/b"] == "w0"


def test_the_first_worker_keeps_its_place_at_the_threshold_itself():
    exactly = Compass(options=replace(CORRECTED, threshold=10.0))
    view = FixedView(Profile(chain().arrays), here=0, wait_s=[10.0, 0.0])
    assert exactly.on_task_end(0, 1, 0, view) == 0
    view = replace(view, wait_s=[10.0 + 1e-9, 0.0])
    assert exactly.on_task_end(0, 1, 0, view) == 1


def test_an_adjustment_weighs_wait_transfer_and_fetch():
    profile = Profile(chain(model="m").arrays)
    compass = Compass()
    view = FixedView(profile, here=0, wait_s=[2.0, 1.45], resident=[1, 1])
    assert compass.on_task_end(0, 1, 0, view) == 1  # 1.45 + 0.1 < 2
    assert compass.on_task_end(0, 1, 0, replace(view, resident=[1, 0])) == 0
    assert compass.on_task_end(0, 1, 0, replace(view, wait_s=[2.0, 1.95])) == 0


def test_the_authors_see_the_ended_task_in_its_own_queue():
    """Quirk Q12: asked at the start, the task's own run makes its worker look busy."""
    build = InstanceBuilder(loading="blocking")
    build.worker("w0", 10)
    build.worker("w1", 10)
    build.default_link(10.0)
    build.workflow("f").task("a", 9.0).task("b", 1.0).edge("a", "b", bytes=1.0)
    build.job("j", "f")
    instance = build.build()
    assert ran_on(instance, Compass())["j/b"] == "w0"
    at_start = replace(CORRECTED, telemetry=Telemetry("excluded"), adjust_at="start")
    assert ran_on(instance, Compass(options=at_start))["j/b"] == "w1"


def test_joins_are_never_moved():
    build = InstanceBuilder()
    build.worker("w0", 10)
    build.worker("w1", 10)
    build.default_link(1e9)
    flow = build.workflow("f").task("a", 1.0).task("b", 1.0).task("join", 0.1)
    flow.edge("a", "join").edge("b", "join")
    build.workflow("crowd").task("c", {"w0": 5.0})
    build.job("j", "f")
    build.job("k", "crowd", release_s=0.5)
    build.job("l", "crowd", release_s=0.6)
    assert ran_on(build.build(), Compass())["j/join"] == "w0"


def test_options_reach_the_record():
    made_by = Compass(faithful=True, adjust=False).schedule(chain()).made_by
    assert made_by["scheduler"] == "compass"
    assert made_by["evict"] == "fifo"
    assert made_by["options"]["adjust"] is False
    assert made_by["options"]["eviction_penalty"] == "flat2x"
    assert made_by["options"]["telemetry"]["running"] == "excluded"


def test_it_is_registered_with_its_switches():
    scheduler = get_scheduler("compass", cache_term=False)
    assert scheduler.name == "compass"
    assert not scheduler.compass_options.cache_term


def test_options_and_faithful_exclude_each_other():
    with pytest.raises(UnsupportedError, match="either options or faithful"):
        Compass(options=CORRECTED, faithful=True)
