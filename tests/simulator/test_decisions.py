"""What policies see, and what happens to decisions that cannot be."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass, replace

import pytest

from placement_lab import Instance, InstanceBuilder, verify
from placement_lab.errors import (
    InfeasiblePlanError,
    PlanError,
    ProblemError,
    UnknownNameError,
    UnsupportedError,
)
from placement_lab.policy import OnlinePolicy, Telemetry
from placement_lab.schedulers import get_scheduler
from placement_lab.simulator import simulate

ONLINE = ("compass", "hash", "heft_stateless", "jit", "least_loaded", "round_robin")


class Watcher(OnlinePolicy):
    """Places everything on worker 0 and notes what it sees when a job arrives."""

    name = "watcher"

    def __init__(self, telemetry: Telemetry | None = None) -> None:
        self.telemetry = telemetry or Telemetry()
        self.seen: list[tuple] = []

    def on_job(self, job, view):
        self.seen.append(
            (
                round(view.now_s, 9),
                round(view.queue_wait_s()[0], 9),
                view.resident_bits()[0],
                view.expected_bits()[0],
                view.free_bytes()[0],
            )
        )
        first, last = view.profile.job_ptr[job : job + 2]
        return [0] * (last - first)


def watched(slots: int = 1, *, loading: str = "overlap") -> InstanceBuilder:
    """Return a worker, a model of 4 s, and runs of 10 s; a look every 3 seconds."""
    build = InstanceBuilder(loading=loading)
    build.worker("w0", 10, slots=slots)
    build.worker("w1", 10)
    build.default_link(1.0)
    build.model("a", 8, load_s=4.0)
    build.workflow("f").task("t", 10.0, model="a")
    build.workflow("look").task("t", 0.0)
    return build


def waits(policy: Watcher, build: InstanceBuilder, **options) -> list[float]:
    simulate(build.build(), policy, **options)
    return [wait_s for _, wait_s, *_ in policy.seen]


def test_a_view_counts_what_is_left_of_runs_and_loads():
    build = watched()
    build.job("j", "f")
    build.job("k", "f", release_s=1.0)
    for i, release_s in enumerate([1.5, 5.0, 13.0, 20.0]):
        build.job(f"look{i}", "look", release_s=release_s)
    # Load 0-4, runs 4-14 and 14-24; the looks queue behind them and take no time.
    assert waits(Watcher(), build) == [0.0, 13.0, 22.5, 19.0, 11.0, 4.0]
    full = Watcher(Telemetry(running="full"))
    assert waits(full, build)[3:] == [20.0, 20.0, 10.0]
    excluded = Watcher(Telemetry(running="excluded", pending_loads=False))
    assert waits(excluded, build) == [0.0, 0.0, 10.0, 10.0, 10.0, 0.0]


def test_a_view_counts_a_pending_load_once():
    build = watched(loading="blocking")
    build.job("busy", "f")
    build.model("b", 1, load_s=2.0)
    build.workflow("g").task("t", 1.0, model="b")
    for i in range(3):
        build.job(f"g{i}", "g", release_s=5.0 + i)
    # At 5 the run goes on until 14; then 2 + 1 for the first, 1 for every other.
    assert waits(Watcher(), build)[1:] == [9.0, 8.0 + 3.0, 7.0 + 4.0]


def test_a_needed_model_that_leaves_is_pending_again():
    build = InstanceBuilder()
    build.worker("w0", 10, resident=["a"])
    build.model("a", 8, load_s=4.0)
    build.workflow("none").task("t", 5.0)
    build.workflow("own").task("t", 10.0, memory_bytes=6)
    build.workflow("f").task("t", 1.0, model="a")
    for name, release_s in (("none", 0.0), ("own", 1.0), ("f", 2.0), ("f", 3.0)):
        build.job(f"{name}{release_s}", name, release_s=release_s)
    build.job("look", "none", release_s=6.0)
    # At 3: 2 + 10 + 1. At 6: 9 + 1 + 1, and the load of the model that left at 5.
    assert waits(Watcher(), build)[3:] == [13.0, 15.0]


def test_a_run_has_ended_for_whoever_looks_at_its_end():
    build = watched()
    build.workflow("plain").task("t", 10.0)
    build.job("j", "plain")
    build.job("k", "plain", release_s=10.0)
    assert waits(Watcher(Telemetry(running="full")), build) == [0.0, 0.0]


def test_with_two_slots_the_wait_is_for_the_first_free_one():
    build = watched(slots=2)
    build.workflow("plain").task("t", 10.0)
    for i in range(4):
        build.job(f"j{i}", "plain", release_s=float(i))
    # Two run until 10 and 11; the third waits for the first, the fourth too.
    assert waits(Watcher(), build) == [0.0, 0.0, 8.0, 8.0]


def test_a_view_shows_models_when_they_are_usable_and_memory_when_it_is_taken():
    build = watched()
    build.job("j", "f")
    build.job("look0", "look", release_s=1.0)
    build.job("look1", "look", release_s=5.0)
    policy = Watcher()
    simulate(build.build(), policy)
    assert [seen[2:] for seen in policy.seen] == [(0, 0, 10), (0, 1, 2), (1, 1, 2)]


def test_an_eviction_can_be_shown_with_its_load():
    build = InstanceBuilder(loading="blocking", evict_bandwidth_bytes_per_s=2.0)
    build.worker("w0", 10, resident=["old"])
    build.model("new", 8, load_s=4.0)
    build.model("old", 6, load_s=1.0)
    build.workflow("f").task("t", 10.0, model="new")
    build.workflow("look").task("t", 0.0)
    build.job("j", "f")
    for i, release_s in enumerate([1.0, 3.5, 4.5, 8.0]):
        build.job(f"look{i}", "look", release_s=release_s)
    now, load_first = Watcher(), Watcher(Telemetry(cache="load_first"))
    for policy in (now, load_first):
        simulate(build.build(), policy)
    # Evict 0-3, load 3-7; had the load come first, it would have ended at 4.
    new, old = 0b01, 0b10
    assert [seen[2] for seen in now.seen] == [old, 0, 0, 0, new]
    assert [seen[2] for seen in load_first.seen] == [old, old, old, new, new]
    assert [seen[4] for seen in load_first.seen] == [4, 4, 4, 2, 2]


def test_a_policy_sees_estimates_and_the_world_runs_on_the_truth():
    build = watched()
    build.job("j", "f")
    build.job("look", "look", release_s=5.0)
    truth = build.build()
    believed = replace(
        truth,
        workflows=(
            replace(
                truth.workflows[0],
                tasks=(replace(truth.workflows[0].tasks[0], runtime_s=100.0),),
            ),
            truth.workflows[1],
        ),
    )
    policy = Watcher()
    schedule = simulate(truth, policy, estimates=believed)
    assert policy.seen[-1][1] == 99.0
    assert schedule.runs[0].end_s == 14.0
    assert schedule.instance_sha256 == truth.sha256
    assert verify(truth, schedule) == []


def test_estimates_about_something_else_are_refused():
    build = watched()
    build.job("j", "f")
    truth = build.build()
    build.job("k", "f")
    with pytest.raises(ProblemError, match=r"estimates: jobs: .*same ones"):
        simulate(truth, Watcher(), estimates=build.build())


def test_estimates_must_cover_the_same_kinds():
    build = watched()
    build.job("j", "f")
    truth = build.build()
    flow = truth.workflows[0]
    task = replace(flow.tasks[0], runtime_s={"w1": 1.0})
    partial = replace(
        truth, workflows=(replace(flow, tasks=(task,)), truth.workflows[1])
    )
    with pytest.raises(ProblemError, match="runtime for the same kinds"):
        simulate(truth, Watcher(), estimates=partial)


class Answers(OnlinePolicy):
    name = "odd"

    def __init__(self, answer: object, later: object = 0) -> None:
        self.answer, self.later = answer, later

    def on_job(self, job, view):
        return self.answer

    def on_task_end(self, task, successor, planned_worker, view):
        return self.later


def chain_on_two_workers() -> Instance:
    build = InstanceBuilder()
    build.worker("w0", 10)
    build.worker("w1", 10)
    build.default_link(1.0)
    build.workflow("f").task("a", {"w0": 1.0}).task("b", 1.0).edge("a", "b")
    build.job("j", "f")
    return build.build()


@pytest.mark.parametrize("answer", [None, [0], [0, 0, 0]])
def test_a_job_needs_one_worker_per_task(answer):
    with pytest.raises(PlanError, match=r"'odd', on_job.* for 2 tasks; return one"):
        simulate(chain_on_two_workers(), Answers(answer))


@pytest.mark.parametrize("worker", [1, 2, -1, None, "w0", 0.0])
def test_a_worker_that_cannot_run_the_task_is_refused(worker):
    message = rf"'odd', on_job: worker {worker!r} for task 'j/a' is none of .*\[0\]"
    with pytest.raises(PlanError, match=message):
        simulate(chain_on_two_workers(), Answers([worker, 0]))


def test_a_later_decision_is_checked_too():
    with pytest.raises(PlanError, match=r"'odd', on_task_end: worker None .* 'j/b'"):
        simulate(chain_on_two_workers(), Answers([0, 0], later=None))


@dataclass(frozen=True)
class WrongVictim:
    name: str = "wrong"
    horizon: int | None = 0

    def victim(self, candidates, *, load_order, last_use, next_use):
        return 99


def test_a_victim_that_may_not_leave_is_refused():
    build = InstanceBuilder()
    build.worker("w0", 10, resident=["a"])
    build.model("a", 6, load_s=1.0)
    build.model("b", 6, load_s=1.0)
    build.workflow("f").task("t", 1.0, model="b")
    build.job("j", "f")
    with pytest.raises(PlanError, match=r"'wrong' chose 99 .*models \[0\] may leave"):
        simulate(build.build(), Answers([0]), evict=WrongVictim())


def test_belady_is_refused_as_nobody_knows_the_future():
    with pytest.raises(UnsupportedError, match="'belady' needs every coming run"):
        simulate(chain_on_two_workers(), Answers([0, 0]), evict="belady")


def test_an_unknown_eviction_policy_gets_help():
    with pytest.raises(UnknownNameError, match="did you mean 'fifo'"):
        simulate(chain_on_two_workers(), Answers([0, 0]), evict="fifa")


@pytest.mark.parametrize(("loading", "load_ahead"), [("overlap", -1), ("blocking", 1)])
def test_loading_ahead_must_fit_the_rules(loading, load_ahead):
    instance = watched(loading=loading).build()
    with pytest.raises(UnsupportedError, match=f"load_ahead .*, got {load_ahead}"):
        simulate(instance, Watcher(), load_ahead=load_ahead)


def test_lookahead_keeps_what_the_queue_needs_next():
    build = InstanceBuilder(loading="blocking")
    build.worker("w0", 10, resident=["a", "b"])
    for name in "abc":
        build.model(name, 4, load_s=1.0)
        build.workflow(name).task("t", 1.0, model=name)
    for i, name in enumerate("cab"):
        build.job(f"j{i}", name)
    gone = {
        evict: simulate(build.build(), Watcher(), evict=evict).evictions[0].model
        for evict in ("fifo", "lru", "lookahead")
    }
    assert gone == {"fifo": "a", "lru": "a", "lookahead": "b"}


@pytest.mark.parametrize("name", ONLINE)
def test_tasks_without_links_stay_together(name):
    build = InstanceBuilder()
    build.worker("w0", 10)
    build.worker("w1", 10)
    flow = build.workflow("f").task("a", 1.0).task("b", 1.0).task("c", 1.0)
    flow.edge("a", "b").edge("a", "c")
    for i in range(6):
        build.job(f"j{i}", "f", release_s=0.1 * i)
    instance = build.build()
    schedule = get_scheduler(name).schedule(instance)
    assert verify(instance, schedule) == []
    assert {run.worker for run in schedule.runs} == {"w0", "w1"}


@pytest.mark.parametrize("name", ONLINE)
def test_where_no_group_can_do_it_all_one_assignment_is_found(name):
    build = InstanceBuilder()
    for w in range(3):
        build.worker(f"w{w}", 10)
    build.link("w0", "w1", 10.0)
    build.link("w1", "w2", 10.0)
    flow = build.workflow("f").task("a", {"w0": 1.0}).task("b", 1.0)
    flow.task("c", {"w2": 1.0}).edge("a", "b").edge("b", "c")
    build.job("j", "f")
    instance = build.build()
    schedule = get_scheduler(name).schedule(instance)
    assert verify(instance, schedule) == []


def test_a_job_that_cannot_be_placed_is_named():
    build = InstanceBuilder()
    build.worker("w0", 10)
    build.worker("w1", 10)
    flow = build.workflow("f").task("a", {"w0": 1.0}).task("b", {"w1": 1.0})
    flow.edge("a", "b")
    build.job("j", "f")
    with pytest.raises(InfeasiblePlanError, match=r"'a': no workers .* are linked"):
        simulate(build.build(), Watcher())


SCRIPT = """
import hashlib, json
from placement_lab.datasets import golden_timeline
from placement_lab.schedulers import get_scheduler
instance = golden_timeline("hash_5w_2rps").instance
for name in {names!r}:
    schedule = get_scheduler(name).schedule(instance, seed=3)
    text = json.dumps(schedule.to_dict())
    print(name, hashlib.sha256(text.encode()).hexdigest())
"""


def test_the_hash_seed_of_python_changes_nothing():
    outputs = {
        subprocess.run(
            [sys.executable, "-c", SCRIPT.format(names=ONLINE)],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "2", "3")
    }
    assert len(outputs) == 1
    assert all(name in next(iter(outputs)) for name in ONLINE)
