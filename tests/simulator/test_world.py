"""The online world: queues, loads, evictions, memory and the order of events."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from placement_lab import InstanceBuilder, Schedule, verify
from placement_lab.policy import OnlinePolicy
from placement_lab.schedulers.compass import Compass
from placement_lab.schedulers.hashing import Hash
from placement_lab.schedulers.heft_stateless import HeftStateless
from placement_lab.schedulers.jit import Jit
from placement_lab.schedulers.least_loaded import LeastLoaded
from placement_lab.schedulers.round_robin import RoundRobin
from placement_lab.simulator import simulate
from tests import strategies
from tests.schedulers import random_instances

POLICIES = [
    Compass,
    lambda: Compass(faithful=True),
    Hash,
    HeftStateless,
    Jit,
    LeastLoaded,
    RoundRobin,
]


class Pinned(OnlinePolicy):
    """Places every task where it is told to, by the task's name; else on worker 0."""

    name = "pinned"

    def __init__(self, **places: int) -> None:
        self.places = places

    def on_job(self, job, view):
        names = view.profile.task_names
        first, last = view.profile.job_ptr[job : job + 2]
        return [
            self.places.get(names[task].rpartition("/")[2], 0)
            for task in range(first, last)
        ]


def run_starts(schedule: Schedule) -> dict[str, float]:
    return {run.task: run.start_s for run in schedule.runs}


def moves(schedule: Schedule) -> list[tuple[str, str, float, float]]:
    """Return loads and evictions by start, evictions first."""
    found = [("evict", e.model, e.start_s, e.end_s) for e in schedule.evictions]
    found += [("load", one.model, one.start_s, one.end_s) for one in schedule.loads]
    return sorted(found, key=lambda one: one[2])


@settings(max_examples=150, deadline=None)
@given(
    st.one_of(strategies.instances(), random_instances.instances()),
    st.sampled_from(POLICIES),
    st.sampled_from([None, "fifo", "lru", "lookahead"]),
    st.sampled_from([None, 0, 1, 3]),
    st.integers(0, 3),
)
def test_whatever_happens_obeys_the_rules(instance, make, evict, load_ahead, seed):
    if instance.rules.loading == "blocking":
        load_ahead = None
    options = {"evict": evict, "load_ahead": load_ahead, "seed": seed}
    schedule = simulate(instance, make(), **options)
    assert verify(instance, schedule) == []
    assert len(schedule.runs) == instance.n_tasks
    assert simulate(instance, make(), **options) == schedule


def two_models(memory_bytes: float = 20.0, **rules) -> InstanceBuilder:
    """Return one worker with models a and b: 8 bytes, 2 s; and a flow for each."""
    build = InstanceBuilder("two models", **rules)
    build.worker("w0", memory_bytes)
    for name in "ab":
        build.model(name, 8, load_s=2.0)
        build.workflow(name).task("t", 1.0, model=name)
    return build


def test_a_queue_is_first_in_first_out():
    build = two_models()
    for job, release_s in (("late", 0.2), ("first", 0.0), ("early", 0.1)):
        build.job(job, "a", release_s=release_s)
    starts = run_starts(simulate(build.build(), Pinned()))
    assert starts == {"first/t": 2.0, "early/t": 3.0, "late/t": 4.0}


def test_jobs_released_together_keep_the_declared_order():
    build = two_models()
    for job in "zyx":
        build.job(job, "a")
    starts = run_starts(simulate(build.build(), Pinned()))
    assert list(starts) == ["z/t", "y/t", "x/t"]


def test_an_end_frees_the_worker_for_an_arrival_at_the_same_time():
    build = two_models()
    build.job("j", "a")
    build.job("k", "a", release_s=3.0)
    assert run_starts(simulate(build.build(), Pinned()))["k/t"] == 3.0


def test_an_overlapping_load_runs_beside_the_task_before():
    build = two_models()
    build.job("j", "a")
    build.job("k", "b")
    schedule = simulate(build.build(), Pinned())
    assert moves(schedule) == [("load", "a", 0, 2), ("load", "b", 2, 4)]
    assert run_starts(schedule) == {"j/t": 2.0, "k/t": 4.0}
    without = simulate(build.build(), Pinned(), load_ahead=0)
    assert run_starts(without) == {"j/t": 2.0, "k/t": 5.0}


def test_a_blocking_load_occupies_the_worker():
    build = two_models(loading="blocking")
    build.job("j", "a")
    build.job("k", "b")
    schedule = simulate(build.build(), Pinned())
    assert moves(schedule) == [("load", "a", 0, 2), ("load", "b", 3, 5)]


