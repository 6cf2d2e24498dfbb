"""Replay: left-shifted, valid, never later than a valid schedule of the same order."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from placement_lab import (
    Action,
    InstanceBuilder,
    Plan,
    complete,
    plan_of,
    replay,
    verify,
)
from placement_lab.errors import InfeasiblePlanError, PlanError
from placement_lab.replay import _kernels
from placement_lab.replay._sequences import read_plan
from placement_lab.replay._stays import follow_stays
from placement_lab.replay._timing import give_times
from tests.list_scheduler import list_schedule
from tests.replay.twin import replay_slowly
from tests.strategies import instances

SEEDS = st.integers(0, 10_000)


def times_by_action(schedule):
    """Return start and end of each run, and of each load and eviction in turn."""
    times = {run.task: (run.start_s, run.end_s) for run in schedule.runs}
    for kind, records in (("load", schedule.loads), ("evict", schedule.evictions)):
        count = {}
        for model, worker, start_s, end_s in sorted(records, key=lambda r: r[2]):
            n = count[worker, model] = count.get((worker, model), 0) + 1
            times[kind, worker, model, n] = (start_s, end_s)
    return times


@given(instances(), SEEDS)
def test_a_replayed_schedule_is_valid_and_no_action_is_later(instance, seed):
    original = list_schedule(instance, seed)
    again = replay(instance, plan_of(instance, original))
    assert verify(instance, again) == []
    before, after = times_by_action(original), times_by_action(again)
    assert before.keys() == after.keys()
    late = [key for key in before if after[key][0] > before[key][0] + 1e-9]
    assert late == []


@given(instances(), SEEDS)
def test_the_slow_twin_gives_the_same_times(instance, seed):
    plan = plan_of(instance, list_schedule(instance, seed))
    slow = replay_slowly(instance, plan)
    times = give_times(
        instance.arrays,
        read := read_plan(instance, plan),
        follow_stays(instance.arrays, read),
    )
    fast = {}
    for a, (start_s, end_s) in enumerate(zip(times.start_s, times.end_s, strict=True)):
        w = int(read.worker[a])
        place = (instance.workers[w].id, a - int(read.worker_ptr[w]))
        fast[place] = (start_s, end_s)
    assert slow is not None
    assert fast.keys() == slow.keys()
    for place, found in fast.items():
        assert found == pytest.approx(slow[place], abs=1e-9)


@given(instances(), SEEDS)
def test_compiled_and_plain_event_loop_agree_bit_by_bit(instance, seed):
    sequences = read_plan(instance, plan_of(instance, list_schedule(instance, seed)))
    stays = follow_stays(instance.arrays, sequences)
    compiled = give_times(instance.arrays, sequences, stays)
    plain = give_times(
        instance.arrays, sequences, stays, loop=_kernels.carry_out.py_func
    )
    assert compiled.start_s.tobytes() == plain.start_s.tobytes()
    assert compiled.end_s.tobytes() == plain.end_s.tobytes()


@given(instances(), SEEDS, st.sampled_from(["fifo", "lru", "lookahead", "belady"]))
def test_completing_the_bare_order_gives_a_plan_that_replays(instance, seed, evict):
    schedule = list_schedule(instance, seed)
    order = {}
    for run in sorted(schedule.runs, key=lambda run: run.start_s):
        order.setdefault(run.worker, []).append(run.task)
    order = {
        worker: [a.target for a in actions if a.kind == "run"]
        for worker, actions in plan_of(instance, schedule).workers.items()
    }
    again = replay(instance, complete(instance, order, evict=evict))
    assert verify(instance, again) == []


def two_models(**rules):
    build = InstanceBuilder("two", **rules)
    for name in ("w0", "w1"):
        build.worker(name, 10, load_bandwidth_bytes_per_s=1)
    build.model("a", 6)
    build.model("b", 6)
    build.workflow("f").task("x", 5, model="a").task("y", 3, model="b").edge(
        "x", "y", transfer_s=1
    )
    build.job("j", "f")
    build.job("k", "f", release_s=2)
    return build.build()


def steps(*words):
    return tuple(Action(*word.split(" ")) for word in words)


def test_an_evicted_model_leaves_only_after_the_run_that_uses_it():
    instance = two_models()
    plan = complete(instance, {"w0": ["j/x", "k/x", "k/y"], "w1": ["j/y"]})
    schedule = replay(instance, plan)
    assert {run.task: (run.start_s, run.end_s) for run in schedule.runs} == {
        "j/x": (6, 11),
        "k/x": (11, 16),
        "j/y": (12, 15),
        "k/y": (22, 25),
    }
    assert [e.start_s for e in schedule.evictions] == [16]


def test_blocking_loads_take_the_workers_time():
    instance = two_models(loading="blocking")
    plan = complete(instance, {"w0": ["j/x", "j/y", "k/x", "k/y"]}, evict="fifo")
    schedule = replay(instance, plan)
    assert schedule.makespan_s == 6 + 5 + 6 + 3 + 6 + 5 + 6 + 3


STUCK = {
    "not resident": (("run j/x",), "w0', action 0 .run j/x.: its model 'a' is not"),
    "loaded twice": (
        ("load a", "load a"),
        "w0', action 1 .load a.: .* already resident",
    ),
    "no room": (("load a", "load b"), "w0', action 1 .load b.: no room: 2 bytes too"),
    "never there": (("evict b",), "w0', action 0 .evict b.: .* not resident"),
    "twice": (
        ("load a", "run j/x", "run j/x"),
        "run j/x.: the task stands in the plan",
    ),
    "missing": (("load a", "run j/x"), "task 'j/y' is missing from the plan .3 of 4"),
}


@pytest.mark.parametrize("case", STUCK)
def test_a_plan_that_cannot_go_on_names_worker_and_action(case):
    words, message = STUCK[case]
    instance = two_models()
    rest = () if case == "missing" else full_w1(case)
    with pytest.raises(InfeasiblePlanError, match=message):
        replay(instance, Plan({"w0": steps(*words), "w1": rest}))


def full_w1(case):
    x = () if case == "twice" else ("run j/x",)
    x = () if case == "not resident" else x
    return steps("load a", *x, "run k/x", "evict a", "load b", "run j/y", "run k/y")


def test_actions_that_wait_for_each_other_are_named_as_a_circle():
    plan = Plan(
        {
            "w0": steps("load b", "run j/y", "evict b", "load a", "run k/x"),
            "w1": steps("load b", "run k/y", "evict b", "load a", "run j/x"),
        }
    )
    with pytest.raises(InfeasiblePlanError, match=r"in a circle .*run j/y.*change"):
        replay(two_models(), plan)


def test_a_load_that_nobody_uses_is_refused_unless_clairvoyant():
    words = ("load a", "run j/x", "run k/x", "evict a", "load b", "run j/y", "run k/y")
    plan = Plan({"w0": steps(*words), "w1": steps("load a")})
    assert replay(two_models(prefetch="clairvoyant"), plan).makespan_s == 28
    with pytest.raises(
        InfeasiblePlanError, match=r"w1', action 0 .load a.: no run uses"
    ):
        replay(two_models(), plan)


def test_on_demand_blocking_allows_no_run_between_a_load_and_its_run():
    build = InstanceBuilder("d", loading="blocking", prefetch="on_demand")
    build.worker("w0", 20, load_bandwidth_bytes_per_s=1)
    build.model("a", 6)
    build.model("b", 6)
    build.workflow("f").task("x", 5, model="a").task("y", 3, model="b")
    build.job("j", "f")
    plan = Plan({"w0": steps("load a", "load b", "run j/x", "run j/y")})
    with pytest.raises(InfeasiblePlanError, match=r"action 1 .load b.: another run"):
        replay(build.build(), plan)


def test_plans_of_other_instances_and_unknown_names_are_refused():
    instance = two_models()
    with pytest.raises(PlanError, match="was made for instance 0123"):
        replay(instance, Plan({}, instance_sha256="0123456789abcdef"))
    with pytest.raises(PlanError, match=r"workers.w9: unknown worker 'w9'"):
        replay(instance, Plan({"w9": ()}))
    with pytest.raises(PlanError, match=re.escape("workers.w0[0]: unknown model 'c'")):
        replay(instance, Plan({"w0": steps("load c")}))
    with pytest.raises(PlanError, match=re.escape("workers.w0[0]: unknown task 'j/z'")):
        replay(instance, Plan({"w0": steps("run j/z")}))


def test_no_jobs_give_an_empty_schedule():
    build = InstanceBuilder("empty")
    build.worker("w0", 0)
    schedule = replay(build.build(), Plan({}))
    assert schedule.runs == ()
    assert schedule.makespan_s == 0
