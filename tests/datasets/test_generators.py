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
    "compass-5w": ("71c50540a2936979a233fe74eedcde4be410cf1dda7069e2152e8c0963c67e39"),
    "compass-5w:variant=blocking": (
        "78b3b42445266e014d284caf8268259f0d3d69bbc2a17b612df64fd6b7c0d444"
    ),
    "compass-5w:warm=true": (
        "7a783cd0f0dc29a8ffe328ba659e1ca2b483e733cf73e224f03c633db8e39b6f"
    ),
    "compass-5w:variant=100-jobs": (
        "d8c417b15c2c8618b5e8693611d0a061e22d7dde6137583a9d1fa2a4f9d8e70e"
    ),
    "compass-5w-0p5rps": (
        "2a97a366836d5b913f66ed911248483145d4963f91668c0f0f4953507c120c5a"
    ),
    "compass-40w-40rps": (
        "156c7cab01c19d367878ecf30506a82cb2c763825e01ff7ee7cbb7a30d5d43bc"
    ),
    "heft10": ("dbb0db94bbb5315bda4f6e6888a013044654da672af2d7355d2ac595a75f35d8"),
    "20x4x5": ("dc76e1ee515489e147073e3fa09376ce4c03d9eb77591f7554aa3df11d0eaae0"),
    "20x4x5:mix=mixed,seed=1": (
        "c3ce136183af45e234b7c7540ec6225ff919131314b86e7de713f79e0218ea4c"
    ),
    "compass-like": (
        "1b2a8380cce286f8fd9d3f7f66fab2d1a5d23f96c64d6b75d4df02d0f878a2b4"
    ),
    "compass-like:arrivals=gamma,pipelines=random": (
        "9f1f0e4f8a38bab61a71adf9e88f914c440bf48d891116c51c373b75f5654f0b"
    ),
    "layered": ("1b0df61b302b7a761f06e5bdded66365af85db8c713e56448ae1fb89a705ecce"),
    "layered:machines=related,n_models=5": (
        "2f205ed13f7c1e0e1aa4396355ea5d94a0ab17e466f1608b2f2a556e6a530b3a"
    ),
    "planted": ("5d298f6347a8e93dc63f89d90bc57773d63a042b6ba411c41e175fd24baf41ab"),
    "planted:loading=blocking": (
        "0c55440bef10b414e38e8e46a7667e6ac9160ae9b804bac6153fe8ad1c444826"
    ),
    "tiny": ("218a15bda2d0edf671d7ee4e47fb03b337f72dd2fbd811eda1fce9a6d700c8e5"),
    "tiny:seed=1,max_workers=3,max_slots=2": (
        "1442220ebc45f1d40c88b99a7cc81cba7884a83f05bf026e21823e34111b9f16"
    ),
}


@pytest.mark.parametrize("spec", PINNED)
def test_a_data_set_never_changes(spec):
    assert load_dataset(spec).sha256 == PINNED[spec]


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
