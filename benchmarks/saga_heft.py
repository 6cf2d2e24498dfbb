"""SAGA's HEFT in a process of its own: one JSON instance per line in, one answer out.

Run by the interpreter of `.venv-peers`; see `test_heft_vs_saga.py`.
"""

from __future__ import annotations

import json
import sys
import time

from saga import Network, TaskGraph
from saga.schedulers import HeftScheduler


def answer(request: dict) -> dict:
    """Schedule one instance; its construction is not timed."""
    network = Network.create(
        [(name, speed) for name, speed in request["workers"]],
        [(a, b, speed) for a, b, speed in request["links"]],
    )
    graph = TaskGraph.create(
        [(name, cost) for name, cost in request["tasks"]],
        [(src, dst, size) for src, dst, size in request["edges"]],
    )
    began = time.perf_counter()
    schedule = HeftScheduler().schedule(network, graph)
    seconds = time.perf_counter() - began
    return {"seconds": seconds, "makespan_s": float(schedule.makespan)}


def main() -> None:
    for line in sys.stdin:
        sys.stdout.write(json.dumps(answer(json.loads(line))) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
