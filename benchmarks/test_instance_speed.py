"""How long 100,000 tasks take from a JSON file to arrays and identity.

Targets: an instance under 5 s and 1 GB, its arrays and its sha256 under 2 s each, in
processor time, so that a busy machine changes little.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from typing import Any

import pytest

from placement_lab.problem import Instance

pytestmark = pytest.mark.benchmark(timer=time.process_time)

N_TASKS = 100_000
N_WORKERS = 64


def cluster() -> dict[str, Any]:
    return {
        "format": "placement-lab/instance",
        "version": 1,
        "workers": [
            {
                "id": f"w{w}",
                "kind": "ab"[w % 2],
                "memory_bytes": 16e9,
                "load_bandwidth_bytes_per_s": 1e10,
            }
            for w in range(N_WORKERS)
        ],
        "models": [{"id": f"m{m}", "size_bytes": (2 + m % 5) * 1e9} for m in range(20)],
        "default_link": {"bandwidth_bytes_per_s": 1e9},
    }


def task(name: str, rng: random.Random) -> dict[str, Any]:
    runtimes_s = {"a": rng.random(), "b": rng.random()}
    return {"id": name, "runtime_s": runtimes_s, "model": f"m{rng.randrange(20)}"}


def many_jobs(n_workflows: int) -> dict[str, Any]:
    """25,000 diamonds of 4 tasks."""
    rng = random.Random(1)
    arcs = ("01", "02", "13", "23")
    workflows = [
        {
            "id": f"f{k}",
            "tasks": [task(f"t{i}", rng) for i in range(4)],
            "edges": [{"src": f"t{a}", "dst": f"t{b}", "bytes": 1e6} for a, b in arcs],
        }
        for k in range(n_workflows)
    ]
    jobs = [
        {
            "id": f"j{j}",
            "workflow": f"f{j % n_workflows}",
            "release_s": j / 100,
            "ingress": f"w{j % N_WORKERS}",
        }
        for j in range(N_TASKS // 4)
    ]
    return cluster() | {"workflows": workflows, "jobs": jobs}


def one_workflow() -> dict[str, Any]:
    """One DAG of 100,000 tasks and 200,000 edges."""
    rng = random.Random(2)
    arcs: dict[tuple[int, int], None] = {}
    while len(arcs) < 2 * N_TASKS:
        src = rng.randrange(N_TASKS - 1)
        arcs[src, min(N_TASKS - 1, src + 1 + rng.randrange(100))] = None
    flow = {
        "id": "f",
        "tasks": [task(f"t{i}", rng) for i in range(N_TASKS)],
        "edges": [{"src": f"t{a}", "dst": f"t{b}", "bytes": 1e6} for a, b in arcs],
    }
    return cluster() | {"workflows": [flow], "jobs": [{"id": "j", "workflow": "f"}]}


CASES = {
    "25,000 jobs of 10 workflows": lambda: many_jobs(10),
    "25,000 jobs with a workflow each": lambda: many_jobs(N_TASKS // 4),
    "one workflow of 100,000 tasks": one_workflow,
}


@pytest.fixture(scope="module", params=CASES)
def path(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("instance") / "instance.json"
    path.write_text(json.dumps(CASES[request.param]()))
    return path


@pytest.fixture(scope="module")
def instance(path):
    return Instance.from_json(path)


def test_reading_takes_less_than_five_seconds(benchmark, path):
    instance = benchmark.pedantic(Instance.from_json, (path,), rounds=3)
    assert instance.n_tasks == N_TASKS
    assert benchmark.stats.stats.min < 5


def test_reading_takes_less_than_a_gigabyte(path):
    code = (
        "import resource, sys; from placement_lab.problem import Instance;"
        "instance = Instance.from_json(sys.argv[1]); instance.arrays; instance.sha256;"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(done.stdout) * 1024 < 1e9  # Linux counts in KiB


def fresh(instance: Instance) -> tuple[tuple[Instance], dict[str, Any]]:
    """Forget what was built once, so that each round builds it again."""
    for name in ("arrays", "sha256"):
        instance.__dict__.pop(name, None)
    return (instance,), {}


@pytest.mark.parametrize("name", ["arrays", "sha256"])
def test_building_takes_less_than_two_seconds(benchmark, instance, name):
    benchmark.pedantic(
        lambda one: getattr(one, name), setup=lambda: fresh(instance), rounds=3
    )
    assert benchmark.stats.stats.min < 2