def test_a_timed_eviction_comes_before_its_load_and_takes_its_time():
    build = two_models(10, loading="blocking", evict_bandwidth_bytes_per_s=4.0)
    build.job("j", "a")
    build.job("k", "b")
    assert moves(simulate(build.build(), Pinned())) == [
        ("load", "a", 0, 2),
        ("evict", "a", 3, 5),
        ("load", "b", 5, 7),
    ]


def test_a_model_in_use_stays_so_the_next_load_waits():
    build = two_models(10)
    build.job("j", "a")
    build.job("k", "b")
    schedule = simulate(build.build(), Pinned())
    assert moves(schedule)[1:] == [("evict", "a", 3, 3), ("load", "b", 3, 5)]


def test_one_load_serves_all_that_wait():
    build = two_models(10)
    for i in range(3):
        build.job(f"j{i}", "a")
    assert len(simulate(build.build(), Pinned()).loads) == 1


def test_loading_ahead_does_not_take_what_a_task_ahead_needs():
    build = InstanceBuilder()
    build.worker("w0", 10, resident=["a"])
    build.model("a", 6, load_s=1.0)
    build.model("b", 6, load_s=1.0)
    for name in "ab":
        build.workflow(name).task("t", 1.0, model=name)
    build.workflow("none").task("t", 5.0)
    for job, flow in (("first", "none"), ("second", "a"), ("third", "b")):
        build.job(job, flow)
    schedule = simulate(build.build(), Pinned(), load_ahead=2)
    assert run_starts(schedule) == {"first/t": 0.0, "second/t": 5.0, "third/t": 7.0}


@dataclass(frozen=True)
class Newest:
    """Evicts what was loaded last."""

    name: str = "newest"
    horizon: int | None = 0

    def victim(self, candidates, *, load_order, last_use, next_use):
        return max(candidates, key=lambda model: load_order[model])


def queue_of(build: InstanceBuilder, *flows: str) -> tuple[list[float], int]:
    """Return the starts of jobs of these flows that arrive together, and the loads."""
    for i, flow in enumerate(flows):
        build.job(f"j{i}", flow)
    instance = build.build()
    schedule = simulate(instance, Pinned(), load_ahead=len(flows), evict=Newest())
    assert verify(instance, schedule) == []
    return [run.start_s for run in schedule.runs], len(schedule.loads)


def test_loading_ahead_evicts_another_than_a_task_ahead_needs():
    build = InstanceBuilder()
    build.worker("w0", 14, resident=["old", "a"])
    for name in ("old", "a", "b"):
        build.model(name, 6, load_s=1.0)
        build.workflow(name).task("t", 1.0, model=name)
    build.workflow("none").task("t", 5.0)
    assert queue_of(build, "none", "a", "b") == ([0.0, 5.0, 6.0], 1)


def test_what_was_loaded_ahead_stays_until_its_run():
    build = InstanceBuilder()
    build.worker("w0", 10, resident=["old"])
    build.model("old", 4, load_s=1.0)
    build.model("b", 4, load_s=1.0)
    build.workflow("none").task("t", 5.0)
    build.workflow("own").task("t", 1.0, memory_bytes=4)
    build.workflow("b").task("t", 1.0, model="b")
    assert queue_of(build, "none", "own", "b") == ([0.0, 5.0, 6.0], 1)


def test_loading_ahead_leaves_room_for_the_own_memory_of_tasks_ahead():
    """Else the loaded model could not leave, and the task ahead could never start."""
    build = InstanceBuilder()
    build.worker("w0", 10)
    build.model("b", 6, load_s=1.0)
    build.workflow("own").task("t", 1.0, memory_bytes=5)
    build.workflow("b").task("t", 1.0, model="b")
    build.workflow("none").task("t", 5.0)
    for job, flow in (("first", "none"), ("second", "own"), ("third", "b")):
        build.job(job, flow)
    schedule = simulate(build.build(), Pinned(), load_ahead=3)
    assert run_starts(schedule) == {"first/t": 0.0, "second/t": 5.0, "third/t": 7.0}
    assert verify(build.build(), schedule) == []


def test_own_memory_waits_for_room():
    build = InstanceBuilder()
    build.worker("w0", 10, slots=2)
    build.workflow("f").task("t", 1.0, memory_bytes=6)
    build.job("j", "f")
    build.job("k", "f")
    assert run_starts(simulate(build.build(), Pinned())) == {"j/t": 0.0, "k/t": 1.0}


def test_idle_models_leave_for_own_memory():
    build = InstanceBuilder()
    build.worker("w0", 10, resident=["a"])
    build.model("a", 8, load_s=1.0)
    build.workflow("f").task("t", 1.0, memory_bytes=6)
    build.job("j", "f")
    assert moves(simulate(build.build(), Pinned())) == [("evict", "a", 0, 0)]


