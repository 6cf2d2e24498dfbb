"""The online baselines: each decides as its description says."""

from __future__ import annotations

import pytest

from placement_lab import Instance, InstanceBuilder
from placement_lab.policy import FixedView, Profile
from placement_lab.schedulers import Scheduler, get_scheduler
from placement_lab.schedulers.hashing import Hash
from placement_lab.schedulers.heft_stateless import HeftStateless
from placement_lab.schedulers.jit import Jit
from placement_lab.schedulers.least_loaded import LeastLoaded
from placement_lab.schedulers.round_robin import RoundRobin


def fork(n_jobs: int = 1, **first) -> Instance:
    """Return jobs of one task before two others, on three workers."""
    build = InstanceBuilder()
    for w in range(3):
        build.worker(f"w{w}", 10)
    build.default_link(10.0)
    build.model("m", 4, load_s=2.0)
    flow = build.workflow("f").task("a", **({"runtime_s": 1.0} | first))
    flow.task("b", 1.0, model="m").task("c", 1.0).edge("a", "b").edge("a", "c")
    for i in range(n_jobs):
        build.job(f"j{i}", "f", release_s=float(i))
    return build.build()


def started(policy, instance: Instance, seed: int = 0) -> tuple:
    profile = Profile(instance.arrays)
    policy.begin(profile, seed)
    return policy, profile


@pytest.mark.parametrize(
    "name", ["hash", "heft_stateless", "jit", "least_loaded", "round_robin"]
)
def test_they_are_registered_schedulers(name):
    scheduler = get_scheduler(name, evict="fifo")
    assert isinstance(scheduler, Scheduler)
    schedule = scheduler.schedule(fork(), seed=5)
    assert schedule.made_by["scheduler"] == name == scheduler.name
    assert schedule.made_by["evict"] == "fifo"
    assert schedule.made_by["seed"] == 5


def test_hash_spreads_evenly_and_depends_on_the_seed_alone():
    instance = fork(200)
    policy, profile = started(Hash(), instance)
    view = FixedView(profile)
    plans = [policy.on_job(job, view) for job in range(200)]
    counts = [sum(plan.count(w) for plan in plans) for w in range(3)]
    assert min(counts) > 150
    assert [policy.on_job(job, view) for job in range(200)] == plans
    other, _ = started(Hash(), instance, seed=1)
    assert [other.on_job(job, view) for job in range(200)] != plans


def test_hash_is_the_same_on_every_machine():
    policy, profile = started(Hash(), fork(4))
    view = FixedView(profile)
    plans = [policy.on_job(job, view) for job in range(4)]
    # blake2b, 8 bytes, of "0/j0/a" and so on, modulo 3.
    assert plans == [[2, 0, 2], [1, 0, 1], [2, 2, 2], [1, 2, 1]]


def test_hash_keeps_to_workers_that_can_run_the_task():
    policy, profile = started(Hash(), fork(50, runtime_s={"w1": 1.0}))
    plans = [policy.on_job(job, FixedView(profile)) for job in range(50)]
    assert {plan[0] for plan in plans} == {1}
    assert {plan[1] for plan in plans} == {0, 1, 2}


def test_round_robin_takes_turns_and_skips_who_cannot():
    policy, profile = started(RoundRobin(), fork(2, runtime_s={"w0": 1, "w2": 1}))
    view = FixedView(profile)
    assert policy.on_job(0, view) == [0, 1, 2]
    assert policy.on_job(1, view) == [0, 1, 2]
    policy.on_job(0, view)
    policy.begin(profile, 0)
    assert policy.on_job(0, view) == [0, 1, 2]


def test_round_robin_goes_on_where_it_stopped():
    build = InstanceBuilder()
    for w in range(3):
        build.worker(f"w{w}", 10)
    build.workflow("f").task("a", 1.0).task("b", 1.0)
    for i in range(3):
        build.job(f"j{i}", "f")
    policy, profile = started(RoundRobin(), build.build())
    plans = [policy.on_job(job, FixedView(profile)) for job in range(3)]
    assert plans == [[0, 1], [2, 0], [1, 2]]


def test_least_loaded_counts_the_tasks_it_has_just_placed():
    policy, profile = started(LeastLoaded(), fork())
    view = FixedView(profile, wait_s=[1.5, 0.0, 9.0])
    assert policy.on_job(0, view) == [1, 1, 0]
    assert policy.on_task_end(0, 1, 0, view) == 1


def test_stateless_heft_ignores_queues_and_models():
    policy, profile = started(HeftStateless(), fork())
    idle = policy.on_job(0, FixedView(profile))
    busy = FixedView(profile, wait_s=[99.0, 0.0, 0.0], resident=[0, 1, 0])
    assert policy.on_job(0, busy) == idle == [0, 0, 1]


def test_jit_keeps_an_idle_worker_and_leaves_a_busy_one():
    policy, profile = started(Jit(), fork())
    idle = FixedView(profile, wait_s=[0.0, 0.0, 0.0], resident=[0, 1, 0])
    assert policy.on_task_end(0, 1, 0, idle) == 0
    busy = FixedView(profile, wait_s=[0.1, 1.5, 0.0], resident=[0, 1, 0])
    assert policy.on_task_end(0, 1, 0, busy) == 1  # 2.1, 1.5 and 2.0 s
    assert policy.on_gathered(2, 0, busy) == 2  # no model: 0.1, 1.5 and 0 s
    assert policy.on_job(0, idle) == started(Hash(), fork())[0].on_job(0, idle)
