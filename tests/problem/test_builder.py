"""Building an instance in Python instead of JSON."""

from __future__ import annotations

from types import MappingProxyType

import numpy as np
import pytest

from placement_lab.errors import ProblemError
from placement_lab.problem import Instance, InstanceBuilder, Model, Task, Worker
from tests.problem.documents import document


def test_a_built_instance_equals_the_one_from_its_document():
    build = InstanceBuilder(
        "everything",
        loading="blocking",
        prefetch="clairvoyant",
        evict_bandwidth_bytes_per_s=2e10,
    )
    build.worker(
        "w0",
        16e9,
        kind="T4",
        slots=2,
        resident=["opt"],
        load_bandwidth_bytes_per_s=1e10,
        load_latency_s=0.25,
    )
    build.worker("w1", memory_bytes=8e9)
    build.default_link(1e9, latency_s=0.5)
    build.link("w1", "w0", 2e9, latency_s=0.125)
    build.model("opt", 5.72e9, load_s={"w1": 0.56})
    build.model("nli", 2.14e9, load_s=0.21)
    flow = build.workflow("qa")
    flow.task(
        "ask",
        {"T4": 0.5, "w1": 1},
        model="opt",
        input_bytes=1000,
        input_transfer_s=0.001,
        release_s=0.125,
        memory_bytes=1e9,
    )
    flow.task("check", 0, model="nli").task("merge", 0.001)
    flow.edge("ask", "check", bytes=2000).edge("ask", "merge", transfer_s=0.01)
    flow.chain("check", "merge")
    build.job("j0", "qa", release_s=1.5, ingress="w0", deadline_s=9, weight=2)
    build.job("j1", "qa")
    assert build.build() == Instance.from_dict(document())


def test_a_chain_links_each_task_to_the_next():
    build = InstanceBuilder()
    build.worker("w", 1)
    flow = build.workflow("f").task("a", 1).task("b", 1).task("c", 1)
    flow.chain("a", "b", "c", bytes=5)
    [built] = build.build().workflows
    assert [(edge.src, edge.dst, edge.bytes) for edge in built.edges] == [
        ("a", "b", 5),
        ("b", "c", 5),
    ]


def test_building_reports_every_fault():
    build = InstanceBuilder(loading="never")
    build.worker("w", -1)
    build.job("j", "nothing")
    with pytest.raises(ProblemError) as caught:
        build.build()
    paths = [fault.path for fault in caught.value.faults]
    assert paths == ["rules.loading", "workers[0].memory_bytes", "jobs[0].workflow"]
    assert str(caught.value).startswith("instance: rules.loading: must be 'overlap' or")


def test_numbers_of_numpy_become_plain_ones():
    worker = Worker("w", np.int64(5), slots=np.int32(2))
    assert (type(worker.memory_bytes), type(worker.slots)) == (int, int)
    task = Task("t", np.float32(0.5), release_s=np.int64(3))
    assert (type(task.runtime_s), type(task.release_s)) == (float, float)
    assert Model("m", np.float64(3)).size_bytes == 3


def test_any_mapping_may_give_times_per_kind():
    task = Task("t", MappingProxyType({"a": 1}))
    assert task.runtime_s == {"a": 1.0}


def test_later_changes_of_a_mapping_do_not_reach_the_task():
    runtimes_s = {"w": 1.0}
    task = Task("t", runtimes_s)
    runtimes_s["w"] = 2.0
    assert task.runtime_s == {"w": 1.0}


def test_an_unknown_id_has_no_entity():
    instance = Instance.from_dict(document())
    with pytest.raises(KeyError, match="w9"):
        instance.worker("w9")
