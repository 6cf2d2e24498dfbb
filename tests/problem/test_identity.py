"""The sha256 of an instance: what changes it, and what does not."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from placement_lab.problem import Instance
from tests.problem.documents import document, put

PINNED = "69e8866978a93f0aec0c71e08945da4eccab7f756600f721ccfd0ba1b2a186da"


def sha256_of(changed):
    return Instance.from_dict(changed).sha256


def reversed_keys(value):
    if isinstance(value, dict):
        return {key: reversed_keys(value[key]) for key in reversed(value)}
    return [reversed_keys(one) for one in value] if isinstance(value, list) else value


def test_the_identity_never_changes():
    assert sha256_of(document()) == PINNED


def test_the_order_of_keys_has_no_meaning():
    assert sha256_of(reversed_keys(document())) == sha256_of(document())


def test_the_order_of_links_and_of_their_ends_has_no_meaning():
    first, second = document(), document()
    worker = {"id": "w2", "memory_bytes": 1}
    links = [
        {"a": "w0", "b": "w1", "bandwidth_bytes_per_s": 1},
        {"a": "w0", "b": "w2", "bandwidth_bytes_per_s": 2},
    ]
    for changed in (first, second):
        put(changed, "workers[2]", worker)
        changed["links"] = links
    second["links"] = [
        {"b": "w0", "a": "w2", "bandwidth_bytes_per_s": 2},
        {"b": "w0", "a": "w1", "bandwidth_bytes_per_s": 1},
    ]
    assert sha256_of(first) == sha256_of(second) != sha256_of(document())


def test_the_order_of_edges_has_no_meaning():
    changed = document()
    changed["workflows"][0]["edges"].reverse()
    assert sha256_of(changed) == sha256_of(document())


def test_the_name_is_only_a_label():
    changed = document()
    changed["name"] = "other"
    assert sha256_of(changed) == sha256_of(document())


def test_the_way_a_number_is_written_has_no_meaning():
    changed = document()
    put(changed, "workers[0].memory_bytes", 16_000_000_000)
    put(changed, "jobs[0].weight", 2.0)
    put(changed, "jobs[1].release_s", -0.0)
    assert sha256_of(changed) == sha256_of(document())


@pytest.mark.parametrize("key", ["workers", "models", "jobs", "workflows"])
def test_the_order_of_what_breaks_ties_is_part_of_it(key):
    first = document()
    put(first, "workflows[1]", {"id": "one", "tasks": [{"id": "t", "runtime_s": 1}]})
    second = json.loads(json.dumps(first))
    second[key].reverse()
    assert sha256_of(first) != sha256_of(second)


def test_the_order_of_tasks_is_part_of_it():
    changed = document()
    changed["workflows"][0]["tasks"].reverse()
    assert sha256_of(changed) != sha256_of(document())


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("rules.loading", "overlap"),
        ("rules.prefetch", "on_demand"),
        ("rules.evict_bandwidth_bytes_per_s", None),
        ("workers[0].kind", "w1"),
        ("workers[0].memory_bytes", 16e9 + 1),
        ("workers[0].slots", 1),
        ("workers[0].resident", []),
        ("workers[0].load_bandwidth_bytes_per_s", 2e10),
        ("workers[0].load_latency_s", 0),
        ("default_link", None),
        ("default_link.bandwidth_bytes_per_s", 2e9),
        ("default_link.latency_s", 0),
        ("links", []),
        ("links[0].bandwidth_bytes_per_s", 3e9),
        ("links[0].latency_s", 0),
        ("models[0].size_bytes", 5e9),
        ("models[0].load_s.w1", 0.57),
        ("models[1].load_s", {"w1": 0.21}),
        ("workflows[0].id", "qb"),
        ("workflows[0].tasks[0].model", "nli"),
        ("workflows[0].tasks[0].runtime_s.w1", 2),
        ("workflows[0].tasks[0].input_bytes", 1),
        ("workflows[0].tasks[0].input_transfer_s", None),
        ("workflows[0].tasks[0].release_s", 0),
        ("workflows[0].tasks[0].memory_bytes", 0),
        ("workflows[0].edges[0].bytes", 2001),
        ("workflows[0].edges[1].transfer_s", 0.02),
        ("workflows[0].edges[1].transfer_s", None),
        ("jobs[0].id", "j2"),
        ("jobs[0].release_s", 1.25),
        ("jobs[0].ingress", None),
        ("jobs[0].deadline_s", None),
        ("jobs[0].weight", 1),
    ],
)
def test_every_value_is_part_of_it(path, value):
    changed = document()
    put(changed, path, value)
    for job in changed["jobs"]:
        job["workflow"] = changed["workflows"][0]["id"]
    assert sha256_of(changed) != sha256_of(document())


def test_tasks_cannot_move_between_workflows_unseen():
    first, second = document(), document()
    task = {"id": "t", "runtime_s": 1}
    other = {"id": "u", "runtime_s": 1}
    first["workflows"] += [
        {"id": "a", "tasks": [task, other]},
        {"id": "b", "tasks": [task]},
    ]
    second["workflows"] += [
        {"id": "a", "tasks": [task]},
        {"id": "b", "tasks": [other, task]},
    ]
    assert sha256_of(first) != sha256_of(second)


@pytest.mark.parametrize("hash_seed", ["0", "1"])
def test_the_identity_is_the_same_in_every_process(hash_seed):
    code = (
        "from tests.problem.documents import document;"
        "from placement_lab.problem import Instance;"
        "print(Instance.from_dict(document()).sha256)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == PINNED
