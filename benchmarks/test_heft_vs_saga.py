"""HEFT beside SAGA's, on the same 20 DAGs of related machines, in one run.

Needs the peers' environment, in which SAGA is built against the graphviz headers:

    python3 -m venv .venv-peers && .venv-peers/bin/pip install anrg-saga==2.0.2

The two are timed in turn, each in its own process, SAGA's clock running only while it
schedules. Ours is timed twice: planning alone (arrays built, as SAGA's graphs are), and
all the way to a replayed schedule. The test asserts the first ratio.
"""

from __future__ import annotations

import json
import logging
import os
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from placement_lab import Instance, InstanceBuilder
from placement_lab.schedulers._insertion import place
from placement_lab.schedulers._kernels import longest_path_s
from placement_lab.schedulers._planning import mean_runtime_s, mean_transfer_s
from placement_lab.schedulers.heft import Heft
from placement_lab.verify import verify

ROOT = Path(__file__).resolve().parent.parent
PEERS_PYTHON = ROOT / ".venv-peers" / "bin" / "python"
LOG = logging.getLogger(__name__)
N_TASKS, N_WORKERS, N_DAGS = 1000, 64, 20
LEAST_RATIO = 100.0


def related_machines(n_tasks: int, n_workers: int, seed: int) -> dict[str, Any]:
    """A layered DAG with costs, workers with speeds, links with speeds.

    The first and the last layer have one task each: SAGA adds such tasks otherwise.
    """
    rng = np.random.default_rng(seed)
    inner = np.sort(rng.integers(1, int(n_tasks**0.5), n_tasks - 2))
    layer = np.concatenate([[0], np.unique(inner, return_inverse=True)[1] + 1])
    layer = np.append(layer, layer[-1] + 1)
    edges: dict[tuple[int, int], float] = {}
    for task in range(1, n_tasks):
        before = np.flatnonzero(layer == layer[task] - 1)
        for pred in rng.choice(before, min(len(before), 3), replace=False):
            edges[int(pred), task] = float(rng.uniform(1, 20))
    has_successor = {src for src, _ in edges}
    for task in range(n_tasks - 1):
        if task not in has_successor:
            after = np.flatnonzero(layer == layer[task] + 1)
            edges[task, int(rng.choice(after))] = float(rng.uniform(1, 20))
    return {
        "workers": [(f"w{w}", float(rng.uniform(1, 4))) for w in range(n_workers)],
        "links": [
            (f"w{a}", f"w{b}", float(rng.uniform(1, 4)))
            for b in range(n_workers)
            for a in range(b)
        ],
        "tasks": [(f"t{t}", float(rng.uniform(1, 20))) for t in range(n_tasks)],
        "edges": [(f"t{a}", f"t{b}", size) for (a, b), size in edges.items()],
    }


def to_instance(request: dict[str, Any]) -> Instance:
    """Runtime = cost / speed; transfer = size / link speed."""
    build = InstanceBuilder()
    for name, _ in request["workers"]:
        build.worker(name, 1)
    for a, b, speed in request["links"]:
        build.link(a, b, speed)
    flow = build.workflow("dag")
    for name, cost in request["tasks"]:
        flow.task(name, {w: cost / speed for w, speed in request["workers"]})
    for src, dst, size in request["edges"]:
        flow.edge(src, dst, bytes=size)
    build.job("j", "dag")
    return build.build()


@contextmanager
def saga():
    """Yield a function from request to SAGA's answer."""
    with subprocess.Popen(
        [str(PEERS_PYTHON), str(ROOT / "benchmarks" / "saga_heft.py")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONHASHSEED": "0"},
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None

        def ask(request: dict[str, Any]) -> dict[str, float]:
            process.stdin.write(json.dumps(request) + "\n")
            process.stdin.flush()
            return json.loads(process.stdout.readline())

        yield ask


def with_sagas_means(instance: Instance) -> float:
    """HEFT's makespan if mean transfers count a worker's link to itself, as SAGA's do.

    Of W workers, W (W - 1) / 2 pairs are distinct, and W more are a worker with itself.
    """
    arrays = instance.arrays
    share = (arrays.n_workers - 1) / (arrays.n_workers + 1)
    rank = longest_path_s(
        arrays.topological[::-1].copy(),
        arrays.succ_ptr,
        arrays.succ_task,
        mean_transfer_s(arrays)[arrays.succ_edge] * share,
        mean_runtime_s(arrays),
    )
    return float(place(arrays, rank).end_s.max())


def measure(n_tasks: int, n_workers: int, n_dags: int) -> dict[str, float]:
    """Schedule every DAG with both, in turn; return means, and how they compare."""
    heft = Heft()
    heft.schedule(to_instance(related_machines(20, 3, 0)))  # compile
    rows = []
    with saga() as ask:
        for seed in range(n_dags):
            request = related_machines(n_tasks, n_workers, seed)
            instance = to_instance(request)
            _ = instance.arrays, instance.sha256
            theirs = ask(request)
            began = time.perf_counter()
            heft.plan(instance)
            planned = time.perf_counter()
            schedule = heft.schedule(instance)
            ended = time.perf_counter()
            assert verify(instance, schedule) == []
            rows.append(
                (
                    theirs["seconds"],
                    planned - began,
                    ended - planned,
                    theirs["makespan_s"],
                    schedule.makespan_s,
                    with_sagas_means(instance),
                )
            )
    saga_s, plan_s, schedule_s, theirs_s, ours_s, same_s = np.array(rows).T
    relative = ours_s / theirs_s
    return {
        "saga_s": float(saga_s.mean()),
        "plan_s": float(plan_s.mean()),
        "schedule_s": float(schedule_s.mean()),
        "ratio_plan": float(saga_s.sum() / plan_s.sum()),
        "ratio_schedule": float(saga_s.sum() / schedule_s.sum()),
        "saga_makespan_s": float(theirs_s.mean()),
        "our_makespan_s": float(ours_s.mean()),
        "makespan_ratio": float(relative.mean()),
        "makespan_ratio_standard_error": float(
            relative.std(ddof=1) / np.sqrt(len(relative))
        ),
        "largest_difference_with_sagas_means": float(
            np.abs(same_s / theirs_s - 1).max()
        ),
    }


@pytest.mark.skipif(not PEERS_PYTHON.exists(), reason="needs .venv-peers with SAGA")
def test_heft_is_a_hundred_times_faster_than_saga_and_no_worse():
    found = measure(N_TASKS, N_WORKERS, N_DAGS)
    LOG.warning("HEFT vs SAGA, means of %d DAGs: %s", N_DAGS, found)
    assert found["ratio_plan"] >= LEAST_RATIO
    # Only the means differ, and neither kind is better: with SAGA's, every makespan is
    # SAGA's; with ours, they are not worse by more than chance.
    assert found["largest_difference_with_sagas_means"] <= 1e-12
    worse = found["makespan_ratio"] - 1
    assert worse <= 2 * found["makespan_ratio_standard_error"]


def test_heft_of_a_thousand_tasks_on_64_workers(benchmark):
    instance = to_instance(related_machines(N_TASKS, N_WORKERS, 0))
    _ = instance.arrays
    placed = benchmark(Heft().plan, instance)
    assert np.isfinite(placed.end_s).all()


def main() -> None:
    import sys

    found = measure(*map(int, sys.argv[1:])) if sys.argv[1:] else measure(1000, 64, 20)
    sys.stdout.write(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
