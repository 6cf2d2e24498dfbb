"""`InstanceArrays` against the readable accessors of `Instance`, number by number."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings

from placement_lab.datasets import golden_timeline, layered, load_dataset, tiny_random
from placement_lab.problem import Instance
from tests.problem.documents import document, put
from tests.strategies import instances


def tasks_of(instance):
    """Yield (job, workflow, task) of every task in declared order."""
    for job in instance.jobs:
        flow = instance.workflow(job.workflow)
        for task in flow.tasks:
            yield job, flow, task


def same(found, expected):
    return found == (math.inf if expected is None else expected)


def check_cluster(instance):
    arrays = instance.arrays
    assert arrays.worker_ids == tuple(worker.id for worker in instance.workers)
    assert arrays.model_ids == tuple(model.id for model in instance.models)
    assert arrays.job_ids == tuple(job.id for job in instance.jobs)
    assert arrays.overlap == (instance.rules.loading == "overlap")
    assert arrays.prefetch == instance.rules.prefetch
    for w, worker in enumerate(instance.workers):
        assert arrays.worker_memory_bytes[w] == worker.memory_bytes
        assert arrays.worker_slots[w] == worker.slots
        first, last = arrays.resident_ptr[w : w + 2]
        held = [arrays.model_ids[m] for m in arrays.resident_model[first:last]]
        assert held == list(worker.resident)
        for m, model in enumerate(instance.models):
            fits = model.size_bytes <= worker.memory_bytes
            load_s = instance.load_s(model, worker) if fits else None
            assert same(arrays.load_s[m, w], load_s)
    for m, model in enumerate(instance.models):
        assert arrays.model_size_bytes[m] == model.size_bytes
        assert arrays.evict_s[m] == instance.evict_s(model)


def check_tasks(instance):
    arrays = instance.arrays
    assert arrays.n_tasks == instance.n_tasks == len(arrays.task_names)
    for i, (job, _, task) in enumerate(tasks_of(instance)):
        assert arrays.task_names[i] == f"{job.id}/{task.id}"
        assert arrays.task_index[f"{job.id}/{task.id}"] == i
        assert instance.jobs[arrays.job[i]] is job
        assert arrays.release_s[i] == job.release_s + task.release_s
        assert arrays.memory_bytes[i] == task.memory_bytes
        m = arrays.model[i]
        assert (arrays.model_ids[m] if m >= 0 else None) == task.model
        for w, worker in enumerate(instance.workers):
            assert same(arrays.runtime_s[i, w], instance.runtime_s(task, worker))
            input_s = instance.input_transfer_s(task, job, worker)
            assert same(arrays.input_transfer_s(i, w), input_s)
    for j, job in enumerate(instance.jobs):
        flow = instance.workflow(job.workflow)
        assert arrays.job_ptr[j + 1] - arrays.job_ptr[j] == len(flow.tasks)
        assert arrays.job_release_s[j] == job.release_s
        assert same(arrays.job_deadline_s[j], job.deadline_s)
        assert arrays.job_weight[j] == job.weight
        ingress = arrays.job_ingress[j]
        assert (arrays.worker_ids[ingress] if ingress >= 0 else None) == job.ingress


def check_graph(instance):
    arrays = instance.arrays
    position = np.empty(arrays.n_tasks, int)
    position[arrays.topological] = np.arange(arrays.n_tasks)
    assert sorted(arrays.topological.tolist()) == list(range(arrays.n_tasks))
    for i, (job, flow, task) in enumerate(tasks_of(instance)):
        feeding = [edge for edge in flow.edges if edge.dst == task.id]
        fed = [edge for edge in flow.edges if edge.src == task.id]
        for end, edges, ptr, other, number in (
            ("src", feeding, arrays.pred_ptr, arrays.pred_task, arrays.pred_edge),
            ("dst", fed, arrays.succ_ptr, arrays.succ_task, arrays.succ_edge),
        ):
            span = slice(ptr[i], ptr[i + 1])
            neighbours = other[span].tolist()
            assert neighbours == sorted(
                arrays.task_index[f"{job.id}/{getattr(edge, end)}"] for edge in edges
            )
            by_name = {getattr(edge, end): edge for edge in edges}
            for k, e in zip(neighbours, number[span].tolist(), strict=True):
                edge = by_name[arrays.task_names[k].partition("/")[2]]
                check_transfers(instance, edge, e)
                assert (position[k] < position[i]) == (end == "src")


def check_transfers(instance, edge, number):
    for a, src in enumerate(instance.workers):
        for b, dst in enumerate(instance.workers):
            found = instance.arrays.transfer_s(number, a, b)
            assert same(found, instance.transfer_s(edge, src, dst))


@given(instances())
@settings(max_examples=100, deadline=None)
def test_arrays_and_accessors_tell_the_same(instance):
    check_cluster(instance)
    check_tasks(instance)
    check_graph(instance)


@pytest.mark.parametrize("seed", range(50))
def test_arrays_and_accessors_tell_the_same_of_tiny_instances(seed):
    instance = tiny_random(seed, max_workers=3, max_slots=2)
    check_cluster(instance)
    check_tasks(instance)
    check_graph(instance)


@pytest.mark.parametrize("name", ["compass-5w", "heft10", "20x4x5", "layered"])
def test_arrays_and_accessors_tell_the_same_of_bundled_data(name):
    instance = load_dataset(name)
    check_cluster(instance)
    check_tasks(instance)
    check_graph(instance)


def test_arrays_and_accessors_tell_the_same_of_every_key():
    instance = Instance.from_dict(document())
    check_cluster(instance)
    check_tasks(instance)
    check_graph(instance)


def test_workers_without_a_link_cannot_exchange_data():
    changed = document()
    put(changed, "default_link", None)
    put(changed, "links", [])
    instance = Instance.from_dict(changed)
    w0, w1 = instance.workers
    bare, own, _ = instance.workflows[0].edges
    assert instance.transfer_s(bare, w0, w1) is None
    assert instance.transfer_s(own, w0, w1) == 0.01
    assert instance.transfer_s(bare, w0, w0) == 0.0
    check_graph(instance)


def test_no_jobs_give_empty_arrays():
    changed = document()
    changed["jobs"] = []
    arrays = Instance.from_dict(changed).arrays
    assert (arrays.n_jobs, arrays.n_tasks) == (0, 0)
    assert arrays.pred_ptr.tolist() == arrays.succ_ptr.tolist() == [0]
    assert arrays.runtime_s.shape == (0, 2)
    assert arrays.topological.tolist() == []


def test_an_empty_cluster_without_workflows_gives_empty_arrays():
    arrays = Instance(workers=()).arrays
    assert (arrays.n_workers, arrays.n_models, arrays.n_tasks) == (0, 0, 0)


def test_the_topological_order_takes_the_first_declared_of_what_is_ready():
    instance = layered(40, seed=3)
    arrays = instance.arrays
    done: set[int] = set()
    for i in arrays.topological.tolist():
        ready = [
            k
            for k, (first, last) in enumerate(pairwise(arrays.pred_ptr))
            if k not in done and set(arrays.pred_task[first:last]) <= done
        ]
        assert i == min(ready)
        done.add(i)


def test_the_arrays_of_a_large_timeline_have_the_right_shapes():
    golden = golden_timeline("compass_40w_40rps")
    arrays = golden.instance.arrays
    assert (arrays.n_tasks, arrays.n_workers) == (3770, 40)
    assert len(arrays.pred_task) == len(arrays.succ_task) == arrays.pred_ptr[-1]