def test_a_memory_that_fits_exactly_is_enough():
    build = two_models(8)
    build.job("j", "a")
    assert run_starts(simulate(build.build(), Pinned())) == {"j/t": 2.0}


def test_slots_run_side_by_side_and_start_in_order():
    build = InstanceBuilder(loading="blocking")
    build.worker("w0", 10, slots=2)
    build.model("a", 8, load_s=2.0)
    build.workflow("long").task("t", 4.0)
    build.workflow("a").task("t", 1.0, model="a")
    for job, flow in (("j", "long"), ("k", "a"), ("l", "long")):
        build.job(job, flow)
    starts = run_starts(simulate(build.build(), Pinned()))
    assert starts == {"j/t": 0.0, "k/t": 2.0, "l/t": 3.0}


def test_a_timed_eviction_keeps_its_slot_when_it_is_no_longer_needed():
    build = InstanceBuilder(loading="blocking", evict_bandwidth_bytes_per_s=1.0)
    build.worker("w0", 20, slots=2, resident=["old"])
    build.model("old", 7, load_s=1.0)
    build.workflow("own").task("t", 2.0, memory_bytes=10)
    build.workflow("none").task("t", 5.0)
    for job, flow in (("j", "own"), ("k", "own"), ("l", "none")):
        build.job(job, flow)
    instance = build.build()
    schedule = simulate(instance, Pinned())
    # The eviction, 0 to 7, was for k, whose room is there when j ends at 2.
    assert run_starts(schedule) == {"j/t": 0.0, "k/t": 2.0, "l/t": 4.0}
    assert verify(instance, schedule) == []


def test_a_successor_elsewhere_waits_for_the_transfer():
    build = InstanceBuilder()
    build.worker("w0", 1)
    build.worker("w1", 1)
    build.default_link(10.0, latency_s=0.5)
    flow = build.workflow("f").task("a", 1.0, input_bytes=10.0).task("b", 1.0)
    flow.edge("a", "b", bytes=20.0)
    build.job("j", "f", ingress="w1")
    starts = run_starts(simulate(build.build(), Pinned(b=1)))
    assert starts == {"j/a": 1.5, "j/b": 5.0}


class MovesJoins(Pinned):
    def on_gathered(self, task, worker, view):
        return 2


def test_a_join_that_moves_pays_one_more_hop():
    build = InstanceBuilder()
    for w in range(3):
        build.worker(f"w{w}", 1)
    build.default_link(10.0, latency_s=0.5)
    flow = build.workflow("f").task("a", 1.0).task("b", 2.0).task("join", 1.0)
    flow.edge("a", "join", bytes=5.0).edge("b", "join", bytes=0.0)
    build.job("j", "f")
    instance = build.build()
    schedule = simulate(instance, MovesJoins(b=1))
    # Gathered at w0 at 2.5 (b's end and latency); a's data take 1 s from there.
    assert run_starts(schedule)["j/join"] == 3.5
    assert verify(instance, schedule) == []


def test_a_hop_is_never_faster_than_the_direct_way():
    build = InstanceBuilder()
    for w in range(3):
        build.worker(f"w{w}", 1)
    build.default_link(10.0)
    build.link("w1", "w2", 10.0, latency_s=9.0)
    flow = build.workflow("f").task("a", 1.0).task("b", 2.0).task("join", 1.0)
    flow.edge("a", "join").edge("b", "join")
    build.job("j", "f")
    instance = build.build()
    schedule = simulate(instance, MovesJoins(b=1))
    assert run_starts(schedule)["j/join"] == 11.0
    assert verify(instance, schedule) == []


def test_no_jobs_make_an_empty_schedule():
    schedule = simulate(two_models().build(), Compass())
    assert (schedule.runs, schedule.loads, schedule.evictions) == ((), (), ())


def test_the_record_says_how_it_was_made():
    build = two_models()
    build.job("j", "a")
    instance = build.build()
    schedule = simulate(instance, Pinned(), seed=7, evict="fifo", load_ahead=2)
    assert schedule.instance_sha256 == instance.sha256
    assert schedule.made_by == {
        "scheduler": "pinned",
        "seed": 7,
        "evict": "fifo",
        "load_ahead": 2,
    }


@pytest.mark.parametrize("make", POLICIES)
def test_times_that_are_far_apart_do_not_disturb_each_other(make):
    build = InstanceBuilder()
    build.worker("w0", 1)
    build.worker("w1", 1)
    build.default_link(1e9)
    build.workflow("f").task("tiny", 1e-6).task("huge", 1e9).edge("tiny", "huge")
    for i in range(4):
        build.job(f"j{i}", "f")
    instance = build.build()
    assert verify(instance, simulate(instance, make())) == []
