from __future__ import annotations

from typing import Any

import pytest

from placement_lab import Instance, InstanceBuilder, Schedule
from placement_lab.datasets import load_dataset
from placement_lab.schedulers.heft import Heft
from placement_lab.schedulers.ranks import downward_rank_s, upward_rank_s
from tests.cases_adapter import JOB, case_instance, cases, to_instance


def starts(schedule: Schedule) -> dict[str, float]:
    return {run.task.removeprefix(f"{JOB}/"): run.start_s for run in schedule.runs}


def workers(schedule: Schedule) -> dict[str, str]:
    return {run.task.removeprefix(f"{JOB}/"): run.worker for run in schedule.runs}


def ranks(instance: Instance) -> dict[str, float]:
    names = [name.removeprefix(f"{JOB}/") for name in instance.arrays.task_names]
    return dict(zip(names, upward_rank_s(instance).tolist(), strict=True))


def test_the_papers_example_takes_80():
    instance = load_dataset("heft10")
    assert Heft().schedule(instance).makespan_s == pytest.approx(80)


def test_the_papers_ranks_are_reproduced():
    # Topcuoglu et al. 2002, table of the example, to the three decimals printed there.
    instance = load_dataset("heft10")
    upward = [108, 77, 80, 80, 69, 63.333, 42.667, 35.667, 44.333, 14.667]
    assert upward_rank_s(instance).tolist() == pytest.approx(upward, abs=5e-4)
    downward = [0, 31, 25, 22, 24, 27, 62.333, 66.667, 63.667, 93.333]
    assert downward_rank_s(instance).tolist() == pytest.approx(downward, abs=5e-4)


def test_u01_an_idle_gap_is_filled():
    expected = cases()["U01"]["expected"]
    instance = case_instance("U01")
    schedule = Heft().schedule(instance)
    assert ranks(instance) == pytest.approx(expected["upward_rank"])
    assert starts(schedule) == expected["start_s"]
    assert workers(schedule) == expected["worker"]
    assert schedule.makespan_s == expected["makespan_s"]


def u03(n_workers: int) -> dict[str, Any]:
    raw = dict(cases()["U03"]["input"]["instance"])
    ids = [f"w{i + 1}" for i in range(n_workers)]
    [link] = raw["links"]
    raw["workers"] = [{"id": name} for name in ids]
    raw["links"] = [{**link, "a": a, "b": b} for b in ids for a in ids if a < b]
    return raw


@pytest.mark.parametrize("n_workers", [2, 5])
def test_u03_latency_counts_once_for_any_number_of_workers(n_workers: int):
    expected = cases()["U03"]["expected"]
    instance = to_instance(u03(n_workers))
    schedule = Heft().schedule(instance)
    assert ranks(instance) == pytest.approx(expected["upward_rank"])
    assert starts(schedule) == expected["start_s"]
    assert schedule.makespan_s == expected["makespan_s"]


def test_u04_a_missing_link_is_neither_free_nor_in_the_means():
    expected = cases()["U04"]["expected"]["heft"]
    instance = case_instance("U04")
    schedule = Heft().schedule(instance)
    assert ranks(instance) == pytest.approx({"A": 3 + 3.5, "B": 3.5})
    assert workers(schedule) == expected["worker"]
    assert schedule.makespan_s == expected["makespan_s"]


def test_means_are_over_linked_pairs_only():
    build = InstanceBuilder()
    for name in ("a", "b", "c"):
        build.worker(name, 1)
    build.link("a", "b", 10.0, latency_s=1.0)
    build.link("b", "c", 5.0, latency_s=3.0)
    build.workflow("f").task("x", 1).task("y", 1).edge("x", "y", bytes=20)
    build.job("j", "f")
    # latency (1 + 3) / 2, transfer (20 / 10 + 20 / 5) / 2
    assert upward_rank_s(build.build()).tolist() == pytest.approx([1 + 5 + 1, 1])


def test_one_worker_sends_nothing():
    build = InstanceBuilder()
    build.worker("a", 1)
    build.workflow("f").task("x", 1).task("y", 1).edge("x", "y", transfer_s=20)
    build.job("j", "f")
    assert upward_rank_s(build.build()).tolist() == [2, 1]


def test_an_entry_input_travels_from_the_ingress():
    build = InstanceBuilder()
    build.worker("near", 1)
    build.worker("far", 1)
    build.default_link(10.0, latency_s=1.0)
    build.workflow("f").task("x", {"far": 1}, input_bytes=20, release_s=4)
    build.job("j", "f", release_s=0.5, ingress="near")
    [run] = Heft().schedule(build.build()).runs
    assert run.start_s == pytest.approx(0.5 + 4 + 1 + 2)


def test_releases_are_earliest_starts():
    build = InstanceBuilder()
    build.worker("w", 1)
    build.workflow("long").task("x", 5)
    build.workflow("short").task("x", 1)
    build.job("late", "long", release_s=3)
    build.job("early", "short", release_s=1)
    schedule = Heft().schedule(build.build())
    times = {run.task: run.start_s for run in schedule.runs}
    assert times == {"late/x": 3, "early/x": 1}  # the long one was placed first


def test_empty_tasks_of_equal_rank_follow_the_edges_and_not_the_index():
    build = InstanceBuilder()
    build.worker("w", 1)
    flow = build.workflow("f")
    for name in ("c", "b", "a"):
        flow.task(name, 0)
    flow.chain("a", "b", "c")
    build.job("j", "f")
    assert [run.task for run in Heft().schedule(build.build()).runs] == [
        "j/a",
        "j/b",
        "j/c",
    ]


def test_slots_run_at_the_same_time():
    build = InstanceBuilder()
    build.worker("w", 1, slots=2)
    build.workflow("f").task("x", 2).task("y", 2).task("z", 2)
    build.job("j", "f")
    assert sorted(starts(Heft().schedule(build.build())).values()) == [0, 0, 2]


def test_it_is_blind_to_loads():
    build = InstanceBuilder()
    build.model("m", 5, load_s=100)
    build.worker("cold", 10)
    build.worker("warm", 10, resident=("m",))
    build.workflow("f").task("x", {"cold": 1, "warm": 2}, model="m")
    build.job("j", "f")
    [run] = Heft().schedule(build.build()).runs
    assert (run.worker, run.end_s) == ("cold", 101)


def test_a_long_chain_needs_no_recursion():
    n = 20_000
    build = InstanceBuilder()
    build.worker("w", 1)
    flow = build.workflow("f")
    ids = [f"t{i}" for i in range(n)]
    for name in ids:
        flow.task(name, 1)
    flow.chain(*ids)
    build.job("j", "f")
    instance = build.build()
    assert upward_rank_s(instance)[0] == n
    assert Heft().plan(instance).end_s.max() == n
