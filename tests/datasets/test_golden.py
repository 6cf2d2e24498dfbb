"""The golden timelines: read whole, and carried out again from the rules alone."""

from __future__ import annotations

import pytest

from placement_lab.datasets import (
    GOLDEN_NAMES,
    golden_arrivals,
    golden_summary,
    golden_timeline,
)
from placement_lab.errors import UnknownNameError

ROWS = {
    "compass_5w_2rps": 3727,
    "compass_5w_0p5rps": 3725,
    "compass_adjust_5w_2rps": 3726,
    "hash_5w_2rps": 3797,
    "compass_40w_40rps": 3770,
    "hash_40w_40rps": 3751,
}
TOLERANCE_S = 1e-9  # 1e-6 ms


def carry_out(golden):
    """Yield each row beside (turn, start, end) by the rules of the authors' world."""
    instance = golden.instance
    expected = {row.task: row for row in golden.rows}
    flow_of = {job.id: instance.workflow(job.workflow) for job in instance.jobs}
    job_of = {job.id: job for job in instance.jobs}
    free_s = dict.fromkeys(golden.order, 0.0)
    held = {worker: [] for worker in golden.order}
    left = {worker: list(tasks) for worker, tasks in golden.order.items()}
    end_s = {}

    def ready_s(name, worker):
        job, task_id = name.split("/")
        edges = [edge for edge in flow_of[job].edges if edge.dst == task_id]
        if edges:
            return max(
                end_s[f"{job}/{edge.src}"]
                + (expected[f"{job}/{edge.src}"].worker != worker) * edge.transfer_s
                for edge in edges
            )
        [task] = [task for task in flow_of[job].tasks if task.id == task_id]
        away = job_of[job].ingress not in (None, worker)
        hop_s = task.input_transfer_s if away else 0.0
        return job_of[job].release_s + task.release_s + hop_s

    def run(name, worker):
        job, task_id = name.split("/")
        [task] = [task for task in flow_of[job].tasks if task.id == task_id]
        start_s = turn_s = max(ready_s(name, worker), free_s[worker])
        if task.model is not None and task.model not in held[worker]:
            start_s += instance.model(task.model).load_s
            held[worker].append(task.model)
            memory = instance.worker(worker).memory_bytes
            while sum(instance.model(m).size_bytes for m in held[worker]) > memory:
                start_s += instance.evict_s(instance.model(held[worker].pop(0)))
        end_s[name] = free_s[worker] = start_s + task.runtime_s
        return expected[name], (turn_s, start_s, end_s[name])

    def can_run(name):
        job, task_id = name.split("/")
        sources = [edge.src for edge in flow_of[job].edges if edge.dst == task_id]
        return all(f"{job}/{src}" in end_s for src in sources)

    moving = True
    while moving:
        moving = False
        for worker, names in left.items():
            while names and can_run(names[0]):
                moving = True
                yield run(names.pop(0), worker)


@pytest.mark.parametrize("name", GOLDEN_NAMES)
def test_a_timeline_follows_from_its_order_and_the_rules(name):
    golden = golden_timeline(name)
    assert golden.instance.n_tasks == len(golden.rows) == ROWS[name]
    assert golden.instance.warnings == ()
    done = 0
    for row, times_s in carry_out(golden):
        assert row[2:] == pytest.approx(times_s, abs=TOLERANCE_S, rel=0)
        done += 1
    assert done == len(golden.rows)


@pytest.mark.parametrize("name", GOLDEN_NAMES)
def test_an_order_holds_every_task_once_on_the_worker_that_ran_it(name):
    golden = golden_timeline(name)
    assert list(golden.order) == [worker.id for worker in golden.instance.workers]
    placed = {task: worker for worker, tasks in golden.order.items() for task in tasks}
    assert sum(map(len, golden.order.values())) == len(placed)
    assert placed == {row.task: row.worker for row in golden.rows}
    assert set(placed) == set(golden.instance.arrays.task_names)


def test_a_job_that_lacks_its_last_tasks_keeps_the_ones_it_has():
    golden = golden_timeline("compass_5w_2rps")
    cut = [job for job in golden.instance.jobs if "-" in job.workflow]
    assert [(job.id, job.workflow) for job in cut] == [
        ("j1001", "img_to_sound-012"),
        ("j1003", "question_answer-0"),
        ("j1000", "translation-0"),
    ]


def test_arrivals_come_by_time_of_creation():
    arrivals = golden_arrivals("compass_5w_2rps")
    created = [arrival.created_s for arrival in arrivals]
    assert created == sorted(created)
    assert arrivals[0] == (0, 0, 0.0, "w4")
    assert len(arrivals) == 1003
    assert {one.planning_worker for one in golden_arrivals("hash_5w_2rps")} == {None}


def test_a_summary_tells_the_configuration():
    summary = golden_summary("hash_40w_40rps")
    assert (summary["scheduler"], summary["workers"]) == ("hash", 40)
    assert summary["median"] == pytest.approx(37.622, abs=1e-3)


@pytest.mark.parametrize("ask", [golden_timeline, golden_arrivals, golden_summary])
def test_an_unknown_timeline_is_refused_by_name(ask):
    with pytest.raises(UnknownNameError, match=r"'compass_6w'.*compass_5w_2rps"):
        ask("compass_6w")
