"""Random instances small enough for exhaustive search; all times are whole seconds."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from placement_lab.problem import Instance, Rules

if TYPE_CHECKING:
    from numpy.random import Generator

KINDS = ("fast", "slow")


def tiny_instance(seed: int, most_tasks: int = 5, **options: Any) -> Instance:
    """Return a random instance; ``options`` switch on the rarer features."""
    rng = np.random.default_rng(seed)
    models = _models(rng, options)
    workers = [_worker(rng, w, models, options) for w in range(2)]
    flows, jobs, left = [], [], int(rng.integers(2, most_tasks + 1))
    while left > 0:
        n = min(left, int(rng.integers(1, 4)))
        name = f"f{len(flows)}"
        flows.append(_workflow(rng, name, n, models, options))
        jobs.append(_job(rng, name))
        left -= n
    document: dict[str, Any] = {
        "format": "placement-lab/instance",
        "version": 1,
        "rules": {
            "loading": options.get("loading", "overlap"),
            "prefetch": options.get("prefetch", "after_release"),
        },
        "workers": workers,
        "models": models,
        "workflows": flows,
        "jobs": jobs,
        "default_link": {"bandwidth_bytes_per_s": 1.0, "latency_s": 0.0},
    }
    if options.get("no_link"):
        del document["default_link"]
    return Instance.from_dict(document)


def with_rules(instance: Instance, loading: str, prefetch: str) -> Instance:
    """Return the same instance under other rules."""
    return replace(instance, rules=Rules(loading, prefetch))  # type: ignore[arg-type]


def _models(rng: Generator, options: dict[str, Any]) -> list[dict[str, Any]]:
    least = 0 if options.get("zero_lengths") else 1
    models = []
    for m in range(int(rng.integers(2, 4))):
        load: Any = int(rng.integers(least, 5))
        if rng.random() < 0.3:
            load = {kind: int(rng.integers(least, 5)) for kind in KINDS}
        size = int(rng.integers(2, 6))
        models.append({"id": f"m{m}", "size_bytes": size, "load_s": load})
    return models


def _worker(
    rng: Generator, w: int, models: list[dict[str, Any]], options: dict[str, Any]
) -> dict[str, Any]:
    worker: dict[str, Any] = {
        "id": f"w{w}",
        "kind": KINDS[int(rng.integers(0, 2))] if w else "fast",
        "memory_bytes": int(rng.integers(6, 11)),
        "slots": int(options.get("slots", 1)),
    }
    if rng.random() < 0.3:
        worker["resident"] = [models[int(rng.integers(0, len(models)))]["id"]]
    return worker


def _workflow(
    rng: Generator,
    name: str,
    n: int,
    models: list[dict[str, Any]],
    options: dict[str, Any],
) -> dict[str, Any]:
    least = 0 if options.get("zero_lengths") else 1
    tasks = []
    for i in range(n):
        run: Any = int(rng.integers(least, 6))
        if rng.random() < 0.5:
            run = {kind: int(rng.integers(least, 6)) for kind in KINDS}
        if isinstance(run, dict) and rng.random() < 0.2:
            del run["slow"]
        task: dict[str, Any] = {"id": f"t{i}", "runtime_s": run}
        if rng.random() < 0.8:
            task["model"] = models[int(rng.integers(0, len(models)))]["id"]
        if options.get("own_memory") and rng.random() < 0.5:
            task["memory_bytes"] = int(rng.integers(0, 2))
        tasks.append(task)
    edges = [
        {"src": f"t{a}", "dst": f"t{b}", "bytes": int(rng.integers(0, 3))}
        for b in range(n)
        for a in range(b)
        if rng.random() < 0.5
    ]
    if options.get("own_transfer") and edges:
        edges[0]["transfer_s"] = 1
        del edges[0]["bytes"]
    return {"id": name, "tasks": tasks, "edges": edges}


def _job(rng: Generator, flow: str) -> dict[str, Any]:
    release = int(rng.integers(0, 6))
    job: dict[str, Any] = {
        "id": f"j{flow[1:]}",
        "workflow": flow,
        "release_s": release,
        "deadline_s": release + int(rng.integers(3, 12)),
        "weight": int(rng.integers(1, 4)),
    }
    if rng.random() < 0.3:
        job["ingress"] = "w1"
    return job
