"""Generators: reproducible, with the shape and the optimum that they promise."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest

from placement_lab.datasets import (
    compass_like,
    layered,
    load_dataset,
    overload,
    planted,
    tiny_random,
)
from placement_lab.verify import verify

PINNED = {
    "compass-5w": ("e1d1321a063b2cee62195d3f9e6df68eb6c229ca737b964f57923eadd41332b1"),
    "compass-5w:variant=blocking": (
        "ca6c2fb463a2f8cfb03636a14fe03b9e498a52a45337c839a70ac317d1ff911e"
    ),
    "compass-5w:warm=true": (
        "0bf90c6f50c79e78f76f7eb075e8a393743bd87a9f65a65ad91db1d7477e0500"
    ),
    "compass-5w:variant=100-jobs": (
        "93abc34e863ab0af008a172070d732a4ef09bde12cae63ecbfd27174c47c1480"
    ),
    "compass-5w-0p5rps": (
        "b8cfd367c511f26b27a8336949a04835d3f78cd5a46b32e616144a444922b0e2"
    ),
    "compass-40w-40rps": (
        "5271d1845fac656a0a3118f84d7ffd6a69144f31b2bc5809a8561f73765f0ee8"
    ),
    "heft10": ("6277443c8074777b4007453f5147391551d28deb611ecbd1d6c341c6d77a724c"),
    "20x4x5": ("cbe99da516f56a284afd1b4731da2cc3cf7f4edbe33b674c7b8a86c07dd81e2b"),
    "20x4x5:mix=mixed,seed=1": (
        "c07563d7bca9dd5021371c85f78f97001c32aae760c678483153b59234c5c4e0"
    ),
    "compass-like": (
        "341e34535f8c2f6df62eee994d72c3390af152108f10e2b21464122ef1e2ccc2"
    ),
    "compass-like:arrivals=gamma,pipelines=random": (
        "7a0ab6a39261ae3b6c087b0efc9ec09f195ef74740a59ce507484dc4dd2322f5"
    ),
    "layered": ("8661f2de60c72378a72ea50cf09958c11530c3bf6c991771d83de0ff762f17ad"),
    "layered:machines=related,n_models=5": (
        "ae2819292af4c188022bc40c4f0dba6095a6ef97bc3008fc099632f1620f0592"
    ),
    "planted": ("dda59ec4fef0c26914a0e8ff2e84bf715ce0a1450be4e436fd1e78b4a32ade04"),
    "planted:loading=blocking": (
        "8f831767aabc6ae9675c464644912a804b13989b3ffbec7647dfce8baf738c6f"
    ),
    "tiny": ("38ae36c73a326b80e8351f71f34b8ade5435af2b5e95123e89ea4ee5547518c9"),
    "tiny:seed=1,max_workers=3,max_slots=2": (
        "9b8e6e5f78d3ac2d8c6f2d12dfd19fbbe9457600ea20f345c7bc604fc537948e"
    ),
}


@pytest.mark.parametrize(("spec", "sha256"), PINNED.items())
def test_a_data_set_never_changes(spec, sha256):
    assert load_dataset(spec).sha256 == sha256


@pytest.mark.parametrize(
    "name", ["20x4x5", "compass-like", "layered", "planted", "tiny"]
)
def test_another_seed_gives_another_instance(name):
    assert len({load_dataset(name, seed=seed).sha256 for seed in range(5)}) == 5


def is_tick(value_s):
    return value_s == round(value_s * 100) / 100


# Layered DAGs.


def test_layers_are_connected_from_top_to_bottom():
    [flow] = layered(200, seed=4, n_layers=10).workflows
    number = {task.id: i for i, task in enumerate(flow.tasks)}
    assert all(number[edge.src] < number[edge.dst] for edge in flow.edges)
    depth = [0] * len(flow.tasks)
    for edge in sorted(flow.edges, key=lambda edge: number[edge.dst]):
        i, k = number[edge.src], number[edge.dst]
        depth[k] = max(depth[k], depth[i] + 1)
    assert max(depth) == 9
    fed = Counter(edge.dst for edge in flow.edges)
    assert max(fed.values()) <= 3


def test_related_machines_divide_work_by_speed():
    [flow] = layered(60, 5, machines="related", seed=1).workflows
    first, *others = [
        [task.runtime_s[f"w{w}"] for task in flow.tasks] for w in range(5)
    ]
    for other in others:
        ratios = {a / b for a, b in zip(first, other, strict=True)}
        assert max(ratios) == pytest.approx(min(ratios), rel=1e-12)


def test_identical_machines_have_one_runtime_each():
    [flow] = layered(10, machines="identical").workflows
    assert all(isinstance(task.runtime_s, float) for task in flow.tasks)


@pytest.mark.parametrize("ccr", [0, 0.1, 10])
def test_the_ratio_of_communication_to_computation_is_kept(ccr):
    instance = layered(400, machines="identical", ccr=ccr, seed=2)
    [flow] = instance.workflows
    speed = instance.default_link.bandwidth_bytes_per_s
    transfers_s = [edge.bytes / speed for edge in flow.edges]
    runtimes_s = [task.runtime_s for task in flow.tasks]
    mean_transfer_s = sum(transfers_s) / len(transfers_s)
    found = mean_transfer_s / (sum(runtimes_s) / len(runtimes_s))
    assert found == pytest.approx(ccr, rel=0.15)


def test_one_task_on_one_worker_is_a_layered_dag():
    assert layered(1, 1).n_tasks == 1


# Streams of pipelines.


def test_gamma_arrivals_are_burstier_at_the_same_rate():
    calm = compass_like(2000, rate_per_s=4.0, seed=3)
    bursty = compass_like(2000, rate_per_s=4.0, arrivals="gamma", cv=3.0, seed=3)
    spread = []
    for instance in (calm, bursty):
        times_s = [job.release_s for job in instance.jobs]
        gaps_s = [b - a for a, b in pairwise(times_s)]
        mean_s = sum(gaps_s) / len(gaps_s)
        assert mean_s == pytest.approx(0.25, rel=0.2)
        variance = sum((gap - mean_s) ** 2 for gap in gaps_s) / len(gaps_s)
        spread.append(variance**0.5 / mean_s)
    assert spread[0] == pytest.approx(1.0, abs=0.1)
    assert spread[1] == pytest.approx(3.0, abs=0.5)


def test_an_overload_is_drawn_from_the_stated_ranges():
    instance = overload(200, seed=5)
    assert (len(instance.jobs), instance.n_tasks) == (200, 800)
    assert [model.id for model in instance.models] == ["m0", "m1", "m2", "m3"]
    for model in instance.models:
        assert 2e9 <= model.size_bytes <= 7e9
        assert model.load_s - 0.05 - model.size_bytes / 8e9 == pytest.approx(
            0.005, abs=0.0051
        )
    assert len(instance.links) == 10
    assert all(0.01 <= link.latency_s <= 0.06 for link in instance.links)
    for flow in instance.workflows:
        assert [(edge.src, edge.dst) for edge in flow.edges] == [
            ("t0", "t1"),
            ("t0", "t2"),
            ("t1", "t3"),
            ("t2", "t3"),
        ]
        for task in flow.tasks:
            runtimes_s = list(task.runtime_s.values())
            assert min(runtimes_s) >= 0.12
            assert max(runtimes_s) <= 2.17
            assert all(is_tick(one) for one in runtimes_s)
    assert all(is_tick(job.release_s) for job in instance.jobs)


def test_mixed_pipelines_have_four_shapes():
    instance = overload(100, mix="mixed", seed=1)
    shapes = Counter(
        tuple(task.model for task in flow.tasks) for flow in instance.workflows
    )
    assert set(shapes) == {
        ("m0", "m1", "m2", "m3"),
        ("m4", "m0", "m5"),
        ("m6", "m2", "m7", "m3", "m1"),
        ("m5", "m4", "m6", "m7"),
    }


@pytest.mark.parametrize("make", [compass_like, overload])
def test_a_stream_may_be_empty(make):
    assert make(0).jobs == ()


# Planted optima.


@pytest.mark.parametrize("loading", ["overlap", "blocking"])
@pytest.mark.parametrize("n_models", [0, 1, 2, 3, 12])
@pytest.mark.parametrize("seed", range(3))
def test_a_planted_schedule_obeys_the_rules_and_never_idles(loading, n_models, seed):
    found = planted(300, 7, n_models=n_models, loading=loading, seed=seed)
    assert verify(found.instance, found.schedule) == []
    assert found.schedule.makespan_s == found.makespan_s
    runtimes_s = [
        task.runtime_s for flow in found.instance.workflows for task in flow.tasks
    ]
    assert len(runtimes_s) == 300
    assert sum(runtimes_s) / 7 == found.makespan_s  # dyadic, so exactly


def test_a_planted_schedule_of_five_thousand_tasks_changes_models():
    found = planted(5000, 16, seed=1)
    assert found.instance.n_tasks == 5000
    assert len(found.schedule.loads) > 100
    assert sum(len(flow.edges) for flow in found.instance.workflows) > 5000
    assert sum(job.release_s > 0 for job in found.instance.jobs) > 100
    assert verify(found.instance, found.schedule) == []


def test_a_planted_instance_may_be_one_job():
    found = planted(60, 4, tasks_per_job=60)
    assert len(found.instance.jobs) == 1
    assert verify(found.instance, found.schedule) == []


# Tiny instances.


def test_tiny_instances_use_every_feature():
    seen = Counter()
    for seed in range(200):
        instance = tiny_random(seed, max_slots=2)
        assert instance.n_tasks <= 8
        tasks = [task for flow in instance.workflows for task in flow.tasks]
        edges = [edge for flow in instance.workflows for edge in flow.edges]
        seen["blocking"] += instance.rules.loading == "blocking"
        seen["clairvoyant"] += instance.rules.prefetch == "clairvoyant"
        seen["evictions"] += instance.rules.evict_bandwidth_bytes_per_s is not None
        seen["resident"] += any(worker.resident for worker in instance.workers)
        seen["slots"] += any(worker.slots > 1 for worker in instance.workers)
        seen["kinds"] += len({worker.kind for worker in instance.workers}) > 1
        seen["unable"] += any(
            instance.runtime_s(task, worker) is None
            for task in tasks
            for worker in instance.workers
        )
        seen["own memory"] += any(task.memory_bytes for task in tasks)
        seen["task release"] += any(task.release_s for task in tasks)
        seen["zero length"] += any(task.runtime_s == 0 for task in tasks)
        seen["own transfer"] += any(edge.transfer_s is not None for edge in edges)
        seen["zero bytes"] += any(
            edge.transfer_s is None and edge.bytes == 0 for edge in edges
        )
        seen["ingress"] += any(job.ingress for job in instance.jobs)
        seen["deadline"] += any(job.deadline_s is not None for job in instance.jobs)
        seen["shared workflow"] += len(instance.jobs) > len(instance.workflows)
    assert min(seen.values()) >= 10, seen


def test_a_fixed_option_changes_nothing_else():
    overlap = tiny_random(7, loading="overlap")
    blocking = tiny_random(7, loading="blocking")
    assert overlap.jobs == blocking.jobs
    assert overlap.workflows == blocking.workflows
    assert overlap.rules.loading != blocking.rules.loading
