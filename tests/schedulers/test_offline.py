"""What holds for every offline scheduler."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from placement_lab import Instance, InstanceBuilder, verify
from placement_lab.errors import ProblemError, UnknownNameError
from placement_lab.schedulers import Scheduler, available_schedulers, get_scheduler
from tests import strategies
from tests.cases_adapter import case_instance, cases, graph_instance, to_instance
from tests.schedulers.random_instances import instances

OFFLINE = ("heft", "heft_cache", "cpop", "peft", "min_min", "eft")
EACH = pytest.mark.parametrize("name", OFFLINE)
BOTH = pytest.mark.parametrize("loading", ["overlap", "blocking"])


@settings(max_examples=150, deadline=None)
@given(instance=st.one_of(instances(), strategies.instances()))
def test_every_schedule_passes_the_referee(instance: Instance):
    for name in OFFLINE:
        schedule = get_scheduler(name).schedule(instance)
        assert verify(instance, schedule) == [], name


@EACH
def test_on_demand_room_for_a_runs_own_memory_does_not_wait_for_its_successor(
    name: str,
):
    build = InstanceBuilder(prefetch="on_demand")
    for model in "mno":
        build.model(model, 5, load_s=1)
    build.worker("w", 10, resident=("m", "n"))
    flow = build.workflow("f").task("r", 1, model="n", memory_bytes=3)
    flow.task("q", 1, model="o").edge("r", "q")
    build.job("j", "f")
    instance = build.build()
    # m must leave for r, whose successor alone needs the next load.
    schedule = get_scheduler(name).schedule(instance)
    assert verify(instance, schedule) == []
    assert [load.model for load in schedule.loads] == ["o"]


@EACH
def test_it_is_registered_under_its_name(name: str):
    assert name in available_schedulers()
    scheduler = get_scheduler(name)
    assert isinstance(scheduler, Scheduler)
    assert scheduler.name == name


@EACH
def test_its_schedule_says_who_made_it_for_what(name: str):
    instance = graph_instance(["a"], [])
    schedule = get_scheduler(name).schedule(instance, seed=5)
    assert schedule.made_by["scheduler"] == name
    assert "evict" in schedule.made_by
    assert schedule.instance_sha256 == instance.sha256


def test_unknown_names_and_options_are_refused():
    with pytest.raises(
        UnknownNameError, match="unknown scheduler 'hetf'; did you mean"
    ):
        get_scheduler("hetf")
    with pytest.raises(UnknownNameError, match=r"'heft' has no option 'evcit'.*evict"):
        get_scheduler("heft", evcit="lru")


@EACH
def test_without_jobs_the_schedule_is_empty(name: str):
    build = InstanceBuilder()
    build.worker("w", 1)
    assert get_scheduler(name).schedule(build.build()).runs == ()
    assert get_scheduler(name).schedule(Instance(workers=())).runs == ()


@EACH
def test_u06_every_task_is_scheduled_once(name: str):
    expected = cases()["U06"]["expected"]
    schedule = get_scheduler(name).schedule(case_instance("U06"))
    ids = sorted(run.task.partition("/")[2] for run in schedule.runs)
    assert ids == expected["scheduled_task_ids"]
    assert schedule.makespan_s >= expected["optimal_makespan_s"]


def test_u07_malformed_graphs_are_refused_by_name():
    duplicate, *graphs = cases()["U07"]["input"]["subcases"]
    with pytest.raises(ProblemError, match="duplicate edge 'A' -> 'B'"):
        to_instance(duplicate["instance"])
    expected = cases()["U07"]["expected"]
    for raw in graphs:
        wanted: dict[str, Any] = expected[raw["name"]]
        with pytest.raises(ProblemError) as caught:
            graph_instance(raw["tasks"], raw["edges"])
        message = str(caught.value)
        for member in wanted.get("cycle_members", wanted.get("error_mentions")):
            assert member in message
        shown = message.partition("has a cycle: ")[2].partition(";")[0]
        for outsider in wanted.get("must_not_name", ()):
            assert outsider not in shown.split(" -> ")


@EACH
@BOTH
def test_u12_no_scheduler_beats_the_optimum(name: str, loading: str):
    instance = case_instance("U12", loading=loading)
    schedule = get_scheduler(name).schedule(instance)
    assert verify(instance, schedule) == []
    assert schedule.makespan_s >= cases()["U12"]["expected"]["optimal_makespan_s"]


@EACH
def test_u16_the_makespan_does_not_depend_on_the_order_of_the_lists(name: str):
    raw = cases()["U16"]["input"]["instance"]
    expected = cases()["U16"]["expected"]["makespan_s"]
    for tasks in permutations(raw["tasks"]):
        for workers in permutations(raw["workers"]):
            shuffled = to_instance({**raw, "tasks": tasks, "workers": workers})
            schedule = get_scheduler(name).schedule(shuffled)
            assert schedule.makespan_s == expected


def renamed(document: dict[str, Any], rename: dict[str, str]) -> dict[str, Any]:
    """Return a document in which whole strings, and keys, are replaced."""
    text = json.dumps(document)
    for old, new in rename.items():
        text = text.replace(f'"{old}"', f'"{new}"')
    return json.loads(text)


@EACH
@settings(max_examples=25, deadline=None)
@given(instance=instances())
def test_names_change_nothing(name: str, instance: Instance):
    rename = {
        f"{kind}{i}": f"{'zyx'[i % 3]}-{kind}" + "q" * (9 - i)
        for kind in "wmtj"
        for i in range(5)
    }
    other = Instance.from_dict(renamed(instance.to_dict(), rename))
    ours = get_scheduler(name).schedule(instance)
    theirs = get_scheduler(name).schedule(other)
    times = sorted((run.start_s, run.end_s) for run in ours.runs)
    assert times == sorted((run.start_s, run.end_s) for run in theirs.runs)
    back = {new: old for old, new in rename.items()}
    workers = {run.task: run.worker for run in ours.runs}
    for run in theirs.runs:
        job, _, task = run.task.partition("/")
        assert workers[f"{back[job]}/{back[task]}"] == back[run.worker]


@EACH
def test_without_ties_the_declared_order_changes_nothing(name: str):
    rng = np.random.default_rng(3)
    tasks = [
        {
            "id": f"t{t}",
            "model": None,
            "runtime_s": {w: rng.uniform(1, 9) for w in "ab"},
        }
        for t in range(12)
    ]
    edges = [
        {"src": f"t{a}", "dst": f"t{b}", "bytes": rng.uniform(1, 9)}
        for b in range(12)
        for a in range(b)
        if rng.uniform() < 0.25
    ]
    raw = {
        "workers": [{"id": "a"}, {"id": "b"}],
        "default_link": {"bandwidth_bytes_per_s": 3.0, "latency_s": 0.1},
        "edges": edges,
    }
    found = set()
    for order in (range(12), reversed(range(12)), rng.permutation(12)):
        shuffled = to_instance({**raw, "tasks": [tasks[t] for t in order]})
        schedule = get_scheduler(name).schedule(shuffled)
        found.add(tuple(sorted((r.task, r.worker, r.start_s) for r in schedule.runs)))
    assert len(found) == 1


SCRIPT = """
import json
from tests.cases_adapter import case_instance
from placement_lab.schedulers import get_scheduler
for name in {names}:
    for case in ("U06", "U12", "U16"):
        print(json.dumps(get_scheduler(name).schedule(case_instance(case)).to_dict()))
"""


def test_the_hash_seed_changes_no_byte():
    texts = {
        subprocess.run(
            [sys.executable, "-c", SCRIPT.format(names=OFFLINE)],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "2", "3")
    }
    assert len(texts) == 1
    assert len(texts.pop().splitlines()) == 18
